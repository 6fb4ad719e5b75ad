package io.sessionkit;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * A hook failed on a reply or on what is to be kept of a turn: it threw, or returned what
 * is not allowed there. This is a fault of the hook and no refusal, so the turn is FAILED
 * and not REFUSED. The reply is withheld all the same, since nobody has let it pass; a
 * turn of which a part is stored stays open and can be continued.
 * <p>
 * What the hook threw may quote the reply. So the cause is a copy of it without any
 * message: it has the class names and stack traces of what was thrown and of its causes.
 */
public final class HookFailedException extends SessionException {

	private static final int DEEPEST_CAUSE = 20;

	private final String hook;

	private final Verdict.Phase phase;

	private final String failure;

	/**
	 * A failure.
	 * @param message what happened, without texts of messages
	 * @param verdict the verdict that is kept with the turn
	 * @param thrown what the hook threw; null if it returned what is not allowed
	 */
	public HookFailedException(String message, Verdict verdict, @Nullable Throwable thrown) {
		super(message, (thrown != null) ? MutedCause.of(thrown, DEEPEST_CAUSE) : null);
		this.hook = verdict.hook();
		this.phase = verdict.phase();
		this.failure = Objects.requireNonNull(verdict.reason(), "the verdict must have a reason");
	}

	/**
	 * Returns which hook failed.
	 * @return its name
	 */
	public String hook() {
		return this.hook;
	}

	/**
	 * Returns where in the turn it failed.
	 * @return the phase
	 */
	public Verdict.Phase phase() {
		return this.phase;
	}

	/**
	 * Returns how it failed.
	 * @return the class name of what it threw, or what was wrong with what it returned
	 */
	public String failure() {
		return this.failure;
	}

	/**
	 * An exception that was thrown, without its message.
	 */
	private static final class MutedCause extends RuntimeException {

		private MutedCause(String type, @Nullable Throwable cause) {
			super(type + ", whose message is left out since it may quote a reply", cause, false, true);
		}

		static MutedCause of(Throwable thrown, int depth) {
			Throwable next = thrown.getCause();
			MutedCause cause = new MutedCause(thrown.getClass().getName(),
					(next != null && depth > 0) ? of(next, depth - 1) : null);
			cause.setStackTrace(thrown.getStackTrace());
			return cause;
		}

	}

}
