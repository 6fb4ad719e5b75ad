package io.sessionkit.internal.approval;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.sessionkit.Concurrency;
import io.sessionkit.NestedTurnException;
import io.sessionkit.NothingWaitsException;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionException;
import io.sessionkit.SessionKey;
import io.sessionkit.ShuttingDownException;
import io.sessionkit.TurnHandedOverException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnResult;
import io.sessionkit.approval.ApprovalEvent;
import io.sessionkit.approval.ResumeRefusedException;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.approval.UnknownToolException;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.internal.KeptMessage;
import io.sessionkit.internal.attribute.JoiningInput;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.binding.TurnFacts;
import io.sessionkit.internal.ledger.HeldCalls;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.internal.ledger.StandingDecisions;
import io.sessionkit.internal.line.Admission;
import io.sessionkit.internal.line.Answer;
import io.sessionkit.internal.line.Arrival;
import io.sessionkit.internal.line.Drain;
import io.sessionkit.internal.line.Offer;
import io.sessionkit.internal.line.Request;
import io.sessionkit.internal.line.SilentLease;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.turn.OpenedTurn;
import io.sessionkit.internal.turn.Resumed;
import io.sessionkit.internal.turn.RunningTurn;
import io.sessionkit.internal.turn.Turns;
import io.sessionkit.internal.turn.WaitingTurns;
import io.sessionkit.observation.CallOutcome;
import io.sessionkit.observation.ObservedCall;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.TurnView;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.tool.ToolCallback;

/**
 * Opens the turns of model calls so that their tools are checked first, and continues
 * turns that wait. For advisors; applications use
 * {@link io.sessionkit.conversation.Approvals}.
 */
public final class GatedTurns {

	/**
	 * What a call works with, the same on each way to its turn.
	 *
	 * @param tools the tools on offer
	 * @param toolLoop whether the call runs tools itself
	 * @param admission the admission of the call; null if it does not stand in line
	 * @param enclosing the turn inside of which the call is made; null for none
	 */
	private record Means(List<ToolCallback> tools, boolean toolLoop, @Nullable Admission admission,
			@Nullable TurnFacts enclosing) {

		boolean isInside() {
			return this.enclosing != null;
		}

	}

	/**
	 * Says what becomes of a call that is to continue the open turn.
	 */
	private sealed interface Continuation {

		/**
		 * Returns the call.
		 * @throws SessionException if the turn is left alone
		 */
		OpenedCall orThrow();

		/**
		 * The call is opened.
		 */
		record Opened(OpenedCall call) implements Continuation {

			@Override
			public OpenedCall orThrow() {
				return this.call;
			}

		}

		/**
		 * The call leaves the turn alone.
		 *
		 * @param why the reason
		 * @param isBusy whether another call works on it; if not, nothing waits
		 */
		record Left(SessionException why, boolean isBusy) implements Continuation {

			@Override
			public OpenedCall orThrow() {
				throw this.why;
			}

		}

	}

	private final Turns turns;

	private final WaitingTurns waitingTurns;

	private final ApprovalRules rules;

	private final Ledger ledger;

	private final TurnCalls calls;

	private final StoredAnswers stored;

	private final NestedCalls nested;

	private final OfferedTools tools;

	private final OpenTurnCancel cancel;

	private final Consumer<ApprovalEvent> events;

	public GatedTurns(Turns turns, ApprovalRules rules, Ledger ledger, Consumer<ApprovalEvent> events) {
		this.turns = turns;
		this.waitingTurns = turns.waitingTurns();
		this.rules = rules;
		this.ledger = ledger;
		this.stored = new StoredAnswers(turns.store(), ledger);
		this.nested = new NestedCalls(turns.store());
		this.tools = new OfferedTools(rules);
		GateSetup setup = new GateSetup(rules, ledger, new StandingDecisions(turns.store()),
				rules.waiting().pauseNotices(turns.store()), events, turns.durability());
		this.calls = new TurnCalls(this.tools, setup, turns.drain());
		this.cancel = new OpenTurnCancel(turns, setup);
		this.events = events;
	}

	/**
	 * Begins to observe a call on a session.
	 * @param streams whether it streams its answer
	 * @return the observer of this call
	 */
	public ObservedCall observe(boolean streams) {
		return this.turns.observer().begin(streams);
	}

	/**
	 * Returns a request as the place allows in which its call is made. Inside of a turn
	 * on the same session it only reads that session, since two turns could not both
	 * become history. This comes first of all that is asked for a call.
	 * @param request what the call asks
	 * @param streams whether the call streams its answer, so that other threads store it
	 * @return the request; one that only reads, if the turn on its session waits for it
	 * @throws NestedTurnException if the call cannot be one that only reads
	 * @throws IllegalStateException if its turn would be stored in a transaction that
	 * only reads
	 * @throws TurnInProgressException if its turn would wait for a transaction of this
	 * thread
	 */
	public TurnRequest allowedHere(TurnRequest request, boolean streams) {
		TurnRequest asking = this.nested.readingIfNested(request);
		if (asking.isStored()) {
			this.turns.store().checkWritable(asking.key(), !streams);
		}
		return asking;
	}

	/**
	 * Returns the arrival of a call on a session, which does not stand in line yet.
	 * @param asking what the call asks, as it is allowed
	 * @param made the request that the call makes; null if its client cannot tell it from
	 * others
	 * @param concurrency how to treat a call while another one works
	 * @param mayJoin whether its messages may join the turn of another call
	 * @param timeout how long to wait at most
	 * @return the arrival; null if the call neither waits nor is waited for
	 * @throws IllegalStateException if the call can be repeated and is not stored
	 */
	public @Nullable Arrival arrive(TurnRequest asking, @Nullable Request made, Concurrency concurrency,
			boolean mayJoin, Duration timeout) {
		if (asking.isStored()) {
			Supplier<@Nullable Offer> offer = (mayJoin && concurrency == Concurrency.STEER && asking.offer() != null)
					? () -> this.turns.offer(asking) : null;
			// asking also refuses the call of a tool that was stopped
			Drain drain = TurnBinding.enclosing().isPresent() ? new Drain() : this.turns.drain();
			Arrival arrival = this.turns.lines()
				.arrive(asking.key(), made, offer, concurrency, timeout, beginning(asking), drain);
			return (arrival != null) ? arrival.waitingWhile(silentLease(asking)) : null;
		}
		if (made != null) {
			throw new IllegalStateException("This call on session " + asking.key() + " has an idempotency key, but its"
					+ " turn is not stored, so its reply could not be found when the call is repeated. Leave the key out.");
		}
		return null;
	}

	/**
	 * Checks what a call brings, before it comes to the line: a call that can never be
	 * stored, or whose tools are refused, neither waits for others nor begins a session.
	 * @param asking what the call asks, as it is allowed
	 * @param tools the tools on offer
	 * @param toolLoop whether the call runs tools itself
	 * @throws io.sessionkit.codec.UnstorableMessageException if it can never be stored
	 * @throws UnknownToolException if a configured name that no tool has resembles that
	 * of a tool on offer
	 * @throws IllegalStateException if a tool has a condition that can never be
	 * evaluated, or if the call leaves it to the application to run tools that need
	 * approval
	 */
	public void check(TurnRequest asking, List<ToolCallback> tools, boolean toolLoop) {
		checkTools(asking, tools, toolLoop);
		// the turn that is continued has kept its own parameters
		if (!continues(asking)) {
			this.turns.checkStorable(asking);
		}
	}

	private void checkTools(TurnRequest request, List<ToolCallback> offered, boolean toolLoop) {
		this.tools.check(offered);
		if (!toolLoop && this.rules.rulings().mayAsk(offered)) {
			throw OfferedTools.withoutToolLoop("on session " + request.key());
		}
	}

	private SilentLease silentLease(TurnRequest asking) {
		SessionKey key = asking.key();
		return new SilentLease(() -> this.waitingTurns.lease(key), continues(asking),
				(answer) -> this.stored.isBrokenOff(key, answer));
	}

	/** Returns whether a call continues the open turn, if no turn answers it. */
	private static boolean continues(TurnRequest request) {
		return request.input().isEmpty() && !request.start().asksAgain();
	}

	/**
	 * Returns the header with which a call may begin the session that it names; null if
	 * it may not.
	 */
	private @Nullable HeaderChange beginning(TurnRequest asking) {
		return asking.mayBegin() ? asking.living(HeaderChange.NONE, this.turns.store().options()) : null;
	}

	/**
	 * Opens the turn of a call, or continues the open turn if the call has no input, or
	 * if its input was queued and nothing waits any more. The turn leaves the line when
	 * the call ends, and so does a call that does not work on a turn.
	 * @param request the data with which the turn starts
	 * @param tools the tools on offer
	 * @param toolLoop whether the call runs tools itself
	 * @param admission the admission of the call; null if it does not stand in line
	 * @return the turn, or the result of the call if its message was queued
	 * @throws NestedTurnException if the call is made inside a turn on the same session,
	 * or inside any turn while calls of the turn that it continues wait for a decision
	 * @throws UnknownToolException if a configured name that no tool has resembles that
	 * of a tool on offer
	 * @throws ShuttingDownException if this process shuts down
	 * @throws TurnHandedOverException if it does, and the messages of the call are part
	 * of a turn that broke off
	 * @throws NothingWaitsException if the call has no input and nothing waits
	 * @throws IllegalStateException if a tool has a condition that can never be
	 * evaluated, or if the call leaves it to the application to run tools that need
	 * approval
	 * @throws TurnOpenException if the call has input, calls wait, and new messages are
	 * refused meanwhile, or are queued and this one is for another branch
	 * @throws ResumeRefusedException if the tools are not those that were approved; a
	 * message of the call is queued nevertheless, which the text says
	 * @throws SessionRefusedException if a hook refuses a message; if one of the call is
	 * queued nevertheless, the text says so. What else a hook or a merge throws then has
	 * that suppressed
	 * @throws SessionConflictException if the turn that the call is to continue cannot
	 * become history any more, or the history that it was sent is gone; a message of the
	 * call is queued nevertheless, which the text says
	 */
	public OpenedCall open(TurnRequest request, List<ToolCallback> tools, boolean toolLoop,
			@Nullable Admission admission) {
		if (admission == null) {
			Means means = means(tools, toolLoop, null);
			return atWork(request.key(), means, () -> open(request, means));
		}
		boolean works = false;
		try {
			// refuses the call of a tool that was stopped while it waited, which then
			// leaves its place
			Means means = means(tools, toolLoop, admission);
			OpenedCall answered = answered(request, admission);
			OpenedCall opened = (answered != null) ? answered : atWork(request.key(), means,
					() -> (admission.answer() != null) ? again(request, means, admission) : open(request, means));
			works = opened instanceof OpenedCall.Working;
			return opened;
		}
		finally {
			if (!works) {
				admission.leave();
			}
			admission.opened();
		}
	}

	private static Means means(List<ToolCallback> tools, boolean toolLoop, @Nullable Admission admission) {
		return new Means(tools, toolLoop, admission, TurnBinding.enclosing().orElse(null));
	}

	/** Returns null if no turn has answered the call. */
	private @Nullable OpenedCall answered(TurnRequest request, Admission admission) {
		Answer answer = admission.answer();
		OpenedCall answered = (answer != null) ? stored(request.key(), answer, admission.hasJoined()) : null;
		if (answered != null) {
			request.observed().ended(CallOutcome.ANSWERED, null);
		}
		return answered;
	}

	private @Nullable OpenedCall stored(SessionKey key, Answer answer, boolean joined) {
		try {
			return this.stored.answer(key, answer, joined);
		}
		catch (StoreUnavailableException ex) {
			throw joined ? KeptMessage.with(ex, key) : ex;
		}
	}

	/** The turn that is opened counts as work of this process until its call ends. */
	private OpenedCall atWork(SessionKey key, Means means, Supplier<OpenedCall> opening) {
		Drain.Work work = enter(key, means);
		boolean works = false;
		try {
			OpenedCall opened = opening.get();
			if (opened instanceof OpenedCall.Working working) {
				working.call().turn().atWork(work);
				works = true;
			}
			return opened;
		}
		finally {
			if (!works) {
				work.close();
			}
		}
	}

	private Drain.Work enter(SessionKey key, Means means) {
		return this.turns.drain().tryEnter(means.isInside()).orElseThrow(() -> shuttingDown(key, means.admission()));
	}

	private static SessionException shuttingDown(SessionKey key, @Nullable Admission admission) {
		Answer joined = (admission != null && admission.hasJoined()) ? admission.answer() : null;
		return (joined != null) ? new OpenTurnMessage(key).shuttingDown(joined) : Drain.refused(key);
	}

	/**
	 * Continues the turn that answers the call, which broke off, with the messages that
	 * it has.
	 */
	private OpenedCall again(TurnRequest request, Means means, Admission admission) {
		TurnRequest asked = request.input(List.of()).start(TurnRequest.Start.HEAD);
		Supplier<Continuation> work = () -> continued(asked, means);
		Continuation continuation = admission.hasJoined() ? new OpenTurnMessage(request.key()).during(work)
				: work.get();
		return (continuation instanceof Continuation.Left left) ? ended(request, admission, left)
				: continuation.orThrow();
	}

	/** Another call may have ended the turn after this one had found it open. */
	private OpenedCall ended(TurnRequest request, Admission admission, Continuation.Left left) {
		OpenedCall answered = left.isBusy() ? null : answered(request, admission);
		if (answered != null) {
			return answered;
		}
		throw admission.hasJoined() ? new OpenTurnMessage(request.key()).continuedByOthers() : left.why();
	}

	private OpenedCall open(TurnRequest request, Means means) {
		if (!request.isStored()) {
			return new OpenedCall.Working(unstored(request, means));
		}
		if (continues(request)) {
			return continued(request, means).orThrow();
		}
		check(request, means);
		OpenedTurn turn = this.turns.open(request, means.admission());
		return (turn.openTurn() == 0) ? begun(turn, means) : afterPause(request, turn, means);
	}

	private void check(TurnRequest request, Means means) {
		// a second wall: what is nested was refused or only reads
		this.nested.check(request.key());
		checkTools(request, means.tools(), means.toolLoop());
	}

	private static void checkContinues(TurnRequest request) {
		if (request.start().isGiven()) {
			throw new IllegalStateException("The call on session " + request.key() + " brings a history and has no"
					+ " message. Add .user(..) to the call; a call that continues a turn brings no history.");
		}
		if (request.start().kind() == TurnRequest.Start.Kind.EDIT) {
			throw new IllegalStateException("The call on session " + request.key()
					+ " has SessionAdvisor.editing(..) and no message to take the place of the one in turn "
					+ request.start().turn() + ". Add .user(..) to the call, or ask the same question again with"
					+ " SessionAdvisor.regenerating(..).");
		}
	}

	/** Continues the open turn, or asks the question that is left of the newest one. */
	private Continuation continued(TurnRequest request, Means means) {
		check(request, means);
		checkContinues(request);
		Resumed found = this.waitingTurns.resume(request, means.admission(),
				(turn) -> HeldCalls.takeAttributes(turn, this.ledger));
		if (found instanceof Resumed.Question question) {
			return new Continuation.Opened(open(request.start(TurnRequest.Start.answering(question.number())), means));
		}
		return (found instanceof Resumed.Taken taken) ? continued(taken.turn(), means)
				: new Continuation.Left(((Resumed.None) found).why(), found instanceof Resumed.Busy);
	}

	private Continuation continued(RunningTurn turn, Means means) {
		try {
			if (!means.toolLoop()) {
				throw OfferedTools.withoutToolLoop("on session " + turn.key());
			}
			Optional<TurnCall> call = this.calls.resumed(turn, means.tools(), means.enclosing());
			if (call.isPresent()) {
				return new Continuation.Opened(new OpenedCall.Working(call.get()));
			}
			TurnInProgressException lost = leaseLost(turn.key());
			turn.abandon(lost);
			return new Continuation.Left(lost, true);
		}
		catch (Throwable ex) {
			turn.abandon(ex);
			throw ex;
		}
	}

	private static TurnInProgressException leaseLost(SessionKey key) {
		return new TurnInProgressException("The lease of the open turn on session " + key
				+ " was lost before its calls were read, and another call runs them now. Nothing was run.");
	}

	private TurnCall unstored(TurnRequest request, Means means) {
		if (request.input().isEmpty()) {
			throw new IllegalStateException(
					"The call on session " + request.key() + " is not stored, so it continues no"
							+ " turn, and it has no message. Add .user(..) to the call.");
		}
		List<ToolCallback> tools = means.tools();
		this.tools.check(tools);
		if (!means.toolLoop() && !tools.isEmpty() && this.rules.rulings().mayAsk(tools)) {
			throw OfferedTools.withoutToolLoop("on session " + request.key());
		}
		return this.calls.unstored(this.turns.begin(this.turns.open(request, means.admission())), tools,
				means.enclosing());
	}

	private OpenedCall begun(OpenedTurn turn, Means means) {
		return new OpenedCall.Working(
				this.calls.begun(this.turns.begin(turn), means.tools(), means.toolLoop(), means.enclosing()));
	}

	/**
	 * Does what the rule for new messages says. The turn that is cancelled is the newest
	 * one then, so the call is read anew as it was made.
	 */
	private OpenedCall afterPause(TurnRequest request, OpenedTurn turn, Means means) {
		return switch (this.rules.waiting().onNewMessage()) {
			case REJECT -> throw this.turns.paused(turn, request.input().isEmpty());
			case CANCEL -> {
				this.cancel.cancel(request.key(), NestedCalls.listening(turn.running(), this.events));
				yield begun(this.turns.open(request, means.admission()), means);
			}
			case QUEUE -> {
				if (!mayJoin(request.start())) {
					throw this.turns.paused(turn, request.input().isEmpty());
				}
				yield queued(request, turn, means);
			}
		};
	}

	/** Returns whether a message follows the history of its branch, as the open turn. */
	private static boolean mayJoin(TurnRequest.Start start) {
		return start.kind() == TurnRequest.Start.Kind.HEAD || start.kind() == TurnRequest.Start.Kind.BRANCH;
	}

	/** If nobody has to decide any more, the call continues the turn. */
	private OpenedCall queued(TurnRequest request, OpenedTurn turn, Means means) {
		JoiningInput joining = turn.toJoin();
		if (joining == null) {
			throw this.turns.answeredWhileOpen(turn);
		}
		TurnView stored = this.waitingTurns.queue(turn, joining);
		OpenTurnMessage kept = new OpenTurnMessage(request.key());
		List<ToolApproval> pending = kept
			.during(() -> this.ledger.pending(this.ledger.read(stored.records(Ledger.APPROVAL))));
		// the lease could wait for what a transaction of the caller has written
		boolean continues = pending.isEmpty() && means.toolLoop() && !this.ledger.mayRollBack();
		if (continues && kept
			.during(() -> continued(request.input(List.of()), means)) instanceof Continuation.Opened opened) {
			return opened.call();
		}
		request.observed().ended(CallOutcome.QUEUED, null);
		return new OpenedCall.Queued(Pause.of(pending, new TurnResult(turn.key(), stored.turn(), List.of(), false)),
				false);
	}

	/**
	 * Ends the open turn of a session without the model. Calls that have not run will not
	 * run, and the model will be told so. The turn then becomes history. If it cannot,
	 * because the session has moved on, it is kept beside the history.
	 * @param key the session
	 * @return the calls that were open, as they are now; empty if the session has no open
	 * turn
	 * @throws TurnInProgressException if another call works on the turn
	 */
	public List<ToolApproval> cancel(SessionKey key) {
		return this.cancel.cancel(key, this.events);
	}

	/**
	 * Returns the tools that calls offer, for checks and for calls that name no session.
	 * @return the same object each time
	 */
	public OfferedTools tools() {
		return this.tools;
	}

	/**
	 * Returns the hooks of all calls, which run in turns only.
	 * @return the hooks; empty if there are none
	 */
	public List<SessionHook> hooks() {
		return this.turns.hooks();
	}

}
