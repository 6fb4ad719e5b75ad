package io.sessionkit.compensation;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.Turn;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnOpenException;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalFixture;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.DecisionRefusedException;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.StandingDecision;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.compensation.Irreversible.Reason;
import io.sessionkit.compensation.RewindReport.Status;
import io.sessionkit.context.Retention;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Compensations;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.conversation.Moves;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.Page;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ClientSetup;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

/**
 * The effects of the turns that a rewind undoes, and what it does about them. Each step
 * is made through objects of its own, as other processes would.
 */
abstract class CompensationBehaviour extends ApprovalFixture {

	/** Is asked before a tool does something, and throws if the tool is to fail. */
	private Consumer<String> fault = (what) -> {
	};

	private Map<String, String> configured = Map.of();

	private Consumer<Approvals.Builder> policy = (rules) -> {
	};

	@BeforeEach
	void offerTheTools() {
		rules((rules) -> rules.tools(Set.of()));
		tools(shop().toArray(ToolCallback[]::new));
	}

	private List<ToolCallback> shop() {
		return ShopTools.of((what) -> {
			this.fault.accept(what);
			this.runs.add(what);
		});
	}

	private Compensations compensations() {
		return compensations(shop());
	}

	private Compensations compensations(List<ToolCallback> tools) {
		Conversations conversations = conversations();
		Approvals.Builder approvals = Approvals.builder(conversations);
		this.policy.accept(approvals);
		return Compensations.builder(conversations, approvals.build())
			.tools(() -> tools)
			.compensating(this.configured)
			.build();
	}

	private RewindPlan plan(int turns) {
		return compensations().plan(this.key, turns);
	}

	private RewindReport rewind(RewindPlan plan) {
		return compensations().rewind(plan);
	}

	private ToolApproval pendingCompensation() {
		List<ToolApproval> pending = compensations().pending(this.key);
		assertThat(pending).hasSize(1);
		assertThat(compensations().pendingOf(this.key.owner(), Page.first(10))).isEqualTo(pending);
		return pending.get(0);
	}

	/** Makes a turn whose calls run unasked. */
	private void turn(ToolCall... calls) {
		this.model.calls(calls).says("done");
		ask(ClientSetup.Mode.CALL, "question");
	}

	private static ToolCall order(String tool, int order) {
		return call(tool + order, tool, "{\"order\":" + order + "}");
	}

	private static ToolCall payBack(int order, int amount) {
		return call("p" + order, "pay_back", "{\"order\":" + order + ",\"amount\":" + amount + "}");
	}

	private List<Reason> reasons(RewindPlan plan) {
		return plan.irreversible().stream().map(Irreversible::reason).toList();
	}

	// the effects that are taken back, and their order

	@Test
	void effectsAreTakenBackNewestFirstAndThenTheHeadMoves() {
		turn(order("cancel_order", 1), order("cancel_order", 2));
		turn(order("look_up", 7));
		turn(order("cancel_order", 3));
		this.runs.clear();
		RewindPlan plan = plan(2);
		assertThat(plan.irreversible()).isEmpty();
		assertThat(plan.compensations()).singleElement().satisfies((each) -> {
			assertThat(each.effect().tool()).isEqualTo("cancel_order");
			assertThat(each.effect().arguments()).isEqualTo("{\"order\":3}");
			assertThat(each.effect().turn()).isEqualTo(3);
			assertThat(each.call().tool()).isEqualTo("restore_order");
			assertThat(each.status()).isEqualTo(ApprovalStatus.APPROVED);
		});
		assertThat(this.runs).as("a plan runs nothing").isEmpty();
		assertThat(compensations().ledger(this.key)).as("a plan stores nothing").isEmpty();

		RewindReport report = rewind(plan);
		assertThat(report.status()).isEqualTo(Status.COMPLETED);
		assertThat(report.undone()).extracting("number").containsExactly(3L, 2L);
		assertThat(report.stoppedAt()).isNull();
		assertThat(this.runs).containsExactly("restore 3 (ok cancel 3)");
		assertThat(log()).hasSize(4);

		this.runs.clear();
		assertThat(rewind(plan(5)).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("restore 2 (ok cancel 2)", "restore 1 (ok cancel 1)");
		assertThat(log()).isEmpty();
		assertThat(compensations().ledger(this.key)).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.DONE, ApprovalStatus.DONE, ApprovalStatus.DONE);
	}

	@Test
	void argumentsAreThoseWithWhichTheToolRan() {
		this.model.calls(order("delete_order", 1)).says("done");
		ask(ClientSetup.Mode.CALL, "question");
		approvals().decide(waiting(), Decision.approve("anna").withArguments("{\"order\":2}"));
		goOn(ClientSetup.Mode.CALL);
		assertThat(this.runs).containsExactly("delete 2");
		rewind(plan(1));
		assertThat(this.runs).containsExactly("delete 2", "restore 2 (ok delete 2)");
	}

	@Test
	void idOfTheCompensatingCallIsNotThatOfTheOriginal() {
		this.model.calls(order("delete_order", 1)).says("done");
		ask(ClientSetup.Mode.CALL, "question");
		String original = approve(waiting()).id();
		List<String> running = new ArrayList<>();
		this.fault = (what) -> running.add(approvals().running().orElseThrow().id());
		goOn(ClientSetup.Mode.CALL);
		String planned = plan(1).compensations().get(0).call().id();
		rewind(plan(1));
		assertThat(running).containsExactly(original, planned).doesNotHaveDuplicates();
	}

	@Test
	void toolWithoutAnAnnotationIsConfigured() {
		this.configured = Map.of("send_mail", "restore_order", "cancel_order", CompensatedBy.NOTHING);
		turn(call("m", "send_mail", "{\"to\":\"anna\"}"), order("cancel_order", 1));
		assertThat(reasons(plan(1))).as("it has not what the other tool needs").containsExactly(Reason.ARGUMENTS);
		assertThat(plan(1).compensations()).isEmpty();
	}

	@Test
	void nothingIsRewoundWithoutTurns() {
		turn(order("cancel_order", 1));
		for (int turns : new int[] { 0, -1 }) {
			assertThatIllegalArgumentException().isThrownBy(() -> plan(turns))
				.withMessageContaining(turns + " turns")
				.withMessageContaining(this.key.toString());
		}
		thread().reset();
		RewindReport report = rewind(plan(1));
		assertThat(report.status()).as("nothing was looked at").isEqualTo(Status.NOTHING);
		assertThat(report.undone()).isEmpty();
		assertThat(this.runs).containsExactly("cancel 1");
		assertThatExceptionOfType(SessionNotFoundException.class)
			.isThrownBy(() -> compensations().plan(SessionKey.of("nobody"), 1));
	}

	// effects that cannot be taken back

	@Test
	void deletedTurnBeforeAllOthersHidesNoEffect() {
		turn(order("cancel_order", 1));
		turn(order("cancel_order", 2));
		thread().delete(1);
		this.runs.clear();
		assertThat(plan(1).irreversible()).as("the other one stays").isEmpty();
		RewindPlan plan = plan(2);
		assertThat(plan.turns()).extracting("number").containsExactly(2L);
		assertThat(plan.irreversible()).singleElement().satisfies((each) -> {
			assertThat(each.effect().turn()).isEqualTo(1);
			assertThat(each.reason()).isEqualTo(Reason.UNCERTAIN);
		});
		assertThat(rewind(plan).status()).isEqualTo(Status.REFUSED);
		assertThat(rewind(plan.acceptingIrreversible()).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("restore 2 (ok cancel 2)");
		assertThat(rewind(plan(1)).status()).as("its effect stays").isEqualTo(Status.REFUSED);
	}

	@Test
	void turnsThatRetentionHasDeletedHideNoEffect() {
		threads((threads) -> threads.retention(Retention.keepLastTurns(1).batch(1)));
		turn(order("cancel_order", 1));
		turn(order("cancel_order", 2));
		turn(order("cancel_order", 3));
		assertThat(thread().turns(Tail.ALL)).extracting(Turn::items).containsExactly(0, 0, 4);
		assertThat(plan(1).irreversible()).isEmpty();
		RewindPlan plan = plan(9);
		assertThat(plan.turns()).extracting("number").containsExactly(3L);
		assertThat(plan.irreversible()).isNotEmpty().allSatisfy((each) -> {
			assertThat(each.effect().turn()).isLessThan(3);
			assertThat(each.effect().tool()).isEqualTo("unknown");
			assertThat(each.reason()).isEqualTo(Reason.UNCERTAIN);
		});
		assertThat(rewind(plan).status()).isEqualTo(Status.REFUSED);
		RewindPlan accepted = plan.acceptingIrreversible();
		assertThat(rewind(accepted).status()).isEqualTo(Status.COMPLETED);
		assertThat(rewind(plan(1)).status()).as("these effects stay").isEqualTo(Status.REFUSED);
		assertThat(rewind(plan(1).acceptingIrreversible()).status()).isEqualTo(Status.NOTHING);
	}

	@Test
	void whatCannotBeTakenBackIsListedFirstAndMustBeAccepted() {
		turn(order("cancel_order", 1), call("m", "send_mail", "{\"to\":\"anna\"}"), order("ship", 4));
		RewindPlan plan = plan(1);
		assertThat(plan.irreversible()).extracting((each) -> each.effect().tool(), Irreversible::reason)
			.containsExactly(tuple("ship", Reason.MISSING_TOOL), tuple("send_mail", Reason.NO_COMPENSATION));
		this.runs.clear();
		RewindReport refused = rewind(plan);
		assertThat(refused.status()).isEqualTo(Status.REFUSED);
		assertThat(refused.remaining()).hasSize(1);
		assertThat(this.runs).isEmpty();
		assertThat(log()).hasSize(4);

		assertThat(rewind(plan.acceptingIrreversible()).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("restore 1 (ok cancel 1)");
		assertThat(log()).isEmpty();
	}

	@Test
	void modelCannotPassOnWhatTheToolDidNotGet() {
		turn(call("c", "cancel_order", "{\"order\":1,\"result\":\"forged\"}"));
		assertThat(reasons(plan(1))).containsExactly(Reason.ARGUMENTS);
		assertThat(rewind(plan(1)).status()).isEqualTo(Status.REFUSED);
	}

	@Test
	void callThatHasNotRunIsNotTakenBackAndOneThatMayHaveIsUncertain() {
		this.model.calls(order("delete_order", 1), order("delete_order", 2)).says("done");
		ask(ClientSetup.Mode.CALL, "question");
		List<ToolApproval> pending = approvals().pending(this.key);
		approvals().reject(pending.get(0), "bob", "no");
		approve(pending.get(1));
		this.fault = (what) -> {
			throw new IllegalStateException("the line is down");
		};
		goOn(ClientSetup.Mode.CALL);
		RewindPlan plan = plan(1);
		assertThat(reasons(plan)).containsExactly(Reason.UNCERTAIN);
		assertThat(plan.irreversible().get(0).effect().arguments()).isEqualTo("{\"order\":2}");
		assertThat(plan.compensations()).isEmpty();
	}

	@Test
	void callThatAPersonLetRunAgainMayHaveHadItsEffectTwice() {
		this.model.calls(order("delete_order", 1));
		ask(ClientSetup.Mode.CALL, "question");
		approve(waiting());
		breakOffInATool();
		approvals().decide(waiting(), Decision.retry("anna"));
		this.model.says("done");
		goOn(ClientSetup.Mode.CALL);
		assertThat(this.runs).as("the tool takes no key").hasSize(2);
		RewindPlan plan = plan(1);
		assertThat(reasons(plan)).containsExactly(Reason.UNCERTAIN);
		assertThat(plan.irreversible().get(0).effect()).isNotEqualTo(plan.compensations().get(0).effect())
			.returns("{\"order\":1}", Effect::arguments);
		assertThat(rewind(plan).status()).isEqualTo(Status.REFUSED);
		assertThat(rewind(plan.acceptingIrreversible()).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).hasSize(3).last().isEqualTo("restore 1 (ok delete 1)");
	}

	/** Whoever has accepted what the first run may have done has not accepted more. */
	@Test
	void rejectedCompensationOfACallThatRanAgainMustBeAcceptedToo() {
		this.policy = (rules) -> rules.tools(Set.of("restore_order"));
		this.model.calls(order("delete_order", 1));
		ask(ClientSetup.Mode.CALL, "question");
		approve(waiting());
		breakOffInATool();
		approvals().decide(waiting(), Decision.retry("anna"));
		this.model.says("done");
		goOn(ClientSetup.Mode.CALL);
		RewindPlan plan = plan(1).acceptingIrreversible();
		assertThat(rewind(plan).status()).isEqualTo(Status.WAITING);
		compensations().decide(pendingCompensation(), Decision.reject("bob"));
		assertThat(rewind(plan).status()).isEqualTo(Status.REFUSED);
		assertThat(reasons(plan(1))).containsExactly(Reason.REJECTED, Reason.UNCERTAIN);
		assertThat(rewind(plan(1).acceptingIrreversible()).status()).isEqualTo(Status.COMPLETED);
	}

	/** The tool has run, and nothing of that is stored. */
	private void breakOffInATool() {
		List<ToolCallback> dying = shop().stream()
			.map((tool) -> (ToolCallback) new DyingTool(tool, this.runs, () -> observed().beforePut((write) -> {
				if (write.kind().equals(Ledger.APPROVAL)) {
					throw new DyingTool.Death();
				}
			})))
			.toList();
		tools(dying.toArray(ToolCallback[]::new));
		assertThatExceptionOfType(DyingTool.Death.class).isThrownBy(() -> goOn(ClientSetup.Mode.CALL));
		observed().beforePut((write) -> {
		});
		tools(shop().toArray(ToolCallback[]::new));
	}

	@Test
	void cancelledCallsHaveNoEffect() {
		this.model.calls(order("delete_order", 1), order("cancel_order", 2));
		ask(ClientSetup.Mode.CALL, "question");
		approvals().cancel(this.key);
		RewindPlan plan = plan(1);
		assertThat(plan.irreversible()).isEmpty();
		assertThat(plan.compensations()).isEmpty();
		assertThat(rewind(plan).undone()).hasSize(1);
		assertThat(this.runs).isEmpty();
	}

	@Test
	void turnsOfStreamsAndTurnsThatHaveWaitedTwiceAreKnownAsWell() {
		this.model.calls(order("cancel_order", 1))
			.calls(order("delete_order", 2))
			.calls(order("delete_order", 3))
			.says("done");
		ask(ClientSetup.Mode.STREAM, "question");
		approve(waiting());
		goOn(ClientSetup.Mode.STREAM);
		approve(waiting());
		goOn(ClientSetup.Mode.CALL);
		this.runs.clear();
		RewindPlan plan = plan(1);
		assertThat(plan.irreversible()).isEmpty();
		assertThat(rewind(plan).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("restore 3 (ok delete 3)", "restore 2 (ok delete 2)",
				"restore 1 (ok cancel 1)");
	}

	@Test
	void callsWithoutIdsAreToldApartByTheirRounds() {
		this.model.calls(call("", "delete_order", "{\"order\":1}"))
			.calls(call("", "delete_order", "{\"order\":1}"))
			.says("done");
		ask(ClientSetup.Mode.CALL, "question");
		approvals().reject(waiting(), "bob", "no");
		goOn(ClientSetup.Mode.CALL);
		approve(waiting());
		goOn(ClientSetup.Mode.CALL);
		RewindPlan plan = plan(1);
		assertThat(plan.irreversible()).isEmpty();
		assertThat(plan.compensations()).singleElement()
			.satisfies((each) -> assertThat(each.call().round()).isEqualTo(2));
	}

	/**
	 * The first one runs unasked, so only the second one, which waits, is in the ledger.
	 */
	private void sameCallInTwoReplies() {
		AtomicInteger asked = new AtomicInteger();
		rules((rules) -> rules.tools(Set.of())
			.policies(List.of((request) -> (asked.incrementAndGet() % 2 == 0) ? Ruling.ask() : Ruling.allow())));
		this.model.calls(call("", "cancel_order", "{\"order\":1}"))
			.calls(call("", "cancel_order", "{\"order\":1}"))
			.says("done");
		ask(ClientSetup.Mode.CALL, "question");
	}

	@Test
	void entryOfALaterReplyIsNotThatOfAnEarlierOneWithTheSameCall() {
		sameCallInTwoReplies();
		approvals().decide(waiting(), Decision.approve("anna").withArguments("{\"order\":2}"));
		goOn(ClientSetup.Mode.CALL);
		assertThat(this.runs).containsExactly("cancel 1", "cancel 2");
		assertThat(rewind(plan(1)).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).endsWith("restore 2 (ok cancel 2)", "restore 1 (ok cancel 1)");
	}

	@Test
	void rejectionOfALaterReplyIsNotThatOfAnEarlierOneWithTheSameCall() {
		sameCallInTwoReplies();
		approvals().reject(waiting(), "bob", "no");
		goOn(ClientSetup.Mode.CALL);
		assertThat(rewind(plan(1)).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("cancel 1", "restore 1 (ok cancel 1)");
	}

	@Test
	void repeatedCallOfOneReplyHasOneEffect() {
		this.model.calls(order("delete_order", 1), order("delete_order", 1)).says("done");
		ask(ClientSetup.Mode.CALL, "question");
		approve(waiting());
		goOn(ClientSetup.Mode.CALL);
		assertThat(plan(1).compensations()).hasSize(1);
		turn(order("cancel_order", 1), order("cancel_order", 1));
		assertThat(plan(1).compensations()).as("these run each time").hasSize(2);
	}

	/** It has no entry, since nobody was asked, but it has run. */
	@Test
	void callThatRanBesideADeniedOneIsTakenBack() {
		this.policy = (rules) -> rules.policies(List
			.of((request) -> request.call().name().equals("delete_order") ? Ruling.deny("never") : Ruling.allow()));
		rules((rules) -> this.policy.accept(rules.tools(Set.of())));
		turn(order("delete_order", 1), order("cancel_order", 2));
		assertThat(this.runs).singleElement().asString().contains("2");
		assertThat(plan(1).compensations()).singleElement().asString().contains("cancel_order of turn 1");
	}

	@Test
	void callsThatThisSessionHasNotRunAreNotTakenBack() {
		turn(order("cancel_order", 1));
		SessionKey copy = SessionKey.of(this.key.owner(), "copy");
		thread().fork(copy);
		assertThat(reasons(compensations().plan(copy, 1))).containsExactly(Reason.ELSEWHERE);
		thread().addTurn(List.of(new UserMessage("q"),
				AssistantMessage.builder().content("").toolCalls(List.of(order("cancel_order", 2))).build(),
				ToolResponseMessage.builder()
					.responses(List.of(new ToolResponse("cancel_order2", "cancel_order", "ok")))
					.build(),
				new AssistantMessage("a")), null);
		assertThat(reasons(plan(1))).containsExactly(Reason.ELSEWHERE);
	}

	@Test
	void adoptedTurnIsNotTakenBackAsItsOriginalMayBe() {
		turn(order("cancel_order", 1));
		thread().undo(1);
		thread().adopt(1);
		assertThat(reasons(plan(1))).containsExactly(Reason.ELSEWHERE);
	}

	@Test
	void policyDeniesACompensatingCall() {
		turn(order("cancel_order", 1));
		this.policy = (rules) -> rules.policies(List.of((request) -> request.call().name().equals("restore_order")
				? Ruling.deny("Orders are restored by the support team.") : Ruling.allow()));
		assertThat(reasons(plan(1))).containsExactly(Reason.DENIED);
	}

	// consent

	@Test
	void compensatingCallThatNeedsConsentWaitsAndTheRewindContinues() {
		turn(order("cancel_order", 1));
		turn(payBack(2, 50), order("cancel_order", 3));
		this.runs.clear();
		RewindPlan plan = plan(2);
		assertThat(plan.compensations()).extracting(Compensation::status)
			.containsExactly(ApprovalStatus.APPROVED, ApprovalStatus.PROPOSED, ApprovalStatus.APPROVED);
		RewindReport report = rewind(plan);
		assertThat(report.status()).isEqualTo(Status.WAITING);
		assertThat(report.done()).hasSize(1);
		assertThat(Objects.requireNonNull(report.stoppedAt()).call().tool()).isEqualTo("charge");
		assertThat(this.runs).containsExactly("restore 3 (ok cancel 3)");
		assertThat(log()).hasSize(8);
		assertThat(approvals().pending(this.key)).as("the calls of models are listed elsewhere").isEmpty();

		assertThat(rewind(plan).status()).as("nobody has decided").isEqualTo(Status.WAITING);
		ToolApproval waiting = pendingCompensation();
		assertThat(waiting.description()).isEqualTo("Takes money");
		assertThat(waiting.arguments()).isEqualTo("{\"amount\":50}");
		compensations().decide(waiting, Decision.approve("anna"));
		assertThatExceptionOfType(DecisionRefusedException.class)
			.isThrownBy(() -> compensations().decide(waiting, Decision.approve("bob")));
		for (String shown : List.of(waiting.asShown(), waiting.digest())) {
			assertThatExceptionOfType(DecisionRefusedException.class).as("bob has not seen that it is approved")
				.isThrownBy(() -> compensations().decide(this.key, waiting.id(), shown, Decision.reject("bob")))
				.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(DecisionRefusedException.Reason.DECIDED));
		}

		assertThat(rewind(plan).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("restore 3 (ok cancel 3)", "charge 50", "restore 1 (ok cancel 1)");
		assertThat(log()).isEmpty();
		assertThat(compensations().ledger(this.key)).filteredOn((call) -> call.tool().equals("charge"))
			.singleElement()
			.satisfies((call) -> assertThat(call.decision().by()).isEqualTo("anna"));
	}

	@Test
	void rejectedCompensationLeavesItsEffectAndMustBeAccepted() {
		turn(payBack(2, 50));
		RewindPlan plan = plan(1);
		rewind(plan);
		compensations().decide(pendingCompensation(), Decision.reject("bob"));
		assertThat(rewind(plan.acceptingIrreversible()).status()).as("this was not shown").isEqualTo(Status.REFUSED);
		RewindPlan next = plan(1);
		assertThat(reasons(next)).containsExactly(Reason.REJECTED);
		assertThat(next.irreversible().get(0).detail()).contains("bob");
		assertThat(rewind(next.acceptingIrreversible()).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("pay back 50 for 2");
	}

	@Test
	void rejectionCountsForWhatWasShown() {
		turn(payBack(2, 50));
		rewind(plan(1));
		compensations().decide(pendingCompensation(), Decision.reject("bob", "the wrong tool"));
		assertThat(reasons(plan(1))).containsExactly(Reason.REJECTED);
		this.configured = Map.of("pay_back", "restore_order");
		this.policy = (rules) -> rules.tools(Set.of("restore_order"));
		assertThat(rewind(plan(1)).status()).isEqualTo(Status.WAITING);
		compensations().decide(pendingCompensation(), Decision.approve("bob"));
		assertThat(rewind(plan(1)).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).hasSize(2).last().asString().startsWith("restore 2");
	}

	@Test
	void argumentsThatAPolicyDeniesTakeNothingBackAlthoughAPersonHasApprovedThem() {
		this.policy = (rules) -> rules.policies(List
			.of((request) -> request.arguments().containsValue(500) ? Ruling.deny("too much") : Ruling.allow()));
		turn(payBack(2, 50));
		rewind(plan(1));
		compensations().decide(pendingCompensation(), Decision.approve("bob").withArguments("{\"amount\":500}"));
		RewindPlan plan = plan(1);
		assertThat(reasons(plan)).containsExactly(Reason.DENIED);
		assertThat(rewind(plan).status()).isEqualTo(Status.REFUSED);
		assertThat(this.runs).containsExactly("pay back 50 for 2");
	}

	/** It cannot run, and nothing else would let the turn go. */
	@Test
	void callThatIsApprovedAndCannotRunIsRejectedAndItsTurnNeedNotStay() {
		this.policy = (rules) -> rules.policies(List
			.of((request) -> request.arguments().containsValue(500) ? Ruling.deny("too much") : Ruling.allow()));
		turn(payBack(2, 50));
		rewind(plan(1));
		compensations().decide(pendingCompensation(), Decision.approve("bob").withArguments("{\"amount\":500}"));
		assertThat(compensations().pending(this.key)).isEmpty();
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> thread().undo(1))
			.withMessageContaining("Compensations.ledger(..)");
		ToolApproval approved = compensations().ledger(this.key).get(0);
		compensations().decide(approved, Decision.reject("anna"));
		assertThat(reasons(plan(1))).containsExactly(Reason.REJECTED);
		assertThat(thread().undo(1)).hasSize(1);
		assertThat(this.runs).containsExactly("pay back 50 for 2");
	}

	@Test
	void callThatRunsIsNotRejected() {
		turn(payBack(2, 50));
		RewindPlan plan = plan(1);
		rewind(plan);
		ToolApproval approved = compensations().decide(pendingCompensation(), Decision.approve("bob"));
		this.fault = (what) -> assertThatExceptionOfType(DecisionRefusedException.class)
			.isThrownBy(() -> compensations().decide(approved, Decision.reject("anna")))
			.satisfies((ex) -> assertThat(ex.status()).isEqualTo(ApprovalStatus.CLAIMED));
		assertThat(rewind(plan).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("pay back 50 for 2", "charge 50");
	}

	@Test
	void callThatIsApprovedWhileARewindBeginsRunsInIt() {
		turn(payBack(2, 50));
		rewind(plan(1));
		RewindPlan plan = plan(1);
		AtomicBoolean approved = new AtomicBoolean();
		this.policy = (rules) -> rules.policies(List.of((request) -> {
			if (approved.compareAndSet(false, true)) {
				compensations().decide(pendingCompensation(), Decision.approve("anna"));
			}
			return Ruling.allow();
		}));
		assertThat(rewind(plan).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("pay back 50 for 2", "charge 50");
	}

	@Test
	void callOfAModelIsNoneThatTakesAnEffectBack() {
		this.model.calls(order("delete_order", 1)).says("done");
		ask(ClientSetup.Mode.CALL, "question");
		ToolApproval call = approve(waiting());
		goOn(ClientSetup.Mode.CALL);
		assertThatExceptionOfType(DecisionRefusedException.class)
			.isThrownBy(() -> compensations().decide(call, Decision.approve("anna")))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(DecisionRefusedException.Reason.UNKNOWN_CALL));
	}

	@Test
	void consentCountsForWhatWasShown() {
		turn(payBack(2, 50));
		RewindPlan plan = plan(1);
		rewind(plan);
		compensations().decide(pendingCompensation(), Decision.approve("anna"));
		this.configured = Map.of("pay_back", "restore_order");
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> rewind(plan));
		this.policy = (rules) -> rules.tools(Set.of("restore_order"));
		RewindReport report = rewind(plan(1));
		assertThat(report.status()).isEqualTo(Status.WAITING);
		assertThat(pendingCompensation().tool()).isEqualTo("restore_order");
		assertThat(this.runs).containsExactly("pay back 50 for 2");
	}

	@Test
	void callThatWaitsNeedsItsDecisionWhateverPoliciesAllowByThen() {
		turn(order("cancel_order", 1));
		this.policy = (rules) -> rules.policies(List.of((request) -> Ruling.ask()));
		RewindPlan plan = plan(1);
		assertThat(rewind(plan).status()).isEqualTo(Status.WAITING);
		this.policy = (rules) -> {
		};
		assertThat(rewind(plan).status()).isEqualTo(Status.WAITING);
		assertThat(rewind(plan(1)).status()).isEqualTo(Status.WAITING);
		assertThat(this.runs).containsExactly("cancel 1");
		this.policy = (rules) -> rules.policies(List.of((request) -> Ruling.deny("never")));
		assertThat(reasons(plan(1))).as("what is denied by now does not run either").containsExactly(Reason.DENIED);
		compensations().decide(pendingCompensation(), Decision.approve("anna"));
		assertThat(rewind(plan).status()).as("the decision counts").isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("cancel 1", "restore 1 (ok cancel 1)");
	}

	@Test
	void decisionOnACompensationIsForThisCallAlone() {
		turn(payBack(2, 50));
		rewind(plan(1));
		assertThatIllegalArgumentException().isThrownBy(() -> compensations().decide(pendingCompensation(),
				Decision.approve("anna").always(StandingDecision.Scope.TOOL)));
	}

	// failures

	@Test
	void rewindStopsWhereOneFailsAndGoesOnThere() {
		turn(order("cancel_order", 1), order("cancel_order", 2), order("cancel_order", 3));
		this.runs.clear();
		this.fault = (what) -> {
			if (what.startsWith("restore 2")) {
				throw new IllegalStateException("the line is down");
			}
		};
		RewindPlan plan = plan(1);
		RewindReport report = rewind(plan);
		assertThat(report.status()).isEqualTo(Status.STOPPED);
		assertThat(report.undone()).isEmpty();
		assertThat(report.done()).extracting((each) -> each.effect().arguments()).containsExactly("{\"order\":3}");
		assertThat(report.remaining()).extracting((each) -> each.effect().arguments())
			.containsExactly("{\"order\":2}", "{\"order\":1}");
		assertThat(report.stoppedAt()).satisfies((failed) -> {
			assertThat(failed.hasFailed()).isTrue();
			assertThat(failed.status()).isEqualTo(ApprovalStatus.UNCERTAIN);
			assertThat(failed.outcome().text()).contains("the line is down");
			assertThat(failed.toString()).doesNotContain("the line is down");
		});
		assertThat(log()).hasSize(4);

		this.fault = (what) -> {
		};
		assertThat(rewind(plan).status()).as("nobody has decided").isEqualTo(Status.STOPPED);
		assertThat(this.runs).containsExactly("restore 3 (ok cancel 3)");
		compensations().decide(pendingCompensation(), Decision.retry("anna"));
		assertThat(rewind(plan).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("restore 3 (ok cancel 3)", "restore 2 (ok cancel 2)",
				"restore 1 (ok cancel 1)");
	}

	/** A rewind that is continued looks for its turns in the history. */
	@Test
	void turnsWhoseRewindHasNotEndedStayInTheHistory() {
		turn(order("look_up", 1));
		regenerate(1);
		turn(order("cancel_order", 1), order("cancel_order", 2));
		turn(order("look_up", 1));
		this.runs.clear();
		this.fault = (what) -> {
			if (what.startsWith("restore 2")) {
				throw new IllegalStateException("the line is down");
			}
		};
		assertThat(rewind(plan(2)).status()).isEqualTo(Status.STOPPED);
		this.fault = (what) -> {
		};
		int requests = this.model.prompts().size();
		for (Runnable move : takingFromTheHistory()) {
			assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(move::run)
				.returns(ChangeRefusedException.Reason.REWIND_UNFINISHED, ChangeRefusedException::reason)
				.withMessageContaining("turn 3")
				.withMessageContaining("Compensations.rewind");
		}
		assertThat(this.model.prompts()).hasSize(requests);
		thread().undo(1);
		thread().redo(1);
		compensations().decide(pendingCompensation(), Decision.retry("anna"));
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> thread().undo(2));
		assertThat(rewind(plan(2)).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("restore 2 (ok cancel 2)", "restore 1 (ok cancel 1)");
		thread().undo(1);
	}

	/** Moves, and calls that move, which would take the third turn from the history. */
	private List<Runnable> takingFromTheHistory() {
		Map<String, Runnable> moves = Map.of("undo", () -> thread().undo(2), "reset", () -> thread().reset(), "choose",
				() -> thread().choose(1));
		List<String> elsewhere = List.of("deleteBranch");
		assertThat(Stream.of(moves.keySet(), Moves.KEEPING, elsewhere).flatMap(Collection::stream))
			.as("a move that takes turns from the history asks TreeChanges.checkRewindsEnded, and is tried here;"
					+ " another one is in Moves.KEEPING")
			.containsExactlyInAnyOrderElementsOf(Moves.NAMES);
		List<Runnable> all = new ArrayList<>(moves.values());
		all.addAll(List.of(() -> edit(3), () -> regenerate(3), () -> edit(2)));
		return all;
	}

	/** Consent to a call that can never run is worth nothing. */
	@Test
	void turnsWhoseRewindHasNotEndedKeepTheirMessages() {
		turn(order("look_up", 1));
		turn(payBack(2, 50));
		RewindPlan plan = plan(1);
		assertThat(rewind(plan).status()).isEqualTo(Status.WAITING);
		long newest = thread().items(Tail.newest(1)).get(0).sequence();
		for (Runnable change : List.<Runnable>of(() -> thread().delete(2), () -> thread().delete(Set.of(newest)),
				() -> thread().pop(), () -> thread().clear())) {
			assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(change::run)
				.withMessageContaining("turn 2")
				.withMessageContaining("Compensations.rewind");
		}
		assertThat(thread().delete(1)).as("another turn").isEqualTo(4);
		compensations().decide(pendingCompensation(), Decision.approve("anna"));
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> thread().delete(2));
		assertThat(rewind(plan).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).endsWith("charge 50");
		assertThat(thread().delete(2)).isEqualTo(4);
		thread().clear();
	}

	@Test
	void branchWithATurnWhoseRewindHasNotEndedStays() {
		turn(order("look_up", 1));
		thread().branch("other");
		turn(payBack(2, 50));
		RewindPlan plan = plan(1);
		assertThat(rewind(plan).status()).isEqualTo(Status.WAITING);
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> thread().deleteBranch("other", true))
			.withMessageContaining("turn 2");
		assertThat(thread().session().orElseThrow().branch()).as("nothing was changed").isEqualTo("other");
		thread().switchTo("main");
		for (Runnable change : List.<Runnable>of(() -> thread().deleteBranch("other", false), () -> thread().delete(2),
				() -> thread().clear())) {
			assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(change::run)
				.withMessageContaining("turn 2");
		}
		thread().switchTo("other");
		compensations().decide(pendingCompensation(), Decision.approve("anna"));
		assertThat(rewind(plan).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).endsWith("charge 50");
		assertThat(thread().deleteBranch("other", true)).isEqualTo(4);
	}

	@Test
	void retentionKeepsTurnsFromOneOnWhoseRewindHasNotEnded() {
		threads((threads) -> threads.retention(Retention.keepLastTurns(1).batch(1)));
		turn(order("look_up", 1));
		turn(payBack(2, 50));
		assertThat(rewind(plan(1)).status()).isEqualTo(Status.WAITING);
		turn(order("look_up", 3));
		compensations().decide(pendingCompensation(), Decision.approve("anna"));
		turn(order("look_up", 4));
		assertThat(thread().turns(Tail.ALL)).extracting(Turn::items).containsExactly(0, 4, 4, 4);
		assertThat(rewind(plan(3)).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).endsWith("charge 50");
	}

	@Test
	void retentionGoesOnWhenTheRewindHasEnded() {
		threads((threads) -> threads.retention(Retention.keepLastTurns(1).batch(1)));
		turn(payBack(1, 50));
		rewind(plan(1));
		turn(order("look_up", 2));
		assertThat(thread().turns(Tail.ALL)).extracting(Turn::items).containsExactly(4, 4);
		compensations().decide(pendingCompensation(), Decision.reject("bob"));
		turn(order("look_up", 3));
		assertThat(thread().turns(Tail.ALL)).extracting(Turn::items).containsExactly(0, 0, 4);
	}

	private void edit(long turn) {
		client(ClientSetup.plain()).build()
			.prompt()
			.user("edited")
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.editing(turn)))
			.call()
			.content();
	}

	private void regenerate(long turn) {
		this.model.says("anew");
		client(ClientSetup.plain()).build()
			.prompt()
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.regenerating(turn)))
			.call()
			.content();
	}

	/** Whoever confirms it has seen less. */
	@Test
	void planIsRefusedIfACallWasApprovedWithOtherArgumentsSince() {
		turn(payBack(2, 50));
		RewindPlan plan = plan(1);
		assertThat(rewind(plan).status()).isEqualTo(Status.WAITING);
		compensations().decide(pendingCompensation(), Decision.approve("bob").withArguments("{\"amount\":500}"));
		this.runs.clear();
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> rewind(plan));
		assertThat(this.runs).isEmpty();
		RewindPlan edited = plan(1);
		assertThat(edited.digest()).isNotEqualTo(plan.digest());
		assertThat(edited.compensations()).extracting((each) -> each.call().effectiveArguments())
			.containsExactly("{\"amount\":500}");
		assertThat(rewind(edited).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("charge 500");
	}

	@Test
	void personSaysThatAFailedOneIsDone() {
		turn(order("cancel_order", 1));
		this.fault = (what) -> {
			throw new IllegalStateException("the line is down");
		};
		RewindPlan plan = plan(1);
		rewind(plan);
		compensations().decide(pendingCompensation(), Decision.answer("anna", "I did it by phone."));
		RewindReport report = rewind(plan);
		assertThat(report.status()).isEqualTo(Status.COMPLETED);
		assertThat(report.done()).singleElement()
			.satisfies((each) -> assertThat(each.outcome().text()).isEqualTo("I did it by phone."));
		assertThat(this.runs).containsExactly("cancel 1");
	}

	/** A class may be missing where a function calls it, which nothing wraps. */
	@Test
	void compensationThatThrowsAnErrorHasFailed() {
		turn(order("cancel_order", 1));
		this.runs.clear();
		NoClassDefFoundError missing = new NoClassDefFoundError("com/example/Missing");
		Compensations failing = compensations(
				shop().stream().map((tool) -> (ToolCallback) new DyingTool(tool, this.runs, () -> {
					throw missing;
				})).toList());
		RewindPlan plan = plan(1);
		assertThatThrownBy(() -> failing.rewind(plan)).isSameAs(missing);
		RewindReport report = rewind(plan);
		assertThat(report.status()).isEqualTo(Status.STOPPED);
		assertThat(report.stoppedAt()).satisfies((failed) -> {
			assertThat(failed.hasFailed()).isTrue();
			assertThat(failed.status()).isEqualTo(ApprovalStatus.UNCERTAIN);
		});
		assertThat(this.runs).hasSize(1);
	}

	@Test
	void turnWithBytesAmongItsParametersIsRewound() {
		threads((threads) -> threads.turnParameters(Set.of("photo")));
		this.model.calls(order("cancel_order", 1)).says("done");
		ChatClient.ChatClientRequestSpec call = client(setup(ClientSetup.Mode.CALL)).build().prompt().user("question");
		call.advisors(SessionAdvisor.session(this.key))
			.advisors((advisors) -> advisors.param("photo", new byte[] { 1, 2 }))
			.call()
			.content();
		RewindPlan plan = plan(1);
		assertThat(plan.turns().get(0).parameters()).containsKey("photo");
		assertThat(rewind(plan).status()).isEqualTo(Status.COMPLETED);
	}

	@Test
	void rewindOfAnErasedSessionFindsNone() {
		turn(order("cancel_order", 1));
		RewindPlan plan = plan(1);
		store().erase(this.key);
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> rewind(plan));
		assertThat(store().find(this.key)).isEmpty();
		assertThat(this.runs).containsExactly("cancel 1");
	}

	@Test
	void rewindWhoseSessionIsErasedMeanwhileSaysSo() {
		turn(order("cancel_order", 1));
		RewindPlan plan = plan(1);
		this.fault = (what) -> store().erase(this.key);
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> rewind(plan))
			.withMessageContaining("erased")
			.withMessageContaining("restore_order");
		assertThat(store().find(this.key)).isEmpty();
	}

	/**
	 * A tool that takes its process with it, as far as anybody can see: nothing of its
	 * call is stored any more.
	 */
	private record DyingTool(ToolCallback tool, List<String> runs, Runnable death) implements ToolCallback {

		static final class Death extends Error {

		}

		@Override
		public ToolDefinition getToolDefinition() {
			return this.tool.getToolDefinition();
		}

		@Override
		public String call(String input) {
			this.runs.add(input);
			this.death.run();
			throw new Death();
		}

	}

	@Test
	void callWhoseEndIsNotKnownIsNotRepeated() {
		turn(order("cancel_order", 1));
		this.runs.clear();
		RewindPlan plan = plan(1);
		Compensations dying = compensations(shop().stream()
			.map((tool) -> (ToolCallback) new DyingTool(tool, this.runs, () -> observed().beforePut((write) -> {
				if (write.kind().equals(Ledger.COMPENSATION)) {
					throw new DyingTool.Death();
				}
			})))
			.toList());
		assertThatExceptionOfType(DyingTool.Death.class).isThrownBy(() -> dying.rewind(plan));
		observed().beforePut((write) -> {
		});
		RewindReport report = rewind(plan);
		assertThat(report.status()).isEqualTo(Status.STOPPED);
		assertThat(report.stoppedAt()).satisfies((each) -> {
			assertThat(each.status()).isEqualTo(ApprovalStatus.UNCERTAIN);
			assertThat(each.hasFailed()).isFalse();
			assertThat(each.outcome()).isNull();
		});
		assertThat(this.runs).hasSize(1);
		assertThat(pendingCompensation().status()).isEqualTo(ApprovalStatus.UNCERTAIN);
	}

	@Test
	void effectThatWasTakenBackIsNotTakenBackByAnotherRewind() {
		turn(order("cancel_order", 1));
		turn(payBack(2, 50), order("cancel_order", 3));
		this.runs.clear();
		rewind(plan(1));
		turn(order("look_up", 1));
		this.runs.clear();
		RewindPlan plan = plan(2);
		assertThat(plan.compensations()).extracting(Compensation::isDone).containsExactly(true, false);
		rewind(plan);
		assertThat(this.runs).isEmpty();
	}

	@Test
	void branchesShareTheEffectsOfTheirTurns() {
		turn(order("cancel_order", 1));
		thread().branch("other");
		this.runs.clear();
		assertThat(rewind(plan(1)).status()).isEqualTo(Status.COMPLETED);
		thread().switchTo("main");
		assertThat(log()).as("another branch keeps its turns").hasSize(4);
		RewindPlan plan = plan(1);
		assertThat(plan.compensations()).extracting(Compensation::isDone).containsExactly(true);
		assertThat(rewind(plan).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("restore 1 (ok cancel 1)");
	}

	// others that work on the session

	@Test
	void rewindIsRefusedWhileATurnIsOpen() {
		turn(order("cancel_order", 1));
		RewindPlan plan = plan(1);
		this.model.calls(order("delete_order", 1)).says("done");
		ask(ClientSetup.Mode.CALL, "question");
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> plan(1));
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> rewind(plan));
		assertThat(this.runs).containsExactly("cancel 1");
	}

	@Test
	void rewindIsRefusedIfTheSessionHasMovedSinceThePlan() {
		turn(order("cancel_order", 1));
		RewindPlan plan = plan(1);
		turn(order("cancel_order", 2));
		this.runs.clear();
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> rewind(plan));
		thread().undo(1);
		thread().title("a title is no move");
		assertThat(rewind(plan).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("restore 1 (ok cancel 1)");
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> rewind(plan));
	}

	@Test
	void turnThatIsStoredWhileARewindRunsEndsTheRewind() {
		turn(order("cancel_order", 1), order("cancel_order", 2));
		this.runs.clear();
		this.fault = (what) -> {
			if (what.startsWith("restore 2")) {
				thread().addTurn(List.of(new UserMessage("q"), new AssistantMessage("a")), null);
			}
		};
		RewindPlan plan = plan(1);
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> rewind(plan));
		assertThat(this.runs).containsExactly("restore 2 (ok cancel 2)");
		assertThat(log()).hasSize(6);
		RewindPlan next = plan(2);
		assertThat(next.compensations()).extracting(Compensation::isDone).containsExactly(true, false);
		assertThat(rewind(next).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("restore 2 (ok cancel 2)", "restore 1 (ok cancel 1)");
	}

	@Test
	void ofTwoRewindsAtOnceOneRuns() throws Exception {
		turn(order("cancel_order", 1));
		this.runs.clear();
		CountDownLatch inside = new CountDownLatch(1);
		CountDownLatch go = new CountDownLatch(1);
		this.fault = (what) -> {
			inside.countDown();
			await(go);
		};
		RewindPlan plan = plan(1);
		CompletableFuture<RewindReport> first = CompletableFuture.supplyAsync(() -> rewind(plan));
		assertThat(inside.await(30, TimeUnit.SECONDS)).isTrue();
		assertThatExceptionOfType(TurnInProgressException.class).isThrownBy(() -> rewind(plan));
		assertThat(compensations().ledger(this.key)).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.CLAIMED);
		assertThat(compensations().pending(this.key)).isEmpty();
		go.countDown();
		assertThat(first.get(30, TimeUnit.SECONDS).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.runs).containsExactly("restore 1 (ok cancel 1)");
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	// afterwards

	@Test
	void turnWhoseEffectsWereTakenBackDoesNotBecomeHistoryAgain() {
		turn(order("look_up", 1));
		turn(order("cancel_order", 2));
		rewind(plan(1));
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> thread().redo(1))
			.returns(ChangeRefusedException.Reason.EFFECTS_TAKEN_BACK, ChangeRefusedException::reason)
			.withMessageContaining("taken back");
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> thread().choose(2))
			.withMessageContaining("taken back");
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> thread().adopt(2))
			.withMessageContaining("taken back");
		assertThat(log()).hasSize(4);
		rewind(plan(1));
		assertThat(thread().redo(1)).as("it had nothing to take back").hasSize(1);
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> thread().redo(1));
		assertThat(thread().turns(Tail.ALL)).hasSize(2);
	}

	@Test
	void forkRevivesNoTurnWhoseEffectsWereTakenBack() {
		turn(order("look_up", 1));
		turn(order("cancel_order", 2));
		thread().branch("other");
		rewind(plan(1));
		SessionKey copy = SessionKey.of(this.key.owner(), "copy of " + this.key.id());
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> thread().fork(copy, 2))
			.withMessageContaining("taken back");
		assertThat(conversations().get(copy).session()).isEmpty();
		thread().fork(copy, 1);
		thread().switchTo("main");
		SessionKey whole = SessionKey.of(this.key.owner(), "all of " + this.key.id());
		thread().fork(whole, 2);
		assertThat(conversations().get(whole).messages()).as("another branch has kept the turn").hasSize(8);
	}

	@Test
	void digestSaysWhatWouldBeDone() {
		turn(order("cancel_order", 1), call("m", "send_mail", "{\"to\":\"anna\"}"));
		turn(payBack(2, 50));
		String shown = plan(2).digest();
		assertThat(plan(2).digest()).isEqualTo(shown);
		assertThat(plan(1).digest()).isNotEqualTo(shown);
		rewind(plan(2).acceptingIrreversible());
		assertThat(plan(2).digest()).as("it does not depend on how far the rewind has come").isEqualTo(shown);
		this.configured = Map.of("cancel_order", CompensatedBy.NOTHING);
		assertThat(plan(2).digest()).isNotEqualTo(shown);
	}

	@Test
	void nothingSecretIsPrinted() {
		turn(call("m", "send_mail", "{\"to\":\"anna\"}"), order("cancel_order", 4711));
		RewindPlan plan = plan(1);
		assertThat(plan + " " + plan.irreversible() + plan.compensations() + rewind(plan)).doesNotContain("anna")
			.doesNotContain("4711");
	}

}
