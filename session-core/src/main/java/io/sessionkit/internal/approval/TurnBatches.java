package io.sessionkit.internal.approval;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.internal.ledger.LedgerEntry;
import io.sessionkit.store.RecordWrite;

/**
 * The calls of the replies of one turn, as the ledger has them or will have them. Safe
 * for use by many threads.
 */
final class TurnBatches {

	private final Ledger ledger;

	private final ToolRuns runs;

	/** The calls that the tool loop is running or ran last. */
	private volatile ToolBatch batch = ToolBatch.NONE;

	/** The calls of the reply that the turn continues with; none for a new turn. */
	private volatile ToolBatch held = ToolBatch.NONE;

	/**
	 * The calls of earlier replies that were not stored with a part of the turn so far.
	 * Its monitor guards the change from one batch to the next.
	 */
	private final Map<String, LedgerEntry> unwritten = new LinkedHashMap<>();

	/** The batches of earlier replies with results that only this process knows. */
	private final List<ToolBatch> late = new CopyOnWriteArrayList<>();

	/** True if the calls that the tool loop is running or ran last are stored. */
	private volatile boolean written;

	TurnBatches(Ledger ledger, ToolRuns runs) {
		this.ledger = ledger;
		this.runs = runs;
	}

	/**
	 * Returns the calls that the tool loop is running or ran last.
	 */
	ToolBatch current() {
		return this.batch;
	}

	/**
	 * Returns the calls of the reply that the turn continues with; none for a new turn.
	 */
	ToolBatch held() {
		return this.held;
	}

	/**
	 * Returns whether the calls that the tool loop is running or ran last are stored.
	 */
	boolean areWritten() {
		return this.written;
	}

	/**
	 * Sets the calls of the reply that the turn continues with.
	 */
	void resume(ToolBatch held) {
		this.held = held;
		this.batch = held;
	}

	/**
	 * Moves the loop on to the calls of the reply that the turn continues with, from the
	 * first one.
	 */
	void beginAgain() {
		this.held.beginAgain();
		this.batch = this.held;
		this.written = true;
	}

	/** Moves the loop on to other calls, of which nothing is stored. */
	void follow(ToolBatch next) {
		synchronized (this.unwritten) {
			this.written = false;
			if (!this.batch.late().isEmpty()) {
				this.late.add(this.batch);
			}
			this.batch.entries().forEach((entry) -> this.unwritten.put(entry.approval().id(), entry));
			this.batch = next;
		}
	}

	/** Moves the loop on to calls that are stored, together with all before them. */
	void stored(ToolBatch next) {
		synchronized (this.unwritten) {
			this.unwritten.clear();
			this.written = true;
			this.batch = next;
		}
	}

	/** Drops the calls that the tool loop ran last, which are stored in another way. */
	void drop() {
		synchronized (this.unwritten) {
			this.batch = ToolBatch.NONE;
		}
	}

	/**
	 * Stores the results that could not be stored earlier.
	 */
	void storeLate() {
		List<ToolBatch> batches = new ArrayList<>(this.late);
		batches.add(this.batch);
		batches.forEach(this.runs::storeLate);
	}

	/**
	 * Returns the records of the calls that are over. A result that could not be stored
	 * earlier is stored first: if somebody has decided the call in the meantime, that
	 * decision must not be overwritten.
	 */
	List<RecordWrite> closing() {
		storeLate();
		Map<String, LedgerEntry> all;
		synchronized (this.unwritten) {
			all = new LinkedHashMap<>(this.unwritten);
			this.late.forEach((each) -> each.entries().forEach((entry) -> all.put(entry.approval().id(), entry)));
			this.batch.entries().forEach((entry) -> all.put(entry.approval().id(), entry));
		}
		return this.ledger.closing(over(all.values()));
	}

	/**
	 * Returns those of the calls that are over.
	 */
	private List<LedgerEntry> over(Collection<LedgerEntry> entries) {
		return entries.stream()
			.flatMap((entry) -> (entry.status() == ApprovalStatus.APPROVED) ? notRun(entry) : Stream.of(entry))
			.filter((entry) -> entry.status().isOver())
			.toList();
	}

	/**
	 * Cancels a call that was to run but did not, since a limit or a failure ended the
	 * loop, with the part of the turn that is about to be written. Another process that
	 * took the turn over may have run it.
	 */
	private Stream<LedgerEntry> notRun(LedgerEntry entry) {
		return this.ledger.find(entry.approval().key(), entry.approval().id())
			.map((now) -> Ledger.mayStillRun(now) ? now.with(ApprovalStatus.CANCELLED) : now)
			.stream();
	}

}
