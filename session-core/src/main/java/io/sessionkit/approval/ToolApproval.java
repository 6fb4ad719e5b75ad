package io.sessionkit.approval;

import java.time.Instant;
import java.util.List;
import java.util.Objects;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

/**
 * A tool call that needs the consent of a person, with its status and its decisions so
 * far.
 *
 * @param key the session
 * @param id its id in the session, which never changes; also the key by which a tool can
 * recognize a call that it has already seen
 * @param turnId the id of the turn that makes the call
 * @param round the model call of the turn that made it, from 1
 * @param index its position among the calls of that reply, from 0
 * @param agent the agent that made it; null if the call to the model named none
 * @param callId the id that the model gave it; may be empty, and need not be unique
 * @param tool the name of the tool
 * @param arguments its arguments, as the model wrote them
 * @param digest the digest of tool and arguments; a decision is bound to it and to the id
 * @param description a text of the policy for the person who decides; null for none
 * @param status its status
 * @param requestedAt when the reply was held back
 * @param expiresAt when the time to decide is over; null if it never is
 * @param decisions all decisions on it, the oldest first; empty at first. A call that
 * turned out to be uncertain is decided once more
 * @param claimedAt when a process began to run it; null if none did
 * @param endedAt when its result was stored; null if there is none
 * @param requirements the conditions under which another call can continue with it
 * @param times how often the reply makes this same call, with the same id, tool and
 * arguments; it is one approval, runs once, and its result answers each of them
 */
public record ToolApproval(SessionKey key, String id, String turnId, int round, int index, @Nullable String agent,
		String callId, String tool, String arguments, String digest, @Nullable String description,
		ApprovalStatus status, Instant requestedAt, @Nullable Instant expiresAt, List<Decided> decisions,
		@Nullable Instant claimedAt, @Nullable Instant endedAt, Requirements requirements, int times) {

	public ToolApproval {
		decisions = List.copyOf(decisions);
	}

	/**
	 * A decision as it was stored.
	 *
	 * @param verb the kind of decision
	 * @param by the name of the person who decided
	 * @param at when it was decided
	 * @param reason the reason as the model is told it; null if no reason was given
	 * @param arguments the arguments to run with instead of the model's; null for the
	 * model's
	 * @param digest the digest of the tool and the arguments to run; null if nothing is
	 * to run
	 * @param standing the id of the standing decision that decided this call; null if
	 * this call was decided by itself
	 */
	public record Decided(Decision.Verb verb, String by, Instant at, @Nullable String reason,
			@Nullable String arguments, @Nullable String digest, @Nullable String standing) {

		/**
		 * Returns the decision without its texts, which may be secret.
		 * @return the kind of decision, who decided and when
		 */
		@Override
		public String toString() {
			return "Decided[" + this.verb + " by " + this.by + " at " + this.at + "]";
		}

	}

	/**
	 * The conditions under which another call can continue with a held tool call.
	 *
	 * @param toolDigest the digest of the tool's name, description and input schema; null
	 * if no such tool was offered
	 * @param schema the input schema of the tool; null if no such tool was offered
	 * @param version the application's own version marker; null if it had none
	 * @param traceId the id of the trace of the call that was paused, for information
	 * only; null if there was none
	 */
	public record Requirements(@Nullable String toolDigest, @Nullable String schema, @Nullable String version,
			@Nullable String traceId) {
	}

	/**
	 * Returns the last decision.
	 * @return the decision; null if nothing was decided
	 */
	public @Nullable Decided decision() {
		return this.decisions.isEmpty() ? null : this.decisions.get(this.decisions.size() - 1);
	}

	/**
	 * Returns the decision that lets the call run or let it run, whatever was decided
	 * since.
	 * @return the last approval; null if nobody approved it
	 */
	public @Nullable Decided permission() {
		return this.decisions.stream()
			.filter((each) -> each.verb().runs())
			.reduce((older, newer) -> newer)
			.orElse(null);
	}

	/**
	 * Returns the arguments with which the call runs or ran.
	 * @return the arguments that were approved last, otherwise the model's
	 */
	public String effectiveArguments() {
		Decided permission = permission();
		return (permission != null) ? Objects.requireNonNullElse(permission.arguments(), this.arguments)
				: this.arguments;
	}

	/**
	 * Returns whether the call runs or ran with arguments other than the model's.
	 * @return true if a person has changed the arguments
	 */
	public boolean isEdited() {
		Decided permission = permission();
		return permission != null && permission.arguments() != null;
	}

	/**
	 * Returns the call without its arguments, which may be secret.
	 * @return tool, session, id and status
	 */
	@Override
	public String toString() {
		return "ToolApproval[" + this.tool + " of session " + this.key + ", " + this.id + ", " + this.status + "]";
	}

}
