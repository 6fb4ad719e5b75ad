package io.sessionkit.guard;

import java.util.List;
import java.util.Locale;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.TurnPart;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@Isolated
class StopWordsTests {

	private static final HookContext CONTEXT = HookContext.of(SessionKey.of("t1"), "turn");

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { "secret | the secret.", "secret | SECRET", "secret | a-secret-b",
			"secret | (secret)", "secret | sec\u00ADret", "secret | sec\u200Bret", "secret | the\u200Bsecret",
			"secret | \uFF53\uFF45\uFF43\uFF52\uFF45\uFF54", "secret | \u017Fecret", "istanbul | \u0130STANBUL",
			"TITLE | title", "stra\u00DFe | STRASSE", "\u03BF\u03B4\u03BF\u03C2 | \u039F\u0394\u039F\u03A3",
			"caf\u00E9 | cafe\u0301", "internal only | INTERNAL \u00A0\t only", "internal only | internal\u2028only",
			"c++ | I like c++, really", "c++ | C++", "#secret | a #secret here", ".net | use .NET!",
			"\u79D8\u5BC6 | \u3053\u306E\u79D8\u5BC6\u60C5\u5831", "\uD835\uDC1Athe | athe", "a.c | a.c" })
	void wordIsFound(String word, String text) {
		assertThat(refuses(word, text)).isTrue();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "secret | secretary", "secret | topsecret", "secret | secret1", "secret | secret_key",
					"secret | _secret", "secret | secret\u0301", "secret | secret\u00E9",
					"internal only | internal, only", "internal only | internalonly", "c++ | c+", "c++ | abc++",
					"\u043C\u0438\u0440 | \u043C\u0438\u0440\u043D\u044B\u0439", "a.c | abc", "secret | nothing to see",
					"secret | the secret\u00ADary", "secret | \\u0073ecretary", "internal only | internal\u200Bonly" })
	void wordThatOnlyContainsAStopWordPasses(String word, String text) {
		assertThat(refuses(word, text)).isFalse();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "project falcon | project \u200B falcon", "project falcon | project\u200B \u200B \u200Bfalcon",
					"project falcon | project \u00AD\u180B falcon", "secret | se\u180Bcret", "secret | se\u3164cret",
					"secret | se\u115F\uFFA0cret", "secret | se\u0000cret", "secret | se\u0007\u007Fcret",
					"secret | se\uDB40\uDD00cret", "secret | the\u0000secret", "secret | the\u3164secret" })
	void charactersThatAreNotSeenHideNoWord(String word, String text) {
		assertThat(refuses(word, text)).isTrue();
	}

	/** Letters of Vietnamese and Korean, in one piece and in several. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { "caf\u00E9 | cafe\u200B\u0301", "caf\u00E9 | cafe\u0000\u0301",
			"caf\u00E9 | cafe\u3164\u0301 it is", "cafe\u0301 | caf\u00E9", "vi\u1EC7t | vie\u0323\u200B\u0302t",
			"vi\u1EC7t | vi\u00EA\u200B\u0323t", "vi\u1EC7t | vi\u1EB9\u200B\u0302t",
			"\uD55C\uAD6D | \u1112\u200B\u1161\u11AB\uAD6D", "\uD55C\uAD6D | \uD558\u0000\u11AB\uAD6D" })
	void gapWithinALetterHidesNoWord(String word, String text) {
		assertThat(refuses(word, text)).isTrue();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { "cafe | caf\u00E9", "caf\u00E9 | cafe", "\u304B\u304D | \u304C\u304D",
			"\u304D\u304B | \u304D\u304C", "\uAC00 | \uAC01", "secret | secre\u0163", "\uD558 | \uD55C" })
	void letterWithAnotherMarkIsAnotherLetter(String word, String text) {
		assertThat(refuses(word, text)).isFalse();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { "\u304B\u304C | \u304B\u304C\u306E",
			"\u304B\u304C | \u306E\u304B\u304B\u3099\u306E", "secret | the secret\u200B\u0301" })
	void wordThatEndsWithALetterAndItsMarkIsFound(String word, String text) {
		assertThat(refuses(word, text)).isTrue();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "se\u200Bcret | secret", "se\u200Bcret | se\u200Bcret", "secret\u200B | the secret.",
					"\u200Bsecret | secret", "se\u3164cret | secret", "se\u0000cret | secret", "sec\u0007ret | secret",
					"se\u00ADcret | secret", "project \u200B falcon | project falcon",
					"project\u0000 falcon | project \u200B falcon", "\u200B secret \u200B | secret",
					"cafe\u200B\u0301 | caf\u00E9", "\u0E01\u200B\u0E02 | \u0E01\u0E02" })
	void wordThatHasAnInvisibleCharacterIsFound(String word, String text) {
		assertThat(refuses(word, text)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\"q\":\"se\\u0063ret\"}\n{\"q\":1}", "```json\n{\"q\":\"se\\u0063ret\"}\n```",
			"Result: \"\\u0073ecret\"", "{\"q\":\"the\\nsecret", "se\\\\u0063ret", "the\\u200bsecret" })
	void escapeInATextThatIsNoJsonHidesNoWord(String text) {
		assertThat(refuses("secret", text)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "\\x73ecret", "the \\x73\\x65\\x63\\x72\\x65\\x74", "\\u{73}ecret", "\\u{000073}ecret",
			"se\\u{63}ret", "\\x{73}ecret", "\\U00000073ecret", "\\163ecret", "\\uu0073ecret", "\\N{U+0073}ecret",
			"\\x5cx73ecret", "\\u{5c}u{73}ecret", "\\134x73ecret", "\\\\x73ecret", "{\"q\":\"\\\\x73ecret\"}",
			"{\"q\":\"\\\\u{73}ecret\"}", "{\"q\":\"\\x73ecret\"}", "print('\\x73' 'ecret', '\\x73ecret')",
			"\\u{D835}\\u{DC2C}ecret", "\\u{1D42C}ecret", "\\U0001D42Cecret" })
	void escapeOfAnotherLanguageHidesNoWord(String text) {
		assertThat(refuses("secret", text)).isTrue();
		AssistantMessage calls = AssistantMessage.builder()
			.toolCalls(List.of(new ToolCall("c1", "function", "tool", text)))
			.build();
		assertThat(StopWords.of("secret").afterModel(CONTEXT, calls)).isInstanceOf(HookResult.Refuse.class);
	}

	@ParameterizedTest
	@ValueSource(strings = { "\\x73ecretary", "\\u{73}ecretary", "\\x7", "\\u{}", "\\u{110000}", "\\u{", "\\U0000",
			"\\", "\\u{7g}ecret1", "\\N{", "\\N{U+}", "\\400" })
	void whatIsNoEscapeOrAnotherWordPasses(String text) {
		assertThat(refuses("secret", text)).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "C:\\secret", "C:\\x73\\secret", "\\u{73} secret", "\\secret\\x41" })
	void wordBesideABackslashIsFound(String text) {
		assertThat(refuses("secret", text)).isTrue();
	}

	@Test
	void machineWithAnotherLocaleFindsTheSame() {
		Locale before = Locale.getDefault();
		try {
			Locale.setDefault(Locale.forLanguageTag("tr"));
			assertThat(refuses("title", "TITLE")).isTrue();
			assertThat(refuses("TITLE", "title")).isTrue();
		}
		finally {
			Locale.setDefault(before);
		}
	}

	@Test
	void nullAndEmptyTextsPass() {
		StopWords guard = StopWords.of("secret");
		assertThat(guard.afterModel(CONTEXT, AssistantMessage.builder().content(null).build()))
			.isEqualTo(HookResult.keep());
		ToolCall empty = new ToolCall("c1", "function", "tool", "");
		assertThat(
				guard.afterModel(CONTEXT, AssistantMessage.builder().content(null).toolCalls(List.of(empty)).build()))
			.isEqualTo(HookResult.keep());
		assertThat(guard.beforeTurn(CONTEXT, List.of(new UserMessage("")))).isEqualTo(HookResult.keep());
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\"q\":\"the secret\"}", "{\"q\":\"the \\u0073ecret\"}", "{\"secret\":1}",
			"{\"q\":\"line\\nsecret\"}", "not json: secret" })
	void argumentsOfToolCallsAreLookedAt(String arguments) {
		AssistantMessage reply = AssistantMessage.builder()
			.toolCalls(List.of(new ToolCall("c1", "function", "tool", arguments)))
			.build();
		assertThat(StopWords.of("secret").afterModel(CONTEXT, reply)).isInstanceOf(HookResult.Refuse.class);
	}

	@Test
	void replyThatNoModelGaveIsLookedAtBeforeItIsKept() {
		StopWords guard = StopWords.of("secret");
		Message user = new UserMessage("q");
		assertThat(guard.beforeSave(CONTEXT, completed(user, new AssistantMessage("a secret"))))
			.isInstanceOf(HookResult.Refuse.class);
		Message direct = ToolResponseMessage.builder()
			.responses(List.of(new ToolResponse("c1", "tool", "a secret")))
			.build();
		assertThat(guard.beforeSave(CONTEXT, completed(user, direct))).isInstanceOf(HookResult.Refuse.class);
		assertThat(guard.beforeSave(CONTEXT, completed(user, direct, new AssistantMessage("no"))))
			.isEqualTo(HookResult.keep());
		assertThat(guard.beforeSave(CONTEXT, completed(new UserMessage("secret")))).isEqualTo(HookResult.keep());
	}

	@Test
	void guardOnInputNeitherLooksAtRepliesNorMakesStreamsWait() {
		StopWords guard = StopWords.of("secret").onlyInput();
		assertThat(guard.checksReplies()).isFalse();
		AssistantMessage reply = new AssistantMessage("secret");
		assertThat(guard.afterModel(CONTEXT, reply)).isEqualTo(HookResult.keep());
		assertThat(guard.beforeSave(CONTEXT, completed(reply))).isEqualTo(HookResult.keep());
		assertThat(guard.beforeTurn(CONTEXT, List.of(new UserMessage("secret")))).isInstanceOf(HookResult.Refuse.class);
	}

	@Test
	void guardOnRepliesLetsInputPass() {
		StopWords guard = StopWords.of("secret").onlyReplies();
		assertThat(guard.checksReplies()).isTrue();
		assertThat(guard.beforeTurn(CONTEXT, List.of(new UserMessage("secret")))).isEqualTo(HookResult.keep());
		assertThat(guard.afterModel(CONTEXT, new AssistantMessage("secret"))).isInstanceOf(HookResult.Refuse.class);
	}

	@Test
	void reasonIsTheOneGivenAndQuotesNoWord() {
		StopWords guard = StopWords.of("secret", "internal only");
		assertThat(guard.reason("Not here.").beforeTurn(CONTEXT, List.of(new UserMessage("secret"))))
			.isEqualTo(HookResult.refuse("Not here."));
		assertThat(guard.beforeTurn(CONTEXT, List.of(new UserMessage("secret")))).asString().doesNotContain("secret");
		assertThatIllegalArgumentException().isThrownBy(() -> guard.reason("It is Internal  Only."))
			.withMessageContaining("Choose other words");
		assertThatIllegalArgumentException().isThrownBy(() -> guard.reason(" "));
		assertThat(guard.reason("Not here.").onlyInput().beforeTurn(CONTEXT, List.of(new UserMessage("secret"))))
			.isEqualTo(HookResult.refuse("Not here."));
	}

	@Test
	void replyIsReplacedByTheTextWhereOneIsGiven() {
		StopWords guard = StopWords.of("secret").answerWith("Sorry, I cannot say that.");
		AssistantMessage calls = AssistantMessage.builder()
			.content("the secret")
			.toolCalls(List.of(new ToolCall("c1", "function", "tool", "{}")))
			.build();
		for (AssistantMessage reply : List.of(new AssistantMessage("a secret"), calls)) {
			assertThat(guard.afterModel(CONTEXT, reply)).isInstanceOfSatisfying(HookResult.Replace.class,
					(replace) -> assertThat(replace.value()).isInstanceOfSatisfying(AssistantMessage.class, (other) -> {
						assertThat(other.getText()).isEqualTo("Sorry, I cannot say that.");
						assertThat(other.hasToolCalls()).isFalse();
					}));
		}
		assertThat(guard.afterModel(CONTEXT, new AssistantMessage("fine"))).isEqualTo(HookResult.keep());
		assertThat(guard.beforeTurn(CONTEXT, List.of(new UserMessage("secret")))).as("input is refused")
			.isInstanceOf(HookResult.Refuse.class);
		assertThat(guard.beforeSave(CONTEXT, completed(new UserMessage("q"), new AssistantMessage("a secret"))))
			.as("what no model said is refused")
			.isInstanceOf(HookResult.Refuse.class);
		assertThat(guard.reason("No.").onlyReplies().afterModel(CONTEXT, new AssistantMessage("secret")))
			.isInstanceOf(HookResult.Replace.class);
		assertThat(guard.checksReplies()).isTrue();
	}

	@Test
	void textOfTheReplyIsNeitherBlankNorHasItAWord() {
		StopWords guard = StopWords.of("secret");
		assertThatIllegalArgumentException().isThrownBy(() -> guard.answerWith(" "))
			.withMessageContaining("must not be blank");
		assertThatIllegalArgumentException().isThrownBy(() -> guard.answerWith("It is a \\x73ecret."))
			.withMessageContaining("Choose other words");
		assertThatIllegalStateException().isThrownBy(() -> guard.onlyInput().answerWith("Sorry."))
			.withMessageContaining("onlyInput()");
		assertThatIllegalStateException().isThrownBy(() -> guard.answerWith("Sorry.").onlyInput())
			.withMessageContaining("answerWith(..)");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "\u00A0\t", "\u200B", "\u00AD", "\u0000", "\u3164" })
	void blankWordIsRefused(String blank) {
		assertThatIllegalArgumentException().isThrownBy(() -> StopWords.of("secret", blank))
			.withMessageContaining("must not be blank");
	}

	/** A run of them costs no more than other characters, whatever stands behind it. */
	@ParameterizedTest
	@ValueSource(strings = { "\u200B", "\u0000", "\u3164" })
	void invisibleCharactersAreLookedAtAFewTimesEach(String invisible) {
		String run = invisible.repeat(200_000);
		for (String text : List.of(run, run + "\u0301", "a" + run + "b", ("a" + invisible.repeat(999)).repeat(200))) {
			RedactorTests.Counted counted = new RedactorTests.Counted(StopWords.fold(text));
			assertThat(StopWords.joined(counted)).isNotNull();
		}
		assertThat(StopWords.joined(StopWords.fold("a" + invisible + invisible + "\u0301"))).isEqualTo("a\u0301");
	}

	@Test
	void noWordsAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> StopWords.of()).withMessageContaining("at least one");
	}

	private static TurnPart completed(Message... messages) {
		return TurnPart.of(TurnStatus.COMPLETED, List.of(messages));
	}

	private static boolean refuses(String word, String text) {
		StopWords guard = StopWords.of("another", word);
		boolean input = guard.beforeTurn(CONTEXT, List.of(new UserMessage(text))) instanceof HookResult.Refuse;
		boolean reply = guard.afterModel(CONTEXT, new AssistantMessage(text)) instanceof HookResult.Refuse;
		assertThat(input).isEqualTo(reply);
		return input;
	}

}
