package io.sessionkit.internal.lease;

/**
 * The lease under which a tool of an open turn runs. For the approval package.
 */
public interface HeldLease {

	/**
	 * Returns the name of the holder of the lease.
	 * @return a name that no other holder has
	 */
	String holder();

	/**
	 * Returns whether the lease is certainly still held. It is if it was taken or renewed
	 * less than its lifetime ago, both by the monotonic clock, which cannot be set, and
	 * by the wall clock. A process that was suspended notices it here.
	 * @return false if another process may be working on the turn by now
	 */
	boolean isHeld();

}
