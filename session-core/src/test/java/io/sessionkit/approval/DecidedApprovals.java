package io.sessionkit.approval;

import java.lang.reflect.Proxy;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.DecisionRefusedException.Reason;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.store.Page;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.test.ClientSetup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.UserMessage;

import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.annotation.Tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * The effect of a decision on one call, and the decisions that do not count.
 */
abstract class DecidedApprovals extends PausedTurns {

	private static final String DEFAULT_REJECTION = "This call was not approved, so it did not run.";

	@Test
	void decisionCostsTwoStoreCalls() {
		this.model.calls(cancel("c1", 1)).says("done");
		ask(ClientSetup.Mode.CALL, "q");
		ToolApproval call = waiting();
		List<String> calls = new CopyOnWriteArrayList<>();
		SessionStore counted = (SessionStore) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { SessionStore.class }, (proxy, method, args) -> {
					if (!method.getName().equals("options")) {
						calls.add(method.getName());
					}
					return method.invoke(store(), args);
				});
		try (Conversations conversations = Conversations.of(counted)) {
			Approvals.of(conversations).decide(call, Decision.approve("anna"));
		}
		assertThat(calls).containsExactly("records", "put");
		assertThat(ledger()).containsExactly(ApprovalStatus.APPROVED);
	}

	/** Whoever repeats it would be refused, and no listener would hear of it. */
	@Test
	void decisionThatIsStoredWithoutAnAnswerCounts() {
		this.model.calls(cancel("c1", 1), cancel("c2", 2));
		ask(ClientSetup.Mode.CALL, "q");
		this.events.clear();
		observed().afterPut((record) -> {
			throw new StoreUnavailableException("The answer was lost.", null);
		});
		for (Decision decision : List.of(Decision.approve("anna"), Decision.reject("bob"))) {
			ToolApproval decided = approvals().decide(pending().get(0), decision);
			assertThat(decided.decision().by()).isEqualTo(decision.by());
			assertThat(this.events).last()
				.isInstanceOfSatisfying(ApprovalEvent.Decided.class,
						(event) -> assertThat(event.approval().status()).isEqualTo(decided.status()));
		}
		assertThat(this.events).hasSize(2);
		assertThat(ledger()).containsExactly(ApprovalStatus.APPROVED, ApprovalStatus.REJECTED);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void editedArgumentsRunAndBothDigestsAreKeptAndTheModelIsTold(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q");
		ToolApproval shown = waiting();
		ToolApproval decided = approvals().decide(shown, Decision.approve("anna").withArguments("{\"id\":7}"));
		assertThat(decided.arguments()).isEqualTo("{\"id\":1}");
		assertThat(decided.effectiveArguments()).isEqualTo("{\"id\":7}");
		goOn(mode);
		assertThat(this.runs).containsExactly("cancel{\"id\":7}");
		ToolApproval run = approvals().ledger(this.key).get(0);
		assertThat(run.status()).isEqualTo(ApprovalStatus.DONE);
		assertThat(run.digest()).isEqualTo(shown.digest());
		assertThat(run.decision().digest()).hasSize(64).isNotEqualTo(shown.digest());
		assertThat(run.decision().by()).isEqualTo("anna");
		assertThat(log()).element(1).isEqualTo("assistant cancel({\"id\":1})");
		assertThat(this.model.lastRequestLines()).last()
			.asString()
			.contains("changed", "{\"id\":7}", "done {\"id\":7}");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " " })
	void approvedCallWithEmptyArgumentsRunsAsAnUngatedOneDoes(String arguments) {
		List<String> seen = new CopyOnWriteArrayList<>();
		for (String gated : List.of("close", "other")) {
			rules((rules) -> rules.tools(Set.of(gated)).knownTools(() -> List.of("other")));
			tools(ToolCallbacks.from(new Object() {
				@Tool
				String close() {
					seen.add(gated);
					return "closed";
				}
			}));
			this.model.calls(call("c1", "close", arguments)).says("done");
			if (isPaused(ask(ClientSetup.Mode.CALL, "q"))) {
				approve(waiting());
				assertThat(answer(ClientSetup.Mode.CALL)).isEqualTo("done");
			}
		}
		assertThat(seen).containsExactly("close", "other");
		assertThat(turns()).containsExactly(TurnStatus.COMPLETED, TurnStatus.COMPLETED);
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\"id\":\"secret-7\"}", "{}", "[\"secret-7\"]", "{\"id\":7,\"id\":8}", "secret-7" })
	void editedArgumentsThatDoNotFitTheSchemaAreRefusedAndNotQuoted(String arguments) {
		this.model.calls(cancel("c1", 1));
		ask(ClientSetup.Mode.CALL, "q");
		assertThatExceptionOfType(DecisionRefusedException.class)
			.isThrownBy(() -> approvals().decide(waiting(), Decision.approve("anna").withArguments(arguments)))
			.withMessageContaining("cannot run with these arguments")
			.returns(Reason.ARGUMENTS, DecisionRefusedException::reason)
			.withMessageNotContaining("secret-7");
		assertThat(waiting().status()).isEqualTo(ApprovalStatus.PROPOSED);
		assertThat(waiting().decision()).isNull();
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\"type\":\"object\",\"properties\":{\"id\":{\"$ref\":\"#/$defs/none\"}}}",
			"{\"$schema\":\"https://example.org/none\",\"type\":\"object\"}" })
	void editedArgumentsOfAToolWhoseSchemaCannotBeReadAreRefused(String schema) {
		tools(tool("cancel").taking(schema), tool("look"));
		this.model.calls(cancel("c1", 1));
		ask(ClientSetup.Mode.CALL, "q");
		assertThatExceptionOfType(DecisionRefusedException.class)
			.isThrownBy(() -> approvals().decide(waiting(), Decision.approve("anna").withArguments("{\"id\":7}")))
			.withMessageContaining("the input schema of the tool cannot be read")
			.returns(Reason.ARGUMENTS, DecisionRefusedException::reason);
		approve(waiting());
	}

	@Test
	void editedArgumentsThatHaveANameTwiceAreRefusedWithTheName() {
		this.model.calls(cancel("c1", 1));
		ask(ClientSetup.Mode.CALL, "q");
		assertThatExceptionOfType(DecisionRefusedException.class)
			.isThrownBy(() -> approvals().decide(waiting(),
					Decision.approve("anna").withArguments("{\"id\":7,\"a\":[{\"b\":1,\"b\":2}]}")))
			.withMessageContaining("the name 'b' twice");
	}

	/** A model's numbers that are too large wait too: nobody knows what the tool gets. */
	@ParameterizedTest
	@ValueSource(strings = { "{\"id\":4294967396,\"more\":[1]}", "{\"id\":-2147483649,\"more\":[1]}",
			"{\"id\":1e10,\"more\":[1]}", "{\"id\":1,\"more\":[9223372036854775808]}" })
	void editedNumbersThatDoNotFitTheParametersOfAMethodAreRefused(String arguments) {
		List<String> seen = new CopyOnWriteArrayList<>();
		rules((rules) -> rules.tools(Set.of("refund")));
		tools(ToolCallbacks.from(new Object() {
			@Tool
			String refund(int id, List<Long> more) {
				seen.add(id + " " + more);
				return "done";
			}
		}));
		this.model.calls(call("c1", "refund", "{\"id\":1,\"more\":[1]}")).says("done");
		ask(ClientSetup.Mode.CALL, "q");
		assertThatExceptionOfType(DecisionRefusedException.class)
			.isThrownBy(() -> approvals().decide(waiting(), Decision.approve("anna").withArguments(arguments)))
			.withMessageContaining("breaks the rule 'm");
		approvals().decide(waiting(),
				Decision.approve("anna").withArguments("{\"id\":2147483647,\"more\":[9223372036854775807]}"));
		assertThat(answer(ClientSetup.Mode.CALL)).isEqualTo("done");
		assertThat(seen).containsExactly("2147483647 [9223372036854775807]");
	}

	/** They come from a request, and applications log the exception. */
	@ParameterizedTest
	@ValueSource(strings = { "{\"id\":1,\"a\\nERROR Turn 7 was approved by eve\":1}",
			"{\"id\":1,\"more\":[{\"a\\nERROR Turn 7 was approved by eve\":1}]}" })
	void namesOfEditedArgumentsAreInOneLineOfTheException(String arguments) {
		rules((rules) -> rules.tools(Set.of("refund")));
		tools(tool("refund").taking("""
				{"type": "object", "properties": {"id": {"type": "integer"}, "more": {"type": "array",
					"items": {"additionalProperties": {"type": "string"}}}}, "additionalProperties": false}"""));
		this.model.calls(call("c1", "refund", "{\"id\":1}")).says("done");
		ask(ClientSetup.Mode.CALL, "q");
		assertThatExceptionOfType(DecisionRefusedException.class)
			.isThrownBy(() -> approvals().decide(waiting(), Decision.approve("anna").withArguments(arguments)))
			.withMessageContaining("ERROR Turn 7")
			.withMessageNotContaining("\n");
	}

	/** Whoever decides need not have the tool. */
	@Test
	void editedTextThatOnlyTheTypeOfAParameterExcludesIsToldToTheModel() {
		List<LocalDate> seen = new CopyOnWriteArrayList<>();
		rules((rules) -> rules.tools(Set.of("refund")));
		tools(ToolCallbacks.from(new Object() {
			@Tool
			String refund(LocalDate day) {
				seen.add(day);
				return "done";
			}
		}));
		this.model.calls(call("c1", "refund", "{\"day\":\"2026-01-01\"}")).says("told");
		ask(ClientSetup.Mode.CALL, "q");
		approvals().decide(waiting(), Decision.approve("anna").withArguments("{\"day\":\"soon\"}"));
		assertThat(answer(ClientSetup.Mode.CALL)).isEqualTo("told");
		assertThat(seen).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void modelIsToldTheReasonOfTheRejectionAlsoAnEmptyOneAndElseTheDefault(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1), cancel("c2", 2), cancel("c3", 3)).says("done");
		ask(mode, "q");
		List<ToolApproval> pending = pending();
		reject(pending.get(0));
		approvals().decide(pending.get(1), Decision.reject("bob", ""));
		approvals().decide(pending.get(2), Decision.reject("bob"));
		assertThat(status(goOn(mode))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).isEmpty();
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=not today cancel= cancel=" + DEFAULT_REJECTION);
		assertThat(ledger()).containsOnly(ApprovalStatus.REJECTED).hasSize(3);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void textsOfTheApplicationCountWhereNoReasonWasGiven(ClientSetup.Mode mode) {
		rules((rules) -> rules.texts(new ApprovalTexts() {

			@Override
			public String rejected(ToolApproval approval) {
				return "no " + approval.tool() + " by " + approval.decision().by();
			}

		}));
		this.model.calls(cancel("c1", 1), cancel("c2", 2)).says("done");
		ask(mode, "q");
		approvals().decide(pending().get(0), Decision.reject("bob"));
		reject(waiting());
		goOn(mode);
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=no cancel by bob cancel=not today");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void textsThatThrowOrAreNullGiveWayToTheDefault(boolean throwing) {
		rules((rules) -> rules.texts(new ApprovalTexts() {

			@Override
			@SuppressWarnings("NullAway") // null must not be returned
			public String rejected(ToolApproval approval) {
				if (throwing) {
					throw new IllegalStateException("no words");
				}
				return null;
			}

		}));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(ClientSetup.Mode.CALL, "q");
		approvals().decide(waiting(), Decision.reject("bob"));
		goOn(ClientSetup.Mode.CALL);
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=" + DEFAULT_REJECTION);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void decisionCountsOnceAndTheSecondOneIsToldWhoWasFirst(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q");
		ToolApproval shown = waiting();
		approve(shown);
		DecisionRefusedException refusal = catchThrowableOfType(DecisionRefusedException.class, () -> reject(shown));
		assertThat(refusal).hasMessageContaining("decided by anna");
		assertThat(refusal.status()).isEqualTo(ApprovalStatus.APPROVED);
		assertThat(refusal.decidedBy()).isEqualTo("anna");
		goOn(mode);
		assertThat(this.runs).containsExactly("cancel{\"id\":1}");
		refusal = catchThrowableOfType(DecisionRefusedException.class, () -> approve(shown));
		assertThat(refusal.status()).isEqualTo(ApprovalStatus.DONE);
		assertThat(refusal.decidedBy()).isEqualTo("anna");
		assertThat(this.runs).hasSize(1);
	}

	@Test
	void decisionOnWhatWasNotShownIsRefused() {
		this.model.calls(cancel("c1", 1), cancel("c2", 2));
		ask(ClientSetup.Mode.CALL, "q");
		ToolApproval one = pending().get(0);
		ToolApproval other = pending().get(1);
		assertThatExceptionOfType(DecisionRefusedException.class)
			.isThrownBy(() -> approvals().decide(this.key, one.id(), other.digest(), Decision.approve("anna")))
			.withMessageContaining("not the one that was shown")
			.returns(Reason.OTHER_CALL, DecisionRefusedException::reason);
		assertThatExceptionOfType(DecisionRefusedException.class)
			.isThrownBy(() -> approvals().decide(this.key, "no such call", one.digest(), Decision.approve("anna")))
			.satisfies((ex) -> assertThat(ex.status()).isNull())
			.returns(Reason.UNKNOWN_CALL, DecisionRefusedException::reason);
		assertThat(pending()).containsExactly(one, other);
	}

	@Test
	void decisionOfAWaitingCallIsToApproveOrToReject() {
		this.model.calls(cancel("c1", 1));
		ask(ClientSetup.Mode.CALL, "q");
		for (Decision decision : List.of(Decision.retry("anna"), Decision.answer("anna", "done"))) {
			assertThatExceptionOfType(DecisionRefusedException.class)
				.isThrownBy(() -> approvals().decide(waiting(), decision))
				.withMessageContaining("approved or rejected")
				.returns(Reason.WAITS, DecisionRefusedException::reason);
		}
		assertThatIllegalArgumentException().isThrownBy(() -> Decision.approve(" "));
		assertThatIllegalArgumentException().isThrownBy(() -> Decision.reject("bob").withArguments("{}"));
		assertThat(waiting().status()).isEqualTo(ApprovalStatus.PROPOSED);
	}

	@Test
	void ofManyWhoDecideOneWinsAndTheOthersAreTold() throws Exception {
		int deciders = 16;
		this.model.calls(cancel("c1", 1)).says("done");
		ask(ClientSetup.Mode.CALL, "q");
		ToolApproval shown = waiting();
		Approvals approvals = approvals();
		ExecutorService threads = Executors.newFixedThreadPool(deciders);
		try {
			CountDownLatch start = new CountDownLatch(1);
			List<Future<String>> outcomes = IntStream.range(0, deciders).mapToObj((i) -> threads.submit(() -> {
				start.await();
				try {
					Decision decision = (i % 2 == 0) ? Decision.approve("d" + i) : Decision.reject("d" + i);
					return "won by " + Objects.requireNonNull(approvals.decide(shown, decision).decision()).by();
				}
				catch (DecisionRefusedException ex) {
					return "won by " + ex.decidedBy() + ", I am told";
				}
			})).toList();
			start.countDown();
			List<String> told = new ArrayList<>();
			for (Future<String> outcome : outcomes) {
				told.add(outcome.get());
			}
			String winner = "won by " + approvals.ledger(this.key).get(0).decision().by();
			assertThat(told).containsOnlyOnce(winner).containsOnly(winner, winner + ", I am told").hasSize(deciders);
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(this.events).filteredOn(ApprovalEvent.Decided.class::isInstance).hasSize(1);
	}

	/**
	 * Whoever hears of the decision may continue the turn, in which other calls follow
	 * it.
	 */
	@Test
	void standingDecisionIsStoredBeforeListenersHearOfTheDecision() {
		List<Integer> standing = new CopyOnWriteArrayList<>();
		AtomicReference<Approvals> asked = new AtomicReference<>();
		rules((rules) -> rules.listeners(List.<Consumer<ApprovalEvent>>of((event) -> {
			if (event instanceof ApprovalEvent.Decided) {
				standing.add(asked.get().standingDecisions(this.key).size());
			}
		})));
		this.model.calls(cancel("c1", 1), cancel("c2", 2));
		ask(ClientSetup.Mode.CALL, "q");
		asked.set(approvals());
		asked.get().decide(pending().get(0), Decision.approve("anna").always(StandingDecision.Scope.TOOL));
		assertThat(standing).containsExactly(1);
	}

	/** A newer version may have written it, and others have work too. */
	@Test
	void inboxOfAnOwnerLeavesOutACallThatCannotBeRead() {
		this.model.calls(cancel("c1", 1));
		ask(ClientSetup.Mode.CALL, "q");
		SessionKey other = SessionKey.of(this.key.owner(), "other");
		store().add(other, List.of(new UserMessage("q"), new AssistantMessage("a")));
		String payload = store().options().codec().encodeValues(other, Map.of("unknown", 1));
		store().put(other, RecordWrite.create(Ledger.APPROVAL, "newer", payload));
		assertThat(approvals().inbox(InboxQuery.of(List.of(this.key.owner())), Page.first(10)))
			.extracting(ToolApproval::key)
			.containsExactly(this.key);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void decisionThatComesTooLateIsRefusedAndTheModelIsToldThatTheCallExpired(ClientSetup.Mode mode) {
		rules((rules) -> rules.expiresAfter(shortTime()));
		this.model.calls(cancel("c1", 1), look("c2", 2)).says("too late");
		ToolApproval shown = SessionAdvisor.pending(ask(mode, "q")).get(0);
		assertThat(shown.expiresAt()).isEqualTo(shown.requestedAt().plus(shortTime()));
		letExpire(shown);
		DecisionRefusedException refusal = catchThrowableOfType(DecisionRefusedException.class, () -> approve(shown));
		assertThat(refusal).hasMessageContaining("has expired, at " + shown.expiresAt());
		assertThat(refusal.status()).isEqualTo(ApprovalStatus.EXPIRED);
		assertThat(refusal.reason()).isEqualTo(Reason.EXPIRED);
		assertThat(pending()).isEmpty();
		assertThat(answer(mode)).isEqualTo("too late");
		assertThat(this.runs).containsExactly("look{\"id\":2}");
		assertThat(this.model.lastRequestLines())
			.endsWith("tool cancel=Nobody decided on this call in time, so it did not run. look=done {\"id\":2}");
		assertThat(ledger()).contains(ApprovalStatus.EXPIRED);
		assertThat(this.events).filteredOn(ApprovalEvent.Expired.class::isInstance)
			.singleElement()
			.satisfies((event) -> assertThat(event.approval().status()).isEqualTo(ApprovalStatus.EXPIRED));
	}

	@Test
	void callThatHasExpiredIsToldWhenItsTurnIsCancelled() {
		rules((rules) -> rules.expiresAfter(shortTime()));
		this.model.calls(cancel("c1", 1));
		letExpire(SessionAdvisor.pending(ask(ClientSetup.Mode.CALL, "q")).get(0));
		this.events.clear();
		approvals().cancel(this.key);
		assertThat(told()).containsExactly("Expired c1 EXPIRED");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void eventsTellWhatWasRequestedDecidedAndExecuted(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1), look("c2", 2), cancel("c3", 3)).says("done");
		ask(mode, "q");
		assertThat(told()).containsExactly("Requested c1 PROPOSED", "Requested c3 PROPOSED");
		approve(pending().get(0));
		reject(waiting());
		goOn(mode);
		assertThat(told().subList(2, told().size())).startsWith("Decided c1 APPROVED", "Decided c3 REJECTED")
			.contains("Executed c1 DONE")
			.noneMatch((event) -> event.startsWith("Executed c3"));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void decisionIsForOneCallAndTheNextOneAsksAgain(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1)).says("done").calls(cancel("c1", 1));
		ask(mode, "q1");
		approve(waiting());
		goOn(mode);
		assertThat(isPaused(ask(mode, "q2"))).isTrue();
		assertThat(this.runs).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void argumentsThatCannotBeReadReachTheToolOnceTheyAreApproved(ClientSetup.Mode mode) {
		this.model.calls(call("c1", "cancel", "{\"id\":")).says("done");
		ask(mode, "q");
		approve(waiting());
		goOn(mode);
		assertThat(this.runs).containsExactly("cancel{\"id\":");
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=done {\"id\":");
	}

}
