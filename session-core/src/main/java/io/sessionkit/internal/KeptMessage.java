package io.sessionkit.internal;

import org.jspecify.annotations.Nullable;

/**
 * Says, as a suppressed exception, that a message of the call that ends with another
 * exception is kept: whoever asks again would have it twice in the history. So an
 * exception of a hook, a merge or a model can say it too, and stays what it is. An
 * exception may end more than one call, each made inside of the one before: what was said
 * last counts. Nothing has thrown it, so it has no stack trace.
 */
public final class KeptMessage extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private static final int DEEPEST_CAUSE = 20;

	/** Names the session of the call. */
	private final transient Object session;

	private final boolean kept;

	private KeptMessage(Object session, boolean kept, String message) {
		super(message, null, false, false);
		this.session = session;
		this.kept = kept;
	}

	/**
	 * Says of an exception that a message of its call is kept.
	 * @param thrown the exception
	 * @param session names the session of the call
	 * @param message where it is kept, and what to do
	 */
	public static void tell(Throwable thrown, Object session, String message) {
		Thrown.cause(thrown).addSuppressed(new KeptMessage(session, true, message));
	}

	/**
	 * Says of an exception that a message of its call is kept, unless that is said of it.
	 * @param thrown the exception
	 * @param session names the session of the call
	 * @return the exception
	 */
	public static <T extends Throwable> T with(T thrown, Object session) {
		KeptMessage last = last(Thrown.cause(thrown));
		if (last == null || !last.kept || !session.equals(last.session)) {
			tell(thrown, session, "A message of this call is kept. Do not send it again.");
		}
		return thrown;
	}

	/**
	 * Takes back what calls on other sessions have said of an exception and its causes,
	 * since a call ends with it inside of which they were made.
	 * @param thrown the exception
	 * @param session names the session of the call that ends
	 */
	public static void takeBackOfOthers(Throwable thrown, Object session) {
		Throwable each = thrown;
		for (int depth = 0; each != null && depth < DEEPEST_CAUSE; depth++) {
			KeptMessage last = last(each);
			if (last != null && last.kept && !session.equals(last.session)) {
				each.addSuppressed(new KeptMessage(session, false,
						"The message that is kept is not of this call, but of one that was made inside of it."));
			}
			each = each.getCause();
		}
	}

	/** Returns whether it is said of an exception, whatever carries that. */
	public static boolean isSaidBy(Throwable thrown) {
		KeptMessage last = last(Thrown.cause(thrown));
		return last != null && last.kept;
	}

	private static @Nullable KeptMessage last(Throwable thrown) {
		KeptMessage last = null;
		for (Throwable suppressed : thrown.getSuppressed()) {
			last = (suppressed instanceof KeptMessage said) ? said : last;
		}
		return last;
	}

}
