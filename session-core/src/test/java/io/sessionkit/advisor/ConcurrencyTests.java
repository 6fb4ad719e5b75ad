package io.sessionkit.advisor;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Date;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.OnCancel;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.Turn;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnStatus;
import io.sessionkit.approval.UnknownToolException;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.internal.turn.Turns;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests which call goes first if several come to a session at the same time.
 */
class ConcurrencyTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private static final Duration LONG = Duration.ofSeconds(30);

	private final SessionKey key = SessionKey.of("order", UUID.randomUUID().toString());

	private final WaitingModel model = new WaitingModel();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final List<Conversations> opened = new ArrayList<>();

	@AfterEach
	void close() {
		this.model.open();
		this.threads.shutdownNow();
		this.opened.forEach(Conversations::close);
	}

	@ParameterizedTest
	@EnumSource
	void aSecondCallIsRejectedBeforeTheModelIsCalled(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		ChatClient chat = chat(store, Concurrency.REJECT, LONG, LONG);
		Future<String> first = ask(chat, "u1");
		this.model.awaitCalls(1);
		assertThatExceptionOfType(TurnInProgressException.class).isThrownBy(() -> answer(chat, "u2"))
			.withMessageContaining(this.key.toString())
			.withMessageContaining("sessionkit.concurrency=serialize");
		this.model.open();
		assertThat(first.get()).isEqualTo("a of u1");
		assertThat(answer(chat, "u3")).isEqualTo("a of u3");
		assertThat(log(store)).containsExactly("user: u1", "assistant: a of u1", "user: u3", "assistant: a of u3");
		assertThat(this.model.calls.get()).isEqualTo(2);
		assertThat(inLine(store)).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void callsAreAnsweredInTheOrderOfTheirArrival(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		List<ChatClient> chats = List.of(chat(store, Concurrency.SERIALIZE, LONG, LONG),
				chat(store, Concurrency.SERIALIZE, LONG, LONG));
		List<Future<String>> answers = new ArrayList<>();
		for (int i = 1; i <= 8; i++) {
			answers.add(ask(chats.get(i % 2), "u" + i));
			awaitInLine(store, i);
		}
		this.model.open();
		for (int i = 1; i <= 8; i++) {
			assertThat(answers.get(i - 1).get(20, TimeUnit.SECONDS)).isEqualTo("a of u" + i);
		}
		assertThat(log(store)).isEqualTo(IntStream.rangeClosed(1, 8)
			.boxed()
			.flatMap((i) -> List.of("user: u" + i, "assistant: a of u" + i).stream())
			.toList());
		assertThat(this.model.calls.get()).isEqualTo(8);
		assertThat(store.turns(this.key, Tail.ALL)).allMatch((turn) -> turn.status() == TurnStatus.COMPLETED);
		assertThat(inLine(store)).isZero();
	}

	/** There are fewer threads for streams than callers. */
	@Test
	void manyWaitingStreamsDoNotKeepTheOneAtWorkFromEnding() throws Exception {
		SessionStore store = memory();
		ChatClient chat = chat(store, Concurrency.SERIALIZE, LONG, LONG);
		this.model.open();
		List<Future<String>> answers = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			String question = "u" + i;
			answers.add(this.threads.submit(() -> stream(chat, question)));
		}
		for (Future<String> answer : answers) {
			assertThat(answer.get(30, TimeUnit.SECONDS)).startsWith("a of u");
		}
		assertThat(store.messages(this.key)).hasSize(200);
	}

	@ParameterizedTest
	@EnumSource
	void aCallThatFailsLetsTheNextOneWork(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		ChatClient chat = chat(store, Concurrency.REJECT, LONG, LONG);
		this.model.open();
		assertThatIllegalStateException().isThrownBy(() -> answer(chat, "fail"));
		assertThat(inLine(store)).isZero();
		assertThatIllegalStateException().isThrownBy(() -> stream(chat, "fail"));
		assertThat(stream(chat, "u1")).isEqualTo("a of u1");
		assertThat(log(store)).containsExactly("user: u1", "assistant: a of u1");
	}

	/** A message that a strict codec refuses is not stored, also as a part of a reply. */
	@ParameterizedTest
	@EnumSource
	void aReplyThatCannotBeStoredLetsTheNextCallWork(ClientSetup.Mode mode) {
		InMemorySessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create().strict()));
		Conversations conversations = Conversations.builder(store).lease(LONG).build();
		this.opened.add(conversations);
		ScriptedChatModel scripted = new ScriptedChatModel().responds(unstorable()).says("a");
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		ChatClient chat = setup
			.builder(scripted, SessionAdvisor.builder(conversations).concurrency(Concurrency.SERIALIZE).build())
			.build();
		assertThatExceptionOfType(UnstorableMessageException.class).isThrownBy(() -> setup.content(prompt(chat, "u1")));
		assertThat(inLine(store)).isZero();
		Turn failed = store.turns(this.key, Tail.ALL).get(0);
		assertThat(failed.status()).isEqualTo(TurnStatus.FAILED);
		assertThat(failed.failure()).isEqualTo(UnstorableMessageException.class.getName());
		assertThat(setup.content(prompt(chat, "u2"))).isEqualTo("a");
		assertThat(log(store)).containsExactly("user: u2", "assistant: a");
		assertThat(InnerParts.of(conversations, Turns.class).drain().isIdle()).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void aCancelledReplyThatCannotBeStoredLetsTheNextCallWork(OnCancel onCancel) throws Exception {
		InMemorySessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create().strict()));
		Conversations conversations = Conversations.builder(store).lease(LONG).build();
		this.opened.add(conversations);
		ScriptedChatModel scripted = new ScriptedChatModel()
			.step((prompt) -> Flux.just(unstorable()).concatWith(Flux.never()))
			.says("a");
		ChatClient chat = ClientSetup.plain()
			.builder(scripted,
					SessionAdvisor.builder(conversations).concurrency(Concurrency.SERIALIZE).onCancel(onCancel).build())
			.build();
		prompt(chat, "u1").stream().content().take(1).blockLast(LONG);
		awaitInLine(store, 0);
		assertThat(store.turns(this.key, Tail.ALL)).extracting(Turn::status)
			.containsExactly((onCancel == OnCancel.KEEP) ? TurnStatus.COMPLETED : TurnStatus.CANCELLED);
		assertThat(answer(chat, "u2")).isEqualTo("a");
	}

	private static ChatResponse unstorable() {
		return new ChatResponse(List.of(new Generation(
				AssistantMessage.builder().content("half").properties(Map.of("when", new Date(0))).build())));
	}

	/** Such a call must not keep the session for ever. */
	@ParameterizedTest
	@EnumSource
	void aCallThatIsWrongItselfLeavesNothingInLine(ClientSetup.Mode mode) {
		SessionStore store = memory();
		ChatClient chat = chat(store, Concurrency.SERIALIZE, LONG, LONG);
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		this.model.open();
		assertThat(answer(chat, "u1")).isEqualTo("a of u1");
		for (String parameter : List.of("limit", "merge", "expect-turn", "editing", "concurrency")) {
			assertThatExceptionOfType(RuntimeException.class).as(parameter)
				.isThrownBy(() -> setup
					.content(prompt(chat, "u2").advisors((spec) -> spec.param("sessionkit." + parameter, "wrong"))));
			assertThat(inLine(store)).as(parameter).isZero();
		}
		for (Consumer<ChatClient.AdvisorSpec> place : List.of(SessionAdvisor.editing(7), SessionAdvisor.branch("none"),
				SessionAdvisor.expectTurn(7), SessionAdvisor.hook(TestHooks.beforeTurn("broken", (messages) -> {
					throw new IllegalStateException("broken");
				})))) {
			assertThatExceptionOfType(RuntimeException.class)
				.isThrownBy(() -> setup.content(prompt(chat, "u2").advisors(place)));
			assertThat(inLine(store)).isZero();
		}
		assertThat(answer(chat, "u3")).isEqualTo("a of u3");
	}

	/** It would wait for an answer that is certain, and begin a session for nothing. */
	@ParameterizedTest
	@EnumSource
	void aCallThatCanNeverBeStoredNeitherWaitsNorBeginsASession(ClientSetup.Mode mode) throws Exception {
		SessionStore store = memory();
		ChatClient chat = chat(store, Concurrency.SERIALIZE, LONG, LONG);
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		List<Consumer<ChatClient.AdvisorSpec>> keys = List.of((spec) -> {
		}, SessionAdvisor.idempotencyKey("r1"));
		for (Consumer<ChatClient.AdvisorSpec> key : keys) {
			assertThatExceptionOfType(UnstorableMessageException.class)
				.isThrownBy(() -> setup.content(prompt(chat, "half \ud800").advisors(key)));
			assertThat(store.find(this.key)).isEmpty();
		}
		Future<String> first = ask(chat, "u1");
		this.model.awaitCalls(1);
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> setup.content(prompt(chat, "half \ud800")));
		assertThat(inLine(store)).isEqualTo(1);
		this.model.open();
		assertThat(first.get()).isEqualTo("a of u1");
	}

	/** The turn has kept the parameters of the call that has begun it. */
	@ParameterizedTest
	@EnumSource
	void aCallThatContinuesATurnMayPassWhatCannotBeKept(ClientSetup.Mode mode) {
		SessionStore store = memory();
		Conversations conversations = Conversations.builder(store)
			.lease(LONG)
			.durability(Durability.STEP)
			.turnParameters(Set.of("user"))
			.build();
		this.opened.add(conversations);
		ScriptedChatModel scripted = new ScriptedChatModel().calls(SessionAdvisorTests.call("c1", "add", "1"))
			.step((prompt) -> Flux.error(new IllegalStateException("broken")))
			.says("a");
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		ChatClient chat = setup
			.builder(scripted, SessionAdvisor.builder(conversations).concurrency(Concurrency.SERIALIZE).build())
			.defaultTools(SessionAdvisorTests.echo("add"))
			.build();
		assertThatIllegalStateException()
			.isThrownBy(() -> setup.content(prompt(chat, "u1").advisors((spec) -> spec.param("user", "anna"))))
			.withMessage("broken");
		setup.content(chat.prompt()
			.advisors(SessionAdvisor.session(this.key))
			.advisors((spec) -> spec.param("user", new Object())));
		assertThat(store.turns(this.key, Tail.ALL)).singleElement()
			.matches((turn) -> turn.status() == TurnStatus.COMPLETED)
			.matches((turn) -> turn.parameters().equals(Map.of("user", "anna")));
	}

	/** It may be an event loop, and a codec of an application may take its time. */
	@Test
	void aStreamEncodesNothingOnTheThreadThatSubscribes() {
		Set<Thread> encoding = ConcurrentHashMap.newKeySet();
		MessageCodec json = JsonMessageCodec.create();
		MessageCodec codec = (MessageCodec) Proxy.newProxyInstance(MessageCodec.class.getClassLoader(),
				new Class<?>[] { MessageCodec.class }, (self, called, arguments) -> {
					if (called.getName().startsWith("encode")) {
						encoding.add(Thread.currentThread());
					}
					return called.getName().equals("surelyStores") ? false : called.invoke(json, arguments);
				});
		this.model.open();
		ChatClient chat = chat(new InMemorySessionStore(StoreOptions.of(codec)), Concurrency.SERIALIZE, LONG, LONG);
		assertThat(stream(chat, "u1")).isEqualTo("a of u1");
		assertThat(encoding).isNotEmpty().doesNotContain(Thread.currentThread());
	}

	@ParameterizedTest
	@EnumSource
	void aCallWhoseToolsAreRefusedBeginsNoSession(ClientSetup.Mode mode) {
		SessionStore store = memory();
		Conversations conversations = Conversations.builder(store).lease(LONG).build();
		this.opened.add(conversations);
		SessionAdvisor advisor = SessionAdvisor.builder(conversations)
			.approvals(Approvals.builder(conversations).tools(Set.of("Add")).build())
			.concurrency(Concurrency.SERIALIZE)
			.build();
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		ChatClient chat = setup.builder(new ScriptedChatModel().says("a"), advisor)
			.defaultTools(SessionAdvisorTests.echo("add"))
			.build();
		assertThatExceptionOfType(UnknownToolException.class).isThrownBy(() -> setup.content(prompt(chat, "u1")));
		assertThat(store.find(this.key)).isEmpty();
	}

	/** Without a drain before: nothing renews its place any more. */
	@Test
	void aCallAfterTheEndOfItsConversationsWorksAndLeavesNoPlace() {
		SessionStore store = memory();
		ChatClient chat = chat(store, Concurrency.SERIALIZE, LONG, LONG);
		this.opened.forEach(Conversations::close);
		this.model.open();
		assertThat(answer(chat, "u1")).isEqualTo("a of u1");
		assertThat(inLine(store)).isZero();
	}

	@Test
	void aCallThatHasWaitedTooLongIsRefusedAndLeaves() throws Exception {
		SessionStore store = memory();
		ChatClient chat = chat(store, Concurrency.SERIALIZE, Duration.ofMillis(200), LONG);
		Future<String> first = ask(chat, "u1");
		this.model.awaitCalls(1);
		assertThatExceptionOfType(TurnInProgressException.class).isThrownBy(() -> answer(chat, "u2"))
			.withMessageContaining("has waited 200ms for")
			.withMessageContaining("sessionkit.concurrency-timeout");
		assertThatExceptionOfType(TurnInProgressException.class).isThrownBy(() -> stream(chat, "u2"));
		assertThat(inLine(store)).isEqualTo(1);
		this.model.open();
		assertThat(first.get()).isEqualTo("a of u1");
		assertThat(this.model.calls.get()).isEqualTo(1);
	}

	/** Who erases a session does not expect what was asked before. */
	@ParameterizedTest
	@EnumSource
	void aCallInLineDoesNotBeginASessionAgainThatWasErased(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		ChatClient chat = chat(store, Concurrency.SERIALIZE, LONG, LONG);
		ChatClient steering = chat(store, Concurrency.STEER, LONG, LONG);
		List<Future<String>> asked = new ArrayList<>();
		for (ChatClient each : List.of(chat, chat, steering)) {
			asked.add(ask(each, "u" + (asked.size() + 1)));
			// what offers its message is in the line twice
			awaitInLine(store, (each == steering) ? 4 : asked.size());
		}
		this.model.awaitCalls(1);
		store.clear(this.key);
		for (Future<String> waiting : asked.subList(1, 3)) {
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
				.withCauseInstanceOf(SessionLostException.class)
				.withMessageContaining("waited in its line");
		}
		assertThat(store.find(this.key)).isEmpty();
		this.model.open();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> asked.get(0).get(20, TimeUnit.SECONDS))
			.withCauseInstanceOf(SessionLostException.class);
		assertThat(store.find(this.key)).isEmpty();
		assertThat(this.model.calls.get()).isEqualTo(1);
		assertThat(answer(chat, "u4")).isEqualTo("a of u4");
		assertThat(log(store)).containsExactly("user: u4", "assistant: a of u4");
	}

	@Test
	void aWaitingCallThatIsInterruptedLeaves() throws Exception {
		SessionStore store = memory();
		ChatClient chat = chat(store, Concurrency.SERIALIZE, LONG, LONG);
		ask(chat, "u1");
		this.model.awaitCalls(1);
		Future<String> second = ask(chat, "u2");
		awaitInLine(store, 2);
		second.cancel(true);
		awaitInLine(store, 1);
		this.model.open();
		awaitInLine(store, 0);
		assertThat(log(store)).containsExactly("user: u1", "assistant: a of u1");
	}

	@Test
	void aWaitingStreamThatIsCancelledLeaves() throws Exception {
		SessionStore store = memory();
		ChatClient chat = chat(store, Concurrency.SERIALIZE, LONG, LONG);
		ask(chat, "u1");
		this.model.awaitCalls(1);
		Disposable second = prompt(chat, "u2").stream().content().subscribe();
		awaitInLine(store, 2);
		second.dispose();
		awaitInLine(store, 1);
		this.model.open();
		awaitInLine(store, 0);
		assertThat(log(store)).containsExactly("user: u1", "assistant: a of u1");
	}

	@Test
	void aStreamAtWorkThatIsCancelledLetsTheNextOneWork() throws Exception {
		SessionStore store = memory();
		ChatClient chat = chat(store, Concurrency.SERIALIZE, LONG, LONG);
		Disposable first = prompt(chat, "u1").stream().content().subscribe();
		this.model.awaitCalls(1);
		Future<String> second = ask(chat, "u2");
		awaitInLine(store, 2);
		first.dispose();
		this.model.open();
		assertThat(second.get(20, TimeUnit.SECONDS)).isEqualTo("a of u2");
		awaitInLine(store, 0);
		assertThat(log(store)).containsExactly("user: u2", "assistant: a of u2");
	}

	/** A process that was killed renews nothing. */
	@ParameterizedTest
	@EnumSource
	void aCallThatNoLongerShowsThatItIsThereIsPassedByAndChangesNothing(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		ChatClient stopped = chat(store, Concurrency.SERIALIZE, LONG, Duration.ofSeconds(1));
		Future<String> first = ask(stopped, "u1");
		this.model.awaitCalls(1);
		this.opened.remove(0).close();
		ChatClient chat = chat(store, Concurrency.SERIALIZE, LONG, LONG);
		Future<String> second = ask(chat, "u2");
		this.model.awaitCalls(2);
		this.model.open();
		assertThat(second.get(20, TimeUnit.SECONDS)).isEqualTo("a of u2");
		assertThatExceptionOfType(Exception.class).isThrownBy(first::get)
			.withCauseInstanceOf(SessionConflictException.class);
		assertThat(log(store)).containsExactly("user: u2", "assistant: a of u2");
		assertThat(inLine(store)).isZero();
	}

	/**
	 * Otherwise the turn would be open, and the call that has the place would be refused.
	 */
	@ParameterizedTest
	@EnumSource(value = Durability.class)
	void aCallThatHasLostItsPlaceStoresNoPartOfItsTurn(Durability durability) throws Exception {
		SessionStore store = memory();
		ScriptedChatModel scripted = new ScriptedChatModel();
		CountDownLatch called = new CountDownLatch(1);
		CountDownLatch awake = new CountDownLatch(1);
		AtomicReference<Future<String>> first = new AtomicReference<>();
		scripted.step((prompt) -> Flux.defer(() -> {
			called.countDown();
			await(awake);
			return Flux.just(scripted.chunk("", List.of(SessionAdvisorTests.call("c1", "add", "1")), true));
		})).step((prompt) -> Flux.defer(() -> {
			awake.countDown();
			assertThatExceptionOfType(Exception.class).isThrownBy(() -> first.get().get(20, TimeUnit.SECONDS))
				.withCauseInstanceOf(SessionConflictException.class);
			return Flux.just(scripted.chunk("a2", List.of(), true));
		}));
		first.set(ask(gated(store, scripted, durability, Duration.ofSeconds(1)), "u1"));
		called.await();
		this.opened.remove(0).close();
		assertThat(answer(gated(store, scripted, durability, LONG), "u2")).isEqualTo("a2");
		assertThat(store.find(this.key).orElseThrow().openTurn()).isZero();
		assertThat(log(store)).containsExactly("user: u2", "assistant: a2");
	}

	/** With steps, the tool needs no approval. */
	private ChatClient gated(SessionStore store, ChatModel scripted, Durability durability, Duration life) {
		Conversations conversations = Conversations.builder(store).lease(life).durability(durability).build();
		this.opened.add(conversations);
		Approvals approvals = Approvals.builder(conversations)
			.tools((durability == Durability.STEP) ? Set.of() : Set.of("add"))
			.build();
		return ClientSetup.plain()
			.builder(scripted,
					SessionAdvisor.builder(conversations)
						.approvals(approvals)
						.concurrency(Concurrency.SERIALIZE)
						.concurrencyTimeout(LONG)
						.build())
			.defaultTools(SessionAdvisorTests.echo("add"))
			.build();
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	@Test
	void aPlaceThatWasLostIsAConflictThatSaysSo() throws Exception {
		SessionStore store = memory();
		ChatClient chat = chat(store, Concurrency.REJECT, LONG, Duration.ofSeconds(1));
		Future<String> first = ask(chat, "u1");
		this.model.awaitCalls(1);
		this.opened.remove(0).close();
		TimeUnit.MILLISECONDS.sleep(1_100);
		Future<String> second = ask(chat(store, Concurrency.REJECT, LONG, LONG), "u2");
		this.model.awaitCalls(2);
		this.model.open("u1");
		assertThatExceptionOfType(Exception.class).isThrownBy(first::get)
			.withStackTraceContaining("has lost its place in line")
			.withStackTraceContaining("and if the store loses what it holds");
		this.model.open();
		assertThat(second.get()).isEqualTo("a of u2");
	}

	/** Processes whose leases differ, such as while they are replaced one by one. */
	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void aShorterLeaseThrowsNoCallOutThatIsAtWork(TestStores kind) throws Exception {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		ChatClient chat = chat(store, Concurrency.SERIALIZE, LONG, Duration.ofSeconds(9));
		ChatClient other = chat(store, Concurrency.SERIALIZE, LONG, Duration.ofSeconds(1));
		Future<String> first = this.threads.submit(() -> request(chat));
		this.model.awaitCalls(1);
		List<Future<String>> others = List.of(this.threads.submit(() -> request(other)), ask(other, "u2"));
		TimeUnit.SECONDS.sleep(2);
		assertThat(this.model.calls.get()).isEqualTo(1);
		this.model.open();
		assertThat(first.get(20, TimeUnit.SECONDS)).isEqualTo("a of u1");
		assertThat(others.get(0).get(20, TimeUnit.SECONDS)).isEqualTo("a of u1");
		assertThat(others.get(1).get(20, TimeUnit.SECONDS)).isEqualTo("a of u2");
		assertThat(log(store)).containsExactly("user: u1", "assistant: a of u1", "user: u2", "assistant: a of u2");
		assertThat(this.model.calls.get()).isEqualTo(2);
	}

	private String request(ChatClient chat) {
		return prompt(chat, "u1").advisors(SessionAdvisor.idempotencyKey("r1")).call().content();
	}

	@Test
	void aCallThatIsRejectedIsToldHowLongTheOtherOneLives() throws Exception {
		SessionStore store = memory();
		ask(chat(store, Concurrency.REJECT, LONG, Duration.ofSeconds(9)), "u1");
		this.model.awaitCalls(1);
		ChatClient chat = chat(store, Concurrency.REJECT, LONG, Duration.ofSeconds(1));
		assertThatExceptionOfType(TurnInProgressException.class).isThrownBy(() -> answer(chat, "u2"))
			.withMessageContaining("free after 9s.");
	}

	@Test
	void aCallCanSayHowItIsTreated() throws Exception {
		SessionStore store = memory();
		ChatClient chat = chat(store, Concurrency.REJECT, LONG, LONG);
		Future<String> first = ask(chat, "u1");
		this.model.awaitCalls(1);
		Future<String> second = this.threads.submit(
				() -> prompt(chat, "u2").advisors(SessionAdvisor.concurrency(Concurrency.SERIALIZE)).call().content());
		awaitInLine(store, 2);
		this.model.open();
		assertThat(List.of(first.get(), second.get())).containsExactly("a of u1", "a of u2");
		assertThatIllegalStateException()
			.isThrownBy(() -> prompt(chat, "u3").advisors((spec) -> spec.param("sessionkit.concurrency", "reject"))
				.call()
				.content())
			.withMessageContaining("SessionAdvisor.concurrency(..)");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> SessionAdvisor.builder(this.opened.get(0)).concurrencyTimeout(Duration.ofSeconds(-1)))
			.withMessageContaining("PT-1S");
	}

	@Test
	void ofThreeClicksAtOnceOneIsPaidForUnderReject() throws Exception {
		SessionStore store = memory();
		ChatClient chat = chat(store, Concurrency.REJECT, LONG, LONG);
		List<Future<String>> clicks = List.of(ask(chat, "u"), ask(chat, "u"), ask(chat, "u"));
		this.model.awaitCalls(1);
		Awaitility.await().until(() -> clicks.stream().filter(Future::isDone).count() >= 2);
		long refused = clicks.stream().filter(Future::isDone).count();
		this.model.open();
		for (Future<String> click : clicks) {
			awaitDone(click);
		}
		assertThat(refused).isEqualTo(2);
		assertThat(this.model.calls.get()).isEqualTo(1);
		assertThat(log(store)).containsExactly("user: u", "assistant: a of u");
	}

	private static void awaitDone(Future<String> click) throws InterruptedException {
		while (!click.isDone()) {
			TimeUnit.MILLISECONDS.sleep(5);
		}
	}

	private static SessionStore memory() {
		return new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
	}

	private ChatClient chat(SessionStore store, Concurrency concurrency, Duration timeout, Duration life) {
		Conversations conversations = Conversations.builder(store).lease(life).build();
		this.opened.add(conversations);
		return ClientSetup.plain()
			.builder(this.model,
					SessionAdvisor.builder(conversations).concurrency(concurrency).concurrencyTimeout(timeout).build())
			.build();
	}

	private Future<String> ask(ChatClient chat, String question) {
		return this.threads.submit((Callable<String>) () -> answer(chat, question));
	}

	private String answer(ChatClient chat, String question) {
		return prompt(chat, question).call().content();
	}

	private String stream(ChatClient chat, String question) {
		return String.join("", prompt(chat, question).stream().content().collectList().block());
	}

	private ChatClient.ChatClientRequestSpec prompt(ChatClient chat, String question) {
		return chat.prompt().user(question).advisors(SessionAdvisor.session(this.key));
	}

	private List<String> log(SessionStore store) {
		return Lines.of(store.messages(this.key));
	}

	private int inLine(SessionStore store) {
		return store.records(this.key, "line")
			.stream()
			.mapToInt((record) -> record.payload().split("-", -1).length / 4)
			.sum();
	}

	private void awaitInLine(SessionStore store, int calls) throws InterruptedException {
		for (int i = 0; i < 1_000 && inLine(store) != calls; i++) {
			TimeUnit.MILLISECONDS.sleep(10);
		}
		assertThat(inLine(store)).isEqualTo(calls);
	}

	/**
	 * Answers when it is let.
	 */
	private static final class WaitingModel implements ChatModel {

		private final AtomicInteger calls = new AtomicInteger();

		private final CountDownLatch all = new CountDownLatch(1);

		private final Set<String> some = ConcurrentHashMap.newKeySet();

		private volatile Callable<String> nested = () -> "";

		void open() {
			this.all.countDown();
		}

		void open(String question) {
			this.some.add(question);
		}

		void awaitCalls(int number) throws InterruptedException {
			for (int i = 0; i < 1_000 && this.calls.get() < number; i++) {
				TimeUnit.MILLISECONDS.sleep(10);
			}
			assertThat(this.calls.get()).isGreaterThanOrEqualTo(number);
		}

		@Override
		public ChatResponse call(Prompt prompt) {
			this.calls.incrementAndGet();
			String question = prompt.getInstructions().get(prompt.getInstructions().size() - 1).getText();
			try {
				while (!this.all.await(5, TimeUnit.MILLISECONDS) && !this.some.contains(question)) {
					continue;
				}
				this.nested.call();
			}
			catch (RuntimeException ex) {
				throw ex;
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
			if (question.equals("fail")) {
				throw new IllegalStateException("as asked");
			}
			return new ChatResponse(List.of(new Generation(new AssistantMessage("a of " + question))));
		}

		@Override
		public Flux<ChatResponse> stream(Prompt prompt) {
			return Mono.fromCallable(() -> call(prompt)).subscribeOn(Schedulers.boundedElastic()).flux();
		}

	}

}
