package io.sessionkit.internal.ledger;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.StandingDecision;
import io.sessionkit.approval.StandingDecision.Scope;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

class StandingDecisionsTests {

	private static final SessionKey KEY = SessionKey.of("owner", "thread");

	private static final MessageCodec CODEC = JsonMessageCodec.create();

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(CODEC));

	private final StandingDecisions standing = new StandingDecisions(this.store);

	@BeforeEach
	void session() {
		this.store.add(KEY, List.of(new UserMessage("question")));
	}

	/** It would count for whatever has the name. */
	@ParameterizedTest
	@EnumSource(Scope.class)
	void decisionOnACallWhoseToolWasNotOfferedIsKeptForNoOther(Scope scope) {
		this.standing.keep(call(null), Decision.approve("anna").always(scope));
		assertThat(this.standing.of(KEY)).isEmpty();
	}

	@Test
	void decisionCountsForTheToolThatWasShownAlone() {
		this.standing.keep(call("shown"), Decision.approve("anna").always(Scope.TOOL));
		assertThat(this.standing.of(KEY)).singleElement()
			.matches((decision) -> StandingDecisions.covers(decision, call("shown")))
			.matches((decision) -> !StandingDecisions.covers(decision, call("another")))
			.matches((decision) -> !StandingDecisions.covers(decision, call(null)));
	}

	/** Builds before the first release stored such decisions. */
	@Test
	void decisionThatIsStoredWithoutADigestCountsForNoCallAndCanBeRevoked() {
		this.standing.keep(call("shown"), Decision.approve("anna").always(Scope.TOOL));
		SessionRecord record = this.store.records(KEY, StandingDecisions.KIND).get(0);
		Map<String, Object> values = new HashMap<>(CODEC.decodeValues(KEY, record.payload()));
		values.remove("toolDigest");
		this.store.put(KEY, RecordWrite.put(StandingDecisions.KIND, record.id(), CODEC.encodeValues(KEY, values)));
		StandingDecision stored = this.standing.of(KEY).get(0);
		assertThat(stored).matches((decision) -> !StandingDecisions.covers(decision, call("shown")))
			.matches((decision) -> !StandingDecisions.covers(decision, call(null)));
		assertThat(this.standing.revoke(KEY, stored, (decision) -> true)).isTrue();
		assertThat(this.standing.of(KEY)).isEmpty();
	}

	private static ToolApproval call(@Nullable String toolDigest) {
		return new ToolApproval(KEY, "call", new ToolApproval.Origin("turn", 1, 0, null),
				new ToolApproval.Call("c1", "cancel", "{}", "digest", 1),
				new ToolApproval.Request(null, Instant.EPOCH, null,
						new ToolApproval.Requirements(toolDigest, null, null, null)),
				new ToolApproval.Progress(ApprovalStatus.PROPOSED, List.of(), null, null));
	}

}
