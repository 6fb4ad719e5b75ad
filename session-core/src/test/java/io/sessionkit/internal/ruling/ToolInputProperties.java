package io.sessionkit.internal.ruling;

import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.Ruling;
import io.sessionkit.internal.tool.ApprovalCondition;
import io.sessionkit.internal.tool.WrappedTools;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Arguments as an attack: for each Java type that a parameter may have, the ways in which
 * JSON can say its value. Either the tool gets what condition and policy saw, or a person
 * is asked. A failure names its seed; {@code -Dsessionkit.seed} runs it again, and
 * {@code -Dsessionkit.arguments} sets how many random arguments are tried.
 */
class ToolInputProperties {

	private static final int ARGUMENTS = Integer.getInteger("sessionkit.arguments", 1_000);

	/** Ways to write a value, in the place of the percent sign. */
	private static final List<String> WRITTEN = List.of("%", "\"%\"", "\" %\"", "\"% \"", "\"\\t%\"", "[%]", "[\"%\"]",
			"[[%]]", "{\"value\":%}", "{\"value\":\"%\"}", "\"0%\"", "\"+%\"", "\"-%\"", "-%", "%.0", "%.00", "\"%.0\"",
			"%.7", "\"%.7\"", "%.0000000000000001", "%e0", "%E0", "\"%e0\"", "%0e-1", "\"%0e-1\"", "\"0x%\"", "\"%f\"",
			"\"%L\"", "\"%,0\"", "%e400", "\"\\u0000%\"", "\"%\\u200b\"", "null", "\"null\"", "\"\"", "\" \"", "[]",
			"{}");

	private static final List<String> VALUES = List.of("3", "1", "0", "2", "4711", "true", "false", "TRUE", "True",
			"yes", "on", "T", "DELETE", "delete", "Delete", "READ", "gone", "a", "255", "128", "-129", "32768",
			"2147483648", "4294967299", "9007199254740993", "9223372036854775808", "18446744073709551619", "0.1",
			"0.30000000000000004", "16777217", "1e400", "NaN", "Infinity", "2026-11-22", "2026-11-22T10:00:00Z",
			"2026-11-22T10:00:00+02:00", "1764000000", "20000", "PT1H", "3600", "60m", "AQID", "AQIDBA", "1,2", "1 2",
			"6f9619ff-8b86-d011-b42d-00c04fc964ff", "https://example.org/a", "HTTPS://EXAMPLE.ORG/a");

	enum Mode {

		READ, DELETE

	}

	record Order(int id, @Nullable BigDecimal total, @Nullable Mode mode, @Nullable List<Integer> parts) {
	}

	/** Has defaults, and a name that differs from what is read. */
	static final class Settings {

		@JsonProperty(required = false)
		private boolean force = true;

		@JsonProperty(required = false, access = JsonProperty.Access.WRITE_ONLY)
		private String secret = "";

		public boolean isForce() {
			return this.force;
		}

		public void setForce(boolean force) {
			this.force = force;
		}

		public void setSecret(String secret) {
			this.secret = secret;
		}

		String secret() {
			return this.secret;
		}

	}

	/** The value that the tool got. */
	private @Nullable Object got;

	private boolean ran;

	@Test
	void toolGetsWhatConditionAndPolicySawOrAPersonIsAsked() {
		long seed = Long.getLong("sessionkit.seed", ThreadLocalRandom.current().nextLong(1_000_000));
		System.out.println("ToolInputProperties: from seed " + seed);
		Map<String, Integer> unasked = new TreeMap<>();
		try {
			for (ToolCallback tool : tools()) {
				int passed = 0;
				for (String arguments : arguments(tool, new Random(seed))) {
					passed += isSameOrAsks(tool, arguments) ? 1 : 0;
				}
				unasked.put(tool.getToolDefinition().name(), passed);
			}
		}
		catch (AssertionError | RuntimeException ex) {
			throw new AssertionError("Failed with -Dsessionkit.seed=" + seed, ex);
		}
		// a rule that asks about everything would prove nothing; of a byte the schema
		// says that it is a text
		unasked.remove("aByte");
		assertThat(unasked.values()).allMatch((passed) -> passed > 0, "each type passes sometimes: " + unasked);
	}

	private List<ToolCallback> tools() {
		List<ToolCallback> tools = new ArrayList<>(List.of(ToolCallbacks.from(new Tools())));
		tools.add(FunctionToolCallback.builder("functionOrder", (Order value) -> take(value))
			.description("takes an order")
			.inputType(Order.class)
			.build());
		tools.add(FunctionToolCallback.builder("functionSettings", (Settings value) -> take(value))
			.description("takes settings")
			.inputType(Settings.class)
			.build());
		return tools;
	}

	/**
	 * All the ways to write all the values, of which a number is chosen, and those that
	 * fit some type.
	 */
	private static List<String> arguments(ToolCallback tool, Random random) {
		List<String> arguments = new ArrayList<>();
		boolean isObject = tool.getToolDefinition().name().startsWith("function");
		for (int i = 0; i < ARGUMENTS / 25; i++) {
			String value = pick(VALUES, random);
			String written = pick(WRITTEN, random).replace("%", value);
			arguments.add(isObject ? object(random, written) : "{\"value\":" + written + "}");
		}
		for (String value : VALUES) {
			for (String plain : List.of(value, "\"" + value + "\"", "[" + value + "]", "[\"" + value + "\"]",
					"{\"id\":" + value + "}", "{\"id\":3,\"total\":" + value + "}",
					"{\"id\":3,\"mode\":\"" + value + "\"}", "{\"a\":" + value + "}")) {
				arguments.add(isObject ? plain : "{\"value\":" + plain + "}");
			}
		}
		arguments.addAll(List.of("{}", "", "null", "[]", "{\"value\":1,\"value\":2}", "{\"value\":true,\"other\":1}",
				"{\"VALUE\":true}", "{\"value\":{\"id\":3,\"id\":4}}", "{\"value\":{\"id\":3,\"extra\":1}}",
				"{\"value\":[{\"id\":3,\"mode\":\"DELETE\"}]}", "{\"force\":false}", "{\"force\":\"false\"}",
				"{\"secret\":\"x\"}", "{\"force\":true,\"secret\":\"x\"}"));
		return arguments;
	}

	private static String object(Random random, String written) {
		return "{\"" + pick(List.of("id", "total", "mode", "parts", "force", "secret"), random) + "\":" + written
				+ (random.nextBoolean() ? ",\"id\":3}" : "}");
	}

	private static String pick(List<String> from, Random random) {
		return from.get(random.nextInt(from.size()));
	}

	private boolean isSameOrAsks(ToolCallback tool, String arguments) {
		List<Map<String, @Nullable Object>> seen = new ArrayList<>();
		ApprovalPolicy policy = (request) -> {
			seen.add(request.arguments());
			return Ruling.allow();
		};
		Ruling ruling = rule(tool, arguments, policy);
		if (ruling.kind() != Ruling.Kind.ALLOW) {
			return false;
		}
		this.got = null;
		this.ran = false;
		try {
			tool.call(arguments.isBlank() ? "{}" : arguments);
		}
		catch (RuntimeException ex) {
			// a primitive that is missing: the tool did not run
		}
		if (!this.ran) {
			return false;
		}
		Object said = tool.getToolDefinition().name().startsWith("function") ? seen.get(0) : seen.get(0).get("value");
		assertThat(plain(said)).as("%s%s", tool.getToolDefinition().name(), arguments).isEqualTo(plain(this.got));
		assertConditionsKnew(tool, arguments, seen.get(0));
		return true;
	}

	/** A condition that names the value which the tool got must not have let it pass. */
	private void assertConditionsKnew(ToolCallback tool, String arguments, Map<String, @Nullable Object> seen) {
		Object value = plain(this.got);
		String literal = (value instanceof String text) ? "'" + text.replace("'", "''") + "'"
				: (value instanceof Number || value instanceof Boolean) ? String.valueOf(value) : null;
		// a value that no literal of the expression language can express
		boolean smallest = value instanceof Long number && number == Long.MIN_VALUE;
		if (literal == null || smallest || value instanceof BigInteger
				|| tool.getToolDefinition().name().startsWith("function")) {
			return;
		}
		// the sign is not part of a literal, and without it the smallest int is none
		boolean isLong = value instanceof Long || value.equals(Integer.MIN_VALUE);
		String suffix = isLong ? "L" : "";
		ApprovalCondition condition = ApprovalCondition.of(tool.getToolDefinition().name(),
				WrappedTools.methods(tool).get(0), "#value == " + literal + suffix);
		assertThat(condition.isSurelyFalse(seen)).as("#value == %s of %s", literal, arguments).isFalse();
	}

	private static Ruling rule(ToolCallback tool, String arguments, ApprovalPolicy policy) {
		Rulings rulings = new Rulings(new NamedTools(Set.of(), List::of), new AnnotatedTools(), List.of(policy));
		return rulings.rule(new Rulings.Caller(null, null, Map.of(), Map.of()),
				new ToolCall("c", "function", tool.getToolDefinition().name(), arguments), tool);
	}

	private String take(@Nullable Object value) {
		this.got = value;
		this.ran = true;
		return "done";
	}

	/**
	 * A value as JSON says it, by rules of this test's own.
	 */
	private static @Nullable Object plain(@Nullable Object value) {
		if (value instanceof Enum<?> constant) {
			return constant.name();
		}
		if (value instanceof Float || value instanceof Double || value instanceof BigDecimal) {
			return number(new BigDecimal(value.toString()));
		}
		if (value instanceof Number) {
			return number(new BigDecimal(value.toString()));
		}
		if (value instanceof OffsetDateTime time) {
			return DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(time);
		}
		if (value instanceof Order order) {
			return withoutNulls(order);
		}
		if (value instanceof Settings settings) {
			Map<String, @Nullable Object> plain = new LinkedHashMap<>(Map.of("force", settings.isForce()));
			if (!settings.secret().isEmpty()) {
				plain.put("secret", settings.secret());
			}
			return plain;
		}
		if (value instanceof byte[] bytes) {
			return Base64.getEncoder().encodeToString(bytes);
		}
		if (value instanceof Optional<?> optional) {
			return plain(optional.orElse(null));
		}
		if (value instanceof Map<?, ?> map) {
			Map<String, @Nullable Object> plain = new LinkedHashMap<>();
			map.forEach((name, each) -> plain.put(String.valueOf(name), plain(each)));
			plain.values().removeIf(Objects::isNull);
			return plain;
		}
		return (value instanceof Collection || (value != null && value.getClass().isArray())) ? list(value)
				: (value == null || value instanceof Boolean) ? value : String.valueOf(value);
	}

	private static Object withoutNulls(Order order) {
		Map<String, @Nullable Object> plain = new LinkedHashMap<>();
		plain.put("id", plain(order.id()));
		plain.put("total", plain(order.total()));
		plain.put("mode", plain(order.mode()));
		plain.put("parts", plain(order.parts()));
		plain.values().removeIf(Objects::isNull);
		return plain;
	}

	private static Object list(Object value) {
		List<@Nullable Object> plain = new ArrayList<>();
		if (value instanceof Collection<?> collection) {
			collection.forEach((each) -> plain.add(plain(each)));
		}
		else {
			for (int i = 0; i < Array.getLength(value); i++) {
				plain.add(plain(Array.get(value, i)));
			}
		}
		return plain;
	}

	private static Object number(BigDecimal number) {
		BigDecimal plain = number.stripTrailingZeros();
		if (plain.scale() > 0) {
			return plain;
		}
		BigInteger whole = plain.toBigInteger();
		return (whole.bitLength() < 32) ? (Object) whole.intValue()
				: (whole.bitLength() < 64) ? whole.longValue() : whole;
	}

	/**
	 * A tool for each type of parameter.
	 */
	@SuppressWarnings("unused")
	private final class Tools {

		@Tool
		String aBoolean(boolean value) {
			return take(value);
		}

		@Tool
		String boxedBoolean(Boolean value) {
			return take(value);
		}

		@Tool
		String aByte(byte value) {
			return take(value);
		}

		@Tool
		String aShort(short value) {
			return take(value);
		}

		@Tool
		String anInt(int value) {
			return take(value);
		}

		@Tool
		String boxedInteger(Integer value) {
			return take(value);
		}

		@Tool
		String aLong(long value) {
			return take(value);
		}

		@Tool
		String aFloat(float value) {
			return take(value);
		}

		@Tool
		String aDouble(double value) {
			return take(value);
		}

		@Tool
		String aDecimal(BigDecimal value) {
			return take(value);
		}

		@Tool
		String aBigInteger(BigInteger value) {
			return take(value);
		}

		@Tool
		String aCharacter(char value) {
			return take(String.valueOf(value));
		}

		@Tool
		String aText(String value) {
			return take(value);
		}

		@Tool
		String anEnum(Mode value) {
			return take(value);
		}

		@Tool
		String aDate(LocalDate value) {
			return take(value);
		}

		@Tool
		String anInstant(Instant value) {
			return take(value);
		}

		@Tool
		String aTime(OffsetDateTime value) {
			return take(value);
		}

		@Tool
		String aDuration(Duration value) {
			return take(value);
		}

		@Tool
		String anId(UUID value) {
			return take(value);
		}

		@Tool
		String anAddress(URI value) {
			return take(value);
		}

		@Tool
		String ints(int[] value) {
			return take(value);
		}

		@Tool
		String integers(List<Integer> value) {
			return take(value);
		}

		@Tool
		String texts(List<String> value) {
			return take(value);
		}

		@Tool
		String modes(Set<Mode> value) {
			return take(value);
		}

		@Tool
		String numbersByName(Map<String, Integer> value) {
			return take(value);
		}

		@Tool
		String anything(Object value) {
			return take(value);
		}

		@Tool
		String anOrder(Order value) {
			return take(value);
		}

		@Tool
		String orders(List<Order> value) {
			return take(value);
		}

	}

}
