package io.sessionkit.internal.compensation;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

import io.sessionkit.SessionException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.internal.Interrupts;
import io.sessionkit.internal.Uninterrupted;
import io.sessionkit.internal.argument.ToolArguments;
import io.sessionkit.internal.lease.HeldLease;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.internal.ledger.LedgerEntry;
import io.sessionkit.internal.run.RunningCall;
import io.sessionkit.internal.run.ToolLimits;
import io.sessionkit.internal.run.ToolOutcome;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.tool.ToolCallback;

/**
 * Runs the calls that take effects back, each at most once: a call is claimed under the
 * lease of the rewind before it runs, and its outcome is stored before anything else
 * happens. Safe for use by many threads.
 */
public final class CompensationRuns {

	private static final Log logger = LogFactory.getLog(CompensationRuns.class);

	private final Ledger ledger;

	private final ToolLimits limits;

	public CompensationRuns(Ledger ledger, ToolLimits limits) {
		this.ledger = ledger;
		this.limits = limits;
	}

	/**
	 * Returns the calls of a session that were stored, by id, as they are now.
	 */
	public Map<String, LedgerEntry> stored(SessionKey key) {
		Map<String, LedgerEntry> stored = new LinkedHashMap<>();
		this.ledger.judged(this.ledger.open(key)).forEach((entry) -> stored.put(entry.approval().id(), entry));
		return stored;
	}

	/**
	 * Returns a call as it is to be dealt with now. One that waits for a person needs the
	 * decision, unless the present rules deny it; a decision counts for the tool and the
	 * arguments that were shown. A call that has begun stays what it is.
	 * @param planned the call as the present rules have it
	 * @param stored the call as it was stored; null if it was not
	 */
	public static LedgerEntry now(ToolApproval planned, @Nullable LedgerEntry stored) {
		if (stored == null) {
			return LedgerEntry.requested(planned);
		}
		boolean unchanged = stored.approval().digest().equals(planned.digest());
		boolean stands = switch (stored.status()) {
			case PROPOSED -> unchanged && planned.status() != ApprovalStatus.DENIED;
			case APPROVED -> stored.approval().claimedAt() != null || unchanged && stored.approval().decision() != null;
			case REJECTED -> stored.approval().claimedAt() != null || unchanged;
			default -> true;
		};
		return stands ? stored : LedgerEntry.requested(planned).revision(stored.revision());
	}

	/**
	 * Stores a call that waits for a person.
	 * @return the call as it is stored; empty if it has changed meanwhile
	 */
	public Optional<LedgerEntry> propose(LedgerEntry entry) {
		return Optional.ofNullable(this.ledger.replace(entry));
	}

	/**
	 * Runs a call that may run.
	 * @param entry the call as it was read
	 * @param context the values for tools that take a context
	 * @param lease the lease of the rewind
	 * @return the call as it is stored now: done, or uncertain if the tool threw an
	 * exception; an error is recorded in the same way, and thrown
	 * @throws TurnInProgressException if the call was not run, because it has changed or
	 * because the lease was lost; or if it was decided while it ran
	 * @throws SessionNotFoundException if the session was erased or expired while it ran
	 */
	public LedgerEntry run(LedgerEntry entry, ToolCallback tool, Map<String, Object> context, HeldLease lease) {
		LedgerEntry claimed = claim(entry, lease);
		ToolApproval call = claimed.approval();
		String arguments = ToolArguments.of(call.effectiveArguments()).toString();
		ToolContext withClaim = RunningCall.withClaim(new ToolContext(new HashMap<>(context)), call);
		if (!lease.isHeld()) {
			takeBack(entry, claimed);
			throw new TurnInProgressException("The lease of the rewind of session " + call.key()
					+ " ran out while tool '" + call.tool()
					+ "' was claimed, so another call may continue the rewind. The tool was not run; call again.");
		}
		return end(claimed, ended(claimed, tool, arguments, withClaim));
	}

	private LedgerEntry claim(LedgerEntry entry, HeldLease lease) {
		LedgerEntry claimed = Uninterrupted.call(() -> this.ledger.claim(entry, lease.holder()));
		if (claimed == null) {
			throw new TurnInProgressException("The call of tool '" + entry.approval().tool() + "' that takes an effect"
					+ " of session " + entry.approval().key() + " back was changed elsewhere in the meantime. It was"
					+ " not run; call again.");
		}
		return claimed;
	}

	private LedgerEntry ended(LedgerEntry claimed, ToolCallback tool, String arguments, @Nullable ToolContext context) {
		try {
			String result = RunningCall.runClaimed(claimed.approval(), () -> this.limits.run(tool, arguments, context));
			return claimed.ended(this.ledger.now(), ToolOutcome.storable(result), false);
		}
		catch (Throwable ex) {
			Interrupts.keep(ToolOutcome.cause(ex));
			LedgerEntry failed = claimed.failed(this.ledger.now(), ToolOutcome.storable(ToolOutcome.told(ex)));
			if (ex instanceof Error error) {
				throw recorded(claimed, failed, error);
			}
			return failed;
		}
	}

	/** Stores the end of a tool that threw an error, which ends the rewind. */
	private Error recorded(LedgerEntry claimed, LedgerEntry failed, Error error) {
		try {
			end(claimed, failed);
		}
		catch (RuntimeException ex) {
			error.addSuppressed(ex);
		}
		return error;
	}

	private LedgerEntry end(LedgerEntry claimed, LedgerEntry ended) {
		LedgerEntry stored = replace(ended);
		if (stored == null) {
			throw changedMeanwhile(claimed.approval());
		}
		return stored;
	}

	/** The record of a call lives as long as its session. */
	private SessionException changedMeanwhile(ToolApproval call) {
		if (this.ledger.find(call.key(), call.id()).isEmpty()) {
			return new SessionNotFoundException("Session " + call.key() + " was erased or has expired while tool '"
					+ call.tool() + "' ran, which takes an effect of it back. The record that it has run is gone too.");
		}
		return new TurnInProgressException("The call of tool '" + call.tool() + "' that takes an effect of session "
				+ call.key()
				+ " back was considered uncertain while it ran, and somebody decided it. That decision stands.");
	}

	/**
	 * Takes back the claim of a call that has not run. If somebody has decided it
	 * meanwhile, that decision stands.
	 */
	private void takeBack(LedgerEntry entry, LedgerEntry claimed) {
		try {
			replace(entry.revision(claimed.revision()));
		}
		catch (RuntimeException ex) {
			logger.warn("The claim of tool '" + entry.approval().tool() + "' on session " + entry.approval().key()
					+ " could not be taken back, so the call will be uncertain although it did not run: "
					+ ex.getClass().getName());
		}
	}

	private @Nullable LedgerEntry replace(LedgerEntry changed) {
		return Uninterrupted.call(() -> this.ledger.replace(changed));
	}

}
