package io.sessionkit;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ChatResponse;

/**
 * The model has answered but the turn could not be stored. The thread is as it was before
 * the turn or, where the store's answer was lost, has the whole turn; committing the same
 * turn id again is safe.
 */
public final class CommitFailedException extends SessionException {

	private final transient @Nullable ChatResponse reply;

	public CommitFailedException(String message, @Nullable ChatResponse reply, @Nullable Throwable cause) {
		super(message, cause);
		this.reply = reply;
	}

	/**
	 * What the model answered.
	 * @return the reply; null after serialization
	 */
	public @Nullable ChatResponse reply() {
		return this.reply;
	}

}
