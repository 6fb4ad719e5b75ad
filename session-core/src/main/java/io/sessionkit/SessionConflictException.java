package io.sessionkit;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ChatResponse;

/**
 * Somebody else wrote to the session first. The history has the other's turn; this one is
 * kept beside it. Call again to continue from what is there now.
 */
public final class SessionConflictException extends SessionException {

	private final transient @Nullable ChatResponse reply;

	public SessionConflictException(String message, @Nullable ChatResponse reply) {
		super(message, null);
		this.reply = reply;
	}

	/**
	 * What the model answered, if the turn had come that far.
	 * @return the reply; null if there is none, and after serialization
	 */
	public @Nullable ChatResponse reply() {
		return this.reply;
	}

}
