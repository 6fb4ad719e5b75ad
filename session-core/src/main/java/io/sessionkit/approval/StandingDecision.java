package io.sessionkit.approval;

import java.time.Instant;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

/**
 * A decision on later calls of the same tool, kept with the session until it is revoked.
 * A tool of the same name with another description or input schema is another one. A
 * decision on a single call outranks it. If two standing decisions contradict each other,
 * the newer one counts.
 *
 * @param key the session
 * @param id its id in the session
 * @param tool the name of the tool
 * @param digest the digest of tool and arguments; null for all calls of the tool
 * @param toolDigest the digest of the tool's name, description and input schema, of which
 * a call must have the same
 * @param version the application's version marker, of which a call must have the same;
 * null if there was none
 * @param approved whether such calls run
 * @param reason the text that the model gets if they do not run; null for the default
 * @param by the name of the person who decided
 * @param at when it was decided, by the clock of the process; it does not tell which of
 * two is newer, that is the one that was stored later
 */
public record StandingDecision(SessionKey key, String id, String tool, @Nullable String digest, String toolDigest,
		@Nullable String version, boolean approved, @Nullable String reason, String by, Instant at) {

	/** The calls for which a standing decision counts. */
	public enum Scope {

		/** All calls of the tool. */
		TOOL,

		/** Calls of the tool with exactly these arguments. */
		ARGUMENTS

	}

	/**
	 * Returns the decision without its reason, which may be secret.
	 * @return tool, session and who decided
	 */
	@Override
	public String toString() {
		return "StandingDecision[" + (this.approved ? "approves " : "rejects ") + this.tool + " in session " + this.key
				+ ", by " + this.by + "]";
	}

}
