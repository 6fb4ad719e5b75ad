package io.sessionkit.approval;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonValue;

/**
 * The status of a tool call that needs an approval.
 *
 * <pre>
 * PROPOSED ─► APPROVED ─► CLAIMED ─► DONE
 *    │           │           └─► UNCERTAIN ─► APPROVED, DONE, REJECTED
 *    │           └─► REJECTED, DENIED, CANCELLED
 *    └─► REJECTED, DENIED, CANCELLED, EXPIRED
 * </pre>
 *
 * An approved call becomes denied if a policy denies the arguments that a person has
 * changed, cancelled if its turn ends first, and rejected if it takes an effect back and
 * a person has withdrawn the approval.
 */
public enum ApprovalStatus {

	/** The call waits for a person. */
	PROPOSED,

	/** The call may run, and has not started. */
	APPROVED,

	/** A process is about to run the call, or is running it. */
	CLAIMED,

	/**
	 * The call has run, and its result is stored; or a person has given the result
	 * instead.
	 */
	DONE,

	/** A person has rejected the call. It does not run, or not again. */
	REJECTED,

	/** A policy has denied the call. It does not run. */
	DENIED,

	/** The turn continues or ends without the call. It does not run, or not again. */
	CANCELLED,

	/** Nobody has decided in time. The call does not run. */
	EXPIRED,

	/**
	 * The process that claimed the call has ended without storing a result, or the tool
	 * of a call that takes an effect back threw. The call may have run or not. It is
	 * never run again unless a person decides so, which is no longer possible once the
	 * turn in which a model has made the call is over.
	 */
	UNCERTAIN;

	/**
	 * Returns whether a person has to decide.
	 * @return true for {@link #PROPOSED} and {@link #UNCERTAIN}
	 */
	public boolean isPending() {
		return this == PROPOSED || this == UNCERTAIN;
	}

	/**
	 * Returns whether the status is final.
	 * @return true for all but {@link #PROPOSED}, {@link #APPROVED}, {@link #CLAIMED} and
	 * {@link #UNCERTAIN}
	 */
	public boolean isOver() {
		return !isPending() && this != APPROVED && this != CLAIMED;
	}

	/**
	 * Returns the status as it is written: in JSON, such as that of events, and in
	 * problem details.
	 * @return the name in lower case, with hyphens between words
	 */
	@JsonValue
	public String code() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
