package io.sessionkit.internal.ledger;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.approval.ToolApproval.Progress;
import io.sessionkit.internal.attribute.AttributeChange;
import org.jspecify.annotations.Nullable;

/**
 * A tool call as it stands in the ledger.
 *
 * @param approval the call
 * @param holder the holder of the lease under which the call was claimed; null if it was
 * not claimed
 * @param result the result of the tool, or the answer of a person; null if there is none
 * @param failed whether the result is the message of an exception from the tool
 * @param attributes the changes that the tool has made to the attributes of the session
 * @param revision the revision of its record; 0 if it has none
 */
public record LedgerEntry(ToolApproval approval, @Nullable String holder, @Nullable String result, boolean failed,
		AttributeChange attributes, long revision) {

	/**
	 * Returns the status with which a call begins.
	 */
	public static ApprovalStatus status(Ruling ruling) {
		return switch (ruling.kind()) {
			case ALLOW -> ApprovalStatus.APPROVED;
			case ASK -> ApprovalStatus.PROPOSED;
			case DENY -> ApprovalStatus.DENIED;
		};
	}

	public static LedgerEntry requested(ToolApproval approval) {
		return new LedgerEntry(approval, null, null, false, AttributeChange.NONE, 0);
	}

	public ApprovalStatus status() {
		return this.approval.status();
	}

	/**
	 * Returns whether the call may run although nobody has decided on it or needs to.
	 */
	public boolean isAllowed() {
		return status() == ApprovalStatus.APPROVED && this.approval.decision() == null;
	}

	public LedgerEntry with(ApprovalStatus status) {
		Progress now = this.approval.progress();
		return with(new Progress(status, now.decisions(), now.claimedAt(), now.endedAt()));
	}

	public LedgerEntry decided(ApprovalStatus status, ToolApproval.Decided decision) {
		Progress now = this.approval.progress();
		List<ToolApproval.Decided> all = new ArrayList<>(now.decisions());
		all.add(decision);
		return with(new Progress(status, all, now.claimedAt(), now.endedAt()));
	}

	/**
	 * Returns the call as one that the holder of a lease is about to run.
	 */
	public LedgerEntry claimed(Instant at, String holder) {
		Progress claimed = new Progress(ApprovalStatus.CLAIMED, this.approval.decisions(), at, null);
		return new LedgerEntry(this.approval.with(claimed), holder, null, false, AttributeChange.NONE, this.revision);
	}

	/**
	 * Returns the call as one whose result is known.
	 */
	public LedgerEntry ended(Instant at, String result, boolean failed) {
		Progress now = this.approval.progress();
		Progress ended = new Progress(ApprovalStatus.DONE, now.decisions(), now.claimedAt(), at);
		return new LedgerEntry(this.approval.with(ended), this.holder, result, failed, this.attributes, this.revision);
	}

	/**
	 * Returns the call with the changes that its tool has made to the attributes.
	 */
	public LedgerEntry attributes(AttributeChange changes) {
		return new LedgerEntry(this.approval, this.holder, this.result, this.failed, changes, this.revision);
	}

	/**
	 * Returns the call as one whose tool threw an exception, so that nobody knows what it
	 * has done.
	 */
	public LedgerEntry failed(Instant at, String message) {
		Progress now = this.approval.progress();
		Progress failed = new Progress(ApprovalStatus.UNCERTAIN, now.decisions(), now.claimedAt(), at);
		return new LedgerEntry(this.approval.with(failed), this.holder, message, true, this.attributes, this.revision);
	}

	private LedgerEntry with(Progress progress) {
		return new LedgerEntry(this.approval.with(progress), this.holder, this.result, this.failed, this.attributes,
				this.revision);
	}

	@Override
	public String toString() {
		return "LedgerEntry[" + this.approval + ", revision " + this.revision + "]";
	}

	public LedgerEntry revision(long revision) {
		return new LedgerEntry(this.approval, this.holder, this.result, this.failed, this.attributes, revision);
	}

}
