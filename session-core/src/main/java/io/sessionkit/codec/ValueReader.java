package io.sessionkit.codec;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Reads what {@link ValueWriter} wrote, into collections that belong to the caller.
 */
final class ValueReader {

	private ValueReader() {
	}

	/**
	 * Reads the map that begins at the next token.
	 */
	static Map<String, @Nullable Object> nextMap(JsonParser in) {
		MalformedPayloadException.unless(in.nextToken() == JsonToken.START_OBJECT, "a map is not an object");
		return entries(in, in.nextName());
	}

	private static @Nullable Object nextValue(JsonParser in) {
		return value(in, in.nextToken());
	}

	private static @Nullable Object value(JsonParser in, @Nullable JsonToken token) {
		return switch (present(token)) {
			case VALUE_STRING -> in.getString();
			case VALUE_NUMBER_INT -> in.getIntValue();
			case VALUE_TRUE -> true;
			case VALUE_FALSE -> false;
			case VALUE_NULL -> null;
			case START_ARRAY -> elements(in, new ArrayList<>());
			case START_OBJECT -> object(in);
			default -> throw new MalformedPayloadException("a value has no type");
		};
	}

	private static JsonToken present(@Nullable JsonToken token) {
		if (token == null) {
			throw new MalformedPayloadException("a value is missing");
		}
		return token;
	}

	private static Object object(JsonParser in) {
		String first = in.nextName();
		if (ValueWriter.TAG.equals(first)) {
			return taggedValue(in);
		}
		Map<String, @Nullable Object> map = entries(in, first);
		MalformedPayloadException.unless(!map.containsKey(ValueWriter.TAG), "a tag is not in its place");
		return map;
	}

	private static Object taggedValue(JsonParser in) {
		MalformedPayloadException.unless(in.nextToken() == JsonToken.VALUE_STRING, "a tag is not a string");
		String tag = in.getString();
		MalformedPayloadException.unless(ValueWriter.VALUE.equals(in.nextName()), "a tag has no value");
		Object value = tagged(in, tag);
		MalformedPayloadException.unless(in.nextToken() == JsonToken.END_OBJECT, "a tagged value has more fields");
		return value;
	}

	private static Object tagged(JsonParser in, String tag) {
		return switch (tag) {
			case ValueWriter.BYTES -> nextBytes(in);
			case ValueWriter.SET -> set(in);
			case ValueWriter.MAP -> nextMap(in);
			default -> scalarOrState(in, tag);
		};
	}

	private static Object set(JsonParser in) {
		MalformedPayloadException.unless(in.nextToken() == JsonToken.START_ARRAY, "a set is not an array");
		return elements(in, new LinkedHashSet<>());
	}

	private static Object scalarOrState(JsonParser in, String tag) {
		ScalarType scalar = ScalarType.tagged(tag);
		return (scalar != null) ? scalar.parse(nextString(in)) : providerState(in, tag);
	}

	private static Object providerState(JsonParser in, String tag) {
		MalformedPayloadException.unless(ProviderState.knows(tag), "a value has an unknown tag");
		MalformedPayloadException.unless(in.nextToken() == JsonToken.START_OBJECT, "provider state is not an object");
		Map<String, @Nullable String> values = new LinkedHashMap<>();
		for (String name = in.nextName(); name != null; name = in.nextName()) {
			values.put(name, nextNullableString(in));
		}
		checkEnd(in, JsonToken.END_OBJECT);
		return ProviderState.restore(new AbsentProviderState(tag, values));
	}

	private static Map<String, @Nullable Object> entries(JsonParser in, @Nullable String first) {
		Map<String, @Nullable Object> map = new LinkedHashMap<>();
		for (String name = first; name != null; name = in.nextName()) {
			map.put(name, nextValue(in));
		}
		checkEnd(in, JsonToken.END_OBJECT);
		return map;
	}

	private static <C extends Collection<@Nullable Object>> C elements(JsonParser in, C elements) {
		JsonToken token = in.nextToken();
		while (token != JsonToken.END_ARRAY) {
			elements.add(value(in, token));
			token = in.nextToken();
		}
		return elements;
	}

	static String nextString(JsonParser in) {
		MalformedPayloadException.unless(in.nextToken() == JsonToken.VALUE_STRING, "a text is not a string");
		return in.getString();
	}

	static @Nullable String nextNullableString(JsonParser in) {
		JsonToken token = in.nextToken();
		if (token == JsonToken.VALUE_NULL) {
			return null;
		}
		MalformedPayloadException.unless(token == JsonToken.VALUE_STRING, "a text is not a string");
		return in.getString();
	}

	static byte[] nextBytes(JsonParser in) {
		MalformedPayloadException.unless(in.nextToken() == JsonToken.VALUE_STRING, "bytes are not a string");
		return in.getBinaryValue(ValueWriter.BASE64);
	}

	/**
	 * Reads the elements of the array that begins at the next token. Each element is an
	 * object, which the reader reads from its start to its end.
	 */
	static <T> List<T> nextObjects(JsonParser in, Function<JsonParser, T> reader) {
		MalformedPayloadException.unless(in.nextToken() == JsonToken.START_ARRAY, "a list is not an array");
		List<T> objects = new ArrayList<>();
		while (in.nextToken() != JsonToken.END_ARRAY) {
			MalformedPayloadException.unless(in.currentToken() == JsonToken.START_OBJECT,
					"an element is not an object");
			objects.add(reader.apply(in));
		}
		return objects;
	}

	static void checkEnd(JsonParser in, JsonToken end) {
		MalformedPayloadException.unless(in.currentToken() == end, "an object is not closed");
	}

}
