package io.sessionkit.internal.approval;

import io.sessionkit.approval.ToolApproval;
import io.sessionkit.approval.ApprovalStatus;
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

	LedgerEntry with(ToolApproval approval) {
		return new LedgerEntry(approval, this.holder, this.result, this.failed, this.revision);
	}

	LedgerEntry claimed(ToolApproval approval, String holder) {
		return new LedgerEntry(approval, holder, null, false, this.revision);
	}

	LedgerEntry ended(ToolApproval approval, String result, boolean failed) {
		return new LedgerEntry(approval, this.holder, result, failed, this.revision);
	}

	@Override
	public String toString() {
		return "LedgerEntry[" + this.approval + ", revision " + this.revision + "]";
	}

	LedgerEntry revision(long revision) {
		return new LedgerEntry(this.approval, this.holder, this.result, this.failed, revision);
	}

}
