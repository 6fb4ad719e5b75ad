package io.sessionkit;

/**
 * Thrown if a call has the idempotency key of an earlier call and cannot get its reply:
 * it asks something else, the earlier call has ended without a reply after a part of it
 * was stored, or its turn was deleted since. Nothing was run. Make a new request with a
 * key of its own.
 */
public final class IdempotencyKeyException extends SessionException {

	/**
	 * Creates the exception.
	 * @param message a description of what the earlier call was and what to do
	 */
	public IdempotencyKeyException(String message) {
		super(message, null);
	}

	@Override
	public String code() {
		return "idempotency-key";
	}

}
