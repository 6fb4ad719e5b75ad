package io.sessionkit.compensation;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Summary;
import io.sessionkit.Turn;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.compensation.Irreversible.Reason;
import io.sessionkit.compensation.RewindReport.Status;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Compensations;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.hook.TurnPart;
import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.internal.view.Summaries;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.model.tool.DefaultToolCallingManager;
import org.springframework.ai.model.tool.ToolCallLimitBehavior;
import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.aop.framework.ProxyFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Rewinds at the moments at which something could slip through: a lease that runs out, a
 * result that cannot be stored, calls of which too little is known.
 */
class CompensationGapTests {

	private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-02-03T04:05:06Z"));

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())
				.clock(((InstantSource) this.now::get).withZone(ZoneOffset.UTC))));

	private final SessionKey key = SessionKey.of("t1");

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final List<String> runs = new ArrayList<>();

	private final List<Conversations> opened = new ArrayList<>();

	private Consumer<String> fault = (what) -> {
	};

	private Consumer<Conversations.Builder> rules = (builder) -> {
	};

	@AfterEach
	void close() {
		this.opened.forEach(Conversations::close);
	}

	private List<ToolCallback> tools() {
		return ShopTools.of((what) -> {
			this.fault.accept(what);
			this.runs.add(what);
		});
	}

	private Conversations conversations() {
		Conversations.Builder builder = Conversations.builder(this.store);
		this.rules.accept(builder);
		Conversations conversations = builder.build();
		this.opened.add(conversations);
		return conversations;
	}

	private Compensations compensations() {
		Conversations conversations = conversations();
		return Compensations.builder(conversations, Approvals.of(conversations)).tools(this::tools).build();
	}

	/** Notes that can be erased. */
	private record Notes(List<String> runs) {

		@Tool
		@CompensatedBy("erase")
		public String note(String text) {
			this.runs.add("note " + text);
			return "noted";
		}

		@Tool
		public String erase(String text) {
			this.runs.add("erase " + text);
			return "erased";
		}

	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void effectOfACallWithHalfACharacterIsTakenBack(boolean waits) {
		List<ToolCallback> tools = List.of(ToolCallbacks.from(new Notes(this.runs)));
		this.model.calls(new ToolCall("c1", "function", "note", "{\"text\":\"a\\ud800\"}")).says("done");
		ask(tools);
		Conversations conversations = conversations();
		Approvals approvals = Approvals.builder(conversations)
			.policies(List.<ApprovalPolicy>of((request) -> waits ? Ruling.ask("Erases \ud83d") : Ruling.allow()))
			.build();
		Compensations compensations = Compensations.builder(conversations, approvals).tools(() -> tools).build();
		RewindPlan plan = compensations.plan(this.key, 1);
		assertThat(plan.irreversible()).isEmpty();
		if (waits) {
			assertThat(compensations.rewind(plan).status()).isEqualTo(Status.WAITING);
			ToolApproval waiting = compensations.pending(this.key).get(0);
			assertThat(waiting.description()).isEqualTo("Erases \ufffd");
			compensations.decide(waiting, Decision.approve("anna"));
		}
		assertThat(compensations.rewind(plan).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("note a\ud800", "erase a\ud800");
	}

	@Test
	void callWithoutANameIsListed() {
		AssistantMessage calls = AssistantMessage.builder()
			.content("")
			.toolCalls(List.of(new ToolCall("c1", "function", null, "{}")))
			.build();
		ToolResponseMessage results = ToolResponseMessage.builder()
			.responses(List.of(new ToolResponse("c1", null, "done")))
			.build();
		this.store.add(this.key, List.of(new UserMessage("q"), calls, results, new AssistantMessage("a")));
		assertThat(compensations().plan(this.key, 1).irreversible()).singleElement()
			.satisfies((each) -> assertThat(each.effect().tool()).isEmpty());
	}

	private Conversation thread() {
		return conversations().get(this.key);
	}

	private void turn(ToolCall... calls) {
		this.model.calls(calls).says("done");
		ask(tools());
	}

	private void ask(List<ToolCallback> tools) {
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(conversations()))
			.build()
			.prompt()
			.user("question")
			.toolCallbacks(tools)
			.advisors(SessionAdvisor.session(this.key))
			.call()
			.content();
	}

	private static ToolCall cancel(int order) {
		return new ToolCall("c" + order, "function", "cancel_order", "{\"order\":" + order + "}");
	}

	private List<Reason> reasons(int turns) {
		return compensations().plan(this.key, turns).irreversible().stream().map(Irreversible::reason).toList();
	}

	private boolean isCompensation(RecordWrite write, ApprovalStatus status) {
		return write.kind().equals(Ledger.COMPENSATION) && this.store.options()
			.codec()
			.decodeValues(this.key, String.valueOf(write.payload()))
			.get("status")
			.equals(status.name());
	}

	private void letTheLeaseRunOut() {
		this.now.updateAndGet((time) -> time.plus(Duration.ofMinutes(5)));
	}

	// leases

	@Test
	void processThatWasStoppedAfterItsClaimRunsNothing() {
		turn(cancel(1));
		this.runs.clear();
		this.store.afterPut((write) -> {
			if (isCompensation(write, ApprovalStatus.CLAIMED)) {
				letTheLeaseRunOut();
			}
		});
		RewindPlan plan = compensations().plan(this.key, 1);
		assertThatExceptionOfType(TurnInProgressException.class).isThrownBy(() -> compensations().rewind(plan));
		assertThat(this.runs).isEmpty();
		assertThat(compensations().pending(this.key)).as("it is known that it did not run").isEmpty();
		this.store.afterPut((write) -> {
		});
		assertThat(compensations().rewind(plan).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("restore 1 (ok cancel 1)");
	}

	@Test
	void decisionOnACallWhoseProcessWasStoppedStandsAgainstItsResult() {
		turn(cancel(1));
		this.fault = (what) -> {
			letTheLeaseRunOut();
			ToolApproval uncertain = compensations().pending(this.key).get(0);
			assertThat(uncertain.status()).isEqualTo(ApprovalStatus.UNCERTAIN);
			compensations().decide(uncertain, Decision.answer("anna", "done by hand"));
		};
		RewindPlan plan = compensations().plan(this.key, 1);
		assertThatExceptionOfType(TurnInProgressException.class).isThrownBy(() -> compensations().rewind(plan));
		this.fault = (what) -> {
		};
		this.runs.clear();
		RewindReport report = compensations().rewind(plan);
		assertThat(report.status()).isEqualTo(Status.COMPLETED);
		assertThat(report.done().get(0).outcome().text()).isEqualTo("done by hand");
		assertThat(this.runs).isEmpty();
	}

	@Test
	void resultThatCannotBeStoredLeavesTheCallUncertain() {
		turn(cancel(1), cancel(2));
		this.runs.clear();
		this.store.beforePut((write) -> {
			if (isCompensation(write, ApprovalStatus.DONE)) {
				throw new StoreUnavailableException("the line is down", null);
			}
		});
		RewindPlan plan = compensations().plan(this.key, 1);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> compensations().rewind(plan));
		this.store.beforePut((write) -> {
		});
		assertThat(this.store.records(this.key, TurnRecords.REWIND)).as("the lease is given back").isEmpty();
		assertThat(compensations().rewind(plan).status()).isEqualTo(Status.STOPPED);
		assertThat(this.runs).containsExactly("restore 2 (ok cancel 2)");
	}

	@Test
	void callWhoseClaimIsStoredWithoutAnAnswerTakesItsEffectBackOnce() {
		turn(cancel(1));
		this.runs.clear();
		AtomicInteger claims = new AtomicInteger();
		this.store.afterPut((write) -> {
			if (isCompensation(write, ApprovalStatus.CLAIMED) && claims.getAndIncrement() == 0) {
				throw new StoreUnavailableException("The answer was lost.", null);
			}
		});
		RewindPlan plan = compensations().plan(this.key, 1);
		assertThat(compensations().rewind(plan).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("restore 1 (ok cancel 1)");
	}

	/** A new plan would take older turns back. */
	@Test
	void rewindThatIsRepeatedSinceItsAnswerWasLostSaysThatItMayHaveMovedTheHead() {
		turn(cancel(1));
		turn(cancel(2));
		RewindPlan plan = compensations().plan(this.key, 1);
		this.store.afterCommit(() -> {
			throw new StoreUnavailableException("The answer was lost.", null);
		});
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> compensations().rewind(plan));
		this.store.afterCommit(() -> {
		});
		assertThat(this.store.find(this.key)).get().extracting(Session::head).isEqualTo(1L);
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> compensations().rewind(plan))
			.withMessageContainingAll("whose answer was lost may have", "read the session before you plan again");
		assertThat(this.runs).endsWith("restore 2 (ok cancel 2)");
	}

	@Test
	void leaseOfARewindIsNoneOfATurn() {
		turn(cancel(1));
		this.fault = (what) -> assertThat(thread().isOpenTurnRunning()).isFalse();
		RewindPlan plan = compensations().plan(this.key, 1);
		assertThat(compensations().rewind(plan).status()).isEqualTo(Status.COMPLETED);
	}

	// knowledge about calls

	@Test
	void argumentsAreNotCertainIfAHookHasReplacedTheMessages() {
		this.rules = (builder) -> builder.hooks(new Masks());
		turn(cancel(4711));
		assertThat(reasons(1)).containsExactly(Reason.ARGUMENTS);
	}

	/**
	 * Replaces the results of tools.
	 */
	private static final class Masks implements SessionHook {

		@Override
		public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
			return HookResult.replace(part.messages()
				.stream()
				.map((message) -> (message instanceof ToolResponseMessage results) ? masked(results) : message)
				.toList());
		}

		private static Message masked(ToolResponseMessage results) {
			return ToolResponseMessage.builder()
				.responses(results.getResponses()
					.stream()
					.map((each) -> new ToolResponse(each.id(), each.name(), "***"))
					.toList())
				.build();
		}

	}

	@Test
	void callsThatAreNotStoredAreReported() {
		this.rules = (builder) -> builder.hooks(new SessionHook() {

			@Override
			public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
				return HookResult.replace(part.messages()
					.stream()
					.filter((message) -> !(message instanceof ToolResponseMessage)
							&& !(message instanceof AssistantMessage reply && reply.hasToolCalls()))
					.toList());
			}

		});
		turn(cancel(1));
		assertThat(reasons(1)).containsExactly(Reason.UNCERTAIN);
	}

	@Test
	void deletedMessagesHideNoEffect() {
		turn(cancel(1));
		RewindPlan plan = compensations().plan(this.key, 1);
		thread().delete(Set.of(2L));
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> compensations().rewind(plan));
		assertThat(reasons(1)).containsExactly(Reason.UNCERTAIN);
	}

	@Test
	void deletedTurnHidesNoEffect() {
		turn(cancel(1));
		turn(cancel(2));
		turn(cancel(3));
		thread().delete(2);
		RewindPlan plan = compensations().plan(this.key, 2);
		assertThat(plan.turns()).extracting(Turn::number).containsExactly(3L, 1L);
		assertThat(plan.irreversible()).singleElement().satisfies((each) -> {
			assertThat(each.effect().turn()).isEqualTo(2);
			assertThat(each.reason()).isEqualTo(Reason.UNCERTAIN);
		});
		assertThat(compensations().rewind(plan).status()).isEqualTo(Status.REFUSED);
	}

	@Test
	void newestTurnsThatWereDeletedHideNoEffect() {
		turn(cancel(1));
		turn(cancel(2));
		thread().delete(2);
		assertThat(unknown(1)).as("the head has moved").containsExactly(2L);
		turn(cancel(3));
		assertThat(unknown(1)).as("they stay behind the plan").isEmpty();
		assertThat(unknown(2)).containsExactly(2L);
		turn(cancel(4));
		thread().delete(4);
		thread().delete(3);
		RewindPlan plan = compensations().plan(this.key, 1);
		assertThat(unknown(1)).containsExactly(4L, 3L, 2L);
		assertThat(plan.turns()).extracting(Turn::number).containsExactly(1L);
		assertThat(compensations().rewind(plan).status()).isEqualTo(Status.REFUSED);
		assertThat(compensations().rewind(plan.acceptingIrreversible()).status()).isEqualTo(Status.COMPLETED);
	}

	@Test
	void onlyTurnThatWasDeletedHidesNoEffect() {
		turn(cancel(1));
		thread().delete(1);
		RewindPlan plan = compensations().plan(this.key, 1);
		assertThat(unknown(1)).containsExactly(1L);
		assertThat(compensations().rewind(plan).status()).isEqualTo(Status.REFUSED);
		turn(cancel(2));
		assertThat(unknown(1)).isEmpty();
		RewindPlan further = compensations().plan(this.key, 2);
		assertThat(unknown(2)).containsExactly(1L);
		assertThat(compensations().rewind(further).status()).isEqualTo(Status.REFUSED);
		assertThat(compensations().rewind(further.acceptingIrreversible()).status()).isEqualTo(Status.COMPLETED);
	}

	/** The turns of the effects that a plan lists of an unknown tool. */
	private List<Long> unknown(int turns) {
		return compensations().plan(this.key, turns)
			.irreversible()
			.stream()
			.map(Irreversible::effect)
			.filter((effect) -> effect.tool().equals("unknown"))
			.map(Effect::turn)
			.toList();
	}

	@Test
	void turnThatWasDeletedAfterItWasLeftIsNoneOfTheHistory() {
		turn(cancel(1));
		turn(cancel(2));
		thread().undo(1);
		thread().delete(2);
		assertThat(unknown(5)).isEmpty();
		turn(cancel(3));
		assertThat(unknown(5)).isEmpty();
		thread().branch("other");
		turn(cancel(4));
		thread().delete(4);
		assertThat(unknown(5)).containsExactly(4L);
		thread().switchTo("main");
		assertThat(unknown(5)).as("that of another branch").isEmpty();
	}

	@Test
	void resetDuringARewindIsNotTakenBackByIt() {
		turn(cancel(1));
		RewindPlan plan = compensations().plan(this.key, 1);
		this.fault = (what) -> {
			if (what.startsWith("restore")) {
				assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> thread().reset())
					.withMessageContaining("rewind has not ended");
				resetAsEarlierVersionsDo();
			}
		};
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> compensations().rewind(plan));
		assertThat(thread().view()).as("the reset is in force").isEmpty();
		assertThat(thread().messages()).isNotEmpty();
	}

	private void resetAsEarlierVersionsDo() {
		Session now = this.store.find(this.key).orElseThrow();
		Summary reset = Summaries.reset(now, List.of(), this.store.options());
		this.store.commit(Commit.on(now)
			.header(HeaderChange.NONE.summary(reset.turn(), reset.id()))
			.records(List.of(Summaries.write(this.key, reset, this.store.options().codec()))));
	}

	@Test
	void deletionDuringARewindMovesTheHeadBehindNoOtherTurn() {
		turn(cancel(1));
		turn(cancel(2));
		turn(cancel(3));
		RewindPlan plan = compensations().plan(this.key, 2);
		this.fault = (what) -> {
			if (what.startsWith("restore 2")) {
				assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> thread().delete(2))
					.withMessageContaining("rewind has not ended");
				deleteAsEarlierVersionsDo(2);
			}
		};
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> compensations().rewind(plan));
		assertThat(thread().session().orElseThrow().head()).isEqualTo(3);
	}

	private void deleteAsEarlierVersionsDo(long turn) {
		Set<Long> items = this.store.items(this.key, turn)
			.stream()
			.map(SessionItem::sequence)
			.collect(Collectors.toSet());
		this.store.commit(Commit.on(this.store.find(this.key).orElseThrow()).delete(items));
	}

	@Test
	void chosenTurnDoesNotBringOneBackOfWhichEffectsWereTakenBack() {
		turn(cancel(1));
		this.model.says("second");
		ask(tools());
		this.model.says("other");
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(conversations()))
			.build()
			.prompt()
			.user("edited")
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.editing(2)))
			.call()
			.content();
		compensations().rewind(compensations().plan(this.key, 2));
		assertThat(thread().siblings()).containsEntry(1L, List.of(2L));
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> thread().choose(2))
			.withMessageContaining("effects of its tool calls were taken back");
	}

	@Test
	void ledgerOfStepsKnowsTheEndOfEachCall() {
		this.rules = (builder) -> builder.durability(Durability.STEP);
		this.fault = (what) -> {
			if (what.startsWith("cancel 2")) {
				throw new IllegalStateException("no such order");
			}
		};
		turn(cancel(1), cancel(2));
		RewindPlan plan = compensations().plan(this.key, 1);
		assertThat(plan.irreversible()).singleElement()
			.satisfies((each) -> assertThat(each.effect().arguments()).isEqualTo("{\"order\":2}"));
		assertThat(plan.compensations()).singleElement()
			.satisfies((each) -> assertThat(each.effect().result()).isEqualTo("\"ok cancel 1\""));
	}

	@Test
	void callThatEndsItsTurnMayNotHaveRun() {
		this.model.calls(new ToolCall("c1", "function", "remove", "{\"order\":1}"));
		ask(List.of(ToolCallbacks.from(new DirectTools())));
		assertThat(compensations(List.of(ToolCallbacks.from(new DirectTools()))).plan(this.key, 1).irreversible())
			.extracting(Irreversible::reason)
			.containsExactly(Reason.UNCERTAIN);
	}

	private Compensations compensations(List<ToolCallback> tools) {
		Conversations conversations = conversations();
		return Compensations.builder(conversations, Approvals.of(conversations)).tools(() -> tools).build();
	}

	/**
	 * Tools whose result goes to the caller.
	 */
	static final class DirectTools {

		@Tool(name = "remove", returnDirect = true)
		@CompensatedBy("put_back")
		public String remove(int order) {
			return "removed";
		}

		@Tool(name = "put_back")
		public String putBack(int order) {
			return "put back";
		}

	}

	private static List<Message> questionWithAnExample() {
		return List.of(new UserMessage("for example"),
				AssistantMessage.builder().content("").toolCalls(List.of(cancel(1))).build(),
				ToolResponseMessage.builder().responses(List.of(new ToolResponse("c1", "cancel_order", "ok"))).build(),
				new AssistantMessage("done"), new UserMessage("question"));
	}

	@Test
	void callsOfExamplesInTheInputAreNoEffects() {
		this.model.calls(cancel(2)).says("done");
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(conversations()))
			.build()
			.prompt()
			.messages(questionWithAnExample())
			.toolCallbacks(tools())
			.advisors(SessionAdvisor.session(this.key))
			.call()
			.content();
		assertThat(this.runs).containsExactly("cancel 2");
		RewindPlan plan = compensations().plan(this.key, 1);
		assertThat(plan.irreversible()).isEmpty();
		assertThat(plan.compensations()).extracting((each) -> each.effect().arguments())
			.containsExactly(cancel(2).arguments());
	}

	@Test
	void ledgerKnowsTheCallsOfATurnWithExamples() {
		this.rules = (builder) -> builder.durability(Durability.STEP);
		callsOfExamplesInTheInputAreNoEffects();
	}

	/**
	 * Calls the rest of the chain twice, and drops the first answer.
	 */
	private static final class AskingTwice implements CallAdvisor {

		@Override
		public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
			chain.copy(this).nextCall(request);
			return chain.copy(this).nextCall(request);
		}

		@Override
		public String getName() {
			return "AskingTwice";
		}

		@Override
		public int getOrder() {
			return SessionParameters.TURN_ORDER + 40;
		}

	}

	@Test
	void examplesAndARestartedLoopTogetherHideNoEffect() {
		this.model.calls(cancel(2)).says("dropped").calls(cancel(3)).says("done");
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(conversations()))
			.defaultAdvisors(new AskingTwice())
			.build()
			.prompt()
			.messages(questionWithAnExample())
			.toolCallbacks(tools())
			.advisors(SessionAdvisor.session(this.key))
			.call()
			.content();
		assertThat(this.runs).containsExactly("cancel 2", "cancel 3");
		RewindPlan plan = compensations().plan(this.key, 1);
		assertThat(plan.compensations()).extracting((each) -> each.effect().arguments())
			.containsExactly(cancel(3).arguments());
		assertThat(plan.irreversible()).extracting((each) -> each.effect().tool()).containsExactly("unknown");
	}

	/** Nobody knows which of the two the ledger has. */
	@Test
	void entryThatMayBeThatOfTwoRepliesMakesBothUncertain() {
		ToolCall call = new ToolCall("", "function", "cancel_order", "{\"order\":1}");
		AtomicInteger asked = new AtomicInteger();
		Approvals approvals = Approvals.builder(conversations())
			.policies(List.of((request) -> (asked.incrementAndGet() == 3) ? Ruling.deny("no") : Ruling.allow()))
			.build();
		this.model.says("dropped").calls(call).calls(call).calls(call).says("done");
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(conversations()).approvals(approvals).build())
			.defaultAdvisors(new AskingTwice())
			.build()
			.prompt()
			.user("question")
			.toolCallbacks(tools())
			.advisors(SessionAdvisor.session(this.key))
			.call()
			.content();
		assertThat(this.runs).hasSize(2);
		RewindPlan plan = compensations().plan(this.key, 1);
		assertThat(plan.compensations()).isEmpty();
		assertThat(plan.irreversible()).extracting((each) -> each.effect().tool())
			.contains("unknown", "cancel_order", "cancel_order", "cancel_order");
	}

	@Test
	void messageThatHasJoinedTheTurnMakesNoExampleOfTheReplyBefore() {
		joinWhileTheToolRuns();
		assertThat(thread().messages()).hasSize(5);
		RewindPlan plan = compensations().plan(this.key, 1);
		assertThat(plan.irreversible()).isEmpty();
		assertThat(plan.compensations()).hasSize(1);
	}

	/** All of its messages have one time then. */
	@Test
	void messageThatHasJoinedATurnThatAHookRebuildsHidesNoCallBeforeIt() {
		this.rules = (builder) -> builder.hooks(TestHooks.beforeSave("rebuilding",
				(messages) -> HookResult.replace(messages.stream().map(CompensationGapTests::rebuilt).toList())));
		joinWhileTheToolRuns();
		assertThat(thread().messages()).hasSize(5);
		assertThat(compensations().plan(this.key, 1).irreversible()).extracting((each) -> each.effect().tool())
			.contains("cancel_order");
	}

	private static Message rebuilt(Message message) {
		if (message instanceof UserMessage question) {
			return question.mutate().build();
		}
		if (message instanceof ToolResponseMessage results) {
			return Masks.masked(results);
		}
		AssistantMessage reply = (AssistantMessage) message;
		return AssistantMessage.builder().content(reply.getText()).toolCalls(reply.getToolCalls()).build();
	}

	private void joinWhileTheToolRuns() {
		CountDownLatch working = new CountDownLatch(1);
		this.fault = (what) -> {
			this.now.updateAndGet((time) -> time.plusMillis(1));
			working.countDown();
			Awaitility.await().until(() -> !this.store.records(this.key, "offer").isEmpty());
		};
		this.model.calls(cancel(1)).says("done");
		Conversations process = conversations();
		CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> steering(process, "question"));
		CompletableFuture<String> joined = CompletableFuture.supplyAsync(() -> {
			await(working);
			return steering(process, "more");
		});
		assertThat(first.join()).isEqualTo("done").isEqualTo(joined.join());
	}

	private String steering(Conversations process, String question) {
		return ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(process))
			.build()
			.prompt()
			.user(question)
			.toolCallbacks(tools())
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.concurrency(Concurrency.STEER)))
			.call()
			.content();
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** The results are those of Spring AI, so a change of its texts is noticed. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void callThatALimitOfTheToolLoopRefusedIsNotTakenBack(boolean ofAll) {
		this.model.calls(cancel(1)).calls(cancel(2)).says("done");
		DefaultToolCallingManager.Builder limits = DefaultToolCallingManager.builder()
			.onLimitExceeded(ToolCallLimitBehavior.RETURN_ERROR_RESPONSE);
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(conversations()))
			.defaultAdvisors(ToolCallingAdvisor.builder()
				.toolCallingManager((ofAll ? limits.maxTotalToolCalls(1) : limits.maxCallsPerTool(1)).build())
				.build())
			.build()
			.prompt()
			.user("question")
			.toolCallbacks(tools())
			.advisors(SessionAdvisor.session(this.key))
			.call()
			.content();
		assertThat(this.runs).containsExactly("cancel 1");
		RewindPlan plan = compensations().plan(this.key, 1);
		assertThat(plan.compensations()).singleElement()
			.satisfies((each) -> assertThat(each.effect().arguments()).isEqualTo("{\"order\":1}"));
		assertThat(plan.irreversible()).singleElement()
			.satisfies((each) -> assertThat(each.reason()).isEqualTo(Reason.UNCERTAIN));
	}

	@Test
	void digestNamesTheTurns() {
		for (int i = 0; i < 3; i++) {
			thread().addTurn(List.of(new UserMessage("q"), new AssistantMessage("a")), null);
		}
		RewindPlan plan = compensations().plan(this.key, 2);
		thread().delete(2);
		RewindPlan other = compensations().plan(this.key, 2);
		assertThat(other.turns()).hasSameSizeAs(plan.turns());
		assertThat(other.place()).isEqualTo(plan.place());
		assertThat(other.digest()).isNotEqualTo(plan.digest());
	}

	/**
	 * Tools that a proxy can be made of.
	 */
	static class ProxiedTools {

		@Tool(name = "cancel_order")
		@CompensatedBy(CompensatedBy.NOTHING)
		public String cancel(int order) {
			return "ok";
		}

	}

	@Test
	void toolOfAProxyIsThatOfItsBean() {
		turn(cancel(1));
		ProxiedTools bean = new ProxiedTools();
		List<ToolCallback> tools = new ArrayList<>(List.of(ToolCallbacks.from(bean)));
		tools.addAll(List.of(ToolCallbacks.from(new ProxyFactory(bean).getProxy())));
		assertThat(tools).hasSize(2);
		assertThat(compensations(tools).plan(this.key, 1).irreversible()).isEmpty();
		tools.addAll(List.of(ToolCallbacks.from(new ProxiedTools())));
		assertThatIllegalArgumentException().isThrownBy(() -> compensations(tools).plan(this.key, 1))
			.withMessageContaining("'cancel_order'");
	}

	@Test
	void rewindStopsAtAResetAndLeavesIt() {
		turn(cancel(1));
		thread().reset();
		assertThat(compensations().rewind(compensations().plan(this.key, 5)).undone()).isEmpty();
		assertThat(thread().view()).as("the reset is in force").isEmpty();
		turn(cancel(2));
		this.runs.clear();
		RewindReport report = compensations().rewind(compensations().plan(this.key, 5));
		assertThat(report.undone()).hasSize(1);
		assertThat(this.runs).containsExactly("restore 2 (ok cancel 2)");
		assertThat(thread().view()).isEmpty();
	}

	/** A tool in Kotlin declares no exceptions. */
	@Test
	void interruptThatACompensatingToolHasFoundIsKept() {
		turn(cancel(1));
		RewindPlan plan = compensations().plan(this.key, 1);
		this.fault = (what) -> {
			throw CompensationGapTests.<RuntimeException>undeclared(new InterruptedException("as asked"));
		};
		RewindReport report = compensations().rewind(plan);
		assertThat(Thread.interrupted()).isTrue();
		assertThat(report.status()).isNotEqualTo(Status.COMPLETED);
	}

	@SuppressWarnings("unchecked")
	private static <X extends Exception> X undeclared(Exception thrown) throws X {
		throw (X) thrown;
	}

	/** A tool of a server, of which only the schema is known. */
	private record Remote(ToolDefinition definition, List<String> runs) implements ToolCallback {

		Remote(String name, List<String> takes, List<String> runs) {
			this(ToolDefinition.builder()
				.name(name)
				.description("of a server")
				.inputSchema("{\"type\":\"object\",\"properties\":{" + takes.stream()
					.map((each) -> "\"" + each + "\":{\"type\":\"integer\"}")
					.collect(Collectors.joining(",")) + "},\"required\":[\"order\"]}")
				.build(), runs);
		}

		@Override
		public ToolDefinition getToolDefinition() {
			return this.definition;
		}

		@Override
		public String call(String input) {
			this.runs.add(this.definition.name() + input);
			return "done";
		}

	}

	private RewindPlan planPayBack(String arguments, ToolCallback... known) {
		Remote payBack = new Remote("pay_back", List.of("order"), this.runs);
		this.model.calls(new ToolCall("c1", "function", "pay_back", arguments)).says("done");
		ask(List.of(payBack));
		Conversations conversations = conversations();
		return Compensations.builder(conversations, Approvals.of(conversations))
			.tools(known)
			.compensating(Map.of("pay_back", "charge"))
			.build()
			.plan(this.key, 1);
	}

	@Test
	void modelChoosesNoArgumentOfTheCompensatingToolOfAServer() {
		Remote payBack = new Remote("pay_back", List.of("order"), this.runs);
		Remote charge = new Remote("charge", List.of("order", "amount"), this.runs);
		RewindPlan forged = planPayBack("{\"order\":1,\"amount\":1000000}", payBack, charge);
		assertThat(forged.compensations()).isEmpty();
		assertThat(forged.irreversible()).extracting(Irreversible::reason).containsExactly(Reason.ARGUMENTS);
		RewindPlan plan = planPayBack("{\"order\":2}", payBack, charge);
		assertThat(plan.compensations()).singleElement()
			.satisfies((each) -> assertThat(each.call().arguments()).isEqualTo("{\"order\":2}"));
	}

	/** Nothing is known of the arguments with which it ran. */
	@Test
	void effectOfAToolThatIsNotKnownStaysWhateverIsConfigured() {
		RewindPlan plan = planPayBack("{\"order\":3.7}", new Remote("charge", List.of("order"), this.runs));
		assertThat(plan.compensations()).isEmpty();
		assertThat(plan.irreversible()).singleElement().satisfies((each) -> {
			assertThat(each.reason()).isEqualTo(Reason.UNKNOWN_TOOL);
			assertThat(each.detail()).contains("'pay_back'");
		});
	}

	@Test
	void compensatingCallIsNotThatOfTheToolsOfACallThatItMakes() {
		turn(cancel(1));
		List<String> running = new ArrayList<>();
		Approvals approvals = Approvals.of(conversations());
		ToolCallback look = tools().stream()
			.filter((each) -> each.getToolDefinition().name().equals("look_up"))
			.findFirst()
			.orElseThrow();
		this.fault = (what) -> {
			running.add(what + " " + approvals.running().isPresent());
			if (what.startsWith("restore")) {
				this.model.calls(new ToolCall("l1", "function", "look_up", "{\"order\":1}")).says("valid");
				ChatClient.builder(this.model)
					.defaultAdvisors(SessionAdvisor.of(conversations()))
					.build()
					.prompt()
					.user("is it valid?")
					.toolCallbacks(look)
					.advisors(SessionAdvisor.none())
					.call()
					.content();
			}
		};
		assertThat(compensations().rewind(compensations().plan(this.key, 1)).status()).isEqualTo(Status.COMPLETED);
		assertThat(running).containsExactly("restore 1 (ok cancel 1) true", "look up 1 false");
	}

	@Test
	void compensatingToolGetsAContext() {
		List<Object> seen = new ArrayList<>();
		turn(cancel(1));
		ToolCallback restore = new ToolCallback() {

			private final ToolCallback tool = tools().stream()
				.filter((each) -> each.getToolDefinition().name().equals("restore_order"))
				.findFirst()
				.orElseThrow();

			@Override
			public ToolDefinition getToolDefinition() {
				return this.tool.getToolDefinition();
			}

			@Override
			public String call(String input) {
				throw new IllegalStateException("there is a context");
			}

			@Override
			public String call(String input, ToolContext context) {
				seen.add(context.getContext().get("user"));
				seen.add(context.getContext().get(Approvals.CLAIM));
				return this.tool.call(input);
			}

		};
		List<ToolCallback> tools = new ArrayList<>(tools());
		tools.removeIf((each) -> each.getToolDefinition().name().equals("restore_order"));
		tools.add(restore);
		RewindPlan plan = compensations(tools).plan(this.key, 1);
		assertThat(compensations(tools).rewind(plan, Map.of("user", "anna")).status()).isEqualTo(Status.COMPLETED);
		assertThat(seen).containsExactly("anna", plan.compensations().get(0).call().id());
	}

}
