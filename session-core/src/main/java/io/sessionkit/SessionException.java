package io.sessionkit;

import io.sessionkit.internal.KeptMessage;
import org.jspecify.annotations.Nullable;

/**
 * The base class of the exceptions that SessionKit throws. The message says what was
 * wrong and what to do. It never contains the text of a chat message or a secret.
 */
public abstract class SessionException extends RuntimeException {

	/**
	 * Creates the exception.
	 * @param message a description of what was wrong and what to do
	 * @param cause the exception that caused it; null if there is none
	 */
	protected SessionException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

	/**
	 * Returns the name of what was wrong for a program: problem details have it, and the
	 * last event of a stream that has failed.
	 * @return the code, in lower case with hyphens; {@code session-error} unless a class
	 * has its own
	 */
	public String code() {
		return "session-error";
	}

	/**
	 * Returns whether a message of the call that has ended with this exception is known
	 * to be kept, with a turn that is open or in the history. It must not be sent again
	 * then: the model would get it twice. A call without a message continues the turn if
	 * it is open. Of a call inside a transaction of the caller, which may roll back, it
	 * is known only if the message was queued.
	 * @return false if it is not kept, and if that is not known; of no meaning if the
	 * call has no message
	 */
	public final boolean isMessageKept() {
		return KeptMessage.isSaidBy(this);
	}

	/**
	 * Returns whether a message of the call that has ended with an exception is known to
	 * be kept, like {@link #isMessageKept()}, whatever the exception is: a model or a
	 * hook that fails leaves a turn open too of which a part is stored.
	 * @param thrown the exception as the caller gets it, also inside of one that only
	 * carries it, as an {@link java.util.concurrent.ExecutionException} does
	 * @return false if it is not kept, and if that is not known; of no meaning if the
	 * call has no message
	 */
	public static boolean isMessageKept(Throwable thrown) {
		return KeptMessage.isSaidBy(thrown);
	}

}
