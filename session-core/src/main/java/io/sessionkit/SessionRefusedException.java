package io.sessionkit;

import org.jspecify.annotations.Nullable;

/**
 * A hook refused the input, the request or the reply of a turn, or threw while it looked
 * at a reply. Neither the message nor a cause holds what was refused. The turn is kept
 * beside the history with the verdict.
 * <p>
 * Where a hook threw on a reply, what it threw may hold the reply's text and is not
 * attached; the stack trace of this exception is the one of what it threw.
 */
public final class SessionRefusedException extends SessionException {

	private final String hook;

	private final Verdict.Phase phase;

	private final @Nullable String reason;

	public SessionRefusedException(String message, Verdict verdict) {
		super(message, null);
		this.hook = verdict.hook();
		this.phase = verdict.phase();
		this.reason = verdict.reason();
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
	 * @return the reason; the class name of what the hook threw if it threw
	 */
	public @Nullable String reason() {
		return this.reason;
	}

}
