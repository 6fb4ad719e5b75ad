package io.sessionkit.internal.compensation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.compensation.Effect;
import io.sessionkit.compensation.Irreversible.Reason;
import io.sessionkit.internal.argument.ToolArguments;
import io.sessionkit.internal.compensation.RanCall.Flaw;
import io.sessionkit.internal.ledger.LedgerEntry;
import io.sessionkit.internal.run.StoppedTool;
import io.sessionkit.internal.tool.CallId;
import io.sessionkit.internal.tool.LoopLimits;
import io.sessionkit.internal.tool.RepeatedCalls;
import io.sessionkit.internal.tree.StoredQuestion;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Finds the tool calls of one turn that have run. The ledger has the last word on calls
 * that are in it: it knows with which arguments they ran, and whether. For the others the
 * messages of the turn are all that is known. Not safe for use by many threads.
 */
final class RanCalls {

	private static final Flaw UNKNOWN_END = new Flaw(Reason.UNCERTAIN,
			"It is not known whether the call has had its effect.");

	private static final Flaw RAN_BEFORE = new Flaw(Reason.UNCERTAIN,
			"The call ran once more, since a person said so when it was not known whether it had run. What it may have"
					+ " done before that stays.");

	/** The name in place of that of a tool which is not known. */
	private static final String UNKNOWN = "unknown";

	/** The name in place of the id of a turn that is no longer there. */
	private static final String DELETED = "deleted-";

	private final SessionKey key;

	private final Turn turn;

	private final List<SessionItem> items;

	/** The entries of the ledger by the round that they are from, in order. */
	private final TreeMap<Integer, List<LedgerEntry>> ledger;

	private final @Nullable Flaw flawOfTurn;

	/**
	 * Creates the calls of a turn.
	 * @param items all items of the turn
	 * @param ledger the calls of the session that are recorded as over
	 * @param copied whether the turn was copied from another session
	 */
	RanCalls(SessionKey key, Turn turn, List<SessionItem> items, List<LedgerEntry> ledger, boolean copied) {
		this.key = key;
		this.turn = turn;
		this.items = items;
		this.ledger = ledger.stream()
			.filter((entry) -> entry.approval().turnId().equals(turn.id()))
			.collect(Collectors.groupingBy((entry) -> entry.approval().round(), TreeMap::new, Collectors.toList()));
		this.flawOfTurn = flawOfTurn(copied);
	}

	private @Nullable Flaw flawOfTurn(boolean copied) {
		if (copied || this.turn.parameters().containsKey(Turn.ADOPTED)) {
			return new Flaw(Reason.ELSEWHERE, "The turn is a copy, and the call was made by its original.");
		}
		if (this.turn.rounds().isEmpty()) {
			return new Flaw(Reason.ELSEWHERE, "The turn was added to the session, and the call was made elsewhere.");
		}
		return null;
	}

	/**
	 * Returns the calls, the newest first.
	 */
	List<RanCall> newestFirst() {
		List<RanCall> calls = new ArrayList<>();
		if (replies() - examples() < this.turn.rounds().size()) {
			calls.add(hidden());
		}
		// all replies take their entries before any call is judged
		List<Reply> replies = withCalls();
		replies.forEach((reply) -> reply.compareWith(replies));
		replies.forEach((reply) -> calls.addAll(reply.calls()));
		this.ledger.values().forEach((entries) -> entries.forEach((entry) -> addForgotten(entry, calls)));
		Collections.reverse(calls);
		return calls;
	}

	private long replies() {
		return this.items.stream().filter((item) -> item.message() instanceof AssistantMessage).count();
	}

	/**
	 * Returns the number of replies that are examples in the input. The question comes
	 * after them, and all of the input has the time at which the turn was opened, unlike
	 * a message that has joined the turn later.
	 */
	private long examples() {
		List<SessionItem> input = this.items.stream()
			.filter((item) -> item.at().equals(this.turn.startedAt()))
			.toList();
		int question = input.size() - 1;
		while (question >= 0 && !(input.get(question).message() instanceof UserMessage)) {
			question--;
		}
		return input.stream().limit(question + 1).filter((item) -> item.message() instanceof AssistantMessage).count();
	}

	/**
	 * Returns what stands for calls of replies that are not among the messages: they were
	 * deleted, left out by a hook, or not used by the tool loop.
	 */
	private RanCall hidden() {
		Effect effect = new Effect(CallId.ofCompensation(this.key, this.turn.id(), 0, 0), this.turn.number(), UNKNOWN,
				"{}", null);
		return new RanCall(effect, place(0, 0), orOfTurn(new Flaw(Reason.UNCERTAIN,
				"Replies of the model are not among the messages of the turn, and may have called tools.")));
	}

	/**
	 * Returns what stands for calls of turns that are no longer there.
	 * @param last the number of the last of these turns
	 */
	static RanCall ofDeleted(SessionKey key, long last) {
		Effect effect = new Effect(CallId.ofCompensation(key, DELETED + last, 0, 0), last, UNKNOWN, "{}", null);
		return new RanCall(effect, new RanCall.Place(DELETED + last, 0, 0, null), new Flaw(Reason.UNCERTAIN,
				"The turns up to number " + last + " were deleted, and their models may have called tools."));
	}

	/**
	 * Examples come before all replies of the turn, and are of no round. In a turn that a
	 * hook has rewritten all messages may have one time, so that replies before a message
	 * that has joined look like examples: none is left out.
	 */
	private List<Reply> withCalls() {
		List<Reply> replies = new ArrayList<>();
		long round = (this.flawOfTurn == null && !isRewritten()) ? -examples() : 0;
		for (int i = 0; i < this.items.size(); i++) {
			if (this.items.get(i).message() instanceof AssistantMessage reply) {
				round++;
				if (round > 0 && reply.hasToolCalls()) {
					// a provider may leave the name out
					List<ToolCall> calls = reply.getToolCalls().stream().map(ToolArguments::storable).toList();
					replies.add(new Reply(i, (int) round, calls));
				}
			}
		}
		return replies;
	}

	/**
	 * Adds a call that the ledger has and no message: the tool loop was begun again after
	 * it.
	 */
	private void addForgotten(LedgerEntry entry, List<RanCall> calls) {
		if (mayHaveRun(entry)) {
			ToolApproval call = entry.approval();
			String id = CallId.ofCompensation(this.key, this.turn.id(), -call.round(), call.index());
			calls.add(new RanCall(effect(id, entry), place(call.round(), call.index()),
					new Flaw(Reason.UNCERTAIN, "The call is in the ledger, but not among the messages of its turn.")));
		}
	}

	private Effect effect(String id, LedgerEntry entry) {
		ToolApproval call = entry.approval();
		return new Effect(id, this.turn.number(), call.tool(), call.effectiveArguments(), entry.result());
	}

	private RanCall.Place place(int round, int index) {
		return new RanCall.Place(this.turn.id(), round, index, this.turn.agent());
	}

	/** A call that was claimed may have run, whatever was decided on it since. */
	private static boolean mayHaveRun(LedgerEntry entry) {
		return switch (entry.status()) {
			case DONE, CLAIMED, UNCERTAIN -> true;
			default -> entry.approval().claimedAt() != null;
		};
	}

	private static @Nullable Flaw flawOf(LedgerEntry entry) {
		ToolApproval.Decided decision = entry.approval().decision();
		boolean ran = switch (entry.status()) {
			case DONE -> !entry.failed() && (decision == null || decision.verb() != Decision.Verb.ANSWER);
			default -> false;
		};
		return ran ? null : UNKNOWN_END;
	}

	private static boolean hasRunAgain(LedgerEntry entry) {
		return entry.approval().decisions().stream().anyMatch((each) -> each.verb() == Decision.Verb.RETRY);
	}

	/** Only the tool knows whether it has recognized the call by its id. */
	private static Effect beforeThat(Effect again) {
		return new Effect(CallId.ofRunsBefore(again.id()), again.turn(), again.tool(), again.arguments(), null);
	}

	/**
	 * The calls of one reply.
	 */
	private final class Reply {

		private final int position;

		private final int round;

		private final List<ToolCall> calls;

		private final List<LedgerEntry> entries;

		/**
		 * True if another reply may have these entries, and this one those of the other.
		 */
		private boolean interchangeable;

		Reply(int position, int round, List<ToolCall> calls) {
			this.position = position;
			this.round = round;
			this.calls = calls;
			this.entries = takeEntries();
		}

		/**
		 * Takes the entries of this reply out of the ledger. They have the number of its
		 * round, or a greater one if answers of the model before were not used.
		 */
		private List<LedgerEntry> takeEntries() {
			if (isComplete()) {
				boolean own = RanCalls.this.ledger.getOrDefault(this.round, List.of()).stream().allMatch(this::hasCall);
				List<LedgerEntry> taken = own ? RanCalls.this.ledger.remove(this.round) : null;
				return (taken != null) ? taken : List.of();
			}
			for (Map.Entry<Integer, List<LedgerEntry>> each : RanCalls.this.ledger.tailMap(this.round).entrySet()) {
				if (each.getValue().stream().allMatch(this::hasCall)) {
					return Objects.requireNonNull(RanCalls.this.ledger.remove(each.getKey()));
				}
			}
			return List.of();
		}

		private boolean hasCall(LedgerEntry entry) {
			ToolApproval call = entry.approval();
			if (call.index() >= this.calls.size()) {
				return false;
			}
			ToolCall own = this.calls.get(call.index());
			return own.name().equals(call.tool()) && Objects.requireNonNullElse(own.id(), "").equals(call.callId())
					&& (isRewritten() || Objects.requireNonNullElse(own.arguments(), "").equals(call.arguments()));
		}

		/**
		 * Determines whether one of two replies with the same calls has taken entries and
		 * the other one has found none. They may be those of the other one.
		 */
		void compareWith(List<Reply> replies) {
			if (this.entries.isEmpty() || isComplete() || isRewritten()) {
				return;
			}
			for (Reply other : replies) {
				if (other.entries.isEmpty() && this.entries.stream().allMatch(other::hasCall)) {
					this.interchangeable = true;
					other.interchangeable = true;
				}
			}
		}

		List<RanCall> calls() {
			List<RanCall> ran = new ArrayList<>();
			List<Integer> originals = RepeatedCalls.originals(this.calls);
			Set<Integer> known = new HashSet<>();
			for (LedgerEntry entry : this.entries) {
				known.add(entry.approval().index());
			}
			for (int i = 0; i < this.calls.size(); i++) {
				if (known.contains(i)) {
					addKnown(i, ran);
				}
				else if (!known.contains(originals.get(i)) && !isEditedRepetition(i)) {
					ran.add(unknown(i));
				}
				// otherwise it repeats a call that has an entry, and has not run itself
			}
			return ran;
		}

		/** The messages may have the changed arguments of the first of two same calls. */
		private boolean isEditedRepetition(int index) {
			ToolCall call = this.calls.get(index);
			return isRewritten() && this.entries.stream()
				.map(LedgerEntry::approval)
				.anyMatch((known) -> known.tool().equals(call.name()) && !known.callId().isBlank()
						&& known.callId().equals(call.id()));
		}

		private void addKnown(int index, List<RanCall> ran) {
			this.entries.stream()
				.filter((entry) -> entry.approval().index() == index && (mayHaveRun(entry) || this.interchangeable))
				.forEach((entry) -> addKnown(index, entry, ran));
		}

		private void addKnown(int index, LedgerEntry entry, List<RanCall> ran) {
			Effect effect = effect(id(index), entry);
			Flaw flaw = orOfTurn(this.interchangeable ? UNKNOWN_END : flawOf(entry));
			if (flaw == null && hasRunAgain(entry)) {
				ran.add(new RanCall(beforeThat(effect), place(this.round, index), RAN_BEFORE));
			}
			ran.add(new RanCall(effect, place(this.round, index), flaw));
		}

		/** Returns a call of which there is no more than the messages. */
		private RanCall unknown(int index) {
			ToolCall call = this.calls.get(index);
			String result = result(index);
			Effect effect = new Effect(id(index), RanCalls.this.turn.number(), call.name(),
					Objects.requireNonNullElse(call.arguments(), ""), result);
			return new RanCall(effect, place(this.round, index), orOfTurn(flaw(index, result)));
		}

		private @Nullable Flaw flaw(int index, @Nullable String result) {
			if (result == null) {
				return new Flaw(Reason.ELSEWHERE, "The turn has no result of the call: the application ran it.");
			}
			if (isRewritten()) {
				return new Flaw(Reason.ARGUMENTS, "A hook has replaced messages of the turn before they were stored, so"
						+ " it is not certain with which arguments the tool ran.");
			}
			// a limit of the tool loop ends a turn like this, and nobody knows what ran
			boolean endsTurn = this.position + 2 == RanCalls.this.items.size();
			boolean ambiguous = this.interchangeable || !RanCalls.this.ledger.isEmpty() || hasForeignReplies();
			String tool = this.calls.get(index).name();
			boolean stopped = StoppedTool.isTold(tool, result) || LoopLimits.haveRefused(tool, result);
			return (endsTurn || ambiguous || stopped) ? UNKNOWN_END : null;
		}

		private @Nullable String result(int index) {
			boolean answered = this.position + 1 < RanCalls.this.items.size();
			if (answered && RanCalls.this.items.get(this.position + 1).message() instanceof ToolResponseMessage results
					&& index < results.getResponses().size()) {
				ToolResponse response = results.getResponses().get(index);
				return Objects.requireNonNullElse(response.name(), "").equals(this.calls.get(index).name())
						? response.responseData() : null;
			}
			return null;
		}

		private String id(int index) {
			return CallId.ofCompensation(RanCalls.this.key, RanCalls.this.turn.id(),
					RanCalls.this.items.get(this.position).sequence(), index);
		}

	}

	/** Returns the flaw of the turn if there is one, otherwise that of the call. */
	private @Nullable Flaw orOfTurn(@Nullable Flaw ofCall) {
		return (this.flawOfTurn != null) ? this.flawOfTurn : ofCall;
	}

	private boolean isRewritten() {
		return StoredQuestion.isRewritten(this.turn);
	}

	/**
	 * Returns whether the messages have each reply of the model and no others, so that
	 * the number of a reply is that of its round.
	 */
	private boolean isComplete() {
		return !isRewritten() && replies() - examples() == this.turn.rounds().size();
	}

	/**
	 * Returns whether the turn has replies that its model has not made and that are no
	 * examples: the input of the call had some, with calls that others have run.
	 */
	private boolean hasForeignReplies() {
		return replies() - examples() > this.turn.rounds().size();
	}

}
