package io.sessionkit.internal.argument;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The digest that decisions are bound to, and stored with.
 */
class ArgumentDigestTests {

	@Test
	void digestIsTheSameInAllVersions() {
		assertThat(digest("{\"note\":\"für \uD83D\uDE00?\",\"id\":1.0}"))
			.isEqualTo("1cc94d03f3dccaf78be906b8ce7d480e1e9a6d5ce77ec74a5c21b06965e05650");
	}

	/** UTF-8 has none, so that they would all be question marks. */
	@Test
	void loneSurrogatesDifferFromEachOtherAndFromQuestionMarks() {
		assertThat(new String[] { digest("{\"x\":\"\\ud800\"}"), digest("{\"x\":\"\\udc00\"}"), digest("{\"x\":\"?\"}"),
				digest("{\"x\":\"\\\\ud800\"}"), digest("{\"x\":\"\\ud83d\\ude00\"}") })
			.doesNotHaveDuplicates();
		assertThat(digest("{\"x\":\"\\ud800\"}")).isEqualTo(digest("{\"x\":\"\uD800\"}"));
	}

	private static String digest(String arguments) {
		return ToolArguments.of(arguments).digest("cancel");
	}

}
