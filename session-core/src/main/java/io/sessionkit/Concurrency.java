package io.sessionkit;

/**
 * The ways to treat a call on a session on which another call is working, in this process
 * or in another one. A call that is {@link #OPTIMISTIC} neither waits nor is waited for;
 * the other ways can be mixed.
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
	SERIALIZE,

	/**
	 * The messages of the later call join the turn of the call at work, before its next
	 * model call: they follow the results of its tools. Both calls get the reply of that
	 * turn. That needs a call at work that is {@code STEER} too and names the same agent.
	 * The messages must be user messages, and the call must name no place to begin at
	 * (such as a branch). System text, tools, options, listeners and hooks that the later
	 * call alone has are not used then; the hooks of all calls check its messages before
	 * they are stored, and those that the call at work alone has when they join.
	 * Otherwise, if that turn ends first, if it does not become history, or if a hook
	 * does not let the messages pass, the later call is treated as with
	 * {@link #SERIALIZE}.
	 */
	STEER

}
