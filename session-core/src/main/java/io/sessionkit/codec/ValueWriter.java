package io.sessionkit.codec;

import java.util.List;
import java.util.Map;
import java.util.Set;

import io.sessionkit.internal.LoneSurrogates;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.Base64Variant;
import tools.jackson.core.Base64Variants;
import tools.jackson.core.JsonGenerator;

/**
 * Writes typed values: null, strings, booleans, integers, lists and maps as natural JSON,
 * everything else as {@code {"$t":tag,"v":value}}. Maps that contain {@code "$t"}
 * themselves are tagged too. One instance writes one payload.
 */
final class ValueWriter {

	static final String TAG = "$t";

	static final String VALUE = "v";

	static final String BYTES = "bytes";

	static final String SET = "set";

	static final String MAP = "map";

	static final Base64Variant BASE64 = Base64Variants.MIME_NO_LINEFEEDS;

	/*
	 * Each level takes up to two levels of JSON, and a reader accepts 500 of those. The
	 * limit also stops values that contain themselves.
	 */
	static final int MAX_DEPTH = 200;

	/*
	 * A list that contains one list twice, which contains one list twice, and so on, is
	 * small in memory but enormous as text.
	 */
	static final int MAX_VALUES = 1_000_000;

	private static final String PART = "value";

	private final JsonGenerator out;

	private int values;

	ValueWriter(JsonGenerator out) {
		this.out = out;
	}

	/**
	 * Writes the value.
	 * @throws NotStorableException if it would not come back equal
	 */
	void write(@Nullable Object value) {
		this.values = 0;
		write(value, 0);
	}

	private void write(@Nullable Object value, int depth) {
		countWithinLimits(value, depth);
		if (value == null) {
			this.out.writeNull();
		}
		else if (value instanceof String string) {
			this.out.writeString(checked(string));
		}
		else if (value instanceof Integer integer) {
			this.out.writeNumber(integer);
		}
		else if (value instanceof Boolean bool) {
			this.out.writeBoolean(bool);
		}
		else {
			writeComposite(value, depth);
		}
	}

	private void countWithinLimits(@Nullable Object value, int depth) {
		if (++this.values > MAX_VALUES) {
			throw new NotStorableException(PART, "holds more than " + MAX_VALUES + " values", type(value));
		}
		if (depth > MAX_DEPTH) {
			throw new NotStorableException(PART, "is nested deeper than " + MAX_DEPTH + " levels, or contains itself",
					type(value));
		}
	}

	private void writeComposite(Object value, int depth) {
		if (value instanceof Map<?, ?> map) {
			writeMap(map, depth);
		}
		else if (value instanceof List<?> list) {
			writeElements(list, depth);
		}
		else {
			writeTagged(value, depth);
		}
	}

	private void writeMap(Map<?, ?> map, int depth) {
		if (containsTag(map)) {
			startTagged(MAP);
			writeEntries(map, depth);
			this.out.writeEndObject();
		}
		else {
			writeEntries(map, depth);
		}
	}

	// Does not use containsKey: a map may refuse a key of another class.
	private static boolean containsTag(Map<?, ?> map) {
		for (Object key : map.keySet()) {
			if (TAG.equals(key)) {
				return true;
			}
		}
		return false;
	}

	private void writeEntries(Map<?, ?> map, int depth) {
		this.out.writeStartObject();
		for (Map.Entry<?, ?> entry : map.entrySet()) {
			this.out.writeName(checkedKey(entry.getKey()));
			write(entry.getValue(), depth + 1);
		}
		this.out.writeEndObject();
	}

	private void writeElements(Iterable<?> elements, int depth) {
		this.out.writeStartArray();
		for (Object element : elements) {
			write(element, depth + 1);
		}
		this.out.writeEndArray();
	}

	private void writeTagged(Object value, int depth) {
		if (value instanceof Set<?> set) {
			writeSet(set, depth);
		}
		else if (value instanceof byte[] bytes) {
			writeBytes(bytes);
		}
		else {
			writeScalarOrState(value);
		}
	}

	private void writeSet(Set<?> set, int depth) {
		startTagged(SET);
		writeElements(set, depth);
		this.out.writeEndObject();
	}

	private void writeBytes(byte[] bytes) {
		startTagged(BYTES);
		this.out.writeBinary(BASE64, bytes, 0, bytes.length);
		this.out.writeEndObject();
	}

	private void writeScalarOrState(Object value) {
		ScalarType scalar = ScalarType.of(value.getClass());
		if (scalar != null) {
			writeScalar(scalar, value);
			return;
		}
		AbsentProviderState state = ProviderState.valuesOf(value);
		if (state == null) {
			throw NotStorableException.unknownClass(PART, value.getClass());
		}
		writeState(state);
	}

	private void writeScalar(ScalarType scalar, Object value) {
		if (!scalar.comesBack(value)) {
			throw new NotStorableException(PART,
					"holds a " + value.getClass().getName() + " that its text does not give", value.getClass());
		}
		String text = checked(value.toString());
		startTagged(scalar.tag());
		this.out.writeString(text);
		this.out.writeEndObject();
	}

	private void writeState(AbsentProviderState state) {
		startTagged(state.tag());
		this.out.writeStartObject();
		state.values().forEach((name, text) -> writeProperty(checked(name), text));
		this.out.writeEndObject();
		this.out.writeEndObject();
	}

	private void writeProperty(String name, @Nullable String text) {
		this.out.writeName(name);
		if (text != null) {
			this.out.writeString(checked(text));
		}
		else {
			this.out.writeNull();
		}
	}

	private void startTagged(String tag) {
		this.out.writeStartObject();
		this.out.writeStringProperty(TAG, tag);
		this.out.writeName(VALUE);
	}

	static String checkedKey(@Nullable Object key) {
		if (!(key instanceof String name)) {
			throw new NotStorableException(PART, "holds a map with a key that is not a string", type(key));
		}
		return checked(name);
	}

	private static String checked(String text) {
		if (LoneSurrogates.in(text)) {
			throw NotStorableException.loneSurrogate(PART);
		}
		return text;
	}

	private static @Nullable Class<?> type(@Nullable Object value) {
		return (value != null) ? value.getClass() : null;
	}

}
