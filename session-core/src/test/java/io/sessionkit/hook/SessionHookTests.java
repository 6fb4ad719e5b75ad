package io.sessionkit.hook;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;

import io.sessionkit.Concurrency;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnResult;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.Verdict.Kind;
import io.sessionkit.Verdict.Phase;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.context.InvalidSequenceException;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitFailedException;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ObservedStore.Fault;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.util.MimeTypeUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

class SessionHookTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private static final String SECRET = "the secret is 42";

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final Conversation thread = Conversations.of(this.store).get(T1);

	private final ScriptedChatModel model = new ScriptedChatModel();

	static List<ClientSetup> setups() {
		return ClientSetup.all();
	}

	@Test
	void aHookThatOnlyTakesAnImageAwayChangesTheRequest() {
		this.model.says("a");
		client(ClientSetup.plain(), List.of(TestHooks.beforeModel("no images", (request) -> {
			List<Message> changed = new ArrayList<>(request);
			changed.replaceAll(
					(message) -> (message instanceof UserMessage) ? new UserMessage(message.getText()) : message);
			return HookResult.replace(changed);
		}))).prompt()
			.user((user) -> user.text("look").media(MimeTypeUtils.IMAGE_PNG, new ByteArrayResource(new byte[] { 1 })))
			.advisors(SessionAdvisor.session(T1))
			.call()
			.content();
		assertThat(((UserMessage) this.model.lastRequest().get(0)).getMedia()).isEmpty();
		assertThat(((UserMessage) this.thread.messages().get(0)).getMedia()).hasSize(1);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void beforeHooksRunOutsideInAndAfterHooksInsideOut(ClientSetup setup) {
		List<String> asked = new CopyOnWriteArrayList<>();
		this.model.calls(call()).says("done");
		ChatClient chat = client(setup, List.of(noting("outer", asked), noting("inner", asked)));
		setup.content(prompt(chat, "q").advisors(SessionAdvisor.hook(noting("call", asked)))
			.advisors(SessionAdvisor.hook(noting("call2", asked))));
		List<String> before = List.of("outer", "inner", "call", "call2");
		List<String> after = List.of("call2", "call", "inner", "outer");
		List<String> expected = new ArrayList<>();
		before.forEach((name) -> expected.add(name + " beforeTurn"));
		for (int round = 0; round < 2; round++) {
			before.forEach((name) -> expected.add(name + " beforeModel"));
			after.forEach((name) -> expected.add(name + " afterModel"));
		}
		after.forEach((name) -> expected.add(name + " beforeSave"));
		assertThat(asked).isEqualTo(expected);
		assertThat(turn().verdicts()).isEmpty();
	}

	@Test
	void firstHookThatAnswersOrRefusesEndsTheQuestionsOfItsPhase() {
		List<HookResult<List<Message>>> ends = List.of(HookResult.answer("a"), HookResult.refuse("no"));
		for (HookResult<List<Message>> end : ends) {
			List<String> asked = new CopyOnWriteArrayList<>();
			ChatClient turn = client(ClientSetup.plain(), List.of(noting("first", asked),
					TestHooks.beforeTurn("ends", (input) -> end), noting("behind", asked)));
			assertThat(catchThrowable(() -> prompt(turn, "q").call().content()))
				.satisfies((thrown) -> assertThat(thrown == null).isEqualTo(end instanceof HookResult.Answer));
			assertThat(asked).startsWith("first beforeTurn").doesNotContain("behind beforeTurn");
			ChatClient model = client(ClientSetup.plain(), List.of(noting("first", asked),
					TestHooks.beforeModel("ends", (request) -> end), noting("behind", asked)));
			assertThat(catchThrowable(() -> prompt(model, "q").call().content()))
				.satisfies((thrown) -> assertThat(thrown == null).isEqualTo(end instanceof HookResult.Answer));
			assertThat(asked).contains("behind beforeTurn", "first beforeModel").doesNotContain("behind beforeModel");
		}
		assertThat(this.model.prompts()).isEmpty();
	}

	@Test
	void hookOfACallIsNotAskedInTheNext() {
		List<String> asked = new CopyOnWriteArrayList<>();
		this.model.says("a").says("b");
		ChatClient chat = client(ClientSetup.plain(), List.of());
		prompt(chat, "q").advisors(SessionAdvisor.hook(noting("call", asked))).call().content();
		int before = asked.size();
		prompt(chat, "q").call().content();
		assertThat(asked).hasSize(before).isNotEmpty();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void replacedInputIsWhatIsSentAndStored(ClientSetup setup) {
		this.model.calls(call()).says("done").says("again");
		SessionHook redact = TestHooks.beforeTurn("redact",
				(input) -> HookResult.replace(List.of(new UserMessage(input.get(0).getText().replace(SECRET, "***")))));
		ChatClient chat = client(setup, List.of(redact));
		setup.content(prompt(chat, SECRET));
		this.model.prompts()
			.forEach((prompt) -> assertThat(Lines.of(prompt.getInstructions())).contains("user: ***")
				.doesNotContain("user: " + SECRET));
		assertThat(log()).startsWith("user: ***").doesNotContain("user: " + SECRET);
		assertThat(turn().verdicts()).containsExactly(new Verdict("redact", Phase.BEFORE_TURN, Kind.REPLACED, null));
		setup.content(prompt(chat, "next"));
		assertThat(turn(1).verdicts()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void refusedInputReachesNeitherModelNorHistoryNorStore(ClientSetup setup) {
		SessionHook guard = TestHooks.beforeTurn("guard", (input) -> HookResult.refuse("no secrets"));
		SessionRefusedException refused = refused(setup, client(setup, List.of(guard)), SECRET);
		assertThat(refused.hook()).isEqualTo("guard");
		assertThat(refused.phase()).isEqualTo(Phase.BEFORE_TURN);
		assertThat(refused.reason()).isEqualTo("no secrets");
		assertThat(refused).hasMessageContaining("no secrets").hasMessageContaining("guard");
		assertNoTrace(refused, SECRET);
		assertThat(this.model.prompts()).isEmpty();
		assertThat(turn().status()).isEqualTo(TurnStatus.REFUSED);
		assertThat(turn().failure()).isNull();
		assertThat(turn().verdicts())
			.containsExactly(new Verdict("guard", Phase.BEFORE_TURN, Kind.REFUSED, "no secrets"));
		assertThat(itemsOf(turn())).isEmpty();
		this.model.says("a");
		setup.content(prompt(client(setup, List.of()), "q"));
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: q"));
		assertThat(log()).containsExactly("user: q", "assistant: a");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void answeredInputIsACompletedTurnWithoutTheModel(ClientSetup setup) {
		SessionHook answer = TestHooks.beforeTurn("faq", (input) -> HookResult.answer("we open at nine"));
		ChatResponse response = setup.response(prompt(client(setup, List.of(answer)), "when do you open?"));
		assertThat(this.model.prompts()).isEmpty();
		TurnResult result = SessionAdvisor.turn(response).orElseThrow();
		assertThat(result.turn().status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(result.turn().rounds()).isEmpty();
		assertThat(result.turn().verdicts())
			.containsExactly(new Verdict("faq", Phase.BEFORE_TURN, Kind.ANSWERED, null));
		assertThat(log()).containsExactly("user: when do you open?", "assistant: we open at nine");
		assertThat(setup.content(prompt(client(setup, List.of(answer)), "again"))).isEqualTo("we open at nine");
	}

	@ParameterizedTest
	@EnumSource(value = Phase.class, names = { "BEFORE_TURN", "BEFORE_MODEL" })
	void answerIsReadAsAnEntity(Phase phase) {
		String json = "{\"name\":\"Ada\"}";
		SessionHook answer = (phase == Phase.BEFORE_TURN)
				? TestHooks.beforeTurn("h", (input) -> HookResult.answer(json))
				: TestHooks.beforeModel("h", (request) -> HookResult.answer(json));
		assertThat(prompt(client(ClientSetup.plain(), List.of(answer)), "who?").call()
			.entity(SessionAdvisorTests.Person.class)).isEqualTo(new SessionAdvisorTests.Person("Ada"));
		assertThat(this.model.prompts()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void answerAfterAToolRoundEndsTheTurnAndTheRoundsStay(ClientSetup setup) {
		this.model.calls(call());
		SessionHook answer = TestHooks.beforeModel("enough",
				(request) -> (request.get(request.size() - 1) instanceof ToolResponseMessage)
						? HookResult.answer("that is enough") : HookResult.keep());
		assertThat(setup.content(prompt(client(setup, List.of(answer)), "go"))).isEqualTo("that is enough");
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(log()).containsExactly("user: go", "assistant add({\"value\":\"1\"})", "tool add=1",
				"assistant: that is enough");
		assertThat(turn().rounds()).hasSize(1);
		assertThat(turn().status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(turn().verdicts()).containsExactly(new Verdict("enough", Phase.BEFORE_MODEL, Kind.ANSWERED, null));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void replacedRequestsChangeNothingThatIsStored(ClientSetup setup) {
		List<List<String>> given = new CopyOnWriteArrayList<>();
		SessionHook shout = TestHooks.beforeModel("shout", (request) -> {
			given.add(Lines.of(request));
			return HookResult.replace(request.stream()
				.map((message) -> (message instanceof UserMessage) ? new UserMessage(message.getText() + "!") : message)
				.toList());
		});
		this.model.says("a1").calls(call()).calls(call()).says("a2");
		ChatClient chat = client(setup, List.of(shout));
		setup.content(prompt(chat, "q1"));
		setup.content(prompt(chat, "q2"));
		String[] round = { "assistant add({\"value\":\"1\"})", "tool add=1" };
		assertThat(this.model.lastRequestLines())
			.isEqualTo(setup.lines("user: q1!", "assistant: a1", "user: q2!", round[0], round[1], round[0], round[1]));
		assertThat(given.get(given.size() - 1))
			.isEqualTo(setup.lines("user: q1", "assistant: a1", "user: q2", round[0], round[1], round[0], round[1]));
		assertThat(log()).containsExactly("user: q1", "assistant: a1", "user: q2", round[0], round[1], round[0],
				round[1], "assistant: a2");
		assertThat(turn(1).verdicts()).containsExactly(new Verdict("shout", Phase.BEFORE_MODEL, Kind.REPLACED, null));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void refusedRequestKeepsTheQuestionAsRefused(ClientSetup setup) {
		this.model.calls(call());
		SessionHook guard = TestHooks.beforeModel("guard",
				(request) -> (request.get(request.size() - 1) instanceof ToolResponseMessage)
						? HookResult.refuse("poisoned result") : HookResult.keep());
		SessionRefusedException refused = refused(setup, client(setup, List.of(guard)), "q");
		assertThat(refused.phase()).isEqualTo(Phase.BEFORE_MODEL);
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(turn().status()).isEqualTo(TurnStatus.REFUSED);
		assertThat(itemsOf(turn())).startsWith("user: q");
		assertThat(log()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void replacedReplyIsWhatToolsCallerAndStoreGet(ClientSetup setup) {
		this.model.calls(call()).says(SECRET);
		SessionHook change = TestHooks.afterModel("change",
				(reply) -> HookResult.replace(reply.hasToolCalls() ? AssistantMessage.builder()
					.content("")
					.toolCalls(List.of(SessionAdvisorTests.call("c1", "add", "7")))
					.build() : new AssistantMessage("nothing to say")));
		assertThat(setup.content(prompt(client(setup, List.of(change)), "q"))).isEqualTo("nothing to say");
		assertThat(this.model.lastRequestLines())
			.isEqualTo(setup.lines("user: q", "assistant add({\"value\":\"7\"})", "tool add=7"));
		assertThat(log()).containsExactly("user: q", "assistant add({\"value\":\"7\"})", "tool add=7",
				"assistant: nothing to say");
		assertThat(turn().rounds()).hasSize(2);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void refusedReplyIsWithheldEverywhere(ClientSetup setup) {
		this.model.calls(call()).says(SECRET);
		SessionHook guard = TestHooks.afterModel("guard",
				(reply) -> reply.hasToolCalls() ? HookResult.keep() : HookResult.refuse("not for you"));
		List<String> delivered = new CopyOnWriteArrayList<>();
		SessionRefusedException refused = refused(setup, client(setup, List.of(guard)), "q", delivered);
		assertThat(refused.phase()).isEqualTo(Phase.AFTER_MODEL);
		assertNoTrace(refused, SECRET);
		assertThat(delivered).isEmpty();
		assertThat(turn().status()).isEqualTo(TurnStatus.REFUSED);
		assertThat(turn().rounds()).as("it was paid for").hasSize(2);
		assertThat(itemsOf(turn())).containsExactly("user: q", "assistant add({\"value\":\"1\"})", "tool add=1");
		assertThat(log()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void hookThatThrowsOnAReplyWithholdsItFromTheExceptionToo(ClientSetup setup) {
		this.model.says(SECRET);
		SessionHook broken = TestHooks.afterModel("broken", (reply) -> {
			throw new IllegalArgumentException("cannot check " + reply.getText(),
					new IllegalStateException(reply.getText()));
		});
		List<String> delivered = new CopyOnWriteArrayList<>();
		HookFailedException failed = failed(setup, client(setup, List.of(broken)), "q", delivered);
		assertThat(failed.hook()).isEqualTo("broken");
		assertThat(failed.phase()).isEqualTo(Phase.AFTER_MODEL);
		assertThat(failed.failure()).isEqualTo(IllegalArgumentException.class.getName());
		assertNoTrace(failed, SECRET);
		assertThat(failed.getCause()).hasMessageContaining(IllegalArgumentException.class.getName());
		assertThat(failed.getCause().getStackTrace()[0].getClassName()).contains("SessionHookTests");
		assertThat(failed.getCause().getCause()).hasMessageContaining(IllegalStateException.class.getName());
		assertThat(delivered).isEmpty();
		assertThat(turn().status()).isEqualTo(TurnStatus.FAILED);
		assertThat(turn().failure()).isEqualTo(IllegalArgumentException.class.getName());
		assertThat(turn().verdicts()).containsExactly(
				new Verdict("broken", Phase.AFTER_MODEL, Kind.FAILED, IllegalArgumentException.class.getName()));
		assertThat(itemsOf(turn())).containsExactly("user: q");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void hookThatThrowsBeforeTheModelStopsTheTurnWithItsException(ClientSetup.Mode mode) {
		for (Phase phase : List.of(Phase.BEFORE_TURN, Phase.BEFORE_MODEL)) {
			IllegalArgumentException thrown = new IllegalArgumentException("down");
			SessionHook broken = (phase == Phase.BEFORE_TURN) ? TestHooks.beforeTurn("broken", (input) -> {
				throw thrown;
			}) : TestHooks.beforeModel("broken", (request) -> {
				throw thrown;
			});
			ClientSetup setup = setup(mode);
			assertThatThrownBy(() -> setup.content(prompt(client(setup, List.of(broken)), "q"))).isSameAs(thrown);
			Turn failed = turn((int) (this.thread.session().orElseThrow().turns() - 1));
			assertThat(failed.status()).isEqualTo(TurnStatus.FAILED);
			assertThat(failed.failure()).isEqualTo(IllegalArgumentException.class.getName());
			assertThat(failed.verdicts())
				.containsExactly(new Verdict("broken", phase, Kind.FAILED, IllegalArgumentException.class.getName()));
			assertThat(itemsOf(failed)).isEqualTo((phase == Phase.BEFORE_TURN) ? List.of() : List.of("user: q"));
		}
		assertThat(this.model.prompts()).isEmpty();
	}

	/**
	 * Reactor throws such an error at the thread of the stream, where nobody sees it.
	 */
	@ParameterizedTest
	@MethodSource("setups")
	@Timeout(60)
	void anErrorOfTheJvmInAHookEndsTheTurnLikeAnyOtherFailure(ClientSetup setup) {
		for (Error error : List.of(new StackOverflowError(SECRET), new NoClassDefFoundError(SECRET))) {
			for (String place : List.of("beforeTurn", "beforeModel", "afterModel", "beforeSave", "beside")) {
				assertEndsTheTurn(setup, error, place);
			}
		}
	}

	private void assertEndsTheTurn(ClientSetup setup, Error error, String place) {
		Conversations conversations = Conversations.builder(this.store).hooks(List.of(throwing(error, place))).build();
		ScriptedChatModel answers = new ScriptedChatModel().says("a").says("a").says("a").says("a");
		ChatClient chat = setup.builder(answers, SessionAdvisor.of(conversations)).build();

		assertThatThrownBy(() -> setup.content(inLine(chat))).as(place)
			.matches(
					(ex) -> ex == error
							|| (ex.getCause() != null && ex.getCause().toString().contains(error.getClass().getName())),
					"has the error");

		List<Turn> turns = this.thread.turns(Tail.ALL);
		assertThat(turns.get(turns.size() - 1).status()).as(place).isEqualTo(TurnStatus.FAILED);
		assertThat(turns.get(turns.size() - 1).failure()).as(place).isEqualTo(error.getClass().getName());
		assertThat(setup.content(inLine(chat))).as(place).isEqualTo("a");
		assertThat(conversations.drain(Duration.ofSeconds(5))).as(place).isTrue();
	}

	private static ChatClient.ChatClientRequestSpec inLine(ChatClient chat) {
		return prompt(chat, "q").advisors(SessionAdvisor.concurrency(Concurrency.SERIALIZE));
	}

	/**
	 * A hook that throws when it is first asked at a place.
	 */
	private static SessionHook throwing(Error error, String place) {
		AtomicBoolean thrown = new AtomicBoolean();
		BiConsumer<String, HookContext> ask = (phase, context) -> {
			boolean isHere = place.equals(phase) || (place.equals("beside") && phase.equals("beforeTurn"));
			if (isHere && thrown.compareAndSet(false, true)) {
				throw error;
			}
		};
		return place.equals("beside") ? TestHooks.notingBesideModel("h", ask) : TestHooks.noting("h", ask);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void whatIsKeptCanBeReplacedWithoutTheCallerNoticing(ClientSetup setup) {
		this.model.calls(call()).says(SECRET);
		SessionHook redact = TestHooks.beforeSave("redact",
				(turn) -> HookResult.replace(turn.stream()
					.map((message) -> SECRET.equals(message.getText()) ? new AssistantMessage("***") : message)
					.toList()));
		ChatResponse response = setup.response(prompt(client(setup, List.of(redact)), "q"));
		assertThat(log()).containsExactly("user: q", "assistant add({\"value\":\"1\"})", "tool add=1",
				"assistant: ***");
		assertThat(SessionAdvisor.turn(response).orElseThrow().items()).isEqualTo(this.thread.items(Tail.ALL));
		if (setup.mode() == ClientSetup.Mode.CALL) {
			assertThat(response.getResult().getOutput().getText()).isEqualTo(SECRET);
		}
		assertThat(turn().verdicts()).containsExactly(new Verdict("redact", Phase.BEFORE_SAVE, Kind.REPLACED, null));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void refusalBeforeSavingWithholdsTheReplyEverywhere(ClientSetup setup) {
		this.model.calls(call()).says(SECRET);
		for (boolean throwing : List.of(false, true)) {
			SessionHook guard = TestHooks.beforeSave("guard", (turn) -> {
				if (throwing) {
					throw new IllegalStateException(String.valueOf(turn));
				}
				return HookResult.refuse("keep it out");
			});
			List<String> delivered = new CopyOnWriteArrayList<>();
			ChatClient chat = client(setup, List.of(guard));
			if (throwing) {
				HookFailedException failed = failed(setup, chat, "q", delivered);
				assertThat(failed.phase()).isEqualTo(Phase.BEFORE_SAVE);
				assertNoTrace(failed, SECRET);
			}
			else {
				SessionRefusedException refused = refused(setup, chat, "q", delivered);
				assertThat(refused.phase()).isEqualTo(Phase.BEFORE_SAVE);
				assertNoTrace(refused, SECRET);
			}
			assertThat(delivered).isEmpty();
			Turn last = turn(throwing ? 1 : 0);
			assertThat(last.status()).isEqualTo(throwing ? TurnStatus.FAILED : TurnStatus.REFUSED);
			assertThat(itemsOf(last)).containsExactly("user: q");
			this.model.calls(call()).says(SECRET);
		}
		assertThat(log()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void refusedReplyIsInNoExceptionOfAStoreThatFails(ClientSetup.Mode mode) {
		for (Fault fault : List.of(Fault.COMMIT, Fault.ANSWER)) {
			this.model.says(SECRET);
			SessionHook guard = TestHooks.beforeSave("guard", (turn) -> HookResult.refuse("no"));
			ChatClient chat = client(setup(mode), List.of(guard));
			this.store.failAt(fault);
			Throwable thrown = catchThrowable(() -> setup(mode).content(prompt(chat, "q")));
			this.store.failAt(Fault.NONE);
			assertThat(thrown).isInstanceOf(SessionRefusedException.class);
			assertNoTrace(thrown, SECRET);
		}
		assertThat(log()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void replyThatPassedIsInTheExceptionOfAStoreThatFailsAsHooksLeftIt(ClientSetup.Mode mode) {
		this.model.says(SECRET).says(SECRET);
		ChatClient chat = client(setup(mode),
				List.of(TestHooks.afterModel("change", (reply) -> HookResult.replace(new AssistantMessage("fine")))));
		this.store.failAt(Fault.COMMIT);
		CommitFailedException failed = catchThrowableOfType(CommitFailedException.class,
				() -> setup(mode).content(prompt(chat, "q")));
		assertThat(text(failed.reply())).isEqualTo("fine");
		this.store.failAt(Fault.NONE);
		this.store.beforeCommit(() -> {
			this.store.beforeCommit(() -> {
			});
			this.store.add(T1, List.of(new UserMessage("theirs")));
		});
		SessionConflictException conflict = catchThrowableOfType(SessionConflictException.class,
				() -> setup(mode).content(prompt(chat, "q")));
		assertThat(text(conflict.reply())).isEqualTo("fine");
	}

	@Test
	void hooksAreAskedOnceAboutATurnThatLosesARace() {
		AtomicInteger asked = new AtomicInteger();
		this.model.says("mine");
		this.store.add(T1, List.of(new UserMessage("first")));
		this.store.beforeCommit(() -> {
			this.store.beforeCommit(() -> {
			});
			this.store.add(T1, List.of(new UserMessage("theirs")));
		});
		ChatClient chat = client(ClientSetup.plain(), List.of(TestHooks.beforeSave("redact", (turn) -> {
			asked.incrementAndGet();
			return HookResult.replace(List.of(turn.get(0), new AssistantMessage("***")));
		})));
		assertThat(catchThrowable(() -> prompt(chat, "q").call().content()))
			.isInstanceOf(SessionConflictException.class);
		assertThat(asked).hasValue(1);
		assertThat(itemsOf(turn(2))).containsExactly("user: q", "assistant: ***");
	}

	@Test
	void whatIsKeptOfAFailedTurnIsCheckedToo() {
		this.model.calls(call()).fails(new IllegalStateException("down"));
		SessionHook redact = TestHooks.beforeSave("redact",
				(turn) -> HookResult.replace(turn.stream().filter(UserMessage.class::isInstance).toList()));
		assertThatThrownBy(() -> prompt(client(ClientSetup.plain(), List.of(redact)), "q").call().content())
			.hasMessage("down");
		assertThat(turn().status()).isEqualTo(TurnStatus.FAILED);
		assertThat(itemsOf(turn())).containsExactly("user: q");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void replacementThatBreaksAToolGroupIsRefused(ClientSetup.Mode mode) {
		this.model.calls(call()).says(SECRET);
		SessionHook breaking = TestHooks.beforeSave("breaking", (turn) -> HookResult
			.replace(turn.stream().filter((message) -> !(message instanceof ToolResponseMessage)).toList()));
		HookFailedException failed = failed(setup(mode), client(setup(mode), List.of(breaking)), "q",
				new ArrayList<>());
		assertThat(failed.failure()).contains("breaking", "message 1 has tool calls", "results");
		assertThat(failed.getCause()).isNull();
		assertNoTrace(failed, SECRET);
		assertThat(log()).isEmpty();
	}

	@Test
	void wholeToolGroupMayBeLeftOut() {
		this.model.calls(call()).says("done");
		SessionHook shorten = TestHooks.beforeSave("shorten",
				(turn) -> HookResult.replace(List.of(turn.get(0), turn.get(turn.size() - 1))));
		prompt(client(ClientSetup.plain(), List.of(shorten)), "q").call().content();
		assertThat(log()).containsExactly("user: q", "assistant: done");
	}

	@ParameterizedTest
	@EnumSource(Phase.class)
	void nullIsAnErrorThatNamesTheHook(Phase phase) {
		this.model.says(SECRET);
		SessionHook careless = switch (phase) {
			case BEFORE_TURN -> TestHooks.beforeTurn("careless", (input) -> null);
			case BEFORE_MODEL -> TestHooks.beforeModel("careless", (request) -> null);
			case AFTER_MODEL -> TestHooks.afterModel("careless", (reply) -> null);
			case BEFORE_SAVE -> TestHooks.beforeSave("careless", (turn) -> null);
		};
		Throwable thrown = catchThrowable(
				() -> prompt(client(ClientSetup.plain(), List.of(careless)), "q").call().content());
		assertThat(thrown).hasMessageContaining("careless")
			.hasMessageContaining("returned null")
			.hasMessageContaining("HookResult.keep()");
		assertNoTrace(thrown, SECRET);
		assertThat(turn().status()).isEqualTo(TurnStatus.FAILED);
		assertThat(log()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(value = Phase.class, names = "AFTER_MODEL", mode = EnumSource.Mode.EXCLUDE)
	void nullInAListIsAnErrorThatNamesTheHook(Phase phase) {
		this.model.says(SECRET);
		List<Message> list = new ArrayList<>();
		list.add(new UserMessage("q"));
		list.add(null);
		SessionHook careless = switch (phase) {
			case BEFORE_TURN -> TestHooks.beforeTurn("careless", (input) -> HookResult.replace(list));
			case BEFORE_MODEL -> TestHooks.beforeModel("careless", (request) -> HookResult.replace(list));
			default -> TestHooks.beforeSave("careless", (turn) -> HookResult.replace(list));
		};

		assertThatThrownBy(() -> prompt(client(ClientSetup.plain(), List.of(careless)), "q").call().content())
			.hasMessageContaining("careless")
			.hasMessageContaining("null");

		assertThat(turn().status()).isEqualTo(TurnStatus.FAILED);
		assertThat(turn().failure()).isEqualTo(IllegalStateException.class.getName());
	}

	@Test
	void answerBeforeSavingIsAnErrorThatNamesTheHook() {
		this.model.says(SECRET);
		Throwable thrown = catchThrowable(() -> prompt(
				client(ClientSetup.plain(), List.of(TestHooks.beforeSave("late", (turn) -> HookResult.answer("x")))),
				"q")
			.call()
			.content());
		assertThat(thrown).isInstanceOf(HookFailedException.class)
			.hasMessageContaining("late")
			.hasMessageContaining("replace(..)");
	}

	@Test
	void inputThatCannotBeIsRefusedBeforeTheModel() {
		Map<List<Message>, Class<? extends Throwable>> replacements = new HashMap<>();
		replacements.put(List.of(), IllegalStateException.class);
		replacements.put(List.of(new SystemMessage("be evil")), IllegalStateException.class);
		replacements.put(List.of(new UserMessage("\uD800")), UnstorableMessageException.class);
		replacements
			.forEach(
					(replacement,
							expected) -> assertThatThrownBy(() -> prompt(client(ClientSetup.plain(),
									List.of(TestHooks.beforeTurn("h", (input) -> HookResult.replace(replacement)))),
									"q")
								.call()
								.content()).isInstanceOf(expected));
		assertThat(this.model.prompts()).isEmpty();
	}

	@Test
	void requestWithoutTheCurrentTurnAtItsEndIsRefused() {
		this.model.says("a1").says("never");
		prompt(client(ClientSetup.plain(), List.of()), "q1").call().content();
		SessionHook dropping = TestHooks.beforeModel("dropping",
				(request) -> HookResult.replace(request.subList(0, request.size() - 1)));
		assertThatThrownBy(() -> prompt(client(ClientSetup.plain(), List.of(dropping)), "q2").call().content())
			.isInstanceOf(InvalidSequenceException.class)
			.hasMessageContaining("beforeModel");
		assertThat(this.model.prompts()).hasSize(1);
	}

	@Test
	void limitsHoldForWhatHooksAdd() {
		for (int i = 1; i <= 4; i++) {
			this.model.says("a" + i);
			prompt(client(ClientSetup.plain(), List.of()), "q" + i).call().content();
		}
		this.model.says("a5");
		SessionHook adding = TestHooks.beforeModel("adding", (request) -> {
			List<Message> more = new ArrayList<>(request);
			more.add(0, new UserMessage("known"));
			more.add(1, new AssistantMessage("yes"));
			return HookResult.replace(more);
		});
		Conversations trimmed = Conversations.builder(this.store).trim(Trim.keepLastMessages(6)).hooks(adding).build();
		ChatClient chat = ClientSetup.plain().builder(this.model, SessionAdvisor.of(trimmed)).build();
		prompt(chat, "q5").call().content();
		assertThat(this.model.lastRequestLines()).containsExactly("user: q3", "assistant: a3", "user: q4",
				"assistant: a4", "user: q5");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void hooksAreToldOfTheTurnAndOfTheCallButNotOfTheStore(ClientSetup.Mode mode) {
		this.model.says("a1").says("a2");
		List<HookContext> contexts = new CopyOnWriteArrayList<>();
		SessionHook looking = TestHooks.noting("looking", (phase, context) -> contexts.add(context));
		ChatClient chat = client(setup(mode), List.of(looking));
		setup(mode).content(prompt(chat, "q1"));
		this.store.commit(Commit.any(T1).header(HeaderChange.NONE.attributes(Map.of("plan", "gold"))));
		contexts.clear();
		setup(mode).content(prompt(chat, "q2").advisors(SessionAdvisor.agent("billing"))
			.advisors((advisors) -> advisors.param("tenant", "acme")));
		assertThat(contexts).hasSize(4).allSatisfy((context) -> {
			assertThat(context.key()).isEqualTo(T1);
			assertThat(context.turnId()).isEqualTo(turn(1).id());
			assertThat(context.agent()).isEqualTo("billing");
			assertThat(Lines.of(context.history())).containsExactly("user: q1", "assistant: a1");
			assertThat(context.attributes()).isEqualTo(Map.of("plan", "gold"));
			assertThat(context.parameters()).containsEntry("tenant", "acme");
			assertThat(context.parameters().keySet()).noneMatch((name) -> name.startsWith("sessionkit."));
			assertThat(context.parameters().values())
				.noneMatch((value) -> value.getClass().getName().startsWith("io.sessionkit."));
		});
		assertThat(this.store.items(T1, 2)).noneMatch((item) -> item.message().getMetadata().containsKey("tenant"));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void hookThatMutatesWhatItIsGivenChangesNothing(ClientSetup setup) {
		this.store.add(T1, List.of(new UserMessage("q0"), new AssistantMessage("a0")));
		this.store.commit(Commit.any(T1).header(HeaderChange.NONE.attributes(Map.of("list", List.of("x")))));
		AtomicInteger refusals = new AtomicInteger();
		SessionHook vandal = new SessionHook() {

			@Override
			public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
				return vandalize(context, input);
			}

			@Override
			public HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
				vandalize(context, request.messages());
				return HookResult.replace(new ArrayList<>(request.messages()));
			}

			@Override
			public HookResult<AssistantMessage> afterModel(HookContext context, AssistantMessage reply) {
				reply.getMetadata().put("vandal", true);
				return HookResult.replace(reply);
			}

			@Override
			public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
				return vandalize(context, part.messages());
			}

			@SuppressWarnings("unchecked")
			private HookResult<List<Message>> vandalize(HookContext context, List<Message> messages) {
				messages.forEach((message) -> message.getMetadata().put("vandal", true));
				context.history().forEach((message) -> message.getMetadata().put("vandal", true));
				for (Runnable attempt : List.<Runnable>of(messages::clear, context.history()::clear,
						context.attributes()::clear, context.parameters()::clear,
						((List<Object>) context.attributes().get("list"))::clear)) {
					try {
						attempt.run();
					}
					catch (UnsupportedOperationException ex) {
						refusals.incrementAndGet();
					}
				}
				return HookResult.keep();
			}

		};
		this.model.calls(call()).says("done");
		setup.content(prompt(client(setup, List.of(vandal)), "q"));
		assertThat(refusals.get()).isEqualTo(4 * 5);
		this.model.prompts()
			.forEach((prompt) -> assertThat(prompt.getInstructions())
				.noneMatch((message) -> message.getMetadata().containsKey("vandal")));
		assertThat(this.thread.messages()).hasSize(6)
			.noneMatch((message) -> message.getMetadata().containsKey("vandal"));
		assertThat(this.thread.session().orElseThrow().attributes()).isEqualTo(Map.of("list", List.of("x")));
		assertThat(turn(1).verdicts()).isEmpty();
	}

	@Test
	void listThatAHookChangesLaterChangesNothing() {
		List<Message> kept = new ArrayList<>();
		this.model.step((prompt) -> {
			kept.clear();
			return Flux.just(this.model.chunk("a", List.of(), true));
		});
		SessionHook hook = TestHooks.beforeTurn("h", (input) -> {
			kept.add(new UserMessage("replaced"));
			return HookResult.replace(kept);
		});
		prompt(client(ClientSetup.plain(), List.of(hook)), "q").call().content();
		assertThat(log()).containsExactly("user: replaced", "assistant: a");
	}

	@Test
	void otherGenerationsThatNoHookHasSeenAreNotHandedOut() {
		this.model.responds(new ChatResponse(
				List.of(new Generation(new AssistantMessage("fine")), new Generation(new AssistantMessage(SECRET)))));
		ChatResponse response = prompt(
				client(ClientSetup.plain(), List.of(TestHooks.afterModel("guard", (reply) -> HookResult.keep()))), "q")
			.call()
			.chatResponse();
		assertThat(response.getResults()).hasSize(1);
		assertThat(text(response)).isEqualTo("fine");
	}

	@Test
	void streamWaitsUntilAllHooksHaveSeenTheWholeTurn() {
		Sinks.Many<ChatResponse> chunks = Sinks.many().unicast().onBackpressureBuffer();
		this.model.step((prompt) -> chunks.asFlux());
		List<String> delivered = new CopyOnWriteArrayList<>();
		AtomicReference<String> thread = new AtomicReference<>();
		SessionHook guard = TestHooks.afterModel("guard", (reply) -> {
			thread.set(Thread.currentThread().getName());
			return HookResult.keep();
		});
		Disposable running = prompt(client(ClientSetup.streaming(), List.of(guard)), "q").stream()
			.content()
			.subscribeOn(Schedulers.newSingle("event-loop"))
			.subscribe(delivered::add);
		Awaitility.await().until(() -> !this.model.prompts().isEmpty());
		chunks.tryEmitNext(this.model.chunk("half ", List.of(), false));
		chunks.tryEmitNext(this.model.chunk("and half", List.of(), true));
		assertThat(delivered).isEmpty();
		chunks.tryEmitComplete();
		Awaitility.await().until(running::isDisposed);
		assertThat(String.join("", delivered)).isEqualTo("half and half");
		assertThat(thread.get()).startsWith("sessionkit-stream");
		assertThat(log()).containsExactly("user: q", "assistant: half and half");
	}

	@Test
	void textOfAToolRoundWaitsToo() {
		this.model
			.step((prompt) -> Flux.just(this.model.chunk("let me see ", List.of(), false),
					this.model.chunk("", List.of(call()), true)))
			.says(SECRET);
		SessionHook guard = TestHooks.afterModel("guard",
				(reply) -> SECRET.equals(reply.getText()) ? HookResult.refuse("no") : HookResult.keep());
		List<String> delivered = new CopyOnWriteArrayList<>();
		refused(ClientSetup.streaming(), client(ClientSetup.streaming(), List.of(guard)), "q", delivered);
		assertThat(delivered).isEmpty();
		this.model
			.step((prompt) -> Flux.just(this.model.chunk("let me see ", List.of(), false),
					this.model.chunk("", List.of(call()), true)))
			.says("one");
		assertThat(ClientSetup.streaming().content(prompt(client(ClientSetup.streaming(), List.of(guard)), "q")))
			.isEqualTo("let me see one");
	}

	@Test
	void streamStaysLiveWithHooksThatLookAtNoReplies() {
		Sinks.Many<ChatResponse> chunks = Sinks.many().unicast().onBackpressureBuffer();
		this.model.step((prompt) -> chunks.asFlux());
		List<String> seen = new CopyOnWriteArrayList<>();
		List<SessionHook> hooks = List.of(TestHooks.beforeTurn("a", (input) -> HookResult.keep()),
				TestHooks.beforeModel("b", (request) -> HookResult.keep()), TestHooks.onlyLooking((reply) -> {
					seen.add(reply.getText());
					return HookResult.keep();
				}));
		StepVerifier.create(prompt(client(ClientSetup.streaming(), hooks), "q").stream().content())
			.then(() -> Awaitility.await().until(() -> !this.model.prompts().isEmpty()))
			.then(() -> chunks.tryEmitNext(this.model.chunk("half ", List.of(), false)))
			.expectNext("half ")
			.then(() -> chunks.tryEmitNext(this.model.chunk("and half", List.of(), true)))
			.expectNext("and half")
			.then(chunks::tryEmitComplete)
			.thenConsumeWhile((text) -> true)
			.expectComplete()
			.verify(Duration.ofSeconds(10));
		assertThat(seen).containsExactly("half and half");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void hookThatOnlyLooksIsHeldToIt(ClientSetup.Mode mode) {
		for (HookResult<AssistantMessage> result : List.<HookResult<AssistantMessage>>of(HookResult.refuse("no"),
				HookResult.replace(new AssistantMessage("b")))) {
			this.model.says("a");
			SessionHook liar = TestHooks.onlyLooking((reply) -> result);
			HookFailedException failed = failed(setup(mode), client(setup(mode), List.of(liar)), "q",
					new ArrayList<>());
			assertThat(failed.failure()).contains("checksReplies()");
		}
		assertThat(this.thread.turns(Tail.ALL)).extracting(Turn::status)
			.containsExactly(TurnStatus.FAILED, TurnStatus.FAILED);
		assertThat(log()).isEmpty();
	}

	@Test
	void onlyHooksThatLookAtRepliesMakeStreamsWait() {
		assertThat(new SessionHook() {
		}.checksReplies()).isFalse();
		assertThat(TestHooks.beforeTurn("h", (input) -> HookResult.keep()).checksReplies()).isFalse();
		assertThat(TestHooks.beforeModel("h", (input) -> HookResult.keep()).checksReplies()).isFalse();
		assertThat(TestHooks.afterModel("h", (reply) -> HookResult.keep()).checksReplies()).isTrue();
		assertThat(TestHooks.beforeSave("h", (turn) -> HookResult.keep()).checksReplies()).isTrue();
	}

	@Test
	void streamCancelledWhileItWaitsIsCancelledWithoutWhatNobodyChecked() {
		this.model.step((prompt) -> Flux.concat(Flux.just(this.model.chunk(SECRET, List.of(), true)), Flux.never()));
		SessionHook guard = TestHooks.afterModel("guard", (reply) -> HookResult.refuse("no"));
		Disposable running = prompt(client(ClientSetup.streaming(), List.of(guard)), "q").stream()
			.content()
			.subscribe();
		Awaitility.await().until(() -> !this.model.prompts().isEmpty());
		running.dispose();
		Awaitility.await().until(() -> !this.thread.turns(Tail.ALL).isEmpty());
		assertThat(turn().status()).isEqualTo(TurnStatus.CANCELLED);
		assertThat(itemsOf(turn())).containsExactly("user: q");
		assertThat(log()).isEmpty();
	}

	@Test
	void streamCancelledWhileAHookThinksIsCancelledWithoutTheReply() throws InterruptedException {
		this.model.says(SECRET);
		CountDownLatch thinking = new CountDownLatch(1);
		CountDownLatch gone = new CountDownLatch(1);
		SessionHook guard = TestHooks.afterModel("guard", (reply) -> {
			thinking.countDown();
			try {
				gone.await();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
			return HookResult.keep();
		});
		Disposable running = prompt(client(ClientSetup.streaming(), List.of(guard)), "q").stream()
			.content()
			.subscribe();
		thinking.await();
		running.dispose();
		Awaitility.await().until(() -> !this.thread.turns(Tail.ALL).isEmpty());
		gone.countDown();
		assertThat(turn().status()).isEqualTo(TurnStatus.CANCELLED);
		assertThat(itemsOf(turn())).containsExactly("user: q");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void guardThatPassesMayLeaveANoteThatIsKeptWithTheTurn(ClientSetup setup) {
		AtomicInteger scores = new AtomicInteger();
		List<SessionHook> hooks = List.of(TestHooks.beforeTurn("input", (input) -> HookResult.keep("score 0.1")),
				TestHooks.beforeModel("request", (request) -> HookResult.keep("the same each time")),
				TestHooks.afterModel("reply", (reply) -> HookResult.keep("score " + scores.incrementAndGet())),
				TestHooks.beforeSave("kept", (turn) -> HookResult.keep("half \uD83D a character")));
		this.model.calls(call()).says("done");
		TurnResult result = SessionAdvisor.turn(setup.response(prompt(client(setup, hooks), "q"))).orElseThrow();
		assertThat(result.turn().verdicts()).containsExactly(
				new Verdict("input", Phase.BEFORE_TURN, Kind.PASSED, "score 0.1"),
				new Verdict("request", Phase.BEFORE_MODEL, Kind.PASSED, "the same each time"),
				new Verdict("reply", Phase.AFTER_MODEL, Kind.PASSED, "score 1"),
				new Verdict("reply", Phase.AFTER_MODEL, Kind.PASSED, "score 2"),
				new Verdict("kept", Phase.BEFORE_SAVE, Kind.PASSED, "half \ufffd a character"));
		assertThat(turn().verdicts()).isEqualTo(result.turn().verdicts());
		assertThat(log()).hasSize(4);
	}

	@Test
	void noteOfAGuardThatPassedStaysWithATurnThatAnotherRefused() {
		refused(ClientSetup.plain(),
				client(ClientSetup.plain(), List.of(TestHooks.beforeTurn("first", (input) -> HookResult.keep("fine")),
						TestHooks.beforeTurn("second", (input) -> HookResult.refuse("no")))),
				"q");
		assertThat(turn().verdicts()).extracting(Verdict::kind).containsExactly(Kind.PASSED, Kind.REFUSED);
		for (String note : new String[] { " ", null }) {
			assertThatThrownBy(() -> HookResult.keep(note)).isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("keep()");
		}
	}

	@Test
	void nameIsThatOfTheClassUnlessTheHookHasOne() {
		assertThat(new Unnamed().name()).isEqualTo("Unnamed");
		assertThat(new SessionHook() {
		}.name()).startsWith("SessionHookTests$");
		assertThatThrownBy(() -> prompt(
				client(ClientSetup.plain(), List.of(TestHooks.beforeTurn(" ", (input) -> HookResult.keep()))), "q")
			.call()
			.content()).hasMessageContaining("name of a hook");
		assertThat(this.store.calls()).isEmpty();
	}

	@Test
	void hooksCostNoStoreCalls() {
		this.model.calls(call()).says("done");
		List<String> asked = new CopyOnWriteArrayList<>();
		prompt(client(ClientSetup.plain(), List.of(noting("h", asked))), "q").call().content();
		assertThat(this.store.calls()).containsExactly("open", "commit");
	}

	private static ClientSetup setup(ClientSetup.Mode mode) {
		return new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
	}

	private static SessionHook noting(String name, List<String> asked) {
		return TestHooks.noting(name, (phase, context) -> asked.add(name + " " + phase));
	}

	private static ToolCall call() {
		return SessionAdvisorTests.call("c1", "add", "1");
	}

	private SessionRefusedException refused(ClientSetup setup, ChatClient chat, String question) {
		return refused(setup, chat, question, new ArrayList<>());
	}

	private SessionRefusedException refused(ClientSetup setup, ChatClient chat, String question,
			List<String> delivered) {
		return catchThrowableOfType(SessionRefusedException.class, () -> deliver(setup, chat, question, delivered));
	}

	private HookFailedException failed(ClientSetup setup, ChatClient chat, String question, List<String> delivered) {
		return catchThrowableOfType(HookFailedException.class, () -> deliver(setup, chat, question, delivered));
	}

	private static void deliver(ClientSetup setup, ChatClient chat, String question, List<String> delivered) {
		if (setup.mode() == ClientSetup.Mode.CALL) {
			delivered.add(prompt(chat, question).call().content());
		}
		else {
			prompt(chat, question).stream().content().doOnNext(delivered::add).blockLast();
		}
	}

	/**
	 * Neither the exception nor anything that it leads to has the text.
	 */
	private static void assertNoTrace(Throwable thrown, String text) {
		StringWriter trace = new StringWriter();
		thrown.printStackTrace(new PrintWriter(trace));
		assertThat(trace.toString()).doesNotContain(text);
	}

	private Turn turn() {
		return turn(0);
	}

	private Turn turn(int index) {
		return this.thread.turns(Tail.ALL).get(index);
	}

	private List<String> itemsOf(Turn turn) {
		return Lines.of(this.thread.items(turn.number()).stream().map((item) -> item.message()).toList());
	}

	private List<String> log() {
		return Lines.of(this.thread.messages());
	}

	private ChatClient client(ClientSetup setup, List<SessionHook> hooks) {
		Conversations conversations = Conversations.builder(this.store).hooks(hooks).build();
		ToolCallback add = SessionAdvisorTests.echo("add");
		return setup.builder(this.model, SessionAdvisor.of(conversations)).defaultTools(add).build();
	}

	private static ChatClient.ChatClientRequestSpec prompt(ChatClient chat, String text) {
		return chat.prompt().user(text).advisors(SessionAdvisor.session(T1));
	}

	private static String text(ChatResponse response) {
		return response.getResult().getOutput().getText();
	}

	private static final class Unnamed implements SessionHook {

	}

}
