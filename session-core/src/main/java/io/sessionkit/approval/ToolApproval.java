package io.sessionkit.approval;

import java.time.Instant;
import java.util.List;
import java.util.Objects;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.argument.ToolArguments;
import org.jspecify.annotations.Nullable;

/**
 * A tool call that needs the consent of a person, with its status and its decisions so
 * far.
 *
 * @param key the session
 * @param id its id in the session, which never changes; also the key by which a tool can
 * recognize a call that it has already seen
 * @param origin where the call comes from
 * @param call what the model calls
 * @param request what the person who decides is asked, and until when
 * @param progress how far the call has come
 */
public record ToolApproval(SessionKey key, String id, Origin origin, Call call, Request request, Progress progress) {

	/**
	 * Returns the id of the turn that makes the call.
	 * @return the id
	 */
	public String turnId() {
		return this.origin.turnId();
	}

	/**
	 * Returns the model call of the turn that made it.
	 * @return its number, from 1
	 */
	public int round() {
		return this.origin.round();
	}

	/**
	 * Returns its position among the calls of that reply.
	 * @return the position, from 0
	 */
	public int index() {
		return this.origin.index();
	}

	/**
	 * Returns the agent that made it.
	 * @return the agent; null if it named none
	 */
	public @Nullable String agent() {
		return this.origin.agent();
	}

	/**
	 * Returns the id that the model gave it.
	 * @return the id; may be empty, and need not be unique
	 */
	public String callId() {
		return this.call.callId();
	}

	/**
	 * Returns the tool that it calls.
	 * @return the name of the tool
	 */
	public String tool() {
		return this.call.tool();
	}

	/**
	 * Returns its arguments.
	 * @return the arguments, as the model wrote them
	 */
	public String arguments() {
		return this.call.arguments();
	}

	/**
	 * Returns the digest of tool and arguments.
	 * @return the digest; a decision is bound to it and to the id
	 */
	public String digest() {
		return this.call.digest();
	}

	/**
	 * Returns the call as it is shown now, for a page that sends it back with a decision:
	 * the digest, when the call began to run, and if it is approved, since when. A
	 * decision that comes with it is refused if the call may have run since.
	 * @return a text of one line
	 */
	public String asShown() {
		String shown = digest() + "@" + ((claimedAt() != null) ? claimedAt() : "");
		Decided decision = decision();
		return (status() == ApprovalStatus.APPROVED && decision != null) ? shown + "@" + decision.at() : shown;
	}

	/**
	 * Returns how often the reply makes this same call.
	 * @return the number, at least 1
	 */
	public int times() {
		return this.call.times();
	}

	/**
	 * Returns the text of the policy for the person who decides.
	 * @return the text; null for none
	 */
	public @Nullable String description() {
		return this.request.description();
	}

	/**
	 * Returns when the reply was held back.
	 * @return the time
	 */
	public Instant requestedAt() {
		return this.request.requestedAt();
	}

	/**
	 * Returns when the time to decide is over for a call that has not run, by the clock
	 * of the process in which it was made; the store judges by its own. An uncertain call
	 * does not expire: it keeps the time that it had as long as it waited, and can be
	 * decided after it.
	 * @return the time; null if it never is
	 */
	public @Nullable Instant expiresAt() {
		return this.request.expiresAt();
	}

	/**
	 * Returns the conditions under which another call can continue with it.
	 * @return the conditions
	 */
	public Requirements requirements() {
		return this.request.requirements();
	}

	/**
	 * Returns its status.
	 * @return the status
	 */
	public ApprovalStatus status() {
		return this.progress.status();
	}

	/**
	 * Returns all decisions on it.
	 * @return the decisions, the oldest first; empty at first. A call that turned out to
	 * be uncertain is decided once more
	 */
	public List<Decided> decisions() {
		return this.progress.decisions();
	}

	/**
	 * Returns when a process began to run it.
	 * @return the time; null if none did
	 */
	public @Nullable Instant claimedAt() {
		return this.progress.claimedAt();
	}

	/**
	 * Returns when its result was stored, or the failure of a call that takes an effect
	 * back.
	 * @return the time; null if there is neither
	 */
	public @Nullable Instant endedAt() {
		return this.progress.endedAt();
	}

	/**
	 * Returns the last decision.
	 * @return the decision; null if nothing was decided
	 */
	public @Nullable Decided decision() {
		return decisions().isEmpty() ? null : decisions().get(decisions().size() - 1);
	}

	/**
	 * Returns the decision that lets the call run or let it run, whatever was decided
	 * since.
	 * @return the last approval; null if nobody approved it
	 */
	public @Nullable Decided permission() {
		return decisions().stream().filter((each) -> each.verb().runs()).reduce((older, newer) -> newer).orElse(null);
	}

	/**
	 * Returns the arguments with which the call runs or ran.
	 * @return the arguments that were approved last, otherwise the model's
	 */
	public String effectiveArguments() {
		Decided permission = permission();
		return (permission != null) ? Objects.requireNonNullElse(permission.arguments(), arguments()) : arguments();
	}

	/**
	 * Returns the digest of the tool and the {@link #effectiveArguments()}.
	 * @return the digest; that of the call itself if nobody has changed the arguments
	 */
	public String effectiveDigest() {
		Decided permission = permission();
		return (permission != null) ? Objects.requireNonNullElse(permission.digest(), digest()) : digest();
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
	 * Returns why the tool cannot take arguments, as a decision that brings them is told.
	 * @param arguments the arguments to run with, as JSON
	 * @return the place of each fault and the rule of the tool's input schema that it
	 * breaks, never a value; empty if the arguments fit
	 */
	public List<String> faults(String arguments) {
		String schema = requirements().schema();
		try {
			return ToolArguments.of(arguments).faults((schema != null) ? schema : "{}");
		}
		catch (RuntimeException ex) {
			return List.of("the input schema of the tool cannot be read (" + ex.getClass().getName()
					+ "), so they cannot be checked");
		}
	}

	/**
	 * Returns this approval with other progress.
	 * @param progress the progress
	 * @return a copy with this progress
	 */
	public ToolApproval with(Progress progress) {
		return new ToolApproval(this.key, this.id, this.origin, this.call, this.request, progress);
	}

	/**
	 * Returns the call without its arguments, which may be secret.
	 * @return tool, session, id and status
	 */
	@Override
	public String toString() {
		return "ToolApproval[" + tool() + " of session " + this.key + ", " + this.id + ", " + status() + "]";
	}

	/**
	 * The reply that a tool call comes from.
	 *
	 * @param turnId the id of the turn that makes the call
	 * @param round the model call of the turn that made it, from 1
	 * @param index its position among the calls of that reply, from 0
	 * @param agent the agent that made it; null if it named none
	 */
	public record Origin(String turnId, int round, int index, @Nullable String agent) {
	}

	/**
	 * The call that the model makes.
	 *
	 * @param callId the id that the model gave the call; may be empty, and need not be
	 * unique
	 * @param tool the name of the tool
	 * @param arguments the arguments, as the model wrote them
	 * @param digest the digest of tool and arguments; a decision is bound to it and to
	 * the id
	 * @param times how often the reply makes this same call, with the same id, tool and
	 * arguments; it is one approval, runs once, and its result answers each of them
	 */
	public record Call(String callId, String tool, String arguments, String digest, int times) {

		/**
		 * Returns the call without its arguments, which may be secret.
		 * @return the name of the tool and the digest
		 */
		@Override
		public String toString() {
			return "Call[" + this.tool + ", " + this.digest + "]";
		}

	}

	/**
	 * The request to the person who decides, and its time limit.
	 *
	 * @param description a text of the policy for that person; null for none
	 * @param requestedAt when the reply was held back
	 * @param expiresAt when the time to decide is over; null if it never is
	 * @param requirements the conditions under which another call can continue with the
	 * held one
	 */
	public record Request(@Nullable String description, Instant requestedAt, @Nullable Instant expiresAt,
			Requirements requirements) {
	}

	/**
	 * The progress of a call. Each change of the approval replaces it.
	 *
	 * @param status the status of the call
	 * @param decisions all decisions on it, the oldest first; empty at first. A call that
	 * turned out to be uncertain is decided once more
	 * @param claimedAt when a process began to run it; null if none did
	 * @param endedAt when its result was stored, or the failure of a call that takes an
	 * effect back; null if there is neither
	 */
	public record Progress(ApprovalStatus status, List<Decided> decisions, @Nullable Instant claimedAt,
			@Nullable Instant endedAt) {

		public Progress {
			decisions = List.copyOf(decisions);
		}

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
	 * @param schema the input schema of the tool, with the bounds of the whole numbers
	 * that its method takes; null if no such tool was offered
	 * @param version the application's own version marker; null if it had none
	 * @param traceId the id of the trace of the call that was paused, for information
	 * only; null if there was none
	 */
	public record Requirements(@Nullable String toolDigest, @Nullable String schema, @Nullable String version,
			@Nullable String traceId) {
	}

}
