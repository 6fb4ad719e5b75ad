package io.sessionkit.guard;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.Verdict.Kind;
import io.sessionkit.Verdict.Phase;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.extension.AccountNumbers;
import io.sessionkit.guard.Redactor.Action;
import io.sessionkit.hook.SessionEvent;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.ai.tool.metadata.ToolMetadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * {@link StopWords} and {@link Redactor} in real calls and streams, and a guard that is
 * written as the documentation says.
 */
class ShippedGuardTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private static final String SECRET = "ada@example.org";

	private static final String CARD = "4111 1111 1111 1111";

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final List<String> toolGot = new CopyOnWriteArrayList<>();

	private final List<String> heard = new CopyOnWriteArrayList<>();

	static List<ClientSetup> setups() {
		return ClientSetup.all();
	}

	static Stream<Arguments> setupsAndActions() {
		return setups().stream()
			.flatMap((setup) -> Stream.of(Arguments.of(setup, Action.REDACT), Arguments.of(setup, Action.MASK)));
	}

	static Stream<Arguments> setupsAndGuards() {
		return setups().stream()
			.flatMap((setup) -> Stream.of(WordGuard.values()).map((guard) -> Arguments.of(setup, guard)));
	}

	@ParameterizedTest
	@MethodSource("setupsAndGuards")
	void stopWordInTheInputReachesNeitherModelNorStore(ClientSetup setup, WordGuard guard) {
		List<String> delivered = new ArrayList<>();
		SessionRefusedException refused = refused(setup, client(setup, guard.refusing("hunter2")), "it is Hunter2",
				delivered);
		assertThat(refused.phase()).isEqualTo(Phase.BEFORE_TURN);
		assertThat(this.model.prompts()).isEmpty();
		assertNowhere(refused, delivered, "unter2");
	}

	@ParameterizedTest
	@MethodSource("setupsAndGuards")
	void withheldReplyIsInNoStoreNoRequestNoStreamNoEventAndNoException(ClientSetup setup, WordGuard guard) {
		this.model.calls(call("{\"to\":\"x\"}")).says("it is hunter2");
		ChatClient chat = client(setup, guard.refusing("hunter2"));
		List<String> delivered = new ArrayList<>();
		SessionRefusedException refused = refused(setup, chat, "q", delivered);
		assertThat(refused.phase()).isEqualTo(Phase.AFTER_MODEL);
		assertThat(delivered).isEmpty();
		this.model.says("fine");
		assertThat(setup.content(prompt(chat, "next"))).isEqualTo("fine");
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: next"));
		assertNowhere(refused, delivered, "hunter2");
	}

	@ParameterizedTest
	@MethodSource("setupsAndGuards")
	void callWithoutTextRunsItsToolAndALongerWordPasses(ClientSetup setup, WordGuard guard) {
		AssistantMessage silent = AssistantMessage.builder()
			.content(null)
			.toolCalls(List.of(call("{\"to\":\"x\"}")))
			.build();
		this.model.responds(new ChatResponse(List.of(new Generation(silent)))).says("ask the secretary");
		assertThat(setup.content(prompt(client(setup, guard.refusing("secret")), "q"))).isEqualTo("ask the secretary");
		assertThat(this.toolGot).containsExactly("x");
		assertThat(log()).containsExactly("user: q", "assistant send({\"to\":\"x\"})", "tool send=sent to x",
				"assistant: ask the secretary");
	}

	@ParameterizedTest
	@MethodSource("setupsAndGuards")
	void toolDoesNotRunWhereItsArgumentsHaveAStopWord(ClientSetup setup, WordGuard guard) {
		this.model.calls(call("{\"to\":\"\\u0068unter2\"}"));
		refused(setup, client(setup, guard.refusing("hunter2")), "q", new ArrayList<>());
		assertThat(this.toolGot).isEmpty();
		assertThat(turn().status()).isEqualTo(TurnStatus.REFUSED);
	}

	@ParameterizedTest
	@MethodSource("setupsAndGuards")
	void replyWithAStopWordIsReplacedByTheTextEverywhere(ClientSetup setup, WordGuard guard) {
		this.model.calls(call("{\"to\":\"x\"}")).says("it is hunter2");
		ChatClient chat = client(setup, guard.replacing("hunter2", "Sorry, I cannot say that."));
		List<String> delivered = new ArrayList<>();
		delivered.add(String.valueOf(setup.content(prompt(chat, "q"))));
		assertThat(delivered).containsExactly("Sorry, I cannot say that.");
		assertThat(this.heard).containsExactly("Sorry, I cannot say that.");
		assertThat(turn().status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(turn().verdicts())
			.containsExactly(new Verdict(guard.refusing("x").name(), Phase.AFTER_MODEL, Kind.REPLACED, null));
		this.model.says("fine");
		setup.content(prompt(chat, "next"));
		assertThat(this.model.lastRequestLines()).contains("assistant: Sorry, I cannot say that.")
			.endsWith("user: next");
		assertNowhere(null, delivered, "hunter2");
	}

	@ParameterizedTest
	@MethodSource("setupsAndGuards")
	void toolWhoseArgumentsHaveAStopWordDoesNotRunWhereTheReplyIsReplaced(ClientSetup setup, WordGuard guard) {
		this.model.calls(call("{\"to\":\"fine\"}"),
				call("{\"to\":\"" + guard.escaped("hunter2").replace("\\\\", "\\") + "\"}"));
		ChatClient chat = client(setup, guard.replacing("hunter2", "Sorry."));
		assertThat(setup.content(prompt(chat, "q"))).isEqualTo("Sorry.");
		assertThat(this.toolGot).isEmpty();
		assertThat(log()).containsExactly("user: q", "assistant: Sorry.");
		assertThat(this.model.prompts()).hasSize(1);
	}

	@ParameterizedTest
	@MethodSource("setupsAndGuards")
	void directResultWithAStopWordIsRefusedWhereTheReplyIsReplaced(ClientSetup setup, WordGuard guard) {
		this.model.calls(call("{\"to\":\"x\"}"));
		Conversations conversations = Conversations.builder(this.store)
			.hooks(guard.replacing("sent", "Sorry."))
			.build();
		ChatClient chat = setup.builder(this.model, SessionAdvisor.of(conversations)).defaultTools(tool(true)).build();
		List<String> delivered = new ArrayList<>();
		assertNowhere(refused(setup, chat, "q", delivered), delivered, "sent to");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void inputThatAGuardAnswersReachesNeitherModelNorStore(ClientSetup setup) {
		AccountNumbers guard = AccountNumbers.answer(Pattern.compile("\\d{10}"), "Without numbers, please.");
		ChatClient chat = client(setup, guard);
		List<String> delivered = List.of(String.valueOf(setup.content(prompt(chat, "I am 0123456789"))));
		assertThat(delivered).containsExactly("Without numbers, please.");
		assertThat(this.model.prompts()).isEmpty();
		assertThat(turn().status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(log()).containsExactly("user: I am [account]", "assistant: Without numbers, please.");
		this.model.says("fine");
		assertThat(setup.content(prompt(chat, "next"))).isEqualTo("fine");
		assertNowhere(null, delivered, "0123456789");
	}

	@Test
	void guardOnInputLeavesStreamsLive() {
		this.model.says("hunter2 it is").says("hunter2 it is");
		ClientSetup setup = ClientSetup.streaming();
		assertThat(chunks(client(setup, StopWords.of("hunter2").onlyInput()))).containsExactly("hunter", "2 it is");
		assertThat(chunks(client(setup, StopWords.of("nothing")))).containsExactly("hunter2 it is");
	}

	// streamed output, tool arguments and tool results
	@ParameterizedTest
	@MethodSource("setupsAndActions")
	void nothingOfAMatchIsSentStoredDeliveredOrHeard(ClientSetup setup, Action action) {
		this.model.calls(call("{\"to\":\"ada\\u0040example.org\"}")).says("sent to " + SECRET + " for " + CARD);
		ChatClient chat = client(setup, redactor(action));
		String content = setup.content(prompt(chat, "mail " + SECRET + ", card " + CARD));
		String email = (action == Action.REDACT) ? "[email]" : "a**@example.org";
		String card = (action == Action.REDACT) ? "[card]" : "**** **** **** 1111";
		String asked = "user: mail " + email + ", card " + card;
		String[] round = { "assistant send({\"to\":\"" + email + "\"})", "tool send=sent to " + email };
		assertThat(this.toolGot).as("the tool needs the address").containsExactly(SECRET);
		assertThat(content).isEqualTo("sent to " + email + " for " + card);
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines(asked, round[0], round[1]));
		assertThat(log()).containsExactly(asked, round[0], round[1], "assistant: sent to " + email + " for " + card);
		assertThat(this.heard).containsExactly("sent to " + email + " for " + card);
		assertNowhere(null, List.of(String.valueOf(content)), SECRET);
		assertNowhere(null, List.of(String.valueOf(content)), CARD);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void blockedInputAndReplyAreNowhereAndTheThreadGoesOn(ClientSetup setup) {
		ChatClient chat = client(setup, redactor(Action.BLOCK));
		List<String> delivered = new ArrayList<>();
		SessionRefusedException input = refused(setup, chat, "I am " + SECRET, delivered);
		assertThat(input.phase()).isEqualTo(Phase.BEFORE_TURN);
		assertThat(input.reason()).contains("'email'");
		this.model.says("you are " + SECRET);
		SessionRefusedException reply = refused(setup, chat, "who am I?", delivered);
		assertThat(reply.phase()).isEqualTo(Phase.AFTER_MODEL);
		assertNowhere(input, delivered, SECRET);
		assertNowhere(reply, delivered, SECRET);
		this.model.says("fine");
		assertThat(setup.content(prompt(chat, "next"))).as("a refused turn is not history").isEqualTo("fine");
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: next"));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void blockedArgumentsDoNotReachTheTool(ClientSetup setup) {
		this.model.calls(call("{\"to\":\"" + SECRET + "\"}"));
		SessionRefusedException refused = refused(setup, client(setup, redactor(Action.BLOCK)), "q", new ArrayList<>());
		assertThat(this.toolGot).isEmpty();
		assertNowhere(refused, List.of(), SECRET);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void blockedResultIsNeitherSentNorKept(ClientSetup setup) {
		this.model.calls(call("{\"to\":\"10.0.0.1\"}"));
		Redactor redactor = Redactor.builder().pattern("sent", Pattern.compile("sent to \\S+"), Action.BLOCK).build();
		SessionRefusedException refused = refused(setup, client(setup, redactor), "q", new ArrayList<>());
		assertThat(refused.phase()).isEqualTo(Phase.BEFORE_MODEL);
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(turn().status()).isEqualTo(TurnStatus.REFUSED);
		assertNowhere(refused, List.of(), "sent to");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void blockedResultThatWouldGoToTheCallerDirectlyIsWithheld(ClientSetup setup) {
		this.model.calls(call("{\"to\":\"x\"}"));
		Redactor redactor = Redactor.builder().pattern("sent", Pattern.compile("sent to \\S+"), Action.BLOCK).build();
		ChatClient chat = setup
			.builder(this.model, SessionAdvisor.of(Conversations.builder(this.store).hooks(redactor).build()))
			.defaultTools(tool(true))
			.build();
		List<String> delivered = new ArrayList<>();
		SessionRefusedException refused = refused(setup, chat, "q", delivered);
		assertThat(refused.phase()).isEqualTo(Phase.BEFORE_SAVE);
		assertNowhere(refused, delivered, "sent to");
	}

	// BLOCK refused for ever once the history had a match
	@ParameterizedTest
	@MethodSource("setups")
	void historyFromBeforeTheRedactorIsRedactedAndNotRefused(ClientSetup setup) {
		this.store.add(T1, List.of(new UserMessage("I am " + SECRET), new AssistantMessage("hello " + SECRET)));
		this.model.calls(call("{\"to\":\"x\"}")).says("fine");
		assertThat(setup.content(prompt(client(setup, redactor(Action.BLOCK)), "q"))).isEqualTo("fine");
		this.model.prompts()
			.forEach((prompt) -> assertThat(Lines.of(prompt.getInstructions()))
				.containsAll(setup.lines("user: I am [email]", "assistant: hello [email]", "user: q")));
		assertThat(log()).as("what is stored is not touched").contains("user: I am " + SECRET);
	}

	private static Redactor redactor(Action action) {
		return Redactor.builder().emails(action).cards(action).build();
	}

	private List<String> chunks(ChatClient chat) {
		return prompt(chat, "q").stream().content().filter((chunk) -> !chunk.isEmpty()).collectList().block();
	}

	private SessionRefusedException refused(ClientSetup setup, ChatClient chat, String question,
			List<String> delivered) {
		SessionRefusedException refused = catchThrowableOfType(SessionRefusedException.class, () -> {
			if (setup.mode() == ClientSetup.Mode.CALL) {
				delivered.add(prompt(chat, question).call().content());
			}
			else {
				prompt(chat, question).stream().content().doOnNext(delivered::add).blockLast();
			}
		});
		assertThat(refused).isNotNull();
		return refused;
	}

	/**
	 * A text is in no turn, request, delivery, event or exception.
	 */
	private void assertNowhere(@Nullable Throwable thrown, List<String> delivered, String text) {
		StringWriter trace = new StringWriter();
		if (thrown != null) {
			thrown.printStackTrace(new PrintWriter(trace));
		}
		assertThat(trace.toString()).doesNotContain(text);
		assertThat(delivered.toString()).doesNotContain(text);
		assertThat(this.heard.toString()).doesNotContain(text);
		this.model.prompts()
			.forEach((prompt) -> assertThat(Lines.of(prompt.getInstructions()).toString()).doesNotContain(text));
		for (Turn turn : this.store.turns(T1, Tail.ALL)) {
			assertThat(turn.toString()).doesNotContain(text);
			assertThat(this.store.items(T1, turn.number()).toString()).doesNotContain(text);
		}
		assertThat(this.store.turns(T1, Tail.ALL)).isNotEmpty();
	}

	private Turn turn() {
		return this.store.turns(T1, Tail.ALL).get(0);
	}

	private List<String> log() {
		return Lines.of(this.store.messages(T1));
	}

	private ChatClient client(ClientSetup setup, SessionHook hook) {
		Conversations conversations = Conversations.builder(this.store).hooks(hook).listeners(new SessionListener() {

			@Override
			public void textComplete(SessionEvent.TextComplete event) {
				ShippedGuardTests.this.heard.add(event.text());
			}

		}).build();
		return setup.builder(this.model, SessionAdvisor.of(conversations)).defaultTools(tool(false)).build();
	}

	private ToolCallback tool(boolean direct) {
		return FunctionToolCallback.builder("send", (Mail mail) -> {
			this.toolGot.add(mail.to());
			return "sent to " + mail.to();
		})
			.description("sends a mail")
			.inputType(Mail.class)
			.toolMetadata(ToolMetadata.builder().returnDirect(direct).build())
			.toolCallResultConverter((result, type) -> String.valueOf(result))
			.build();
	}

	private static ToolCall call(String arguments) {
		return new ToolCall("c1", "function", "send", arguments);
	}

	private static ChatClient.ChatClientRequestSpec prompt(ChatClient chat, String text) {
		return chat.prompt().user(text).advisors(SessionAdvisor.session(T1));
	}

	record Mail(String to) {
	}

}
