package io.sessionkit.approval;

/**
 * Where a tool call that needs an approval has come to.
 *
 * <pre>
 * PROPOSED ─► APPROVED ─► CLAIMED ─► DONE
 *    ├─► REJECTED, DENIED, CANCELLED
 *    ├─► EXPIRED
 *    └─► CLAIMED, and whoever claimed it is gone ─► UNCERTAIN ─► APPROVED, DONE, REJECTED
 * </pre>
 */
public enum ApprovalStatus {

	/** It waits for a person. */
	PROPOSED,

	/** It may run, and has not begun to. */
	APPROVED,

	/** A process is about to run it, or runs it. */
	CLAIMED,

	/** It has run, and its result is stored; or a person has answered in its place. */
	DONE,

	/** A person has said no: it does not run. */
	REJECTED,

	/** A policy has said no: it does not run. */
	DENIED,

	/** The turn goes on without it: it does not run. */
	CANCELLED,

	/** Nobody has decided in time: it does not run. */
	EXPIRED,

	/**
	 * It was claimed, and whoever claimed it is gone without a result. It may have run or
	 * not; it is never run again unless a person says so.
	 */
	UNCERTAIN;

	/**
	 * Whether a person has to decide.
	 * @return true for {@link #PROPOSED} and {@link #UNCERTAIN}
	 */
	public boolean isPending() {
		return this == PROPOSED || this == UNCERTAIN;
	}

	/**
	 * Whether nothing changes any more.
	 * @return true for all but {@link #PROPOSED}, {@link #APPROVED}, {@link #CLAIMED} and
	 * {@link #UNCERTAIN}
	 */
	public boolean isOver() {
		return !isPending() && this != APPROVED && this != CLAIMED;
	}

}
