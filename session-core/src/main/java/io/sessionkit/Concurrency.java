package io.sessionkit;

/**
 * The ways to treat a call on a session on which another call is working, in this process
 * or in another one. It holds between calls that say the same or {@link #REJECT} and
 * {@link #SERIALIZE}: a call that is {@link #OPTIMISTIC} neither waits nor is waited for.
 */
public enum Concurrency {

	/**
	 * Both calls ask the model, and the one that ends first becomes history. The other
	 * one throws a {@link SessionConflictException}, which has the answer.
	 */
	OPTIMISTIC,

	/**
	 * The later call throws a {@link TurnInProgressException} before the model is called.
	 */
	REJECT,

	/**
	 * The later call waits until all calls that arrived before it are done, and throws a
	 * {@link TurnInProgressException} if it has waited too long.
	 */
	SERIALIZE

}
