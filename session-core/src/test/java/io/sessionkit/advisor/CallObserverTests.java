package io.sessionkit.advisor;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.sessionkit.Concurrency;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.approval.OnNewMessage;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.Summarize;
import io.sessionkit.context.SummaryResult;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.observation.CallOutcome;
import io.sessionkit.observation.CallStage;
import io.sessionkit.observation.LeaseKind;
import io.sessionkit.observation.ObservedCall;
import io.sessionkit.observation.ObservedStream;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ClientSetup.Mode;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ObservedStore.Fault;
import io.sessionkit.test.ScriptedChatModel;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests what an observer is told of calls, in calls and in streams.
 */
class CallObserverTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private static final ToolCall ADD = SessionAdvisorTests.call("c1", "add", "1");

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final Noted noted = new Noted();

	private List<CallObserver> observers = List.of(this.noted);

	private List<SessionHook> hooks = List.of();

	private Set<String> gated = Set.of();

	private OnNewMessage onNewMessage = OnNewMessage.REJECT;

	private Runnable atTool = () -> {
	};

	private @Nullable Conversations conversations;

	@ParameterizedTest
	@EnumSource
	void plainTurnIsOpenedSentAndCommitted(Mode mode) {
		this.model.says("a");
		ask(mode, "q");
		assertThat(this.noted.stages()).containsExactly("CALL(", "OPEN(", ")OPEN", "opened", "ROUND(", ")ROUND",
				"viewed 0 false", "COMMIT(", ")COMMIT", "COMPLETED", ")CALL");
	}

	@ParameterizedTest
	@EnumSource
	void observedCallCostsNoCallOfTheStore(Mode mode) {
		this.model.says("a").says("b");
		ask(mode, "q");
		int before = this.store.calls().size();
		ask(mode, "q");
		assertThat(this.store.calls().subList(before, this.store.calls().size())).hasSize(2);
	}

	@ParameterizedTest
	@EnumSource
	void eachModelCallIsARoundAndToolsAreOutside(Mode mode) {
		this.model.calls(ADD).says("a");
		ask(mode, "q");
		assertThat(this.noted.stages()).containsSubsequence("ROUND(", ")ROUND", "tool", "ROUND(", ")ROUND");
		assertThat(this.noted.stages()).filteredOn("ROUND("::equals).hasSize(2);
	}

	@ParameterizedTest
	@EnumSource
	void hooksOfEachPhaseAreAStage(Mode mode) {
		this.hooks = List.of(new Passing());
		this.model.says("a");
		ask(mode, "q");
		assertThat(this.noted.stages()).containsSubsequence("CALL(", "OPEN(", ")OPEN", "BEFORE_TURN(", ")BEFORE_TURN",
				"BEFORE_MODEL(", ")BEFORE_MODEL", "ROUND(", "AFTER_MODEL(", ")AFTER_MODEL", ")ROUND", "BEFORE_SAVE(",
				")BEFORE_SAVE", "COMMIT(", ")COMMIT", ")CALL");
	}

	@ParameterizedTest
	@EnumSource
	void turnThatWaitsAndContinuesHasTwoOutcomes(Mode mode) {
		this.gated = Set.of("add");
		this.model.calls(ADD).says("a");
		ask(mode, "q");
		approvals().pending(T1).forEach((call) -> approvals().approve(call, "anna"));
		ask(mode, null);
		assertThat(this.noted.outcomes()).containsExactly("AWAITING_APPROVAL", "COMPLETED");
		assertThat(this.noted.stages()).filteredOn("OPEN("::equals).hasSize(2);
		assertThat(this.noted.stages()).filteredOn("COMMIT("::equals).hasSize(2);
	}

	@Test
	void messageThatIsQueuedAndATurnThatIsCancelledAreOutcomes() {
		this.gated = Set.of("add");
		this.onNewMessage = OnNewMessage.QUEUE;
		this.model.calls(ADD);
		ask(Mode.CALL, "q");
		ask(Mode.CALL, "and");
		approvals().cancel(T1);
		assertThat(this.noted.outcomes()).containsExactly("AWAITING_APPROVAL", "QUEUED", "COMPLETED");
	}

	@ParameterizedTest
	@EnumSource
	void callThatFailsBeforeItsTurnIsOpenedHasNoOutcome(Mode mode) {
		this.store.failAt(Fault.OPEN);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> ask(mode, "q"));
		assertThat(this.noted.stages()).containsExactly("CALL(", "OPEN(", "!OPEN", "!CALL");
	}

	@ParameterizedTest
	@EnumSource
	void modelThatFailsAndHookThatRefusesAreOutcomes(Mode mode) {
		this.model.fails(new IllegalStateException("down"));
		assertThatIllegalStateException().isThrownBy(() -> ask(mode, "q"));
		this.hooks = List.of(new Refusing());
		this.conversations = null;
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> ask(mode, "q"));
		assertThat(this.noted.outcomes()).containsExactly("FAILED java.lang.IllegalStateException", "REFUSED");
	}

	@ParameterizedTest
	@EnumSource
	void conflictIsAFailureOfThatName(Mode mode) {
		this.model.says("a");
		this.store.beforeCommit(() -> {
			this.store.beforeCommit(() -> {
			});
			this.store.add(T1, List.of(new UserMessage("theirs")));
		});
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> ask(mode, "q"));
		assertThat(this.noted.outcomes()).containsExactly("FAILED " + SessionConflictException.class.getName());
	}

	@Test
	void callThatOnlyReadsAndOneThatIsRepeatedAreOutcomes() {
		this.model.says("a").says("b");
		chat().prompt()
			.user("q")
			.advisors(SessionAdvisor.session(T1))
			.advisors(SessionAdvisor.idempotencyKey("k"))
			.call()
			.content();
		chat().prompt()
			.user("q")
			.advisors(SessionAdvisor.session(T1))
			.advisors(SessionAdvisor.idempotencyKey("k"))
			.call()
			.content();
		chat().prompt()
			.user("q")
			.advisors(SessionAdvisor.session(T1))
			.advisors(SessionAdvisor.reading())
			.call()
			.content();
		assertThat(this.noted.outcomes()).containsExactly("COMPLETED", "ANSWERED", "UNSTORED");
	}

	@ParameterizedTest
	@EnumSource(names = { "NONE", "COMMIT" })
	void readerThatCancelsIsToldOnceEvenIfTheStoreFails(Fault fault) {
		this.model.step((prompt) -> Flux.just(this.model.chunk("half", List.of(), false)).concatWith(Flux.never()));
		StepVerifier.create(prompt("q").stream().content())
			.expectNextCount(1)
			.then(() -> this.store.failAt(fault))
			.thenCancel()
			.verify(Duration.ofSeconds(30));
		Awaitility.await().until(() -> !this.noted.outcomes().isEmpty());
		assertThat(this.noted.outcomes()).containsExactly("CANCELLED");
		assertThat(this.noted.stages()).contains("-CALL").doesNotContain(")CALL");
	}

	@Test
	void readerThatCancelsWhileTheSessionIsOpenedIsToldToo() {
		CountDownLatch opening = new CountDownLatch(1);
		CountDownLatch gone = new CountDownLatch(1);
		this.store.beforeOpen(() -> {
			opening.countDown();
			await(gone);
		});
		Disposable reader = prompt("q").stream().content().subscribe();
		await(opening);
		reader.dispose();
		gone.countDown();
		Awaitility.await().until(() -> !this.noted.outcomes().isEmpty());
		assertThat(this.noted.outcomes()).containsExactly("CANCELLED");
	}

	@ParameterizedTest
	@EnumSource
	void historyThatALimitCutsIsTrimmed(Mode mode) {
		this.conversations = Conversations.builder(this.store)
			.observers(this.observers)
			.trim(Trim.keepLastTurns(1))
			.build();
		this.model.says("a").says("b").says("c");
		ask(mode, "q1");
		ask(mode, "q2");
		ask(mode, "q3");
		assertThat(this.noted.stages()).filteredOn((line) -> line.startsWith("viewed"))
			.extracting((line) -> line.substring(line.lastIndexOf(' ') + 1))
			.containsExactly("false", "false", "true");
		assertThat(this.noted.stages()).filteredOn((line) -> line.startsWith("viewed"))
			.last()
			.isNotEqualTo("viewed 0 true");
	}

	@Test
	void requestThatIsMadeShorterByALimitOnMessagesIsTrimmed() {
		this.conversations = Conversations.builder(this.store)
			.observers(this.observers)
			.trim(Trim.keepLastMessages(3))
			.build();
		this.model.says("a").calls(ADD).says("b");
		ask(Mode.CALL, "q1");
		ask(Mode.CALL, "q2");
		assertThat(this.noted.stages()).filteredOn((line) -> line.startsWith("viewed"))
			.last()
			.asString()
			.endsWith("true");
	}

	@Test
	void summaryIsObservedWhereItIsMade() {
		Summarize rule = Summarize.by(new ScriptedChatModel().says("short"))
			.mode(Summarize.Mode.BEFORE)
			.triggerMessages(2)
			.keepTurns(0)
			.build();
		this.conversations = Conversations.builder(this.store).observers(this.observers).summarize(rule).build();
		this.model.says("a").says("b");
		ask(Mode.CALL, "q1");
		ask(Mode.CALL, "q2");
		assertThat(this.noted.stages()).containsSubsequence("OPEN(", "summary SUMMARIZED", ")OPEN");
	}

	private Conversations withShortLease() {
		return withLease(Duration.ofSeconds(1));
	}

	private Conversations withLease(Duration lease) {
		return Conversations.builder(this.store).observers(this.observers).lease(lease).build();
	}

	/** Another process has taken the lease over while the tool ran. */
	@Test
	void leaseThatIsLostWhileAToolRunsIsReported() {
		this.gated = Set.of("add");
		this.conversations = withShortLease();
		this.model.calls(ADD).says("a");
		ask(Mode.CALL, "q");
		approvals().pending(T1).forEach((call) -> approvals().approve(call, "anna"));
		this.atTool = () -> {
			this.store.put(T1, new RecordWrite(TurnRecords.LEASE, TurnRecords.LEASE_ID, RecordWrite.ANY, null, null));
			Awaitility.await().until(() -> this.noted.stages().contains("lost TURN"));
		};
		ask(Mode.CALL, null);
		assertThat(this.noted.stages()).filteredOn((line) -> line.startsWith("lost")).containsExactly("lost TURN");
	}

	@Test
	void placeInLineThatIsLostIsReported() {
		this.conversations = withShortLease();
		this.model.calls(ADD).says("a");
		this.atTool = () -> {
			this.store.records(T1, "line")
				.forEach((record) -> this.store.put(T1,
						new RecordWrite("line", record.id(), RecordWrite.ANY, null, null)));
			Awaitility.await().until(() -> this.noted.stages().contains("lost LINE"));
		};
		assertThatExceptionOfType(SessionConflictException.class)
			.isThrownBy(() -> prompt("q").advisors(SessionAdvisor.concurrency(Concurrency.SERIALIZE)).call().content());
		assertThat(this.noted.outcomes()).containsExactly("FAILED " + SessionConflictException.class.getName());
	}

	@Test
	void placeInLineThatIsErasedWithItsSessionIsNotReported() {
		this.model.calls(ADD).says("a");
		this.atTool = () -> this.store.erase(T1);
		assertThatExceptionOfType(SessionLostException.class)
			.isThrownBy(() -> prompt("q").advisors(SessionAdvisor.concurrency(Concurrency.SERIALIZE)).call().content())
			.withMessageContaining("was erased");
		assertThat(this.noted.stages()).doesNotContain("lost LINE");
	}

	@Test
	void leaseThatIsErasedWithItsSessionIsNotReported() {
		this.gated = Set.of("add");
		this.conversations = withLease(Duration.ofSeconds(6));
		this.model.calls(ADD).says("a");
		ask(Mode.CALL, "q");
		approvals().pending(T1).forEach((call) -> approvals().approve(call, "anna"));
		CountDownLatch renewed = new CountDownLatch(1);
		this.atTool = () -> {
			this.store.erase(T1);
			this.store.beforePut((record) -> renewed.countDown());
			await(renewed);
		};
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> ask(Mode.CALL, null));
		// the renewal looks for the reason on a thread of its own
		Awaitility.await().during(Duration.ofMillis(300)).until(() -> !this.noted.stages().contains("lost TURN"));
	}

	/** It sends nothing, so no limit has left anything out. */
	@Test
	void turnThatIsCancelledHasNoView() {
		this.gated = Set.of("add");
		this.model.says("a").calls(ADD);
		ask(Mode.CALL, "q1");
		ask(Mode.CALL, "q2");
		approvals().cancel(T1);
		assertThat(this.noted.outcomes()).containsExactly("COMPLETED", "AWAITING_APPROVAL", "COMPLETED");
		assertThat(this.noted.stages()).filteredOn((line) -> line.startsWith("viewed"))
			.hasSize(2)
			.noneMatch((line) -> line.endsWith("true"));
	}

	/** Nothing of the call is a turn. */
	@ParameterizedTest
	@EnumSource
	void messageThatIsQueuedOpensNoTurn(Mode mode) {
		this.gated = Set.of("add");
		this.onNewMessage = OnNewMessage.QUEUE;
		this.model.calls(ADD);
		ask(mode, "q");
		ask(mode, "and");
		assertThat(this.noted.stages()).filteredOn("opened"::equals).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource
	void observerThatThrowsOrLosesTheWorkChangesNothing(Mode mode) {
		this.observers = List.of(new Hostile(), this.noted, new Hostile(1), new Hostile(2));
		this.hooks = List.of(new Passing());
		this.model.calls(ADD).says("a");
		assertThat(ask(mode, "q")).isEqualTo("a");
		assertThat(this.store.messages(T1)).extracting(Message::getText).containsExactly("q", "", "", "a");
		assertThat(this.noted.outcomes()).containsExactly("COMPLETED");
		assertThat(this.model.prompts()).hasSize(2);
	}

	@ParameterizedTest
	@EnumSource
	void observerDoesNotHideTheExceptionOfTheWork(Mode mode) {
		this.observers = List.of(new Hostile(), new Hostile(1), new Hostile(2));
		this.store.failAt(Fault.OPEN);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> ask(mode, "q"));
	}

	@ParameterizedTest
	@EnumSource
	void observerThatBeginsWithNullIsNone(Mode mode) {
		this.observers = List.of(new CallObserver() {

			@Override
			@SuppressWarnings("NullAway")
			public ObservedCall begin(boolean streams) {
				return null;
			}

		}, this.noted);
		this.model.says("a");
		assertThat(ask(mode, "q")).isEqualTo("a");
		assertThat(this.noted.outcomes()).containsExactly("COMPLETED");
	}

	@Test
	void workOfAStreamFindsWhatEachObserverHasAddedAroundIt() {
		this.observers = List.of(new Adding("outer"), new Hostile(2), new Adding("inner"));
		this.model.step((prompt) -> Flux
			.deferContextual((context) -> Flux.just(this.model.chunk(context.get("inner"), List.of(), true))));
		assertThat(ask(Mode.STREAM, "q")).isEqualTo("outer inner");
	}

	@Test
	void observerDoesNotHideAnExceptionThatNobodyDeclares() {
		this.observers = List.of(new Swallowing());
		IOException failure = new IOException("the line is down");
		this.model.step((prompt) -> {
			throw CallObserverTests.<RuntimeException>undeclared(failure);
		});
		assertThatThrownBy(() -> ask(Mode.CALL, "q")).isSameAs(failure);
	}

	@Test
	void interruptThatAnObserverHasFoundIsKept() {
		this.observers = List.of(new CallObserver() {

			@Override
			public ObservedCall begin(boolean streams) {
				throw CallObserverTests.<RuntimeException>undeclared(new InterruptedException("as asked"));
			}

		});
		this.model.says("a");
		String answer = ask(Mode.CALL, "q");
		assertThat(Thread.interrupted()).isTrue();
		assertThat(answer).isEqualTo("a");
	}

	@SuppressWarnings("unchecked")
	private static <X extends Exception> X undeclared(Exception thrown) throws X {
		throw (X) thrown;
	}

	/**
	 * Keeps what the work throws to itself.
	 */
	private static final class Swallowing implements CallObserver, ObservedCall {

		@Override
		public ObservedCall begin(boolean streams) {
			return this;
		}

		@Override
		@SuppressWarnings("NullAway")
		public <T extends @Nullable Object> T observe(CallStage stage, Supplier<T> work) {
			try {
				return work.get();
			}
			catch (Exception ex) {
				return null;
			}
		}

	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private @Nullable String ask(Mode mode, @Nullable String question) {
		return new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false).content(prompt(question));
	}

	private ChatClient.ChatClientRequestSpec prompt(@Nullable String question) {
		ChatClient.ChatClientRequestSpec spec = chat().prompt().advisors(SessionAdvisor.session(T1)).tools(add());
		return (question != null) ? spec.user(question) : spec;
	}

	private ChatClient chat() {
		return ClientSetup.plain()
			.builder(this.model, SessionAdvisor.builder(conversations()).approvals(approvals()).build())
			.build();
	}

	private Conversations conversations() {
		if (this.conversations == null) {
			this.conversations = Conversations.builder(this.store).observers(this.observers).hooks(this.hooks).build();
		}
		return this.conversations;
	}

	private Approvals approvals() {
		return Approvals.builder(conversations()).tools(this.gated).onNewMessage(this.onNewMessage).build();
	}

	private ToolCallback add() {
		record Value(int value) {
		}
		return FunctionToolCallback.builder("add", (Value value) -> {
			this.noted.lines.add("tool");
			this.atTool.run();
			return value.value();
		}).description("adds").inputType(Value.class).build();
	}

	/**
	 * A hook that leaves everything as it is, in all phases.
	 */
	private static final class Passing implements SessionHook {

		@Override
		public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
			return HookResult.keep();
		}

	}

	private static final class Refusing implements SessionHook {

		@Override
		public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
			return HookResult.refuse("no");
		}

	}

	/**
	 * Notes what it is told.
	 */
	private static final class Noted implements CallObserver, ObservedCall {

		private final List<String> lines = new CopyOnWriteArrayList<>();

		private final List<String> outcomes = new CopyOnWriteArrayList<>();

		List<String> stages() {
			return new ArrayList<>(this.lines);
		}

		List<String> outcomes() {
			return this.outcomes;
		}

		@Override
		public ObservedCall begin(boolean streams) {
			return this;
		}

		@Override
		public <T extends @Nullable Object> T observe(CallStage stage, Supplier<T> work) {
			this.lines.add(stage + "(");
			boolean done = false;
			try {
				T result = work.get();
				done = true;
				return result;
			}
			finally {
				this.lines.add((done ? ")" : "!") + stage);
			}
		}

		@Override
		public ObservedStream observeStream(CallStage stage, ContextView context) {
			this.lines.add(stage + "(");
			return new ObservedStream() {

				@Override
				public void completed() {
					Noted.this.lines.add(")" + stage);
				}

				@Override
				public void failed(Throwable failure) {
					Noted.this.lines.add("!" + stage);
				}

				@Override
				public void cancelled() {
					Noted.this.lines.add("-" + stage);
				}

			};
		}

		@Override
		public void opened(String turnId) {
			this.lines.add("opened");
		}

		@Override
		public void viewed(int tokens, boolean trimmed) {
			this.lines.add("viewed " + tokens + " " + trimmed);
		}

		@Override
		public void ended(CallOutcome outcome, @Nullable String failure) {
			this.lines.add(outcome.name());
			this.outcomes.add(outcome + ((failure != null) ? " " + failure : ""));
		}

		@Override
		public SummaryResult summarize(Supplier<SummaryResult> work) {
			SummaryResult made = work.get();
			this.lines.add("summary " + made.status());
			return made;
		}

		@Override
		public void leaseLost(LeaseKind kind) {
			this.lines.add("lost " + kind);
		}

	}

	/**
	 * Throws where it can, at times before the work and at times after it, and returns
	 * something else.
	 */
	private static final class Hostile implements CallObserver, ObservedCall {

		private int streams;

		Hostile() {
			this(0);
		}

		Hostile(int streams) {
			this.streams = streams;
		}

		@Override
		public ObservedCall begin(boolean streams) {
			return this;
		}

		@Override
		@SuppressWarnings("NullAway")
		public <T extends @Nullable Object> T observe(CallStage stage, Supplier<T> work) {
			if (stage == CallStage.OPEN) {
				throw new IllegalArgumentException("before the work");
			}
			if (stage == CallStage.ROUND) {
				return null;
			}
			T result = work.get();
			assertThat(work.get()).as("the work is done once").isSameAs(result);
			if (stage == CallStage.COMMIT) {
				throw new AssertionError("after the work");
			}
			return null;
		}

		@Override
		@SuppressWarnings("NullAway")
		public ObservedStream observeStream(CallStage stage, ContextView context) {
			return switch (this.streams++ % 3) {
				case 0 -> null;
				case 1 -> throw new IllegalStateException("no stream");
				default -> new HostileStream();
			};
		}

		@Override
		public void opened(String turnId) {
			throw new IllegalStateException("opened");
		}

		@Override
		public void viewed(int tokens, boolean trimmed) {
			throw new IllegalStateException("viewed");
		}

		@Override
		public void ended(CallOutcome outcome, @Nullable String failure) {
			throw new IllegalStateException("ended");
		}

	}

	/**
	 * Adds a word to the context of a call, behind those of the observers around it.
	 */
	private record Adding(String word) implements CallObserver, ObservedCall {

		@Override
		public ObservedCall begin(boolean streams) {
			return this;
		}

		@Override
		public ObservedStream observeStream(CallStage stage, ContextView context) {
			String words = context.getOrDefault("outer", "") + " " + this.word;
			return (stage != CallStage.CALL) ? ObservedStream.NONE : new ObservedStream() {

				@Override
				public ContextView context() {
					return Context.of(Adding.this.word, words.trim());
				}

			};
		}

	}

	/**
	 * Throws at the end of a stage, and has no context.
	 */
	private static final class HostileStream implements ObservedStream {

		@Override
		@SuppressWarnings("NullAway")
		public ContextView context() {
			return null;
		}

		@Override
		public void completed() {
			throw new AssertionError("completed");
		}

		@Override
		public void failed(Throwable failure) {
			throw new IllegalStateException("failed");
		}

		@Override
		public void cancelled() {
			throw new IllegalStateException("cancelled");
		}

	}

}
