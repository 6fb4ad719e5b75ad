package io.sessionkit.internal.ledger;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.internal.lease.HeldReply;
import io.sessionkit.internal.tool.RepeatedCalls;
import io.sessionkit.internal.turn.RunningTurn;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;

/**
 * The calls of a reply that a turn holds back, in their current state.
 *
 * @param calls all calls of the reply
 * @param entries their ledger entries; identical calls share one entry, unless they need
 * no approval
 * @param ledger the ledger
 * @param texts the texts for the model
 */
public record HeldCalls(List<ToolCall> calls, List<LedgerEntry> entries, Ledger ledger, SafeTexts texts) {

	private static final String CALLS = "calls";

	/** The calls whose changes of the attributes are stored with the reply. */
	private static final String TAKEN = "taken";

	/** The answer to a call of which nothing is known. */
	private static final String UNKNOWN = "This call was cancelled.";

	/**
	 * Returns the calls that a turn holds back which this call continues.
	 */
	public static HeldCalls of(RunningTurn turn, Ledger ledger, SafeTexts texts) {
		HeldReply held = Objects.requireNonNull(turn.holding().reply());
		List<LedgerEntry> entries = ledger
			.judged(entries(turn.key(), held, ledger.read(turn.records(Ledger.APPROVAL))));
		return new HeldCalls(held.reply().getToolCalls(), entries, ledger, texts);
	}

	/**
	 * Returns the entries of the calls of a held reply, those that have expired included.
	 * @param open the entries of its session that are not over
	 */
	static List<LedgerEntry> entries(SessionKey key, HeldReply held, List<LedgerEntry> open) {
		List<String> ours = requested(key, held).stream().map((entry) -> entry.approval().id()).toList();
		return withExpired(key, held, open).stream().filter((entry) -> ours.contains(entry.approval().id())).toList();
	}

	/**
	 * Returns the notes that are kept with the reply: the calls as they were when it was
	 * held back.
	 */
	public static Map<String, Object> notes(List<LedgerEntry> requested) {
		return Map.of(CALLS, requested.stream().map(LedgerForm::values).toList());
	}

	/**
	 * Returns the note that the attributes which are stored with the reply have what its
	 * calls have written: applied again, it would replace what was written later.
	 * @param entries the calls, of which those count that are over
	 */
	public static Map<String, Object> taken(List<LedgerEntry> entries) {
		return Map.of(TAKEN,
				entries.stream()
					.filter((entry) -> entry.status().isOver())
					.map((entry) -> entry.approval().id())
					.toList());
	}

	private static boolean isTaken(HeldReply held, LedgerEntry entry) {
		return held.notes().get(TAKEN) instanceof List<?> taken && taken.contains(entry.approval().id());
	}

	/**
	 * Adds to a turn that this call continues what tools have written to the attributes
	 * in earlier calls, since the reply was held back or stored once more.
	 */
	public static void takeAttributes(RunningTurn turn, Ledger ledger) {
		HeldReply held = Objects.requireNonNull(turn.holding().reply());
		entries(turn.key(), held, ledger.read(turn.records(Ledger.APPROVAL))).stream()
			.filter((entry) -> !entry.attributes().isEmpty() && !isTaken(held, entry))
			.sorted(Comparator.comparing((entry) -> Objects.requireNonNull(entry.approval().endedAt())))
			.forEach((entry) -> turn.attributes().apply(entry.attributes()));
	}

	private static List<LedgerEntry> requested(SessionKey key, HeldReply held) {
		List<LedgerEntry> requested = new ArrayList<>();
		if (held.notes().get(CALLS) instanceof List<?> calls) {
			calls.forEach((values) -> requested.add(LedgerForm.entry(key, (Map<?, ?>) values, 0)));
		}
		return requested;
	}

	/**
	 * Returns the given entries together with those that expired before anybody decided.
	 * The records of these are gone, but the pause still lists them.
	 */
	static List<LedgerEntry> withExpired(SessionKey key, HeldReply held, List<LedgerEntry> open) {
		Map<String, LedgerEntry> all = new LinkedHashMap<>();
		requested(key, held).forEach((entry) -> all.put(entry.approval().id(), gone(entry)));
		open.forEach((entry) -> all.put(entry.approval().id(), entry));
		return List.copyOf(all.values());
	}

	private static LedgerEntry gone(LedgerEntry requested) {
		boolean expires = requested.status() == ApprovalStatus.PROPOSED && requested.approval().expiresAt() != null;
		return requested.with(expires ? ApprovalStatus.EXPIRED : ApprovalStatus.UNCERTAIN);
	}

	@Nullable LedgerEntry entry(int index) {
		return this.entries.stream().filter((entry) -> entry.approval().index() == index).findFirst().orElse(null);
	}

	/**
	 * Returns all entries as they are when those that have not run are cancelled. It is
	 * stored with the end of their turn alone, so that a turn that does not end keeps
	 * what was decided.
	 */
	public List<LedgerEntry> cancelled() {
		return this.entries.stream()
			.map((entry) -> Ledger.mayStillRun(entry) ? entry.with(ApprovalStatus.CANCELLED) : entry)
			.toList();
	}

	/**
	 * Returns the answers to all calls of the reply for the model, in their order.
	 */
	public List<ToolResponse> answers(List<LedgerEntry> ended) {
		HeldCalls now = new HeldCalls(this.calls, ended, this.ledger, this.texts);
		List<Integer> originals = RepeatedCalls.originals(this.calls);
		List<ToolResponse> answers = new ArrayList<>();
		for (int i = 0; i < this.calls.size(); i++) {
			LedgerEntry own = now.entry(i);
			LedgerEntry entry = (own != null) ? own : now.entry(originals.get(i));
			answers.add(new ToolResponse(this.calls.get(i).id(), this.calls.get(i).name(),
					(entry != null) ? answer(entry) : UNKNOWN));
		}
		return answers;
	}

	private String answer(LedgerEntry entry) {
		return (entry.status() == ApprovalStatus.DONE && entry.result() != null)
				? this.texts.result(entry.approval(), entry.result()) : this.texts.notRun(entry.approval());
	}

}
