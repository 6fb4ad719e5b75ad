package io.sessionkit;

/**
 * Thrown if a tool, hook or listener of a running turn makes a call that is not possible
 * from there: a call that would have to be stored in the same session, or in one whose
 * turn waits for it, or a call with a tool that needs an approval, since nobody could be
 * asked. The message names both calls.
 */
public final class NestedTurnException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of the two calls and what to do
	 */
	public NestedTurnException(String message) {
		super(message, null);
	}

}
