package io.sessionkit;

import java.util.Objects;

/**
 * A hook refused the input, the request or the reply of a turn. Neither the message nor a
 * cause holds what was refused. The turn is kept beside the history with the verdict. A
 * hook that fails on a reply, instead of refusing it, is a {@link HookFailedException}.
 */
public final class SessionRefusedException extends SessionException {

	private final String hook;

	private final Verdict.Phase phase;

	private final String reason;

	public SessionRefusedException(String message, Verdict verdict) {
		super(message, null);
		this.hook = verdict.hook();
		this.phase = verdict.phase();
		this.reason = Objects.requireNonNull(verdict.reason(), "the verdict must have a reason");
	}

	/**
	 * Who refused.
	 * @return the name of the hook
	 */
	public String hook() {
		return this.hook;
	}

	/**
	 * Where in the turn it refused.
	 * @return the phase
	 */
	public Verdict.Phase phase() {
		return this.phase;
	}

	/**
	 * Why it refused. Written by the author of the hook, so it may be shown to a person.
	 * @return the reason
	 */
	public String reason() {
		return this.reason;
	}

}
