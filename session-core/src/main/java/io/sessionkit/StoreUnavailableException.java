package io.sessionkit;

import org.jspecify.annotations.Nullable;

/**
 * The store could not be reached or did not answer. Whether a write took place is unknown
 * only where the message says so.
 */
public final class StoreUnavailableException extends SessionException {

	public StoreUnavailableException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
