package io.sessionkit.store;

import io.sessionkit.SessionException;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ChatResponse;

/**
 * Thrown if the end of a turn could not be stored, in most cases with the answer of the
 * model; the end of a turn that is cancelled has none. The session is as it was before
 * the end, or has the whole turn if only the store's answer was lost. A turn of which a
 * part was stored before is still open then, and a call without a message continues it.
 * Committing the same turn id again is safe.
 */
public final class CommitFailedException extends SessionException {

	private final transient @Nullable ChatResponse reply;

	private final boolean unwritten;

	/**
	 * Creates the exception.
	 * @param message a description of what happened and what to do
	 * @param reply the model's answer; null if there is none
	 * @param cause the failure of the store; null if there is none
	 */
	public CommitFailedException(String message, @Nullable ChatResponse reply, @Nullable Throwable cause) {
		this(message, reply, cause, false);
	}

	private CommitFailedException(String message, @Nullable ChatResponse reply, @Nullable Throwable cause,
			boolean unwritten) {
		super(message, cause);
		this.reply = reply;
		this.unwritten = unwritten;
	}

	@Override
	public String code() {
		return "not-stored";
	}

	/**
	 * Creates the exception of a turn whose end the store has certainly not written.
	 * @param message a description of what happened and what to do
	 * @param reply the model's answer; null if there is none
	 * @param cause the failure of the store; null if there is none
	 * @return the exception
	 */
	public static CommitFailedException unwritten(String message, @Nullable ChatResponse reply,
			@Nullable Throwable cause) {
		return new CommitFailedException(message, reply, cause, true);
	}

	/**
	 * Returns whether it is known that the session is as it was before the end, with the
	 * open turn if a part of it was stored by then.
	 * @return false if the store may have all of the turn
	 */
	public boolean isUnwritten() {
		return this.unwritten;
	}

	/**
	 * Returns the model's answer.
	 * @return the reply; null if there is none, and after serialization
	 */
	public @Nullable ChatResponse reply() {
		return this.reply;
	}

}
