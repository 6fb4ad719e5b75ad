package io.sessionkit.advisor;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Stream;

import io.micrometer.observation.Observation;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.sessionkit.Durability;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.Verdict.Kind;
import io.sessionkit.Verdict.Phase;
import io.sessionkit.approval.ApprovalFixture;
import io.sessionkit.approval.OnNewMessage;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.hook.SessionEvent;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.turn.RunningTurn;
import io.sessionkit.internal.turn.Turns;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Guards on the input that are asked while the model is called.
 */
class BesideModelTests extends ApprovalFixture {

	private static final String SECRET = "the secret question";

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	/** The guard is asked. */
	private final CountDownLatch asked = new CountDownLatch(1);

	/** The model is called. */
	private final CountDownLatch called = new CountDownLatch(1);

	/** The model call was cancelled. */
	private final CountDownLatch cancelled = new CountDownLatch(1);

	/** Lets go whatever a test has left waiting. */
	private final CountDownLatch over = new CountDownLatch(1);

	private final List<String> heard = new CopyOnWriteArrayList<>();

	@Override
	protected SessionStore store() {
		return this.store;
	}

	@AfterEach
	void letGo() {
		this.over.countDown();
	}

	static List<ClientSetup> setups() {
		return ClientSetup.all();
	}

	static Stream<Arguments> setupsAndDurabilities() {
		return setups().stream()
			.filter((setup) -> !setup.system())
			.flatMap((setup) -> Stream.of(Durability.values()).map((durability) -> Arguments.of(setup, durability)));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void guardAndModelWorkAtTheSameTime(ClientSetup setup) {
		guards(beside((input) -> {
			this.asked.countDown();
			await(this.called);
			return HookResult.keep("score 0.1");
		}));
		this.model.step((prompt) -> {
			this.called.countDown();
			await(this.asked);
			return Flux.just(this.model.chunk("fine", List.of(), true));
		});
		assertThat(content(setup, "q")).isEqualTo("fine");
		assertThat(log()).containsExactly("user: q", "assistant: fine");
		assertThat(turn().verdicts())
			.containsExactly(new Verdict("moderation", Phase.BEFORE_TURN, Kind.PASSED, "score 0.1"));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void refusalCancelsTheModelAndLeavesNothing(ClientSetup setup) {
		guards(refusing(this.called));
		this.model.step((prompt) -> endless());
		List<String> delivered = new ArrayList<>();
		SessionRefusedException refused = refused(setup, SECRET, delivered);
		assertThat(refused.phase()).isEqualTo(Phase.BEFORE_TURN);
		assertThat(refused.reason()).isEqualTo("not here");
		await(this.cancelled);
		assertNothingIsLeft(delivered);
		guards();
		this.model.says("fine");
		assertThat(content(setup, "next")).isEqualTo("fine");
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: next"));
	}

	@Test
	void refusalDoesNotWaitForAModelThatCannotBeInterrupted() {
		guards(refusing(this.called));
		AtomicReference<Boolean> ended = new AtomicReference<>(false);
		this.model.step((prompt) -> {
			this.called.countDown();
			awaitUninterrupted(this.over);
			ended.set(true);
			return Flux.empty();
		});
		refused(ClientSetup.plain(), SECRET, new ArrayList<>());
		assertThat(ended.get()).isFalse();
		assertThat(turn().status()).isEqualTo(TurnStatus.REFUSED);
	}

	/** A provider's client closes its connection when the read at work on it ends. */
	@Test
	@Timeout(20)
	void refusalDoesNotWaitUntilAStreamIsCancelled() {
		guards(refusing(this.called));
		this.model.step((prompt) -> endless().doOnCancel(() -> awaitUninterrupted(this.over))
			.subscribeOn(Schedulers.boundedElastic()));
		refused(ClientSetup.streaming(), SECRET, new ArrayList<>());
		assertThat(this.over.getCount()).isOne();
		assertThat(turn().status()).isEqualTo(TurnStatus.REFUSED);
	}

	@ParameterizedTest
	@MethodSource("setupsAndDurabilities")
	void toolsRunWhenTheGuardHasPassedAndNotBefore(ClientSetup setup, Durability durability) {
		List<String> order = new CopyOnWriteArrayList<>();
		CountDownLatch replied = new CountDownLatch(1);
		guards(durability, beside((input) -> {
			await(replied);
			order.add("passed " + this.runs.size());
			return HookResult.keep();
		}), TestHooks.afterModel("after", (reply) -> {
			order.add("afterModel");
			return HookResult.keep();
		}));
		this.model
			.step((prompt) -> Flux.just(this.model.chunk("", List.of(look("c1", 1)), true))
				.doOnComplete(replied::countDown))
			.says("fine");
		assertThat(content(setup, "q")).isEqualTo("fine");
		assertThat(order).containsExactly("passed 0", "afterModel", "afterModel");
		assertThat(this.runs).hasSize(1);
		assertThat(log()).hasSize(4);
	}

	@ParameterizedTest
	@MethodSource("setupsAndDurabilities")
	void noToolRunsAndNoCallWaitsWhereTheGuardRefusesAfterTheReply(ClientSetup setup, Durability durability) {
		CountDownLatch replied = new CountDownLatch(1);
		guards(durability, refusing(replied));
		this.model.step((prompt) -> Flux.just(this.model.chunk("", List.of(look("c1", 1), cancel("c2", 2)), true))
			.doOnComplete(replied::countDown));
		List<String> delivered = new ArrayList<>();
		refused(setup, SECRET, delivered);
		assertNothingIsLeft(delivered);
		assertThat(pending()).isEmpty();
	}

	@Test
	void costOfAModelThatWasDoneIsKeptWithTheRefusedTurn() {
		CountDownLatch replied = new CountDownLatch(1);
		ChatClientResponse reply = ChatClientResponse.builder()
			.chatResponse(this.model.chunk("fine", List.of(), true))
			.context(Map.of())
			.build();
		guards(refusing(replied));
		RunningTurn called = open();
		Throwable thrown = catchThrowable(() -> BesideModel.call(called, () -> {
			replied.countDown();
			return reply;
		}, new OnThisThread()));
		called.fail(thrown);
		assertThat(turn().usage().output()).isEqualTo(5);
		CountDownLatch ended = new CountDownLatch(1);
		guards(refusing(ended));
		RunningTurn streamed = open();
		thrown = catchThrowable(
				() -> BesideModel.stream(streamed, Flux.just(reply).doOnComplete(ended::countDown)).blockLast());
		streamed.fail(thrown);
		assertThat(turn().usage().output()).isEqualTo(5);
		assertThat(turn().rounds()).hasSize(1);
		assertNothingIsLeft(List.of());
	}

	@Test
	void noChunkIsDeliveredBeforeTheGuardHasPassedAndEachIsAfterwards() {
		CountDownLatch decided = new CountDownLatch(1);
		guards(beside((input) -> {
			this.asked.countDown();
			await(decided);
			return HookResult.keep();
		}));
		Sinks.Many<ChatResponse> chunks = Sinks.many().unicast().onBackpressureBuffer();
		this.model.step((prompt) -> chunks.asFlux());
		List<String> delivered = new CopyOnWriteArrayList<>();
		Disposable running = spec(ClientSetup.streaming(), "q").stream().content().subscribe(delivered::add);
		await(this.asked);
		chunks.tryEmitNext(this.model.chunk("one ", List.of(), false));
		chunks.tryEmitNext(this.model.chunk("two ", List.of(), false));
		assertThat(delivered).isEmpty();
		decided.countDown();
		Awaitility.await().until(() -> delivered.size() == 2);
		chunks.tryEmitNext(this.model.chunk("three", List.of(), true));
		Awaitility.await().until(() -> delivered.contains("three"));
		assertThat(running.isDisposed()).as("live").isFalse();
		chunks.tryEmitComplete();
		Awaitility.await().until(running::isDisposed);
		assertThat(log()).containsExactly("user: q", "assistant: one two three");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void whatTheGuardThrowsReachesTheCallerAsItIs(ClientSetup setup) {
		IllegalArgumentException down = new IllegalArgumentException("down");
		guards(beside((input) -> {
			await(this.called);
			throw down;
		}));
		this.model.step((prompt) -> endless());
		assertThat(catchThrowable(() -> content(setup, SECRET))).isSameAs(down);
		await(this.cancelled);
		assertThat(turn().status()).isEqualTo(TurnStatus.FAILED);
		assertThat(items()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void modelThatFailsWaitsForTheGuardToo(ClientSetup setup) {
		for (boolean passes : List.of(true, false)) {
			CountDownLatch failing = new CountDownLatch(1);
			guards(beside((input) -> {
				await(failing);
				return passes ? HookResult.keep() : HookResult.refuse("not here");
			}));
			this.model.step((prompt) -> {
				failing.countDown();
				return Flux.error(new IllegalStateException("the model is down"));
			});
			Throwable thrown = catchThrowable(() -> content(setup, SECRET));
			assertThat(turn().status()).isEqualTo(passes ? TurnStatus.FAILED : TurnStatus.REFUSED);
			assertThat(items()).isEqualTo(passes ? List.of("user: " + SECRET) : List.of());
			assertThat(thrown).isInstanceOf(passes ? IllegalStateException.class : SessionRefusedException.class);
		}
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void guardBesideTheModelCanNeitherReplaceNorAnswer(ClientSetup.Mode mode) {
		for (HookResult<List<Message>> result : List.of(HookResult.replace(List.<Message>of(new UserMessage("other"))),
				HookResult.answer("at nine"))) {
			guards(beside((input) -> {
				await(this.called);
				return result;
			}));
			this.model.step((prompt) -> endless());
			assertThatIllegalStateException().isThrownBy(() -> content(setup(mode), "q"))
				.withMessageContaining("moderation")
				.withMessageContaining("runsBesideModel()");
			assertThat(turn().status()).isEqualTo(TurnStatus.FAILED);
		}
		assertThat(log()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void guardGetsTheInputAsTheOthersHaveLeftItWhereverTheyStand(ClientSetup setup) {
		List<String> checked = new CopyOnWriteArrayList<>();
		guards(beside((input) -> {
			checked.addAll(Lines.of(input));
			return HookResult.keep();
		}), TestHooks.beforeTurn("redacting", (input) -> HookResult.replace(List.of(new UserMessage("redacted")))));
		this.model.says("fine");
		content(setup, SECRET);
		assertThat(checked).containsExactly("user: redacted");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void answerOfAHookWaitsForTheGuard(ClientSetup setup) {
		List<SessionHook> answering = List.of(TestHooks.beforeTurn("faq", (input) -> HookResult.answer("at nine")),
				TestHooks.beforeModel("faq", (request) -> HookResult.answer("at nine")));
		for (SessionHook faq : answering) {
			guards(beside((input) -> HookResult.refuse("not here")), faq);
			List<String> delivered = new ArrayList<>();
			refused(setup, SECRET, delivered);
			assertNothingIsLeft(delivered);
			guards(beside((input) -> HookResult.keep()), faq);
			assertThat(content(setup, "when?")).isEqualTo("at nine");
			this.heard.clear();
		}
		assertThat(this.model.prompts()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void answerOfACacheWaitsForTheGuardOutsideAndInsideOfTheToolLoop(ClientSetup setup) {
		for (int order : new int[] { SessionParameters.TURN_ORDER + 1, SessionParameters.ROUND_ORDER + 1 }) {
			guards(beside((input) -> HookResult.refuse("not here")));
			List<String> delivered = new ArrayList<>();
			assertThatExceptionOfType(SessionRefusedException.class)
				.isThrownBy(() -> deliver(setup, spec(setup, SECRET).advisors(new Cache(order)), delivered));
			assertNothingIsLeft(delivered);
			guards(beside((input) -> HookResult.keep()));
			assertThat(setup.content(spec(setup, "q").advisors(new Cache(order)))).isEqualTo("cached");
			this.heard.clear();
		}
		assertThat(this.model.prompts()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void refusalThatAnAdvisorCatchesIsARefusalAllTheSame(ClientSetup.Mode mode) {
		int calls = 0;
		for (int order : new int[] { SessionParameters.TURN_ORDER + 1, SessionParameters.ROUND_ORDER + 1 }) {
			CountDownLatch called = new CountDownLatch(1);
			guards(refusing(called));
			this.model.step((prompt) -> {
				called.countDown();
				return endless();
			});
			List<String> delivered = new ArrayList<>();
			assertThatExceptionOfType(SessionRefusedException.class).isThrownBy(
					() -> deliver(setup(mode), spec(setup(mode), SECRET).advisors(new Stubborn(order)), delivered));
			assertNothingIsLeft(delivered);
			assertThat(this.model.prompts()).as("not called again").hasSize(++calls);
		}
	}

	@ParameterizedTest
	@MethodSource("setupsAndDurabilities")
	void turnThatWaitsGoesOnWithoutTheGuardBeingAskedAgain(ClientSetup setup, Durability durability) {
		AtomicInteger times = new AtomicInteger();
		guards(durability, beside((input) -> {
			times.incrementAndGet();
			return HookResult.keep();
		}));
		this.model.calls(look("c1", 1)).calls(cancel("c2", 2)).says("fine");
		assertThat(isPaused(ask(setup, "q"))).isTrue();
		approve(waiting());
		assertThat(status(goOn(setup))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(times).hasValue(1);
		assertThat(log()).hasSize(6);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void queuedMessageIsCheckedBeforeAnyToolRuns(ClientSetup.Mode mode) {
		guards(beside((input) -> Lines.of(input).toString().contains("secret") ? HookResult.refuse("not here")
				: HookResult.keep()));
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c2", 2));
		ask(mode, "q");
		assertThatExceptionOfType(SessionRefusedException.class).isThrownBy(() -> ask(mode, SECRET));
		assertThat(this.runs).isEmpty();
	}

	@Test
	void streamThatIsCancelledWhileTheGuardThinksKeepsNothing() {
		guards(beside((input) -> {
			this.asked.countDown();
			awaitUninterrupted(this.over);
			return HookResult.keep();
		}));
		this.model.says("an answer");
		Disposable running = spec(ClientSetup.streaming(), SECRET).stream().content().subscribe();
		await(this.asked);
		running.dispose();
		Awaitility.await().until(() -> !this.store.turns(this.key, Tail.ALL).isEmpty());
		assertThat(turn().status()).isEqualTo(TurnStatus.CANCELLED);
		assertThat(items()).isEmpty();
	}

	@Test
	void guardOfACallRunsOnTheThreadOfTheCallerAndTheModelHasItsContext() {
		TestObservationRegistry registry = TestObservationRegistry.create();
		AtomicReference<Thread> guard = new AtomicReference<>();
		AtomicReference<Thread> caller = new AtomicReference<>();
		AtomicReference<Observation> observation = new AtomicReference<>();
		guards(beside((input) -> {
			guard.set(Thread.currentThread());
			return HookResult.keep("session " + new SessionContext().key().id());
		}));
		this.model.step((prompt) -> {
			caller.set(Thread.currentThread());
			observation.set(registry.getCurrentObservation());
			new SessionContext().putAttribute("seen", true);
			return Flux.just(this.model.chunk("fine", List.of(), true));
		});
		ClientSetup.observed(this.model, SessionAdvisor.of(conversations()), registry, (builder) -> {
		}).prompt().user("q").advisors(SessionAdvisor.session(this.key)).call().content();
		assertThat(guard.get()).isSameAs(Thread.currentThread());
		assertThat(caller.get().getName()).startsWith("sessionkit-model");
		assertThat(observation.get()).isNotNull();
		assertThat(thread().attributes()).isEqualTo(Map.of("seen", true));
		assertThat(turn().verdicts()).extracting(Verdict::reason).containsExactly("session " + this.key.id());
	}

	@Test
	void callerThatIsInterruptedWhileItWaitsForTheModelCancelsIt() throws InterruptedException {
		guards(beside((input) -> HookResult.keep()));
		this.model.step((prompt) -> endless());
		AtomicReference<Throwable> thrown = new AtomicReference<>();
		AtomicReference<Boolean> interrupted = new AtomicReference<>();
		Thread caller = new Thread(() -> {
			thrown.set(catchThrowable(() -> content(ClientSetup.plain(), "q")));
			interrupted.set(Thread.currentThread().isInterrupted());
		});
		caller.start();
		await(this.called);
		caller.interrupt();
		caller.join();
		assertThat(thrown.get()).isInstanceOf(IllegalStateException.class).hasMessageContaining("interrupted");
		assertThat(interrupted.get()).isTrue();
		await(this.cancelled);
		assertThat(turn().status()).isEqualTo(TurnStatus.FAILED);
	}

	@Test
	void guardIsAskedFirstWhereNoThreadIsFree() {
		guards(beside((input) -> HookResult.refuse("not here")));
		RunningTurn turn = open();
		ExecutorService full = Executors.newSingleThreadExecutor();
		full.shutdown();
		assertThatExceptionOfType(SessionRefusedException.class).isThrownBy(() -> BesideModel.call(turn, () -> {
			throw new AssertionError("the model is not called");
		}, full));
	}

	private RunningTurn open() {
		Turns turns = InnerParts.of(conversations(), Turns.class);
		return turns.begin(turns.open(TurnRequest.of(this.key, List.of(new UserMessage(SECRET))), null));
	}

	private void guards(SessionHook... hooks) {
		guards(Durability.TURN, hooks);
	}

	private void guards(Durability durability, SessionHook... hooks) {
		threads((threads) -> threads.durability(durability).hooks(hooks).listeners(new SessionListener() {

			@Override
			public void textComplete(SessionEvent.TextComplete event) {
				BesideModelTests.this.heard.add(event.text());
			}

		}));
	}

	private static SessionHook beside(Function<List<Message>, HookResult<List<Message>>> guard) {
		return new SessionHook() {

			@Override
			public String name() {
				return "moderation";
			}

			@Override
			public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
				return guard.apply(input);
			}

			@Override
			public boolean runsBesideModel() {
				return true;
			}

		};
	}

	private static SessionHook refusing(CountDownLatch after) {
		return beside((input) -> {
			await(after);
			return HookResult.refuse("not here");
		});
	}

	/**
	 * A model call that ends only if it is cancelled.
	 */
	private Flux<ChatResponse> endless() {
		return Flux.<ChatResponse>never()
			.doOnSubscribe((subscription) -> this.called.countDown())
			.doOnCancel(this.cancelled::countDown);
	}

	private ChatClient.ChatClientRequestSpec spec(ClientSetup setup, String text) {
		return client(setup).build().prompt().user(text).advisors(SessionAdvisor.session(this.key));
	}

	private String content(ClientSetup setup, String text) {
		return setup.content(spec(setup, text));
	}

	private SessionRefusedException refused(ClientSetup setup, String text, List<String> delivered) {
		Throwable thrown = catchThrowable(() -> deliver(setup, spec(setup, text), delivered));
		assertThat(thrown).isInstanceOf(SessionRefusedException.class);
		return (SessionRefusedException) thrown;
	}

	private static void deliver(ClientSetup setup, ChatClient.ChatClientRequestSpec spec, List<String> delivered) {
		if (setup.mode() == ClientSetup.Mode.CALL) {
			delivered.add(spec.call().content());
		}
		else {
			spec.stream().content().doOnNext(delivered::add).blockLast();
		}
	}

	private void assertNothingIsLeft(List<String> delivered) {
		assertThat(delivered).isEmpty();
		assertThat(this.heard).isEmpty();
		assertThat(this.runs).isEmpty();
		assertThat(turn().status()).isEqualTo(TurnStatus.REFUSED);
		assertThat(turn().verdicts()).extracting(Verdict::kind).contains(Kind.REFUSED);
		assertThat(items()).isEmpty();
		assertThat(turn().toString()).doesNotContain("secret");
		assertThat(this.store.find(this.key).orElseThrow().openTurn()).isZero();
	}

	private Turn turn() {
		List<Turn> turns = this.store.turns(this.key, Tail.ALL);
		return turns.get(turns.size() - 1);
	}

	private List<String> items() {
		return Lines.of(this.store.items(this.key, turn().number()).stream().map((item) -> item.message()).toList());
	}

	private static void await(CountDownLatch latch) {
		try {
			if (!latch.await(20, TimeUnit.SECONDS)) {
				throw new AssertionError("It did not happen in time.");
			}
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException("interrupted", ex);
		}
	}

	private static void awaitUninterrupted(CountDownLatch latch) {
		while (latch.getCount() > 0) {
			try {
				latch.await();
			}
			catch (InterruptedException ex) {
				// a client of a model that does not care
			}
		}
	}

	/**
	 * Runs what it is given at once.
	 */
	private static final class OnThisThread extends AbstractExecutorService {

		@Override
		public void execute(Runnable work) {
			work.run();
		}

		@Override
		public void shutdown() {
		}

		@Override
		public List<Runnable> shutdownNow() {
			return List.of();
		}

		@Override
		public boolean isShutdown() {
			return false;
		}

		@Override
		public boolean isTerminated() {
			return false;
		}

		@Override
		public boolean awaitTermination(long timeout, TimeUnit unit) {
			return true;
		}

	}

	/**
	 * Answers without the model.
	 */
	private record Cache(int getOrder) implements CallAdvisor, StreamAdvisor {

		@Override
		public String getName() {
			return "cache";
		}

		@Override
		public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
			return cached(request);
		}

		@Override
		public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
			return Flux.just(cached(request));
		}

		private static ChatClientResponse cached(ChatClientRequest request) {
			return ChatClientResponse.builder()
				.chatResponse(new ChatResponse(List.of(new Generation(new AssistantMessage("cached")))))
				.context(request.context())
				.build();
		}

	}

	/**
	 * Tries twice, and has an answer of its own if neither helps.
	 */
	private record Stubborn(int getOrder) implements CallAdvisor, StreamAdvisor {

		@Override
		public String getName() {
			return "stubborn";
		}

		@Override
		public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
			for (int attempt = 0; attempt < 2; attempt++) {
				try {
					return chain.copy(this).nextCall(request);
				}
				catch (RuntimeException ex) {
					// once more
				}
			}
			return Cache.cached(request);
		}

		@Override
		public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
			return Flux.defer(() -> chain.copy(this).nextStream(request))
				.retry(1)
				.onErrorResume((ex) -> Flux.just(Cache.cached(request)));
		}

	}

}
