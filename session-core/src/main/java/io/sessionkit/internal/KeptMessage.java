package io.sessionkit.internal;

/**
 * Says, as a suppressed exception, that a message of the call that ends with another
 * exception is kept: whoever asks again would have it twice in the history. So an
 * exception of a hook or a merge can say it too, and stays what it is. Nothing has thrown
 * it, so it has no stack trace.
 */
public final class KeptMessage extends RuntimeException {

	private KeptMessage(String message) {
		super(message, null, false, false);
	}

	/**
	 * Says of an exception that a message of its call is kept.
	 * @param thrown the exception
	 * @param message where it is kept, and what to do
	 */
	public static void tell(Throwable thrown, String message) {
		thrown.addSuppressed(new KeptMessage(message));
	}

	/**
	 * Says of an exception that a message of its call is kept, unless that is said of it.
	 * @param thrown the exception
	 * @return the exception
	 */
	public static <T extends Throwable> T with(T thrown) {
		if (!isSaidBy(thrown)) {
			tell(thrown, "A message of this call is kept. Do not send it again.");
		}
		return thrown;
	}

	/** Returns whether it is said of an exception. */
	public static boolean isSaidBy(Throwable thrown) {
		for (Throwable suppressed : thrown.getSuppressed()) {
			if (suppressed instanceof KeptMessage) {
				return true;
			}
		}
		return false;
	}

}
