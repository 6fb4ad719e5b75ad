package io.sessionkit.internal.argument;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests which arguments and results of one tool are passed on to another.
 */
class PassedOnArgumentsTests {

	private static final String ORDER = "{\"type\":\"object\",\"properties\":{\"order\":{\"type\":\"object\"},\"note\":{}}}";

	@Test
	void argumentsArePassedOnByNameAsTheyAre() {
		assertThat(passedOn("{\"more\":1,\"order\":{\"id\":7,\"price\":1.50}}", ORDER, "x"))
			.isEqualTo("{\"order\":{\"id\":7,\"price\":1.50}}");
		assertThat(passedOn("{\"note\":null}", ORDER, null)).isEqualTo("{\"note\":null}");
		assertThat(passedOn("not JSON", ORDER, null)).isEqualTo("{}");
		assertThat(passedOn("{\"order\":1}", "{\"type\":\"object\"}", "x")).isEqualTo("{}");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
			string | "ok 7"   | "ok 7"
			string | ok 7     | "ok 7"
			string | {"id":7} | "{\\"id\\":7}"
			string | 7        | "7"
			object | {"id":7} | {"id":7}
			object | ok       | "ok"
			number | 7        | 7
			""")
	void resultIsPassedOnAsTheParameterTakesIt(String type, String result, String expected) {
		String schema = "{\"properties\":{\"result\":{\"type\":\"" + type + "\"}}}";
		assertThat(passedOn("{\"result\":\"forged\"}", schema, result)).isEqualTo("{\"result\":" + expected + "}");
	}

	@Test
	void argumentDoesNotStandInForAResultThatIsMissing() {
		assertThat(passedOn("{\"result\":\"forged\"}", "{\"properties\":{\"result\":{}}}", null)).isEqualTo("{}");
	}

	/** What is passed on is stored, and no store keeps half a character as it is. */
	@Test
	void halvesOfCharactersArePassedOnAsEscapes() {
		String text = "\"a\\ud800\"";
		assertThat(passedOn("{\"note\":" + text + "}", ORDER, null)).isEqualTo("{\"note\":" + text + "}");
		assertThat(passedOn("{}", "{\"properties\":{\"result\":{}}}", text)).isEqualTo("{\"result\":" + text + "}");
	}

	private static String passedOn(String arguments, String schema, @Nullable String result) {
		return ToolArguments.of(arguments).passedOn(schema, "result", result);
	}

}
