package io.sessionkit.internal.approval;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.ToolApproval;
import org.jspecify.annotations.Nullable;

/**
 * A tool call as it stands in the ledger.
 *
 * @param approval the call
 * @param holder the holder of the lease under which the call was claimed; null if it was
 * not claimed
 * @param result the result of the tool, or the answer of a person; null if there is none
 * @param failed whether the result is the message of an exception from the tool
 * @param revision the revision of its record; 0 if it has none
 */
public record LedgerEntry(ToolApproval approval, @Nullable String holder, @Nullable String result, boolean failed,
		long revision) {

	static LedgerEntry requested(ToolApproval approval) {
		return new LedgerEntry(approval, null, null, false, 0);
	}

	ApprovalStatus status() {
		return this.approval.status();
	}

	LedgerEntry with(ApprovalStatus status) {
		ToolApproval call = this.approval;
		return with(changed(status, call.decisions(), call.claimedAt(), call.endedAt()));
	}

	LedgerEntry decided(ApprovalStatus status, ToolApproval.Decided decision) {
		List<ToolApproval.Decided> all = new ArrayList<>(this.approval.decisions());
		all.add(decision);
		return with(changed(status, all, this.approval.claimedAt(), this.approval.endedAt()));
	}

	/**
	 * Returns the call as one that the holder of a lease is about to run.
	 */
	LedgerEntry claimed(Instant at, String holder) {
		return new LedgerEntry(changed(ApprovalStatus.CLAIMED, this.approval.decisions(), at, null), holder, null,
				false, this.revision);
	}

	/**
	 * Returns the call as one whose result is known.
	 */
	LedgerEntry ended(Instant at, String result, boolean failed) {
		ToolApproval call = this.approval;
		return new LedgerEntry(changed(ApprovalStatus.DONE, call.decisions(), call.claimedAt(), at), this.holder,
				result, failed, this.revision);
	}

	private LedgerEntry with(ToolApproval approval) {
		return new LedgerEntry(approval, this.holder, this.result, this.failed, this.revision);
	}

	private ToolApproval changed(ApprovalStatus status, List<ToolApproval.Decided> decisions,
			@Nullable Instant claimedAt, @Nullable Instant endedAt) {
		ToolApproval call = this.approval;
		return new ToolApproval(call.key(), call.id(), call.turnId(), call.round(), call.index(), call.agent(),
				call.callId(), call.tool(), call.arguments(), call.digest(), call.description(), status,
				call.requestedAt(), call.expiresAt(), decisions, claimedAt, endedAt, call.requirements(), call.times());
	}

	@Override
	public String toString() {
		return "LedgerEntry[" + this.approval + ", revision " + this.revision + "]";
	}

	LedgerEntry revision(long revision) {
		return new LedgerEntry(this.approval, this.holder, this.result, this.failed, revision);
	}

}
