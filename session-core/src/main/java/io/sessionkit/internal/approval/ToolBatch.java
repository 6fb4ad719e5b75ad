package io.sessionkit.internal.approval;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

import io.sessionkit.SessionKey;
import io.sessionkit.UnreadablePayloadException;
import io.sessionkit.approval.ApprovalStatus;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;

/**
 * The calls of one reply while the tool loop runs them. The loop gives a tool its
 * arguments and not the call that they are from, so the first call that fits and was not
 * taken is the one; calls that cannot be told apart are the same to the tool too. Safe
 * for use by many threads.
 */
final class ToolBatch {

	/**
	 * A call, and what the ledger has of it. Changed under the batch's monitor only.
	 */
	static final class Slot {

		private final ToolCall call;

		private final @Nullable Slot original;

		private @Nullable LedgerEntry entry;

		private boolean taken;

		private boolean late;

		private @Nullable String result;

		Slot(ToolCall call, @Nullable Slot original, @Nullable LedgerEntry entry) {
			this.call = call;
			this.original = original;
			this.entry = entry;
		}

		/**
		 * The call that this one repeats; null if it is one of its own.
		 */
		@Nullable Slot original() {
			return this.original;
		}

	}

	/** No calls. */
	static final ToolBatch NONE = of(List.of(), List.of());

	private final List<Slot> slots = new ArrayList<>();

	/**
	 * The calls of a reply of which some may run unasked and without an entry.
	 * @param calls all calls of the reply
	 * @param entries the ledger's entries of the others
	 */
	static ToolBatch of(List<ToolCall> calls, List<LedgerEntry> entries) {
		return new ToolBatch(calls, entries);
	}

	/**
	 * The calls of a reply that is held back.
	 * @param calls all calls of the reply
	 * @param entries the ledger's entry of each
	 * @throws UnreadablePayloadException if one has none: nobody knows whether it may run
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
		List<Integer> originals = HeldCalls.originals(calls);
		for (int i = 0; i < calls.size(); i++) {
			int index = i;
			LedgerEntry entry = entries.stream()
				.filter((each) -> each.approval().index() == index)
				.findFirst()
				.orElse(null);
			Slot first = (originals.get(i) < i) ? this.slots.get(originals.get(i)) : null;
			// one that may run unasked has no entry, or one each time
			boolean repeats = first != null && first.entry != null && entry == null;
			this.slots.add(new Slot(calls.get(i), repeats ? first : null, entry));
		}
	}

	/**
	 * Leaves out what the loop is not given: a call that looks the same as one of those
	 * must not be taken in its place.
	 */
	synchronized void leaveOut(Predicate<LedgerEntry> chosen) {
		this.slots.forEach((slot) -> slot.taken = slot.entry == null || !chosen.test(slot.entry));
	}

	/**
	 * The call that a tool is run for.
	 * @return null if there is none
	 */
	synchronized @Nullable Slot take(String tool, String arguments) {
		for (Slot slot : this.slots) {
			if (!slot.taken && slot.call.name().equals(tool)
					&& withBraces(slot.call.arguments()).equals(withBraces(arguments))) {
				slot.taken = true;
				return slot;
			}
		}
		return null;
	}

	/** The loop makes an empty object of blank arguments. */
	private static String withBraces(@Nullable String arguments) {
		return (arguments == null || arguments.isBlank()) ? "{}" : arguments;
	}

	synchronized @Nullable LedgerEntry entry(Slot slot) {
		return slot.entry;
	}

	synchronized void entry(Slot slot, LedgerEntry entry) {
		slot.entry = entry;
	}

	synchronized void result(Slot slot, String result) {
		slot.result = result;
	}

	/**
	 * What a call has returned that is repeated.
	 */
	synchronized String repeated(Slot original) {
		return Objects.requireNonNull(original.result, "the first of two same calls has not returned");
	}

	/**
	 * The calls whose result is known to this process alone.
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
	 * Whether a call of the batch is answered without running.
	 */
	boolean hasAnswers() {
		return entries().stream().anyMatch((entry) -> entry.status().isOver() && entry.status() != ApprovalStatus.DONE);
	}

}
