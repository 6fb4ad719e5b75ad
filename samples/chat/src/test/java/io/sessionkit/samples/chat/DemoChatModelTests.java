package io.sessionkit.samples.chat;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import io.sessionkit.context.Summarize;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class DemoChatModelTests {

	private final DemoChatModel model = new DemoChatModel(new DemoPace(Duration.ZERO),
			ToolCallingManager.builder().build());

	@Test
	void knowsNoNameThatThePromptDoesNotHold() {
		assertThat(answer(user("What is my name?"))).startsWith("I do not know.");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			My name is Ada            | Ada
			hello, my name is grace.  | Grace
			I am Édith, nice to meet you | Édith
			I'm Jean-Luc              | Jean-Luc
			Please call me O'Neill    | O'Neill
			""")
	void recallsTheNameFromTheHistory(String introduction, String name) {
		assertThat(answer(user(introduction), assistant("Hello"), user("what is my name?"))).contains(name);
	}

	@Test
	void recallsTheNewestName() {
		assertThat(answer(user("I am Ada"), assistant("Hello"), user("call me Grace"), assistant("Sure"),
				user("Who am I?")))
			.contains("Grace")
			.doesNotContain("Ada");
	}

	@Test
	void takesAMoodForNoName() {
		assertThat(answer(user("I am tired"), assistant("Oh"), user("What is my name?"))).startsWith("I do not know.");
	}

	@Test
	void quotesTheFirstQuestionOfThePrompt() {
		assertThat(answer(user("Is it raining?"), assistant("No"), user("What did I say first?")))
			.contains("Is it raining?");
	}

	@Test
	void countsTheMessagesOfThePrompt() {
		assertThat(answer(new SystemMessage("Be brief"), user("Hello"), assistant("Hello"), user("How many messages?")))
			.contains("3 messages", "2 of them from you");
	}

	@Test
	void asksForTheTimeTool() {
		assertThat(calls(tools("current_time", "roll_die"), user("What time is it?"))).extracting(ToolCall::name)
			.containsExactly("current_time");
	}

	@Test
	void asksForOneRollForEachDieAndGivesEachCallItsOwnId() {
		List<ToolCall> calls = calls(tools("current_time", "roll_die"), user("Roll three dice. What time is it?"));

		assertThat(calls).extracting(ToolCall::name)
			.containsExactly("current_time", "roll_die", "roll_die", "roll_die");
		assertThat(calls).extracting(ToolCall::id).doesNotHaveDuplicates();
		assertThat(calls.get(1).arguments()).isEqualTo("{\"sides\":6}");
	}

	@Test
	void asksForOneCancellationForEachOrder() {
		assertThat(calls(tools("cancel_order"), user("Please cancel orders 4711 and 4712 because they are \"late\".")))
			.extracting(ToolCall::arguments)
			.containsExactly("{\"orderNumber\":\"4711\",\"reason\":\"they are \\\"late\\\"\"}",
					"{\"orderNumber\":\"4712\",\"reason\":\"they are \\\"late\\\"\"}");
		assertThat(answer(user("Cancel my order"))).startsWith("Which order?");
	}

	@Test
	void saysThatAnOrderIsCancelledOnlyIfTheToolSaysSo() {
		assertThat(answer(user("Cancel orders 4711 and 4712"), assistant(""),
				results(new ToolResponse("1", "cancel_order", "\"Order 4711 is cancelled (late).\""),
						new ToolResponse("2", "cancel_order", "It was sent."))))
			.isEqualTo("Order 4711 is cancelled (late). Nothing was cancelled. I was told: “It was sent.”");
	}

	@Test
	void asksForNoToolThatIsNotOffered() {
		ChatResponse response = this.model
			.call(new Prompt(List.of(user("Roll a die")), options(tools("current_time"))));

		assertThat(response.hasToolCalls()).isFalse();
		assertThat(message(response).getText()).contains("`roll_die`", "does not offer it");
	}

	@Test
	void answersFromToolResponses() {
		assertThat(answer(user("Roll two dice. What time is it?"), assistant(""),
				results(new ToolResponse("1", "current_time", "\"Friday, 12:00\""),
						new ToolResponse("2", "roll_die", "6"), new ToolResponse("3", "roll_die", "1"))))
			.isEqualTo("It is Friday, 12:00. You rolled 6 and 1.");
	}

	@Test
	void looksOrdersUpOneByOne() {
		UserMessage question = user("Check orders 1, 2 and 3");

		assertThat(calls(tools("check_order"), question)).extracting(ToolCall::arguments)
			.containsExactly("{\"orderNumber\":\"1\"}");
		assertThat(calls(tools("check_order"), question, checks("1"), checked("1"))).extracting(ToolCall::arguments)
			.containsExactly("{\"orderNumber\":\"2\"}");
		assertThat(answer(user("Check order 1"), checks("1"), checked("1"))).isEqualTo("Order 1 is fine.");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			Leave out 2           | 3
			Also check order 4    | 2
			""")
	void followsWhatIsSaidWhileItLooksOrdersUp(String meanwhile, String next) {
		assertThat(calls(tools("check_order"), user("Check orders 1, 2 and 3"), checks("1"), checked("1"),
				user(meanwhile)))
			.extracting(ToolCall::arguments)
			.containsExactly("{\"orderNumber\":\"" + next + "\"}");
	}

	@Test
	void stopsLookingUpWhenItIsToldTo() {
		assertThat(answer(user("Hello"), assistant("Hello"), user("Check orders 1, 2 and 3"), checks("1"), checked("1"),
				user("That is enough")))
			.isEqualTo("Order 1 is fine. You said meanwhile: “That is enough”.");
	}

	@Test
	void answersWhatIsSaidBehindTheResultsOfOtherTools() {
		assertThat(answer(user("My name is Ada"), assistant("Hello"), user("Roll a die"), assistant(""),
				results(new ToolResponse("1", "roll_die", "4")), user("What is my name?")))
			.startsWith("You rolled 4.")
			.contains("Your name is Ada");
	}

	private static AssistantMessage checks(String order) {
		return AssistantMessage.builder()
			.content("")
			.toolCalls(List.of(new ToolCall(order, "function", "check_order", "{\"orderNumber\":\"" + order + "\"}")))
			.build();
	}

	private static ToolResponseMessage checked(String order) {
		return results(new ToolResponse(order, "check_order", "\"Order " + order + " is fine.\""));
	}

	@Test
	void recallsRollsFromTheHistory() {
		assertThat(answer(user("Roll a die"), assistant(""), results(new ToolResponse("1", "roll_die", "4")),
				assistant("You rolled 4."), user("What did I roll?")))
			.contains("4");
	}

	@Test
	void saysThatItIsADemoWhenItDoesNotUnderstand() {
		assertThat(answer(user("Prove the Riemann hypothesis"))).contains("offline demo", "not a language model",
				"What is my name?", "Roll two dice");
	}

	@Test
	void failsWhenAskedTo() {
		assertThatIllegalStateException().isThrownBy(() -> answer(user("Please fail")));
	}

	@Test
	void streamsTheSameReplyWordByWordWithUsageAtTheEnd() {
		Prompt prompt = new Prompt(List.of(user("Tell me a story")), this.model.getOptions());
		List<ChatResponse> chunks = Objects.requireNonNull(this.model.stream(prompt).collectList().block());

		assertThat(chunks).hasSizeGreaterThan(50);
		assertThat(String.join("", chunks.stream().map((chunk) -> message(chunk).getText()).toList()))
			.isEqualTo(message(this.model.call(prompt)).getText());
		ChatResponse last = chunks.get(chunks.size() - 1);
		assertThat(last.getMetadata().getUsage().getTotalTokens()).isPositive();
		assertThat(last.getMetadata().getModel()).isEqualTo("demo");
		assertThat(Objects.requireNonNull(last.getResult()).getMetadata().getFinishReason()).isEqualTo("stop");
	}

	@Test
	void summarizesWhatItIsGivenAndNothingElse() {
		assertThat(answer(user(summaryPrompt("(none)", """
				<message role="user">Say &lt;b> &amp; “so”</message>
				<message role="assistant">I did not understand that.</message>
				<message role="user">Roll two dice.
				What time is it?</message>
				<message role="assistant"></message>
				<tool-call id="1" name="roll_die">{&quot;sides&quot;:6}</tool-call>
				<tool-result id="1" name="roll_die">4</tool-result>
				<tool-result id="2" name="current_time">&quot;Friday, 12:00&quot;</tool-result>
				<message role="assistant">You rolled 4.</message>""")))).isEqualTo("""
				Said so far, oldest first:
				- “Say <b> & “so””
				- “Roll two dice. What time is it?” · roll_die: 4 · current_time: Friday, 12:00""");
	}

	@Test
	void foldsTheSummarySoFarIntoTheNewOne() {
		assertThat(answer(user(summaryPrompt("""
				Said so far, oldest first:
				- 3 older, left out
				- “My name is Ada”
				- “Roll a die” · roll_die: 4""", """
				<message role="user">Hello</message>""")))).isEqualTo("""
				Said so far, oldest first:
				- 3 older, left out
				- “My name is Ada”
				- “Roll a die” · roll_die: 4
				- “Hello”""");
	}

	@Test
	void goesOnFromASummaryOfAnotherModel() {
		assertThat(answer(user(summaryPrompt("The user likes &lt;b>.", "<message role=\"user\">Hello</message>"))))
			.isEqualTo("""
					The user likes <b>.

					Said so far, oldest first:
					- “Hello”""");
	}

	@Test
	void keepsASummaryShortAndTheNameInIt() {
		String much = "<message role=\"user\">My name is Ada</message>\n"
				+ "<message role=\"user\">Hello</message>\n".repeat(30);

		assertThat(answer(user(summaryPrompt("(none)", much)))).contains("- 19 older, left out\n- “My name is Ada”\n")
			.hasLineCount(14);
	}

	@Test
	void keepsWhatToolsReturnedThroughManySummaries() {
		String summary = "(none)";
		for (int round = 0; round < 20; round++) {
			summary = answer(user(summaryPrompt(summary, """
					<message role="user">Roll a die</message>
					<tool-result id="1" name="roll_die">4</tool-result>
					<message role="user">Hello</message>
					<message role="user">Hello again</message>""")));
		}

		assertThat(summary.split("roll_die: 4", -1)).hasSize(21);
	}

	@Test
	void recallsFromTheSummaryThatAPromptBeginsWith() {
		Message[] summary = { new SystemMessage("Be brief"), user("Summarize our conversation so far."), assistant("""
				Said so far, oldest first:
				- “My name is Ada”
				- “Roll two dice” · roll_die: 3 · roll_die: 5""") };

		assertThat(answer(summary, user("What is my name?"))).contains("Ada");
		assertThat(answer(summary, user("What did I roll?"))).contains("3 and 5");
		assertThat(answer(summary, user("What did I say first?"))).contains("summary", "“My name is Ada”");
		assertThat(answer(summary, user("How many messages are there?"))).contains("3 messages", "From you: 1.");
	}

	@Test
	void offersOptionsThatCanCarryTools() {
		assertThat(this.model.getOptions()).isInstanceOf(ToolCallingChatOptions.class);
	}

	private @Nullable String answer(Message[] before, Message question) {
		return answer(Stream.concat(Arrays.stream(before), Stream.of(question)).toArray(Message[]::new));
	}

	private static String summaryPrompt(String soFar, String conversation) {
		return Summarize.DEFAULT_PROMPT.replace(Summarize.SUMMARY, soFar)
			.replace(Summarize.CONVERSATION, conversation.stripTrailing());
	}

	private @Nullable String answer(Message... messages) {
		return message(this.model.call(new Prompt(Arrays.asList(messages), this.model.getOptions()))).getText();
	}

	private List<ToolCall> calls(List<ToolCallback> tools, Message... messages) {
		return message(this.model.call(new Prompt(Arrays.asList(messages), options(tools)))).getToolCalls();
	}

	private static AssistantMessage message(ChatResponse response) {
		return Objects.requireNonNull(response.getResult()).getOutput();
	}

	private static ToolCallingChatOptions options(List<ToolCallback> tools) {
		return ToolCallingChatOptions.builder().toolCallbacks(tools).build();
	}

	private static List<ToolCallback> tools(String... names) {
		return Arrays.stream(names)
			.<ToolCallback>map((name) -> FunctionToolCallback.builder(name, () -> "")
				.description(name)
				.inputType(Void.class)
				.build())
			.toList();
	}

	private static UserMessage user(String text) {
		return new UserMessage(text);
	}

	private static AssistantMessage assistant(String text) {
		return new AssistantMessage(text);
	}

	private static ToolResponseMessage results(ToolResponse... responses) {
		return ToolResponseMessage.builder().responses(List.of(responses)).build();
	}

}
