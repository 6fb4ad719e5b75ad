package io.sessionkit.internal.ledger;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.StandingDecision;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.internal.argument.ToolArguments;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * The decisions on future calls, one record for each.
 */
public final class StandingDecisions {

	/** The kind of the records. */
	public static final String KIND = "standing";

	private final SessionStore store;

	public StandingDecisions(SessionStore store) {
		this.store = store;
	}

	/**
	 * Returns the decisions of a session, the oldest first.
	 */
	public List<StandingDecision> of(SessionKey key) {
		return this.store.records(key, KIND)
			.stream()
			.sorted(Comparator.comparing(SessionRecord::writtenAt))
			.map((record) -> decision(key, record))
			.toList();
	}

	/**
	 * Returns whether a decision counts for a call. One without a digest counts for every
	 * call of its tool.
	 */
	public static boolean covers(StandingDecision decision, ToolApproval call) {
		boolean named = (decision.digest() != null) ? decision.digest().equals(call.digest())
				: decision.tool().equals(call.tool());
		return named && isOfSameTool(decision, call.requirements());
	}

	/** The person who decided has seen one tool of the name, under one version. */
	private static boolean isOfSameTool(StandingDecision decision, ToolApproval.Requirements call) {
		return decision.calls().toolDigest().equals(call.toolDigest())
				&& Objects.equals(decision.calls().version(), call.version());
	}

	/**
	 * Stores a decision on a call for future calls, if it is meant for them. The name of
	 * a tool alone is no consent: without a digest no later tool would be the one that
	 * was decided on.
	 */
	public void keep(ToolApproval call, Decision decision) {
		String toolDigest = call.requirements().toolDigest();
		if (decision.always() == null || toolDigest == null) {
			return;
		}
		boolean exact = decision.always() == StandingDecision.Scope.ARGUMENTS;
		String id = ToolArguments.of(exact ? call.arguments() : "{}").digest((exact ? "call " : "tool ") + call.tool());
		write(new StandingDecision(call.key(), id,
				new StandingDecision.Calls(call.tool(), exact ? call.digest() : null, toolDigest,
						call.requirements().version()),
				new StandingDecision.Decided(decision.verb() == Decision.Verb.APPROVE, decision.text(), decision.by(),
						this.store.options().now())));
	}

	private void write(StandingDecision decision) {
		String payload = this.store.options().codec().encodeValues(decision.key(), LedgerForm.values(decision));
		this.store.put(decision.key(), RecordWrite.put(KIND, decision.id(), payload));
	}

	/**
	 * Revokes a decision, but none that has taken its place.
	 * @param shown the decision as it was read
	 * @param allowed returns whether the decision, as it is stored, may be revoked
	 * @return whether the session had the decision, and it may be revoked
	 */
	public boolean revoke(SessionKey key, StandingDecision shown, Predicate<StandingDecision> allowed) {
		for (SessionRecord record : this.store.records(key, KIND)) {
			StandingDecision stored = decision(key, record);
			if (isSame(stored, shown)) {
				return allowed.test(stored)
						&& this.store.put(key, new RecordWrite(KIND, record.id(), record.revision(), null, null));
			}
		}
		return false;
	}

	/** Another decision on the same calls has the same id. */
	private static boolean isSame(StandingDecision stored, StandingDecision shown) {
		return stored.id().equals(shown.id()) && stored.approved() == shown.approved() && stored.by().equals(shown.by())
				&& stored.at().equals(shown.at());
	}

	private StandingDecision decision(SessionKey key, SessionRecord record) {
		Map<String, @Nullable Object> values = this.store.options()
			.codec()
			.decodeValues(record.key(), record.payload());
		return LedgerForm.standing(key, record.id(), values);
	}

}
