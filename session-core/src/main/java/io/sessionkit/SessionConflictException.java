package io.sessionkit;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ChatResponse;

/**
 * Thrown if another call wrote to the session first. The session has what that has done:
 * a turn, a move to another place of the history, a deletion, other attributes. A call
 * that has lost its place in line gets it too, whether or not anybody has written. If a
 * turn was to be stored, it is kept beside the history, or stays open if a part of it is
 * stored. If the other writer did not let go of the session, nothing more of the turn is
 * stored; the message says so. Call again to continue from the present state.
 */
public final class SessionConflictException extends SessionException {

	private final transient @Nullable ChatResponse reply;

	/**
	 * Creates the exception.
	 * @param message a description of the conflict and what to do
	 * @param reply the model's answer; null if there is none
	 */
	public SessionConflictException(String message, @Nullable ChatResponse reply) {
		super(message, null);
		this.reply = reply;
	}

	@Override
	public String code() {
		return "conflict";
	}

	/**
	 * Returns the model's answer, if the turn had come to its end. One that was to wait,
	 * or whose tools were to run, is not there.
	 * @return the reply; null if there is none, and after serialization
	 */
	public @Nullable ChatResponse reply() {
		return this.reply;
	}

}
