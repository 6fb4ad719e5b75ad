package io.sessionkit.store;

import io.sessionkit.SessionException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if the store could not be reached or did not answer. If it is unknown whether a
 * write took place, the message says so.
 */
public final class StoreUnavailableException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of what failed, and whether a write may have taken
	 * place
	 * @param cause the failure of the store; null if there is none
	 */
	public StoreUnavailableException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
