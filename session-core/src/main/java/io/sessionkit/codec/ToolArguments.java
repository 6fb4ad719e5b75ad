package io.sessionkit.codec;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The arguments of a tool call: what a model wrote, read as JSON. Names that are there
 * twice, trailing text and numbers that JSON has not (NaN) make them unreadable, since
 * the tool might read them otherwise than whoever approved them.
 */
public final class ToolArguments {

	private static final JsonMapper MAPPER = JsonMapper.builder()
		.enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
		.enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
		.enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
		.disable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
		.build();

	private static final SchemaRegistry SCHEMAS = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);

	private final String text;

	/** Null if it is not a JSON object. */
	private final @Nullable JsonNode object;

	private ToolArguments(String text) {
		this.text = text;
		this.object = object(text);
	}

	/**
	 * The arguments of a call.
	 * @param text what the model wrote; null and blank text are no arguments, as tools
	 * take them
	 * @return the arguments, readable or not
	 */
	public static ToolArguments of(@Nullable String text) {
		return new ToolArguments((text == null || text.isBlank()) ? "{}" : text);
	}

	/**
	 * Whether they are a JSON object.
	 * @return false if a tool would have to guess
	 */
	public boolean isReadable() {
		return this.object != null;
	}

	/**
	 * Returns the arguments by name, each value in one form however it was written: a
	 * whole number (3, 3.0, 3e0) as {@link Integer}, {@link Long} or {@link BigInteger},
	 * the smallest that holds it, another number as {@link BigDecimal} without trailing
	 * zeros, and lists and maps of such values. A number that a double cannot hold stays
	 * a {@link BigDecimal}.
	 * @return new values that cannot be changed; none if the arguments cannot be read
	 */
	public Map<String, @Nullable Object> values() {
		Map<String, @Nullable Object> none = Map.of();
		return (this.object != null) ? PlainJson.map(this.object) : none;
	}

	/**
	 * Returns whether whoever reads the numbers as doubles, as most readers of JSON do,
	 * reads the same numbers.
	 * @return false if a number is too large or too precise for a double
	 */
	public boolean isPlain() {
		return this.object == null || PlainJson.isPlain(this.object);
	}

	/**
	 * What a decision on a call is bound to: the SHA-256 of the tool's name and of the
	 * arguments in one canonical form. Order of names, white space and escapes make no
	 * difference; a null is not an absent value, and 1 is not 1.0. Arguments that cannot
	 * be read are taken letter by letter.
	 * @param tool the name of the tool
	 * @return 64 hexadecimal digits
	 */
	public String digest(String tool) {
		try {
			MessageDigest sha = MessageDigest.getInstance("SHA-256");
			sha.update(tool.getBytes(StandardCharsets.UTF_8));
			sha.update((byte) ((this.object != null) ? 0 : 1));
			sha.update(canonical().getBytes(StandardCharsets.UTF_8));
			return HexFormat.of().formatHex(sha.digest());
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("This Java has no SHA-256.", ex);
		}
	}

	/**
	 * What a JSON schema has against them.
	 * @param schema the input schema of the tool, draft 2020-12 unless it says otherwise
	 * @return where each fault is and which rule it breaks, never a value; none if they
	 * fit
	 */
	public List<String> faults(String schema) {
		if (this.object == null) {
			return List.of("they are not one JSON object");
		}
		return SCHEMAS.getSchema(schema)
			.validate(this.object)
			.stream()
			.map((error) -> "'" + error.getInstanceLocation() + "' breaks the rule '" + error.getKeyword() + "'"
					+ ((error.getProperty() != null) ? " for '" + error.getProperty() + "'" : ""))
			.toList();
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

	private String canonical() {
		return (this.object != null) ? MAPPER.writeValueAsString(sorted(this.object)) : this.text;
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
	 * The arguments as they were written.
	 * @return the text, {@code {}} for none
	 */
	@Override
	public String toString() {
		return this.text;
	}

}
