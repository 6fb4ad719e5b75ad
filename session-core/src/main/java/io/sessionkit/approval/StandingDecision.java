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
 * @param calls the calls for which it counts
 * @param decided what was decided
 */
public record StandingDecision(SessionKey key, String id, Calls calls, Decided decided) {

	/** The calls for which a decision is to count. */
	public enum Scope {

		/** All calls of the tool. */
		TOOL,

		/** Calls of the tool with exactly these arguments. */
		ARGUMENTS

	}

	/**
	 * The calls for which a standing decision counts.
	 *
	 * @param tool the name of their tool
	 * @param digest the digest of tool and arguments; null for all calls of the tool
	 * @param toolDigest the digest of the tool's name, description and input schema, of
	 * which a call must have the same; empty if an earlier build has stored the decision
	 * without it, which then counts for no call
	 * @param version the application's version marker, of which a call must have the
	 * same; null if there was none
	 */
	public record Calls(String tool, @Nullable String digest, String toolDigest, @Nullable String version) {
	}

	/**
	 * A decision on later calls.
	 *
	 * @param approved whether such calls run
	 * @param reason the text that the model gets if they do not run; null for the default
	 * @param by the name of the person who decided
	 * @param at when it was decided, by the clock of the process; it does not tell which
	 * of two is newer, that is the one that was stored later
	 */
	public record Decided(boolean approved, @Nullable String reason, String by, Instant at) {

		/**
		 * Returns the decision without its reason, which may be secret.
		 * @return the decision and who made it
		 */
		@Override
		public String toString() {
			return (this.approved ? "approved" : "rejected") + " by " + this.by + " at " + this.at;
		}

	}

	/** Returns the name of the tool. */
	public String tool() {
		return this.calls.tool();
	}

	/** Returns the digest of tool and arguments; null for all calls of the tool. */
	public @Nullable String digest() {
		return this.calls.digest();
	}

	/** Returns whether the calls run. */
	public boolean approved() {
		return this.decided.approved();
	}

	/** Returns the text that the model gets if they do not run; null for the default. */
	public @Nullable String reason() {
		return this.decided.reason();
	}

	/** Returns the name of the person who decided. */
	public String by() {
		return this.decided.by();
	}

	/** Returns when it was decided, by the clock of the process. */
	public Instant at() {
		return this.decided.at();
	}

	/**
	 * Returns the decision without its reason, which may be secret.
	 * @return tool, session and who decided
	 */
	@Override
	public String toString() {
		return "StandingDecision[" + (approved() ? "approves " : "rejects ") + tool() + " in session " + this.key
				+ ", by " + by() + "]";
	}

}
