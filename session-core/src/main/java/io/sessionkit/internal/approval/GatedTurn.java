package io.sessionkit.internal.approval;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Predicate;

import io.sessionkit.Durability;
import io.sessionkit.NestedTurnException;
import io.sessionkit.TurnHandedOverException;
import io.sessionkit.TurnResult;
import io.sessionkit.TurnStatus;
import io.sessionkit.approval.ApprovalEvent;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.SiblingRule;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.approval.UnattendedToolException;
import io.sessionkit.internal.argument.ToolArguments;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.binding.TurnFacts;
import io.sessionkit.internal.commit.AnsweredReply;
import io.sessionkit.internal.lease.HeldReply;
import io.sessionkit.internal.ledger.HeldCalls;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.internal.ledger.LedgerEntry;
import io.sessionkit.internal.ledger.PauseNotices;
import io.sessionkit.internal.line.Drain;
import io.sessionkit.internal.round.TurnGate;
import io.sessionkit.internal.turn.RunningTurn;
import io.sessionkit.store.RecordWrite;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.tool.ToolCallback;

/**
 * A turn whose tool calls are checked by the policies first. For advisors.
 * <p>
 * The tool loop stays Spring AI's: a reply with calls that have to wait is taken out of
 * it, and a continued turn puts the reply in again instead of a model call. The loop then
 * runs the tools in their order, and each tool asks this turn whether it may run.
 */
final class GatedTurn implements TurnGate {

	private final RunningTurn turn;

	private final ApprovalRules rules;

	private final Ledger ledger;

	private final PauseNotices notices;

	private final Consumer<ApprovalEvent> events;

	private final boolean stepwise;

	private final @Nullable TurnFacts enclosing;

	private final Drain drain;

	private final CallReview review;

	private final ToolRuns runs;

	private final TurnBatches batches;

	/**
	 * Selects those of the held calls that the loop runs; null if it does not begin with
	 * them.
	 */
	private volatile @Nullable Predicate<LedgerEntry> released;

	private volatile boolean waits;

	GatedTurn(TurnCall call, GateSetup setup, @Nullable TurnFacts enclosing, Drain drain) {
		this.turn = call.turn();
		this.rules = setup.rules();
		this.ledger = setup.ledger();
		this.notices = setup.notices();
		this.events = NestedCalls.listening(this.turn.running(), setup.events());
		this.enclosing = enclosing;
		this.drain = drain;
		this.stepwise = setup.durability() == Durability.STEP;
		this.review = new CallReview(call, setup);
		this.runs = new ToolRuns(this.turn, setup, drain);
		this.batches = new TurnBatches(this.ledger, this.runs);
	}

	/**
	 * Returns whether the turn has begun to wait, so that this call must not store
	 * anything more of it.
	 */
	boolean isWaiting() {
		return this.waits;
	}

	/**
	 * Ends this call on a turn that waits.
	 */
	Pause end() {
		TurnResult result = this.turn.pause();
		return new Pause(waiting(), result);
	}

	/**
	 * Returns the id of the trace of the call that was paused; null if there is none, and
	 * for a new turn.
	 */
	@Nullable String pausedTrace() {
		return this.turn.isContinued() ? this.batches.current()
			.entries()
			.stream()
			.map((entry) -> entry.approval().requirements().traceId())
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null) : null;
	}

	// a continued turn

	/**
	 * Checks that this call can continue the turn, and determines which of the held calls
	 * the loop runs.
	 * @return false if another call runs them now, since this one has lost the lease of
	 * the turn
	 */
	boolean resume() {
		AssistantMessage reply = Objects.requireNonNull(this.turn.holding().reply()).reply();
		List<LedgerEntry> entries = this.review
			.again(HeldCalls.of(this.turn, this.ledger, this.rules.texts()).entries());
		if (entries.stream().anyMatch((entry) -> entry.status() == ApprovalStatus.CLAIMED)) {
			return false;
		}
		boolean undecided = entries.stream().anyMatch((entry) -> entry.status().isPending());
		if (undecided && this.enclosing != null) {
			throw nested(entries);
		}
		this.released = undecided ? whileOthersWait() : (entry) -> true;
		this.batches.resume(ToolBatch.held(this.turn.key(), reply.getToolCalls(), entries));
		return true;
	}

	/** Selects the calls that run although other calls still wait for a decision. */
	private Predicate<LedgerEntry> whileOthersWait() {
		boolean siblingsRun = this.rules.siblings() == SiblingRule.RUN;
		return (entry) -> entry.status() == ApprovalStatus.APPROVED
				&& (siblingsRun || entry.approval().decision() != null);
	}

	/**
	 * Returns whether the failure of a tool ends the turn. If the application has it
	 * thrown instead of reported to the model, it would be thrown again each time that
	 * the turn continues. The turn stays open as long as the other calls still wait for a
	 * decision.
	 */
	@Override
	public boolean endsTurn(Throwable cause) {
		return !this.waits && this.runs.hasThrown(cause);
	}

	/**
	 * Stores the results that could not be stored earlier, while this call still may.
	 */
	@Override
	public void ending() {
		this.batches.storeLate();
	}

	@Override
	public @Nullable ChatResponse pause() {
		return this.waits ? waiting() : null;
	}

	@Override
	public @Nullable ChatResponse beforeRequest(boolean first) {
		if (mayStop()) {
			stopBeforeRequest(first);
		}
		if (!first) {
			return null;
		}
		Predicate<LedgerEntry> chosen = this.released;
		if (chosen == null) {
			checkNotStored();
			return null;
		}
		return runHeld(chosen);
	}

	// a process that shuts down

	/**
	 * Returns whether the turn is to stop at its next step. A turn for which another one
	 * waits runs on, and so does one that nobody could continue.
	 */
	private boolean mayStop() {
		return this.drain.isOn() && !this.waits && this.enclosing == null && this.turn.canBeHandedOver();
	}

	/**
	 * Stops the turn before the model is called, unless nothing but the input would be
	 * stored.
	 */
	private void stopBeforeRequest(boolean first) {
		boolean stored = first ? this.released != null : this.batches.areWritten();
		AnsweredReply answered = (first || stored) ? null : this.turn.holding().answered();
		if (answered != null && this.review.isOffered(answered.reply().getToolCalls())) {
			storeAnswered(answered);
			stored = true;
		}
		else if (stored && !first) {
			// what is noted as taken is over in the ledger too
			this.batches.storeLate();
			this.turn.holding().storeAttributes(HeldCalls.taken(this.batches.current().entries()));
		}
		if (stored) {
			throw handedOver();
		}
	}

	/**
	 * Stores the results of calls that ran without the ledger as if they had been in it.
	 */
	private void storeAnswered(AnsweredReply answered) {
		List<LedgerEntry> entries = new ArrayList<>();
		for (int i = 0; i < answered.results().size(); i++) {
			if (!this.batches.current().repeats(i)) {
				entries.add(ended(answered, i));
			}
		}
		List<RecordWrite> writes = entries.stream().map((entry) -> this.ledger.enter(entry, null)).toList();
		this.batches.storeLate();
		this.batches.drop();
		this.turn.holding().storeAnswered(answered, HeldCalls.notes(entries), writes);
	}

	private LedgerEntry ended(AnsweredReply answered, int index) {
		String result = Objects.requireNonNullElse(answered.results().get(index).responseData(), "");
		return this.batches.current()
			.entries()
			.stream()
			.filter((entry) -> entry.approval().index() == index)
			.findFirst()
			.orElseGet(() -> this.review.ran(ToolArguments.storable(answered.reply().getToolCalls().get(index)), index,
					result));
	}

	private TurnHandedOverException handedOver() {
		this.turn.handedOver();
		return new TurnHandedOverException("The turn on session " + this.turn.key()
				+ " has stopped at a step, since its process shuts down. It is stored up to there, and nobody works on"
				+ " it. Call again without a message, in another process, to continue it.", this.turn.id());
	}

	/**
	 * Refuses to restart the loop. A part that is stored stays, so the loop cannot begin
	 * from the start again.
	 */
	private void checkNotStored() {
		if (this.turn.holding().reply() != null) {
			throw new IllegalStateException("The tool loop of the turn on session " + this.turn.key()
					+ " was started again, by a retry or a validation around it, after a part of the turn was stored."
					+ " Nothing more is run. Call again without a message to continue it, and retry inside the tool loop"
					+ " only.");
		}
	}

	/** Has the loop run the chosen calls of the held reply. */
	private ChatResponse runHeld(Predicate<LedgerEntry> chosen) {
		AssistantMessage reply = Objects.requireNonNull(this.turn.holding().reply()).reply();
		this.batches.beginAgain();
		this.turn.attributes().mark();
		if (this.batches.current().entries().stream().allMatch(chosen)) {
			tellExpired();
			return calling(this.turn.holding().release());
		}
		this.waits = true;
		return someOf(reply, chosen);
	}

	private void tellExpired() {
		this.batches.current()
			.entries()
			.stream()
			.filter((entry) -> entry.status() == ApprovalStatus.EXPIRED)
			.forEach((entry) -> this.events.accept(new ApprovalEvent.Expired(entry.approval())));
	}

	// a reply with calls

	@Override
	public @Nullable ChatResponse afterReply(AssistantMessage reply) {
		boolean stops = mayStop() && this.review.isOffered(reply.getToolCalls());
		boolean inLedger = stops || runInLedger(reply.getToolCalls());
		// what is judged, shown and hashed is what is stored
		List<ToolCall> calls = reply.getToolCalls().stream().map(ToolArguments::storable).toList();
		List<LedgerEntry> entries = this.review.of(calls, inLedger);
		if (entries.stream().anyMatch((entry) -> entry.status() == ApprovalStatus.PROPOSED)) {
			return hold(reply, entries);
		}
		if (stops) {
			store(reply, entries, TurnStatus.INCOMPLETE, false);
			throw handedOver();
		}
		passOn(reply, entries, inLedger);
		return null;
	}

	/**
	 * Returns whether the calls of a reply run in the ledger although nobody decides on
	 * them. If a part of the turn is stored, a later call may continue behind it, ask the
	 * model again and run them once more. A claim would not find what a transaction of
	 * the caller has stored, and no call could prove that it offers a tool that this one
	 * does not.
	 */
	private boolean runInLedger(List<ToolCall> calls) {
		boolean continues = this.turn.holding().reply() != null && !this.ledger.mayRollBack();
		return this.stepwise || (continues && this.review.isOffered(calls));
	}

	/** Moves the loop on to the calls of a reply, none of which waits for a decision. */
	private void passOn(AssistantMessage reply, List<LedgerEntry> entries, boolean inLedger) {
		if (entries.isEmpty()) {
			this.batches.follow(ToolBatch.of(reply.getToolCalls(), List.of()));
		}
		else if (inLedger || entries.stream().anyMatch(GatedTurn::runsByDecision)) {
			store(reply, entries, TurnStatus.INCOMPLETE, true);
		}
		else {
			// nothing of the turn is stored yet, or claims would not find it, so what
			// needs no approval runs unclaimed
			this.batches.follow(ToolBatch.of(reply.getToolCalls(),
					entries.stream().filter((entry) -> !entry.isAllowed()).toList()));
		}
	}

	/**
	 * Returns whether a standing approval lets a call run. Such a call, too, runs at most
	 * once, so its reply is stored before the call is claimed. Otherwise a later call
	 * that continues the turn would ask the model again and not know of the run.
	 */
	private static boolean runsByDecision(LedgerEntry entry) {
		return entry.status() == ApprovalStatus.APPROVED && !entry.isAllowed();
	}

	/** Tools that begin in a process that shuts down may not end in time. */
	private ChatResponse hold(AssistantMessage reply, List<LedgerEntry> entries) {
		if (this.enclosing != null) {
			throw nested(entries);
		}
		Predicate<LedgerEntry> siblings = (entry) -> entry.status() == ApprovalStatus.APPROVED;
		boolean goesOn = !this.drain.isOn() && this.rules.siblings() == SiblingRule.RUN
				&& entries.stream().anyMatch(siblings);
		store(reply, entries, TurnStatus.AWAITING_APPROVAL, goesOn);
		this.waits = true;
		tellRequested(entries);
		return goesOn ? someOf(reply, siblings) : waiting();
	}

	private void store(AssistantMessage reply, List<LedgerEntry> entries, TurnStatus status, boolean goesOn) {
		// before the turn is locked, since listeners hear of it
		this.batches.storeLate();
		List<RecordWrite> writes = entries.stream()
			.map((entry) -> this.ledger.enter(entry, this.rules.waiting().expiresAfter()))
			.toList();
		this.batches.follow(ToolBatch.NONE);
		List<RecordWrite> all = new ArrayList<>(writes);
		if (status == TurnStatus.AWAITING_APPROVAL) {
			all.addAll(this.notices.of(this.turn.key(), this.turn.id(), entries, this::isAnybodyThere));
		}
		this.turn.holding().store(reply, HeldCalls.notes(entries), status, all, goesOn);
		this.turn.attributes().mark();
		this.released = null;
		this.batches.stored(ToolBatch.held(this.turn.key(), reply.getToolCalls(), stored(entries, writes)));
	}

	/**
	 * Returns whether this turn does not continue merely because calls have expired. If
	 * nobody decides on anything it continues by itself once: a model that makes such
	 * calls again and again would go on forever otherwise.
	 */
	private boolean isAnybodyThere() {
		List<LedgerEntry> waited = haveWaited(this.batches.held().entries());
		if (waited.isEmpty() && this.turn.isContinued()) {
			waited = lastWaited();
		}
		return waited.isEmpty() || waited.stream().anyMatch(GatedTurn::isDecidedItself);
	}

	/**
	 * Returns what has waited of the last reply with such calls. The reply that the turn
	 * continues with has none if a call that continued the turn before has failed.
	 */
	private List<LedgerEntry> lastWaited() {
		List<LedgerEntry> all = haveWaited(this.ledger.over(this.turn.key())).stream()
			.filter((entry) -> entry.approval().turnId().equals(this.turn.id()))
			.toList();
		int last = all.stream().mapToInt((entry) -> entry.approval().round()).max().orElse(0);
		return all.stream().filter((entry) -> entry.approval().round() == last).toList();
	}

	private static List<LedgerEntry> haveWaited(List<LedgerEntry> entries) {
		return entries.stream()
			.filter((entry) -> entry.status() == ApprovalStatus.EXPIRED || isDecidedItself(entry))
			.toList();
	}

	private static boolean isDecidedItself(LedgerEntry entry) {
		return entry.status() != ApprovalStatus.DENIED
				&& entry.approval().decisions().stream().anyMatch((decision) -> decision.standing() == null);
	}

	private static List<LedgerEntry> stored(List<LedgerEntry> entries, List<RecordWrite> writes) {
		List<LedgerEntry> stored = new ArrayList<>();
		for (int i = 0; i < writes.size(); i++) {
			stored.add(entries.get(i).revision(writes.get(i).next()));
		}
		return stored;
	}

	private void tellRequested(List<LedgerEntry> entries) {
		entries.stream()
			.filter((entry) -> entry.status() == ApprovalStatus.PROPOSED)
			.forEach((entry) -> this.events.accept(new ApprovalEvent.Requested(entry.approval())));
	}

	private NestedTurnException nested(List<LedgerEntry> entries) {
		List<String> waiting = entries.stream()
			.map(LedgerEntry::approval)
			.filter((call) -> call.status().isPending())
			.map(ToolApproval::tool)
			.toList();
		TurnFacts outer = Objects.requireNonNull(this.enclosing);
		return new NestedTurnException("The turn on session " + this.turn.key() + " needs an approval of " + waiting
				+ ", but it was opened inside of turn " + outer.turnId() + " on session " + outer.key()
				+ ", which would not see it wait. Nothing was run. Let the outer call offer these tools itself, or make"
				+ " the inner call outside of a tool.");
	}

	private ChatResponse waiting() {
		return Pause.response(this.ledger.pending(this.batches.current().entries()));
	}

	private ChatResponse someOf(AssistantMessage reply, Predicate<LedgerEntry> chosen) {
		this.batches.current().leaveOut(chosen);
		List<ToolCall> calls = this.batches.current()
			.entries()
			.stream()
			.filter(chosen)
			.map((entry) -> reply.getToolCalls().get(entry.approval().index()))
			.toList();
		return calls.isEmpty() ? waiting() : calling(AssistantMessage.builder().content("").toolCalls(calls).build());
	}

	private static ChatResponse calling(AssistantMessage reply) {
		return new ChatResponse(
				List.of(new Generation(reply, ChatGenerationMetadata.builder().finishReason("TOOL_CALLS").build())));
	}

	// tools

	/**
	 * Returns whether the loop has to come back once more, whatever the tools of this
	 * batch return: to call the model, or to learn that the turn waits.
	 */
	boolean needsModel() {
		HeldReply reply = this.turn.holding().reply();
		boolean isQueued = this.batches.current() == this.batches.held() && reply != null && !reply.queued().isEmpty();
		return this.waits || this.batches.current().hasAnswers() || isQueued;
	}

	/**
	 * Runs a tool if it may run, and otherwise returns an answer that replaces its
	 * result.
	 */
	String run(ToolCallback tool, String arguments, @Nullable ToolContext context) {
		String name = tool.getToolDefinition().name();
		ToolBatch.Slot slot = this.batches.current().take(name, arguments);
		ToolCall judged = ToolArguments.storable(new ToolCall("", "function", name, arguments));
		if (slot == null && !this.review.allows(judged)) {
			throw new UnattendedToolException(
					"Tool '" + name + "' needs an approval, and was run for a call that no reply on session "
							+ this.turn.key() + " has made. Nothing was run.",
					name);
		}
		try (TurnBinding binding = TurnBinding.of(this.turn.running())) {
			return (slot != null) ? this.runs.run(this.batches.current(), slot, tool, judged.arguments(), context)
					: this.rules.limits().told(tool, judged.arguments(), context);
		}
	}

	@Override
	public List<RecordWrite> records() {
		return this.batches.closing();
	}

}
