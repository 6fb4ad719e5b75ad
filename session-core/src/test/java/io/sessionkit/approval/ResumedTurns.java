package io.sessionkit.approval;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.sessionkit.Durability;
import io.sessionkit.NothingWaitsException;
import io.sessionkit.SessionLostException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.Summarize;
import io.sessionkit.context.SummaryResult;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.store.CommitFailedException;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.model.tool.DefaultToolCallingManager;
import org.springframework.ai.tool.execution.DefaultToolExecutionExceptionProcessor;
import org.springframework.ai.tool.execution.ToolExecutionException;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The ways in which a turn continues, whatever goes wrong meanwhile: no call runs twice.
 */
abstract class ResumedTurns extends StandingApprovals {

	private static final String OFFERING = "with a ChatClient that offers what was approved";

	static final String QUESTION = "user: Summarize our conversation so far.";

	/** The call as it was shown while it waited. */
	private final AtomicReference<ToolApproval> shown = new AtomicReference<>();

	@ParameterizedTest
	@MethodSource("setups")
	void decidedCallsAreAnsweredInTheOrderInWhichTheyWereMade(ClientSetup setup) {
		this.model.calls(cancel("c1", 1), look("c2", 2), cancel("c3", 3), cancel("c4", 4)).says("done");
		ask(setup, "q");
		List<ToolApproval> pending = pending();
		approve(pending.get(2));
		reject(pending.get(0));
		approvals().decide(pending.get(1), Decision.approve("anna").withArguments("{\"id\":30}"));
		ChatResponse response = goOn(setup);
		assertThat(status(response)).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).containsExactly("look{\"id\":2}", "cancel{\"id\":30}", "cancel{\"id\":4}");
		assertThat(this.model.lastRequestLines()).last()
			.asString()
			.matches("tool cancel=not today look=done \\{\"id\":2\\} cancel=.*\\{\"id\":30\\}.*"
					+ " cancel=done \\{\"id\":4\\}");
		assertThat(log()).hasSize(4).startsWith("user: q").endsWith("assistant: done");
		assertThat(pending()).isEmpty();
		assertThat(ledger()).containsExactly(ApprovalStatus.REJECTED, ApprovalStatus.DONE, ApprovalStatus.DONE,
				ApprovalStatus.DONE);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void partlyDecidedCallsRunAndTheRestWaitsOnWithoutTheModel(ClientSetup setup) {
		this.model.calls(cancel("c1", 1), look("c2", 2), cancel("c3", 3)).says("done");
		ask(setup, "q");
		approve(pending().get(1));
		ChatResponse response = goOn(setup);
		assertThat(SessionAdvisor.pending(response)).extracting(ToolApproval::callId).containsExactly("c1");
		assertThat(this.runs).containsExactly("cancel{\"id\":3}");
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(turns()).containsExactly(TurnStatus.AWAITING_APPROVAL);
		goOn(setup);
		assertThat(this.runs).hasSize(1);
		reject(waiting());
		assertThat(status(goOn(setup))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).containsExactly("cancel{\"id\":3}", "look{\"id\":2}");
		assertThat(this.model.lastRequestLines())
			.endsWith("tool cancel=not today look=done {\"id\":2} cancel=done {\"id\":3}");
	}

	enum Place {

		HEAD, EDIT, BRANCH

	}

	@ParameterizedTest
	@EnumSource
	void summaryThatWasBegunBeforeTheTurnWaitedIsPutInAndTheTurnContinues(Place place) {
		history(4);
		thread().branch("other", 4);
		thread().switchTo("main");
		ScriptedChatModel summarizer = new ScriptedChatModel();
		threads((threads) -> threads
			.summarize(Summarize.by(summarizer).keepTurns(2).timeout(Duration.ofMinutes(1)).build()));
		this.model.calls(cancel("c1", 1)).says("done");
		summarizer.step((prompt) -> Flux.defer(() -> {
			pause(place);
			return Flux.just(summarizer.chunk("u1 and u2", List.of(), true));
		}));
		assertThat(thread().summarize(true).status()).isEqualTo(SummaryResult.Status.SUMMARIZED);
		assertThat(turns()).endsWith(TurnStatus.AWAITING_APPROVAL);
		assertThat(store().find(this.key).orElseThrow().summaryTurn()).isEqualTo(2);
		approve(waiting());
		assertThat(status(goOn(ClientSetup.Mode.CALL))).isEqualTo(TurnStatus.COMPLETED);
		if (place == Place.BRANCH) {
			assertThat(Lines.of(thread().view())).hasSize(6);
			thread().switchTo("other");
		}
		assertThat(this.model.lastRequestLines()).startsWith(switch (place) {
			case HEAD -> new String[] { QUESTION, "assistant: u1 and u2", "user: u3", "assistant: a3", "user: u4" };
			case EDIT -> new String[] { "user: u1", "assistant: a1", "user: q" };
			case BRANCH -> new String[] { QUESTION, "assistant: u1 and u2", "user: u3", "assistant: a3", "user: q" };
		});
		assertThat(Lines.of(thread().view())).endsWith("user: q", "assistant cancel({\"id\":1})",
				"tool cancel=done {\"id\":1}", "assistant: done");
	}

	private void pause(Place place) {
		ChatClient.ChatClientRequestSpec call = chat().prompt().user("q");
		ChatResponse response = response(ClientSetup.plain(), switch (place) {
			case HEAD -> call;
			case EDIT -> call.advisors(SessionAdvisor.editing(2));
			case BRANCH -> call.advisors(SessionAdvisor.branch("other"));
		});
		assertThat(isPaused(response)).isTrue();
	}

	final void history(int turns) {
		for (int i = 1; i <= turns; i++) {
			store().add(this.key, List.of(new UserMessage("u" + i), new AssistantMessage("a" + i)));
		}
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void turnWhoseSessionIsErasedWhileAnApprovedToolRunsIsLost(ClientSetup.Mode mode) {
		tools(tool("cancel").doing((input, context) -> {
			store().erase(this.key);
			return "done";
		}));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q");
		approve(waiting());
		assertThatExceptionOfType(SessionLostException.class).isThrownBy(() -> goOn(mode))
			.withMessageContaining("erased");
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(store().find(this.key)).isEmpty();
	}

	@Test
	void turnWhoseSessionIsErasedBeforeAnApprovedToolIsClaimedIsLost() {
		this.model.calls(cancel("c1", 1)).says("done");
		ask(ClientSetup.Mode.CALL, "q");
		approve(waiting());
		observed().beforePut((write) -> {
			if (write.kind().equals(Ledger.APPROVAL)) {
				store().erase(this.key);
				store().add(this.key, List.of(new UserMessage("new"), new AssistantMessage("a")));
			}
		});
		assertThatExceptionOfType(SessionLostException.class).isThrownBy(() -> goOn(ClientSetup.Mode.CALL));
		assertThat(this.runs).isEmpty();
		assertThat(log()).containsExactly("user: new", "assistant: a");
	}

	/** A call that begins the session stores its turn before the tool runs. */
	@Test
	void turnInStepsWhoseSessionIsErasedWhileItsToolRunsIsLost() {
		threads((threads) -> threads.durability(Durability.STEP));
		tools(tool("look").doing((input, context) -> {
			store().erase(this.key);
			return "done";
		}));
		this.model.calls(look("l1", 1)).says("done");
		assertThatExceptionOfType(SessionLostException.class).isThrownBy(() -> ask(ClientSetup.Mode.CALL, "q"));
		assertThat(store().find(this.key)).isEmpty();
	}

	/** A server that continues a turn names no agent. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void policyAndToolsOfAContinuedTurnSeeItsAgent(ClientSetup.Mode mode) {
		List<String> agents = new CopyOnWriteArrayList<>();
		SessionContext session = new SessionContext();
		rules((rules) -> rules.policies(List.of((request) -> {
			agents.add("policy: " + request.agent());
			boolean denied = request.call().name().equals("look") && "support".equals(request.agent());
			return denied ? Ruling.deny("Support does not look.") : Ruling.allow();
		})));
		tools(FunctionToolCallback.builder("cancel", (Map<String, Object> input) -> {
			agents.add("tool: " + session.agent().orElse(null));
			return "done";
		}).description("cancels").inputType(Map.class).build(), tool("look"));
		this.model.calls(cancel("c1", 1)).calls(look("c2", 2)).says("done");
		response(setup(mode), client(setup(mode)).build().prompt().user("q").advisors(SessionAdvisor.agent("support")));
		approve(waiting());
		assertThat(status(goOn(mode))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(agents).containsExactly("policy: support", "tool: support", "policy: support");
		assertThat(this.runs).as("it is denied").isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void secondOfTwoCallsThatLookTheSameCanBeDecidedFirst(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1), cancel("c2", 1)).says("done");
		ask(mode, "q");
		approve(pending().get(1));
		assertThat(SessionAdvisor.pending(goOn(mode))).extracting(ToolApproval::callId).containsExactly("c1");
		assertThat(this.runs).hasSize(1);
		assertThat(ledger()).containsExactly(ApprovalStatus.PROPOSED, ApprovalStatus.DONE);
		reject(waiting());
		assertThat(status(goOn(mode))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).hasSize(1);
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=not today cancel=done {\"id\":1}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callWithoutMessageIsRefusedBeforeTheModelWhereNothingWaits(ClientSetup.Mode mode) {
		assertThatExceptionOfType(NothingWaitsException.class).isThrownBy(() -> goOn(mode))
			.withMessageContainingAll("nothing in the session", "there is no such session");
		this.model.says("a");
		ask(mode, "q");
		assertThatExceptionOfType(NothingWaitsException.class).isThrownBy(() -> goOn(mode))
			.withMessageContainingAll("the newest question has its answer", "Add .user(..)");
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(turns()).containsExactly(TurnStatus.COMPLETED);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void turnThatHasGoneOnDoesNotGoOnTwice(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q");
		approve(waiting());
		goOn(mode);
		assertThatExceptionOfType(NothingWaitsException.class).isThrownBy(() -> goOn(mode));
		assertThat(this.runs).hasSize(1);
		assertThat(log()).hasSize(4);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void ofTwoWhoGoOnAtOnceOneRunsTheCallAndTheOtherIsTold(ClientSetup.Mode mode) throws Exception {
		CountDownLatch running = new CountDownLatch(1);
		CountDownLatch go = new CountDownLatch(1);
		tools(tool("cancel").doing((input, context) -> {
			running.countDown();
			await(go);
			return "done";
		}), tool("look"));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q");
		approve(waiting());
		ExecutorService thread = Executors.newSingleThreadExecutor();
		try {
			Future<ChatResponse> first = thread.submit(() -> goOn(mode));
			await(running);
			assertThatExceptionOfType(TurnInProgressException.class).isThrownBy(() -> goOn(mode));
			assertThatExceptionOfType(TurnInProgressException.class).isThrownBy(() -> approvals().cancel(this.key));
			assertThat(ledger()).containsExactly(ApprovalStatus.CLAIMED);
			assertThat(pending()).isEmpty();
			go.countDown();
			assertThat(status(first.get(10, TimeUnit.SECONDS))).isEqualTo(TurnStatus.COMPLETED);
		}
		finally {
			thread.shutdownNow();
		}
		assertThat(this.runs).hasSize(1);
		assertThat(this.model.prompts()).hasSize(2);
	}

	static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void callWhoseProcessIsGoneIsUncertainAndRunsAgainOnlyIfAPersonSaysSo() throws Exception {
		for (Decision decision : List.of(Decision.retry("anna"), Decision.answer("anna", "it did run"),
				Decision.reject("anna", "leave it"))) {
			uncertain(decision);
		}
		assertThat(this.runs).hasSize(4);
		assertThat(log()).filteredOn((line) -> line.startsWith("tool"))
			.containsExactly("tool cancel=second", "tool cancel=it did run", "tool cancel=leave it");
	}

	/** Its process knows that the tool has not run, and nobody has to be asked. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callWhoseClaimIsStoredWithoutAnAnswerRuns(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q");
		approve(waiting());
		AtomicInteger claims = new AtomicInteger();
		observed().afterPut((record) -> {
			if (record.kind().equals(Ledger.APPROVAL) && claims.getAndIncrement() == 0) {
				throw new StoreUnavailableException("The answer was lost.", null);
			}
		});
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(claims).as("claim and result").hasValue(2);
		assertThat(this.runs).containsExactly("cancel{\"id\":1}");
		assertThat(ledger()).containsExactly(ApprovalStatus.DONE);
	}

	@Test
	void callWhoseClaimIsNotStoredDoesNotRun() {
		this.model.calls(cancel("c1", 1)).says("done");
		ask(ClientSetup.Mode.CALL, "q");
		approve(waiting());
		observed().beforePut((record) -> {
			if (record.kind().equals(Ledger.APPROVAL)) {
				throw new StoreUnavailableException("The store is down.", null);
			}
		});
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> goOn(ClientSetup.Mode.CALL));
		observed().beforePut((record) -> {
		});
		assertThat(ledger()).containsExactly(ApprovalStatus.APPROVED);
		assertThat(answer(ClientSetup.Mode.CALL)).isEqualTo("done");
		assertThat(this.runs).hasSize(1);
	}

	/** Takes the lease away while the tool runs, as if its process had been gone. */
	private void uncertain(Decision decision) throws Exception {
		uncertain(Decision.approve("anna"), decision);
	}

	private void uncertain(Decision first, Decision decision) throws Exception {
		uncertain(first, () -> {
			assertThat(isPaused(goOn(ClientSetup.Mode.CALL))).isTrue();
			assertThatExceptionOfType(DecisionRefusedException.class).isThrownBy(() -> approve(waiting()))
				.withMessageContaining("RETRY, ANSWER or REJECT");
			approvals().decide(waiting(), decision);
		});
		this.model.says("done");
		assertThat(status(goOn(ClientSetup.Mode.CALL))).isEqualTo(TurnStatus.COMPLETED);
	}

	/**
	 * @param meanwhile what others do before the first process comes back
	 */
	void uncertain(Decision first, Runnable meanwhile) throws Exception {
		CountDownLatch running = new CountDownLatch(1);
		CountDownLatch go = new CountDownLatch(1);
		tools(tool("cancel").doing((input, context) -> {
			running.countDown();
			await(go);
			return "first";
		}), tool("look"));
		this.model.calls(cancel("c1", 1));
		ask(ClientSetup.Mode.CALL, "q");
		this.shown.set(waiting());
		approvals().decide(this.shown.get(), first);
		ExecutorService thread = Executors.newSingleThreadExecutor();
		try {
			Future<ChatResponse> gone = thread.submit(() -> goOn(ClientSetup.Mode.CALL));
			await(running);
			takeLeaseAway();
			assertThat(waiting().status()).isEqualTo(ApprovalStatus.UNCERTAIN);
			meanwhile.run();
			go.countDown();
			assertThatThrownBy(() -> gone.get(10, TimeUnit.SECONDS)).hasCauseInstanceOf(TurnInProgressException.class);
		}
		finally {
			thread.shutdownNow();
		}
		tools(tool("cancel").doing((input, context) -> "second"), tool("look"));
	}

	private void takeLeaseAway() {
		store().put(this.key, new RecordWrite(TurnRecords.LEASE, TurnRecords.LEASE_ID, RecordWrite.ANY, null, null));
	}

	@Test
	void rejectionOfACallThatMayHaveRunSinceItWasShownIsRefused() throws Exception {
		uncertain(Decision.approve("anna"), () -> {
			assertThat(this.shown.get().status()).isEqualTo(ApprovalStatus.PROPOSED);
			assertThatExceptionOfType(DecisionRefusedException.class)
				.isThrownBy(() -> approvals().decide(this.shown.get(), Decision.reject("bob")))
				.withMessageContaining("may have run since it was shown")
				.returns(DecisionRefusedException.Reason.MAY_HAVE_RUN, DecisionRefusedException::reason)
				.satisfies((ex) -> assertThat(ex.status()).isEqualTo(ApprovalStatus.UNCERTAIN));
			assertThat(waiting().status()).isEqualTo(ApprovalStatus.UNCERTAIN);
			approvals().decide(waiting(), Decision.answer("bob", "it ran"));
		});
	}

	@Test
	void modelIsNotToldOfACallThatMayHaveRunThatItDidNot() throws Exception {
		uncertain(Decision.approve("anna"), Decision.reject("anna"));
		uncertain(Decision.approve("anna"), () -> {
			approvals().decide(waiting(), Decision.retry("anna"));
			approvals().cancel(this.key);
		});
		assertThat(ledger()).containsExactly(ApprovalStatus.REJECTED, ApprovalStatus.CANCELLED);
		assertThat(log()).filteredOn((line) -> line.startsWith("tool"))
			.hasSize(2)
			.containsOnly("tool cancel=This call was interrupted. It may have run or not; check before you repeat it.");
	}

	@Test
	void uncertainCallOfATurnThatIsOverCannotBeDecidedAndWhoDecidesIsToldSo() throws Exception {
		uncertain(Decision.approve("anna"), () -> {
			ToolApproval shown = waiting();
			approvals().cancel(this.key);
			assertThat(pending()).isEmpty();
			for (Decision decision : List.of(Decision.retry("bob"), Decision.answer("bob", "it ran"),
					Decision.reject("bob"))) {
				assertThatExceptionOfType(DecisionRefusedException.class)
					.isThrownBy(() -> approvals().decide(shown, decision))
					.withMessageContaining("turn has ended")
					.satisfies((ex) -> assertThat(ex.status()).isEqualTo(ApprovalStatus.UNCERTAIN));
			}
		});
	}

	/**
	 * The tool fails in a process that has lost its turn, where failures end the call.
	 */
	@Test
	void failureThatComesLateLeavesWhatAnotherProcessHasRunMeanwhile() throws Exception {
		CountDownLatch running = new CountDownLatch(1);
		CountDownLatch go = new CountDownLatch(1);
		tools(tool("cancel").doing((input, context) -> {
			running.countDown();
			await(go);
			throw new ToolExecutionException(tool("cancel").getToolDefinition(), new IllegalStateException("broken"));
		}), tool("look"));
		this.model.calls(cancel("c1", 1), cancel("c2", 2));
		ask(ClientSetup.Mode.CALL, "q");
		pending().forEach(this::approve);
		ChatClient throwing = client(ClientSetup.plain())
			.defaultAdvisors(ToolCallingAdvisor.builder()
				.toolCallingManager(DefaultToolCallingManager.builder()
					.toolExecutionExceptionProcessor(new DefaultToolExecutionExceptionProcessor(true))
					.build())
				.build())
			.build();
		ExecutorService thread = Executors.newSingleThreadExecutor();
		try {
			Future<ChatResponse> late = thread.submit(() -> response(ClientSetup.plain(), throwing.prompt()));
			await(running);
			takeLeaseAway();
			tools(tool("cancel"), tool("look"));
			assertThat(isPaused(goOn(ClientSetup.Mode.CALL))).isTrue();
			assertThat(ledger()).containsExactly(ApprovalStatus.UNCERTAIN, ApprovalStatus.DONE);
			go.countDown();
			assertThatThrownBy(() -> late.get(10, TimeUnit.SECONDS)).hasRootCauseMessage("broken");
		}
		finally {
			thread.shutdownNow();
		}
		assertThat(turns()).containsExactly(TurnStatus.FAILED);
		assertThat(approvals().ledger(this.key)).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.DONE, ApprovalStatus.DONE);
		assertThat(approvals().ledger(this.key)).extracting(ToolApproval::claimedAt).doesNotContainNull();
		assertThat(this.runs).containsExactly("cancel{\"id\":1}", "cancel{\"id\":2}");
	}

	/** A call that continues a turn need not come from who has asked. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void parametersThatAreKeptWithTheTurnAreThoseThatPoliciesSeeWhenItContinues(ClientSetup.Mode mode) {
		threads((threads) -> threads.turnParameters(Set.of("role", "team")));
		List<Map<String, Object>> seen = new CopyOnWriteArrayList<>();
		rules((rules) -> rules.policies(List.<ApprovalPolicy>of((request) -> {
			seen.add(request.parameters());
			return "intern".equals(request.parameters().get("role")) ? Ruling.ask() : Ruling.allow();
		})));
		this.model.calls(cancel("c1", 1));
		response(setup(mode),
				client(setup(mode)).build()
					.prompt()
					.user("q")
					.advisors((advisors) -> advisors.param("role", "intern").param("place", "here")));
		for (Map<String, Object> ofCall : List.of(Map.<String, Object>of("place", "there"),
				Map.<String, Object>of("role", "boss", "team", "t"))) {
			approve(waiting());
			this.model.calls(look("c2", 2));
			ChatResponse again = response(setup(mode),
					client(setup(mode)).build().prompt().advisors((advisors) -> advisors.params(ofCall)));
			assertThat(SessionAdvisor.pending(again)).extracting(ToolApproval::tool).containsExactly("look");
		}
		assertThat(seen).extracting((parameters) -> parameters.get("role")).containsOnly("intern");
		assertThat(seen).noneMatch((parameters) -> parameters.containsKey("team"));
		assertThat(seen).extracting((parameters) -> parameters.get("place")).containsExactly("here", "there", null);
		assertThat(this.runs).containsExactly("cancel{\"id\":1}", "look{\"id\":2}");
	}

	@Test
	void ledgerKeepsEveryDecisionOnACallAndTheModelIsToldOfTheEdit() throws Exception {
		for (Decision second : List.of(Decision.answer("bob", "it did run"), Decision.reject("bob", "leave it"),
				Decision.retry("bob"))) {
			uncertain(Decision.approve("anna").withArguments("{\"id\":7}"), second);
			ToolApproval call = approvals().ledger(this.key).stream().reduce((older, newer) -> newer).orElseThrow();
			assertThat(call.decisions()).extracting(ToolApproval.Decided::verb)
				.containsExactly(Decision.Verb.APPROVE, second.verb());
			assertThat(call.decisions()).extracting(ToolApproval.Decided::by).containsExactly("anna", "bob");
			assertThat(call.decisions().get(0).arguments()).isEqualTo("{\"id\":7}");
			assertThat(call.decisions().get(0).digest()).hasSize(64).isNotEqualTo(call.digest());
			assertThat(call.effectiveArguments()).isEqualTo("{\"id\":7}");
			assertThat(log()).filteredOn((line) -> line.startsWith("tool")).last().asString().contains("{\"id\":7}");
		}
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void resumeWithoutTheToolIsRefusedAndNothingRuns(ClientSetup.Mode mode) {
		this.model.calls(look("c1", 1), cancel("c2", 2)).says("done");
		ask(mode, "q");
		approve(waiting());
		rules((rules) -> rules.knownTools(() -> List.of("cancel")));
		tools(tool("look"));
		refused(mode, "This call does not offer tool 'cancel'.", OFFERING);
		tools(tool("cancel"), tool("look"));
		goOn(mode);
		assertThat(this.runs).hasSize(2);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void resumeWithAnotherSchemaIsRefusedAndNothingRuns(ClientSetup.Mode mode) {
		this.model.calls(look("c1", 1), cancel("c2", 2)).says("done");
		ask(mode, "q");
		approve(waiting());
		tools(tool("cancel").taking("{\"type\":\"object\"}"), tool("look"));
		refused(mode, "Tool 'cancel' has another description or input schema.", OFFERING);
		tools(tool("cancel"), tool("look"));
		goOn(mode);
		assertThat(this.runs).hasSize(2);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void resumeWithAnotherDescriptionIsRefusedAndNothingRuns(ClientSetup.Mode mode) {
		this.model.calls(look("c1", 1), cancel("c2", 2)).says("done");
		ask(mode, "q");
		approve(waiting());
		tools(tool("cancel").described("changes them for good"), tool("look"));
		refused(mode, "Tool 'cancel' has another description or input schema.", OFFERING);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void resumeWithAnotherVersionIsRefusedAndNothingRuns(ClientSetup.Mode mode) {
		rules((rules) -> rules.version("prompt-3"));
		this.model.calls(look("c1", 1), cancel("c2", 2)).says("done");
		ask(mode, "q");
		approve(waiting());
		rules((rules) -> rules.version("prompt-4"));
		refused(mode, "sessionkit.approval.version was 'prompt-3' and is 'prompt-4'.",
				"in an instance that has the version of the approval");
		rules((rules) -> rules.version("prompt-3"));
		goOn(mode);
		assertThat(this.runs).hasSize(2);
	}

	private void refused(ClientSetup.Mode mode, String change, String cure) {
		assertThatExceptionOfType(ResumeRefusedException.class).isThrownBy(() -> goOn(mode))
			.withMessageContainingAll("nothing was run", "Call " + cure + ", or end the turn with")
			.satisfies((ex) -> assertThat(ex.changes()).containsExactly(change));
		assertThat(this.runs).isEmpty();
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(turns()).containsExactly(TurnStatus.AWAITING_APPROVAL);
		assertThat(approvals().ledger(this.key)).extracting(ToolApproval::status).contains(ApprovalStatus.APPROVED);
	}

	/** Nothing more of the turn is stored, so no hook is asked about it. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void modelWhoseReplyAfterTheToolsIsEmptyIsAskedAgain(ClientSetup.Mode mode) {
		List<Integer> saved = new CopyOnWriteArrayList<>();
		threads((threads) -> threads.hooks(TestHooks.beforeSave("noting", (messages) -> {
			saved.add(messages.size());
			return HookResult.keep();
		})));
		this.model.calls(cancel("c1", 1)).says("").says("done");
		ask(mode, "q");
		approve(waiting());
		assertThat(status(goOn(mode))).isEqualTo(TurnStatus.AWAITING_APPROVAL);
		assertThat(turns()).containsExactly(TurnStatus.AWAITING_APPROVAL);
		assertThat(ledger()).containsExactly(ApprovalStatus.DONE);
		assertThat(store().records(this.key, TurnRecords.LEASE)).isEmpty();
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(this.runs).hasSize(1);
		assertThat(saved).containsExactly(1, 3);
		assertThat(log()).containsExactly("user: q", "assistant cancel({\"id\":1})", "tool cancel=done {\"id\":1}",
				"assistant: done");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void modelThatFailsAfterTheToolsRanIsAskedAgainWithTheResultsThatAreThere(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1), look("c2", 2)).fails(new IllegalStateException("down")).says("done");
		ask(mode, "q");
		approve(waiting());
		assertThatIllegalStateException().isThrownBy(() -> goOn(mode)).withMessage("down");
		assertThat(turns()).containsExactly(TurnStatus.AWAITING_APPROVAL);
		assertThat(log()).isEmpty();
		assertThat(ledger()).containsOnly(ApprovalStatus.DONE);
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(this.runs).containsExactly("cancel{\"id\":1}", "look{\"id\":2}");
		assertThat(this.model.lastRequestLines()).containsExactly("user: q",
				"assistant cancel({\"id\":1}) look({\"id\":2})", "tool cancel=done {\"id\":1} look=done {\"id\":2}");
		assertThat(log()).hasSize(4);
	}

	/** Nobody decides on the calls of the later replies. */
	@ParameterizedTest
	@MethodSource("setups")
	void callOfALaterReplyIsNotRunAgainWhenTheModelFailsBehindIt(ClientSetup setup) {
		this.model.calls(cancel("c1", 1))
			.calls(look("c2", 2))
			.fails(new IllegalStateException("down"))
			.calls(look("c3", 3))
			.fails(new IllegalStateException("down again"))
			.says("done");
		ask(setup, "q");
		approve(waiting());
		assertThatIllegalStateException().isThrownBy(() -> goOn(setup)).withMessage("down");
		assertThat(turns()).containsExactly(TurnStatus.INCOMPLETE);
		assertThatIllegalStateException().isThrownBy(() -> goOn(setup)).withMessage("down again");
		ChatResponse response = goOn(setup);
		assertThat(status(response)).isEqualTo(TurnStatus.COMPLETED);
		assertResultIsWhole(response);
		assertThat(this.runs).containsExactly("cancel{\"id\":1}", "look{\"id\":2}", "look{\"id\":3}");
		assertThat(log()).containsExactly("user: q", "assistant cancel({\"id\":1})", "tool cancel=done {\"id\":1}",
				"assistant look({\"id\":2})", "tool look=done {\"id\":2}", "assistant look({\"id\":3})",
				"tool look=done {\"id\":3}", "assistant: done");
		assertThat(ledger()).containsExactly(ApprovalStatus.DONE, ApprovalStatus.DONE, ApprovalStatus.DONE);
	}

	/** Each call that continues the turn would run the others again. */
	@ParameterizedTest
	@MethodSource("setups")
	void nothingOfALaterReplyRunsThatCallsAnInventedTool(ClientSetup setup) {
		this.model.calls(cancel("c1", 1))
			.calls(look("c2", 2), call("c3", "invented", "{}"))
			.calls(look("c4", 2), call("c5", "invented", "{}"))
			.says("done");
		ask(setup, "q");
		approve(waiting());
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(UnknownToolException.class).isThrownBy(() -> goOn(setup))
				.withMessageContainingAll("'invented'", "behind a part of the turn that is stored");
			assertThat(turns()).containsExactly(TurnStatus.AWAITING_APPROVAL);
		}
		assertThat(status(goOn(setup))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).containsExactly("cancel{\"id\":1}");
		assertThat(log()).containsExactly("user: q", "assistant cancel({\"id\":1})", "tool cancel=done {\"id\":1}",
				"assistant: done");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void toolOfALaterReplyWhoseFailureIsThrownEndsTheTurn(ClientSetup.Mode mode) {
		tools(tool("cancel"), tool("look").doing((input, context) -> {
			throw new ToolExecutionException(tool("look").getToolDefinition(), new IllegalStateException("broken"));
		}));
		this.model.calls(cancel("c1", 1)).calls(look("c2", 2));
		ask(mode, "q");
		approve(waiting());
		ChatClient throwing = client(setup(mode))
			.defaultAdvisors(ToolCallingAdvisor.builder()
				.toolCallingManager(DefaultToolCallingManager.builder()
					.toolExecutionExceptionProcessor(new DefaultToolExecutionExceptionProcessor(true))
					.build())
				.build())
			.build();
		assertThatThrownBy(() -> response(setup(mode), throwing.prompt())).hasRootCauseMessage("broken");
		assertThat(turns()).containsExactly(TurnStatus.FAILED);
		this.model.says("done");
		assertThat(status(ask(mode, "next"))).isEqualTo(TurnStatus.COMPLETED);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void toolThatThrowsIsNotRunAgainAndTheModelIsToldWhatItThrew(ClientSetup.Mode mode) {
		AtomicInteger attempts = new AtomicInteger();
		rules((rules) -> rules.tools(Set.of("break")));
		tools(FunctionToolCallback.builder("break", (Order order) -> {
			throw new IllegalArgumentException("broken " + attempts.incrementAndGet());
		}).description("breaks").inputType(Order.class).build());
		this.model.calls(call("c1", "break", "{\"id\":1}")).fails(new IllegalStateException("down")).says("sorry");
		ask(mode, "q");
		approve(waiting());
		assertThatIllegalStateException().isThrownBy(() -> goOn(mode)).withMessage("down");
		assertThat(this.model.lastRequestLines()).endsWith("tool break=broken 1");
		assertThat(answer(mode)).isEqualTo("sorry");
		assertThat(attempts).hasValue(1);
		assertThat(this.model.lastRequestLines()).endsWith("tool break=broken 1");
		assertThat(ledger()).containsExactly(ApprovalStatus.DONE);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void toolThatThrowsOutOfTheLoopIsNotRunAgainEither(ClientSetup.Mode mode) {
		tools(tool("cancel").doing((input, context) -> {
			throw new IllegalStateException("out of the loop");
		}), tool("look"));
		this.model.calls(cancel("c1", 1), look("c2", 2)).says("sorry");
		ask(mode, "q");
		approve(waiting());
		assertThatIllegalStateException().isThrownBy(() -> goOn(mode)).withMessage("out of the loop");
		assertThat(turns()).containsExactly(TurnStatus.AWAITING_APPROVAL);
		assertThat(answer(mode)).isEqualTo("sorry");
		assertThat(this.runs).containsExactly("cancel{\"id\":1}", "look{\"id\":2}");
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=out of the loop look=done {\"id\":2}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void argumentsThatTheToolCannotReadAreToldToTheModel(ClientSetup.Mode mode) {
		rules((rules) -> rules.tools(Set.of("set")));
		tools(FunctionToolCallback.builder("set", (Order order) -> "set")
			.description("sets")
			.inputType(Order.class)
			.build());
		this.model.calls(call("c1", "set", "{\"id\":\"many\"}")).says("sorry");
		ask(mode, "q");
		approve(waiting());
		assertThat(answer(mode)).isEqualTo("sorry");
		assertThat(ledger()).containsExactly(ApprovalStatus.DONE);
		assertThat(turns()).containsExactly(TurnStatus.COMPLETED);
		assertThat(this.model.lastRequestLines()).last().asString().startsWith("tool set=Cannot deserialize");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void commitThatFailsAfterTheToolRanCarriesTheReplyAndTheResultIsReplayed(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1)).says("lost").says("done");
		ask(mode, "q");
		approve(waiting());
		observed().failAt(ObservedStore.Fault.COMMIT);
		assertThatExceptionOfType(CommitFailedException.class).isThrownBy(() -> goOn(mode))
			.satisfies((ex) -> assertThat(ex.reply().getResult().getOutput().getText()).isEqualTo("lost"));
		observed().failAt(ObservedStore.Fault.NONE);
		assertThat(turns()).containsExactly(TurnStatus.AWAITING_APPROVAL);
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(this.runs).hasSize(1);
		assertThat(log()).containsExactly("user: q", "assistant cancel({\"id\":1})", "tool cancel=done {\"id\":1}",
				"assistant: done");
	}

	@Test
	void callerWhoLeavesTheStreamAfterTheToolRanCausesNoSecondRun() {
		this.model.calls(cancel("c1", 1))
			.step((prompt) -> Flux.concat(Flux.just(this.model.chunk("half", List.of(), false)), Flux.never()))
			.says("done");
		ask(ClientSetup.Mode.STREAM, "q");
		approve(waiting());
		client(ClientSetup.streaming()).build()
			.prompt()
			.advisors(SessionAdvisor.session(this.key))
			.stream()
			.content()
			.filter((text) -> text.equals("half"))
			.blockFirst();
		Awaitility.await().until(() -> store().records(this.key, TurnRecords.LEASE).isEmpty());
		assertThat(turns()).containsExactly(TurnStatus.AWAITING_APPROVAL);
		assertThat(answer(ClientSetup.Mode.STREAM)).isEqualTo("done");
		assertThat(this.runs).hasSize(1);
		assertThat(log()).hasSize(4);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void systemTextToolsAndParametersComeFromTheCallThatGoesOn(ClientSetup.Mode mode) {
		List<String> tenants = new ArrayList<>();
		tools(tool("cancel").doing((input, context) -> {
			tenants.add(String.valueOf(context.getContext().get("tenant")));
			return "done";
		}), tool("look"));
		this.model.calls(cancel("c1", 1)).says("done");
		response(setup(mode), with(mode, "first", "one").user("q"));
		approve(waiting());
		response(setup(mode), with(mode, "second", "two"));
		assertThat(tenants).containsExactly("two");
		assertThat(this.model.lastRequestLines()).startsWith("system: second", "user: q");
	}

	private ChatClient.ChatClientRequestSpec with(ClientSetup.Mode mode, String system, String tenant) {
		return client(setup(mode)).build().prompt().system(system).toolContext(Map.of("tenant", tenant));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void toolFindsTheCallThatItRunsForAndTheKeyOfARepetition(ClientSetup.Mode mode) {
		List<String> claims = new ArrayList<>();
		List<ToolApproval> running = new ArrayList<>();
		tools(tool("cancel").doing((input, context) -> {
			claims.add(String.valueOf(context.getContext().get(Approvals.CLAIM)));
			approvals().running().ifPresent(running::add);
			return "done";
		}), tool("look").doing((input, context) -> String.valueOf(approvals().running().isPresent())));
		this.model.calls(cancel("c1", 1)).calls(look("c2", 2)).says("done");
		ask(mode, "q");
		ToolApproval shown = approve(waiting());
		response(setup(mode), with(mode, "system", "one"));
		assertThat(claims).containsExactly(shown.id());
		assertThat(running).singleElement().satisfies((call) -> {
			assertThat(call.id()).isEqualTo(shown.id());
			assertThat(call.status()).isEqualTo(ApprovalStatus.CLAIMED);
		});
		assertThat(approvals().running()).isEmpty();
		assertThat(this.model.lastRequestLines()).endsWith("tool look=true");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void hooksOnTheInputAreNotAskedAgain(ClientSetup.Mode mode) {
		AtomicInteger asked = new AtomicInteger();
		threads((threads) -> threads.hooks(TestHooks.beforeTurn("counting", (input) -> {
			asked.incrementAndGet();
			return HookResult.replace(List.of(new UserMessage(input.get(0).getText() + "!")));
		})));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q");
		approve(waiting());
		goOn(mode);
		assertThat(asked).hasValue(1);
		assertThat(this.model.lastRequestLines()).startsWith("user: q!");
		assertThat(log()).hasSize(4).startsWith("user: q!");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void mergeIsAskedAgainWhenTheTurnGoesOn(ClientSetup.Mode mode) {
		AtomicInteger asked = new AtomicInteger();
		threads((threads) -> threads.merge((context, history, input) -> {
			asked.incrementAndGet();
			return input;
		}));
		this.model.says("a0").calls(cancel("c1", 1)).says("done");
		ask(mode, "q0");
		ask(mode, "q1");
		approve(waiting());
		goOn(mode);
		assertThat(asked).hasValue(3);
		assertThat(log()).hasSize(6).endsWith("assistant: done");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void limitOfToolCallsEndsATurnThatGoesOnAsItDoesAnother(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1), look("c2", 2), look("c3", 3)).says("never");
		ask(mode, "q");
		approve(waiting());
		ChatClient limited = client(setup(mode))
			.defaultAdvisors(ToolCallingAdvisor.builder()
				.toolCallingManager(DefaultToolCallingManager.builder().maxTotalToolCalls(2).build())
				.build())
			.build();
		ChatResponse response = response(setup(mode), limited.prompt());
		assertThat(status(response)).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).containsExactly("cancel{\"id\":1}", "look{\"id\":2}");
		assertThat(log()).hasSize(3)
			.last()
			.asString()
			.startsWith("tool cancel=done {\"id\":1} look=done {\"id\":2} look=");
		assertThat(store().find(this.key).orElseThrow().openTurn()).isZero();
	}

	private ChatClient limitedToOneCall(ClientSetup.Mode mode) {
		return client(setup(mode))
			.defaultAdvisors(ToolCallingAdvisor.builder()
				.toolCallingManager(DefaultToolCallingManager.builder().maxTotalToolCalls(1).build())
				.build())
			.build();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void approvedCallThatTheLoopDidNotComeToIsCancelledForGood(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1), cancel("c2", 2));
		ask(mode, "q");
		pending().forEach(this::approve);
		ChatClient limited = limitedToOneCall(mode);
		response(setup(mode), limited.prompt());
		assertThat(this.runs).containsExactly("cancel{\"id\":1}");
		assertThat(ledger()).containsExactly(ApprovalStatus.DONE, ApprovalStatus.CANCELLED);
		assertThat(turns()).containsExactly(TurnStatus.COMPLETED);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void approvedCallThatTheLoopDidNotComeToStaysApprovedIfTheTurnCannotBeStored(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1), cancel("c2", 2)).says("done");
		ask(mode, "q");
		pending().forEach(this::approve);
		ChatClient limited = limitedToOneCall(mode);
		observed().failAt(ObservedStore.Fault.COMMIT);
		assertThatExceptionOfType(CommitFailedException.class)
			.isThrownBy(() -> response(setup(mode), limited.prompt()));
		observed().failAt(ObservedStore.Fault.NONE);
		assertThat(ledger()).containsExactly(ApprovalStatus.DONE, ApprovalStatus.APPROVED);
		assertThat(status(goOn(mode))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).containsExactly("cancel{\"id\":1}", "cancel{\"id\":2}");
		assertThat(ledger()).containsExactly(ApprovalStatus.DONE, ApprovalStatus.DONE);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void ledgerKeepsACallAsItRanWhateverHooksKeepOfTheMessages(ClientSetup.Mode mode) {
		threads((threads) -> threads.hooks(TestHooks.beforeSave("mask",
				(turn) -> HookResult.replace(turn.stream().map(ResumedTurns::masked).toList()))));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q");
		approve(waiting());
		goOn(mode);
		assertThat(log()).containsExactly("user: q", "assistant cancel({\"id\":0})", "tool cancel=***",
				"assistant: done");
		assertThat(approvals().ledger(this.key)).extracting(ToolApproval::effectiveArguments)
			.containsExactly("{\"id\":1}");
		assertThat(store().records(this.key, Ledger.OVER)).singleElement()
			.satisfies((record) -> assertThat(record.payload()).contains("done {").doesNotContain("***"));
	}

	private static Message masked(Message message) {
		if (message instanceof ToolResponseMessage) {
			return ToolResponseMessage.builder()
				.responses(List.of(new ToolResponseMessage.ToolResponse("c1", "cancel", "***")))
				.build();
		}
		return (message instanceof AssistantMessage reply && reply.hasToolCalls())
				? AssistantMessage.builder().content("").toolCalls(List.of(cancel("c1", 0))).build() : message;
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void approvedCallOfAFinishedTurnIsReadableInTheLedgerForGood(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1)).says("done").says("again");
		ask(mode, "q");
		approve(waiting());
		goOn(mode);
		ask(mode, "q2");
		ToolApproval run = approvals().ledger(this.key).get(0);
		assertThat(run.status()).isEqualTo(ApprovalStatus.DONE);
		assertThat(run.claimedAt()).isNotNull().isAfterOrEqualTo(run.decision().at());
		assertThat(run.endedAt()).isNotNull().isAfterOrEqualTo(run.claimedAt());
		assertThat(store().records(this.key, Ledger.APPROVAL)).isEmpty();
		assertThat(store().records(this.key, TurnRecords.PAUSE)).isEmpty();
		assertThat(store().records(this.key, TurnRecords.LEASE)).isEmpty();
	}

}
