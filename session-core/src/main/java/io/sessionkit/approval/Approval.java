package io.sessionkit.approval;

import java.time.Instant;
import java.util.Objects;

import io.sessionkit.ApprovalStatus;
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
 * @param decision what was decided; null if nothing was
 * @param claimedAt when a process began to run it; null if none did
 * @param endedAt when its result was stored; null if there is none
 * @param requirements what a call that goes on with it must bring
 */
public record Approval(SessionKey key, String id, String turnId, int round, int index, @Nullable String agent,
		String callId, String tool, String arguments, String digest, @Nullable String description,
		ApprovalStatus status, Instant requestedAt, @Nullable Instant expiresAt, @Nullable Decided decision,
		@Nullable Instant claimedAt, @Nullable Instant endedAt, Requirements requirements) {

	/**
	 * A decision as it was stored.
	 *
	 * @param by who decided
	 * @param at when
	 * @param reason why, as the model is told; null if no reason was given
	 * @param arguments the arguments that run in the place of the model's; null for those
	 * @param digest the digest of tool and arguments that run; null if nothing is to run
	 * @param standing the standing decision that decided this call; null if it was
	 * decided by itself
	 */
	public record Decided(String by, Instant at, @Nullable String reason, @Nullable String arguments,
			@Nullable String digest, @Nullable String standing) {

		/**
		 * The decision without its texts, which may be secret.
		 * @return who decided and when
		 */
		@Override
		public String toString() {
			return "Decided[by " + this.by + " at " + this.at + "]";
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
	 * The arguments that run, or ran.
	 * @return those that were decided on, else the model's
	 */
	public String effectiveArguments() {
		return (this.decision != null) ? Objects.requireNonNullElse(this.decision.arguments(), this.arguments)
				: this.arguments;
	}

	Approval with(ApprovalStatus status) {
		return new Approval(this.key, this.id, this.turnId, this.round, this.index, this.agent, this.callId, this.tool,
				this.arguments, this.digest, this.description, status, this.requestedAt, this.expiresAt, this.decision,
				this.claimedAt, this.endedAt, this.requirements);
	}

	Approval decided(ApprovalStatus status, Decided decision) {
		return new Approval(this.key, this.id, this.turnId, this.round, this.index, this.agent, this.callId, this.tool,
				this.arguments, this.digest, this.description, status, this.requestedAt, this.expiresAt, decision,
				this.claimedAt, this.endedAt, this.requirements);
	}

	Approval claimed(Instant at) {
		return new Approval(this.key, this.id, this.turnId, this.round, this.index, this.agent, this.callId, this.tool,
				this.arguments, this.digest, this.description, ApprovalStatus.CLAIMED, this.requestedAt, this.expiresAt,
				this.decision, at, null, this.requirements);
	}

	Approval ended(Instant at) {
		return new Approval(this.key, this.id, this.turnId, this.round, this.index, this.agent, this.callId, this.tool,
				this.arguments, this.digest, this.description, ApprovalStatus.DONE, this.requestedAt, this.expiresAt,
				this.decision, this.claimedAt, at, this.requirements);
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
