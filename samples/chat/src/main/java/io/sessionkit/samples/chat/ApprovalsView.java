package io.sessionkit.samples.chat;

import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;

import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.StandingDecision;
import io.sessionkit.approval.ToolApproval;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The tool calls of a thread that needed consent, as the page shows them.
 *
 * @param openTurn the turn that waits; 0 if none does
 * @param running whether a call is continuing it at this moment
 * @param calls all calls that needed consent, whatever their outcome
 * @param standing the decisions on calls to come
 */
record ApprovalsView(long openTurn, boolean running, List<CallView> calls, List<StandingView> standing) {

	/**
	 * @param digest the call as it is shown, which a decision must carry
	 * @param turnId the turn that makes the call
	 * @param round the number of the reply that makes it, from 1
	 * @param index its place among the calls of that reply, from 0
	 * @param pending whether a person has to decide
	 * @param claimed whether a process has begun to run it
	 * @param decisions the decisions, in order
	 * @param title the head of a sentence for the tool
	 * @param schema the input schema of the tool; null if it is unknown
	 * @param times how often the reply makes this very call
	 * @param fault why its tool cannot take the arguments, for a person; null if it can,
	 * or if nobody has to decide
	 */
	record CallView(String id, String digest, String turnId, int round, int index, String tool, String title,
			@Nullable String description, @Nullable JsonNode schema, String arguments, String status, boolean pending,
			boolean claimed, Instant requestedAt, @Nullable Instant expiresAt, List<DecisionView> decisions, int times,
			@Nullable String fault) {

		/**
		 * @param description what the tool does, for a call that has no description of
		 * its own
		 */
		static CallView of(ToolApproval call, String title, @Nullable String description, @Nullable JsonNode schema) {
			return new CallView(call.id(), call.asShown(), call.turnId(), call.round(), call.index(), call.tool(),
					title, (call.description() != null) ? call.description() : description, schema, call.arguments(),
					call.status().name(), call.status().isPending(), call.claimedAt() != null, call.requestedAt(),
					expiry(call), call.decisions().stream().map(DecisionView::of).toList(), call.times(), fault(call));
		}

		private static @Nullable String fault(ToolApproval call) {
			if (!call.status().isPending()) {
				return null;
			}
			List<ArgumentFault> faults = ArgumentFault.in(call.arguments(), call);
			return faults.isEmpty() ? null
					: faults.stream().map(ArgumentFault::sentence).collect(Collectors.joining(" "));
		}

		/** A call that may have run does not expire. */
		static @Nullable Instant expiry(ToolApproval call) {
			return (call.status() != ApprovalStatus.UNCERTAIN) ? call.expiresAt() : null;
		}

	}

	/**
	 * @param arguments the arguments that run instead of the model's
	 * @param standing whether a decision for calls to come has decided this one
	 */
	record DecisionView(Decision.Verb verb, String by, Instant at, @Nullable String reason, @Nullable String arguments,
			boolean standing) {

		static DecisionView of(ToolApproval.Decided decided) {
			return new DecisionView(decided.verb(), decided.by(), decided.at(), decided.reason(), decided.arguments(),
					decided.standing() != null);
		}

	}

	/**
	 * @param exact whether it counts only for calls with exactly the same arguments
	 */
	record StandingView(String id, String tool, boolean approved, boolean exact, @Nullable String reason, String by) {

		static StandingView of(StandingDecision decision) {
			return new StandingView(decision.id(), decision.tool(), decision.approved(), decision.digest() != null,
					decision.reason(), decision.by());
		}

	}

}
