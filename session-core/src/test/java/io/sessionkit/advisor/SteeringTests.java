package io.sessionkit.advisor;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionException;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.approval.ResumeRefusedException;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.HistoryPolicy;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import io.sessionkit.test.ValidSequence;
import io.sessionkit.test.WorkingModel;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.content.Media;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.ai.tool.metadata.ToolMetadata;
import org.springframework.util.MimeTypeUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Messages that join a turn that runs.
 */
@Order(1)
class SteeringTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private static final Duration LONG = Duration.ofSeconds(30);

	private static final Pattern TICKET = Pattern.compile("[0-9a-f-]{36} \\d+");

	private final SessionKey key = SessionKey.of("order", UUID.randomUUID().toString());

	private final WorkingModel model = new WorkingModel("look");

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final List<Conversations> opened = new ArrayList<>();

	/** The tool has a permit for each call that it answers. */
	private final Semaphore looks = new Semaphore(0);

	private final AtomicInteger looking = new AtomicInteger();

	private volatile Callable<String> look = () -> "seen";

	private Durability durability = Durability.TURN;

	private boolean returnDirect;

	private String description = "looks";

	private Duration lease = LONG;

	private Duration timeout = LONG;

	private Duration remembered = Duration.ofDays(1);

	@AfterEach
	void close() {
		this.looks.release(1_000_000);
		this.threads.shutdownNow();
		this.opened.forEach(Conversations::close);
		this.model.prompts()
			.forEach((prompt) -> assertThat(ValidSequence.faults(prompt.getInstructions()))
				.as(() -> Lines.of(prompt.getInstructions()).toString())
				.isEmpty());
	}

	@ParameterizedTest
	@EnumSource
	void messagesJoinTheTurnBeforeItsNextModelCall(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		Future<ChatResponse> first = call(chat(store), "u1:2");
		awaitLooking(1);
		Future<ChatResponse> second = call(chat(store), "u2");
		awaitInLine(store, 2);
		Future<List<ChatResponse>> third = stream(chat(store), "u3");
		awaitInLine(store, 3);
		this.looks.release();
		awaitLooking(2);
		Future<ChatResponse> fourth = call(chat(store), "u4");
		awaitInLine(store, 4);
		this.looks.release();
		ChatResponse answer = first.get(20, TimeUnit.SECONDS);
		Turn turn = turn(answer);
		assertThat(text(answer)).isEqualTo("a of u1:2+u2+u3+u4");
		assertThat(SessionAdvisor.isSteered(answer)).isFalse();
		for (ChatResponse joined : List.of(second.get(20, TimeUnit.SECONDS), fourth.get(20, TimeUnit.SECONDS))) {
			assertThat(text(joined)).isEqualTo("a of u1:2+u2+u3+u4");
			assertThat(SessionAdvisor.isSteered(joined)).isTrue();
			assertThat(SessionAdvisor.isRepeated(joined)).isFalse();
			assertThat(turn(joined)).isEqualTo(turn);
			assertThat(joined.getMetadata().getUsage().getTotalTokens()).isZero();
		}
		List<ChatResponse> streamed = third.get(20, TimeUnit.SECONDS);
		assertThat(streamed).hasSize(2).allMatch(SessionAdvisor::isSteered);
		assertThat(streamed.stream().map(SteeringTests::text)).containsExactly("a of u1:2+u2+u3+u4", "");
		assertThat(turn(streamed.get(1))).isEqualTo(turn);
		assertThat(log(store)).containsExactly("user: u1:2", "calls", "tool", "user: u2", "user: u3", "calls", "tool",
				"user: u4", "assistant: a of u1:2+u2+u3+u4");
		assertThat(store.turns(this.key, Tail.ALL)).hasSize(1);
		assertThat(this.model.prompts()).hasSize(3);
		assertNothingIsLeft(store);
	}

	@ParameterizedTest
	@EnumSource
	void aMessageBecomesTheNextTurnIfTheTurnEndsWithoutAnotherModelCall(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		Semaphore model = new Semaphore(0);
		this.model.before((prompt) -> model.acquireUninterruptibly());
		Future<ChatResponse> first = call(chat(store), "u1");
		awaitPrompts(1);
		Future<ChatResponse> second = call(chat(store), "u2");
		awaitInLine(store, 2);
		model.release(2);
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1");
		assertThat(text(second.get(20, TimeUnit.SECONDS))).isEqualTo("a of u2");
		assertThat(SessionAdvisor.isSteered(second.get())).isFalse();
		assertThat(log(store)).containsExactly("user: u1", "assistant: a of u1", "user: u2", "assistant: a of u2");
		assertNothingIsLeft(store);
	}

	/**
	 * Whoever asks for the next question is not asked into the turn, and may be joined.
	 */
	@ParameterizedTest
	@EnumSource
	void aMessageOfACallWithATurnOfItsOwnJoinsNoneAndItsTurnIsJoined(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		Future<ChatResponse> first = call(chat(store), "u1:1");
		awaitLooking(1);
		ChatClient own = chat(store);
		Future<ChatResponse> second = this.threads
			.submit(() -> prompt(own, "u2:1").advisors(SessionAdvisor.ownTurn()).call().chatResponse());
		awaitInLine(store, 2);
		Future<ChatResponse> third = call(chat(store), "u3");
		awaitInLine(store, 3);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1+u3");
		assertThat(SessionAdvisor.isSteered(third.get(20, TimeUnit.SECONDS))).isTrue();
		awaitLooking(2);
		Future<ChatResponse> fourth = call(chat(store), "u4");
		awaitInLine(store, 2);
		this.looks.release();
		assertThat(text(second.get(20, TimeUnit.SECONDS))).isEqualTo("a of u2:1+u4");
		assertThat(SessionAdvisor.isSteered(second.get())).isFalse();
		assertThat(SessionAdvisor.isSteered(fourth.get(20, TimeUnit.SECONDS))).isTrue();
		assertThat(store.turns(this.key, Tail.ALL)).hasSize(2);
		assertNothingIsLeft(store);
	}

	@Test
	void aResultThatIsReturnedDirectlyTakesNoMessage() throws Exception {
		SessionStore store = memory();
		this.returnDirect = true;
		ChatClient direct = chat(store);
		Future<ChatResponse> first = this.threads.submit(() -> prompt(direct, "u1:1").call().chatResponse());
		awaitLooking(1);
		Future<ChatResponse> second = call(chat(store), "u2");
		awaitInLine(store, 2);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).contains("seen");
		assertThat(text(second.get(20, TimeUnit.SECONDS))).endsWith("u2");
		assertThat(SessionAdvisor.isSteered(second.get())).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void aMessageOfATurnThatFailsIsATurnOfItsOwn(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		failAfterTools();
		Future<ChatResponse> first = call(chat(store), "u1:1");
		joinAndGoOn(store, 1, () -> assertThatExceptionOfType(Exception.class).isThrownBy(first::get)
			.withStackTraceContaining("as asked"));
	}

	private void failAfterTools() {
		this.model.before((prompt) -> {
			if (WorkingModel.current(prompt.getInstructions()).size() > 2) {
				throw new IllegalStateException("as asked");
			}
		});
	}

	/**
	 * The message of a second call joins the first turn, which does not become history.
	 */
	private void joinAndGoOn(SessionStore store, int looking, Check firstEnded) throws Exception {
		awaitLooking(looking);
		Future<ChatResponse> second = call(chat(store), "u2");
		awaitInLine(store, 2);
		this.looks.release();
		firstEnded.run();
		ChatResponse answer = second.get(20, TimeUnit.SECONDS);
		assertThat(text(answer)).isEqualTo("a of u2");
		assertThat(SessionAdvisor.isSteered(answer)).isFalse();
		assertThat(log(store).stream().filter("user: u2"::equals)).hasSize(1);
		assertThat(log(store)).endsWith("user: u2", "assistant: a of u2");
		assertThat(taken()).as("requests with both").isPositive();
		assertNothingIsLeft(store);
	}

	private interface Check {

		void run() throws Exception;

	}

	/** The number of requests in which the first message is followed by others. */
	private long taken() {
		return this.model.prompts()
			.stream()
			.map((prompt) -> WorkingModel.current(prompt.getInstructions()))
			.filter((turn) -> turn.stream().filter(UserMessage.class::isInstance).count() > 1)
			.count();
	}

	@ParameterizedTest
	@EnumSource
	void aMessageOfATurnThatIsRefusedIsATurnOfItsOwn(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		SessionHook refusing = TestHooks.afterModel("strict",
				(reply) -> reply.hasToolCalls() ? HookResult.keep() : HookResult.refuse("not this"));
		Future<ChatResponse> first = this.threads
			.submit(() -> prompt(chat(store), "u1:1").advisors(SessionAdvisor.hook(refusing)).call().chatResponse());
		joinAndGoOn(store, 1, () -> assertThatExceptionOfType(Exception.class).isThrownBy(first::get)
			.withCauseInstanceOf(SessionRefusedException.class));
	}

	@ParameterizedTest
	@EnumSource
	void aMessageOfATurnThatIsCancelledIsATurnOfItsOwn(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		Semaphore model = new Semaphore(1);
		this.model.before((prompt) -> model.acquireUninterruptibly());
		Disposable first = prompt(chat(store), "u1:1").stream().chatResponse().subscribe();
		joinAndGoOn(store, 1, () -> {
			awaitPrompts(2);
			first.dispose();
			model.release(10);
		});
	}

	@ParameterizedTest
	@EnumSource
	void aMessageOfATurnThatConflictsIsATurnOfItsOwn(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		Semaphore model = new Semaphore(1);
		this.model.before((prompt) -> {
			if (WorkingModel.current(prompt.getInstructions()).size() > 2) {
				model.acquireUninterruptibly(2);
			}
		});
		Future<ChatResponse> first = call(chat(store), "u1:1");
		joinAndGoOn(store, 1, () -> {
			awaitPrompts(2);
			prompt(chat(store), "other").advisors(SessionAdvisor.concurrency(Concurrency.OPTIMISTIC)).call().content();
			model.release(10);
			assertThatExceptionOfType(Exception.class).isThrownBy(first::get)
				.withCauseInstanceOf(SessionConflictException.class);
		});
	}

	/** A process that was killed renews nothing. */
	@ParameterizedTest
	@EnumSource
	void aMessageOfATurnWhoseProcessIsGoneIsATurnOfItsOwn(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		this.lease = Duration.ofSeconds(3);
		ChatClient killed = chat(store);
		this.lease = LONG;
		Semaphore model = new Semaphore(1);
		this.model.before((prompt) -> {
			if (WorkingModel.current(prompt.getInstructions()).size() > 2) {
				model.acquireUninterruptibly(2);
			}
		});
		Future<ChatResponse> first = call(killed, "u1:1");
		awaitLooking(1);
		Future<ChatResponse> second = call(chat(store), "u2");
		awaitInLine(store, 2);
		this.looks.release();
		awaitPrompts(2);
		this.opened.get(0).close();
		assertThat(text(second.get(20, TimeUnit.SECONDS))).isEqualTo("a of u2");
		model.release(10);
		assertThatExceptionOfType(Exception.class).isThrownBy(first::get)
			.withCauseInstanceOf(SessionConflictException.class);
		assertThat(taken()).isPositive();
		assertThat(log(store)).containsExactly("user: u2", "assistant: a of u2");
		assertNothingIsLeft(store);
	}

	@ParameterizedTest
	@EnumSource
	void aMessageOfATurnThatWaitsGetsThePause(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		ChatClient asking = chat(store, Set.of("look"));
		AtomicInteger calls = new AtomicInteger();
		Future<ChatResponse> first = this.threads.submit(
				() -> prompt(asking, "u1:1")
					.toolCallbacks(FunctionToolCallback.builder("peek", (Object nothing) -> "peeked")
						.description("looks too")
						.inputType(Object.class)
						.build())
					.call()
					.chatResponse());
		ChatResponse pause = first.get(20, TimeUnit.SECONDS);
		assertThat(SessionAdvisor.pending(pause)).hasSize(1);
		Approvals approvals = approvals(this.opened.get(0), Set.of("look"));
		approve(approvals);
		Future<ChatResponse> resumed = this.threads
			.submit(() -> asking.prompt().advisors(SessionAdvisor.session(this.key)).call().chatResponse());
		awaitLooking(1);
		Future<ChatResponse> second = call(asking, "u2:1");
		awaitInLine(store, 2);
		Future<List<ChatResponse>> third = stream(asking, "u3");
		awaitInLine(store, 3);
		this.model.before((prompt) -> calls.incrementAndGet());
		this.looks.release();
		assertThat(text(resumed.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1+u2:1+u3");
		assertThat(text(second.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1+u2:1+u3");
		assertThat(SessionAdvisor.isSteered(third.get(20, TimeUnit.SECONDS).get(0))).isTrue();
		assertThat(log(store)).containsExactly("user: u1:1", "calls", "tool", "user: u2:1", "user: u3",
				"assistant: a of u1:1+u2:1+u3");
		assertNothingIsLeft(store);
	}

	@ParameterizedTest
	@EnumSource
	void aMessageOfATurnThatBeginsToWaitGetsThePauseAndIsStoredWithIt(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		ChatClient asking = chat(store, Set.of("look"));
		Approvals approvals = approvals(this.opened.get(0), Set.of("look"));
		call(asking, "u1:2").get(20, TimeUnit.SECONDS);
		approve(approvals);
		Future<ChatResponse> first = this.threads
			.submit(() -> asking.prompt().advisors(SessionAdvisor.session(this.key)).call().chatResponse());
		awaitLooking(1);
		Future<ChatResponse> second = call(asking, "u2");
		awaitInLine(store, 2);
		Future<List<ChatResponse>> third = stream(asking, "u3");
		awaitInLine(store, 3);
		this.looks.release();
		List<ToolApproval> pending = SessionAdvisor.pending(first.get(20, TimeUnit.SECONDS));
		assertThat(pending).hasSize(1);
		for (ChatResponse pause : List.of(second.get(20, TimeUnit.SECONDS), third.get(20, TimeUnit.SECONDS).get(0))) {
			assertThat(SessionAdvisor.isSteered(pause)).isTrue();
			assertThat(SessionAdvisor.pending(pause)).isEqualTo(pending);
			assertThat(turn(pause).status()).isEqualTo(TurnStatus.AWAITING_APPROVAL);
		}
		assertNothingIsLeft(store);
		approve(approvals);
		this.looks.release();
		assertThat(asking.prompt().advisors(SessionAdvisor.session(this.key)).call().content())
			.isEqualTo("a of u1:2+u2+u3");
		assertThat(log(store)).containsExactly("user: u1:2", "calls", "tool", "user: u2", "user: u3", "calls", "tool",
				"assistant: a of u1:2+u2+u3");
	}

	private void approve(Approvals approvals) {
		approvals.approve(approvals.pending(this.key).get(0), "anna");
	}

	@ParameterizedTest
	@EnumSource
	void aMessageIsTakenBackByItsCallUntilItJoins(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		Future<ChatResponse> first = call(chat(store), "u1:1");
		awaitLooking(1);
		Disposable second = prompt(chat(store), "u2").stream().content().subscribe();
		awaitInLine(store, 2);
		Disposable third = prompt(chat(store), "u3").stream().content().subscribe();
		awaitInLine(store, 3);
		Future<ChatResponse> fourth = call(chat(store), "u4");
		awaitInLine(store, 4);
		second.dispose();
		third.dispose();
		awaitInLine(store, 2);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1+u4");
		assertThat(text(fourth.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1+u4");
		assertNothingIsLeft(store);
	}

	@Test
	void aCallThatIsInterruptedTakesItsMessageBackUntilItJoins() throws Exception {
		SessionStore store = memory();
		Future<ChatResponse> first = call(chat(store), "u1:1");
		awaitLooking(1);
		Future<ChatResponse> second = call(chat(store), "u2");
		awaitInLine(store, 2);
		second.cancel(true);
		awaitInLine(store, 1);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1");
		assertNothingIsLeft(store);
	}

	@Test
	void aMessageThatHasJoinedStaysAndItsCallIsToldSo() throws Exception {
		SessionStore store = memory();
		Future<ChatResponse> first = call(chat(store), "u1:2");
		awaitLooking(1);
		AtomicReference<Thread> waiting = new AtomicReference<>();
		Future<String> second = this.threads.submit(() -> {
			waiting.set(Thread.currentThread());
			assertThatExceptionOfType(TurnInProgressException.class)
				.isThrownBy(() -> prompt(chat(store), "u2").call().content())
				.withMessageContaining("stays in that turn")
				.matches((ex) -> ex.isMessageKept());
			return "told";
		});
		awaitInLine(store, 2);
		Disposable third = prompt(chat(store), "u3").stream().content().subscribe();
		awaitInLine(store, 3);
		this.looks.release();
		awaitLooking(2);
		Objects.requireNonNull(waiting.get()).interrupt();
		third.dispose();
		assertThat(second.get(20, TimeUnit.SECONDS)).isEqualTo("told");
		awaitInLine(store, 1);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:2+u2+u3");
		assertThat(inLine(store)).isZero();
	}

	/** Its client would send it again, and the model would get it twice. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aMessageThatHasJoinedIsSaidToBeKeptIfTheStoreFailsThen(boolean whileItWaits) throws Exception {
		ObservedStore store = new ObservedStore(memory());
		Future<ChatResponse> first = call(chat(store), "u1:2");
		awaitLooking(1);
		AtomicReference<Thread> waiting = new AtomicReference<>();
		Future<ChatResponse> second = this.threads.submit(() -> {
			waiting.set(Thread.currentThread());
			return prompt(chat(store), "u2").call().chatResponse();
		});
		awaitInLine(store, 2);
		this.looks.release();
		awaitLooking(2);
		AtomicBoolean failed = new AtomicBoolean();
		Runnable fault = () -> {
			if (Thread.currentThread() == waiting.get() && failed.compareAndSet(false, true)) {
				throw whileItWaits ? new IllegalStateException("The store is broken.")
						: new StoreUnavailableException("The store is down.", null);
			}
		};
		if (whileItWaits) {
			store.beforeRecord(fault);
			awaitInLine(store, 1);
		}
		store.beforeTurn(fault);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:2+u2");
		assertThat(catchThrowableOfType(ExecutionException.class, () -> second.get(20, TimeUnit.SECONDS)))
			.hasCauseInstanceOf(whileItWaits ? IllegalStateException.class : StoreUnavailableException.class)
			.matches((ex) -> SessionException.isMessageKept(ex));
		assertThat(log(store)).containsOnlyOnce("user: u2");
	}

	@Test
	void aCallThatHasWaitedTooLongTakesItsMessageBackAndOneWhoseMessageHasJoinedWaitsOn() throws Exception {
		SessionStore store = memory();
		Future<ChatResponse> first = call(chat(store), "u1:2");
		awaitLooking(1);
		this.timeout = Duration.ofMillis(600);
		ChatClient hasty = chat(store);
		assertThatExceptionOfType(TurnInProgressException.class).isThrownBy(() -> prompt(hasty, "u2").call().content())
			.withMessageContaining("Nothing was run");
		this.timeout = Duration.ofSeconds(6);
		Future<ChatResponse> third = call(chat(store), "u3");
		awaitInLine(store, 2);
		long waiting = System.nanoTime();
		this.looks.release();
		awaitLooking(2);
		Duration longer = this.timeout.plusMillis(300);
		Awaitility.await().atMost(LONG).until(() -> System.nanoTime() - waiting > longer.toNanos());
		assertThat(third.isDone()).isFalse();
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:2+u3");
		assertThat(text(third.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:2+u3");
		assertNothingIsLeft(store);
	}

	/** Its own call learns why. */
	@ParameterizedTest
	@EnumSource
	void aMessageThatAGuardRefusesDoesNotJoin(ClientSetup.Mode mode) throws Exception {
		SessionStore store = memory();
		SessionHook guard = TestHooks.beforeTurn("guard", (messages) -> switch (messages.get(0).getText()) {
			case "secret" -> HookResult.refuse("not this");
			case "known" -> HookResult.answer("known already");
			case "broken" -> throw new IllegalStateException("broken");
			case "long" -> HookResult.replace(List.of(new UserMessage("short")));
			default -> HookResult.keep();
		});
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		ChatClient chat = chat(store, setup, guard);
		Future<ChatResponse> first = this.threads.submit(() -> setup.response(prompt(chat, "u1:1")));
		awaitLooking(1);
		List<Future<ChatResponse>> others = new ArrayList<>();
		for (String text : List.of("secret", "known", "broken", "long", "u2")) {
			others.add(this.threads.submit(() -> setup.response(prompt(chat, text))));
			awaitInLine(store, 2 + others.size() - 1);
		}
		this.looks.release();
		ChatResponse answer = first.get(20, TimeUnit.SECONDS);
		assertThat(log(store)).contains("assistant: a of u1:1+short+u2");
		assertThat(turn(answer).status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(turn(answer).verdicts()).extracting((verdict) -> verdict.kind().name()).containsExactly("REPLACED");
		assertThatExceptionOfType(Exception.class).isThrownBy(others.get(0)::get)
			.withCauseInstanceOf(SessionRefusedException.class);
		assertThat(SessionAdvisor.isSteered(others.get(1).get(20, TimeUnit.SECONDS))).isFalse();
		assertThatExceptionOfType(Exception.class).isThrownBy(others.get(2)::get).withStackTraceContaining("broken");
		assertThat(SessionAdvisor.isSteered(others.get(3).get(20, TimeUnit.SECONDS))).isTrue();
		assertThat(SessionAdvisor.isSteered(others.get(4).get(20, TimeUnit.SECONDS))).isTrue();
		assertNothingIsLeft(store);
	}

	/**
	 * The hooks are asked by the call that offers it, so the turn does not ask them
	 * again.
	 */
	@ParameterizedTest
	@EnumSource
	void offerHoldsWhatHooksHaveLeftOfAMessage(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		SessionHook marking = TestHooks.beforeTurn("marking", (messages) -> {
			String text = messages.get(0).getText();
			return text.contains("u2") ? HookResult.replace(List.of(new UserMessage(text.replace("secret", "?") + "!")))
					: HookResult.keep();
		});
		SessionHook strict = TestHooks.beforeTurn("strict", (messages) -> messages.toString().contains("damn")
				? HookResult.refuse("rude") : HookResult.keep("polite"));
		ChatClient chat = chat(store, ClientSetup.plain(), marking, strict);
		Future<ChatResponse> first = call(chat, "u1:1");
		awaitLooking(1);
		Future<ChatResponse> second = call(chat, "secret u2");
		awaitInLine(store, 2);
		Future<ChatResponse> third = call(chat, "damn");
		awaitInLine(store, 3);
		assertThat(store.records(this.key, io.sessionkit.internal.line.Lines.OFFER)).singleElement()
			.satisfies((offer) -> assertThat(offer.payload()).contains("? u2!").doesNotContain("secret"));
		this.looks.release();
		Turn turn = turn(first.get(20, TimeUnit.SECONDS));
		assertThat(SessionAdvisor.isSteered(second.get(20, TimeUnit.SECONDS))).isTrue();
		assertThat(log(store)).containsExactly("user: u1:1", "calls", "tool", "user: ? u2!",
				"assistant: a of u1:1+? u2!");
		assertThat(turn.verdicts()).extracting(Verdict::hook).contains("marking", "strict");
		assertThatExceptionOfType(Exception.class).isThrownBy(third::get)
			.withCauseInstanceOf(SessionRefusedException.class);
		assertNothingIsLeft(store);
	}

	/**
	 * Attributes that they write belong to the moment at which the message joins the
	 * turn.
	 */
	@ParameterizedTest
	@EnumSource
	void hooksThatWriteAnAttributeAreAskedAgainWhenAMessageJoins(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		List<String> asked = new CopyOnWriteArrayList<>();
		SessionHook counting = TestHooks.beforeTurn("counting", (messages) -> {
			String text = String.valueOf(messages.get(0).getText());
			asked.add(text);
			count(1);
			return HookResult.replace(List.of(new UserMessage(text.replace("secret", "?"))));
		});
		this.look = () -> {
			count(10);
			return "seen";
		};
		ChatClient chat = chat(store, ClientSetup.plain(), counting);
		Future<ChatResponse> first = call(chat, "u1:1");
		awaitLooking(1);
		Future<ChatResponse> second = call(chat, "secret u2");
		awaitInLine(store, 2);
		Future<ChatResponse> third = call(chat, "u3");
		awaitInLine(store, 3);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1+? u2+u3");
		assertThat(SessionAdvisor.isSteered(second.get(20, TimeUnit.SECONDS))).isTrue();
		assertThat(SessionAdvisor.isSteered(third.get(20, TimeUnit.SECONDS))).isTrue();
		assertThat(asked).containsExactly("u1:1", "secret u2", "u3", "? u2", "u3");
		assertThat(store.find(this.key).orElseThrow().attributes()).containsEntry("count", 13);
	}

	private static void count(int more) {
		SessionContext context = new SessionContext();
		context.putAttribute("count", context.attribute("count", Integer.class).orElse(0) + more);
	}

	/** The process of the call at work has a hook more. */
	@Test
	void aHookThatTheOtherProcessDoesNotHaveIsAskedWhenAMessageJoins() throws Exception {
		SessionStore store = memory();
		List<String> asked = new CopyOnWriteArrayList<>();
		Future<ChatResponse> first = call(chat(store, ClientSetup.plain(), noting("old", asked), noting("new", asked)),
				"u1:1");
		awaitLooking(1);
		asked.clear();
		Future<ChatResponse> second = call(chat(store, ClientSetup.plain(), noting("old", asked)), "u2");
		awaitInLine(store, 2);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1+u2");
		assertThat(SessionAdvisor.isSteered(second.get(20, TimeUnit.SECONDS))).isTrue();
		assertThat(asked).containsExactly("old u2", "new u2");
	}

	private static SessionHook noting(String name, List<String> asked) {
		return TestHooks.beforeTurn(name, (messages) -> {
			asked.add(name + " " + messages.get(0).getText());
			return HookResult.keep();
		});
	}

	/** Its call leaves between the look at its message and the write that takes it. */
	@Test
	void nothingOfAMessageIsLeftInATurnThatItDoesNotJoin() throws Exception {
		SessionStore store = memory();
		ObservedStore observed = new ObservedStore(store);
		SessionHook counting = TestHooks.beforeTurn("counting", (messages) -> {
			count(1);
			return HookResult.keep("seen " + messages.get(0).getText());
		});
		Future<ChatResponse> first = call(chat(observed, ClientSetup.plain(), counting), "u1:1");
		awaitLooking(1);
		Disposable second = prompt(chat(store, ClientSetup.plain(), counting), "u2").stream().content().subscribe();
		awaitInLine(store, 2);
		Future<ChatResponse> third = call(chat(store, ClientSetup.plain(), counting), "u3");
		awaitInLine(store, 3);
		observed.beforePut((record) -> {
			if (!second.isDisposed() && record.payload() != null && record.payload().contains("taken")) {
				second.dispose();
				awaitInLine(store, 2);
			}
		});
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1+u3");
		assertThat(SessionAdvisor.isSteered(third.get(20, TimeUnit.SECONDS))).isTrue();
		assertThat(store.find(this.key).orElseThrow().attributes()).containsEntry("count", 2);
		assertThat(turn(first.get()).verdicts()).extracting(Verdict::reason)
			.contains("seen u3")
			.doesNotContain("seen u2");
		assertNothingIsLeft(store);
	}

	/** A message that a guard refuses leaves nothing of the hooks before it. */
	@Test
	void nothingOfAMessageThatIsRefusedAtLastIsLeftInTheTurn() throws Exception {
		SessionStore store = memory();
		SessionHook counting = TestHooks.beforeTurn("counting", (messages) -> {
			count(1);
			return HookResult.keep();
		});
		ChatClient chat = chat(store, ClientSetup.plain(), counting);
		SessionHook own = TestHooks.beforeTurn("own", (messages) -> messages.get(0).getText().equals("u2")
				? HookResult.refuse("not here") : HookResult.keep());
		Future<ChatResponse> first = this.threads
			.submit(() -> prompt(chat, "u1:1").advisors(SessionAdvisor.hook(own)).call().chatResponse());
		awaitLooking(1);
		Future<ChatResponse> second = call(chat, "u2");
		awaitInLine(store, 2);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1");
		assertThat(text(second.get(20, TimeUnit.SECONDS))).isEqualTo("a of u2");
		assertThat(store.find(this.key).orElseThrow().attributes()).containsEntry("count", 2);
	}

	/** Nobody knows yet whether it does. */
	@Test
	void nothingIsForgottenBecauseOfAMessageThatMayNotJoin() throws Exception {
		SessionStore store = memory();
		store.add(this.key, List.of(new UserMessage("u0"), new AssistantMessage("a0")));
		SessionHook forgetting = TestHooks.beforeTurn("forgetting", (messages) -> {
			if (messages.get(0).getText().equals("u2")) {
				new SessionContext().forget(0, 2);
			}
			return HookResult.keep();
		});
		Future<ChatResponse> first = this.threads
			.submit(() -> prompt(chat(store), "u1:1").advisors(SessionAdvisor.hook(forgetting)).call().chatResponse());
		awaitLooking(1);
		Future<ChatResponse> second = call(chat(store), "u2");
		awaitInLine(store, 2);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1");
		assertThat(SessionAdvisor.isSteered(second.get(20, TimeUnit.SECONDS))).isFalse();
		assertThat(store.messages(this.key)).extracting(Message::getText).startsWith("u0", "a0", "u1:1");
		assertNothingIsLeft(store);
	}

	@Test
	void anOfferWhoseAnswerWasLostIsFoundAgain() throws Exception {
		SessionStore store = memory();
		ObservedStore observed = new ObservedStore(store);
		AtomicInteger lost = new AtomicInteger();
		observed.afterPut((record) -> {
			if (record.kind().equals("offer") && lost.incrementAndGet() == 1) {
				throw new StoreUnavailableException("The store's answer was lost.", null);
			}
		});
		Future<ChatResponse> first = call(chat(store), "u1:1");
		awaitLooking(1);
		this.lease = Duration.ofSeconds(2);
		Future<ChatResponse> second = call(chat(observed), "u2");
		await(() -> store.records(this.key, "line").toString().contains("offered"));
		assertThat(lost.get()).isPositive();
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1+u2");
		assertThat(SessionAdvisor.isSteered(second.get(20, TimeUnit.SECONDS))).isTrue();
		assertNothingIsLeft(store);
	}

	/** It may be the store of something else. */
	@Test
	void aHookWhoseOwnStoreFailsIsAskedOnceAboutAMessageThatMayJoin() throws Exception {
		SessionStore store = memory();
		AtomicInteger asked = new AtomicInteger();
		SessionHook failing = failingOnce(asked, new StoreUnavailableException("as asked", null));
		Future<ChatResponse> first = call(chat(store, ClientSetup.plain(), failing), "u1:1");
		awaitLooking(1);
		this.lease = Duration.ofSeconds(2);
		Future<ChatResponse> second = call(chat(store, ClientSetup.plain(), failing), "u2");
		awaitInLine(store, 2);
		long revision = store.records(this.key, "line").get(0).revision();
		// the second has shown more than once that it is there
		await(() -> store.records(this.key, "line").get(0).revision() > revision + 2);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1");
		assertThat(text(second.get(20, TimeUnit.SECONDS))).isEqualTo("a of u2");
		assertThat(asked).as("once for the turn at work, once for its own").hasValue(2);
		assertNothingIsLeft(store);
	}

	/** A hook in Kotlin declares no exceptions. */
	@Test
	void aMessageOnWhichAHookThrowsACheckedExceptionIsATurnOfItsOwn() throws Exception {
		SessionStore store = memory();
		AtomicInteger asked = new AtomicInteger();
		ChatClient chat = chat(store, ClientSetup.plain(), failingOnce(asked, new IOException("as asked")));
		Future<ChatResponse> first = call(chat, "u1:1");
		awaitLooking(1);
		Future<ChatResponse> second = call(chat, "u2");
		awaitInLine(store, 2);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1");
		assertThat(text(second.get(20, TimeUnit.SECONDS))).isEqualTo("a of u2");
		assertThat(SessionAdvisor.isSteered(second.get())).isFalse();
		assertNothingIsLeft(store);
	}

	@Test
	void anErrorOfAHookEndsTheCallThatWaits() throws Exception {
		SessionStore store = memory();
		AtomicInteger asked = new AtomicInteger();
		ChatClient chat = chat(store, ClientSetup.plain(), failingOnce(asked, new LinkageError("as asked")));
		Future<ChatResponse> first = call(chat, "u1:1");
		awaitLooking(1);
		Future<ChatResponse> second = call(chat, "u2");
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> second.get(20, TimeUnit.SECONDS))
			.withCauseInstanceOf(LinkageError.class);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1");
		assertThat(asked).hasValue(1);
		assertNothingIsLeft(store);
	}

	private static SessionHook failingOnce(AtomicInteger asked, Throwable failure) {
		return TestHooks.beforeTurn("failing", (messages) -> {
			if (messages.get(0).getText().equals("u2") && asked.incrementAndGet() == 1) {
				throw SteeringTests.<RuntimeException>undeclared(failure);
			}
			return HookResult.keep();
		});
	}

	@SuppressWarnings("unchecked")
	private static <X extends Throwable> X undeclared(Throwable thrown) throws X {
		throw (X) thrown;
	}

	/** The hooks need the session, and are asked when the store answers again. */
	@Test
	void aMessageIsOfferedLaterIfTheStoreFails() throws Exception {
		SessionStore store = memory();
		ObservedStore observed = new ObservedStore(store);
		Future<ChatResponse> first = call(chat(store), "u1:1");
		awaitLooking(1);
		observed.failAt(ObservedStore.Fault.OPEN);
		this.lease = Duration.ofSeconds(1);
		Future<ChatResponse> second = call(
				chat(observed, ClientSetup.plain(), TestHooks.beforeTurn("keeps", (messages) -> HookResult.keep())),
				"u2");
		awaitInLine(store, 2);
		assertThat(store.records(this.key, "offer")).isEmpty();
		observed.failAt(ObservedStore.Fault.NONE);
		await(() -> store.records(this.key, "line").toString().contains("offered"));
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1+u2");
		assertThat(SessionAdvisor.isSteered(second.get(20, TimeUnit.SECONDS))).isTrue();
		assertNothingIsLeft(store);
	}

	/** The hooks of its call alone were not asked when the message was offered. */
	@Test
	void aTurnAsksItsOwnHooksAboutAMessageThatWasChecked() throws Exception {
		SessionStore store = memory();
		ChatClient chat = chat(store, ClientSetup.plain(),
				TestHooks.beforeTurn("all", (messages) -> HookResult.keep()));
		SessionHook own = TestHooks.beforeTurn("own", (messages) -> messages.get(0).getText().equals("u2")
				? HookResult.refuse("not here") : HookResult.keep());
		Future<ChatResponse> first = this.threads
			.submit(() -> prompt(chat, "u1:1").advisors(SessionAdvisor.hook(own)).call().chatResponse());
		awaitLooking(1);
		Future<ChatResponse> second = call(chat, "u2");
		awaitInLine(store, 2);
		Future<ChatResponse> third = call(chat, "u3");
		awaitInLine(store, 3);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1+u3");
		assertThat(SessionAdvisor.isSteered(second.get(20, TimeUnit.SECONDS))).isFalse();
		assertThat(SessionAdvisor.isSteered(third.get(20, TimeUnit.SECONDS))).isTrue();
		assertNothingIsLeft(store);
	}

	@ParameterizedTest
	@EnumSource
	void aRepeatedRequestGetsTheTurnThatItsMessageHasJoined(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		ChatClient chat = chat(store);
		Future<ChatResponse> first = call(chat, "u1:1");
		awaitLooking(1);
		Consumer<ChatClient.AdvisorSpec> named = SessionAdvisor.idempotencyKey("r2");
		Future<ChatResponse> second = this.threads
			.submit(() -> prompt(chat, "u2").advisors(named).call().chatResponse());
		awaitInLine(store, 2);
		Future<ChatResponse> again = this.threads
			.submit(() -> prompt(chat, "u2").advisors(named).call().chatResponse());
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1+u2");
		assertThat(SessionAdvisor.isSteered(second.get(20, TimeUnit.SECONDS))).isTrue();
		assertThat(SessionAdvisor.isRepeated(again.get(20, TimeUnit.SECONDS))).isTrue();
		for (Concurrency each : Concurrency.values()) {
			ChatResponse later = prompt(chat(store), "u2").advisors(named.andThen(SessionAdvisor.concurrency(each)))
				.call()
				.chatResponse();
			assertThat(text(later)).isEqualTo("a of u1:1+u2");
			assertThat(turn(later)).isEqualTo(turn(first.get()));
			assertThat(SessionAdvisor.isRepeated(later)).isTrue();
		}
		assertThat(log(store).stream().filter("user: u2"::equals)).hasSize(1);
		assertThat(store.turns(this.key, Tail.ALL)).hasSize(1);
		assertNothingIsLeft(store);
	}

	/** Its client repeats the request while the turn that the message has joined runs. */
	@ParameterizedTest
	@EnumSource
	void aRequestWhoseCallWasKilledDoesNotJoinTwice(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		Consumer<ChatClient.AdvisorSpec> named = SessionAdvisor.idempotencyKey("r2");
		Future<ChatResponse> first = call(chat(store), "u1:3");
		awaitLooking(1);
		Disposable killed = prompt(chat(store), "u2").advisors(named).stream().content().subscribe();
		awaitInLine(store, 2);
		this.looks.release();
		awaitLooking(2);
		// its call leaves both lines, as one does in the end whose process was killed
		killed.dispose();
		awaitInLine(store, 1);
		Future<ChatResponse> again = this.threads
			.submit(() -> prompt(chat(store), "u2").advisors(named).call().chatResponse());
		awaitInLine(store, 2);
		this.looks.release();
		awaitLooking(3);
		Future<ChatResponse> waiting = this.threads.submit(() -> prompt(chat(store), "u3").call().chatResponse());
		awaitInLine(store, 3);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:3+u2+u3");
		assertThat(text(again.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:3+u2+u3");
		assertThat(SessionAdvisor.isSteered(waiting.get(20, TimeUnit.SECONDS))).isTrue();
		assertThat(log(store).stream().filter("user: u2"::equals)).hasSize(1);
		assertThat(inLine(store)).isZero();
	}

	/** It waits as with serialize, so the turn at work does not know it. */
	@ParameterizedTest
	@EnumSource
	void aRepeatedRequestThatWaitsInLineGetsTheTurnToo(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		Consumer<ChatClient.AdvisorSpec> named = SessionAdvisor.idempotencyKey("r2");
		Future<ChatResponse> first = call(chat(store), "u1:2");
		awaitLooking(1);
		Disposable killed = prompt(chat(store), "u2").advisors(named).stream().content().subscribe();
		awaitInLine(store, 2);
		this.looks.release();
		awaitLooking(2);
		killed.dispose();
		awaitInLine(store, 1);
		Future<ChatResponse> again = this.threads.submit(() -> prompt(chat(store), "u2")
			.advisors(named.andThen(SessionAdvisor.concurrency(Concurrency.SERIALIZE)))
			.call()
			.chatResponse());
		awaitInLine(store, 2);
		this.looks.release();
		first.get(20, TimeUnit.SECONDS);
		assertThat(text(again.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:2+u2");
		assertThat(log(store).stream().filter("user: u2"::equals)).hasSize(1);
		assertThat(inLine(store)).isZero();
	}

	@Test
	void aCallThatIsMeantForAnotherTurnDoesNotJoin() throws Exception {
		SessionStore store = memory();
		ChatClient chat = chat(store);
		this.looks.release();
		assertThat(text(call(chat, "u0:1").get(20, TimeUnit.SECONDS))).isEqualTo("a of u0:1");
		List<Consumer<ChatClient.AdvisorSpec>> others = List.of(SessionAdvisor.agent("other"),
				SessionAdvisor.branch("main"), SessionAdvisor.editing(2),
				SessionAdvisor.concurrency(Concurrency.SERIALIZE), SessionAdvisor.concurrency(Concurrency.REJECT));
		Future<ChatResponse> first = call(chat, "u1:1");
		awaitLooking(2);
		for (Consumer<ChatClient.AdvisorSpec> other : others) {
			this.threads.submit(() -> prompt(chat, "other").advisors(other).call().chatResponse());
		}
		this.threads.submit(() -> chat.prompt()
			.messages(new UserMessage("example"), new AssistantMessage("like this"), new UserMessage("question"))
			.advisors(SessionAdvisor.session(this.key))
			.call()
			.content());
		awaitInLine(store, 6);
		Future<ChatResponse> expecting = this.threads
			.submit(() -> prompt(chat, "u2").advisors(SessionAdvisor.expectTurn(1)).call().chatResponse());
		awaitInLine(store, 7);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1+u2");
		assertThat(SessionAdvisor.isSteered(expecting.get(20, TimeUnit.SECONDS))).isTrue();
		awaitInLine(store, 0);
	}

	@Test
	void aCallAtWorkThatDoesNotSteerTakesNoMessage() throws Exception {
		SessionStore store = memory();
		for (Consumer<ChatClient.AdvisorSpec> other : List.of(SessionAdvisor.concurrency(Concurrency.SERIALIZE),
				SessionAdvisor.concurrency(Concurrency.REJECT))) {
			int before = this.looking.get();
			Future<ChatResponse> first = this.threads
				.submit(() -> prompt(chat(store), "u1:1").advisors(other).call().chatResponse());
			awaitLooking(before + 1);
			Future<ChatResponse> second = call(chat(store), "u2");
			awaitInLine(store, 2);
			this.looks.release();
			assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1");
			assertThat(text(second.get(20, TimeUnit.SECONDS))).isEqualTo("a of u2");
		}
		assertNothingIsLeft(store);
	}

	@Test
	void aTurnOnAnotherBranchTakesNoMessage() throws Exception {
		SessionStore store = memory();
		ChatClient chat = chat(store);
		call(chat, "u0").get(20, TimeUnit.SECONDS);
		this.opened.get(0).get(this.key).branch("aside");
		this.opened.get(0).get(this.key).switchTo("main");
		Future<ChatResponse> first = this.threads
			.submit(() -> prompt(chat, "u1:1").advisors(SessionAdvisor.branch("aside")).call().chatResponse());
		awaitLooking(1);
		Future<ChatResponse> second = call(chat, "u2");
		awaitInLine(store, 2);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1");
		assertThat(text(second.get(20, TimeUnit.SECONDS))).isEqualTo("a of u2");
		assertThat(log(store)).containsExactly("user: u0", "assistant: a of u0", "user: u2", "assistant: a of u2");
	}

	@ParameterizedTest
	@CsvSource({ "USE_IF_PROVIDED,false", "REPLACE_SESSION,true" })
	void aTurnTakesAMessageIfItsHistoryIsThatOfTheSession(HistoryPolicy policy, boolean joins) throws Exception {
		SessionStore store = memory();
		ChatClient chat = chat(store);
		call(chat, "u0").get(20, TimeUnit.SECONDS);
		List<Message> given = List.of(new UserMessage("x?"), new AssistantMessage("x!"));
		Future<ChatResponse> first = this.threads
			.submit(() -> prompt(chat, "u1:1").advisors(SessionAdvisor.history(given, policy)).call().chatResponse());
		awaitLooking(1);
		Future<ChatResponse> second = call(chat, "u2");
		awaitInLine(store, 2);
		this.looks.release();
		first.get(20, TimeUnit.SECONDS);
		assertThat(SessionAdvisor.isSteered(second.get(20, TimeUnit.SECONDS))).isEqualTo(joins);
		assertThat(log(store)).containsOnlyOnce("user: u2");
	}

	/** Its history is that of the call which began it, not of the session. */
	@Test
	void aTurnWithAGivenHistoryThatContinuesTakesNoMessage() throws Exception {
		SessionStore store = memory();
		ChatClient chat = chat(store, Set.of("look"));
		List<Message> given = List.of(new UserMessage("x?"), new AssistantMessage("x!"));
		prompt(chat, "u1:1").advisors(SessionAdvisor.history(given, HistoryPolicy.USE_IF_PROVIDED)).call().content();
		approve(approvals(this.opened.get(0), Set.of("look")));
		Future<ChatResponse> first = this.threads
			.submit(() -> chat.prompt().advisors(SessionAdvisor.session(this.key)).call().chatResponse());
		awaitLooking(1);
		Future<ChatResponse> second = call(chat, "u2");
		awaitInLine(store, 2);
		this.looks.release();
		first.get(20, TimeUnit.SECONDS);
		assertThat(SessionAdvisor.isSteered(second.get(20, TimeUnit.SECONDS))).isFalse();
		assertThat(log(store)).endsWith("user: u2", "assistant: a of u2");
	}

	@Test
	void aToolThatCallsTheSessionOfItsTurnDoesNotWaitForThatTurn() {
		SessionStore store = memory();
		ChatClient chat = chat(store);
		this.looks.release();
		AtomicInteger answered = new AtomicInteger();
		this.look = () -> {
			assertThat(SessionAdvisor.isSteered(prompt(chat, "inner").call().chatResponse())).isFalse();
			answered.incrementAndGet();
			return "seen";
		};
		assertThat(prompt(chat, "u1:1").call().content()).isEqualTo("a of u1:1");
		assertThat(answered.get()).isEqualTo(1);
		assertThat(log(store)).containsExactly("user: u1:1", "calls", "tool", "assistant: a of u1:1");
	}

	@Test
	void whatTheSteeringCallSaysBesidesItsMessageIsNotUsed() throws Exception {
		SessionStore store = memory();
		Future<ChatResponse> first = call(chat(store), "u1:1");
		awaitLooking(1);
		SessionHook never = TestHooks.beforeTurn("never", (messages) -> {
			throw new AssertionError("A hook of the steering call has run.");
		});
		Future<ChatResponse> second = this.threads.submit(() -> prompt(chat(store), "u2").system("be rude")
			.advisors(SessionAdvisor.hook(never).andThen(SessionAdvisor.limit(0)))
			.call()
			.chatResponse());
		awaitInLine(store, 2);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1+u2");
		assertThat(SessionAdvisor.isSteered(second.get(20, TimeUnit.SECONDS))).isTrue();
		assertThat(this.model.prompts().get(1).getInstructions()).extracting(Message::getText)
			.doesNotContain("be rude");
	}

	/** Some join the turn, the others are turns of their own, also joined by others. */
	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "POSTGRESQL", "REDIS" })
	void fiftyMessagesAtOnceAreEachInOneTurn(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		Future<ChatResponse> first = call(chat(store), "u0:1");
		awaitLooking(1);
		ChatClient chat = chat(store);
		List<Future<ChatResponse>> others = new ArrayList<>();
		for (int i = 1; i <= 50; i++) {
			others.add(call(chat, "u" + i));
		}
		awaitInLine(store, 51);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS)).split("\\+")).hasSizeBetween(2, 33);
		for (int i = 1; i <= 50; i++) {
			String answer = text(others.get(i - 1).get(60, TimeUnit.SECONDS));
			assertThat(answer.substring("a of ".length()).split("\\+")).contains("u" + i);
		}
		assertThat(log(store).stream().filter((line) -> line.startsWith("user: "))).hasSize(51).doesNotHaveDuplicates();
		assertNothingIsLeft(store);
	}

	@Test
	void aClientThatSteersAllTheTimeNeitherKeepsTheTurnFromEndingNorLosesAMessage() throws Exception {
		SessionStore store = memory();
		this.looks.release(1_000_000);
		ChatClient chat = chat(store);
		List<Future<ChatResponse>> all = new ArrayList<>();
		for (int i = 0; i < 200; i++) {
			all.add(call(chat, "u" + i + ((i % 7 == 0) ? ":2" : "")));
		}
		for (Future<ChatResponse> each : all) {
			each.get(60, TimeUnit.SECONDS);
		}
		assertThat(log(store).stream().filter((line) -> line.startsWith("user: "))).hasSize(200)
			.doesNotHaveDuplicates();
		assertNothingIsLeft(store);
	}

	@ParameterizedTest
	@EnumSource
	void aLargeMessageAndOneWithAnImageJoinAsTheyAre(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		String large = "ä😀\"\\".repeat(100_000);
		byte[] image = new byte[300_000];
		image[7] = 42;
		Future<ChatResponse> first = call(chat(store), "u1:1");
		awaitLooking(1);
		Future<ChatResponse> second = call(chat(store), large);
		awaitInLine(store, 2);
		UserMessage picture = UserMessage.builder()
			.text("u3")
			.media(Media.builder().mimeType(MimeTypeUtils.IMAGE_PNG).data(image).build())
			.build();
		Future<ChatResponse> third = this.threads.submit(() -> chat(store).prompt()
			.messages(picture)
			.advisors(SessionAdvisor.session(this.key))
			.call()
			.chatResponse());
		awaitInLine(store, 3);
		this.looks.release();
		first.get(20, TimeUnit.SECONDS);
		assertThat(SessionAdvisor.isSteered(second.get(20, TimeUnit.SECONDS))).isTrue();
		assertThat(SessionAdvisor.isSteered(third.get(20, TimeUnit.SECONDS))).isTrue();
		List<Message> stored = store.messages(this.key);
		assertThat(stored.get(3).getText()).isEqualTo(large);
		assertThat(((UserMessage) stored.get(4)).getMedia().get(0).getDataAsByteArray()).isEqualTo(image);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void messagesJoinInAllSetups(ClientSetup setup, boolean hooks, Durability durability) throws Exception {
		SessionStore store = memory();
		this.durability = durability;
		ChatClient chat = hooks ? chat(store, setup, TestHooks.afterModel("checks", (reply) -> HookResult.keep()),
				TestHooks.beforeModel("looks", (request) -> HookResult.keep())) : chat(store, setup);
		Future<ChatResponse> first = this.threads.submit(() -> setup.response(prompt(chat, "u1:3")));
		for (int i = 1; i <= 3; i++) {
			awaitLooking(i);
			String text = "s" + i;
			this.threads.submit(() -> setup.response(prompt(chat, text)));
			awaitInLine(store, 1 + i);
			this.looks.release();
		}
		assertThat(turn(first.get(20, TimeUnit.SECONDS)).status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(log(store)).containsExactly("user: u1:3", "calls", "tool", "user: s1", "calls", "tool", "user: s2",
				"calls", "tool", "user: s3", "assistant: a of u1:3+s1+s2+s3");
		awaitInLine(store, 0);
	}

	static Stream<Arguments> setups() {
		return ClientSetup.all()
			.stream()
			.flatMap((setup) -> Stream.of(true, false)
				.flatMap((hooks) -> Stream.of(Durability.values())
					.map((durability) -> Arguments.of(setup, hooks, durability))));
	}

	/**
	 * A part of the turn with the message is stored, so the message is not asked twice.
	 */
	@ParameterizedTest
	@EnumSource
	void aMessageOfATurnThatBrokeOffBetweenStepsContinuesIt(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		this.durability = Durability.STEP;
		AtomicInteger calls = new AtomicInteger();
		this.model.before((prompt) -> {
			if (calls.incrementAndGet() == 3) {
				throw new IllegalStateException("as asked");
			}
		});
		Future<ChatResponse> first = call(chat(store), "u1:2");
		awaitLooking(1);
		Future<ChatResponse> second = call(chat(store), "u2");
		awaitInLine(store, 2);
		this.looks.release(10);
		assertThatExceptionOfType(Exception.class).isThrownBy(first::get).withStackTraceContaining("as asked");
		assertThat(text(second.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:2+u2");
		assertThat(log(store)).containsExactly("user: u1:2", "calls", "tool", "user: u2", "calls", "tool",
				"assistant: a of u1:2+u2");
		assertNothingIsLeft(store);
	}

	/** Sent again, the message would be in the turn twice. */
	@Test
	void aCallWhoseMessageIsInATurnThatBrokeOffSaysSoIfItCannotContinueIt() throws Exception {
		ObservedStore store = new ObservedStore(memory());
		assertThat(failure(store, () -> store.beforePut((record) -> {
			if (record.kind().equals("lease") && record.expected() == 0) {
				throw StoreUnavailableException.unwritten("The store is full.", null);
			}
		}))).isInstanceOfSatisfying(StoreUnavailableException.class, (ex) -> {
			assertThat(ex).hasMessageContaining("Do not send it again").hasMessageEndingWith("The store is full.");
			assertThat(ex.isUnwritten()).isFalse();
			assertThat(ex.isMessageKept()).isTrue();
		});
		store.beforePut((record) -> {
		});
		assertThat(chat(store).prompt().advisors(SessionAdvisor.session(this.key)).call().content())
			.isEqualTo("a of u1:2+u2");
		assertThat(log(store)).containsOnlyOnce("user: u2");
	}

	@Test
	void aCallWhoseMessageIsInATurnThatBrokeOffSaysSoIfItHasOtherTools() throws Exception {
		assertThat(failure(memory(), () -> this.description = "looks away"))
			.isInstanceOfSatisfying(ResumeRefusedException.class, (ex) -> {
				assertThat(ex).hasMessageContainingAll("Do not send it again", "Tool 'look' has another description");
				assertThat(ex.isMessageKept()).isTrue();
			});
	}

	/** A call without one is told to add a message, which would be there twice then. */
	@Test
	void aCallWhoseMessageIsInATurnThatBrokeOffGetsItsReplyIfAnotherCallHasEndedItMeanwhile() throws Exception {
		ObservedStore store = new ObservedStore(memory());
		Future<ChatResponse> second = continuing(store, () -> beforeItsLease(store, () -> {
			Conversations conversations = Conversations.of(store);
			ChatClient.builder(this.model)
				.defaultAdvisors(
						SessionAdvisor.builder(conversations).approvals(approvals(conversations, Set.of())).build())
				.defaultTools(looking())
				.build()
				.prompt()
				.advisors(SessionAdvisor.session(this.key))
				.call()
				.content();
		}));
		assertThat(text(second.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:2+u2");
		assertThat(SessionAdvisor.isSteered(second.get())).isTrue();
		assertThat(log(store)).containsOnlyOnce("user: u2").endsWith("assistant: a of u1:2+u2");
		assertNothingIsLeft(store);
	}

	@Test
	void aCallWhoseMessageIsInATurnThatBrokeOffSaysSoIfTheTurnIsCancelledMeanwhile() throws Exception {
		ObservedStore store = new ObservedStore(memory());
		assertThat(failure(store,
				() -> beforeItsLease(store, () -> approvals(Conversations.of(store), Set.of()).cancel(this.key))))
			.isInstanceOf(SessionConflictException.class)
			.hasMessageContainingAll("The message has joined a turn", "ended without a reply");
	}

	/** Does something on another thread before the next lease of a turn is taken. */
	private static void beforeItsLease(ObservedStore store, Runnable work) {
		AtomicBoolean done = new AtomicBoolean();
		store.beforePut((record) -> {
			if (record.kind().equals("lease") && record.expected() == 0 && done.compareAndSet(false, true)) {
				CompletableFuture.runAsync(work).join();
			}
		});
	}

	/**
	 * Returns how a call fails that is to continue a turn with its message.
	 * @param fault makes it fail, and so will each call that comes
	 */
	private Throwable failure(SessionStore store, Runnable fault) throws Exception {
		Future<ChatResponse> second = continuing(store, fault);
		return catchThrowableOfType(ExecutionException.class, () -> second.get(20, TimeUnit.SECONDS)).getCause();
	}

	/** Returns a call that is to continue a turn with its message. */
	private Future<ChatResponse> continuing(SessionStore store, Runnable fault) throws Exception {
		this.durability = Durability.STEP;
		AtomicInteger calls = new AtomicInteger();
		this.model.before((prompt) -> {
			if (calls.incrementAndGet() == 3) {
				throw new IllegalStateException("as asked");
			}
		});
		Future<ChatResponse> first = call(chat(store), "u1:2");
		awaitLooking(1);
		fault.run();
		Future<ChatResponse> second = call(chat(store), "u2");
		awaitInLine(store, 2);
		this.looks.release(10);
		assertThatExceptionOfType(Exception.class).isThrownBy(first::get).withStackTraceContaining("as asked");
		return second;
	}

	/**
	 * The part that the message is stored with answers its request, in whose line its
	 * call still stands.
	 */
	@ParameterizedTest
	@EnumSource
	void aRequestThatHasJoinedATurnThatBrokeOffContinuesIt(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		this.durability = Durability.STEP;
		AtomicInteger calls = new AtomicInteger();
		this.model.before((prompt) -> {
			if (calls.incrementAndGet() == 3) {
				throw new IllegalStateException("as asked");
			}
		});
		Consumer<ChatClient.AdvisorSpec> named = SessionAdvisor.idempotencyKey("r2");
		Future<ChatResponse> first = call(chat(store), "u1:2");
		awaitLooking(1);
		this.lease = Duration.ofSeconds(3);
		Future<ChatResponse> second = this.threads
			.submit(() -> prompt(chat(store), "u2").advisors(named).call().chatResponse());
		awaitInLine(store, 2);
		this.looks.release();
		awaitLooking(2);
		// the call looks at the line of its request meanwhile
		TimeUnit.MILLISECONDS.sleep(1_500);
		this.looks.release(10);
		assertThatExceptionOfType(Exception.class).isThrownBy(first::get).withStackTraceContaining("as asked");
		assertThat(text(second.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:2+u2");
		ChatResponse again = prompt(chat(store), "u2").advisors(named).call().chatResponse();
		assertThat(SessionAdvisor.isRepeated(again)).isTrue();
		assertThat(turn(again)).isEqualTo(turn(second.get()));
		assertThat(log(store)).containsExactly("user: u1:2", "calls", "tool", "user: u2", "calls", "tool",
				"assistant: a of u1:2+u2");
		assertThat(store.records(this.key, "request")).hasSize(1).allMatch((record) -> record.expiresAt() != null);
		assertNothingIsLeft(store);
	}

	/** The lease of the turn was renewed later than the place of its call in line. */
	@ParameterizedTest
	@EnumSource
	void aMessageWaitsForTheLeaseOfTheKilledProcessWhoseTurnItHasJoined(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		CountDownLatch over = new CountDownLatch(1);
		Future<ChatResponse> first = callThatIsKilled(store, 3, over);
		Future<ChatResponse> second = call(chat(store), "u2");
		awaitInLine(store, 2);
		this.looks.release(10);
		awaitPrompts(3);
		this.opened.get(0).close();
		assertThat(text(second.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:2+u2");
		assertThat(log(store).stream().filter("user: u2"::equals)).hasSize(1);
		over.countDown();
		assertThatExceptionOfType(Exception.class).isThrownBy(first::get);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void aRepeatedRequestWaitsForTheLeaseOfTheKilledProcess(ClientSetup.Mode mode) throws Exception {
		SessionStore store = memory();
		CountDownLatch over = new CountDownLatch(1);
		Future<ChatResponse> first = callThatIsKilled(store, 2, over);
		ChatClient.ChatClientRequestSpec again = prompt(chat(store), "u1:2")
			.advisors(SessionAdvisor.idempotencyKey("r1"));
		Future<String> second = this.threads.submit(() -> (mode == ClientSetup.Mode.STREAM)
				? String.join("", again.stream().content().collectList().block()) : again.call().content());
		await(() -> inLine(store, "request") == 2);
		this.looks.release(10);
		awaitPrompts(2);
		this.opened.get(0).close();
		assertThat(second.get(20, TimeUnit.SECONDS)).isEqualTo("a of u1:2");
		over.countDown();
		assertThatExceptionOfType(Exception.class).isThrownBy(first::get);
	}

	private Future<ChatResponse> callThatIsKilled(SessionStore store, int last, CountDownLatch over) {
		this.durability = Durability.STEP;
		this.lease = Duration.ofSeconds(3);
		AtomicInteger calls = new AtomicInteger();
		this.model.before((prompt) -> {
			int call = calls.incrementAndGet();
			if (call == 1) {
				pause(1_600);
			}
			else if (call == last) {
				await(over);
			}
		});
		ChatClient chat = chat(store);
		this.lease = LONG;
		Future<ChatResponse> first = this.threads
			.submit(() -> prompt(chat, "u1:2").advisors(SessionAdvisor.idempotencyKey("r1")).call().chatResponse());
		awaitInLine(store, 1);
		return first;
	}

	private static void pause(long millis) {
		try {
			TimeUnit.MILLISECONDS.sleep(millis);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void aRequestThatHasJoinedATurnIsForgottenInTimeAlthoughTheTurnWasRefused() throws Exception {
		SessionStore store = memory();
		this.durability = Durability.STEP;
		this.remembered = Duration.ofSeconds(1);
		AtomicInteger rounds = new AtomicInteger();
		ChatClient chat = chat(store, ClientSetup.plain(), TestHooks.beforeModel("two rounds",
				(request) -> (rounds.incrementAndGet() == 3) ? HookResult.refuse("as asked") : HookResult.keep()));
		Future<ChatResponse> first = call(chat, "u1:2");
		awaitLooking(1);
		Future<ChatResponse> second = this.threads
			.submit(() -> prompt(chat, "u2").advisors(SessionAdvisor.idempotencyKey("r2")).call().chatResponse());
		awaitInLine(store, 2);
		this.looks.release();
		awaitLooking(2);
		assertThat(store.records(this.key, "request")).hasSize(1);
		this.looks.release();
		assertThatExceptionOfType(Exception.class).isThrownBy(first::get).withStackTraceContaining("as asked");
		assertThatExceptionOfType(Exception.class).isThrownBy(second::get)
			.withStackTraceContaining("ended without a reply");
		Awaitility.await().untilAsserted(() -> assertThat(store.records(this.key, "request")).isEmpty());
	}

	/** If the other one asked again, its message would be in the history twice. */
	@Test
	void ofTwoMessagesOfATurnThatBrokeOffOneContinuesItAndTheOtherIsToldWhereItIs() throws Exception {
		SessionStore store = memory();
		this.durability = Durability.STEP;
		AtomicInteger calls = new AtomicInteger();
		CountDownLatch told = new CountDownLatch(1);
		this.model.before((prompt) -> {
			if (calls.incrementAndGet() == 3) {
				throw new IllegalStateException("as asked");
			}
			if (calls.get() == 4) {
				await(told);
			}
		});
		Future<ChatResponse> first = call(chat(store), "u1:2");
		awaitLooking(1);
		Future<ChatResponse> second = call(chat(store), "u2");
		awaitInLine(store, 2);
		Future<ChatResponse> third = call(chat(store), "u3");
		awaitInLine(store, 3);
		this.looks.release(10);
		assertThatExceptionOfType(Exception.class).isThrownBy(first::get).withStackTraceContaining("as asked");
		Awaitility.await().until(() -> second.isDone() || third.isDone());
		Future<ChatResponse> other = second.isDone() ? second : third;
		assertThatExceptionOfType(Exception.class).isThrownBy(other::get)
			.withStackTraceContaining("stays in that turn")
			.matches((ex) -> ((SessionException) ex.getCause()).isMessageKept());
		told.countDown();
		Future<ChatResponse> one = (other == second) ? third : second;
		assertThat(text(one.get(20, TimeUnit.SECONDS))).contains("u2", "u3");
		assertThat(log(store)).containsOnlyOnce("user: u2").containsOnlyOnce("user: u3");
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** A retry between the session and the tool loop starts the loop again. */
	@Test
	void aLoopThatIsStartedAgainKeepsTheMessagesThatHaveJoined() throws Exception {
		SessionStore store = memory();
		AtomicInteger calls = new AtomicInteger();
		this.model.before((prompt) -> {
			if (calls.incrementAndGet() == 2) {
				throw new IllegalStateException("as asked");
			}
		});
		Future<ChatResponse> first = this.threads
			.submit(() -> prompt(chat(store), "u1:1").advisors(new RetryOnce()).call().chatResponse());
		awaitLooking(1);
		Future<ChatResponse> second = call(chat(store), "u2");
		awaitInLine(store, 2);
		this.looks.release(10);
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1+u2");
		assertThat(SessionAdvisor.isSteered(second.get(20, TimeUnit.SECONDS))).isTrue();
		assertThat(log(store)).containsExactly("user: u1:1", "calls", "tool", "user: u2", "assistant: a of u1:1+u2");
		assertNothingIsLeft(store);
	}

	private static final class RetryOnce implements CallAdvisor {

		@Override
		public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
			CallAdvisorChain again = chain.copy(this);
			try {
				return chain.nextCall(request);
			}
			catch (IllegalStateException ex) {
				return again.nextCall(request);
			}
		}

		@Override
		public String getName() {
			return "retry once";
		}

		@Override
		public int getOrder() {
			return SessionParameters.TURN_ORDER + 1;
		}

	}

	@Test
	void aStoreThatFailsWhileATurnLooksDoesNotCostTheTurn() throws Exception {
		ObservedStore store = new ObservedStore(memory());
		AtomicInteger failures = new AtomicInteger();
		Future<ChatResponse> first = call(chat(store), "u1:1");
		awaitLooking(1);
		Future<ChatResponse> second = call(chat(store), "u2");
		awaitInLine(store, 2);
		store.beforePut((record) -> {
			if (record.payload() != null && record.payload().contains("taken")) {
				failures.incrementAndGet();
				throw new StoreUnavailableException("The store is down.", null);
			}
		});
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1");
		assertThat(text(second.get(20, TimeUnit.SECONDS))).isEqualTo("a of u2");
		assertThat(failures.get()).isPositive();
		assertNothingIsLeft(store);
	}

	@Test
	void aMessageThatWasTakenWithoutAnAnswerOfTheStoreJoinsBeforeTheNextModelCall() throws Exception {
		ObservedStore store = new ObservedStore(memory());
		AtomicInteger lost = new AtomicInteger();
		Future<ChatResponse> first = call(chat(store), "u1:2");
		awaitLooking(1);
		Future<ChatResponse> second = call(chat(store), "u2");
		awaitInLine(store, 2);
		store.afterPut((record) -> {
			if (record.payload() != null && record.payload().contains("taken") && lost.incrementAndGet() == 1) {
				throw new StoreUnavailableException("The store's answer was lost.", null);
			}
		});
		this.looks.release();
		awaitLooking(2);
		assertThat(lost.get()).isPositive();
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:2+u2");
		assertThat(SessionAdvisor.isSteered(second.get(20, TimeUnit.SECONDS))).isTrue();
		assertThat(log(store)).containsExactly("user: u1:2", "calls", "tool", "calls", "tool", "user: u2",
				"assistant: a of u1:2+u2");
		assertNothingIsLeft(store);
	}

	/** Another call that waits has found out. */
	@ParameterizedTest
	@EnumSource
	void aMessageOfACallThatIsGoneDoesNotJoin(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		ObservedStore dying = new ObservedStore(store);
		Future<ChatResponse> first = call(chat(store), "u1:1");
		awaitLooking(1);
		this.lease = Duration.ofSeconds(1);
		Future<ChatResponse> second = call(chat(dying), "u2");
		this.lease = LONG;
		awaitInLine(store, 2);
		dying.beforePut((record) -> {
			throw new StoreUnavailableException("Its process is gone.", null);
		});
		Future<ChatResponse> third = call(chat(store), "u3");
		awaitInLine(store, 3);
		assertThatExceptionOfType(Exception.class).isThrownBy(second::get)
			.withCauseInstanceOf(StoreUnavailableException.class);
		awaitInLine(store, 2);
		this.looks.release();
		assertThat(text(first.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1+u3");
		assertThat(text(third.get(20, TimeUnit.SECONDS))).isEqualTo("a of u1:1+u3");
		assertThat(inLine(store)).isZero();
	}

	private static SessionStore memory() {
		return new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
	}

	private ChatClient chat(SessionStore store) {
		return chat(store, ClientSetup.plain());
	}

	private ChatClient chat(SessionStore store, ClientSetup setup, SessionHook... hooks) {
		return chat(store, setup, Set.of(), hooks);
	}

	private ChatClient chat(SessionStore store, Set<String> asking) {
		return chat(store, ClientSetup.plain(), asking);
	}

	private ChatClient chat(SessionStore store, ClientSetup setup, Set<String> asking, SessionHook... hooks) {
		Conversations conversations = Conversations.builder(store)
			.lease(this.lease)
			.durability(this.durability)
			.hooks(List.of(hooks))
			.build();
		this.opened.add(conversations);
		SessionAdvisor advisor = SessionAdvisor.builder(conversations)
			.approvals(approvals(conversations, asking))
			.concurrency(Concurrency.STEER)
			.concurrencyTimeout(this.timeout)
			.idempotencyTimeToLive(this.remembered)
			.build();
		return setup.builder(this.model, advisor).defaultTools(looking()).build();
	}

	private static Approvals approvals(Conversations conversations, Set<String> asking) {
		return Approvals.builder(conversations).tools(asking).build();
	}

	private ToolCallback looking() {
		return FunctionToolCallback.builder("look", (Object nothing) -> looked())
			.description(this.description)
			.inputType(Object.class)
			.toolMetadata(ToolMetadata.builder().returnDirect(this.returnDirect).build())
			.build();
	}

	private String looked() {
		this.looking.incrementAndGet();
		this.looks.acquireUninterruptibly();
		try {
			return this.look.call();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private ChatClient.ChatClientRequestSpec prompt(ChatClient chat, String question) {
		return chat.prompt()
			.user((user) -> user.text("{q}").param("q", question))
			.advisors(SessionAdvisor.session(this.key));
	}

	private Future<ChatResponse> call(ChatClient chat, String question) {
		return this.threads.submit(() -> prompt(chat, question).call().chatResponse());
	}

	private Future<List<ChatResponse>> stream(ChatClient chat, String question) {
		return this.threads.submit(() -> prompt(chat, question).stream().chatResponse().collectList().block());
	}

	private static String text(ChatResponse response) {
		return response.getResult().getOutput().getText();
	}

	private static Turn turn(ChatResponse response) {
		return SessionAdvisor.turn(response).orElseThrow().turn();
	}

	private List<String> log(SessionStore store) {
		return store.messages(this.key).stream().map(SteeringTests::line).toList();
	}

	private static String line(Message message) {
		if (message instanceof AssistantMessage reply && reply.hasToolCalls()) {
			return "calls";
		}
		return switch (message.getMessageType()) {
			case TOOL -> "tool";
			case USER -> "user: " + message.getText();
			default -> "assistant: " + message.getText();
		};
	}

	private int inLine(SessionStore store) {
		return inLine(store, "line");
	}

	private int inLine(SessionStore store, String kind) {
		return store.records(this.key, kind).stream().mapToInt((record) -> {
			Matcher matcher = TICKET.matcher(record.payload());
			int tickets = 0;
			while (matcher.find()) {
				tickets++;
			}
			return tickets;
		}).sum();
	}

	private void assertNothingIsLeft(SessionStore store) {
		assertThat(inLine(store)).isZero();
		await(() -> store.records(this.key, "offer").isEmpty());
	}

	private void awaitInLine(SessionStore store, int calls) {
		await(() -> inLine(store) == calls);
	}

	private void awaitLooking(int calls) {
		await(() -> this.looking.get() >= calls);
	}

	private void awaitPrompts(int calls) {
		await(() -> this.model.prompts().size() >= calls);
	}

	private static void await(BooleanSupplier condition) {
		for (int i = 0; i < 2_000 && !condition.getAsBoolean(); i++) {
			try {
				TimeUnit.MILLISECONDS.sleep(5);
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}
		assertThat(condition.getAsBoolean()).isTrue();
	}

}
