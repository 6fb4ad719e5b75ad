package io.sessionkit.advisor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.sessionkit.Durability;
import io.sessionkit.OnCancel;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionEvent;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.hook.TurnPart;
import io.sessionkit.internal.call.SessionParameters;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests what becomes of an answer whose reader cancels the stream.
 */
class CancelledAnswerTests {

	/** Longer than a busy machine needs. */
	private static final Duration SOON = Duration.ofSeconds(30);

	private static final SessionKey T1 = SessionKey.of("t1");

	private static final ToolCall ADD = SessionAdvisorTests.call("c1", "add", "1");

	private static final String ASKED = "assistant add({\"value\":\"1\"})";

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final ScriptedChatModel model = new ScriptedChatModel();

	private Conversations conversations = Conversations.of(this.store);

	private OnCancel rule = OnCancel.KEEP;

	private Set<String> gated = Set.of();

	@Test
	void textThatWasReadIsTheAnswerAndTheNextTurnSeesIt() {
		breaksOff("half ", "an").says("a");
		readAndCancel(client(), 2);
		Turn turn = ended();
		assertThat(turn.status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(turn.rounds()).hasSize(1);
		assertThat(history()).containsExactly("user: q", "assistant: half an");
		assertThat(newest().getMetadata()).containsEntry(Turn.CUT_SHORT, true);
		client().prompt().user("go on").advisors(SessionAdvisor.session(T1)).call().content();
		assertThat(this.model.lastRequestLines()).containsExactly("user: q", "assistant: half an", "user: go on");
		assertThat(newest().getMetadata()).doesNotContainKey(Turn.CUT_SHORT);
	}

	/** Whoever repeats the request would take it for the whole reply. */
	@Test
	void repeatedRequestGetsWhatWasReadAndIsToldThatItIsCutShort() {
		breaksOff("half ", "an");
		Consumer<ChatClient.AdvisorSpec> request = SessionAdvisor.idempotencyKey("r1");
		prompt(client()).advisors(request).stream().content().take(2).blockLast(SOON);
		ended();
		ChatResponse again = prompt(client()).advisors(request).call().chatResponse();
		assertThat(SessionAdvisor.isRepeated(again)).isTrue();
		assertThat(again.getResult().getOutput().getText()).isEqualTo("half an");
		assertThat(again.getResult().getOutput().getMetadata()).containsEntry(Turn.CUT_SHORT, true);
		assertThat(again.getResult().getMetadata().getFinishReason()).isEqualTo("cutShort");
		assertThat(this.model.prompts()).hasSize(1);
	}

	/** A provider's client closes its connection when the read at work on it ends. */
	@ParameterizedTest
	@EnumSource(OnCancel.class)
	void turnIsStoredWhileTheModelIsStillBeingCancelled(OnCancel onCancel) {
		this.rule = onCancel;
		CountDownLatch stored = new CountDownLatch(1);
		AtomicBoolean late = new AtomicBoolean();
		this.model.step((prompt) -> Flux.just(this.model.chunk("half", List.of(), false))
			.concatWith(Flux.never())
			.doOnCancel(() -> late.set(!isOpenSoon(stored))));
		readAndCancel(client(), 1);
		boolean keeps = onCancel == OnCancel.KEEP;
		assertThat(ended().status()).isEqualTo(keeps ? TurnStatus.COMPLETED : TurnStatus.CANCELLED);
		stored.countDown();
		assertThat(history()).hasSize(keeps ? 2 : 0);
		assertThat(late).isFalse();
	}

	private static boolean isOpenSoon(CountDownLatch latch) {
		try {
			return latch.await(SOON.toSeconds(), TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			return false;
		}
	}

	@Test
	void onlyWhatTheReaderGotIsKept() {
		this.model.step((prompt) -> Flux.just("one ", "two ", "three")
			.map((text) -> this.model.chunk(text, List.of(), false))
			.concatWith(Flux.never()));
		prompt(client()).stream().content().take(2).blockLast(SOON);
		ended();
		assertThat(history()).containsExactly("user: q", "assistant: one two ");
	}

	@Test
	void callDecidesForItself() {
		breaksOff("half");
		breaksOff("other");
		StepVerifier.create(prompt(client()).advisors(SessionAdvisor.onCancel(OnCancel.DISCARD)).stream().content())
			.expectNextCount(1)
			.thenCancel()
			.verify(SOON);
		assertThat(ended().status()).isEqualTo(TurnStatus.CANCELLED);
		assertThat(history()).isEmpty();
		this.rule = OnCancel.DISCARD;
		StepVerifier.create(prompt(client()).advisors(SessionAdvisor.onCancel(OnCancel.KEEP)).stream().content())
			.expectNextCount(1)
			.thenCancel()
			.verify(SOON);
		Awaitility.await().until(() -> turns().size() == 2);
		assertThat(history()).containsExactly("user: q", "assistant: other");
	}

	@Test
	void parameterOfAnotherTypeIsRefusedBeforeTheModelIsCalled() {
		assertThatIllegalStateException()
			.isThrownBy(() -> prompt(client()).advisors((advisors) -> advisors.param("sessionkit.on-cancel", "keep"))
				.stream()
				.content()
				.blockLast())
			.withMessageContaining("SessionAdvisor.onCancel(..)");
		assertThat(this.model.prompts()).isEmpty();
	}

	@Test
	void withoutAnyTextTheTurnIsCancelled() {
		CountDownLatch asked = new CountDownLatch(1);
		this.model.step((prompt) -> Flux.<ChatResponse>never().doOnSubscribe((subscription) -> asked.countDown()));
		cancelOnce(asked);
		assertThat(ended().status()).isEqualTo(TurnStatus.CANCELLED);
		assertThat(history()).isEmpty();
	}

	@Test
	void modelThatFailsAfterAPartOfTheAnswerIsAFailure() {
		this.model.step((prompt) -> Flux.concat(Flux.just(this.model.chunk("half", List.of(), false)),
				Flux.error(new IllegalStateException("down"))));
		StepVerifier.create(prompt(client()).stream().content())
			.expectNextCount(1)
			.expectError(IllegalStateException.class)
			.verify(SOON);
		assertThat(ended().status()).isEqualTo(TurnStatus.FAILED);
		assertThat(history()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "TURN", "STEP" })
	void roundsBeforeTheAnswerAreKeptWithIt(Durability durability) {
		this.conversations = Conversations.builder(this.store).durability(durability).build();
		this.model.step((prompt) -> Flux.just(this.model.chunk("let me see", List.of(), false),
				this.model.chunk("", List.of(ADD), true)));
		breaksOff("half");
		readAndCancel(client(), 2);
		assertThat(awaited(TurnStatus.COMPLETED).rounds()).hasSize(2);
		assertThat(history()).hasSize(4).startsWith("user: q").contains("tool add=1").endsWith("assistant: half");
		assertThat(this.store.find(T1).orElseThrow().openTurn()).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "TURN", "STEP" })
	void callsWithoutResultsNeverBecomeHistory(Durability durability) {
		this.conversations = Conversations.builder(this.store).durability(durability).build();
		this.model.step((prompt) -> Flux.just(this.model.chunk("let me see", List.of(), false),
				this.model.chunk("", List.of(ADD), true)));
		CountDownLatch started = new CountDownLatch(1);
		cancelOnce(started, slow(started));
		awaited((durability == Durability.STEP) ? TurnStatus.INCOMPLETE : TurnStatus.CANCELLED);
		assertThat(history()).isEmpty();
	}

	@Test
	void turnThatGoesOnAfterAnApprovalEndsWithWhatWasRead() {
		this.gated = Set.of("add");
		this.model.calls(ADD);
		prompt(client()).stream().content().blockLast(SOON);
		awaited(TurnStatus.AWAITING_APPROVAL);
		approvals().pending(T1).forEach((call) -> approvals().approve(call, "anna"));
		breaksOff("half").says("a");
		StepVerifier.create(client().prompt().advisors(SessionAdvisor.session(T1)).stream().content())
			.expectNextCount(1)
			.thenCancel()
			.verify(SOON);
		awaited(TurnStatus.COMPLETED);
		assertThat(history()).containsExactly("user: q", ASKED, "tool add=1", "assistant: half");
		assertThat(this.store.find(T1).orElseThrow().openTurn()).isZero();
		client().prompt().user("q2").advisors(SessionAdvisor.session(T1)).call().content();
		assertThat(this.model.lastRequestLines()).endsWith("assistant: half", "user: q2");
	}

	@Test
	void hookThatLeavesStreamsLiveStillChangesWhatIsStored() {
		this.conversations = Conversations.builder(this.store).hooks(List.of(new Hook(false))).build();
		breaksOff("secret");
		readAndCancel(client(), 1);
		assertThat(ended().status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(history()).containsExactly("user: q", "assistant: ***");
		assertThat(newest().getMetadata()).containsEntry(Turn.CUT_SHORT, true);
	}

	@Test
	void textThatNoHookHasLetPassIsNotKept() {
		this.conversations = Conversations.builder(this.store).hooks(List.of(new Hook(true))).build();
		CountDownLatch said = new CountDownLatch(1);
		this.model
			.step((prompt) -> Flux.just(this.model.chunk("secret", List.of(), false)).concatWith(Flux.defer(() -> {
				said.countDown();
				return Flux.never();
			})));
		cancelOnce(said);
		Turn turn = ended();
		assertThat(turn.status()).isEqualTo(TurnStatus.CANCELLED);
		assertThat(lines(turn)).containsExactly("user: q");
		assertThat(history()).isEmpty();
	}

	@Test
	void anotherWriterWinsAndTheTurnIsKeptAside() {
		breaksOff("half");
		this.store.beforeCommit(() -> {
			this.store.beforeCommit(() -> {
			});
			this.store.add(T1, List.of(new UserMessage("theirs")));
		});
		readAndCancel(client(), 1);
		Turn turn = awaited(TurnStatus.CANCELLED);
		assertThat(lines(turn)).containsExactly("user: q", "assistant: half");
		assertThat(history()).containsExactly("user: theirs");
	}

	@Test
	void storeThatFailsOnceStillKeepsTheTurnAside() {
		breaksOff("half");
		this.store.failAt(Fault.COMMIT);
		this.store.beforeCommit(() -> this.store.beforeCommit(() -> this.store.failAt(Fault.NONE)));
		readAndCancel(client(), 1);
		assertThat(lines(awaited(TurnStatus.CANCELLED))).containsExactly("user: q", "assistant: half");
		assertThat(history()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "KEEP", "DISCARD" })
	void listenersHearWhatIsStored(OnCancel onCancel) {
		this.rule = onCancel;
		List<String> heard = new CopyOnWriteArrayList<>();
		this.conversations = Conversations.builder(this.store).listeners(List.of(new SessionListener() {

			@Override
			public void committed(SessionEvent.Committed event) {
				heard.add("committed " + event.turn().status());
			}

			@Override
			public void failed(SessionEvent.Failed event) {
				heard.add("failed " + event.status());
			}

		})).build();
		breaksOff("half");
		readAndCancel(client(), 1);
		Awaitility.await().until(() -> !heard.isEmpty());
		assertThat(heard).containsExactly((onCancel == OnCancel.KEEP) ? "committed COMPLETED" : "failed CANCELLED");
	}

	@ParameterizedTest
	@ValueSource(strings = { "KEEP", "DISCARD" })
	void listenersHearOfAWholeAnswerThatIsNotStored(OnCancel onCancel) {
		this.rule = onCancel;
		List<String> heard = new CopyOnWriteArrayList<>();
		this.conversations = Conversations.builder(this.store).listeners(List.of(new SessionListener() {

			@Override
			public void failed(SessionEvent.Failed event) {
				heard.add("failed " + event.status());
			}

		})).build();
		CountDownLatch answered = new CountDownLatch(1);
		this.model.says("a");
		this.store.failAt(Fault.COMMIT);
		Disposable reader = prompt(client().mutate().defaultAdvisors(new Endless(answered)).build()).stream()
			.content()
			.subscribe();
		Awaitility.await().until(() -> answered.getCount() == 0);
		reader.dispose();
		Awaitility.await().until(() -> !heard.isEmpty());
		assertThat(heard).containsExactly("failed null");
	}

	@Test
	void answerIsStoredOnceIfTheReaderLeavesWhileListenersHearOfIt() {
		CompletableFuture<Disposable> reader = new CompletableFuture<>();
		this.conversations = Conversations.builder(this.store).hooks(new SessionHook() {
		}).listeners(new SessionListener() {

			@Override
			public void textComplete(SessionEvent.TextComplete event) {
				reader.join().dispose();
				ended();
			}

		}).build();
		this.model.says("a");
		reader.complete(prompt(client()).stream().content().subscribe());
		assertThat(ended().rounds()).hasSize(1);
		assertThat(history()).containsExactly("user: q", "assistant: a");
	}

	@Test
	void turnHasAllThatWasSaidIfTheReaderLeavesWhileHooksCheckAPartOfIt() {
		this.gated = Set.of("wipe");
		CompletableFuture<Disposable> reader = new CompletableFuture<>();
		this.conversations = Conversations.builder(this.store).hooks(new SessionHook() {

			@Override
			public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
				if (part.status() == TurnStatus.AWAITING_APPROVAL) {
					reader.join().dispose();
					ended();
				}
				return HookResult.keep();
			}

		}).build();
		this.model.calls(ADD).calls(SessionAdvisorTests.call("c2", "wipe", "2"));
		reader.complete(prompt(client(SessionAdvisorTests.echo("add"), SessionAdvisorTests.echo("wipe"))).stream()
			.content()
			.subscribe());
		Turn turn = ended();
		assertThat(turn.status()).isEqualTo(TurnStatus.CANCELLED);
		assertThat(lines(turn)).startsWith("user: q", ASKED, "tool add=1");
	}

	@Test
	void readerWhoLeavesDoesNotWaitForAListenerThatHearsOfTheLastResults() throws Exception {
		CompletableFuture<Disposable> reader = new CompletableFuture<>();
		CompletableFuture<Boolean> left = new CompletableFuture<>();
		this.conversations = Conversations.builder(this.store).listeners(new SessionListener() {

			@Override
			public void toolReturned(SessionEvent.ToolReturned event) {
				CountDownLatch disposed = new CountDownLatch(1);
				new Thread(() -> {
					reader.join().dispose();
					disposed.countDown();
				}).start();
				left.complete(isOpenSoon(disposed));
			}

		}).build();
		this.model.calls(ADD);
		reader.complete(prompt(client(SessionAdvisorTests.direct("add"))).stream().content().subscribe());
		assertThat(left.get(2 * SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
	}

	/** Does not end when the model has answered. */
	private record Endless(CountDownLatch answered) implements StreamAdvisor {

		@Override
		public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
			return chain.nextStream(request).concatWith(Flux.defer(() -> {
				this.answered.countDown();
				return Flux.never();
			}));
		}

		@Override
		public String getName() {
			return "Endless";
		}

		@Override
		public int getOrder() {
			return SessionParameters.MODEL_ORDER - 10;
		}

	}

	private ScriptedChatModel breaksOff(String... texts) {
		List<String> all = List.of(texts);
		return this.model.step((prompt) -> Flux.fromIterable(all)
			.map((text) -> this.model.chunk(text, List.of(), false))
			.concatWith(Flux.never()));
	}

	private void readAndCancel(ChatClient chat, int chunks) {
		StepVerifier.create(prompt(chat).stream().content()).expectNextCount(chunks).thenCancel().verify(SOON);
	}

	private void cancelOnce(CountDownLatch reached, ToolCallback... tools) {
		Disposable running = prompt(client(tools)).stream().content().subscribe();
		Awaitility.await().until(() -> reached.getCount() == 0);
		running.dispose();
	}

	private static ToolCallback slow(CountDownLatch started) {
		return FunctionToolCallback.builder("add", (SessionAdvisorTests.Value value) -> {
			started.countDown();
			try {
				new CountDownLatch(1).await();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException("interrupted", ex);
			}
			return "never";
		}).description("waits").inputType(SessionAdvisorTests.Value.class).build();
	}

	private ChatClient client(ToolCallback... tools) {
		SessionAdvisor advisor = SessionAdvisor.builder(this.conversations)
			.approvals(approvals())
			.onCancel(this.rule)
			.build();
		Object[] offered = (tools.length > 0) ? tools : new Object[] { SessionAdvisorTests.echo("add") };
		return ClientSetup.streaming().builder(this.model, advisor).defaultTools(offered).build();
	}

	private Approvals approvals() {
		return Approvals.builder(this.conversations).tools(this.gated).build();
	}

	private static ChatClient.ChatClientRequestSpec prompt(ChatClient chat) {
		return chat.prompt().user("q").advisors(SessionAdvisor.session(T1));
	}

	private Turn ended() {
		Awaitility.await().until(() -> !turns().isEmpty());
		return turns().get(0);
	}

	private Turn awaited(TurnStatus status) {
		Awaitility.await().untilAsserted(() -> assertThat(turns()).extracting(Turn::status).contains(status));
		return turns().stream().filter((turn) -> turn.status() == status).findFirst().orElseThrow();
	}

	private List<Turn> turns() {
		return this.store.turns(T1, Tail.ALL);
	}

	private List<String> history() {
		return Lines.of(this.store.messages(T1));
	}

	private Message newest() {
		List<Message> messages = this.store.messages(T1);
		return messages.get(messages.size() - 1);
	}

	private List<String> lines(Turn turn) {
		List<Message> messages = new ArrayList<>();
		this.store.items(T1, turn.number()).forEach((item) -> messages.add(item.message()));
		return Lines.of(messages);
	}

	/**
	 * Blackens replies, and leaves streams live unless it checks them.
	 */
	private record Hook(boolean checks) implements SessionHook {

		@Override
		public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
			return HookResult.replace(part.messages()
				.stream()
				.map((message) -> (message instanceof AssistantMessage)
						? AssistantMessage.builder().content("***").properties(message.getMetadata()).build() : message)
				.toList());
		}

		@Override
		public boolean checksReplies() {
			return this.checks;
		}

	}

}
