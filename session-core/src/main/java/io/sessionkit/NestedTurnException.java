package io.sessionkit;

import io.sessionkit.internal.Told;

/**
 * Thrown if a tool, hook or listener of a running turn makes a call that is not possible
 * from there: a call that would have to be stored in the same session, or in one whose
 * turn waits for it, a call with a tool that needs an approval, since nobody could be
 * asked, or one that moves the head of such a session or writes to it beside the turn.
 * The message names the session or both calls, and what to do.
 */
public final class NestedTurnException extends SessionException implements Told {

	/**
	 * Creates the exception.
	 * @param message a description of what was called where, and what to do
	 */
	public NestedTurnException(String message) {
		super(message, null);
	}

	@Override
	public String code() {
		return "nested-turn";
	}

}
