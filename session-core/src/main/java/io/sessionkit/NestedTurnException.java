package io.sessionkit;

/**
 * A tool or hook of a running turn made a call that cannot be made from there: one on the
 * same session, or one with a tool that needs an approval, for which nobody could be
 * asked. The message names both.
 */
public final class NestedTurnException extends SessionException {

	public NestedTurnException(String message) {
		super(message, null);
	}

}
