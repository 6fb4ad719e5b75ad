package io.sessionkit.internal.ledger;

import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;

import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.DecisionRefusedException;
import io.sessionkit.approval.DecisionRefusedException.Reason;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.LoneSurrogates;
import io.sessionkit.internal.Names;
import io.sessionkit.internal.argument.ToolArguments;
import io.sessionkit.internal.turn.WaitingTurns;
import org.jspecify.annotations.Nullable;

/**
 * Makes decisions on calls that wait, each by one compare-and-set.
 */
public final class Decisions {

	/** Finds the calls that have expired; null for calls that take effects back. */
	private final @Nullable WaitingTurns waitingTurns;

	private final Ledger ledger;

	/** Is told of each decision before it is stored. */
	private final Consumer<ToolApproval> announcing;

	/**
	 * Creates the decisions on calls of models.
	 * @param announcing is told of each call before a decision on it is stored; if it
	 * throws, nothing is decided
	 */
	public Decisions(WaitingTurns waitingTurns, Ledger ledger, Consumer<ToolApproval> announcing) {
		this.waitingTurns = waitingTurns;
		this.ledger = ledger;
		this.announcing = announcing;
	}

	/**
	 * Creates the decisions on calls that take the effect of others back.
	 */
	public Decisions(Ledger compensations) {
		this.waitingTurns = null;
		this.ledger = compensations;
		this.announcing = (call) -> {
		};
	}

	/**
	 * Decides a call.
	 * @param shown the call as it was shown to the person who decides, or its digest
	 * alone if nothing else is known
	 * @param right says whether the call is one that the caller may decide, which throws
	 * if the caller may see the call alone
	 * @return the call as it is stored
	 * @throws DecisionRefusedException if the decision does not fit the call as it is
	 * now; nothing is decided
	 */
	public ToolApproval make(SessionKey key, String id, String shown, Decision decision,
			Predicate<ToolApproval> right) {
		try {
			return made(key, id, shown, decision, right);
		}
		catch (TurnInProgressException ex) {
			// it would wait for the transaction around it
			throw new DecisionRefusedException(String.valueOf(ex.getMessage()), Reason.UNCOMMITTED, null, null);
		}
	}

	private ToolApproval made(SessionKey key, String id, String shown, Decision decision,
			Predicate<ToolApproval> right) {
		return Attempts.FEW.make(() -> {
			Optional<LedgerEntry> open = openCall(key, id);
			LedgerEntry entry = open.or(() -> find(this.ledger.over(key), id))
				.filter((found) -> right.test(found.approval()))
				.orElseThrow(() -> unknown(key, id));
			check(entry, open.isEmpty(), shown, decision);
			this.announcing.accept(entry.approval());
			return Optional.ofNullable(this.ledger.replaceOrFind(decided(entry, decision)));
		}).map(LedgerEntry::approval).orElseThrow(() -> changedEachTime(key, id));
	}

	/**
	 * Returns the calls of a session that are not over, including those that have
	 * expired.
	 */
	public List<LedgerEntry> openWithExpired(SessionKey key) {
		return this.ledger.judged(withExpired(key, this.ledger.open(key)));
	}

	/**
	 * Finds a call by its id: among those that are stored as open, which costs one read,
	 * then among those that have expired.
	 */
	private Optional<LedgerEntry> openCall(SessionKey key, String id) {
		List<LedgerEntry> stored = this.ledger.open(key);
		return find(stored, id).map((entry) -> this.ledger.judged(List.of(entry)).get(0))
			.or(() -> find(withExpired(key, stored), id));
	}

	private static DecisionRefusedException unknown(SessionKey key, String id) {
		return new DecisionRefusedException("Session " + key + " has no tool call " + Names.quoted(id)
				+ " that was to be decided, or it was not stored yet.", Reason.UNKNOWN_CALL, null, null);
	}

	private static Optional<LedgerEntry> find(List<LedgerEntry> entries, String id) {
		return entries.stream().filter((entry) -> entry.approval().id().equals(id)).findFirst();
	}

	private void check(LedgerEntry entry, boolean isOver, String shown, Decision decision) {
		ToolApproval call = entry.approval();
		if (isAnother(call, shown)) {
			throw refused(call, Reason.OTHER_CALL, "is not the one that was shown: tool or arguments are different, or"
					+ " asShown() has not come back as it was");
		}
		if (isOver && call.status().isPending()) {
			throw refused(call, Reason.TURN_ENDED,
					"may have run, and its turn has ended, so nobody can decide on it any more");
		}
		if (!fits(decision.verb(), call.status()) && !withdraws(decision.verb(), call, shown)) {
			throw refused(call, reason(call.status()), whyNot(decision.verb(), call));
		}
		if (!shows(shown, call)) {
			throw refused(call, Reason.MAY_HAVE_RUN, "may have run since it was shown; read it again");
		}
		if (decision.arguments() != null) {
			checkArguments(call, decision.arguments());
		}
	}

	/** A call that no process has begun to run was never shown as begun. */
	private static boolean isAnother(ToolApproval call, String shown) {
		// a page may have sent nothing
		if (shown == null || !shown.startsWith(call.digest())) {
			return true;
		}
		String unclaimed = call.digest() + "@";
		return call.claimedAt() == null && !shown.equals(call.digest()) && !shown.equals(unclaimed)
				&& !shown.startsWith(unclaimed + "@");
	}

	/**
	 * Whether it was approved since it was shown makes no difference to other decisions.
	 */
	private static boolean shows(String shown, ToolApproval call) {
		return shown.equals(call.asShown()) || call.asShown().startsWith(shown + "@");
	}

	private static boolean fits(Decision.Verb verb, ApprovalStatus status) {
		return switch (verb) {
			case APPROVE -> status == ApprovalStatus.PROPOSED;
			case REJECT -> status.isPending();
			case RETRY, ANSWER -> status == ApprovalStatus.UNCERTAIN;
		};
	}

	/**
	 * Returns whether a decision takes back the approval of a call that takes an effect
	 * back and does not run. If it cannot run any more, its turn would have to stay as
	 * long as the session lives. Whoever was shown a call that waits does not mean that.
	 */
	private boolean withdraws(Decision.Verb verb, ToolApproval call, String shown) {
		return this.waitingTurns == null && verb == Decision.Verb.REJECT && call.status() == ApprovalStatus.APPROVED
				&& shown.equals(call.asShown());
	}

	private static Reason reason(ApprovalStatus status) {
		return switch (status) {
			case PROPOSED -> Reason.WAITS;
			case UNCERTAIN -> Reason.MAY_HAVE_RUN;
			case EXPIRED -> Reason.EXPIRED;
			case APPROVED, CLAIMED, DONE, REJECTED, DENIED, CANCELLED -> Reason.DECIDED;
		};
	}

	private static String whyNot(Decision.Verb verb, ToolApproval call) {
		return switch (call.status()) {
			case PROPOSED -> "has not run, so it can be approved or rejected, not " + verb;
			case UNCERTAIN -> "may have run; say RETRY, ANSWER or REJECT, not " + verb;
			case EXPIRED -> "has expired, at " + call.expiresAt();
			default -> "is " + call.status() + " already"
					+ ((call.decision() != null) ? ", decided by " + call.decision().by() : "");
		};
	}

	private static void checkArguments(ToolApproval call, String arguments) {
		List<String> faults = call.faults(arguments);
		if (!faults.isEmpty()) {
			throw refused(call, Reason.ARGUMENTS, "cannot run with these arguments: " + String.join("; ", faults));
		}
	}

	private static DecisionRefusedException refused(ToolApproval call, Reason reason, String why) {
		return new DecisionRefusedException(
				"The call of tool '" + call.tool() + "' (" + call.id() + ") in session " + call.key() + " " + why
						+ ". Nothing was decided.",
				reason, call.status(), (call.decision() != null) ? call.decision().by() : null);
	}

	private DecisionRefusedException changedEachTime(SessionKey key, String id) {
		if (this.ledger.mayRollBack()) {
			return new DecisionRefusedException("The call " + id + " of session " + key
					+ " is not there outside of the transaction around this decision: it was stored in that transaction,"
					+ " which is not committed, and decisions are stored beside it. Nothing was decided; decide after the"
					+ " commit.", Reason.UNCOMMITTED, null, null);
		}
		return new DecisionRefusedException(
				"The call " + id + " of session " + key
						+ " changed each time that it was to be decided. Nothing was decided; read it again.",
				Reason.CHANGING, null, null);
	}

	private LedgerEntry decided(LedgerEntry entry, Decision decision) {
		ToolApproval call = entry.approval();
		Instant now = this.ledger.now();
		ToolApproval.Decided before = (decision.verb() == Decision.Verb.RETRY) ? call.permission() : null;
		String arguments = (before != null) ? before.arguments() : decision.arguments();
		String digest = decision.verb().runs() ? digest(call, arguments) : null;
		// as it is stored: a page may cut it within a character
		String text = LoneSurrogates.replaced(Objects.requireNonNullElse(decision.text(), ""));
		String reason = (decision.verb() == Decision.Verb.REJECT && decision.text() != null) ? text : null;
		ToolApproval.Decided decided = new ToolApproval.Decided(decision.verb(), decision.by(), now, reason, arguments,
				digest, null);
		return switch (decision.verb()) {
			case APPROVE, RETRY -> entry.decided(ApprovalStatus.APPROVED, decided);
			case REJECT -> entry.decided(ApprovalStatus.REJECTED, decided);
			case ANSWER -> entry.decided(ApprovalStatus.DONE, decided).ended(now, text, false);
		};
	}

	private static String digest(ToolApproval call, @Nullable String arguments) {
		return (arguments != null) ? ToolArguments.of(arguments).digest(call.tool()) : call.digest();
	}

	private List<LedgerEntry> withExpired(SessionKey key, List<LedgerEntry> open) {
		WaitingTurns waitingTurns = this.waitingTurns;
		if (waitingTurns == null) {
			return open;
		}
		Optional<Turn> turn = waitingTurns.find(key);
		return turn.flatMap((waiting) -> waitingTurns.held(key, waiting.id()))
			.map((held) -> HeldCalls.withExpired(key, held, open))
			.orElse(open);
	}

}
