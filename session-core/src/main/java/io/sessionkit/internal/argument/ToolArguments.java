package io.sessionkit.internal.argument;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.sessionkit.internal.LoneSurrogates;
import io.sessionkit.internal.Names;
import io.sessionkit.internal.PassedArguments;
import io.sessionkit.internal.Sha256;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;

/**
 * The arguments of a tool call: the text that a model wrote, read as JSON. Duplicate
 * names, trailing text and numbers that JSON does not have (NaN) make them unreadable,
 * because the tool might read them differently from whoever approved them.
 */
public final class ToolArguments {

	private static final JsonMapper MAPPER = JsonMapper.builder()
		.enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
		.enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
		.enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
		.disable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
		.build();

	/** The number of names that are shown of the place of a fault. */
	private static final int MOST_NAMES = 8;

	/** Reads a name that is there twice. */
	private static final JsonMapper LENIENT = new JsonMapper();

	private static final SchemaRegistry SCHEMAS = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);

	private final String text;

	/** Null if it is not a JSON object. */
	private final @Nullable JsonNode object;

	private ToolArguments(String text) {
		this.text = text;
		this.object = object(text);
	}

	/**
	 * Reads the arguments of a call.
	 * @param text the text that the model wrote; null and blank text mean no arguments,
	 * as tools understand them
	 * @return the arguments, readable or not
	 */
	public static ToolArguments of(@Nullable String text) {
		return new ToolArguments(PassedArguments.of(text));
	}

	/**
	 * Returns a call as it is stored.
	 * @param call a call of a reply, in which a provider may leave components null
	 * @return the call with U+FFFD in place of lone surrogates, and an empty name instead
	 * of none
	 */
	@SuppressWarnings("NullAway") // Spring AI does not declare that they may be null
	public static ToolCall storable(ToolCall call) {
		return new ToolCall(storable(call.id()), storable(call.type()),
				(call.name() != null) ? storable(call.name()) : "", storable(call.arguments()));
	}

	private static @Nullable String storable(@Nullable String text) {
		return (text != null) ? LoneSurrogates.replaced(text) : null;
	}

	/**
	 * Returns whether the arguments are a JSON object.
	 * @return false if a tool would have to guess
	 */
	public boolean isReadable() {
		return this.object != null;
	}

	/**
	 * Returns the arguments by name. Each value has one form, however it was written: a
	 * whole number (3, 3.0, 3e0) is an {@link Integer}, {@link Long} or
	 * {@link BigInteger}, the smallest that holds it. Another number is a
	 * {@link BigDecimal} without trailing zeros. Lists and maps contain such values. A
	 * number that a double cannot hold stays a {@link BigDecimal}.
	 * @return new values that cannot be changed; empty if the arguments cannot be read
	 */
	public Map<String, @Nullable Object> values() {
		Map<String, @Nullable Object> none = Map.of();
		return (this.object != null) ? PlainJson.map(this.object) : none;
	}

	/**
	 * Returns whether a reader that reads numbers as doubles, as most readers of JSON do,
	 * gets the same numbers.
	 * @return false if a number is too large or too precise for a double
	 */
	public boolean isPlain() {
		return this.object == null || PlainJson.isPlain(this.object);
	}

	/**
	 * Returns the digest that a decision on a call is bound to: the SHA-256 of the tool's
	 * name and of the arguments in one canonical form. The order of names, white space
	 * and escapes make no difference. A null differs from an absent value, and 1 differs
	 * from 1.0. Arguments that cannot be read are used exactly as they were written.
	 * @param tool the name of the tool
	 * @return 64 hexadecimal digits
	 */
	public String digest(String tool) {
		return new Sha256().add(tool).add((this.object != null) ? 0 : 1).add(encodable(canonical())).hex();
	}

	/**
	 * Validates the arguments against a JSON schema. A whole number must also fit its
	 * format, if that is int32 or int64: a tool in Java cannot read a larger one.
	 * @param schema the input schema of the tool, draft 2020-12 unless it says otherwise
	 * @return the place of each fault, as a JSON pointer without what is far above it,
	 * and the rule that it breaks, never a value, with names as one line of a log can
	 * show them; empty if the arguments fit
	 */
	public List<String> faults(String schema) {
		if (this.object == null) {
			String repeated = repeatedName(this.text);
			return List.of((repeated != null) ? "they have the name " + Names.quoted(repeated) + " twice in one object"
					: "they are not one JSON object");
		}
		try {
			return faults(this.object, schema);
		}
		catch (StackOverflowError ex) {
			// of a schema that refers to itself, or is as deep itself
			return List.of("they, or the input schema of the tool, are nested too deep");
		}
	}

	private static List<String> faults(JsonNode object, String schema) {
		return SCHEMAS.getSchema(IntegerBounds.in(schema))
			.validate(object)
			.stream()
			.map((error) -> place(error.getInstanceLocation().toString()) + " breaks the rule '" + error.getKeyword()
					+ "'" + ((error.getProperty() != null) ? " for " + Names.quoted(error.getProperty()) : ""))
			.toList();
	}

	/** The field at fault is the last name of a pointer. */
	private static String place(String pointer) {
		String[] names = pointer.split("/", -1);
		// the first name is empty: it is what is before the first slash
		int from = (names.length > MOST_NAMES + 1) ? names.length - MOST_NAMES : 0;
		String end = Arrays.stream(names, from, names.length).map(Names::shown).collect(Collectors.joining("/"));
		return "'" + ((from > 0) ? ".../" : "") + end + "'";
	}

	/**
	 * Returns whether a schema says that the tool takes an argument of each name: among
	 * its properties, or with additional properties that it allows by itself. That others
	 * are not excluded says only that the tool may ignore them. Names inside of an
	 * argument are not looked at.
	 * @param schema the input schema of the tool
	 * @return false if the tool may ignore an argument
	 */
	public boolean isTakenBy(String schema) {
		JsonNode read = MAPPER.readTree(schema);
		JsonNode more = read.path("additionalProperties");
		JsonNode parameters = read.path("properties");
		return more.isObject() || more.booleanValue(false) || this.object == null
				|| this.object.propertyNames().stream().allMatch(parameters::has);
	}

	/**
	 * Returns an input schema with the bounds of the whole numbers that the parameters of
	 * a method can hold.
	 * @param schema the schema
	 * @param types the types of the parameters by name
	 * @return the schema with them; as it was if there are none
	 */
	public static String bounded(String schema, Map<String, Class<?>> types) {
		return IntegerBounds.in(schema, types);
	}

	/**
	 * Returns those of the arguments for which another tool has a parameter, as the
	 * arguments of that tool.
	 * @param schema the input schema of the other tool
	 * @param resultName the name of the parameter that gets a result instead of an
	 * argument
	 * @param result the result, as the tool loop has it; null if there is none. For a
	 * parameter of type string, a JSON string is its text and anything else is passed on
	 * as it was written; for other parameters it is passed on as JSON if it is JSON
	 * @return the arguments as a JSON object; {@code {}} if these cannot be read
	 */
	public String passedOn(String schema, String resultName, @Nullable String result) {
		ObjectNode passed = MAPPER.createObjectNode();
		JsonNode parameters = MAPPER.readTree(schema).path("properties");
		for (String name : parameters.propertyNames()) {
			JsonNode value = name.equals(resultName) ? result(result, parameters.path(name).path("type"))
					: (this.object != null) ? this.object.get(name) : null;
			if (value != null) {
				passed.set(name, value);
			}
		}
		return encodable(MAPPER.writeValueAsString(passed));
	}

	private static @Nullable JsonNode result(@Nullable String result, JsonNode type) {
		if (result == null) {
			return null;
		}
		JsonNode read = json(result);
		boolean takesText = "string".equals(type.isString() ? type.stringValue() : null);
		return (read == null || takesText && !read.isString()) ? MAPPER.getNodeFactory().stringNode(result) : read;
	}

	private static @Nullable JsonNode json(String text) {
		try {
			JsonNode node = text.isBlank() ? null : MAPPER.readTree(text);
			return (node != null && !node.isMissingNode()) ? node : null;
		}
		catch (JacksonException ex) {
			return null;
		}
	}

	private static @Nullable JsonNode object(String text) {
		try {
			JsonNode node = MAPPER.readTree(text);
			return (node != null && node.isObject()) ? node : null;
		}
		catch (JacksonException ex) {
			return null;
		}
	}

	/**
	 * Returns the first name that an object of a text has twice; null if there is none
	 * before the text ends or cannot be read.
	 */
	private static @Nullable String repeatedName(String text) {
		Deque<Set<String>> objects = new ArrayDeque<>();
		try (JsonParser parser = LENIENT.createParser(text)) {
			for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
				if (token == JsonToken.START_OBJECT) {
					objects.push(new HashSet<>());
				}
				else if (token == JsonToken.END_OBJECT) {
					objects.pop();
				}
				else if (token == JsonToken.PROPERTY_NAME && !objects.element().add(parser.currentName())) {
					return parser.currentName();
				}
			}
		}
		catch (JacksonException ex) {
			return null;
		}
		return null;
	}

	private String canonical() {
		return (this.object != null) ? MAPPER.writeValueAsString(sorted(this.object)) : this.text;
	}

	/**
	 * Escapes lone surrogates, as JSON does. UTF-8 cannot encode them: each would become
	 * a question mark, and would not differ from one.
	 */
	private static String encodable(String text) {
		StringBuilder encodable = new StringBuilder();
		text.codePoints().forEach((point) -> {
			boolean lone = point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE;
			encodable.append(lone ? "\\u" + Integer.toHexString(point) : Character.toString(point));
		});
		return encodable.toString();
	}

	private static Object sorted(JsonNode node) {
		if (node.isObject()) {
			Map<String, Object> sorted = new TreeMap<>();
			node.properties().forEach((entry) -> sorted.put(entry.getKey(), sorted(entry.getValue())));
			return sorted;
		}
		if (node.isArray()) {
			return node.valueStream().map(ToolArguments::sorted).toList();
		}
		return node;
	}

	/**
	 * Returns the arguments as they were written.
	 * @return the text; {@code {}} if there are none
	 */
	@Override
	public String toString() {
		return this.text;
	}

}
