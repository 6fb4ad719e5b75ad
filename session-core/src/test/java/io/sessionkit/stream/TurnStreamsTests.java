package io.sessionkit.stream;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.Concurrency;
import io.sessionkit.NothingWaitsException;
import io.sessionkit.OnCancel;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.Turn;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.access.Caller;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.advisor.SessionRequiredException;
import io.sessionkit.approval.OnNewMessage;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.guard.Redactor;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.hook.TurnPart;
import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.internal.line.Lines;
import io.sessionkit.internal.stream.StreamLimits;
import io.sessionkit.internal.stream.StreamLogs;
import io.sessionkit.internal.stream.StreamReader;
import io.sessionkit.internal.stream.StreamWriter;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.stream.CallEvent.Begun;
import io.sessionkit.stream.CallEvent.Ended;
import io.sessionkit.stream.CallEvent.InLine;
import io.sessionkit.stream.CallEvent.Joined;
import io.sessionkit.stream.CallEvent.Lost;
import io.sessionkit.stream.CallEvent.Repeated;
import io.sessionkit.stream.CallEvent.Steered;
import io.sessionkit.stream.CallEvent.Text;
import io.sessionkit.stream.CallEvent.ToolReturned;
import io.sessionkit.test.AwayStores;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.SetClock;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Streams whose readers come and go. Two objects on one store are two processes.
 */
@Order(1)
class TurnStreamsTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private static final Duration SOON = Duration.ofSeconds(20);

	private final SessionKey key = SessionKey.of("ada", UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final List<AutoCloseable> open = new ArrayList<>();

	private SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private Duration lease = Duration.ofSeconds(30);

	private SessionAccess access = SessionAccess.unlimited();

	private boolean gated;

	private OnNewMessage onNewMessage = OnNewMessage.REJECT;

	private List<SessionHook> hooks = List.of();

	/** The words of the model. */
	private Sinks.Many<ChatResponse> words = Sinks.many().unicast().onBackpressureBuffer();

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable each : this.open) {
			each.close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void readerHasTheRestInAnotherProcessEachEventOnce(TestStores kind) {
		this.store = STORES.computeIfAbsent(kind, TestStores::create);
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, 3);
		this.words.tryEmitNext(this.model.chunk("c", List.of(), false));
		List<StreamEvent> rest = new CopyOnWriteArrayList<>();
		streams().resume(this.key, last(read)).subscribe(rest::add);
		Awaitility.await().atMost(SOON).untilAsserted(() -> assertThat(texts(rest)).isEqualTo("c"));
		this.words.tryEmitNext(this.model.chunk("d", List.of(), true));
		this.words.tryEmitComplete();
		awaitEnd(rest);
		assertThat(texts(read) + texts(rest)).isEqualTo("abcd");
		List<StreamEvent> all = new ArrayList<>(read);
		all.addAll(rest);
		assertThat(all).extracting((event) -> number(event.id())).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
		assertThat(all.get(5).event()).isEqualTo(new Ended(turn().id(), 1, TurnStatus.COMPLETED));
		assertThat(streams().resume(this.key, last(read)).collectList().block(SOON)).isEqualTo(rest);
	}

	@Test
	void readerWhoComesBackToTheSameProcessMissesNothing() {
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, 2);
		List<StreamEvent> rest = new CopyOnWriteArrayList<>();
		here.resume(this.key, last(read)).subscribe(rest::add);
		Awaitility.await().untilAsserted(() -> assertThat(texts(rest)).isEqualTo("b"));
		say("c");
		awaitEnd(rest);
		assertThat(texts(read) + texts(rest)).isEqualTo("abc");
	}

	@Test
	void turnGoesOnWithoutAReader() {
		begun(streams(), 2);
		say("c");
		Awaitility.await().until(() -> !turns().isEmpty());
		assertThat(turn().status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.store.messages(this.key)).extracting("text").containsExactly("q", "abc");
	}

	@Test
	void turnIsCancelledWithItsReaderIfTheCallSaysSo() {
		this.model.step((prompt) -> this.words.asFlux());
		this.words.tryEmitNext(this.model.chunk("a", List.of(), false));
		StepVerifier.create(streams().start(prompt(), OnDisconnect.CANCEL))
			.expectNextCount(2)
			.thenCancel()
			.verify(SOON);
		Awaitility.await().until(() -> !turns().isEmpty());
		assertThat(turn().status()).isEqualTo(TurnStatus.CANCELLED);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void stopInAnotherProcessIsObeyedAndAllReadersHaveTheEnd(TestStores kind) {
		this.store = STORES.computeIfAbsent(kind, TestStores::create);
		TurnStreams here = streams();
		TurnStreams there = streams();
		List<StreamEvent> read = begun(here, 3);
		List<StreamEvent> rest = new CopyOnWriteArrayList<>();
		List<StreamEvent> local = new CopyOnWriteArrayList<>();
		there.resume(this.key, last(read)).subscribe(rest::add);
		here.resume(this.key, last(read)).subscribe(local::add);
		assertThat(there.stop(this.key, read.get(0).id())).isTrue();
		awaitEnd(rest);
		awaitEnd(local);
		assertThat(turn().status()).isEqualTo(TurnStatus.CANCELLED);
		assertThat(rest).extracting(StreamEvent::event)
			.containsExactly(new Ended(turn().id(), 0, TurnStatus.CANCELLED));
		assertThat(local).isEqualTo(rest);
		assertThat(there.stop(this.key, read.get(0).id())).isFalse();
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void repeatedRequestReadsTheCallThatIsAtWorkElsewhere(TestStores kind) {
		this.store = STORES.computeIfAbsent(kind, TestStores::create);
		List<StreamEvent> read = begun(streams(), request("r1"), 3);
		List<StreamEvent> again = new CopyOnWriteArrayList<>();
		streams().start(request("r1")).subscribe(again::add);
		Awaitility.await().atMost(SOON).untilAsserted(() -> assertThat(texts(again)).isEqualTo("ab"));
		say("c");
		awaitEnd(again);
		assertThat(again.subList(0, 3)).isEqualTo(read);
		assertThat(texts(again)).isEqualTo("abc");
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(turns()).hasSize(1);
		List<StreamEvent> later = streams().start(request("r1")).collectList().block(SOON);
		assertThat(later).extracting(StreamEvent::event)
			.containsExactly(new Repeated(), new Text("abc"), new Ended(turn().id(), 1, TurnStatus.COMPLETED));
		assertThat(this.model.prompts()).hasSize(1);
	}

	/** An empty answer would look like one of the model. */
	@Test
	void readerOfACallThatFailsBeforeItsFirstEventIsToldThatItIsLost() {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch refused = new CountDownLatch(1);
		List<SessionHook> hooks = List.of(TestHooks.beforeTurn("slow", (messages) -> {
			asked.countDown();
			awaitOpen(refused);
			return HookResult.refuse("no");
		}));
		Conversations refusing = closing(Conversations.builder(this.store).hooks(hooks).build());
		ChatClientRequestSpec first = ClientSetup.streaming()
			.builder(this.model, SessionAdvisor.of(refusing))
			.build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.idempotencyKey("r1")));
		streams().start(first).onErrorComplete().subscribe();
		awaitOpen(asked);
		List<StreamEvent> again = new CopyOnWriteArrayList<>();
		streams().start(request("r1")).subscribe(again::add);
		Awaitility.await()
			.atMost(SOON)
			.until(() -> this.store.records(this.key, StreamLogs.KIND)
				.stream()
				.anyMatch((record) -> record.payload().contains("READER")));
		refused.countDown();
		Awaitility.await().atMost(SOON).until(() -> !again.isEmpty());
		assertThat(again).extracting(StreamEvent::event).containsExactly(new Lost());
	}

	/** Whoever continues turns by itself leaves this one to the call that works on it. */
	@Test
	void callThatIsWaitedForSaysThatItsRequestIsAtWork() {
		begun(closing(TurnStreams.builder(conversations()).onDisconnect(OnDisconnect.CONTINUE).build()), request("r1"),
				2);
		assertThatExceptionOfType(TurnInProgressException.class).isThrownBy(() -> streams().complete(request("r1")))
			.withMessageContaining(this.key.toString());
		say("c");
	}

	/** The refusal decides what is stored, not the reader who has given up by then. */
	@Test
	void streamThatIsStoppedWhileAHookRefusesItsReplyEndsAsRefused() {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch refused = new CountDownLatch(1);
		Conversations refusing = closing(
				Conversations.builder(this.store).hooks(TestHooks.beforeSave("slow", (messages) -> {
					asked.countDown();
					awaitOpen(refused);
					return HookResult.refuse("no");
				})).build());
		this.model.says("a");
		TurnStreams here = streams();
		List<StreamEvent> events = new CopyOnWriteArrayList<>();
		here.start(ClientSetup.streaming()
			.builder(this.model, SessionAdvisor.of(refusing))
			.build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(this.key))).subscribe(events::add);
		awaitOpen(asked);
		assertThat(here.stop(this.key, events.get(0).id())).isTrue();
		refused.countDown();
		awaitEnd(events);
		assertThat(turn().status()).isEqualTo(TurnStatus.REFUSED);
		assertThat(events.get(events.size() - 1).event()).extracting("status").isEqualTo(TurnStatus.REFUSED);
	}

	/** Nobody knows yet what becomes of the turn, so nothing is said of it. */
	@Test
	void streamWhoseStopIsNotStoredInTimeIsLostForItsReaders() {
		ObservedStore slow = new ObservedStore(this.store);
		this.store = slow;
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, 3);
		List<StreamEvent> rest = new CopyOnWriteArrayList<>();
		here.resume(this.key, last(read)).subscribe(rest::add);
		CountDownLatch stored = new CountDownLatch(1);
		List<StreamEvent> delayed = stoppedBehindASlowAdvisor(here, stored);
		slow.beforeCommit(() -> awaitOpen(stored));
		assertThat(here.stop(this.key, read.get(0).id())).isTrue();
		Awaitility.await().atMost(SOON).until(() -> !rest.isEmpty() && delayed.size() > 1);
		assertThat(rest).as("the id of the event before").containsExactly(new StreamEvent(last(read), new Lost()));
		assertThat(here.resume(this.key, last(rest)).collectList().block(SOON)).as("who comes back").isEqualTo(rest);
		assertThat(delayed).last().extracting(StreamEvent::event).isEqualTo(new Lost());
		stored.countDown();
	}

	/** Stops a call that has an advisor whose stream waits when it is cancelled. */
	private List<StreamEvent> stoppedBehindASlowAdvisor(TurnStreams streams, CountDownLatch over) {
		SessionKey other = SessionKey.of("ada", UUID.randomUUID().toString());
		this.model.step((prompt) -> Flux.never());
		List<StreamEvent> events = new CopyOnWriteArrayList<>();
		streams
			.start(client().prompt().user("q").advisors(new SlowAdvisor(over)).advisors(SessionAdvisor.session(other)))
			.subscribe(events::add);
		Awaitility.await().until(() -> !events.isEmpty());
		new Thread(() -> streams.stop(other, events.get(0).id())).start();
		return events;
	}

	/** Waits when its stream is cancelled. */
	private record SlowAdvisor(CountDownLatch over) implements StreamAdvisor {

		@Override
		public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
			return chain.nextStream(request).doOnCancel(() -> awaitOpen(this.over));
		}

		@Override
		public String getName() {
			return "Slow";
		}

		@Override
		public int getOrder() {
			return SessionParameters.MODEL_ORDER - 10;
		}

	}

	/** A provider's client closes its connection when the read at work on it ends. */
	@Test
	@Timeout(20)
	void stopDoesNotWaitUntilTheModelIsCancelled() {
		CountDownLatch stored = new CountDownLatch(1);
		this.words.tryEmitNext(this.model.chunk("a", List.of(), false));
		this.model.step((prompt) -> this.words.asFlux().doOnCancel(() -> awaitOpen(stored)));
		TurnStreams here = streams();
		List<StreamEvent> events = new CopyOnWriteArrayList<>();
		here.start(prompt()).subscribe(events::add);
		Awaitility.await().until(() -> events.size() > 1);
		assertThat(here.stop(this.key, events.get(0).id())).isTrue();
		awaitEnd(events);
		assertThat(stored.getCount()).isOne();
		assertThat(events).last().extracting("event.status").isEqualTo(TurnStatus.CANCELLED);
		stored.countDown();
	}

	@Test
	void repeatedRequestReadsTheCallThatIsAtWorkHere() {
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, request("r1"), 2);
		List<StreamEvent> again = new CopyOnWriteArrayList<>();
		here.start(request("r1")).subscribe(again::add);
		Awaitility.await().untilAsserted(() -> assertThat(texts(again)).isEqualTo("ab"));
		say("c");
		awaitEnd(again);
		assertThat(again.subList(0, 2)).isEqualTo(read);
		assertThat(texts(again)).isEqualTo("abc");
	}

	@Test
	void repeatedRequestOfAnotherSessionIsAnotherOne() {
		TurnStreams here = streams();
		begun(here, request("r1"), 2);
		this.model.says("mine");
		List<StreamEvent> others = here
			.start(request("r1").advisors(SessionAdvisor.session(SessionKey.of("bob", this.key.id()))))
			.collectList()
			.block(SOON);
		assertThat(texts(others)).isEqualTo("mine");
	}

	@Test
	void repeatedRequestWaitsForACallWhoseEventsAreNotKept() {
		this.model.step((prompt) -> this.words.asFlux());
		this.words.tryEmitNext(this.model.chunk("a", List.of(), false));
		CountDownLatch asked = new CountDownLatch(1);
		CallEvents.of(request("r1")).subscribe((event) -> asked.countDown());
		Awaitility.await().until(() -> asked.getCount() == 0);
		String alone = line();
		List<StreamEvent> again = new CopyOnWriteArrayList<>();
		streams().start(request("r1")).subscribe(again::add);
		Awaitility.await().until(() -> line().length() > alone.length());
		say("b");
		awaitEnd(again);
		assertThat(texts(again)).isEqualTo("ab");
		assertThat(this.model.prompts()).hasSize(1);
	}

	/** It keeps its place in the line of the request. */
	@Test
	void repeatedRequestOutlivesASearchThatFails() {
		begun(streams(), request("r1"), 2);
		AtomicInteger searches = new AtomicInteger();
		ObservedStore failing = new ObservedStore(this.store);
		failing.beforeRecords((kind) -> {
			if (kind.equals(StreamLogs.KIND) && searches.getAndIncrement() == 0) {
				throw new StoreUnavailableException("away", null);
			}
		});
		this.store = failing;
		List<StreamEvent> again = new CopyOnWriteArrayList<>();
		AtomicReference<Throwable> failure = new AtomicReference<>();
		streams().start(request("r1")).subscribe(again::add, failure::set);
		Awaitility.await().atMost(SOON).until(() -> searches.get() > 0);
		say("c");
		Awaitility.await().atMost(SOON).until(() -> failure.get() != null || texts(again).equals("abc"));
		assertThat(failure).hasValue(null);
		assertThat(this.model.prompts()).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void requestIsStoppedByItsNameInAnotherProcess(TestStores kind) {
		this.store = STORES.computeIfAbsent(kind, TestStores::create);
		List<StreamEvent> read = begun(streams(), request("r1"), 3);
		TurnStreams there = streams();
		assertThat(there.stopRequest(this.key, "r2")).isFalse();
		assertThat(there.stopRequest(SessionKey.of("bob", this.key.id()), "r1")).isFalse();
		assertThat(there.stopRequest(this.key, "r1")).isTrue();
		Awaitility.await().atMost(SOON).until(() -> !turns().isEmpty());
		assertThat(turn().status()).isEqualTo(TurnStatus.CANCELLED);
		awaitWritten(read);
		assertThat(there.stopRequest(this.key, "r1")).isFalse();
	}

	/** The store takes its time to begin the first stream. */
	private void beginningWaits(CountDownLatch asked, CountDownLatch answered) {
		ObservedStore slow = new ObservedStore(this.store);
		this.store = slow;
		slow.beforePut((record) -> {
			if (record.kind().equals(StreamLogs.KIND) && asked.getCount() > 0) {
				asked.countDown();
				awaitOpen(answered);
			}
		});
	}

	/** Waits until a part of the stream is stored with a mark. */
	private void awaitStored(String mark) {
		Awaitility.await()
			.atMost(SOON)
			.until(() -> this.store.records(this.key, StreamLogs.KIND)
				.stream()
				.anyMatch((record) -> record.payload().contains("\"" + mark + "\"")));
	}

	/** The store is asked to begin the stream meanwhile. */
	@Test
	void requestIsStoppedByItsNameBeforeItsStreamIsStored() throws Exception {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch answered = new CountDownLatch(1);
		beginningWaits(asked, answered);
		this.model.says("a");
		TurnStreams streams = streams();
		List<StreamEvent> read = new CopyOnWriteArrayList<>();
		streams.start(request("r1")).subscribe(read::add);
		assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
		boolean stopped = streams.stopRequest(this.key, "r1");
		answered.countDown();
		assertThat(stopped).isTrue();
		awaitEnd(read);
		assertThat(read).extracting(StreamEvent::event).containsExactly(new Ended(null, 0, TurnStatus.CANCELLED));
		Awaitility.await().atMost(SOON).until(() -> streams.count() == 0);
		assertThat(this.model.prompts()).isEmpty();
	}

	@Test
	void callThatWaitsInLineSaysSoAndCanBeStopped() {
		TurnStreams here = streams();
		begun(here, request("r1").advisors(SessionAdvisor.concurrency(Concurrency.SERIALIZE)), 2);
		List<StreamEvent> waiting = new CopyOnWriteArrayList<>();
		TurnStreams there = streams();
		there.start(request("r2").advisors(SessionAdvisor.concurrency(Concurrency.SERIALIZE))).subscribe(waiting::add);
		Awaitility.await().until(() -> !waiting.isEmpty());
		assertThat(waiting).extracting(StreamEvent::event).containsExactly(new InLine());
		assertThat(here.stopRequest(this.key, "r2")).isTrue();
		awaitEnd(waiting);
		assertThat(waiting).extracting(StreamEvent::event)
			.containsExactly(new InLine(), new Ended(null, 0, TurnStatus.CANCELLED));
		say("c");
		Awaitility.await().until(() -> !turns().isEmpty());
		assertThat(turns()).hasSize(1);
		assertThat(this.model.prompts()).hasSize(1);
	}

	/** Nothing interrupts the hook, so the message is kept. */
	@Test
	void stoppedCallWhoseMessageIsQueuedMeanwhileEndsWithTheTurnThatHasIt() {
		this.gated = true;
		this.onNewMessage = OnNewMessage.QUEUE;
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1"));
		ask("q");
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch stopped = new CountDownLatch(1);
		this.hooks = List.of(slow(asked, stopped));
		assertThat(stoppedWhileItOpens(request("r1").user("more"), asked, stopped)).extracting(StreamEvent::event)
			.containsExactly(new Ended(turn().id(), turn().number(), TurnStatus.AWAITING_APPROVAL));
		this.hooks = List.of();
		this.model.says("done");
		approvals().approve(approvals().pending(this.key).get(0), "ann");
		client().prompt().advisors(SessionAdvisor.session(this.key)).stream().content().blockLast(SOON);
		assertThat(this.store.messages(this.key)).extracting(Message::getText).contains("more");
	}

	private static SessionHook slow(CountDownLatch asked, CountDownLatch stopped) {
		return TestHooks.beforeTurn("slow", (input) -> {
			asked.countDown();
			awaitOpen(stopped);
			return HookResult.keep();
		});
	}

	@Test
	void turnWhoseCallIsStoppedBeforeItGoesOnStaysOpen() {
		this.gated = true;
		ObservedStore slow = new ObservedStore(this.store);
		this.store = slow;
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1"));
		ask("q");
		CountDownLatch opening = new CountDownLatch(1);
		CountDownLatch stopped = new CountDownLatch(1);
		slow.beforePut((record) -> {
			if (record.kind().equals(TurnRecords.LEASE)) {
				opening.countDown();
				awaitOpen(stopped);
			}
		});
		ChatClientRequestSpec goingOn = client().prompt()
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.idempotencyKey("r1")));
		assertThat(stoppedWhileItOpens(goingOn, opening, stopped)).extracting(StreamEvent::event)
			.containsExactly(new Ended(turn().id(), 0, TurnStatus.AWAITING_APPROVAL));
		assertThat(turn().status()).isEqualTo(TurnStatus.AWAITING_APPROVAL);
	}

	@Test
	void turnOfACallThatIsStoppedBeforeItBeginsIsCancelled() {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch stopped = new CountDownLatch(1);
		this.hooks = List.of(slow(asked, stopped));
		assertThat(stoppedWhileItOpens(request("r1"), asked, stopped)).extracting(StreamEvent::event)
			.containsExactly(new Ended(null, 0, TurnStatus.CANCELLED));
		assertThat(turns()).isEmpty();
	}

	/** Stops a call of request r1 while its turn is being opened. */
	private List<StreamEvent> stoppedWhileItOpens(ChatClientRequestSpec call, CountDownLatch opening,
			CountDownLatch stopped) {
		TurnStreams here = streams();
		List<StreamEvent> events = new CopyOnWriteArrayList<>();
		here.start(call).subscribe(events::add);
		awaitOpen(opening);
		assertThat(here.stopRequest(this.key, "r1")).isTrue();
		Awaitility.await().during(Duration.ofMillis(300)).until(events::isEmpty);
		stopped.countDown();
		awaitEnd(events);
		return events;
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void stoppedCallWhoseMessageHasJoinedATurnIsToldSo(boolean elsewhere) {
		TurnStreams here = streams();
		Sinks.Many<ChatResponse> second = Sinks.many().unicast().onBackpressureBuffer();
		this.model.step((prompt) -> this.words.asFlux()).step((prompt) -> second.asFlux());
		List<StreamEvent> works = new CopyOnWriteArrayList<>();
		here.start(request("r1").advisors(SessionAdvisor.concurrency(Concurrency.STEER))).subscribe(works::add);
		Awaitility.await().until(() -> !this.model.prompts().isEmpty());
		List<StreamEvent> waiting = new CopyOnWriteArrayList<>();
		TurnStreams there = streams();
		there.start(request("r2").user("more").advisors(SessionAdvisor.concurrency(Concurrency.STEER)))
			.subscribe(waiting::add);
		Awaitility.await().until(() -> !this.store.records(this.key, Lines.OFFER).isEmpty());
		this.words.tryEmitNext(this.model.chunk("", List.of(SessionAdvisorTests.call("c1", "add", "1")), true));
		this.words.tryEmitComplete();
		Awaitility.await()
			.untilAsserted(() -> assertThat(works).extracting(StreamEvent::event).contains(new Joined("more")));
		assertThat((elsewhere ? here : there).stopRequest(this.key, "r2")).isTrue();
		Awaitility.await()
			.atMost(SOON)
			.untilAsserted(() -> assertThat(waiting).extracting(StreamEvent::event)
				.containsExactly(new InLine(), new Steered(), new Lost()));
		second.tryEmitNext(this.model.chunk("done", List.of(), true));
		second.tryEmitComplete();
		awaitEnd(works);
		assertThat(turn().status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.store.messages(this.key)).extracting(Message::getText).contains("more");
		assertThat(there.resume(this.key, waiting.get(0).id()).map(StreamEvent::event).collectList().block(SOON))
			.containsExactly(new Steered(), new Lost());
	}

	/** Its client would send it again, and the model might get it twice. */
	@Test
	void stoppedCallThatCannotTakeItsMessageBackDoesNotSayThatItIsCancelled() {
		this.model.step((prompt) -> this.words.asFlux());
		List<StreamEvent> works = new CopyOnWriteArrayList<>();
		streams().start(request("r1").advisors(SessionAdvisor.concurrency(Concurrency.STEER))).subscribe(works::add);
		Awaitility.await().until(() -> !this.model.prompts().isEmpty());
		ObservedStore failing = new ObservedStore(this.store);
		this.store = failing;
		TurnStreams there = streams();
		List<StreamEvent> waiting = new CopyOnWriteArrayList<>();
		there.start(request("r2").user("more").advisors(SessionAdvisor.concurrency(Concurrency.STEER)))
			.subscribe(waiting::add);
		Awaitility.await().until(() -> !this.store.records(this.key, Lines.OFFER).isEmpty() && !waiting.isEmpty());
		failing.beforePut((record) -> {
			if (record.kind().equals("line")) {
				throw new StoreUnavailableException("away", null);
			}
		});
		assertThat(there.stopRequest(this.key, "r2")).isTrue();
		Awaitility.await()
			.atMost(SOON)
			.untilAsserted(
					() -> assertThat(waiting).extracting(StreamEvent::event).containsExactly(new InLine(), new Lost()));
		failing.beforePut((record) -> {
		});
		say("done");
		awaitEnd(works);
	}

	/** The look at the line finds the turn, and nothing interrupts it. */
	@Test
	void stoppedCallWhoseMessageIsInATurnThatIsStoredMeanwhileEndsWithThatTurn() {
		TurnStreams here = streams();
		Sinks.Many<ChatResponse> second = Sinks.many().unicast().onBackpressureBuffer();
		this.model.step((prompt) -> this.words.asFlux()).step((prompt) -> second.asFlux());
		List<StreamEvent> works = new CopyOnWriteArrayList<>();
		here.start(request("r1").advisors(SessionAdvisor.concurrency(Concurrency.STEER))).subscribe(works::add);
		Awaitility.await().until(() -> !this.model.prompts().isEmpty());
		ObservedStore slow = new ObservedStore(this.store);
		this.store = slow;
		TurnStreams there = streams();
		List<StreamEvent> waiting = new CopyOnWriteArrayList<>();
		there.start(request("r2").user("more").advisors(SessionAdvisor.concurrency(Concurrency.STEER)))
			.subscribe(waiting::add);
		Awaitility.await().until(() -> !this.store.records(this.key, Lines.OFFER).isEmpty());
		this.words.tryEmitNext(this.model.chunk("", List.of(SessionAdvisorTests.call("c1", "add", "1")), true));
		this.words.tryEmitComplete();
		Awaitility.await()
			.untilAsserted(() -> assertThat(works).extracting(StreamEvent::event).contains(new Joined("more")));
		CountDownLatch looking = new CountDownLatch(1);
		CountDownLatch stopped = new CountDownLatch(1);
		slow.beforeRecord(() -> {
			looking.countDown();
			awaitOpen(stopped);
		});
		awaitOpen(looking);
		second.tryEmitNext(this.model.chunk("done", List.of(), true));
		second.tryEmitComplete();
		awaitEnd(works);
		assertThat(there.stopRequest(this.key, "r2")).isTrue();
		stopped.countDown();
		awaitEnd(waiting);
		assertThat(waiting).extracting(StreamEvent::event)
			.containsExactly(new InLine(), new Steered(),
					new Ended(turn().id(), turn().number(), TurnStatus.COMPLETED));
	}

	/** Its client would send it again, and the model would get it twice. */
	@Test
	void callWhoseStreamCannotBeginSaysThatItsMessageHasJoinedATurnMeanwhile() {
		Sinks.Many<ChatResponse> second = Sinks.many().unicast().onBackpressureBuffer();
		this.model.step((prompt) -> this.words.asFlux()).step((prompt) -> second.asFlux());
		List<StreamEvent> works = new CopyOnWriteArrayList<>();
		streams().start(request("r1").advisors(SessionAdvisor.concurrency(Concurrency.STEER))).subscribe(works::add);
		Awaitility.await().until(() -> !this.model.prompts().isEmpty());
		ObservedStore failing = new ObservedStore(this.store);
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch joined = new CountDownLatch(1);
		failing.beforePut((record) -> {
			if (record.kind().equals(StreamLogs.KIND)) {
				asked.countDown();
				awaitOpen(joined);
				throw new StoreUnavailableException("away", null);
			}
		});
		this.store = failing;
		AtomicReference<Throwable> failure = new AtomicReference<>();
		streams().start(request("r2").user("more").advisors(SessionAdvisor.concurrency(Concurrency.STEER)))
			.subscribe((event) -> {
			}, failure::set);
		awaitOpen(asked);
		this.words.tryEmitNext(this.model.chunk("", List.of(SessionAdvisorTests.call("c1", "add", "1")), true));
		this.words.tryEmitComplete();
		Awaitility.await()
			.atMost(SOON)
			.untilAsserted(() -> assertThat(works).extracting(StreamEvent::event).contains(new Joined("more")));
		joined.countDown();
		Awaitility.await().atMost(SOON).until(() -> failure.get() != null);
		assertThat(failure.get()).isInstanceOf(StoreUnavailableException.class)
			.matches(SessionException::isMessageKept);
		second.tryEmitNext(this.model.chunk("done", List.of(), true));
		second.tryEmitComplete();
		awaitEnd(works);
		assertThat(this.store.messages(this.key)).extracting(Message::getText).containsOnlyOnce("more");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void pageThatIsOpenedMeanwhileReadsTheCallAtWorkFromItsBeginning(TestStores kind) {
		this.store = STORES.computeIfAbsent(kind, TestStores::create);
		TurnStreams here = streams();
		TurnStreams there = streams();
		assertThat(there.running(this.key).collectList().block(SOON)).isEmpty();
		List<StreamEvent> read = begun(here, 3);
		assertThat(there.running(SessionKey.of("bob", this.key.id())).collectList().block(SOON)).isEmpty();
		List<StreamEvent> page = new CopyOnWriteArrayList<>();
		List<StreamEvent> local = new CopyOnWriteArrayList<>();
		here.running(this.key).subscribe(local::add);
		Awaitility.await().atMost(SOON).until(() -> there.running(this.key).blockFirst(SOON) != null);
		there.running(this.key).subscribe(page::add);
		Awaitility.await().atMost(SOON).untilAsserted(() -> assertThat(page).isEqualTo(read));
		say("c");
		awaitEnd(page);
		awaitEnd(local);
		assertThat(texts(page)).isEqualTo("abc");
		assertThat(local).isEqualTo(page);
		assertThat(there.running(this.key).collectList().block(SOON)).isEmpty();
		assertThat(here.running(this.key).collectList().block(SOON)).isEmpty();
	}

	/** Those before it may work on a session that was erased meanwhile. */
	@Test
	void pageThatIsOpenedWhileSeveralCallsWorkReadsTheNewest() {
		TurnStreams streams = streams();
		List<StreamEvent> read = new CopyOnWriteArrayList<>();
		for (int i = 1; i <= 8; i++) {
			this.model.step((prompt) -> Flux.<ChatResponse>never());
			streams.start(request("r" + i))
				.filter((event) -> event.event() instanceof CallEvent.Begun)
				.subscribe(read::add);
			int begun = i;
			Awaitility.await().atMost(SOON).until(() -> read.size() == begun);
		}
		assertThat(streams.running(this.key).blockFirst(SOON)).isEqualTo(read.get(7));
		for (int i = 1; i <= 8; i++) {
			assertThat(streams.stopRequest(this.key, "r" + i)).isTrue();
		}
	}

	@Test
	void readerIsToldThatTheProcessIsGone() {
		this.lease = Duration.ofSeconds(1);
		String stream = abandoned("a", "b");
		List<StreamEvent> rest = streams().resume(this.key, stream + "-0").collectList().block(SOON);
		assertThat(rest).extracting(StreamEvent::event).containsExactly(new Text("b"), new Lost());
		assertThat(rest).extracting(StreamEvent::id)
			.as("who comes back has had no other event")
			.containsExactly(stream + "-1", stream + "-1");
		long before = System.nanoTime();
		assertThat(streams().resume(this.key, stream + "-57").collectList().block(SOON))
			.containsExactly(new StreamEvent(stream + "-57", new Lost()));
		assertThat(Duration.ofNanos(System.nanoTime() - before)).as("it is known by then")
			.isLessThan(Duration.ofMillis(900));
	}

	@Test
	void processThatWasGivenUpWritesNoMoreAndItsCallGoesOn() {
		this.lease = Duration.ofSeconds(1);
		AtomicBoolean away = new AtomicBoolean();
		SessionStore shared = this.store;
		this.store = AwayStores.of(shared, away::get);
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, 3);
		this.store = shared;
		AtomicReference<List<StreamEvent>> rest = new AtomicReference<>();
		away.set(true);
		streams().resume(this.key, last(read)).collectList().subscribe(rest::set);
		Awaitility.await().atMost(SOON).until(() -> rest.get() != null);
		away.set(false);
		assertThat(rest.get()).extracting(StreamEvent::event).containsExactly(new Lost());
		List<StreamEvent> local = new CopyOnWriteArrayList<>();
		here.resume(this.key, last(read)).subscribe(local::add);
		List<StreamEvent> back = new CopyOnWriteArrayList<>();
		here.resume(this.key, last(rest.get())).subscribe(back::add);
		say("c");
		awaitEnd(local);
		assertThat(texts(local)).isEqualTo("c");
		assertThat(back).as("of who had been told that it is lost").isEqualTo(local);
		assertThat(turn().status()).isEqualTo(TurnStatus.COMPLETED);
	}

	/** It shows three times in each lease of its own. */
	@Test
	void processIsNotGivenUpByAReaderWithAShorterLease() throws Exception {
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, 3);
		this.lease = Duration.ofSeconds(1);
		List<StreamEvent> rest = new CopyOnWriteArrayList<>();
		streams().resume(this.key, last(read)).subscribe(rest::add);
		TimeUnit.SECONDS.sleep(4);
		assertThat(rest).isEmpty();
		say("c");
		awaitEnd(rest);
		assertThat(texts(rest)).isEqualTo("c");
	}

	@Test
	void idsThatAreNotThoseOfAnEventOfTheSessionLookTheSame() {
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, 3);
		say("c");
		Awaitility.await().until(() -> !turns().isEmpty());
		String id = last(read);
		String stream = id.substring(0, id.indexOf('-'));
		SessionKey other = SessionKey.of("bob", this.key.id());
		this.store.add(other, this.store.messages(this.key));
		List<@Nullable String> ids = new ArrayList<>(List.of("", " ", "0", stream, stream + "-", stream + "--1",
				stream + "-1e3", stream + "-01", stream + "-999999999", stream + "-9999999999",
				stream + "-99999999999999999999999", "0" + stream.substring(1) + "g-1", stream.toUpperCase() + "-x",
				"'; drop table", stream + "-1\n" + stream + "-1", "x".repeat(100_000)));
		ids.add(null);
		for (TurnStreams streams : List.of(here, streams())) {
			for (String wrong : ids) {
				assertThat(failure(streams, this.key, wrong)).as("%s", wrong)
					.isEqualTo(failure(streams, this.key, "0".repeat(32) + "-0"));
			}
			assertThat(failure(streams, other, id)).isEqualTo(failure(streams, other, "0".repeat(32) + "-0"));
			assertThatExceptionOfType(StreamNotFoundException.class).isThrownBy(() -> streams.stop(other, id));
			assertThatExceptionOfType(StreamNotFoundException.class).isThrownBy(() -> streams.stop(other, "x"));
		}
	}

	@Test
	void streamThatRunsIsNotThereForOthers() {
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, 3);
		SessionKey other = SessionKey.of("bob", this.key.id());
		assertThat(failure(here, other, last(read))).isEqualTo(failure(here, other, "0".repeat(32) + "-0"));
		assertThat(failure(here, this.key, last(read) + "99"))
			.isEqualTo(failure(here, this.key, "0".repeat(32) + "-0"));
		assertThatExceptionOfType(StreamNotFoundException.class).isThrownBy(() -> here.stop(other, last(read)));
		assertThat(turns()).isEmpty();
		say("c");
		Awaitility.await().until(() -> !turns().isEmpty());
		assertThat(turn().status()).isEqualTo(TurnStatus.COMPLETED);
	}

	@Test
	void callerReachesNoStreamOfSomebodyElse() {
		AtomicReference<Caller> caller = new AtomicReference<>(Caller.of("ada"));
		this.access = SessionAccess.of(() -> Optional.of(caller.get()));
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, 3);
		SessionKey named = SessionKey.of(this.key.id());
		caller.set(Caller.of("mallory"));
		for (TurnStreams streams : List.of(here, streams())) {
			for (SessionKey foreign : List.of(this.key, SessionKey.of("ada", "absent"))) {
				StepVerifier.create(streams.resume(foreign, last(read)))
					.expectError(SessionNotFoundException.class)
					.verify(SOON);
				assertThatExceptionOfType(SessionNotFoundException.class)
					.isThrownBy(() -> streams.stop(foreign, last(read)));
			}
			assertThat(failure(streams, named, last(read))).isEqualTo(failure(streams, named, "0".repeat(32) + "-0"));
		}
		caller.set(Caller.of("ada"));
		List<StreamEvent> rest = new CopyOnWriteArrayList<>();
		here.resume(named, last(read)).subscribe(rest::add);
		say("c");
		awaitEnd(rest);
		assertThat(texts(read) + texts(rest)).isEqualTo("abc");
	}

	private static String failure(TurnStreams streams, SessionKey session, @Nullable String id) {
		AtomicReference<Throwable> failure = new AtomicReference<>();
		StepVerifier.create(streams.resume(session, id)).expectErrorSatisfies(failure::set).verify(SOON);
		assertThat(failure.get()).isInstanceOf(StreamNotFoundException.class);
		return failure.get().getMessage();
	}

	@Test
	void everyPartExpiresAndWhatHasExpiredIsNotThere() {
		SetClock clock = new SetClock();
		this.store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()).clock(clock));
		List<StreamEvent> read = begun(streams(), 3);
		say("c");
		Awaitility.await().until(() -> !turns().isEmpty());
		awaitWritten(read);
		assertThat(this.store.records(this.key, StreamLogs.KIND)).isNotEmpty()
			.allSatisfy((record) -> assertThat(record.expiresAt())
				.isEqualTo(clock.instant().plus(TurnStreams.DEFAULT_TIME_TO_LIVE)));
		clock.pass(TurnStreams.DEFAULT_TIME_TO_LIVE);
		assertThat(this.store.records(this.key, StreamLogs.KIND)).isEmpty();
		assertThat(failure(streams(), this.key, last(read))).contains("sessionkit.streams.time-to-live");
	}

	/** Whoever searches a session for a stream reads all of them. */
	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void processKeepsTheNewestOfItsFinishedStreamsAndAllThatAreAtWork(TestStores kind) {
		this.store = STORES.computeIfAbsent(kind, TestStores::create);
		String elsewhere = abandoned("a");
		TurnStreams here = streams();
		String working = stream(begun(here, 3));
		List<List<StreamEvent>> finished = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			finished.add(finished(here, "a" + i));
		}
		Set<String> kept = finished.stream().skip(2).map(TurnStreamsTests::stream).collect(Collectors.toSet());
		kept.addAll(List.of(elsewhere, working));
		Awaitility.await().atMost(SOON).untilAsserted(() -> assertThat(streamsKept()).isEqualTo(kept));
		assertThat(failure(streams(), this.key, finished.get(1).get(0).id())).isNotEmpty();
		assertThat(streams().resume(this.key, finished.get(2).get(0).id()).collectList().block(SOON))
			.isEqualTo(finished.get(2).subList(1, finished.get(2).size()));
		say("c");
	}

	/** The rest of a stream has its end, so that nobody takes it to be at work. */
	@Test
	void streamWhoseDeletionFailsIsOver() {
		AtomicInteger failures = new AtomicInteger();
		ObservedStore failing = new ObservedStore(this.store);
		failing.beforePut((record) -> {
			if (record.payload() == null && record.id().endsWith(".1")) {
				failures.incrementAndGet();
				throw new StoreUnavailableException("The store is down.", null);
			}
		});
		this.store = failing;
		TurnStreams here = streams();
		List<StreamEvent> first = finished(here, "a");
		for (int i = 0; i < 8; i++) {
			finished(here, "b");
		}
		Awaitility.await().atMost(SOON).untilAsserted(() -> assertThat(failures).hasValue(1));
		assertThat(this.store.records(this.key, StreamLogs.KIND)).extracting(SessionRecord::id)
			.contains(stream(first) + ".1")
			.doesNotContain(stream(first) + ".0");
		assertThat(streams().running(this.key).collectList().block(SOON)).isEmpty();
		assertThat(turns()).hasSize(9);
	}

	@Test
	void searchReadsNothingButTheEndOfAStreamThatIsOver() {
		AtomicInteger read = new AtomicInteger();
		MessageCodec codec = JsonMessageCodec.create();
		MessageCodec counting = (MessageCodec) Proxy.newProxyInstance(MessageCodec.class.getClassLoader(),
				new Class<?>[] { MessageCodec.class }, (proxy, method, arguments) -> {
					read.addAndGet(method.getName().equals("decodeValues") ? 1 : 0);
					return method.invoke(codec, arguments);
				});
		this.store = new InMemorySessionStore(StoreOptions.of(counting));
		TurnStreams here = streams();
		finished(here, "a");
		finished(here, "b");
		assertThat(this.store.records(this.key, StreamLogs.KIND)).hasSizeGreaterThan(2);
		read.set(0);
		assertThat(streams().running(this.key).collectList().block(SOON)).isEmpty();
		assertThat(read).hasValue(2);
	}

	private List<StreamEvent> finished(TurnStreams streams, String answer) {
		this.model.says(answer);
		List<StreamEvent> events = streams.start(prompt()).collectList().block(SOON);
		awaitWritten(events);
		return events;
	}

	private Set<String> streamsKept() {
		return this.store.records(this.key, StreamLogs.KIND)
			.stream()
			.map((record) -> record.id().substring(0, record.id().indexOf('.')))
			.collect(Collectors.toSet());
	}

	@Test
	void streamThatIsTooLargeIsLostElsewhereAndItsCallGoesOn() {
		TurnStreams small = closing(TurnStreams.builder(conversations()).maxSize(DataSize.ofBytes(200)).build());
		List<StreamEvent> read = begun(small, 2);
		List<StreamEvent> local = new CopyOnWriteArrayList<>();
		small.resume(this.key, last(read)).subscribe(local::add);
		say("c".repeat(300));
		awaitEnd(local);
		awaitWritten(read);
		assertThat(texts(local)).hasSize(301);
		List<StreamEvent> rest = streams().resume(this.key, read.get(0).id()).collectList().block(SOON);
		assertThat(rest).last().extracting(StreamEvent::event).isEqualTo(new Lost());
		assertThat(this.store.records(this.key, StreamLogs.KIND))
			.allSatisfy((record) -> assertThat(record.payload().length()).isLessThan(200));
	}

	/** Its process writes nothing more of it, and could not say so anywhere. */
	@Test
	void streamOfASessionThatIsErasedIsLostElsewhereBeforeTheLeaseIsOver() {
		List<StreamEvent> read = begun(streams(), 3);
		List<StreamEvent> rest = new CopyOnWriteArrayList<>();
		streams().resume(this.key, last(read)).subscribe(rest::add);
		Awaitility.await().until(() -> this.store.records(this.key, StreamLogs.KIND).size() > 1);
		this.store.erase(this.key);
		Awaitility.await()
			.atMost(SOON)
			.untilAsserted(() -> assertThat(rest).extracting(StreamEvent::event).containsExactly(new Lost()));
	}

	/** Nobody writes that stream any more, and the process that works knows its call. */
	@Test
	void callWhoseStreamIsTooLargeIsStoppedInItsOwnProcess() {
		TurnStreams small = closing(TurnStreams.builder(conversations()).maxSize(DataSize.ofBytes(200)).build());
		List<StreamEvent> read = begun(small, 2);
		List<StreamEvent> local = new CopyOnWriteArrayList<>();
		small.resume(this.key, last(read)).subscribe(local::add);
		this.words.tryEmitNext(this.model.chunk("c".repeat(300), List.of(), false));
		awaitWritten(read);
		assertThat(small.stop(this.key, read.get(0).id())).isTrue();
		awaitEnd(local);
		Awaitility.await().untilAsserted(() -> assertThat(turn().status()).isEqualTo(TurnStatus.CANCELLED));
	}

	/** The reader leaves while the store is asked to begin the stream. */
	@Test
	void streamThatNobodyWaitsForAnyMoreEndsAlsoIfItHasOnlyBegun() throws Exception {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch answered = new CountDownLatch(1);
		beginningWaits(asked, answered);
		this.model.says("a");
		TurnStreams streams = streams();
		Disposable reader = streams.start(prompt(), OnDisconnect.CANCEL).subscribe();
		assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
		reader.dispose();
		answered.countDown();
		awaitStored("END");
		Awaitility.await().atMost(SOON).until(() -> streams.count() == 0);
	}

	/** A reader elsewhere must not take a stream without events for an empty answer. */
	@Test
	void streamThatIsGivenUpWhileItBeginsIsLostElsewhere() throws Exception {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch answered = new CountDownLatch(1);
		beginningWaits(asked, answered);
		this.model.says("a");
		TurnStreams streams = streams();
		streams.start(prompt()).onErrorComplete().subscribe();
		assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
		streams.close();
		answered.countDown();
		awaitStored("LOST");
	}

	@Test
	void endThatTheStoreDoesNotTakeIsWrittenWhenItIsBack() {
		ObservedStore failing = new ObservedStore(this.store);
		this.store = failing;
		List<StreamEvent> read = begun(streams(), 3);
		AtomicInteger failures = new AtomicInteger();
		failing.beforePut((record) -> {
			if (String.valueOf(record.payload()).contains("\"END\"") && failures.incrementAndGet() < 4) {
				throw new StoreUnavailableException("away", null);
			}
		});
		say("c");
		List<StreamEvent> rest = streams().resume(this.key, read.get(0).id()).collectList().block(SOON);
		assertThat(texts(rest)).isEqualTo("abc");
		assertThat(rest).last().extracting(StreamEvent::event).isInstanceOf(Ended.class);
		assertThat(failures).hasValueGreaterThan(3);
	}

	@Test
	void endThatTheStoreDoesNotTakeForALeaseIsGivenUp() {
		this.lease = Duration.ofSeconds(2);
		ObservedStore failing = new ObservedStore(this.store);
		this.store = failing;
		TurnStreams here = streams();
		begun(here, 3);
		ListAppender<ILoggingEvent> log = listening();
		failing.beforePut((record) -> {
			if (isEnd(record)) {
				throw new StoreUnavailableException("away", null);
			}
		});
		long ended = System.nanoTime();
		say("c");
		Awaitility.await().atMost(SOON).until(() -> here.count() == 0);
		assertThat(Duration.ofNanos(System.nanoTime() - ended)).isGreaterThan(this.lease);
		assertThat(logged(log)).last().asString().contains("could not be written for 2s and is given up");
	}

	@Test
	void processThatEndsWritesTheEndThatIsBeingWritten() throws Exception {
		ObservedStore slow = new ObservedStore(this.store);
		this.store = slow;
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, 3);
		CountDownLatch ending = new CountDownLatch(1);
		CountDownLatch answered = new CountDownLatch(1);
		slow.beforePut((record) -> {
			if (isEnd(record)) {
				ending.countDown();
				awaitOpen(answered);
			}
		});
		say("c");
		awaitOpen(ending);
		CompletableFuture<Void> closing = CompletableFuture.runAsync(here::close);
		Awaitility.await().during(Duration.ofMillis(300)).until(() -> !closing.isDone());
		answered.countDown();
		closing.get(20, TimeUnit.SECONDS);
		assertThat(streams().resume(this.key, last(read)).map(StreamEvent::event).collectList().block(SOON))
			.containsExactly(new Text("c"), new Ended(turn().id(), 1, TurnStatus.COMPLETED));
	}

	@Test
	void processThatEndsBeforeACallTellsItsOwnReadersTooAndTheCallGoesOn() {
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, 3);
		List<StreamEvent> local = new CopyOnWriteArrayList<>();
		AtomicBoolean completed = new AtomicBoolean();
		here.resume(this.key, last(read)).doOnComplete(() -> completed.set(true)).subscribe(local::add);
		here.close();
		Awaitility.await().atMost(SOON).until(completed::get);
		assertThat(local).extracting(StreamEvent::event).containsExactly(new Lost());
		assertThat(streams().resume(this.key, last(read)).collectList().block(SOON)).isEqualTo(local);
		say("c");
		Awaitility.await().atMost(SOON).until(() -> !turns().isEmpty());
		assertThat(turn().status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(local).hasSize(1);
	}

	/** Readers are code of the application. */
	@Test
	void readerThatBlocksDoesNotKeepTheEndFromTheStoreWhenItsProcessEnds() throws Exception {
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, 3);
		CountDownLatch told = new CountDownLatch(1);
		CountDownLatch released = new CountDownLatch(1);
		here.resume(this.key, last(read)).subscribe((event) -> {
			told.countDown();
			awaitOpen(released);
		});
		CompletableFuture<Void> closing = CompletableFuture.runAsync(here::close);
		try {
			awaitOpen(told);
			awaitStored("LOST");
			closing.get(20, TimeUnit.SECONDS);
		}
		finally {
			released.countDown();
		}
		say("c");
	}

	/** Whoever continues turns by itself must not take it for done. */
	@Test
	void callThatIsWaitedForIsSaidToBeAtWorkWhenItsProcessEnds() {
		this.model.step((prompt) -> this.words.asFlux());
		TurnStreams here = streams();
		CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> here.complete(prompt()));
		Awaitility.await().atMost(SOON).until(() -> !this.model.prompts().isEmpty());
		here.close();
		assertThat(waiting).failsWithin(SOON).withThrowableThat().withCauseInstanceOf(TurnInProgressException.class);
		say("c");
	}

	@Test
	void endThatTheStoreDoesNotTakeWhenTheProcessEndsIsNotSaidToBeTriedAgain() {
		AtomicBoolean away = new AtomicBoolean();
		this.store = AwayStores.of(this.store, away::get);
		TurnStreams here = streams();
		begun(here, 3);
		ListAppender<ILoggingEvent> log = listening();
		away.set(true);
		here.close();
		assertThat(logged(log)).singleElement()
			.asString()
			.contains("and this process ends")
			.doesNotContain("tried again");
		away.set(false);
		say("c");
	}

	@Test
	void processThatEndsDoesNotWaitForAStoreThatHangs() throws Exception {
		ObservedStore hanging = new ObservedStore(this.store);
		this.store = hanging;
		TurnStreams here = streams();
		begun(here, 3);
		CountDownLatch answered = new CountDownLatch(1);
		hanging.beforePut((record) -> {
			if (String.valueOf(record.payload()).contains("\"LOST\"")) {
				awaitOpen(answered);
			}
		});
		try {
			CompletableFuture.runAsync(() -> here.close(Duration.ofSeconds(1))).get(20, TimeUnit.SECONDS);
			assertThat(here.count()).isZero();
		}
		finally {
			answered.countDown();
		}
	}

	private static boolean isEnd(RecordWrite record) {
		return String.valueOf(record.payload()).contains("\"END\"");
	}

	/** A database may give up waiting for locks. */
	@Test
	void readerInAnotherProcessWaitsIfOthersKeepTheStoreFromAnswering() {
		String stream = abandoned("a");
		ObservedStore busy = new ObservedStore(this.store);
		this.store = busy;
		StreamReader reader = InnerParts.of(conversations(), StreamLogs.class)
			.reader(this.key, stream, -1, Duration.ofMinutes(1), () -> new StreamNotFoundException(this.key));
		assertThat(reader.read()).hasSize(1);
		AtomicInteger looks = new AtomicInteger();
		busy.beforeRecord(() -> {
			looks.incrementAndGet();
			throw new SessionConflictException("busy", null);
		});
		assertThat(reader.read()).isEmpty();
		assertThat(looks).hasValue(1);
		assertThat(reader.isOver()).isFalse();
	}

	@Test
	void readerInAnotherProcessWaitsForAStoreThatIsAwayForAWhile() {
		List<StreamEvent> read = begun(streams(), 3);
		SessionStore shared = this.store;
		AtomicBoolean away = new AtomicBoolean();
		this.store = AwayStores.of(shared, away::get);
		List<StreamEvent> rest = new CopyOnWriteArrayList<>();
		List<Throwable> failures = new CopyOnWriteArrayList<>();
		streams().resume(this.key, read.get(0).id()).subscribe(rest::add, failures::add);
		Awaitility.await().atMost(SOON).until(() -> rest.size() > 1);
		away.set(true);
		Awaitility.await().during(Duration.ofSeconds(1)).until(failures::isEmpty);
		say("c");
		away.set(false);
		awaitEnd(rest);
		assertThat(texts(rest)).isEqualTo("abc");
		assertThat(failures).isEmpty();
	}

	/** The process that works could not show meanwhile that it is there. */
	@Test
	void storeThatIsAwayIsWaitedForAsLongAsALeaseAndThenTheProcessIs() {
		this.lease = Duration.ofSeconds(5);
		String stream = abandoned("a");
		AtomicBoolean away = new AtomicBoolean();
		this.store = AwayStores.of(this.store, away::get);
		StreamReader reader = InnerParts.of(conversations(), StreamLogs.class)
			.reader(this.key, stream, -1, Duration.ofMinutes(1), () -> new StreamNotFoundException(this.key));
		assertThat(reader.read()).hasSize(1);
		away.set(true);
		Awaitility.await().during(Duration.ofMillis(1500)).until(() -> reader.read().isEmpty());
		away.set(false);
		Awaitility.await().during(Duration.ofMillis(1000)).until(() -> reader.read().isEmpty());
		away.set(true);
		Awaitility.await()
			.atMost(SOON)
			.untilAsserted(() -> assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(reader::read));
	}

	@Test
	void callWithoutTheNameOfAToolFailsForAllItsReaders() {
		List<StreamEvent> read = begun(streams(), 3);
		this.words.tryEmitNext(this.model.chunk("", List.of(new ToolCall("c1", "function", null, "{}")), true));
		this.words.tryEmitComplete();
		List<StreamEvent> rest = streams().resume(this.key, read.get(0).id()).collectList().block(SOON);
		assertThat(rest).extracting(StreamEvent::event)
			.contains(new CallEvent.ToolCalled("c1", "", "{}"))
			.last()
			.extracting("status")
			.isEqualTo(TurnStatus.FAILED);
		assertThat(turn().status()).isEqualTo(TurnStatus.FAILED);
	}

	@Test
	void halfACharacterEndsNoStream() {
		List<StreamEvent> read = begun(streams(), 3);
		this.words.tryEmitNext(this.model.chunk("c\uD83D", List.of(), false));
		say("");
		List<StreamEvent> rest = streams().resume(this.key, read.get(0).id()).collectList().block(SOON);
		assertThat(texts(rest)).isEqualTo("abc\uFFFD");
	}

	@Test
	void waitingCallIsReadAsItWasKept() {
		CallEvent.Waiting waiting = new CallEvent.Waiting(
				List.of(new CallEvent.WaitingCall("7", "c1", "add", "{}", "Add?", "digest@"),
						new CallEvent.WaitingCall("8", "", "add", "{}", null, "digest@")));
		assertThat(EventForm.read(EventForm.write(waiting))).isEqualTo(waiting);
	}

	@Test
	void failureIsReadAsItWasKept() {
		CallEvent.Failed failed = new CallEvent.Failed("7-a", TurnStatus.FAILED, "not-stored", false);
		assertThat(EventForm.read(EventForm.write(failed))).isEqualTo(failed);
		CallEvent.Failed unknown = new CallEvent.Failed(null, null, "error", null);
		assertThat(EventForm.read(EventForm.write(unknown))).isEqualTo(unknown);
	}

	/**
	 * A part of the stream was deleted or has expired: the process that works is not
	 * gone.
	 */
	@Test
	void holeIsNoSilence() {
		this.lease = Duration.ofSeconds(1);
		String stream = abandoned("a");
		StreamLogs logs = InnerParts.of(conversations(), StreamLogs.class);
		StreamReader reader = logs.reader(this.key, stream, -1, Duration.ofMinutes(1),
				() -> new StreamNotFoundException(this.key));
		assertThat(reader.read()).hasSize(1);
		RecordWrite later = RecordWrite.create(StreamLogs.KIND, stream + ".7",
				this.store.records(this.key, StreamLogs.KIND).get(0).payload());
		assertThat(this.store.put(this.key, later)).isTrue();
		Awaitility.await()
			.atMost(SOON)
			.untilAsserted(() -> assertThatExceptionOfType(StreamNotFoundException.class).isThrownBy(reader::read));
		assertThat(this.store.records(this.key, StreamLogs.KIND))
			.noneMatch((record) -> record.payload().contains("\"LOST\""));
	}

	/** Both may have been suspended, with their machine. */
	@Test
	void readerThatHasNotLookedForLongGivesTheProcessThatWorksTimeToShow() throws InterruptedException {
		this.lease = Duration.ofSeconds(2);
		String stream = abandoned("a");
		StreamReader reader = InnerParts.of(conversations(), StreamLogs.class)
			.reader(this.key, stream, -1, Duration.ofMinutes(1), () -> new StreamNotFoundException(this.key));
		assertThat(reader.read()).hasSize(1);
		Thread.sleep(2500);
		assertThat(reader.read()).isEmpty();
		assertThat(reader.isOver()).isFalse();
		Awaitility.await().atMost(SOON).until(() -> !reader.read().isEmpty());
		assertThat(reader.isOver()).isTrue();
	}

	/** A store that takes so long is not known as a slow one by then. */
	@Test
	void readerThatIsSuspendedWhileItLooksGivesTheProcessThatWorksTimeToShow() {
		this.lease = Duration.ofSeconds(1);
		String stream = abandoned("a");
		ObservedStore suspended = new ObservedStore(this.store);
		this.store = suspended;
		StreamReader reader = InnerParts.of(conversations(), StreamLogs.class)
			.reader(this.key, stream, -1, Duration.ofMinutes(1), () -> new StreamNotFoundException(this.key));
		assertThat(reader.read()).hasSize(1);
		suspended.beforeRecord(() -> sleep(Duration.ofSeconds(2)));
		assertThat(reader.read()).isEmpty();
		suspended.beforeRecord(() -> {
		});
		assertThat(reader.read()).isEmpty();
		assertThat(reader.isOver()).isFalse();
		Awaitility.await().atMost(SOON).until(() -> !reader.read().isEmpty());
		assertThat(reader.isOver()).isTrue();
	}

	/** Each answer takes longer than the pause that tells that the machine slept. */
	@Test
	void readerOfAStoreThatAnswersSlowlyIsToldThatTheProcessIsGone() {
		this.lease = Duration.ofSeconds(1);
		String stream = abandoned("a");
		ObservedStore slow = new ObservedStore(this.store);
		this.store = slow;
		slow.beforeRecord(() -> sleep(Duration.ofMillis(800)));
		StreamReader reader = InnerParts.of(conversations(), StreamLogs.class)
			.reader(this.key, stream, -1, Duration.ofMinutes(1), () -> new StreamNotFoundException(this.key));
		assertThat(reader.read()).hasSize(1);
		Awaitility.await().atMost(SOON).until(() -> !reader.read().isEmpty());
		assertThat(reader.isOver()).isTrue();
	}

	private static void sleep(Duration time) {
		try {
			Thread.sleep(time.toMillis());
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\"event\":\"sung\"}",
			"{\"event\":\"ended\",\"turn\":\"1-a\",\"number\":1,\"status\":\"SHELVED\"}",
			"{\"event\":\"failed\",\"status\":\"SHELVED\",\"failure\":\"X\"}" })
	void streamEndsForAReaderAtTheFirstEventThatOnlyANewerVersionKnows(String event) {
		String stream = written(List.of(EventForm.write(new Text("a")), JsonMapper.shared().readValue(event, Map.class),
				EventForm.write(new Text("c"))));
		assertThat(streams().resume(this.key, stream + "-0").collectList().block(SOON))
			.containsExactly(new StreamEvent(stream + "-0", new Lost()));
	}

	@Test
	void partOfAStreamInANewerFormIsNotReadButLost() {
		String stream = abandoned("a");
		Map<String, Object> newer = Map.of("version", 3, "first", 1, "events", List.of(Map.of("event", "text")));
		assertThat(this.store.put(this.key, RecordWrite.create(StreamLogs.KIND, stream + ".2",
				this.store.options().codec().encodeValues(this.key, newer))))
			.isTrue();
		assertThat(streams().resume(this.key, stream + "-0").collectList().block(SOON))
			.containsExactly(new StreamEvent(stream + "-0", new Lost()));
	}

	@Test
	void numberThatNoStreamReachesIsNotThere() {
		String stream = abandoned("a");
		assertThat(failure(streams(), this.key, stream + "-999999999")).isNotEmpty();
	}

	private static void awaitOpen(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	@Test
	void turnThatNobodyResumesCostsAtMostOneWriteForEachSecond() {
		Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();
		this.store = counted(this.store, calls);
		int seconds = 5;
		this.model.step((prompt) -> Flux.interval(Duration.ofMillis(20))
			.take(seconds * 50L)
			.map((tick) -> this.model.chunk("w ", List.of(), tick == seconds * 50L - 1)));
		TurnStreams here = streams();
		ask("before");
		calls.clear();
		List<StreamEvent> read = here.start(prompt()).collectList().block(SOON);
		assertThat(texts(read)).hasSize(seconds * 100);
		awaitWritten(read);
		assertThat(calls.get("put").get()).as("writes in %d s", seconds).isBetween(2, seconds);
		assertThat(calls.get("commit").get()).isEqualTo(1);
		assertThat(calls.getOrDefault("record", new AtomicInteger()).get()).as("looks").isLessThanOrEqualTo(seconds);
		System.out.println("A stream of " + seconds + " s that nobody resumes: " + calls);
	}

	@Test
	void readerInAnotherProcessHasTextsSoonAndLooksFourTimesASecondAtMost() {
		Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();
		List<StreamEvent> read = begun(streams(), 3);
		SessionStore shared = this.store;
		this.store = counted(shared, calls);
		List<StreamEvent> rest = new CopyOnWriteArrayList<>();
		long begin = System.nanoTime();
		streams().resume(this.key, last(read)).subscribe(rest::add);
		Flux.interval(Duration.ofMillis(100))
			.take(20)
			.doOnNext((tick) -> this.words.tryEmitNext(this.model.chunk(tick + " ", List.of(), false)))
			.blockLast(SOON);
		say("end");
		awaitEnd(rest);
		Duration took = Duration.ofNanos(System.nanoTime() - begin);
		int looks = calls.get("record").get() + calls.get("records").get();
		assertThat((double) looks).isLessThanOrEqualTo(4 * took.toMillis() / 1000.0 + 1);
		assertThat(calls.get("put").get()).as("the mark of the reader").isEqualTo(1);
		System.out.println("A reader in another process, " + took.toMillis() + " ms: " + calls);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void storeThatFailsForAWhileLosesNothing(boolean arrives) {
		ObservedStore failing = new ObservedStore(this.store);
		this.store = failing;
		List<StreamEvent> read = begun(streams(), 3);
		AtomicInteger failures = new AtomicInteger();
		AtomicBoolean fails = new AtomicBoolean(true);
		Runnable failure = () -> {
			if (fails.get()) {
				failures.incrementAndGet();
				throw new StoreUnavailableException("away", null);
			}
		};
		if (arrives) {
			failing.afterPut((record) -> failure.run());
		}
		else {
			failing.beforePut((record) -> failure.run());
		}
		this.words.tryEmitNext(this.model.chunk("c", List.of(), false));
		Awaitility.await().atMost(SOON).until(() -> failures.get() > 0);
		this.words.tryEmitNext(this.model.chunk("d", List.of(), false));
		fails.set(false);
		say("e");
		Awaitility.await().until(() -> !turns().isEmpty());
		List<StreamEvent> rest = streams().resume(this.key, read.get(0).id()).collectList().block(SOON);
		assertThat(texts(rest)).isEqualTo("abcde");
		assertThat(rest).last().extracting(StreamEvent::event).isInstanceOf(Ended.class);
	}

	@Test
	void storeThatIsAwayForAWhileIsLoggedOnce() {
		ObservedStore failing = new ObservedStore(this.store);
		this.store = failing;
		AtomicInteger failures = new AtomicInteger();
		AtomicBoolean fails = new AtomicBoolean();
		failing.beforePut((record) -> {
			if (fails.get()) {
				failures.incrementAndGet();
				throw new StoreUnavailableException("away", null);
			}
		});
		ListAppender<ILoggingEvent> log = listening();
		Logger logger = (Logger) LoggerFactory.getLogger(RunningStream.class);
		Level before = logger.getLevel();
		logger.setLevel(Level.INFO);
		try {
			begun(streams(), 3);
			fails.set(true);
			this.words.tryEmitNext(this.model.chunk("c", List.of(), false));
			Awaitility.await().atMost(SOON).until(() -> failures.get() > 3);
			fails.set(false);
			Awaitility.await().atMost(SOON).until(() -> logged(log).size() > 1);
			say("e");
			Awaitility.await().until(() -> !turns().isEmpty());
			assertThat(logged(log)).hasSize(2);
			assertThat(logged(log).get(0)).contains("could not be written", StoreUnavailableException.class.getName());
			assertThat(logged(log).get(1)).endsWith("is written again.");
		}
		finally {
			logger.setLevel(before);
		}
	}

	private ListAppender<ILoggingEvent> listening() {
		ListAppender<ILoggingEvent> log = new ListAppender<>();
		Logger logger = (Logger) LoggerFactory.getLogger(RunningStream.class);
		log.start();
		logger.addAppender(log);
		this.open.add(() -> logger.detachAppender(log));
		return log;
	}

	private List<String> logged(ListAppender<ILoggingEvent> log) {
		return List.copyOf(log.list)
			.stream()
			.map(ILoggingEvent::getFormattedMessage)
			.filter((message) -> message.contains(this.key.toString()))
			.toList();
	}

	@Test
	void streamOfAnEndedProcessIsOverForOthers() {
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, 3);
		here.close();
		assertThat(streams().resume(this.key, read.get(1).id()).collectList().block(SOON))
			.extracting(StreamEvent::event)
			.containsExactly(new Text("b"), new Lost());
	}

	@Test
	void pauseAndResultsAreInTheStream() {
		this.gated = true;
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).says("done");
		List<StreamEvent> read = streams().start(prompt()).collectList().block(SOON);
		awaitWritten(read);
		assertThat(streams().resume(this.key, read.get(0).id()).collectList().block(SOON))
			.isEqualTo(read.subList(1, read.size()));
		approvals().pending(this.key).forEach((call) -> approvals().approve(call, "anna"));
		List<StreamEvent> next = streams().start(client().prompt().advisors(SessionAdvisor.session(this.key)))
			.collectList()
			.block(SOON);
		assertThat(next).extracting(StreamEvent::event).contains(new ToolReturned("c1", "add", "1"));
		awaitWritten(next);
		assertThat(streams().resume(this.key, next.get(0).id()).collectList().block(SOON))
			.isEqualTo(next.subList(1, next.size()));
	}

	/** The caller gets the result as it is, and the store without the address. */
	@Test
	void streamIsKeptWithoutWhatARedactorTakesOutOfADirectResult() {
		this.hooks = List.of(Redactor.standard());
		this.model.calls(SessionAdvisorTests.call("c1", "read", "ada@example.com"));
		List<StreamEvent> read = streams().start(prompt()).collectList().block(SOON);
		assertThat(texts(read)).contains("ada@example.com");
		awaitWritten(read);
		assertThat(keptStreams()).isNotEmpty().noneMatch((payload) -> payload.contains("ada@example.com"));
		assertThat(this.store.messages(this.key)).extracting(Object::toString)
			.anyMatch((message) -> message.contains("[email]"));
		assertThat(keptEvents(read)).last().isEqualTo(new Lost());
	}

	@Test
	void streamIsKeptWholeIfARedactorTakesNothingOut() {
		this.hooks = List.of(Redactor.standard());
		this.model.calls(SessionAdvisorTests.call("c1", "read", "nothing"));
		List<StreamEvent> read = streams().start(prompt()).collectList().block(SOON);
		awaitWritten(read);
		assertThat(streams().resume(this.key, read.get(0).id()).collectList().block(SOON))
			.isEqualTo(read.subList(1, read.size()));
		assertThat(texts(read)).contains("nothing");
	}

	@Test
	void streamIsKeptWithoutWhatAHookMayTakeOutOfToolCalls() {
		this.hooks = List.of(withoutToolRounds());
		this.model.calls(SessionAdvisorTests.call("c1", "add", "secret")).says("done");
		List<StreamEvent> read = streams().start(prompt()).collectList().block(SOON);
		assertThat(read).extracting(StreamEvent::event).contains(new ToolReturned("c1", "add", "secret"));
		awaitWritten(read);
		assertThat(keptStreams()).isNotEmpty().noneMatch((payload) -> payload.contains("secret"));
		assertThat(keptEvents(read)).contains(new ToolReturned("c1", "add", ""), new Text("do"), new Text("ne"))
			.last()
			.isInstanceOf(Ended.class);
	}

	/** A text that a live reader has got by then cannot be taken back; a kept one can. */
	@Test
	void streamIsKeptWithoutATextThatAHookTakesOutLater() {
		this.hooks = List.of(saving((text) -> text.replace("b", "*")));
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, 3);
		assertThat(texts(read)).isEqualTo("ab");
		List<StreamEvent> local = new CopyOnWriteArrayList<>();
		here.resume(this.key, last(read)).subscribe(local::add);
		say("c");
		awaitEnd(local);
		awaitWritten(read);
		assertThat(this.store.messages(this.key)).extracting(Message::getText).containsExactly("q", "a*c");
		assertThat(keptStreams()).isNotEmpty().noneMatch((payload) -> payload.contains("\"text\":\"b\""));
		assertThat(keptEvents(read)).containsExactly(new Lost());
	}

	@Test
	void streamThatIsStoppedIsKeptWithoutTextsIfAHookMayTakeThemOut() {
		this.hooks = List.of(saving((text) -> text.replace("b", "*")));
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, 3);
		assertThat(here.stop(this.key, read.get(0).id())).isTrue();
		awaitWritten(read);
		assertThat(keptEvents(read)).containsExactly(new Text(""), new Text(""),
				new Ended(turn().id(), 0, TurnStatus.CANCELLED));
	}

	/** Its turn is history, and how it is stored is not known to the stream. */
	@Test
	void streamThatIsStoppedAndKeptEndsWithoutTextsIfAHookMayTakeThemOut() {
		this.hooks = List.of(saving((text) -> text));
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, prompt().advisors(SessionAdvisor.onCancel(OnCancel.KEEP)), 3);
		assertThat(here.stop(this.key, read.get(0).id())).isTrue();
		awaitWritten(read);
		assertThat(this.store.messages(this.key)).extracting(Message::getText).containsExactly("q", "ab");
		assertThat(keptEvents(read)).containsExactly(new Text(""), new Text(""),
				new Ended(turn().id(), 1, TurnStatus.COMPLETED));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void streamIsKeptWithItsTextsIfAProxiedHookTakesNothingOut(boolean ofClass) {
		this.hooks = List.of(proxied(TestHooks.beforeTurn("watches", (messages) -> HookResult.keep()), ofClass, true));
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, 3);
		assertThat(here.stop(this.key, read.get(0).id())).isTrue();
		awaitWritten(read);
		assertThat(keptEvents(read)).containsExactly(new Text("a"), new Text("b"),
				new Ended(turn().id(), 0, TurnStatus.CANCELLED));
	}

	/** As with a scope, or with {@code @Lazy} where the hook is injected. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void streamIsKeptWithoutTextsIfTheHookBehindAProxyMayBeAnother(boolean ofClass) {
		this.hooks = List.of(proxied(TestHooks.beforeTurn("watches", (messages) -> HookResult.keep()), ofClass, false));
		TurnStreams here = streams();
		List<StreamEvent> read = begun(here, 3);
		assertThat(here.stop(this.key, read.get(0).id())).isTrue();
		awaitWritten(read);
		assertThat(keptEvents(read)).containsExactly(new Text(""), new Text(""),
				new Ended(turn().id(), 0, TurnStatus.CANCELLED));
	}

	private static SessionHook proxied(SessionHook hook, boolean ofClass, boolean fixed) {
		ProxyFactory proxy = new ProxyFactory(hook);
		proxy.setProxyTargetClass(ofClass);
		if (!fixed) {
			proxy.setTargetSource(new HotSwappableTargetSource(hook));
		}
		return (SessionHook) proxy.getProxy();
	}

	private List<String> keptStreams() {
		return this.store.records(this.key, StreamLogs.KIND).stream().map(SessionRecord::payload).toList();
	}

	/** Returns the events that a reader elsewhere gets behind the first one. */
	private List<CallEvent> keptEvents(List<StreamEvent> read) {
		return streams().resume(this.key, read.get(0).id()).map(StreamEvent::event).collectList().block(SOON);
	}

	private static SessionHook withoutToolRounds() {
		return new Saving((messages) -> messages.stream()
			.filter((message) -> !(message instanceof ToolResponseMessage)
					&& !(message instanceof AssistantMessage reply && reply.hasToolCalls()))
			.toList());
	}

	private static SessionHook saving(UnaryOperator<String> change) {
		return new Saving((messages) -> messages.stream()
			.<Message>map((message) -> (message instanceof AssistantMessage reply)
					? new AssistantMessage(change.apply(reply.getText())) : message)
			.toList());
	}

	/** Changes what is stored, and lets streams stay live. */
	private record Saving(UnaryOperator<List<Message>> change) implements SessionHook {

		@Override
		public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
			return HookResult.replace(this.change.apply(part.messages()));
		}

		@Override
		public boolean checksReplies() {
			return false;
		}

	}

	@Test
	void failureBeforeTheFirstEventIsTheErrorOfTheStream() {
		this.gated = true;
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1"));
		ask("q");
		StepVerifier.create(streams().start(prompt())).expectError(TurnOpenException.class).verify(SOON);
	}

	@Test
	void callThatMayNotBeginASessionHasNoneAfterwards() {
		ChatClientRequestSpec withoutMessage = client().prompt().advisors(SessionAdvisor.session(this.key));
		StepVerifier.create(streams().start(withoutMessage)).expectError(NothingWaitsException.class).verify(SOON);
		StepVerifier.create(streams().start(prompt().advisors(SessionAdvisor.expectTurn(1))))
			.expectError(SessionLostException.class)
			.verify(SOON);
		ChatClientRequestSpec editing = prompt().advisors(SessionAdvisor.editing(1))
			.advisors(SessionAdvisor.concurrency(Concurrency.SERIALIZE));
		StepVerifier.create(streams().start(editing)).expectError(SessionNotFoundException.class).verify(SOON);
		assertThat(this.store.find(this.key)).isEmpty();
	}

	@Test
	void callThatIsNotStoredHasNoStream() {
		this.model.says("done").says("done");
		StepVerifier.create(streams().start(prompt().advisors(SessionAdvisor.reading())))
			.expectErrorMatches((ex) -> ex.getMessage().contains("CallEvents.of"))
			.verify(SOON);
		StepVerifier.create(streams().start(client().prompt().user("q")))
			.expectError(SessionRequiredException.class)
			.verify(SOON);
		assertThat(this.model.prompts()).isEmpty();
		assertThat(this.store.find(this.key)).isEmpty();
	}

	@Test
	void clientWithoutASessionAdvisorIsRefusedBeforeItsModelIsAsked() {
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).says("done");
		ChatClientRequestSpec call = ChatClient.create(this.model)
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(this.key));
		StepVerifier.create(streams().start(call))
			.expectErrorMatches((ex) -> ex.getMessage().contains("has no session advisor"))
			.verify(SOON);
		assertThat(this.model.prompts()).isEmpty();
	}

	@Test
	void answerOfAnAdvisorOutsideOfTheSessionIsInNoStream() {
		StepVerifier
			.create(streams().start(prompt().advisors(new AnsweringAdvisor(this.model.chunk("no", List.of(), true)))))
			.expectErrorMatches((ex) -> ex.getMessage().contains("outside of the session"))
			.verify(SOON);
		assertThat(this.model.prompts()).isEmpty();
	}

	private record AnsweringAdvisor(ChatResponse answer) implements StreamAdvisor {

		@Override
		public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
			return Flux.just(ChatClientResponse.builder().chatResponse(this.answer).build());
		}

		@Override
		public String getName() {
			return "Answering";
		}

		@Override
		public int getOrder() {
			return SessionParameters.TURN_ORDER - 10;
		}

	}

	@Test
	void streamHasOneSubscriber() {
		this.model.says("done");
		Flux<StreamEvent> events = streams().start(prompt());
		assertThat(texts(events.collectList().block(SOON))).isEqualTo("done");
		StepVerifier.create(events).expectError(IllegalStateException.class).verify(SOON);
	}

	@Test
	void streamThatIsNotKeptHasNoIdsAndCannotBeResumed() {
		this.model.says("done");
		TurnStreams live = closing(TurnStreams.builder(conversations()).resumable(false).build());
		List<StreamEvent> read = live.start(prompt()).collectList().block(SOON);
		assertThat(read).extracting(StreamEvent::id).containsOnly("");
		assertThat(texts(read)).isEqualTo("done");
		assertThat(this.store.records(this.key, StreamLogs.KIND)).isEmpty();
		failure(live, this.key, "");
	}

	@Test
	void deletedMessageIsInNoStream() {
		this.model.says("secret");
		List<StreamEvent> read = streams().start(prompt()).collectList().block(SOON);
		awaitWritten(read);
		conversations().get(this.key).delete(1);
		assertThat(this.store.records(this.key, StreamLogs.KIND)).isEmpty();
	}

	/** A stream of a process that is killed once it has written some texts. */
	private String abandoned(String... texts) {
		return written(Arrays.stream(texts).map((text) -> EventForm.write(new Text(text))).toList());
	}

	private String written(List<Map<String, @Nullable Object>> events) {
		String stream = StreamId.newStream();
		StreamWriter writer = InnerParts.of(conversations(), StreamLogs.class)
			.begin(this.key, stream, new StreamLimits(Duration.ofMinutes(1), 1000), null, false);
		events.forEach(writer::add);
		Awaitility.await().until(() -> {
			writer.work();
			return this.store.records(this.key, StreamLogs.KIND).size() > 1;
		});
		return stream;
	}

	/** Says "a" and "b" to a reader who cancels after some events. */
	private List<StreamEvent> begun(TurnStreams streams, int events) {
		return begun(streams, prompt(), events);
	}

	private List<StreamEvent> begun(TurnStreams streams, ChatClientRequestSpec call, int events) {
		this.model.step((prompt) -> this.words.asFlux());
		this.words.tryEmitNext(this.model.chunk("a", List.of(), false));
		this.words.tryEmitNext(this.model.chunk("b", List.of(), false));
		List<StreamEvent> read = streams.start(call).take(events).collectList().block(SOON);
		assertThat(read).hasSize(events);
		assertThat(read.get(0).event()).isInstanceOf(Begun.class);
		return read;
	}

	private void say(String text) {
		this.words.tryEmitNext(this.model.chunk(text, List.of(), true));
		this.words.tryEmitComplete();
	}

	private void ask(String question) {
		if (!this.gated) {
			this.store.add(this.key, List.of(new UserMessage(question)));
			return;
		}
		client().prompt().user(question).advisors(SessionAdvisor.session(this.key)).stream().content().blockLast(SOON);
	}

	private void awaitWritten(List<StreamEvent> read) {
		String stream = stream(read);
		Awaitility.await()
			.atMost(SOON)
			.until(() -> this.store.records(this.key, StreamLogs.KIND)
				.stream()
				.filter((record) -> record.id().startsWith(stream))
				.anyMatch((record) -> record.payload().contains("\"END\"") || record.payload().contains("\"LOST\"")));
	}

	private static void awaitEnd(List<StreamEvent> events) {
		Awaitility.await()
			.atMost(SOON)
			.untilAsserted(
					() -> assertThat(events).extracting(StreamEvent::event).hasAtLeastOneElementOfType(Ended.class));
	}

	private static String texts(@Nullable List<StreamEvent> events) {
		StringBuilder texts = new StringBuilder();
		for (StreamEvent event : events) {
			if (event.event() instanceof Text text) {
				texts.append(text.text());
			}
		}
		return texts.toString();
	}

	private static String last(List<StreamEvent> events) {
		return events.get(events.size() - 1).id();
	}

	private static String stream(List<StreamEvent> events) {
		return events.get(0).id().substring(0, events.get(0).id().indexOf('-'));
	}

	private static long number(String id) {
		return Long.parseLong(id.substring(id.indexOf('-') + 1));
	}

	private TurnStreams streams() {
		return closing(TurnStreams.builder(conversations()).build());
	}

	private <T extends AutoCloseable> T closing(T opened) {
		this.open.add(0, opened);
		return opened;
	}

	private Conversations conversations() {
		return closing(
				Conversations.builder(this.store).access(this.access).lease(this.lease).hooks(this.hooks).build());
	}

	private Approvals approvals() {
		return Approvals.builder(conversations()).tools(this.gated ? Set.of("add") : Set.of()).build();
	}

	private ChatClientRequestSpec prompt() {
		return client().prompt().user("q").advisors(SessionAdvisor.session(this.key));
	}

	/** The calls that make the same request, as their record has them. */
	private String line() {
		return this.store.records(this.key, "request").get(0).payload();
	}

	private ChatClientRequestSpec request(String name) {
		return prompt().advisors(SessionAdvisor.idempotencyKey(name));
	}

	private ChatClient client() {
		Conversations conversations = conversations();
		SessionAdvisor advisor = SessionAdvisor.builder(conversations)
			.approvals(Approvals.builder(conversations)
				.tools(this.gated ? Set.of("add") : Set.of())
				.onNewMessage(this.onNewMessage)
				.build())
			.build();
		return ClientSetup.streaming()
			.builder(this.model, advisor)
			.defaultTools(SessionAdvisorTests.echo("add"), SessionAdvisorTests.direct("read"))
			.build();
	}

	private Turn turn() {
		return turns().get(turns().size() - 1);
	}

	private List<Turn> turns() {
		return this.store.turns(this.key, Tail.ALL);
	}

	private static SessionStore counted(SessionStore store, Map<String, AtomicInteger> calls) {
		return (SessionStore) Proxy.newProxyInstance(SessionStore.class.getClassLoader(),
				new Class<?>[] { SessionStore.class }, (proxy, method, arguments) -> {
					calls.computeIfAbsent(method.getName(), (name) -> new AtomicInteger()).incrementAndGet();
					try {
						return method.invoke(store, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

}
