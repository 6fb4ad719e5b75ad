package io.sessionkit.hook;

import java.util.Objects;

import io.sessionkit.SessionException;
import io.sessionkit.Verdict;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a hook failed on a reply or on the messages to be stored of a turn: the hook
 * threw, or returned something that is not allowed there. This is a fault of the hook and
 * not a refusal, so the turn is FAILED and not REFUSED. The reply is withheld, since the
 * hook has not let it pass. A turn that is already stored in part stays open and can be
 * continued.
 * <p>
 * The exception that the hook threw may quote the reply. The cause is therefore a copy
 * without any message: it has the class names and stack traces of that exception and of
 * its causes.
 */
public final class HookFailedException extends SessionException {

	private static final int DEEPEST_CAUSE = 20;

	private final String hook;

	private final Verdict.Phase phase;

	private final String failure;

	/**
	 * Creates the exception.
	 * @param message a description of what happened, without texts of messages
	 * @param verdict the verdict that is kept with the turn; it must have a reason
	 * @param thrown the exception that the hook threw; null if the hook returned
	 * something that is not allowed
	 */
	public HookFailedException(String message, Verdict verdict, @Nullable Throwable thrown) {
		super(message, (thrown != null) ? MutedCause.of(thrown, DEEPEST_CAUSE) : null);
		this.hook = verdict.hook();
		this.phase = verdict.phase();
		this.failure = Objects.requireNonNull(verdict.reason(), "the verdict must have a reason");
	}

	@Override
	public String code() {
		return "hook-failed";
	}

	/**
	 * Returns the name of the hook that failed.
	 * @return the name
	 */
	public String hook() {
		return this.hook;
	}

	/**
	 * Returns the phase of the turn in which the hook failed.
	 * @return the phase
	 */
	public Verdict.Phase phase() {
		return this.phase;
	}

	/**
	 * Returns how the hook failed.
	 * @return the class name of what it threw, or a description of what was wrong with
	 * what it returned
	 */
	public String failure() {
		return this.failure;
	}

	/**
	 * A copy of an exception that was thrown, without its message.
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
