package io.sessionkit.internal.approval;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import io.sessionkit.SessionException;
import io.sessionkit.TurnHandedOverException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.approval.ApprovalEvent;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.internal.Interrupts;
import io.sessionkit.internal.Uninterrupted;
import io.sessionkit.internal.argument.ToolArguments;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.internal.ledger.LedgerEntry;
import io.sessionkit.internal.ledger.SafeTexts;
import io.sessionkit.internal.line.Drain;
import io.sessionkit.internal.run.RunningCall;
import io.sessionkit.internal.run.StoppedTool;
import io.sessionkit.internal.run.ToolLimits;
import io.sessionkit.internal.run.ToolOutcome;
import io.sessionkit.internal.turn.RunningTurn;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.execution.ToolExecutionException;

/**
 * Runs the tools of one turn, those in the ledger at most once: a call is claimed before
 * it runs, and its result is stored before anything else is done with it. Safe for use by
 * many threads.
 */
final class ToolRuns {

	private static final Log logger = LogFactory.getLog(ToolRuns.class);

	private final RunningTurn turn;

	private final Ledger ledger;

	private final SafeTexts texts;

	private final ToolLimits limits;

	private final Consumer<ApprovalEvent> events;

	private final Drain drain;

	/**
	 * The failures of calls that were thrown for the tool loop to turn into results.
	 */
	private final List<ToolExecutionException> failures = new CopyOnWriteArrayList<>();

	ToolRuns(RunningTurn turn, GateSetup setup, Drain drain) {
		this.turn = turn;
		this.ledger = setup.ledger();
		this.texts = setup.rules().texts();
		this.limits = setup.rules().limits();
		this.events = NestedCalls.listening(this.turn.running(), setup.events());
		this.drain = drain;
	}

	/**
	 * The failure of an earlier run of a tool, reported again.
	 */
	private static final class RepeatedToolFailure extends RuntimeException {

		RepeatedToolFailure(String message) {
			super(message, null, false, false);
		}

	}

	/**
	 * Runs a call of a reply, or returns the answer that replaces its result.
	 */
	String run(ToolBatch batch, ToolBatch.Slot slot, ToolCallback tool, String arguments,
			@Nullable ToolContext context) {
		ToolBatch.Slot run = Objects.requireNonNullElse(slot.original(), slot);
		return run.run(() -> {
			String repeated = (run != slot) ? batch.repeated(run) : null;
			return (repeated != null) ? repeated : result(batch, run, tool, arguments, context);
		});
	}

	/** The exception that a tool has thrown is told to each call that is the same. */
	private String result(ToolBatch batch, ToolBatch.Slot slot, ToolCallback tool, String arguments,
			@Nullable ToolContext context) {
		LedgerEntry entry = batch.entry(slot);
		String result = (entry == null) ? unclaimed(tool, arguments, context)
				: answer(batch, slot, entry, tool, context);
		batch.result(slot, result);
		return result;
	}

	private String unclaimed(ToolCallback tool, String arguments, @Nullable ToolContext context) {
		try {
			return this.limits.told(tool, arguments, context);
		}
		catch (ToolExecutionException ex) {
			note(ex);
			throw ex;
		}
	}

	/**
	 * Returns whether the tool loop has thrown the failure of a tool instead of turning
	 * it into a result, and would do so each time that it is reported again.
	 */
	boolean hasThrown(Throwable thrown) {
		for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
			if (this.failures.contains(cause)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Remembers a failure that Spring AI could turn into a result. Any other failure is
	 * thrown once, and reported when the turn continues.
	 */
	private void note(Throwable thrown) {
		if (thrown instanceof ToolExecutionException failure && failure.getCause() instanceof RuntimeException) {
			this.failures.add(failure);
		}
	}

	private String answer(ToolBatch batch, ToolBatch.Slot slot, LedgerEntry entry, ToolCallback tool,
			@Nullable ToolContext context) {
		return switch (entry.status()) {
			case APPROVED -> execute(batch, slot, entry, tool, context);
			case DONE -> again(entry, tool);
			case REJECTED, DENIED, CANCELLED, EXPIRED -> this.texts.notRun(entry.approval());
			case PROPOSED, CLAIMED, UNCERTAIN ->
				throw new IllegalStateException("Tool '" + entry.approval().tool() + "' was about to run on session "
						+ this.turn.key() + " although its call is " + entry.status() + ". Nothing was run.");
		};
	}

	private String again(LedgerEntry entry, ToolCallback tool) {
		String result = Objects.requireNonNullElse(entry.result(), "");
		if (entry.failed() && !StoppedTool.isTold(entry.approval().tool(), result)) {
			ToolExecutionException repeated = new ToolExecutionException(tool.getToolDefinition(),
					new RepeatedToolFailure(result));
			note(repeated);
			throw repeated;
		}
		return this.texts.result(entry.approval(), result);
	}

	private String execute(ToolBatch batch, ToolBatch.Slot slot, LedgerEntry approved, ToolCallback tool,
			@Nullable ToolContext context) {
		return this.turn.holding().underLease((lease) -> {
			LedgerEntry claimed = claim(approved, lease.holder());
			batch.entry(slot, claimed);
			ToolApproval call = claimed.approval();
			String arguments = ToolArguments.of(call.effectiveArguments()).toString();
			ToolContext withClaim = RunningCall.withClaim(context, call);
			if (!lease.isHeld()) {
				throw tooLate(batch, slot, approved, claimed);
			}
			String result;
			try {
				result = RunningCall.runClaimed(call, () -> this.limits.run(tool, arguments, withClaim));
			}
			catch (StoppedTool ex) {
				// it may have had its effect, and the turn continues
				end(batch, slot, claimed, ex.text(), true);
				return this.texts.result(call, ex.text());
			}
			catch (Throwable ex) {
				boolean interrupted = Interrupts.hasEnded(ex);
				if (interrupted && this.drain.isOn()) {
					throw brokenOff(call, ex);
				}
				end(batch, slot, claimed, interrupted ? StoppedTool.interrupted(call.tool()) : ToolOutcome.told(ex),
						true);
				note(ex);
				throw ex;
			}
			end(batch, slot, claimed, result, false);
			return this.texts.result(call, result);
		});
	}

	/**
	 * Returns the exception for a tool that the end of this process has interrupted, as
	 * the end of the threads that it runs on does. What it has thrown is not its result:
	 * the claim stays as a killed process leaves it, and the turn goes no further.
	 */
	private TurnHandedOverException brokenOff(ToolApproval call, Throwable thrown) {
		this.turn.handedOver();
		String what = "Tool '" + call.tool() + "' on session " + this.turn.key()
				+ " was interrupted, since this process shuts down. It may have had its effect, so its call is uncertain";
		logger.warn(what + ": a person has to decide whether it runs again.");
		return new TurnHandedOverException(
				what + ". Decide it, then call again without a message, in another process, to continue the turn.",
				this.turn.id(), thrown);
	}

	private LedgerEntry claim(LedgerEntry approved, String holder) {
		LedgerEntry claimed = Uninterrupted.call(() -> this.ledger.claim(approved, holder));
		if (claimed == null) {
			SessionException lost = this.turn.lost();
			throw (lost != null) ? lost
					: new TurnInProgressException("The call of tool '" + approved.approval().tool() + "' on session "
							+ this.turn.key() + " was claimed or decided elsewhere in the meantime, or it was"
							+ " stored inside a transaction that is not committed. Nothing was run.");
		}
		return claimed;
	}

	/**
	 * Takes back the claim of a call that has not run, and returns the exception to
	 * throw. By the time that this process knows of its claim, somebody may have
	 * considered the call uncertain and decided it. If so, that decision stands.
	 */
	private TurnInProgressException tooLate(ToolBatch batch, ToolBatch.Slot slot, LedgerEntry approved,
			LedgerEntry claimed) {
		takeBack(batch, slot, approved, claimed);
		return new TurnInProgressException("The lease of the open turn on session " + this.turn.key()
				+ " ran out while tool '" + approved.approval().tool()
				+ "' was claimed, so it may have been decided elsewhere. Nothing was run. Call again without a"
				+ " message to continue.");
	}

	private void takeBack(ToolBatch batch, ToolBatch.Slot slot, LedgerEntry approved, LedgerEntry claimed) {
		try {
			LedgerEntry unclaimed = replace(LedgerEntry.requested(approved.approval()).revision(claimed.revision()));
			batch.entry(slot, (unclaimed != null) ? unclaimed : claimed);
		}
		catch (RuntimeException ex) {
			logger.warn("The claim of tool '" + approved.approval().tool() + "' on session " + this.turn.key()
					+ " could not be taken back, so the call will be uncertain although it did not run: "
					+ ex.getClass().getName());
		}
	}

	/**
	 * Stores the result of a call, and what the tool has written to the attributes: a
	 * later call that continues the turn has both or none. If the store does not answer,
	 * only this process knows the result: it continues with it, and stores it with the
	 * turn or when this call ends.
	 */
	private void end(ToolBatch batch, ToolBatch.Slot slot, LedgerEntry claimed, String result, boolean failed) {
		LedgerEntry ended = claimed.ended(batch.endOf(slot, this.ledger.now()), ToolOutcome.storable(result), failed)
			.attributes(this.turn.attributes().mark());
		batch.entry(slot, ended);
		LedgerEntry stored;
		try {
			stored = replace(ended);
		}
		catch (RuntimeException ex) {
			logger.warn("The result of tool '" + claimed.approval().tool() + "' on session " + this.turn.key()
					+ " could not be stored yet: " + ex.getClass().getName());
			batch.late(slot, true);
			return;
		}
		if (stored == null) {
			throw changedMeanwhile(claimed.approval());
		}
		batch.entry(slot, stored);
		this.events.accept(new ApprovalEvent.Executed(stored.approval()));
	}

	/**
	 * Changes an entry on a thread that nothing interrupts. A stream that is cancelled
	 * interrupts its tools, and a write that is interrupted may or may not have been
	 * done.
	 */
	private @Nullable LedgerEntry replace(LedgerEntry changed) {
		return Uninterrupted.call(() -> this.ledger.replace(changed));
	}

	/**
	 * Stores the results that could not be stored earlier.
	 */
	void storeLate(ToolBatch batch) {
		for (ToolBatch.Slot slot : batch.late()) {
			LedgerEntry ended = Objects.requireNonNull(batch.entry(slot));
			LedgerEntry stored = replace(ended);
			if (stored == null) {
				stored = there(ended).orElseThrow(() -> changedMeanwhile(ended.approval()));
			}
			batch.entry(slot, stored);
			this.events.accept(new ApprovalEvent.Executed(stored.approval()));
			batch.late(slot, false);
		}
	}

	/**
	 * Returns the entry if it is already stored. A write may have succeeded although the
	 * response was lost.
	 */
	private Optional<LedgerEntry> there(LedgerEntry ended) {
		return this.ledger.find(this.turn.key(), ended.approval().id())
			.filter((entry) -> entry.status() == ended.status()
					&& entry.approval().decisions().equals(ended.approval().decisions()));
	}

	private SessionException changedMeanwhile(ToolApproval call) {
		SessionException lost = this.turn.lost();
		if (lost != null) {
			logger.warn("Tool '" + call.tool() + "' has run in a turn on session " + this.turn.key()
					+ ", which was erased or has expired meanwhile. What it has done is recorded nowhere.");
			return lost;
		}
		return new TurnInProgressException("The call of tool '" + call.tool() + "' on session " + this.turn.key()
				+ " was considered uncertain while it ran, and somebody decided it. What it returned is not used. Read"
				+ " the session; if the turn is still open, call again without a message to continue it.");
	}

}
