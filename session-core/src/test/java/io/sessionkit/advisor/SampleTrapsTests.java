package io.sessionkit.advisor;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.Turn;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.InvalidSequenceException;
import io.sessionkit.context.Summarize;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookFailedException;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.ValidSequence;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.prompt.Prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Tests what well-known samples of trimming, deleting and checking do wrong, each by its
 * number there. Others are tested where their subject is.
 */
class SampleTrapsTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private final AtomicInteger counted = new AtomicInteger();

	private final SessionStore store = new InMemorySessionStore(
			StoreOptions.of(JsonMessageCodec.create()).tokens((message) -> {
				this.counted.incrementAndGet();
				return 10;
			}));

	private final ScriptedChatModel model = new ScriptedChatModel().reports(0);

	static List<ClientSetup> setups() {
		return ClientSetup.all();
	}

	/**
	 * There, a list that a hook returns is added to what is there.
	 */
	@ParameterizedTest
	@MethodSource("setups")
	void whatAHookReturnsReplacesWhatWasThereAndIsNotAddedToIt(ClientSetup setup) {
		SessionHook lastThree = TestHooks.beforeModel("last three", (request) -> {
			List<Message> system = request.stream().filter(SystemMessage.class::isInstance).toList();
			List<Message> others = request.subList(system.size(), request.size());
			List<Message> kept = new ArrayList<>(system);
			kept.addAll(others.subList(Math.max(0, others.size() - 3), others.size()));
			return HookResult.replace(kept);
		});
		ChatClient chat = chat(setup, Trim.NONE, lastThree);
		for (int run = 1; run <= 4; run++) {
			this.model.says("a" + run);
			ask(setup, chat, "u" + run);
			assertThat(thread().messages()).hasSize(2 * run);
		}
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: u3", "assistant: a3", "user: u4"));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void erasedSessionIsEmptyAndTheRunningCallStillAnswers(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		ChatClient chat = chat(setup, Trim.NONE);
		this.model.says("a1");
		ask(setup, chat, "u1");
		this.model.step((prompt) -> {
			thread().clear();
			return Flux.just(this.model.chunk("a2", List.of(), true));
		});
		SessionLostException lost = catchThrowableOfType(SessionLostException.class, () -> ask(setup, chat, "u2"));
		assertThat(lost.reply().getResult().getOutput().getText()).isEqualTo("a2");
		assertThat(thread().messages()).isEmpty();
		this.model.says("a3");
		ask(setup, chat, "u3");
		assertThat(this.model.lastRequestLines()).containsExactly("user: u3");
	}

	@Test
	void emptyRequestIsAnErrorAndNotTheSameAsNoChange() {
		this.store.add(T1, List.of(new UserMessage("u1"), new AssistantMessage("a1")));
		ChatClient chat = chat(ClientSetup.plain(), Trim.NONE,
				TestHooks.beforeModel("empty", (request) -> HookResult.replace(List.of())));
		assertThatExceptionOfType(InvalidSequenceException.class)
			.isThrownBy(() -> ask(ClientSetup.plain(), chat, "u2"));
		assertThat(this.model.prompts()).isEmpty();
		assertThat(thread().messages()).hasSize(2);
	}

	/**
	 * There, the two oldest messages go, whatever they are a part of.
	 */
	@ParameterizedTest
	@MethodSource("setups")
	void oldestMessagesAreDeletedBetweenTurnsTogetherWithTheirToolGroups(ClientSetup setup) {
		this.store.add(T1, toolTurn("u1", "a1"));
		ChatClient chat = chat(setup, Trim.NONE);
		for (int i = 2; i <= 5; i++) {
			this.model.calls(SessionAdvisorTests.call("", "t", "1")).says("a" + i);
			ask(setup, chat, "u" + i);
			assertThat(this.model.lastRequestLines()).endsWith("user: u" + i, "assistant t({\"value\":\"1\"})",
					"tool t=1");
			assertThat(deleteTheTwoOldest()).isGreaterThanOrEqualTo(2);
			assertThat(Lines.of(thread().messages())).endsWith("tool t=1", "assistant: a" + i);
		}
		assertValid();
	}

	/**
	 * There, they go after each model call, so in the middle of a turn too. Only others
	 * can delete then.
	 */
	@ParameterizedTest
	@MethodSource("setups")
	void deletionInTheMiddleOfATurnLeavesItsRequestsAndItsAnswerWhole(ClientSetup setup) {
		this.store.add(T1, toolTurn("u1", "a1"));
		this.store.add(T1, toolTurn("u2", "a2"));
		SessionHook deleting = TestHooks.afterModel("deleting", (reply) -> {
			CompletableFuture.runAsync(this::deleteTheTwoOldest).join();
			return HookResult.keep();
		});
		this.model.calls(SessionAdvisorTests.call("", "t", "1")).says("a3");
		SessionConflictException conflict = catchThrowableOfType(SessionConflictException.class,
				() -> ask(setup, chat(setup, Trim.NONE, deleting), "u3"));
		assertThat(conflict.reply().getResult().getOutput().getText()).isEqualTo("a3");
		assertThat(this.model.lastRequestLines()).endsWith("user: u3", "assistant t({\"value\":\"1\"})", "tool t=1");
		this.model.says("a4");
		ask(setup, chat(setup, Trim.NONE), "u4");
		assertValid();
		assertThat(Lines.of(thread().messages())).containsExactly("assistant t({\"value\":\"1\"}) t({\"value\":\"2\"})",
				"tool t=1 t=2", "assistant: a2", "user: u4", "assistant: a4");
	}

	private int deleteTheTwoOldest() {
		List<Long> oldest = this.store.items(T1, Tail.ALL).stream().limit(2).map(SessionItem::sequence).toList();
		return thread().delete(Set.copyOf(oldest));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void partOfAListThatIsChangedLaterIsACopy(ClientSetup setup) {
		List<Message> own = new ArrayList<>();
		SessionHook views = TestHooks.beforeModel("views", (request) -> {
			own.clear();
			own.addAll(request);
			return HookResult.replace(own.subList(0, own.size()));
		});
		ChatClient chat = chat(setup, Trim.NONE, views);
		this.model.says("a1");
		ask(setup, chat, "u1");
		this.model.step((prompt) -> {
			own.add(new UserMessage("later"));
			return Flux.just(this.model.chunk("a2", List.of(), true));
		});
		ask(setup, chat, "u2");
		own.add(new UserMessage("later still"));
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: u1", "assistant: a1", "user: u2"));
		assertThat(Lines.of(thread().messages())).containsExactly("user: u1", "assistant: a1", "user: u2",
				"assistant: a2");
		assertThat(Lines.of(thread().snapshot(2).orElseThrow().messages())).containsExactly("user: u1",
				"assistant: a1");
	}

	/**
	 * There, the other answer is put in front of the one that it should replace.
	 */
	@ParameterizedTest
	@MethodSource("setups")
	void replyThatIsReplacedIsNowhere(ClientSetup setup) {
		SessionHook sorry = TestHooks.afterModel("sorry", (reply) -> reply.getText().contains("SECRET")
				? HookResult.replace(new AssistantMessage("sorry")) : HookResult.keep());
		ChatClient chat = chat(setup, Trim.NONE, sorry);
		this.model.says("the SECRET is 42").says("a2");
		assertThat(setup.content(chat.prompt().user("u1").advisors(SessionAdvisor.session(T1)))).isEqualTo("sorry");
		ask(setup, chat, "u2");
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: u1", "assistant: sorry", "user: u2"));
		assertThat(Lines.of(thread().messages())).containsExactly("user: u1", "assistant: sorry", "user: u2",
				"assistant: a2");
		assertThat(Lines.of(thread().snapshot(2).orElseThrow().messages())).containsExactly("user: u1",
				"assistant: sorry");
		for (Turn turn : thread().turns(Tail.ALL)) {
			assertThat(thread().items(turn.number())).noneMatch((item) -> item.message().getText().contains("SECRET"));
		}
	}

	@Test
	void hookThatAddsToTheListThatItIsGivenFailsClosed() {
		SessionHook adding = TestHooks.beforeSave("adding", (turn) -> {
			turn.subList(0, turn.size() - 1).add(new AssistantMessage("sorry"));
			return HookResult.keep();
		});
		ChatClient chat = chat(ClientSetup.plain(), Trim.NONE, adding);
		this.model.says("the SECRET is 42");
		assertThatExceptionOfType(HookFailedException.class).isThrownBy(() -> ask(ClientSetup.plain(), chat, "u1"))
			.withMessageNotContaining("SECRET");
		assertThat(thread().messages()).isEmpty();
		assertThat(Lines.of(thread().items(1).stream().map(SessionItem::message).toList())).containsExactly("user: u1");
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2, 3, 4 })
	void summaryEndsAtATurnWhateverNumberOfMessagesThatLeaves(int keepTurns) {
		for (int i = 1; i <= 5; i++) {
			this.store.add(T1, (i % 2 == 0) ? toolTurn("u" + i, "a" + i)
					: List.of(new UserMessage("u" + i), new AssistantMessage("a" + i)));
		}
		ScriptedChatModel summarizer = new ScriptedChatModel().says("summary");
		try (Conversations conversations = Conversations.builder(this.store)
			.summarize(Summarize.by(summarizer).keepTurns(keepTurns).build())
			.build()) {
			conversations.get(T1).summarize(true);
		}
		List<Message> view = thread().view();
		assertThat(ValidSequence.faults(view)).isEmpty();
		assertThat(Lines.of(view)).startsWith("user: Summarize our conversation so far.", "assistant: summary");
		assertThat(Lines.of(view).stream().filter((line) -> line.matches("user: u\\d")).toList()).hasSize(keepTurns);
		if (keepTurns > 0) {
			assertThat(Lines.of(view).get(2)).isEqualTo("user: u" + (6 - keepTurns));
		}
	}

	/**
	 * A neighbour counts the whole view anew at each check.
	 */
	@Test
	void whatIsInTheSessionIsCountedOnceWhenItIsWritten() {
		for (int i = 1; i <= 50; i++) {
			this.store.add(T1, List.of(new UserMessage("u" + i), new AssistantMessage("a" + i)));
		}
		this.counted.set(0);
		this.model.calls(SessionAdvisorTests.call("c", "t", "1")).says("a51");
		ask(ClientSetup.plain(), chat(ClientSetup.plain(), Trim.keepLastTokens(200)), "u51");
		assertThat(this.model.lastRequest()).hasSizeBetween(18, 20);
		assertThat(this.counted).as("four messages are new; each is counted to be sent and to be stored, and the tool")
			.hasValueBetween(4, 9);
	}

	private void assertValid() {
		for (Prompt prompt : this.model.prompts()) {
			assertThat(ValidSequence.faults(prompt.getInstructions())).isEmpty();
		}
	}

	private static List<Message> toolTurn(String question, String answer) {
		return List.of(new UserMessage(question),
				AssistantMessage.builder()
					.content("")
					.toolCalls(List.of(SessionAdvisorTests.call("", "t", "1"), SessionAdvisorTests.call("", "t", "2")))
					.build(),
				ToolResponseMessage.builder()
					.responses(List.of(new ToolResponse("", "t", "1"), new ToolResponse("", "t", "2")))
					.build(),
				new AssistantMessage(answer));
	}

	private ChatClient chat(ClientSetup setup, Trim trim, SessionHook... hooks) {
		return setup
			.builder(this.model, SessionAdvisor.of(Conversations.builder(this.store).trim(trim).hooks(hooks).build()))
			.defaultTools(SessionAdvisorTests.echo("t"))
			.build();
	}

	private static void ask(ClientSetup setup, ChatClient chat, String question) {
		setup.content(chat.prompt().user(question).advisors(SessionAdvisor.session(T1)));
	}

	private Conversation thread() {
		return Conversations.of(this.store).get(T1);
	}

}
