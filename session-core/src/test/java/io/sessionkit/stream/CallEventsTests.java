package io.sessionkit.stream;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.OnCancel;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.SiblingRule;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.guard.Redactor;
import io.sessionkit.guard.StopWords;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TurnPart;
import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.stream.CallEvent.Begun;
import io.sessionkit.stream.CallEvent.Ended;
import io.sessionkit.stream.CallEvent.Failed;
import io.sessionkit.stream.CallEvent.InLine;
import io.sessionkit.stream.CallEvent.Joined;
import io.sessionkit.stream.CallEvent.Reasoning;
import io.sessionkit.stream.CallEvent.Repeated;
import io.sessionkit.stream.CallEvent.Steered;
import io.sessionkit.stream.CallEvent.Text;
import io.sessionkit.stream.CallEvent.ToolCalled;
import io.sessionkit.stream.CallEvent.ToolReturned;
import io.sessionkit.stream.CallEvent.Waiting;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ObservedStore.Fault;
import io.sessionkit.test.ScriptedChatModel;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
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
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The events of one call.
 */
class CallEventsTests {

	private static final SessionKey T1 = SessionKey.of("ada", "t1");

	private static final Duration SOON = Duration.ofSeconds(10);

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final ScriptedChatModel model = new ScriptedChatModel();

	private Conversations conversations = Conversations.of(this.store);

	private Set<String> gated = Set.of();

	private SiblingRule siblings = SiblingRule.HOLD;

	@Test
	void eventsComeInTheOrderInWhichTheyHappen() {
		this.model.step((prompt) -> Flux.just(this.model.chunk("let me see", List.of(), false),
				this.model.chunk("", List.of(SessionAdvisorTests.call("c1", "add", "1")), true)))
			.says("done");
		List<CallEvent> events = read(prompt());
		String turn = turn().id();
		assertThat(events).containsExactly(new Begun(turn), new Text("let me see"),
				new ToolCalled("c1", "add", "{\"value\":\"1\"}"), new ToolReturned("c1", "add", "1"), new Text("do"),
				new Text("ne"), new Ended(turn, 1, TurnStatus.COMPLETED));
		assertThat(events).extracting(CallEvent::name)
			.containsExactly("begun", "text", "tool-called", "tool-returned", "text", "text", "ended");
	}

	/** Spring AI's tool loop keeps a chunk with calls to itself. */
	@Test
	void textInTheChunkThatCallsAToolComesBeforeTheCall() {
		saysAndCalls().says("done");
		List<CallEvent> events = read(prompt());
		assertThat(events).containsExactly(new Begun(turn().id()), new Text("let "), new Text("me see"),
				new ToolCalled("c1", "add", "{\"value\":\"1\"}"), new ToolReturned("c1", "add", "1"), new Text("do"),
				new Text("ne"), new Ended(turn().id(), 1, TurnStatus.COMPLETED));
		assertThat(this.store.messages(T1)).extracting(Message::getText).contains("let me see");
		saysAndCalls().says("done");
		assertThat(prompt().stream().content().collectList().block(SOON)).containsSubsequence("let ", "me see", "do");
	}

	@Test
	void textInTheChunkThatCallsAToolComesOnceIfTheCallWaitsOrAHookChecksTheReply() {
		this.gated = Set.of("add");
		saysAndCalls();
		assertThat(texts(read(prompt()))).isEqualTo("let me see");
		this.gated = Set.of();
		this.conversations = Conversations.builder(this.store).hooks(Redactor.standard()).build();
		saysAndCalls().says("done");
		assertThat(texts(read(client().prompt().user("q").advisors(SessionAdvisor.session("t2")))))
			.isEqualTo("let me seedone");
	}

	private ScriptedChatModel saysAndCalls() {
		return this.model.responds(this.model.chunk("let ", List.of(), false),
				this.model.chunk("me see", List.of(SessionAdvisorTests.call("c1", "add", "1")), true));
	}

	@Test
	void resultComesAsSoonAsItsToolHasEnded() {
		CountDownLatch released = new CountDownLatch(1);
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1"), SessionAdvisorTests.call("c2", "wait", "2"))
			.says("done");
		List<CallEvent> events = new CopyOnWriteArrayList<>();
		CallEvents.of(prompt(waiting(released, (value) -> value))).subscribe(events::add);
		ToolReturned first = new ToolReturned("c1", "add", "1");
		Awaitility.await().untilAsserted(() -> assertThat(events).contains(first));
		assertThat(events).doesNotHaveAnyElementsOfTypes(Ended.class);
		assertThat(returned(events)).containsExactly(first);
		released.countDown();
		awaitEnd(events);
		assertThat(returned(events)).containsExactly(first, new ToolReturned("c2", "wait", "2"));
	}

	@Test
	void resultOfAToolThatHasFailedComesWithTheOthers() {
		this.model.calls(SessionAdvisorTests.call("c1", "wait", "1"), SessionAdvisorTests.call("c2", "add", "2"))
			.says("done");
		List<CallEvent> events = read(prompt(waiting(new CountDownLatch(0), (value) -> {
			throw new IllegalArgumentException("no such order");
		})));
		assertThat(returned(events)).containsExactly(new ToolReturned("c2", "add", "2"),
				new ToolReturned("c1", "wait", "no such order"));
	}

	@Test
	void callsThatLookTheSameHaveAResultEach() {
		ToolCall same = SessionAdvisorTests.call("", "add", "1");
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1"), SessionAdvisorTests.call("c2", "add", "1"))
			.calls(same, same)
			.says("done");
		assertThat(returned(read(prompt()))).extracting(ToolReturned::callId).containsExactly("c1", "c2", "", "");
	}

	@Test
	void failureAndResultOfCallsWithoutIdsAreNotConfused() {
		this.model.calls(SessionAdvisorTests.call("", "wait", "1"), SessionAdvisorTests.call("", "wait", "2"))
			.says("done");
		List<CallEvent> events = read(prompt(waiting(new CountDownLatch(0), (value) -> {
			if (value.equals("1")) {
				throw new IllegalArgumentException("no such order");
			}
			return value;
		})));
		assertThat(returned(events)).containsExactly(new ToolReturned("", "wait", "2"),
				new ToolReturned("", "wait", "no such order"));
	}

	@Test
	void callThatWaitsForAnApprovalIsTheLastEventButTheEnd() {
		this.gated = Set.of("add");
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).says("done");
		List<CallEvent> events = read(prompt());
		String turn = turn().id();
		ToolApproval pending = approvals().pending(T1).get(0);
		String shown = pending.asShown();
		assertThat(events).containsExactly(new Begun(turn),
				new Waiting(List
					.of(new CallEvent.WaitingCall(pending.id(), "c1", "add", "{\"value\":\"1\"}", null, shown))),
				new Ended(turn, 1, TurnStatus.AWAITING_APPROVAL));
		approvals().decide(T1, pending.id(), shown, Decision.approve("anna"));
		assertThat(read(client().prompt().advisors(SessionAdvisor.session(T1)))).containsExactly(new Begun(turn),
				new ToolCalled("c1", "add", "{\"value\":\"1\"}"), new ToolReturned("c1", "add", "1"), new Text("do"),
				new Text("ne"), new Ended(turn, 1, TurnStatus.COMPLETED));
	}

	/** The call that continues the turn says them again. */
	@Test
	void eventsOfASiblingThatRunsBeforeThePauseComeBeforeIt() {
		this.gated = Set.of("wait");
		this.siblings = SiblingRule.RUN;
		ToolCallback gatedTool = waiting(new CountDownLatch(0), (value) -> value);
		ToolCalled first = new ToolCalled("c1", "add", "{\"value\":\"1\"}");
		this.model
			.calls(SessionAdvisorTests.call("c1", "add", "1"), SessionAdvisorTests.call("c2", "wait", "2"),
					SessionAdvisorTests.call("c3", "wait", "3"))
			.says("done");
		assertThat(read(prompt(gatedTool))).hasSize(5)
			.startsWith(new Begun(turn().id()), first, new ToolReturned("c1", "add", "1"))
			.endsWith(new Ended(turn().id(), 1, TurnStatus.AWAITING_APPROVAL));
		approvals().approve(approvals().pending(T1).get(1), "anna");
		ChatClient client = client(gatedTool);
		assertThat(read(client.prompt().advisors(SessionAdvisor.session(T1)))).hasSize(5)
			.startsWith(new Begun(turn().id()), new ToolCalled("c3", "wait", "{\"value\":\"3\"}"),
					new ToolReturned("c3", "wait", "3"))
			.endsWith(new Ended(turn().id(), 1, TurnStatus.AWAITING_APPROVAL));
		approvals().approve(approvals().pending(T1).get(0), "anna");
		assertThat(read(client.prompt().advisors(SessionAdvisor.session(T1))))
			.startsWith(new Begun(turn().id()), first, new ToolCalled("c2", "wait", "{\"value\":\"2\"}"),
					new ToolCalled("c3", "wait", "{\"value\":\"3\"}"), new ToolReturned("c1", "add", "1"),
					new ToolReturned("c2", "wait", "2"), new ToolReturned("c3", "wait", "3"))
			.endsWith(new Ended(turn().id(), 1, TurnStatus.COMPLETED));
	}

	/** As problem details are, so that a page has one table of both. */
	@Test
	void endsAreWrittenInLowerCaseWithHyphens() {
		assertThat(JsonMapper.shared().writeValueAsString(new Ended("7-a", 7, TurnStatus.AWAITING_APPROVAL)))
			.contains("\"status\":\"awaiting-approval\"");
		assertThat(JsonMapper.shared().writeValueAsString(new Failed("7-a", TurnStatus.FAILED, "not-stored", false)))
			.contains("\"status\":\"failed\"", "\"code\":\"not-stored\"", "\"messageKept\":false");
	}

	@Test
	void failureBeforeTheFirstEventIsTheErrorOfTheStream() {
		this.store.failAt(Fault.OPEN);
		StepVerifier.create(CallEvents.of(prompt())).expectError(StoreUnavailableException.class).verify(SOON);
		assertThat(this.model.prompts()).isEmpty();
	}

	@Test
	void failureThatComesLaterIsTheLastEventAndQuotesNothing() {
		this.model.step((prompt) -> Flux.just(this.model.chunk("half", List.of(), false))
			.concatWith(Flux.error(new IllegalStateException("secret"))));
		List<CallEvent> events = read(prompt());
		String turn = turn().id();
		assertThat(turn().status()).isEqualTo(TurnStatus.FAILED);
		assertThat(events).containsExactly(new Begun(turn), new Text("half"),
				new Failed(turn, TurnStatus.FAILED, "error", false));
	}

	/** Its client may be told the status of that exception. */
	@Test
	void failureHasTheCodeOfWhatWasThrownAndNotOfWhatCarriesIt() {
		this.model.step((prompt) -> Flux.just(this.model.chunk("half", List.of(), false))
			.concatWith(Flux
				.error(new CompletionException(new RuntimeException(new UnstorableMessageException("secret"))))));
		List<CallEvent> events = read(prompt());
		assertThat(events).last().isEqualTo(new Failed(turn().id(), TurnStatus.FAILED, "unstorable-message", false));
		assertThat(turn().failure()).isEqualTo(UnstorableMessageException.class.getName());
	}

	/** Otherwise a page would ask again, and the tools would run twice. */
	@Test
	void failureOfACallWhoseTurnStaysOpenSaysSo() {
		this.conversations = Conversations.builder(this.store).durability(Durability.STEP).build();
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).fails(new IllegalStateException("secret"));
		List<CallEvent> events = read(prompt());
		Turn open = turn();
		assertThat(open.status()).isEqualTo(TurnStatus.INCOMPLETE);
		assertThat(events.get(events.size() - 1))
			.isEqualTo(new Failed(open.id(), TurnStatus.INCOMPLETE, "error", true));
	}

	/** A page that sends it again would have it twice in the history. */
	@Test
	void failureOfAnAdvisorOutsideOfTheSessionSaysThatTheTurnIsStored() {
		this.model.says("done");
		List<CallEvent> events = read(prompt().advisors(new OutsideAdvisor(
				(attempt) -> attempt.get().thenMany(Flux.error(new IllegalStateException("secret"))))));
		assertThat(turn().status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(events).last().isEqualTo(new Failed(turn().id(), TurnStatus.COMPLETED, "error", true));
	}

	@Test
	void failureOfACallThatAnAdvisorHasMadeAgainSaysThatTheMessageIsInTheHistory() {
		OutsideAdvisor twice = new OutsideAdvisor((attempt) -> attempt.get().thenMany(Flux.defer(attempt)));
		this.model.says("done").fails(new IllegalStateException("secret"));
		List<CallEvent> events = read(prompt().advisors(twice));
		assertThat(turns()).extracting(Turn::status).containsExactly(TurnStatus.COMPLETED, TurnStatus.FAILED);
		assertThat(events).last().isEqualTo(new Failed(turns().get(1).id(), TurnStatus.FAILED, "error", true));
	}

	/** What is kept of the reply makes it history a moment later. */
	@ParameterizedTest
	@CsvSource({ "false,1", "true,2" })
	void failureOfACallThatAnAdvisorHasGivenUpSaysThatNobodyKnows(boolean again, int turns) {
		Sinks.Empty<Object> overdue = Sinks.empty();
		CountDownLatch known = new CountDownLatch(1);
		if (again) {
			this.model.fails(new IllegalStateException("first"));
		}
		this.model.step((prompt) -> Flux.just(this.model.chunk("half", List.of(), false)).concatWith(Flux.never()));
		List<CallEvent> events = new CopyOnWriteArrayList<>();
		CallEvents
			.of(prompt().advisors(SessionAdvisor.onCancel(OnCancel.KEEP))
				.advisors(new OutsideAdvisor((attempt) -> Flux.defer(attempt)
					.retry(turns - 1)
					.timeout(Mono.never(), (response) -> overdue.asMono()))))
			.subscribe(events::add);
		Awaitility.await().untilAsserted(() -> assertThat(events).contains(new Text("half")));
		this.store.beforeCommit(() -> awaitOpen(known));
		new Thread(overdue::tryEmitEmpty).start();
		try {
			Awaitility.await()
				.untilAsserted(() -> assertThat(events).last().isInstanceOfSatisfying(Failed.class, (failed) -> {
					assertThat(failed.status()).isNull();
					assertThat(failed.messageKept()).as("nobody knows").isNull();
				}));
		}
		finally {
			known.countDown();
		}
		Awaitility.await().until(() -> turns().size() == turns);
		assertThat(turns().get(turns - 1).status()).isEqualTo(TurnStatus.COMPLETED);
	}

	private static void awaitOpen(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	void refusalOfAHookIsTheLastEvent() {
		this.conversations = Conversations.builder(this.store).hooks(new Refusal()).build();
		this.model.says("done");
		List<CallEvent> events = read(prompt());
		assertThat(events).containsExactly(new Begun(turn().id()),
				new Failed(turn().id(), TurnStatus.REFUSED, "refused", false));
	}

	/** The store has it, and only its answer was lost. */
	@ParameterizedTest
	@EnumSource(Durability.class)
	void failureOfACallWhoseTurnMayBeStoredHasNoStatus(Durability durability) {
		this.conversations = Conversations.builder(this.store).durability(durability).build();
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).step((prompt) -> {
			this.store.failAt(Fault.ANSWER);
			return Flux.just(this.model.chunk("done", List.of(), true));
		});
		List<CallEvent> events = read(prompt());
		assertThat(turn().status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(events).last().isEqualTo(new Failed(turn().id(), null, "not-stored", null));
	}

	@ParameterizedTest
	@CsvSource({ "TURN,", "STEP,INCOMPLETE" })
	void failureOfACallWhoseEndTheStoreHasRefusedSaysWhatIsLeft(Durability durability, @Nullable TurnStatus left) {
		this.conversations = Conversations.builder(this.store).durability(durability).build();
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).step((prompt) -> {
			this.store.beforeCommit(() -> {
				throw StoreUnavailableException.unwritten("full", null);
			});
			return Flux.just(this.model.chunk("done", List.of(), true));
		});
		assertThat(read(prompt())).last().isInstanceOfSatisfying(Failed.class, (failed) -> {
			assertThat(failed.status()).isEqualTo(left);
			assertThat(failed.code()).isEqualTo("not-stored");
			assertThat(failed.messageKept()).isEqualTo(left != null);
		});
		assertThat(turns()).extracting(Turn::status).isEqualTo((left != null) ? List.of(left) : List.of());
	}

	@Test
	void failureOfACallOfWhichNothingCanBeKeptHasNoStatus() {
		this.store.failAt(Fault.COMMIT);
		this.model.step((prompt) -> Flux.just(this.model.chunk("half", List.of(), false))
			.concatWith(Flux.error(new IllegalStateException("secret"))));
		List<CallEvent> events = read(prompt());
		assertThat(events).last().isInstanceOfSatisfying(Failed.class, (failed) -> {
			assertThat(failed.status()).isNull();
			assertThat(failed.code()).isEqualTo("error");
			assertThat(failed.messageKept()).as("nobody knows").isNull();
		});
	}

	@Test
	void failureOfACallWhoseSessionIsErasedMeanwhileHasNoStatus() {
		this.model.says("first");
		read(prompt());
		this.model.step((prompt) -> {
			this.store.erase(T1);
			return Flux.just(this.model.chunk("second", List.of(), true));
		});
		assertThat(read(prompt())).last().isInstanceOfSatisfying(Failed.class, (failed) -> {
			assertThat(failed.status()).isNull();
			assertThat(failed.code()).isEqualTo("session-lost");
			assertThat(failed.messageKept()).isFalse();
		});
		assertThat(turns()).isEmpty();
	}

	@Test
	void failureOfACallThatHasOnlyWaitedHasNeitherTurnNorStatus() {
		CountDownLatch released = new CountDownLatch(1);
		this.model.calls(SessionAdvisorTests.call("c1", "wait", "1")).says("first");
		ChatClient chat = client(waiting(released, (value) -> value));
		List<CallEvent> first = new CopyOnWriteArrayList<>();
		List<CallEvent> second = new CopyOnWriteArrayList<>();
		CallEvents.of(inLine(chat)).subscribe(first::add);
		Awaitility.await().until(() -> !first.isEmpty());
		CallEvents.of(inLine(chat)).subscribe(second::add);
		Awaitility.await().until(() -> !second.isEmpty());
		this.conversations.drain(Duration.ZERO);
		Awaitility.await()
			.untilAsserted(() -> assertThat(second).containsExactly(new InLine(),
					new Failed(null, null, "shutting-down", false)));
		released.countDown();
	}

	/** A page that sends it again would have it twice in the history. */
	@Test
	void failureOfACallWhoseMessageHasJoinedAnotherTurnSaysThatItIsKept() {
		Sinks.Many<ChatResponse> replies = Sinks.many().unicast().onBackpressureBuffer();
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch released = new CountDownLatch(1);
		this.model.calls(SessionAdvisorTests.call("c1", "wait", "1")).step((prompt) -> {
			asked.countDown();
			return replies.asFlux();
		});
		ChatClient chat = client(waiting(released, (value) -> value));
		Consumer<ChatClient.AdvisorSpec> steers = SessionAdvisor.concurrency(Concurrency.STEER);
		List<CallEvent> first = new CopyOnWriteArrayList<>();
		List<CallEvent> second = new CopyOnWriteArrayList<>();
		CallEvents.of(inLine(chat).advisors(steers)).subscribe(first::add);
		Awaitility.await().until(() -> !first.isEmpty());
		CallEvents.of(inLine(chat).advisors(steers)).subscribe(second::add);
		Awaitility.await().until(() -> !second.isEmpty());
		released.countDown();
		Awaitility.await().until(() -> asked.getCount() == 0);
		this.conversations.drain(Duration.ZERO);
		Awaitility.await()
			.untilAsserted(() -> assertThat(second).containsExactly(new InLine(),
					new Failed(null, null, "handed-over", true)));
		replies.tryEmitNext(this.model.chunk("done", List.of(), true));
		replies.tryEmitComplete();
	}

	@Test
	void refusalOfACallThatHasWaitedNamesItsTurn() {
		this.conversations = Conversations.builder(this.store).hooks(StopWords.of("secret")).build();
		CountDownLatch released = new CountDownLatch(1);
		this.model.calls(SessionAdvisorTests.call("c1", "wait", "1")).says("first");
		ChatClient chat = client(waiting(released, (value) -> value));
		List<CallEvent> first = new CopyOnWriteArrayList<>();
		List<CallEvent> second = new CopyOnWriteArrayList<>();
		CallEvents.of(inLine(chat)).subscribe(first::add);
		Awaitility.await().until(() -> !first.isEmpty());
		CallEvents.of(inLine(chat).user("secret")).subscribe(second::add);
		Awaitility.await().until(() -> !second.isEmpty());
		released.countDown();
		Awaitility.await().until(() -> second.size() == 2);
		Turn refused = turns().get(1);
		assertThat(refused.status()).isEqualTo(TurnStatus.REFUSED);
		assertThat(second).last().isEqualTo(new Failed(refused.id(), TurnStatus.REFUSED, "refused", false));
	}

	/**
	 * The hook has not seen what tools are given and give, and it is kept only without
	 * it.
	 */
	@Test
	void whereAHookChecksRepliesEventsOfToolsHaveNeitherArgumentsNorResults() {
		this.conversations = Conversations.builder(this.store).hooks(Redactor.standard()).build();
		this.model.calls(SessionAdvisorTests.call("c1", "add", "ada@example.com")).says("done");
		List<CallEvent> events = read(prompt());
		assertThat(events).contains(new ToolCalled("c1", "add", ""), new ToolReturned("c1", "add", ""));
		assertThat(events).noneMatch((event) -> event.toString().contains("ada@example.com"));
		assertThat(events).last().isInstanceOf(Ended.class);
	}

	@Test
	void readerWhoCancelsCancelsTheCall() {
		this.model.step((prompt) -> Flux.just(this.model.chunk("half", List.of(), false)).concatWith(Flux.never()));
		StepVerifier.create(CallEvents.of(prompt())).expectNextCount(2).thenCancel().verify(SOON);
		Awaitility.await().until(() -> !turns().isEmpty());
		assertThat(turn().status()).isEqualTo(TurnStatus.CANCELLED);
	}

	@Test
	void slowReaderDelaysNeitherModelNorToolsAndMissesNothing() {
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1"))
			.step((prompt) -> Flux.range(0, 1000)
				.map((number) -> this.model.chunk(number + " ", List.of(), number == 999)));
		StepVerifier.create(CallEvents.of(prompt()), 1)
			.expectNextMatches(Begun.class::isInstance)
			.then(() -> Awaitility.await().until(() -> !turns().isEmpty()))
			.thenRequest(2)
			.expectNextMatches(ToolCalled.class::isInstance)
			.expectNextMatches(ToolReturned.class::isInstance)
			.thenRequest(Long.MAX_VALUE)
			.expectNextSequence(Flux.range(0, 1000).map((number) -> new Text(number + " ")).toIterable())
			.expectNextMatches(Ended.class::isInstance)
			.verifyComplete();
	}

	@Test
	void secondReaderIsRefusedAndTheFirstIsNotDisturbed() {
		this.model.says("done");
		Flux<CallEvent> events = CallEvents.of(prompt());
		assertThat(texts(events.collectList().block(SOON))).isEqualTo("done");
		StepVerifier.create(events)
			.expectErrorSatisfies((ex) -> assertThat(ex).isInstanceOf(IllegalStateException.class)
				.hasMessageContaining("have a subscriber already"))
			.verify(SOON);
		assertThat(this.model.prompts()).hasSize(1);
	}

	@Test
	void twoReadersWhoShareTheEventsHaveTheSame() {
		this.model.says("done");
		Flux<CallEvent> events = CallEvents.of(prompt()).replay().autoConnect();
		List<CallEvent> first = events.collectList().block(SOON);
		assertThat(events.collectList().block(SOON)).isEqualTo(first).hasSize(4);
	}

	@Test
	void textNeverEndsWithinACharacter() {
		this.model.step((prompt) -> Flux.just("a\uD83D", "\uDE00b", "\uD83D")
			.map((text) -> this.model.chunk(text, List.of(), text.equals("\uD83D"))));
		assertThat(read(prompt())).filteredOn(Text.class::isInstance)
			.containsExactly(new Text("a"), new Text("\uD83D\uDE00b"), new Text("\uFFFD"));
	}

	/** What comes from the store has no half characters either. */
	@Test
	void textsThatAModelAndAToolHaveCutWithinACharacterHaveNoHalfOfOne() {
		this.model.step((prompt) -> Flux.just(this.model.chunk("a\uD83Db\uD83D",
				List.of(new ToolCall("c\uD83D", "function", "wait", "{\"value\":\"1\"}")), true)))
			.says("done");
		assertThat(read(prompt(waiting(new CountDownLatch(0), (value) -> "x\uD83D")))).containsExactly(
				new Begun(turn().id()), new Text("a\uFFFDb"), new Text("\uFFFD"),
				new ToolCalled("c\uFFFD", "wait", "{\"value\":\"1\"}"),
				new ToolReturned("c\uFFFD", "wait", "\"x\uFFFD\""), new Text("do"), new Text("ne"),
				new Ended(turn().id(), 1, TurnStatus.COMPLETED));
	}

	@Test
	void callThatIsNotStoredEndsWithoutANumber() {
		this.model.says("one").says("two");
		List<CallEvent> reading = read(prompt().advisors(SessionAdvisor.reading()));
		assertThat(reading.get(0)).isInstanceOf(Begun.class);
		assertThat(reading).endsWith(new Ended(((Begun) reading.get(0)).turnId(), 0, TurnStatus.COMPLETED));
		assertThat(read(client().prompt().user("q").advisors(SessionAdvisor.none()))).containsExactly(new Text("t"),
				new Text("wo"), new Ended(null, 0, TurnStatus.COMPLETED));
		assertThat(turns()).isEmpty();
	}

	@Test
	void repeatedRequestHasTheStoredReplyAndItsTurn() {
		this.model.says("done");
		Function<ChatClient, ChatClientRequestSpec> asks = (chat) -> chat.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(T1).andThen(SessionAdvisor.idempotencyKey("r1")));
		read(asks.apply(client()));
		assertThat(read(asks.apply(client()))).containsExactly(new Repeated(), new Text("done"),
				new Ended(turn().id(), 1, TurnStatus.COMPLETED));
	}

	@Test
	void messageThatJoinsIsAnEventOfTheTurnAndItsOwnCallSaysSo() {
		CountDownLatch released = new CountDownLatch(1);
		this.model.calls(SessionAdvisorTests.call("c1", "wait", "1")).says("both");
		ChatClient chat = client(waiting(released, (value) -> value));
		List<CallEvent> first = new CopyOnWriteArrayList<>();
		List<CallEvent> second = new CopyOnWriteArrayList<>();
		CallEvents.of(steering(chat, "q1")).subscribe(first::add);
		Awaitility.await().until(() -> !first.isEmpty());
		CallEvents.of(steering(chat, "q2")).subscribe(second::add);
		Awaitility.await().until(() -> !second.isEmpty());
		released.countDown();
		awaitEnd(first);
		awaitEnd(second);
		CallEvent end = new Ended(turn().id(), 1, TurnStatus.COMPLETED);
		assertThat(first).contains(new Joined("q2")).doesNotContain(new Joined("q1")).endsWith(end);
		assertThat(second).containsExactly(new InLine(), new Steered(), new Text("both"), end);
	}

	private static ChatClientRequestSpec steering(ChatClient chat, String text) {
		return chat.prompt()
			.user(text)
			.advisors(SessionAdvisor.session(T1).andThen(SessionAdvisor.concurrency(Concurrency.STEER)));
	}

	@Test
	void reasoningIsNoEventIfAHookChecksReplies() {
		this.conversations = Conversations.builder(this.store).hooks(Redactor.standard()).build();
		thinks();
		assertThat(read(prompt())).doesNotHaveAnyElementsOfTypes(Reasoning.class).contains(new Text("done"));
		this.conversations = Conversations.of(this.store);
		thinks();
		assertThat(read(prompt())).containsSubsequence(new Reasoning("secret"), new Text("done"));
	}

	@Test
	void thoughtThatIsATextIsReasoningAndNoText() {
		this.model.responds(
				new ChatResponse(List.of(new Generation(
						AssistantMessage.builder().content("hm").properties(Map.of("isThought", true)).build()))),
				this.model.chunk("Yes", List.of(), true));
		List<CallEvent> events = read(prompt());
		assertThat(events).containsSubsequence(new Reasoning("hm"), new Text("Yes")).doesNotContain(new Text("hm"));
	}

	@Test
	void thoughtInOneChunkWithTheTextTakesNothingFromIt() {
		this.model.responds(new ChatResponse(List.of(
				new Generation(AssistantMessage.builder().content("hm").properties(Map.of("isThought", true)).build()),
				new Generation(new AssistantMessage("Yes")))), this.model.chunk(", it is.", List.of(), true));
		List<CallEvent> events = read(prompt());
		assertThat(events).containsSubsequence(new Reasoning("hm"), new Text("Yes"), new Text(", it is."));
		assertThat(this.store.messages(T1)).last().extracting(Message::getText).isEqualTo("Yes, it is.");
	}

	/** The store has it, and only its answer was lost. */
	@Test
	void failureOfACallWhoseTurnWaitsAlthoughItsWriterWasToldOtherwiseSaysSo() {
		this.gated = Set.of("add");
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1"));
		AtomicInteger commits = new AtomicInteger();
		this.store.afterCommit(() -> {
			if (commits.incrementAndGet() == 1) {
				throw new StoreUnavailableException("lost", null);
			}
		});
		List<CallEvent> events = read(prompt());
		assertThat(turn().status()).isEqualTo(TurnStatus.AWAITING_APPROVAL);
		assertThat(events.get(events.size() - 1))
			.isEqualTo(new Failed(turn().id(), TurnStatus.AWAITING_APPROVAL, "store-unavailable", true));
	}

	private void thinks() {
		this.model.step((prompt) -> Flux.just(
				new ChatResponse(List.of(new Generation(
						AssistantMessage.builder().content("").properties(Map.of("thinking", "secret")).build()))),
				this.model.chunk("done", List.of(), true)));
	}

	@Test
	void callThatHasToWaitSaysSoAndNothingElseBeforeItsTurn() {
		CountDownLatch released = new CountDownLatch(1);
		this.model.calls(SessionAdvisorTests.call("c1", "wait", "1")).says("first").says("second");
		ChatClient chat = client(waiting(released, (value) -> value));
		List<CallEvent> first = new CopyOnWriteArrayList<>();
		List<CallEvent> second = new CopyOnWriteArrayList<>();
		CallEvents.of(inLine(chat)).subscribe(first::add);
		Awaitility.await().until(() -> !first.isEmpty());
		Disposable waits = CallEvents.of(inLine(chat)).subscribe(second::add);
		Awaitility.await().untilAsserted(() -> assertThat(second).containsExactly(new InLine()));
		released.countDown();
		awaitEnd(first);
		awaitEnd(second);
		assertThat(waits.isDisposed()).isTrue();
		assertThat(texts(first) + "," + texts(second)).isEqualTo("first,second");
	}

	private static ChatClientRequestSpec inLine(ChatClient chat) {
		return chat.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(T1).andThen(SessionAdvisor.concurrency(Concurrency.SERIALIZE)));
	}

	private static List<ToolReturned> returned(List<CallEvent> events) {
		return events.stream().filter(ToolReturned.class::isInstance).map(ToolReturned.class::cast).toList();
	}

	private static String texts(List<CallEvent> events) {
		StringBuilder texts = new StringBuilder();
		events.stream()
			.filter(Text.class::isInstance)
			.map(Text.class::cast)
			.forEach((event) -> texts.append(event.text()));
		return texts.toString();
	}

	private static void awaitEnd(List<CallEvent> events) {
		Awaitility.await().untilAsserted(() -> assertThat(events).hasAtLeastOneElementOfType(Ended.class));
	}

	private static List<CallEvent> read(ChatClientRequestSpec call) {
		List<CallEvent> events = CallEvents.of(call).collectList().block(SOON);
		assertThat(events).isNotNull();
		return events;
	}

	private ChatClientRequestSpec prompt(ToolCallback... more) {
		return client(more).prompt().user("q").advisors(SessionAdvisor.session(T1));
	}

	private ChatClient client(ToolCallback... more) {
		SessionAdvisor advisor = SessionAdvisor.builder(this.conversations).approvals(approvals()).build();
		return ClientSetup.streaming()
			.builder(this.model, advisor)
			.defaultTools(SessionAdvisorTests.echo("add"))
			.defaultTools((Object[]) more)
			.build();
	}

	private Approvals approvals() {
		return Approvals.builder(this.conversations).tools(this.gated).siblings(this.siblings).build();
	}

	private static ToolCallback waiting(CountDownLatch released, Function<String, String> result) {
		return FunctionToolCallback.builder("wait", (SessionAdvisorTests.Value value) -> {
			try {
				released.await();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException("interrupted", ex);
			}
			return result.apply(value.value());
		}).description("waits").inputType(SessionAdvisorTests.Value.class).build();
	}

	private Turn turn() {
		return turns().get(0);
	}

	private List<Turn> turns() {
		return this.store.turns(T1, Tail.ALL);
	}

	/**
	 * Stands outside of the session, and may make the call again.
	 */
	private record OutsideAdvisor(
			Function<Supplier<Flux<ChatClientResponse>>, Flux<ChatClientResponse>> work) implements StreamAdvisor {

		@Override
		public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
			return this.work.apply(() -> chain.copy(this).nextStream(request));
		}

		@Override
		public String getName() {
			return "Outside";
		}

		@Override
		public int getOrder() {
			return SessionParameters.TURN_ORDER - 10;
		}

	}

	/**
	 * Lets no reply pass.
	 */
	private static final class Refusal implements SessionHook {

		@Override
		public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
			return HookResult.refuse("no");
		}

		@Override
		public boolean checksReplies() {
			return true;
		}

	}

}
