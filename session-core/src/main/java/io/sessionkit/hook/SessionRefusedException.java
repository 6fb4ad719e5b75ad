package io.sessionkit.hook;

import java.util.Objects;

import io.sessionkit.SessionException;
import io.sessionkit.Verdict;

/**
 * Thrown if a hook refused the input, the request or the reply of a turn. Neither the
 * message nor a cause contains what was refused. The turn is kept beside the history,
 * with the verdict, if its call is one that is stored. A message for a turn that waits is
 * not kept if a hook refuses it before it is queued. If one that is queued is refused
 * when the turn is to continue, all of them stay in that turn, which stays open; if the
 * call has brought one of them, the text of this exception says so. If a hook fails on a
 * reply instead of refusing it, a {@link HookFailedException} is thrown.
 */
public final class SessionRefusedException extends SessionException {

	private final String hook;

	private final Verdict.Phase phase;

	private final String reason;

	/**
	 * Creates the exception.
	 * @param message a description of what was refused, without texts of messages
	 * @param verdict the verdict of the hook; it must have a reason
	 */
	public SessionRefusedException(String message, Verdict verdict) {
		super(message, null);
		this.hook = verdict.hook();
		this.phase = verdict.phase();
		this.reason = Objects.requireNonNull(verdict.reason(), "the verdict must have a reason");
	}

	@Override
	public String code() {
		return "refused";
	}

	/**
	 * Returns the name of the hook that refused.
	 * @return the name
	 */
	public String hook() {
		return this.hook;
	}

	/**
	 * Returns the phase of the turn in which the hook refused.
	 * @return the phase
	 */
	public Verdict.Phase phase() {
		return this.phase;
	}

	/**
	 * Returns why the hook refused. The author of the hook wrote this text, so it may be
	 * shown to a person.
	 * @return the reason
	 */
	public String reason() {
		return this.reason;
	}

}
