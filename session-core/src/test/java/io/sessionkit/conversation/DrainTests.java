package io.sessionkit.conversation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.SessionException;
import io.sessionkit.SessionKey;
import io.sessionkit.ShuttingDownException;
import io.sessionkit.Turn;
import io.sessionkit.TurnHandedOverException;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.OnNewMessage;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.SiblingRule;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.compensation.RewindPlan;
import io.sessionkit.compensation.RewindReport;
import io.sessionkit.context.HistoryPolicy;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.hook.SessionEvent;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.observation.CallOutcome;
import io.sessionkit.observation.ObservedCall;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.stream.CallEvent;
import io.sessionkit.stream.StreamEvent;
import io.sessionkit.stream.TurnStreams;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import io.sessionkit.test.WorkingModel;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.AdvisorParams;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.client.advisor.api.AdvisorChain;
import org.springframework.ai.chat.client.advisor.api.BaseAdvisor;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.DefaultToolCallingManager;
import org.springframework.ai.model.tool.ToolCallLimitBehavior;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.core.Ordered;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A process that shuts down while calls are at work, and another one on the same store.
 */
class DrainTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private final SessionStore store = TestStores.MEMORY.create();

	private final List<Conversations> opened = new ArrayList<>();

	private final WorkingModel model = new WorkingModel("work");

	private final AtomicInteger runs = new AtomicInteger();

	/** Is done in each run of the tool. */
	private volatile Consumer<Integer> inTool = (run) -> {
	};

	private Set<String> named = Set.of();

	private ApprovalPolicy policy = (request) -> Ruling.allow();

	private boolean asksPolicy;

	private @Nullable Duration limit;

	private final Thread caller = Thread.currentThread();

	private final List<CallOutcome> outcomes = new ArrayList<>();

	private final SessionContext context = new SessionContext();

	private final ToolCallback tool = FunctionToolCallback.builder("work", () -> {
		int run = this.runs.incrementAndGet();
		this.context.putAttribute("run" + run, run);
		this.inTool.accept(run);
		return "result " + run;
	}).build();

	private Conversations first;

	/** Notes how calls end. */
	private final class Outcomes implements CallObserver {

		@Override
		public ObservedCall begin(boolean streams) {
			return new ObservedCall() {

				@Override
				public void ended(CallOutcome outcome, @Nullable String failure) {
					DrainTests.this.outcomes.add(outcome);
				}

			};
		}

	}

	@AfterEach
	void close() {
		this.opened.forEach(Conversations::close);
	}

	private Conversations process(Durability durability, SessionHook... hooks) {
		Conversations.Builder builder = Conversations.builder(this.store)
			.durability(durability)
			.hooks(hooks)
			.observers(List.of(new Outcomes()));
		Conversations conversations = ((this.limit != null) ? builder.toolTimeout(this.limit) : builder).build();
		this.opened.add(conversations);
		return conversations;
	}

	private Approvals approvals(Conversations process) {
		return Approvals.builder(process)
			.tools(this.named)
			.policies(this.asksPolicy ? List.of(this.policy) : List.of())
			.build();
	}

	private ChatClient client(Conversations process, ClientSetup setup) {
		return setup.builder(this.model, SessionAdvisor.builder(process).approvals(approvals(process)).build())
			.defaultTools(this.tool)
			.build();
	}

	private static ClientSetup setup(ClientSetup.Mode mode) {
		return new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
	}

	private String ask(Conversations process, ClientSetup setup, String question) {
		return setup.content(client(process, setup).prompt().user(question).advisors(SessionAdvisor.session(KEY)));
	}

	private String goOn(Conversations process, ClientSetup setup) {
		return setup.content(client(process, setup).prompt().advisors(SessionAdvisor.session(KEY)));
	}

	private void assertNobodyWorks(int runs) {
		assertThat(this.store.records(KEY, TurnRecords.LEASE)).isEmpty();
		assertThat(this.runs).hasValue(runs);
		assertThat(approvals(process(Durability.TURN)).pending(KEY)).isEmpty();
	}

	private void assertWhole(Durability durability) {
		Conversations other = process(durability);
		assertThat(this.runs).hasValue(3);
		assertThat(approvals(other).ledger(KEY)).extracting(ToolApproval::status).allMatch(ApprovalStatus.DONE::equals);
		Turn turn = other.get(KEY).turns(new Tail(Long.MAX_VALUE, 1)).get(0);
		assertThat(turn.status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(turn.rounds()).hasSize(4);
		assertThat(other.get(KEY).items(turn.number())).hasSize(8);
		assertThat(this.store.find(KEY).orElseThrow().attributes()).isEqualTo(Map.of("run1", 1, "run2", 2, "run3", 3));
	}

	@ParameterizedTest
	@CsvSource({ "CALL,TURN,1", "CALL,TURN,2", "CALL,TURN,3", "CALL,STEP,1", "CALL,STEP,3", "STREAM,TURN,1",
			"STREAM,TURN,3", "STREAM,STEP,2" })
	void turnStopsBehindItsToolAndAnotherProcessGoesOn(ClientSetup.Mode mode, Durability durability, int moment) {
		this.first = process(durability);
		this.inTool = (run) -> {
			if (run == moment) {
				this.first.drain(Duration.ZERO);
			}
		};
		assertThatExceptionOfType(TurnHandedOverException.class).isThrownBy(() -> ask(this.first, setup(mode), "q:3"))
			.satisfies((ex) -> assertThat(ex.turnId()).isEqualTo(openTurn().id()))
			.matches((ex) -> ex.isMessageKept());
		assertThat(this.first.drain(Duration.ofSeconds(5))).isTrue();
		assertThat(openTurn().status()).isEqualTo(TurnStatus.INCOMPLETE);
		assertNobodyWorks(moment);
		assertThat(this.outcomes).containsExactly(CallOutcome.HANDED_OVER);
		assertThatExceptionOfType(TurnOpenException.class)
			.isThrownBy(() -> ask(process(durability), setup(mode), "next"))
			.withMessageContainingAll("broke off at a step", "call again without a message to continue it");
		assertThat(goOn(process(durability), setup(mode))).isEqualTo("a of q:3");
		assertWhole(durability);
		assertThat(this.model.prompts()).hasSize(4);
	}

	private Turn openTurn() {
		return process(Durability.TURN).get(KEY).openTurn().orElseThrow();
	}

	@ParameterizedTest
	@CsvSource({ "CALL,TURN,0", "CALL,TURN,2", "CALL,STEP,0", "CALL,STEP,1", "STREAM,STEP,2" })
	void turnStopsBeforeItsToolRuns(ClientSetup.Mode mode, Durability durability, int moment) {
		this.first = process(durability);
		this.model.before((prompt) -> {
			if (this.model.prompts().size() == moment + 1) {
				this.first.drain(Duration.ZERO);
			}
		});
		assertThatExceptionOfType(TurnHandedOverException.class).isThrownBy(() -> ask(this.first, setup(mode), "q:3"));
		assertThat(this.first.drain(Duration.ofSeconds(5))).isTrue();
		assertNobodyWorks(moment);
		assertThat(goOn(process(durability), setup(mode))).isEqualTo("a of q:3");
		assertWhole(durability);
	}

	@ParameterizedTest
	@CsvSource({ "USE_IF_PROVIDED,TURN", "USE_IF_PROVIDED,STEP", "REPLACE_SESSION,TURN" })
	void turnIsHandedOverWithTheHistoryThatItsCallHasBrought(HistoryPolicy policy, Durability durability) {
		this.first = process(durability);
		this.inTool = (run) -> this.first.drain(Duration.ZERO);
		List<Message> given = List.of(new UserMessage("x?"), new AssistantMessage("x!"));
		assertThatExceptionOfType(TurnHandedOverException.class)
			.isThrownBy(() -> client(this.first, ClientSetup.plain()).prompt()
				.user("q:1")
				.advisors(SessionAdvisor.session(KEY).andThen(SessionAdvisor.history(given, policy)))
				.call()
				.content());
		this.inTool = (run) -> {
		};
		assertThat(goOn(process(durability), ClientSetup.plain())).isEqualTo("a of q:1");
		assertThat(this.runs).hasValue(1);
		List<Message> sent = this.model.prompts().get(1).getInstructions();
		assertThat(Lines.of(sent)).startsWith("user: x?", "assistant: x!", "user: q:1");
	}

	@ParameterizedTest
	@EnumSource
	void lastReplyEndsTheTurn(ClientSetup.Mode mode) {
		this.first = process(Durability.TURN);
		this.model.before((prompt) -> {
			if (this.model.prompts().size() == 4) {
				this.first.drain(Duration.ZERO);
			}
		});
		assertThat(ask(this.first, setup(mode), "q:3")).isEqualTo("a of q:3");
		assertThat(this.first.drain(Duration.ofSeconds(5))).isTrue();
		assertNobodyWorks(3);
		assertThat(this.store.find(KEY).orElseThrow().openTurn()).isZero();
	}

	/** Puts the tool itself in the place of the one that the session advisor offers. */
	private final class Replacing implements BaseAdvisor {

		@Override
		public ChatClientRequest before(ChatClientRequest request, AdvisorChain chain) {
			ToolCallingChatOptions options = (ToolCallingChatOptions) request.prompt().getOptions();
			return request.mutate()
				.prompt(new Prompt(request.prompt().getInstructions(),
						options.mutate().toolCallbacks(List.of(DrainTests.this.tool)).build()))
				.build();
		}

		@Override
		public ChatClientResponse after(ChatClientResponse response, AdvisorChain chain) {
			return response;
		}

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE + 280;
		}

	}

	/** A call that continues it would be refused for that tool. */
	@ParameterizedTest
	@EnumSource
	void turnWhoseToolAnInnerAdvisorHasReplacedRunsOn(ClientSetup.Mode mode) {
		this.first = process(Durability.TURN);
		this.inTool = (run) -> this.first.drain(Duration.ZERO);
		ChatClient replacing = client(this.first, setup(mode)).mutate().defaultAdvisors(new Replacing()).build();
		assertThat(setup(mode).content(replacing.prompt().user("q:2").advisors(SessionAdvisor.session(KEY))))
			.isEqualTo("a of q:2");
		assertThat(this.first.drain(Duration.ofSeconds(5))).isTrue();
		assertNobodyWorks(2);
		assertThat(this.outcomes).containsExactly(CallOutcome.COMPLETED);
	}

	@Test
	void turnThatContinuesStopsBeforeAnythingRuns() {
		this.first = process(Durability.STEP);
		this.inTool = (run) -> this.first.drain(Duration.ZERO);
		assertThatExceptionOfType(TurnHandedOverException.class)
			.isThrownBy(() -> ask(this.first, ClientSetup.plain(), "q:3"));
		Conversations second = process(Durability.STEP);
		HistoryMerge merge = (context, history, input) -> {
			second.drain(Duration.ZERO);
			return Stream.concat(history.stream(), input.stream()).toList();
		};
		assertThatExceptionOfType(TurnHandedOverException.class)
			.isThrownBy(() -> client(second, ClientSetup.plain()).prompt()
				.advisors(SessionAdvisor.session(KEY).andThen(SessionAdvisor.merge(merge)))
				.call()
				.content());
		assertNobodyWorks(1);
		assertThat(this.model.prompts()).hasSize(1);
		this.inTool = (run) -> {
		};
		assertThat(goOn(process(Durability.STEP), ClientSetup.plain())).isEqualTo("a of q:3");
		assertWhole(Durability.STEP);
	}

	@Test
	void turnIsHandedOverTwice() {
		this.first = process(Durability.STEP);
		this.inTool = (run) -> this.first.drain(Duration.ZERO);
		assertThatExceptionOfType(TurnHandedOverException.class)
			.isThrownBy(() -> ask(this.first, ClientSetup.plain(), "q:3"));
		Conversations second = process(Durability.STEP);
		this.inTool = (run) -> {
			second.drain(Duration.ZERO);
		};
		assertThatExceptionOfType(TurnHandedOverException.class).isThrownBy(() -> goOn(second, ClientSetup.plain()));
		assertNobodyWorks(2);
		this.inTool = (run) -> {
		};
		assertThat(goOn(process(Durability.STEP), ClientSetup.plain())).isEqualTo("a of q:3");
		assertWhole(Durability.STEP);
	}

	@Test
	void callThatWaitsForAPersonWaitsInTheStore() {
		this.named = Set.of("work");
		this.first = process(Durability.TURN);
		this.model.before((prompt) -> this.first.drain(Duration.ZERO));
		assertThat(ask(this.first, ClientSetup.plain(), "q:1")).isNull();
		this.model.before((prompt) -> {
		});
		Conversations second = process(Durability.TURN);
		ToolApproval call = approvals(second).pending(KEY).get(0);
		approvals(second).decide(call, Decision.approve("ann"));
		this.inTool = (run) -> second.drain(Duration.ZERO);
		assertThatExceptionOfType(TurnHandedOverException.class).isThrownBy(() -> goOn(second, ClientSetup.plain()));
		assertThat(goOn(process(Durability.TURN), ClientSetup.plain())).isEqualTo("a of q:1");
		assertThat(this.runs).hasValue(1);
	}

	/** Otherwise what a second run of the tool writes would be left out. */
	@Test
	void attributesOfACallWhoseResultIsNotStoredAreNotNotedAsTaken() {
		ObservedStore observed = new ObservedStore(this.store);
		this.first = Conversations.builder(observed).durability(Durability.STEP).build();
		this.opened.add(this.first);
		AtomicBoolean away = new AtomicBoolean();
		observed.beforePut((record) -> {
			if (away.get() && record.kind().equals("approval")) {
				throw new StoreUnavailableException("The store is down.", null);
			}
		});
		this.inTool = (run) -> {
			away.set(true);
			this.first.drain(Duration.ZERO);
		};
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> ask(this.first, ClientSetup.plain(), "q:1"));
		assertThat(this.store.records(KEY, TurnRecords.PAUSE)).singleElement()
			.satisfies((record) -> assertThat(record.payload()).contains("calls").doesNotContain("taken"));
		assertThat(approvals(process(Durability.STEP)).pending(KEY)).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.UNCERTAIN);
	}

	/** A tool that begins now may not end in time, whatever else the turn does. */
	@ParameterizedTest
	@CsvSource({ "CALL,false", "CALL,true", "STREAM,false", "STREAM,true" })
	void callThatNeedsNoConsentRunsLaterBesideOneThatWaits(ClientSetup.Mode mode, boolean forgets) {
		this.store.add(KEY, List.of(new UserMessage("old"), new AssistantMessage("a of old")));
		SessionHook hook = TestHooks.beforeModel("forgets", (request) -> {
			if (forgets) {
				new SessionContext().forget(0, 2);
			}
			return HookResult.keep();
		});
		this.first = process(Durability.TURN, hook);
		ScriptedChatModel scripted = new ScriptedChatModel();
		scripted.step((prompt) -> {
			this.first.drain(Duration.ZERO);
			return new ScriptedChatModel()
				.calls(new ToolCall("c1", "function", "work", "{}"), new ToolCall("c2", "function", "wipe", "{}"))
				.stream(prompt);
		}).says("done");
		siblingsRun(scripted, this.first, setup(mode), "q");
		assertThat(this.runs).hasValue(0);
		Conversations second = process(Durability.TURN);
		assertThat(openTurn().status()).isEqualTo(TurnStatus.AWAITING_APPROVAL);
		siblingsRun(scripted, second, setup(mode), null);
		assertThat(this.runs).hasValue(1);
		approvals(second).decide(approvals(second).pending(KEY).get(0), Decision.reject("ann", "no"));
		assertThat(siblingsRun(scripted, second, setup(mode), null)).isEqualTo("done");
		assertThat(this.runs).hasValue(1);
	}

	private @Nullable String siblingsRun(ScriptedChatModel scripted, Conversations process, ClientSetup setup,
			@Nullable String question) {
		ToolCallback wipe = FunctionToolCallback.builder("wipe", () -> {
			throw new AssertionError("It runs.");
		}).build();
		Approvals approvals = Approvals.builder(process).tools(Set.of("wipe")).siblings(SiblingRule.RUN).build();
		ChatClient client = setup.builder(scripted, SessionAdvisor.builder(process).approvals(approvals).build())
			.defaultTools(this.tool, wipe)
			.build();
		ChatClient.ChatClientRequestSpec call = client.prompt().advisors(SessionAdvisor.session(KEY));
		return setup.content((question != null) ? call.user(question) : call);
	}

	/** Nothing waits for it when the time is over, and its thread is ended. */
	@ParameterizedTest
	@CsvSource({ "CALL,STEP,false,false", "CALL,STEP,true,true", "CALL,TURN,false,true", "CALL,TURN,true,false",
			"STREAM,STEP,false,true", "STREAM,TURN,false,false", "STREAM,TURN,true,true" })
	void toolThatTheShutdownInterruptsIsUncertain(ClientSetup.Mode mode, Durability durability, boolean limited,
			boolean says) {
		boolean waits = durability == Durability.TURN;
		this.named = waits ? Set.of("work") : Set.of();
		this.limit = limited ? Duration.ofMinutes(1) : null;
		this.first = process(durability);
		this.inTool = (run) -> {
			this.first.drain(Duration.ZERO);
			throw interrupted(says);
		};
		if (waits) {
			ask(this.first, setup(mode), "q:1");
			approvals(this.first).decide(approvals(this.first).pending(KEY).get(0), Decision.approve("ann"));
			assertHandedOver(() -> goOn(this.first, setup(mode)));
		}
		else {
			assertHandedOver(() -> ask(this.first, setup(mode), "q:1"));
		}
		assertThat(this.store.records(KEY, TurnRecords.LEASE)).isEmpty();
		this.inTool = (run) -> {
		};
		Conversations second = process(durability);
		ToolApproval call = approvals(second).pending(KEY).get(0);
		assertThat(call.status()).isEqualTo(ApprovalStatus.UNCERTAIN);
		assertThat(goOn(second, setup(mode))).isNullOrEmpty();
		assertThat(this.runs).hasValue(1);
		approvals(second).decide(call, Decision.answer("ann", "it was done"));
		assertThat(goOn(second, setup(mode))).isEqualTo("a of q:1");
		assertThat(this.runs).hasValue(1);
	}

	private void assertHandedOver(ThrowingCallable call) {
		assertThatExceptionOfType(TurnHandedOverException.class).isThrownBy(call)
			.withMessageContainingAll("'work'", "uncertain");
		Thread.interrupted();
		assertThat(this.outcomes).endsWith(CallOutcome.HANDED_OVER);
		assertThat(this.first.drain(Duration.ofSeconds(5))).isTrue();
	}

	/**
	 * Returns what an interrupted tool throws, which says so or leaves it to its thread.
	 */
	private RuntimeException interrupted(boolean says) {
		if (says) {
			return new IllegalStateException(new InterruptedException("sleep interrupted"));
		}
		// a tool with a time limit runs on a thread of its own, which its caller
		// interrupts
		((this.limit != null) ? this.caller : Thread.currentThread()).interrupt();
		return new IllegalStateException("broken off");
	}

	/** A caller that leaves interrupts its tools too. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void toolThatIsInterruptedWithoutAShutdownHasFailed(boolean says) {
		this.inTool = (run) -> {
			throw interrupted(says);
		};
		assertThat(ask(process(Durability.STEP), ClientSetup.plain(), "q:1")).isEqualTo("a of q:1");
		Thread.interrupted();
		assertThat(approvals(process(Durability.STEP)).ledger(KEY)).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.DONE);
	}

	@Test
	void toolThatFailsByItselfDuringAShutdownHasFailed() {
		this.first = process(Durability.STEP);
		this.inTool = (run) -> {
			this.first.drain(Duration.ZERO);
			throw new IllegalStateException("no stock");
		};
		assertThatExceptionOfType(TurnHandedOverException.class)
			.isThrownBy(() -> ask(this.first, ClientSetup.plain(), "q:1"));
		assertNobodyWorks(1);
		assertThat(approvals(process(Durability.STEP)).ledger(KEY)).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.DONE);
	}

	@Test
	void laterReplyOfATurnThatHasWaitedIsHandedOverWithItsResults() {
		this.asksPolicy = true;
		this.policy = (request) -> (this.runs.get() == 0) ? Ruling.ask() : Ruling.allow();
		this.first = process(Durability.TURN);
		ask(this.first, ClientSetup.plain(), "q:3");
		approvals(this.first).decide(approvals(this.first).pending(KEY).get(0), Decision.approve("ann"));
		this.inTool = (run) -> {
			if (run == 2) {
				this.first.drain(Duration.ZERO);
			}
		};
		assertThatExceptionOfType(TurnHandedOverException.class)
			.isThrownBy(() -> goOn(this.first, ClientSetup.plain()));
		assertNobodyWorks(2);
		assertThat(goOn(process(Durability.TURN), ClientSetup.plain())).isEqualTo("a of q:3");
		assertWhole(Durability.TURN);
	}

	@Test
	void callThatWasDeniedDoesNotLookAsIfItHadRun() {
		this.asksPolicy = true;
		this.policy = (request) -> request.call().name().equals("wipe") ? Ruling.deny("no") : Ruling.allow();
		this.first = process(Durability.TURN);
		this.inTool = (run) -> this.first.drain(Duration.ZERO);
		ToolCallback wipe = FunctionToolCallback.builder("wipe", () -> {
			throw new AssertionError("It runs.");
		}).build();
		ToolCall denied = new ToolCall("c1", "function", "wipe", "{}");
		ScriptedChatModel scripted = new ScriptedChatModel();
		scripted.calls(denied, new ToolCall("c2", "function", "work", "{}"), denied).says("done");
		ChatClient here = scripted(scripted, this.first, wipe);
		assertThatExceptionOfType(TurnHandedOverException.class)
			.isThrownBy(() -> here.prompt().user("q").advisors(SessionAdvisor.session(KEY)).call().content());
		Conversations second = process(Durability.TURN);
		assertThat(scripted(scripted, second, wipe).prompt().advisors(SessionAdvisor.session(KEY)).call().content())
			.isEqualTo("done");
		assertThat(scripted.lastRequestLines()).contains("tool wipe=no work=\"result 1\" wipe=no");
		assertThat(approvals(second).ledger(KEY)).extracting((call) -> call.tool() + " " + call.status())
			.containsExactlyInAnyOrder("wipe DENIED", "work DONE");
	}

	private ChatClient scripted(ScriptedChatModel scripted, Conversations process, ToolCallback... others) {
		return ClientSetup.plain()
			.builder(scripted, SessionAdvisor.builder(process).approvals(approvals(process)).build())
			.defaultTools(this.tool)
			.defaultTools((Object[]) others)
			.build();
	}

	@Test
	void callThatALimitHasRefusedDoesNotLookAsIfItHadRun() {
		this.first = process(Durability.TURN);
		this.inTool = (run) -> this.first.drain(Duration.ZERO);
		ScriptedChatModel scripted = new ScriptedChatModel();
		scripted.calls(new ToolCall("c1", "function", "work", "{}"), new ToolCall("c2", "function", "work", "{}"))
			.says("done");
		assertThatExceptionOfType(TurnHandedOverException.class)
			.isThrownBy(() -> limited(scripted, this.first).user("q").call().content());
		Conversations second = process(Durability.TURN);
		assertThat(approvals(second).ledger(KEY)).extracting(ToolApproval::status)
			.containsExactlyInAnyOrder(ApprovalStatus.DONE, ApprovalStatus.CANCELLED);
		assertThat(limited(scripted, second).call().content()).isEqualTo("done");
		assertThat(this.runs).hasValue(1);
		assertThat(scripted.lastRequestLines()).last().asString().contains("work=Tool call limit (1) exceeded");
		assertThat(approvals(second).ledger(KEY)).extracting(ToolApproval::status)
			.containsExactlyInAnyOrder(ApprovalStatus.DONE, ApprovalStatus.CANCELLED);
	}

	private ChatClient.ChatClientRequestSpec limited(ScriptedChatModel scripted, Conversations process) {
		DefaultToolCallingManager once = DefaultToolCallingManager.builder()
			.maxCallsPerTool(1)
			.onLimitExceeded(ToolCallLimitBehavior.RETURN_ERROR_RESPONSE)
			.build();
		return scripted(scripted, process).prompt()
			.advisors(ToolCallingAdvisor.builder().toolCallingManager(once).build())
			.advisors(SessionAdvisor.session(KEY));
	}

	@Test
	void nothingNewBeginsUntilCallsAreAcceptedAgain() {
		this.first = process(Durability.TURN);
		assertThat(this.first.drain(Duration.ofSeconds(10))).isTrue();
		for (ClientSetup.Mode mode : ClientSetup.Mode.values()) {
			assertThatExceptionOfType(ShuttingDownException.class).isThrownBy(() -> ask(this.first, setup(mode), "q"));
		}
		assertThat(this.model.prompts()).isEmpty();
		assertThat(this.store.find(KEY)).isEmpty();
		this.first.accept();
		assertThat(ask(this.first, ClientSetup.plain(), "q")).isEqualTo("a of q");
	}

	@Test
	void callsInsideOfATurnRunOn() {
		this.first = process(Durability.TURN);
		List<String> inner = new ArrayList<>();
		this.inTool = (run) -> {
			if (run == 1) {
				this.first.drain(Duration.ZERO);
				inner.add(client(this.first, ClientSetup.plain()).prompt()
					.user("inner:1")
					.advisors(SessionAdvisor.session("t2").andThen(SessionAdvisor.concurrency(Concurrency.SERIALIZE)))
					.call()
					.content());
			}
		};
		assertThatExceptionOfType(TurnHandedOverException.class)
			.isThrownBy(() -> ask(this.first, ClientSetup.plain(), "q:1"));
		assertThat(inner).containsExactly("a of inner:1");
		assertThat(this.first.drain(Duration.ofSeconds(5))).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void whoWaitsInLineIsSentElsewhere(ClientSetup.Mode mode) {
		this.first = process(Durability.TURN);
		CountDownLatch waits = new CountDownLatch(1);
		CountDownLatch release = new CountDownLatch(1);
		this.inTool = (run) -> {
			waits.countDown();
			awaited(release);
		};
		CompletableFuture<String> working = CompletableFuture
			.supplyAsync(() -> inLine(this.first, setup(ClientSetup.Mode.CALL), "q:1"));
		awaited(waits);
		CompletableFuture<String> waiting = CompletableFuture.supplyAsync(() -> inLine(this.first, setup(mode), "r"));
		Awaitility.await().pollDelay(Duration.ofMillis(300)).until(() -> !waiting.isDone());
		this.first.drain(Duration.ZERO);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(waiting::join)
			.withCauseInstanceOf(ShuttingDownException.class);
		release.countDown();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(working::join)
			.withCauseInstanceOf(TurnHandedOverException.class);
		Conversations second = process(Durability.TURN);
		assertThat(goOn(second, ClientSetup.plain())).isEqualTo("a of q:1");
		assertThat(inLine(second, setup(mode), "r")).isEqualTo("a of r");
	}

	private String inLine(Conversations process, ClientSetup setup, String question) {
		return setup.content(client(process, setup).prompt()
			.user(question)
			.advisors(SessionAdvisor.session(KEY).andThen(SessionAdvisor.concurrency(Concurrency.SERIALIZE))));
	}

	private static void awaited(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void toolThatDoesNotEndIsNotWaitedForLonger() {
		this.first = process(Durability.STEP);
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch release = new CountDownLatch(1);
		this.inTool = (run) -> {
			begun.countDown();
			awaited(release);
		};
		CompletableFuture<String> working = CompletableFuture
			.supplyAsync(() -> ask(this.first, ClientSetup.plain(), "q:1"));
		awaited(begun);
		long before = System.nanoTime();
		assertThat(this.first.drain(Duration.ofMillis(200))).isFalse();
		assertThat(Duration.ofNanos(System.nanoTime() - before)).isBetween(Duration.ofMillis(190),
				Duration.ofSeconds(5));
		release.countDown();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(working::join)
			.withCauseInstanceOf(TurnHandedOverException.class);
		assertThat(this.first.drain(Duration.ofSeconds(5))).isTrue();
	}

	@Test
	void requestThatIsRepeatedElsewhereContinuesTheTurn() {
		this.first = process(Durability.TURN);
		this.inTool = (run) -> this.first.drain(Duration.ZERO);
		assertThatExceptionOfType(TurnHandedOverException.class).isThrownBy(() -> repeated(this.first));
		assertThat(repeated(process(Durability.TURN))).isEqualTo("a of q:1");
		assertThat(this.runs).hasValue(1);
	}

	private String repeated(Conversations process) {
		return client(process, ClientSetup.plain()).prompt()
			.user("q:1")
			.advisors(SessionAdvisor.session(KEY).andThen(SessionAdvisor.idempotencyKey("k1")))
			.call()
			.content();
	}

	/** The call of the last reply has ended before, and comes again. */
	private static CallEvent[] begunAgain(List<StreamEvent> before) {
		List<CallEvent> events = before.stream().map(StreamEvent::event).toList();
		int failed = events.size() - 1;
		return new CallEvent[] { events.get(0), events.get(failed - 2), events.get(failed - 1) };
	}

	@Test
	void readersElsewhereAreToldAndContinueThere() {
		this.first = process(Durability.TURN);
		this.inTool = (run) -> {
			if (run == 2) {
				this.first.drain(Duration.ZERO);
			}
		};
		List<StreamEvent> here = new ArrayList<>();
		try (TurnStreams streams = TurnStreams.builder(this.first).build()) {
			streams
				.start(client(this.first, ClientSetup.streaming()).prompt()
					.user("q:3")
					.advisors(SessionAdvisor.session(KEY)))
				.doOnNext(here::add)
				.blockLast();
			assertThat(this.first.drain(Duration.ofSeconds(5))).isTrue();
			assertThat(streams.awaitWritten(Duration.ofSeconds(5))).isTrue();
		}
		Conversations second = process(Durability.TURN);
		try (TurnStreams streams = TurnStreams.builder(second).build()) {
			List<StreamEvent> there = streams.resume(KEY, here.get(0).id()).collectList().block();
			assertThat(there).isEqualTo(here.subList(1, here.size()));
			assertThat(there.get(there.size() - 1).event())
				.isEqualTo(new CallEvent.Failed(openTurn().id(), TurnStatus.INCOMPLETE, "handed-over", true));
			List<StreamEvent> rest = streams
				.start(client(second, ClientSetup.streaming()).prompt().advisors(SessionAdvisor.session(KEY)))
				.collectList()
				.block();
			assertThat(rest).extracting(StreamEvent::event)
				.startsWith(begunAgain(here))
				.contains(new CallEvent.Text("a of q:3"))
				.last()
				.isInstanceOf(CallEvent.Ended.class);
		}
		assertThat(this.runs).hasValue(3);
	}

	@Test
	void replyOfAStreamWithHooksStopsBeforeItsToolsRun() {
		this.first = process(Durability.TURN);
		SessionHook hook = new SessionHook() {

			@Override
			public HookResult<AssistantMessage> afterModel(HookContext turn, AssistantMessage reply) {
				DrainTests.this.first.drain(Duration.ZERO);
				return HookResult.keep();
			}

		};
		assertThatExceptionOfType(TurnHandedOverException.class).isThrownBy(() -> ClientSetup.streaming()
			.content(client(this.first, ClientSetup.streaming()).prompt()
				.user("q:3")
				.advisors(SessionAdvisor.session(KEY).andThen(SessionAdvisor.hook(hook)))));
		assertNobodyWorks(0);
		assertThat(goOn(process(Durability.TURN), ClientSetup.streaming())).isEqualTo("a of q:3");
		assertWhole(Durability.TURN);
	}

	@ParameterizedTest
	@EnumSource
	void applicationThatRunsToolsItselfGetsTheirCalls(ClientSetup.Mode mode) {
		this.first = process(Durability.TURN);
		this.model.before((prompt) -> this.first.drain(Duration.ZERO));
		setup(mode).response(client(this.first, setup(mode)).prompt()
			.user("q:1")
			.advisors(SessionAdvisor.session(KEY))
			.advisors(AdvisorParams.toolCallingAdvisorAutoRegister(false)));
		assertThat(this.first.get(KEY).openTurn()).isEmpty();
		assertThat(this.first.get(KEY).messages()).hasSize(2);
	}

	@Test
	void messageThatHasJoinedTheTurnContinuesIt() {
		this.first = process(Durability.TURN);
		Conversations second = process(Durability.TURN);
		CountDownLatch working = new CountDownLatch(1);
		CountDownLatch release = new CountDownLatch(1);
		this.inTool = (run) -> {
			if (run == 1) {
				working.countDown();
				awaited(release);
			}
			if (run == 2) {
				this.first.drain(Duration.ZERO);
			}
		};
		CompletableFuture<String> handedOver = CompletableFuture.supplyAsync(() -> steering(this.first, "q:3"));
		awaited(working);
		CompletableFuture<String> joining = CompletableFuture.supplyAsync(() -> steering(second, "r"));
		Awaitility.await().until(() -> !this.store.records(KEY, "offer").isEmpty());
		release.countDown();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(handedOver::join)
			.withCauseInstanceOf(TurnHandedOverException.class);
		assertThat(joining.join()).isEqualTo("a of q:3+r");
		assertThat(this.runs).hasValue(3);
	}

	/**
	 * Two calls whose messages are in one turn.
	 *
	 * @param elsewhere the one that works on it
	 * @param joining the one whose message has joined it
	 * @param release lets the turn end
	 */
	private record Joined(CompletableFuture<String> elsewhere, CompletableFuture<String> joining,
			CountDownLatch release) {
	}

	/** A message of the first process joins a turn of another one. */
	private Joined joined(Conversations other) {
		CountDownLatch working = new CountDownLatch(1);
		CountDownLatch joined = new CountDownLatch(1);
		CountDownLatch release = new CountDownLatch(1);
		this.inTool = (run) -> {
			if (run == 1) {
				working.countDown();
				Awaitility.await().until(() -> !this.store.records(KEY, "offer").isEmpty());
			}
			else {
				joined.countDown();
				awaited(release);
			}
		};
		CompletableFuture<String> elsewhere = CompletableFuture.supplyAsync(() -> steering(other, "q:2"));
		awaited(working);
		CompletableFuture<String> joining = CompletableFuture.supplyAsync(() -> steering(this.first, "r"));
		awaited(joined);
		return new Joined(elsewhere, joining, release);
	}

	@Test
	void messageThatHasJoinedIsNotToldToBeSentAgain() {
		this.first = process(Durability.TURN);
		Joined calls = joined(process(Durability.TURN));
		this.first.drain(Duration.ZERO);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(calls.joining()::join)
			.withCauseInstanceOf(TurnHandedOverException.class)
			.satisfies((ex) -> assertThat(((TurnHandedOverException) ex.getCause()).turnId()).isNull())
			.matches((ex) -> ((SessionException) ex.getCause()).isMessageKept());
		calls.release().countDown();
		assertThat(calls.elsewhere().join()).isEqualTo("a of q:2+r");
	}

	/** It was seen before that the message has joined. */
	@Test
	void messageThatHasJoinedIsNotToldToBeSentAgainAlthoughTheStoreFails() {
		ObservedStore observed = new ObservedStore(this.store);
		this.first = Conversations.of(observed);
		this.opened.add(this.first);
		Joined calls = joined(process(Durability.TURN));
		shutDownBetweenTwoLooks(observed);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(calls.joining()::join)
			.withCauseInstanceOf(TurnHandedOverException.class);
		calls.release().countDown();
		assertThat(calls.elsewhere().join()).isEqualTo("a of q:2+r");
	}

	/** The store fails from the look on that finds the shutdown. */
	private void shutDownBetweenTwoLooks(ObservedStore observed) {
		AtomicInteger looks = new AtomicInteger();
		CountDownLatch looking = new CountDownLatch(1);
		CountDownLatch goOn = new CountDownLatch(1);
		AtomicBoolean fails = new AtomicBoolean();
		observed.beforeRecord(() -> {
			if (fails.get()) {
				throw new StoreUnavailableException("The store is down.", null);
			}
			if (looks.incrementAndGet() == 3) {
				looking.countDown();
				awaited(goOn);
			}
		});
		awaited(looking);
		this.first.drain(Duration.ZERO);
		fails.set(true);
		goOn.countDown();
	}

	@Test
	void messageOfATurnThatHasEndedIsAnsweredByAProcessThatShutsDown() {
		this.first = process(Durability.TURN);
		ObservedStore observed = new ObservedStore(this.store);
		Conversations second = Conversations.of(observed);
		this.opened.add(second);
		CountDownLatch working = new CountDownLatch(1);
		this.inTool = (run) -> {
			if (run == 1) {
				working.countDown();
				Awaitility.await().until(() -> !this.store.records(KEY, "offer").isEmpty());
			}
		};
		observed.afterCommit(() -> {
			if (this.model.prompts().size() == 3) {
				this.first.drain(Duration.ZERO);
			}
		});
		CompletableFuture<String> elsewhere = CompletableFuture.supplyAsync(() -> steering(second, "q:2"));
		awaited(working);
		CompletableFuture<String> joining = CompletableFuture.supplyAsync(() -> steering(this.first, "r"));
		assertThat(elsewhere.join()).isEqualTo("a of q:2+r");
		assertThat(joining.join()).isEqualTo("a of q:2+r");
		assertThat(this.first.drain(Duration.ofSeconds(5))).isTrue();
	}

	/**
	 * The turn that a message has joined may have stopped too, in the process at work.
	 */
	@Test
	void messageOfATurnThatBrokeOffIsNotToldToBeSentAgain() {
		this.first = process(Durability.TURN);
		Conversations second = process(Durability.TURN);
		CountDownLatch working = new CountDownLatch(1);
		this.inTool = (run) -> {
			if (run == 1) {
				working.countDown();
				Awaitility.await().until(() -> !this.store.records(KEY, "offer").isEmpty());
			}
			else {
				second.drain(Duration.ZERO);
				this.first.drain(Duration.ZERO);
			}
		};
		CompletableFuture<String> elsewhere = CompletableFuture.supplyAsync(() -> steering(second, "q:3"));
		awaited(working);
		CompletableFuture<String> joining = CompletableFuture.supplyAsync(() -> steering(this.first, "r"));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(elsewhere::join)
			.withCauseInstanceOf(TurnHandedOverException.class);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(joining::join)
			.withCauseInstanceOf(TurnHandedOverException.class);
		this.inTool = (run) -> {
		};
		assertThat(goOn(process(Durability.TURN), ClientSetup.plain())).isEqualTo("a of q:3+r");
	}

	@ParameterizedTest
	@EnumSource
	void drainEndsWhenThoseInLineHaveLeft(ClientSetup.Mode mode) {
		this.first = process(Durability.TURN);
		Conversations second = process(Durability.TURN);
		CountDownLatch working = new CountDownLatch(1);
		CountDownLatch release = new CountDownLatch(1);
		this.inTool = (run) -> {
			working.countDown();
			awaited(release);
		};
		CompletableFuture<String> elsewhere = CompletableFuture
			.supplyAsync(() -> inLine(second, setup(ClientSetup.Mode.CALL), "q:1"));
		awaited(working);
		CompletableFuture<String> waiting = CompletableFuture.supplyAsync(() -> inLine(this.first, setup(mode), "r"));
		Awaitility.await().until(() -> tickets() == 2);
		assertThat(this.first.drain(Duration.ofSeconds(5))).isTrue();
		assertThat(tickets()).isOne();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(waiting::join)
			.withCauseInstanceOf(ShuttingDownException.class);
		release.countDown();
		assertThat(elsewhere.join()).isEqualTo("a of q:1");
		assertThat(this.first.drain(Duration.ZERO)).isTrue();
	}

	private int tickets() {
		return this.store.records(KEY, "line")
			.stream()
			.mapToInt((line) -> ((Collection<?>) this.store.options()
				.codec()
				.decodeValues(KEY, line.payload())
				.get("tickets")).size())
			.sum();
	}

	private String steering(Conversations process, String question) {
		return client(process, ClientSetup.plain()).prompt()
			.user(question)
			.advisors(SessionAdvisor.session(KEY).andThen(SessionAdvisor.concurrency(Concurrency.STEER)))
			.call()
			.content();
	}

	/** The attribute that the hook has written is stored, and the message is not yet. */
	@Test
	void hookIsNotAskedTwiceAboutAQueuedMessageOfATurnThatIsHandedOver() {
		this.named = Set.of("work");
		SessionHook counting = TestHooks.beforeTurn("counting", (input) -> {
			this.context.putAttribute("count", this.context.attribute("count", Integer.class).orElse(0) + 1);
			return HookResult.keep();
		});
		this.first = counting(counting);
		queueing(this.first, "q:1");
		queueing(this.first, "r");
		approvals(this.first).decide(approvals(this.first).pending(KEY).get(0), Decision.approve("ann"));
		this.inTool = (run) -> this.first.drain(Duration.ZERO);
		assertThatExceptionOfType(TurnHandedOverException.class)
			.isThrownBy(() -> goOn(this.first, ClientSetup.plain()));
		assertThat(goOn(counting(counting), ClientSetup.plain())).isEqualTo("a of q:1+r");
		assertThat(this.store.find(KEY).orElseThrow().attributes()).containsEntry("count", 2);
	}

	/** The attribute that the tool has written is among those that are stored then. */
	@Test
	void toolOfATurnThatIsHandedOverDoesNotWriteOverALaterHookAgain() {
		this.named = Set.of("work");
		SessionHook writing = TestHooks.beforeTurn("writing", (input) -> {
			this.context.putAttribute("run1", "hook");
			return HookResult.keep();
		});
		this.first = counting(writing);
		queueing(this.first, "q:1");
		queueing(this.first, "r");
		approvals(this.first).decide(approvals(this.first).pending(KEY).get(0), Decision.approve("ann"));
		this.model.before((prompt) -> {
			throw new IllegalStateException("down");
		});
		assertThatIllegalStateException().isThrownBy(() -> goOn(this.first, ClientSetup.plain())).withMessage("down");
		this.model.before((prompt) -> {
		});
		assertThatExceptionOfType(TurnHandedOverException.class)
			.isThrownBy(() -> goOn(drainedBehindItsTool(writing), ClientSetup.plain()));
		assertThat(goOn(counting(writing), ClientSetup.plain())).isEqualTo("a of q:1+r");
		assertThat(this.runs).hasValue(1);
		assertThat(this.store.find(KEY).orElseThrow().attributes()).containsEntry("run1", "hook");
	}

	private Conversations drainedBehindItsTool(SessionHook hook) {
		AtomicReference<Conversations> drained = new AtomicReference<>();
		drained.set(Conversations.builder(this.store).hooks(hook).listeners(new SessionListener() {

			@Override
			public void toolReturned(SessionEvent.ToolReturned event) {
				drained.get().drain(Duration.ZERO);
			}

		}).build());
		this.opened.add(drained.get());
		return drained.get();
	}

	private Conversations counting(SessionHook hook) {
		Conversations conversations = Conversations.builder(this.store).hooks(hook).build();
		this.opened.add(conversations);
		return conversations;
	}

	private void queueing(Conversations process, String question) {
		Approvals queueing = Approvals.builder(process).tools(this.named).onNewMessage(OnNewMessage.QUEUE).build();
		ClientSetup.plain()
			.builder(this.model, SessionAdvisor.builder(process).approvals(queueing).build())
			.defaultTools(this.tool)
			.build()
			.prompt()
			.user(question)
			.advisors(SessionAdvisor.session(KEY))
			.call()
			.content();
	}

	@Test
	void rewindStopsBeforeItsNextTool() {
		this.first = process(Durability.STEP);
		ask(this.first, ClientSetup.plain(), "q:2");
		List<String> back = new ArrayList<>();
		RewindPlan plan = compensations(this.first, back).plan(KEY, 1);
		assertThatExceptionOfType(ShuttingDownException.class)
			.isThrownBy(() -> compensations(this.first, back).rewind(plan));
		assertThat(back).hasSize(1);
		assertThat(compensations(process(Durability.STEP), back).rewind(plan).status())
			.isEqualTo(RewindReport.Status.COMPLETED);
		assertThat(back).hasSize(2);
	}

	private Compensations compensations(Conversations process, List<String> back) {
		ToolCallback takesBack = FunctionToolCallback.builder("back", () -> {
			back.add("back");
			this.first.drain(Duration.ZERO);
			return "ok";
		}).build();
		return Compensations.builder(process, approvals(process))
			.tools(this.tool, takesBack)
			.compensating(Map.of("work", "back"))
			.build();
	}

}
