package io.sessionkit.approval;

import java.time.Instant;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

/**
 * A decision on calls to come, kept with the session until it is revoked. A decision on
 * one call outranks it; of two that contradict each other the newer one counts.
 *
 * @param key the session
 * @param id its name in the session
 * @param tool the tool that it is about
 * @param digest the digest of tool and arguments that it is about; null for all calls of
 * the tool
 * @param approved whether such calls run
 * @param reason what the model is told where they do not; null for the default
 * @param by who decided
 * @param at when, by the clock of the process; the newer one is the one that was stored
 * later
 */
public record StandingDecision(SessionKey key, String id, String tool, @Nullable String digest, boolean approved,
		@Nullable String reason, String by, Instant at) {

	/** For which calls it counts. */
	public enum Scope {

		/** All calls of the tool. */
		TOOL,

		/** Calls of the tool with exactly these arguments. */
		ARGUMENTS

	}

	/**
	 * The decision without its reason, which may be secret.
	 * @return tool, session and who decided
	 */
	@Override
	public String toString() {
		return "StandingDecision[" + (this.approved ? "approves " : "rejects ") + this.tool + " in session " + this.key
				+ ", by " + this.by + "]";
	}

	public boolean coversCall(String tool, String digest) {
		return (this.digest != null) ? this.digest.equals(digest) : this.tool.equals(tool);
	}

}
