package io.sessionkit.codec;

import io.sessionkit.SessionException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a stored payload cannot be read. Nothing was changed or deleted.
 */
public final class UnreadablePayloadException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of the payload that cannot be read
	 * @param cause the failure of the codec; null if there is none
	 */
	public UnreadablePayloadException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

	@Override
	public String code() {
		return "unreadable-payload";
	}

}
