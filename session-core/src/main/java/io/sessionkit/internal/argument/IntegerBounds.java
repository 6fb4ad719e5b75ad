package io.sessionkit.internal.argument;

import java.util.Map;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the bounds of whole numbers into a schema that does not have them. A validator
 * takes formats for remarks, and Spring AI describes the {@code int} and {@code long} of
 * a tool by their format, or not at all if they are parameters of a method.
 */
final class IntegerBounds {

	private static final JsonMapper MAPPER = JsonMapper.builder()
		.enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
		.build();

	private static final long[] SHORT = { Short.MIN_VALUE, Short.MAX_VALUE };

	private static final long[] INT = { Integer.MIN_VALUE, Integer.MAX_VALUE };

	private static final long[] LONG = { Long.MIN_VALUE, Long.MAX_VALUE };

	private static final Map<String, long[]> OF_FORMATS = Map.of("int32", INT, "int64", LONG);

	private static final Map<Class<?>, long[]> OF_TYPES = Map.of(short.class, SHORT, Short.class, SHORT, int.class, INT,
			Integer.class, INT, long.class, LONG, Long.class, LONG);

	private IntegerBounds() {
	}

	/**
	 * Returns a schema with the bounds.
	 * @param schema the schema
	 * @return the schema with them; as it was if it has no such format, or is no JSON
	 */
	static String in(String schema) {
		if (OF_FORMATS.keySet().stream().noneMatch(schema::contains)) {
			return schema;
		}
		try {
			JsonNode node = MAPPER.readTree(schema);
			add(node);
			return MAPPER.writeValueAsString(node);
		}
		catch (JacksonException ex) {
			return schema;
		}
	}

	/**
	 * Returns a schema with the bounds of the parameters of a method.
	 * @param schema the schema of its arguments
	 * @param types the types of the parameters by name
	 * @return the schema with them; as it was if it has no such parameter, or is no JSON
	 */
	static String in(String schema, Map<String, Class<?>> types) {
		try {
			JsonNode node = MAPPER.readTree(schema);
			JsonNode parameters = node.path("properties");
			boolean changed = false;
			for (Map.Entry<String, Class<?>> type : types.entrySet()) {
				changed |= add(parameters.path(type.getKey()), OF_TYPES.get(type.getValue()));
			}
			return changed ? MAPPER.writeValueAsString(node) : schema;
		}
		catch (JacksonException ex) {
			return schema;
		}
	}

	private static void add(JsonNode node) {
		add(node, OF_FORMATS.get(node.path("format").asString("")));
		node.forEach(IntegerBounds::add);
	}

	/** A bound of the schema itself stays. */
	private static boolean add(JsonNode node, long @Nullable [] bounds) {
		if (bounds == null || !(node instanceof ObjectNode number) || !isInteger(node.path("type"))) {
			return false;
		}
		if (!number.has("minimum")) {
			number.put("minimum", bounds[0]);
		}
		if (!number.has("maximum")) {
			number.put("maximum", bounds[1]);
		}
		return true;
	}

	private static boolean isInteger(JsonNode type) {
		return type.asString("").equals("integer")
				|| type.valueStream().anyMatch((each) -> each.asString("").equals("integer"));
	}

}
