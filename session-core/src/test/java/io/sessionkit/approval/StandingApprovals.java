package io.sessionkit.approval;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.StandingDecision.Scope;
import io.sessionkit.internal.ledger.StandingDecisions;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.test.ClientSetup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.model.ChatResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Decisions on calls to come: for which of them they count, and what outranks them.
 */
abstract class StandingApprovals extends DecidedApprovals {

	private static final Decision YES = Decision.approve("anna");

	private static final Decision NO = Decision.reject("bob", "never");

	/** One turn with this call, decided so, and another with the next. */
	private ChatResponse decideThenAsk(ClientSetup.Mode mode, Decision decision, String first, String next) {
		this.model.calls(call("c1", "cancel", first)).says("a1");
		ask(mode, "q1");
		approvals().decide(waiting(), decision);
		goOn(mode);
		this.runs.clear();
		this.model.calls(call("c2", "cancel", next)).says("a2");
		return ask(mode, "q2");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void approvalOfAToolCountsForAllItsCallsInTheSession(ClientSetup.Mode mode) {
		ChatResponse response = decideThenAsk(mode, YES.always(Scope.TOOL), "{\"id\":1}", "{\"id\":2}");
		assertThat(status(response)).isEqualTo(TurnStatus.COMPLETED);
		assertResultIsWhole(response);
		assertThat(this.runs).containsExactly("cancel{\"id\":2}");
		ToolApproval second = approvals().ledger(this.key).get(1);
		assertThat(second.status()).isEqualTo(ApprovalStatus.DONE);
		assertThat(second.decision().by()).isEqualTo("anna");
		StandingDecision standing = approvals().standingDecisions(this.key).get(0);
		assertThat(second.decision().standing()).isEqualTo(standing.id());
		assertThat(standing.tool()).isEqualTo("cancel");
		assertThat(standing.digest()).isNull();
		assertThat(standing.approved()).isTrue();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void rejectionOfAToolKeepsItsReasonForCallsToCome(ClientSetup.Mode mode) {
		ChatResponse response = decideThenAsk(mode, NO.always(Scope.TOOL), "{\"id\":1}", "{\"id\":2}");
		assertThat(status(response)).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).isEmpty();
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=never");
		assertThat(ledger()).containsExactly(ApprovalStatus.REJECTED, ApprovalStatus.REJECTED);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void approvalOfExactArgumentsHoldsWhateverTheirOrderAndWhiteSpace(ClientSetup.Mode mode) {
		ChatResponse response = decideThenAsk(mode, YES.always(Scope.ARGUMENTS), "{\"id\":1,\"note\":\"x\"}",
				"{ \"note\" : \"\\u0078\",\n \"id\" : 1 }");
		assertThat(status(response)).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void approvalOfExactArgumentsAsksForOthersAndNullIsNotAbsent(ClientSetup.Mode mode) {
		assertThat(isPaused(decideThenAsk(mode, YES.always(Scope.ARGUMENTS), "{\"id\":1}", "{\"id\":1,\"note\":null}")))
			.isTrue();
		assertThat(this.runs).isEmpty();
		reject(waiting());
		goOn(mode);
		this.model.calls(call("c3", "cancel", "{\"id\":2}"));
		assertThat(isPaused(ask(mode, "q3"))).isTrue();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void rejectionOfExactArgumentsAnswersTheseAndAsksForOthers(ClientSetup.Mode mode) {
		decideThenAsk(mode, NO.always(Scope.ARGUMENTS), "{\"id\":1}", "{\"id\":1}");
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=never");
		this.model.calls(call("c3", "cancel", "{\"id\":2}"));
		assertThat(isPaused(ask(mode, "q3"))).isTrue();
		assertThat(this.runs).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void newerOfTwoOppositeDecisionsCounts(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1), cancel("c2", 2)).says("a1");
		ask(mode, "q1");
		approvals().decide(pending().get(0), YES.always(Scope.TOOL));
		approvals().decide(waiting(), NO.always(Scope.ARGUMENTS));
		goOn(mode);
		this.runs.clear();
		this.model.calls(cancel("c3", 2), cancel("c4", 3)).says("a2");
		ask(mode, "q2");
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=never cancel=done {\"id\":3}");
		assertThat(this.runs).containsExactly("cancel{\"id\":3}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void newerDecisionOnTheSameToolTakesThePlaceOfTheOlder(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1), cancel("c2", 2)).says("a1");
		ask(mode, "q1");
		approvals().decide(pending().get(0), NO.always(Scope.TOOL));
		approvals().decide(waiting(), YES.always(Scope.TOOL));
		goOn(mode);
		assertThat(approvals().standingDecisions(this.key)).singleElement().matches(StandingDecision::approved);
		this.model.calls(cancel("c3", 3)).says("a2");
		ask(mode, "q2");
		assertThat(this.runs).containsExactly("cancel{\"id\":2}", "cancel{\"id\":3}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void decisionOnOneCallOutranksAStandingOne(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1), cancel("c2", 2), cancel("c3", 3)).says("a1");
		ask(mode, "q1");
		List<ToolApproval> pending = pending();
		approvals().decide(pending.get(1), Decision.reject("bob", "not this one"));
		approvals().decide(pending.get(0), YES.always(Scope.TOOL));
		goOn(mode);
		assertThat(this.runs).containsExactly("cancel{\"id\":1}", "cancel{\"id\":3}");
		assertThat(this.model.lastRequestLines())
			.endsWith("tool cancel=done {\"id\":1} cancel=not this one cancel=done {\"id\":3}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void approvalOfOneCallOutranksAStandingRejection(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1), cancel("c2", 2), cancel("c3", 3)).says("a1");
		ask(mode, "q1");
		List<ToolApproval> pending = pending();
		approvals().decide(pending.get(0), NO.always(Scope.TOOL));
		approve(pending.get(1));
		this.events.clear();
		goOn(mode);
		assertThat(this.runs).containsExactly("cancel{\"id\":2}");
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=never cancel=done {\"id\":2} cancel=never");
		assertThat(told()).containsExactly("Decided c3 REJECTED", "Executed c2 DONE");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void revokedDecisionDecidesNoMore(ClientSetup.Mode mode) {
		decideThenAsk(mode, YES.always(Scope.TOOL), "{\"id\":1}", "{\"id\":2}");
		StandingDecision standing = approvals().standingDecisions(this.key).get(0);
		assertThat(approvals().revoke(standing)).isTrue();
		assertThat(approvals().revoke(standing)).isFalse();
		assertThat(approvals().standingDecisions(this.key)).isEmpty();
		this.model.calls(cancel("c3", 3));
		assertThat(isPaused(ask(mode, "q3"))).isTrue();
	}

	/** It has the same id, since it is about the same calls. */
	@Test
	void decisionThatHasReplacedTheOneThatWasShownIsNotRevoked() {
		this.model.calls(cancel("c1", 1), cancel("c2", 2));
		ask(ClientSetup.Mode.CALL, "q");
		List<ToolApproval> waiting = pending();
		approvals().decide(waiting.get(0), YES.always(Scope.TOOL));
		StandingDecision shown = approvals().standingDecisions(this.key).get(0);
		approvals().decide(waiting.get(1), NO.always(Scope.TOOL));
		assertThat(approvals().revoke(shown)).isFalse();
		assertThat(approvals().standingDecisions(this.key)).extracting(StandingDecision::by).containsExactly("bob");
		assertThat(approvals().revoke(approvals().standingDecisions(this.key).get(0))).isTrue();
	}

	/** Otherwise the turn would stay open, and no call could offer the tool. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void inventedToolBesideACallThatAStandingApprovalLetsRunEndsTheTurn(ClientSetup.Mode mode) {
		decideThenAsk(mode, YES.always(Scope.TOOL), "{\"id\":1}", "{\"id\":2}");
		this.runs.clear();
		this.model.calls(cancel("c3", 3), call("c4", "invented", "{}")).says("a4");
		assertThatExceptionOfType(UnknownToolException.class).isThrownBy(() -> ask(mode, "q3"))
			.withMessageContaining("'invented'");
		assertThat(this.runs).isEmpty();
		assertThat(status(ask(mode, "q4"))).isEqualTo(TurnStatus.COMPLETED);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void standingDecisionCountsForNoOtherToolOfTheName(ClientSetup.Mode mode) {
		decideThenAsk(mode, YES.always(Scope.TOOL), "{\"id\":1}", "{\"id\":2}");
		this.runs.clear();
		tools(tool("cancel").described("changes them for good"), tool("look"));
		this.model.calls(cancel("c3", 3)).says("a3");
		assertThat(isPaused(ask(mode, "q3"))).isTrue();
		assertThat(this.runs).isEmpty();
		approvals().decide(waiting(), YES.always(Scope.TOOL));
		goOn(mode);
		this.model.calls(cancel("c4", 4)).says("a4");
		assertThat(isPaused(ask(mode, "q4"))).isFalse();
		assertThat(approvals().standingDecisions(this.key)).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void standingDecisionOnArgumentsCountsForNoOtherToolOfTheName(ClientSetup.Mode mode) {
		decideThenAsk(mode, YES.always(Scope.ARGUMENTS), "{\"id\":1}", "{\"id\":1}");
		tools(tool("cancel").taking("{\"type\":\"object\"}"), tool("look"));
		this.model.calls(cancel("c3", 1));
		assertThat(isPaused(ask(mode, "q3"))).isTrue();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void standingDecisionCountsForNoOtherVersion(ClientSetup.Mode mode) {
		rules((rules) -> rules.version("prompt-3"));
		decideThenAsk(mode, YES.always(Scope.TOOL), "{\"id\":1}", "{\"id\":2}");
		assertThat(this.runs).hasSize(1);
		rules((rules) -> rules.version("prompt-4"));
		this.model.calls(cancel("c3", 3));
		assertThat(isPaused(ask(mode, "q3"))).isTrue();
	}

	/** Nobody has consented to whatever has the name. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void standingDecisionThatNamesNoToolButByItsNameLetsNothingRun(ClientSetup.Mode mode) {
		decideThenAsk(mode, YES.always(Scope.TOOL), "{\"id\":1}", "{\"id\":2}");
		Map<String, Object> values = Map.of("version", 2, "tool", "cancel", "approved", true, "by", "anna", "at",
				Instant.EPOCH);
		String id = approvals().standingDecisions(this.key).get(0).id();
		store().put(this.key,
				RecordWrite.put(StandingDecisions.KIND, id, store().options().codec().encodeValues(this.key, values)));
		this.runs.clear();
		this.model.calls(cancel("c3", 3)).says("a3");
		assertThat(isPaused(ask(mode, "q3"))).isTrue();
		assertThat(this.runs).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void standingDecisionCountsInItsSessionAndForItsToolOnly(ClientSetup.Mode mode) {
		rules((rules) -> rules.tools(Set.of("cancel", "look")));
		decideThenAsk(mode, YES.always(Scope.TOOL), "{\"id\":1}", "{\"id\":2}");
		this.model.calls(look("c3", 3));
		assertThat(isPaused(ask(mode, "q3"))).isTrue();
		this.model.calls(cancel("c4", 4));
		SessionKey other = SessionKey.of(this.key.owner(), "another");
		assertThat(isPaused(setup(mode)
			.response(client(setup(mode)).build().prompt().user("q").advisors(SessionAdvisor.session(other)))))
			.isTrue();
		assertThat(approvals().standingDecisions(other)).isEmpty();
	}

}
