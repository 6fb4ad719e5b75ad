package io.sessionkit.internal.approval;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.ToolApproval.Decided;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.internal.PassedArguments;
import io.sessionkit.internal.argument.ToolArguments;
import io.sessionkit.internal.ledger.LedgerEntry;
import io.sessionkit.internal.tool.RepeatedCalls;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;

/**
 * The calls of one reply while the tool loop runs them. The loop passes a tool its
 * arguments but not the call that they are from, so the first matching call that was not
 * taken is used. Calls that cannot be distinguished are also the same to the tool. Safe
 * for use by many threads.
 */
final class ToolBatch {

	/**
	 * A call and its ledger entry. Changed only under the monitor of the batch.
	 */
	static final class Slot {

		private final ToolCall call;

		private final @Nullable Slot original;

		private @Nullable LedgerEntry entry;

		private boolean taken;

		private boolean late;

		private @Nullable String result;

		/**
		 * Guards the run of the call if others repeat it, which wait for it; else null.
		 */
		private @Nullable Lock running;

		Slot(ToolCall call, @Nullable Slot original, @Nullable LedgerEntry entry) {
			this.call = call;
			this.original = original;
			this.entry = entry;
		}

		/**
		 * Returns the call that this one repeats; null if it repeats none.
		 */
		@Nullable Slot original() {
			return this.original;
		}

		/**
		 * Runs the call. A loop that runs tools in parallel may begin with two calls that
		 * are the same: one waits for the other.
		 */
		String run(Supplier<String> work) {
			Lock lock = this.running;
			if (lock == null) {
				return work.get();
			}
			lock.lock();
			try {
				return work.get();
			}
			finally {
				lock.unlock();
			}
		}

	}

	/** A batch without calls. */
	static final ToolBatch NONE = of(List.of(), List.of());

	private final List<Slot> slots = new ArrayList<>();

	/**
	 * Creates the batch of a reply of which some calls may run without approval and
	 * without an entry.
	 * @param calls all calls of the reply
	 * @param entries the ledger entries of the others
	 */
	static ToolBatch of(List<ToolCall> calls, List<LedgerEntry> entries) {
		return new ToolBatch(calls, entries);
	}

	/**
	 * Creates the batch of a reply that is held back.
	 * @param calls all calls of the reply
	 * @param entries the ledger entries of the calls
	 * @throws UnreadablePayloadException if a call has none: it is not known whether it
	 * may run
	 */
	static ToolBatch held(SessionKey key, List<ToolCall> calls, List<LedgerEntry> entries) {
		ToolBatch batch = new ToolBatch(calls, entries);
		if (batch.slots.stream().anyMatch((slot) -> slot.original == null && slot.entry == null)) {
			throw new UnreadablePayloadException("The pause of session " + key
					+ " does not say of each of its tool calls whether it may run. Nothing was run; end its turn with"
					+ " Approvals.cancel(..).", null);
		}
		return batch;
	}

	private ToolBatch(List<ToolCall> calls, List<LedgerEntry> entries) {
		List<Integer> originals = RepeatedCalls.originals(calls.stream().map(ToolArguments::storable).toList());
		for (int i = 0; i < calls.size(); i++) {
			int index = i;
			LedgerEntry entry = entries.stream()
				.filter((each) -> each.approval().index() == index)
				.findFirst()
				.orElse(null);
			Slot first = (originals.get(i) < i) ? this.slots.get(originals.get(i)) : null;
			// a call that needs no approval has no entry, or one each time
			if (first == null || first.entry == null || entry != null) {
				this.slots.add(new Slot(calls.get(i), null, entry));
			}
			else {
				first.running = new ReentrantLock();
				this.slots.add(new Slot(calls.get(i), first, null));
			}
		}
	}

	/**
	 * Lets all calls be taken once more. What they returned stays, also what only this
	 * process knows.
	 */
	synchronized void beginAgain() {
		this.slots.forEach((slot) -> slot.taken = false);
	}

	/**
	 * Excludes the calls that the loop does not get. Otherwise one of them could be taken
	 * instead of a call that looks the same.
	 */
	synchronized void leaveOut(Predicate<LedgerEntry> chosen) {
		this.slots.forEach((slot) -> slot.taken = slot.entry == null || !chosen.test(slot.entry));
	}

	/**
	 * Returns the call that a tool runs for, and marks it as taken.
	 * @return the call; null if there is none
	 */
	synchronized @Nullable Slot take(String tool, String arguments) {
		for (Slot slot : this.slots) {
			if (!slot.taken && tool.equals(slot.call.name())
					&& PassedArguments.of(slot.call.arguments()).equals(PassedArguments.of(arguments))) {
				slot.taken = true;
				return slot;
			}
		}
		return null;
	}

	/**
	 * Returns whether a call repeats another one, so that it has no entry of its own.
	 * @param index the index of the call in the reply
	 */
	synchronized boolean repeats(int index) {
		return index < this.slots.size() && this.slots.get(index).original != null;
	}

	synchronized @Nullable LedgerEntry entry(Slot slot) {
		return slot.entry;
	}

	synchronized void entry(Slot slot, LedgerEntry entry) {
		slot.entry = entry;
	}

	/**
	 * Returns the time at which a call ends: not before those that have ended already, by
	 * whichever clock, since attributes that several calls have written are read in this
	 * order.
	 * @param now the time by the clock of this process
	 */
	synchronized Instant endOf(Slot slot, Instant now) {
		Instant end = now;
		for (Slot other : this.slots) {
			Instant ended = (other != slot && other.entry != null) ? other.entry.approval().endedAt() : null;
			if (ended != null && !ended.isBefore(end)) {
				end = ended.plus(1, ChronoUnit.MICROS);
			}
		}
		return end;
	}

	synchronized void result(Slot slot, String result) {
		slot.result = result;
	}

	/**
	 * Returns the result of a call for another one that repeats it.
	 * @return the result; null if its tool has thrown an exception
	 */
	synchronized @Nullable String repeated(Slot original) {
		return original.result;
	}

	/**
	 * Returns the calls whose result only this process knows.
	 */
	synchronized List<Slot> late() {
		return this.slots.stream().filter((slot) -> slot.late).toList();
	}

	synchronized void late(Slot slot, boolean late) {
		slot.late = late;
	}

	synchronized List<LedgerEntry> entries() {
		List<LedgerEntry> entries = new ArrayList<>();
		this.slots.forEach((slot) -> {
			if (slot.entry != null) {
				entries.add(slot.entry);
			}
		});
		return entries;
	}

	/**
	 * Returns whether a call of the batch has an answer for the model that is not only
	 * what its tool has returned.
	 */
	boolean hasAnswers() {
		return entries().stream().anyMatch(ToolBatch::isForModel);
	}

	private static boolean isForModel(LedgerEntry entry) {
		if (entry.status().isOver() && entry.status() != ApprovalStatus.DONE) {
			return true;
		}
		Decided last = entry.approval().decision();
		return entry.approval().isEdited() || (last != null && last.verb() == Decision.Verb.ANSWER);
	}

}
