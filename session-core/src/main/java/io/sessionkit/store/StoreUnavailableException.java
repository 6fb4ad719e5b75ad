package io.sessionkit.store;

import io.sessionkit.SessionException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if the store could not be reached, did not answer, or has refused what it was
 * asked, as a database does whose tables or rights are missing, or that only reads. The
 * message says which, and whether a write may have taken place. If a call on a session
 * ends with it, its message may be stored: read the session before it is sent again.
 */
public final class StoreUnavailableException extends SessionException {

	private final boolean unwritten;

	/**
	 * Creates the exception.
	 * @param message a description of what failed, and whether a write may have taken
	 * place
	 * @param cause the failure of the store; null if there is none
	 */
	public StoreUnavailableException(String message, @Nullable Throwable cause) {
		this(message, cause, false);
	}

	private StoreUnavailableException(String message, @Nullable Throwable cause, boolean unwritten) {
		super(message, cause);
		this.unwritten = unwritten;
	}

	@Override
	public String code() {
		return "store-unavailable";
	}

	/**
	 * Creates the exception of a write that the store has refused, so that nothing has
	 * changed.
	 * @param message a description of what failed
	 * @param cause the failure of the store; null if there is none
	 * @return the exception
	 */
	public static StoreUnavailableException unwritten(String message, @Nullable Throwable cause) {
		return new StoreUnavailableException(message, cause, true);
	}

	/**
	 * Returns whether the store has refused a write, so that it has changed nothing. An
	 * operation that makes several writes one after the other, as a fork with summaries
	 * does, may have made those before.
	 * @return false if a write may have taken place, or if the store was only read
	 */
	public boolean isUnwritten() {
		return this.unwritten;
	}

}
