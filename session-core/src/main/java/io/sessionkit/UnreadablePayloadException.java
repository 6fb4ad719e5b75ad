package io.sessionkit;

import org.jspecify.annotations.Nullable;

/**
 * A stored payload that cannot be read. Nothing was changed or deleted.
 */
public final class UnreadablePayloadException extends SessionException {

	public UnreadablePayloadException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
