package io.sessionkit.internal.turn;

/**
 * The lease under which a tool of an open turn runs. For the package of approvals.
 */
public interface HeldLease {

	/**
	 * Returns who has it.
	 * @return a name that nobody else has
	 */
	String holder();

	/**
	 * Returns whether it is surely still held: it was taken or renewed less than its life
	 * ago, by a clock that nobody sets and by the one that people set. A process that was
	 * stopped sees here that it was.
	 * @return false if another process may work on the turn by now
	 */
	boolean isHeld();

}
