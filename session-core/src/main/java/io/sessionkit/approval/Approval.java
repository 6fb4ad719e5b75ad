package io.sessionkit.approval;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

/**
 * One tool call that needs consent, and what has become of it so far.
 *
 * @param key the session
 * @param id its name in the session, the same for good; also the key by which a tool can
 * recognize a call that it has seen
 * @param turnId the turn that makes the call
 * @param round the model call of the turn that made it, from 1
 * @param index its place among the calls of that reply, from 0
 * @param agent the agent that made it; null if the call to the model named none
 * @param callId the id that the model gave it; may be empty or there twice
 * @param tool the name of the tool
 * @param arguments its arguments, as the model wrote them
 * @param digest what a decision is bound to besides the id: the digest of tool and
 * arguments
 * @param description what the policy has to say to whoever decides; null for nothing
 * @param status what it has come to
 * @param requestedAt when the reply was held back
 * @param expiresAt when it can be decided no more; null: always can
 * @param decisions all that was decided on it, in that order; none at first. One that
 * turned out to be uncertain is decided once more
 * @param claimedAt when a process began to run it; null if none did
 * @param endedAt when its result was stored; null if there is none
 * @param requirements what a call that goes on with it must bring
 * @param times how often the reply makes this very call, with the same id, tool and
 * arguments; it is one approval, runs once, and its result answers each of them
 */
public record Approval(SessionKey key, String id, String turnId, int round, int index, @Nullable String agent,
		String callId, String tool, String arguments, String digest, @Nullable String description,
		ApprovalStatus status, Instant requestedAt, @Nullable Instant expiresAt, List<Decided> decisions,
		@Nullable Instant claimedAt, @Nullable Instant endedAt, Requirements requirements, int times) {

	public Approval {
		decisions = List.copyOf(decisions);
	}

	/**
	 * A decision as it was stored.
	 *
	 * @param verb what was decided
	 * @param by who decided
	 * @param at when
	 * @param reason why, as the model is told; null if no reason was given
	 * @param arguments the arguments that run in the place of the model's; null for those
	 * @param digest the digest of tool and arguments that run; null if nothing is to run
	 * @param standing the standing decision that decided this call; null if it was
	 * decided by itself
	 */
	public record Decided(Decision.Verb verb, String by, Instant at, @Nullable String reason,
			@Nullable String arguments, @Nullable String digest, @Nullable String standing) {

		/**
		 * The decision without its texts, which may be secret.
		 * @return who decided and when
		 */
		@Override
		public String toString() {
			return "Decided[" + this.verb + " by " + this.by + " at " + this.at + "]";
		}

	}

	/**
	 * What a call that goes on with it must bring.
	 *
	 * @param toolDigest the digest of the tool's name, description and input schema; null
	 * if no such tool was offered
	 * @param schema the input schema of the tool; null if no such tool was offered
	 * @param version the application's own marker; null if it had none
	 * @param traceId the trace of the call that was paused; null if there was none
	 */
	public record Requirements(@Nullable String toolDigest, @Nullable String schema, @Nullable String version,
			@Nullable String traceId) {
	}

	/**
	 * Returns what was decided last.
	 * @return the decision; null if nothing was decided
	 */
	public @Nullable Decided decision() {
		return this.decisions.isEmpty() ? null : this.decisions.get(this.decisions.size() - 1);
	}

	/**
	 * Returns the decision by which it runs or ran, whatever was decided since.
	 * @return the last approval; null if nobody approved it
	 */
	public @Nullable Decided permission() {
		return this.decisions.stream()
			.filter((each) -> each.verb().runs())
			.reduce((older, newer) -> newer)
			.orElse(null);
	}

	/**
	 * Returns the arguments that run, or ran.
	 * @return those that were approved last, else the model's
	 */
	public String effectiveArguments() {
		Decided permission = permission();
		return (permission != null) ? Objects.requireNonNullElse(permission.arguments(), this.arguments)
				: this.arguments;
	}

	/**
	 * Returns whether it runs or ran with other arguments than the model's.
	 */
	public boolean isEdited() {
		Decided permission = permission();
		return permission != null && permission.arguments() != null;
	}

	public Approval with(ApprovalStatus status) {
		return changed(status, this.decisions, this.claimedAt, this.endedAt);
	}

	public Approval decided(ApprovalStatus status, Decided decision) {
		List<Decided> all = new ArrayList<>(this.decisions);
		all.add(decision);
		return changed(status, all, this.claimedAt, this.endedAt);
	}

	public Approval claimed(Instant at) {
		return changed(ApprovalStatus.CLAIMED, this.decisions, at, null);
	}

	public Approval ended(Instant at) {
		return changed(ApprovalStatus.DONE, this.decisions, this.claimedAt, at);
	}

	private Approval changed(ApprovalStatus status, List<Decided> decisions, @Nullable Instant claimedAt,
			@Nullable Instant endedAt) {
		return new Approval(this.key, this.id, this.turnId, this.round, this.index, this.agent, this.callId, this.tool,
				this.arguments, this.digest, this.description, status, this.requestedAt, this.expiresAt, decisions,
				claimedAt, endedAt, this.requirements, this.times);
	}

	/**
	 * The call without its arguments, which may be secret.
	 * @return tool, session and status
	 */
	@Override
	public String toString() {
		return "Approval[" + this.tool + " of session " + this.key + ", " + this.id + ", " + this.status + "]";
	}

}
