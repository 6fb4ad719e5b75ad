package io.sessionkit.internal.approval;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.NestedTurnException;
import io.sessionkit.NothingWaitsException;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.SessionPausedException;
import io.sessionkit.ShuttingDownException;
import io.sessionkit.TurnHandedOverException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnResult;
import io.sessionkit.approval.ApprovalEvent;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.approval.UnattendedToolException;
import io.sessionkit.approval.UnknownToolException;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TurnAccess;
import io.sessionkit.hook.TurnBinding;
import io.sessionkit.hook.TurnSession;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.attribute.JoiningInput;
import io.sessionkit.internal.ledger.HeldCalls;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.internal.ledger.LedgerEntry;
import io.sessionkit.internal.line.Admission;
import io.sessionkit.internal.line.Answer;
import io.sessionkit.internal.line.Arrival;
import io.sessionkit.internal.line.Drain;
import io.sessionkit.internal.line.Offer;
import io.sessionkit.internal.line.Request;
import io.sessionkit.internal.line.SilentLease;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.internal.ruling.Rulings;
import io.sessionkit.internal.turn.RunningTurn;
import io.sessionkit.internal.turn.Turns;
import io.sessionkit.internal.turn.WaitingTurns;
import io.sessionkit.observation.ObservedTurn;
import io.sessionkit.observation.TurnOutcome;
import io.sessionkit.observation.TurnStage;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.StoreLayer;
import io.sessionkit.store.TurnView;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.tool.ToolCallback;

/**
 * Opens the turns of model calls so that their tools are checked first, and continues
 * turns that wait. For advisors; applications use
 * {@link io.sessionkit.conversation.Approvals}.
 */
public final class GatedTurns {

	private static final Log logger = LogFactory.getLog(GatedTurns.class);

	/** The kinds of records that are read with a turn to continue it. */
	private static final Set<String> CALLS = Set.of(Ledger.APPROVAL);

	private final Turns turns;

	private final WaitingTurns waitingTurns;

	private final ApprovalRules rules;

	private final Ledger ledger;

	private final Consumer<ApprovalEvent> events;

	private final StoredAnswers stored;

	public GatedTurns(Turns turns, ApprovalRules rules, Ledger ledger, Consumer<ApprovalEvent> events) {
		this.turns = turns;
		this.waitingTurns = turns.waitingTurns();
		this.rules = rules;
		this.ledger = ledger;
		this.events = events;
		this.stored = new StoredAnswers(turns.store(), ledger);
	}

	/**
	 * Begins to observe a call on a session.
	 * @param streams whether it streams its answer
	 * @return the observer of this call
	 */
	public ObservedTurn observe(boolean streams) {
		return this.turns.observer().begin(streams);
	}

	/**
	 * Returns a request as the place requires in which its call is made. Inside of a turn
	 * on the same session it only reads that session, since two turns could not both
	 * become history.
	 * @param request what the call asks
	 * @return the request; one that only reads, if the turn on its session waits for it
	 * @throws NestedTurnException if the call cannot be one that only reads
	 */
	public TurnRequest asked(TurnRequest request) {
		if (!request.isStored() || !isNested(request.key())) {
			return request;
		}
		if (request.start().kind() != TurnRequest.Start.Kind.HEAD || request.input().isEmpty()) {
			throw nested(request.key());
		}
		return request.start(TurnRequest.Start.READING);
	}

	/**
	 * Returns the arrival of a call on a session, which does not stand in line yet.
	 * @param asking what the call asks
	 * @param made the request that the call makes; null if its client cannot tell it from
	 * others
	 * @param concurrency how to treat a call while another one works
	 * @param mayJoin whether its messages may join the turn of another call
	 * @param timeout how long to wait at most
	 * @return the arrival; null if the call neither waits nor is waited for
	 * @throws NestedTurnException if the call is made inside a turn on the same session,
	 * for which it would wait
	 * @throws IllegalStateException if the call can be repeated and is not stored
	 */
	public @Nullable Arrival arrive(TurnRequest asking, @Nullable Request made, Concurrency concurrency,
			boolean mayJoin, Duration timeout) {
		if (asking.isStored()) {
			checkNotNested(asking.key());
			Supplier<@Nullable Offer> offer = (mayJoin && concurrency == Concurrency.STEER && asking.offer() != null)
					? () -> this.turns.offer(asking) : null;
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
	 * @throws SessionPausedException if the call has input, calls wait, and new messages
	 * are refused meanwhile
	 * @throws io.sessionkit.approval.ResumeRefusedException if the tools are not those
	 * that were approved; a message of the call is queued nevertheless
	 */
	public OpenedCall open(TurnRequest request, List<ToolCallback> tools, boolean toolLoop,
			@Nullable Admission admission) {
		if (admission == null) {
			return counted(request, () -> open(request, tools, toolLoop, (turn) -> {
			}));
		}
		boolean works = false;
		try {
			OpenedCall answered = answered(request, admission);
			OpenedCall opened = (answered != null) ? answered : admitted(request, tools, toolLoop, admission);
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

	/** Returns null if no turn has answered the call. */
	private @Nullable OpenedCall answered(TurnRequest request, Admission admission) {
		Answer answer = admission.answer();
		OpenedCall answered = (answer != null) ? this.stored.answer(request.key(), answer, admission.hasJoined())
				: null;
		if (answered != null) {
			request.observed().ended(TurnOutcome.ANSWERED, null);
		}
		return answered;
	}

	/** The turn that is opened counts as work of this process until its call ends. */
	private OpenedCall counted(TurnRequest request, Supplier<OpenedCall> opening) {
		Drain.Work work = this.turns.drain().enter(request.key(), TurnBinding.enclosing().isPresent());
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

	/** A turn that broke off is continued with the messages that it has. */
	private OpenedCall admitted(TurnRequest request, List<ToolCallback> tools, boolean toolLoop, Admission admission) {
		Answer answer = admission.answer();
		TurnRequest asked = (answer != null) ? request.input(List.of()).start(TurnRequest.Start.HEAD) : request;
		try {
			return counted(request, () -> open(asked, tools, toolLoop, (turn) -> turn.inLine(admission)));
		}
		catch (TurnInProgressException ex) {
			throw admission.hasJoined() ? continuedByOthers(request.key()) : ex;
		}
		catch (ShuttingDownException ex) {
			throw (answer != null && admission.hasJoined()) ? brokenOff(request.key(), answer) : ex;
		}
	}

	private static TurnHandedOverException brokenOff(SessionKey key, Answer answer) {
		return new TurnHandedOverException(answer.turn(), "The message has joined a turn on session " + key
				+ " that broke off, and this process shuts down. The message stays in that turn. Call again without a"
				+ " message, in another process, to continue it.");
	}

	/** Whoever asks again would have the message twice in the history. */
	private static TurnInProgressException continuedByOthers(SessionKey key) {
		return new TurnInProgressException("The message has joined a turn on session " + key
				+ " that broke off, and another call continues it at this moment. The message stays in that turn; read the"
				+ " session to see its answer.");
	}

	private OpenedCall open(TurnRequest request, List<ToolCallback> tools, boolean toolLoop,
			Consumer<RunningTurn> inLine) {
		HookContext enclosing = TurnBinding.enclosing().orElse(null);
		if (!request.isStored()) {
			return new OpenedCall.Working(unstored(request, tools, toolLoop, enclosing));
		}
		checkNotNested(request.key());
		checkRules(tools);
		if (!toolLoop && this.rules.rulings().mayAsk(tools)) {
			throw withoutToolLoop("on session " + request.key());
		}
		if (continues(request)) {
			checkContinues(request);
			WaitingTurns.Resumed resumed = this.waitingTurns.resume(request, CALLS, this::takeAttributes);
			return (resumed.turn() != null)
					? new OpenedCall.Working(resumed(resumed.turn(), tools, enclosing, inLine, toolLoop))
					: open(request.start(TurnRequest.Start.answering(resumed.question())), tools, toolLoop, inLine);
		}
		RunningTurn turn = this.turns.read(request);
		inLine.accept(turn);
		return (turn.openTurn() == 0)
				? new OpenedCall.Working(working(this.turns.begin(turn), tools, enclosing, toolLoop))
				: afterPause(request, turn, tools, enclosing, inLine, toolLoop);
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

	/**
	 * Begins a turn that is not stored. Its tool calls have nowhere to wait, as in a call
	 * without a session.
	 */
	private TurnCall unstored(TurnRequest request, List<ToolCallback> tools, boolean toolLoop,
			@Nullable HookContext enclosing) {
		if (request.input().isEmpty()) {
			throw new IllegalStateException(
					"The call on session " + request.key() + " is not stored, so it continues no"
							+ " turn, and it has no message. Add .user(..) to the call.");
		}
		checkRules(tools);
		boolean mayAsk = this.rules.rulings().mayAsk(tools);
		if (!toolLoop && mayAsk && !tools.isEmpty()) {
			throw withoutToolLoop("on session " + request.key());
		}
		RunningTurn turn = this.turns.begin(this.turns.read(request));
		List<ToolCallback> attended = tools;
		if (mayAsk) {
			Rulings.Caller caller = new Rulings.Caller(request.key(), request.agent(),
					turn.running().context().attributes(), request.parameters());
			attended = sessionless(tools, caller, "is not stored on session " + request.key(), enclosing);
		}
		return new TurnCall(turn, attended, this.rules);
	}

	/** Neither turn could become history, or each would wait for the other. */
	private void checkNotNested(SessionKey key) {
		if (isNested(key)) {
			throw nested(key);
		}
	}

	private boolean isNested(SessionKey key) {
		return TurnBinding.sessions().contains(session(key));
	}

	private TurnSession session(SessionKey key) {
		return new TurnSession(StoreLayer.beneath(this.turns.store()), key);
	}

	private NestedTurnException nested(SessionKey key) {
		String by = TurnBinding.enclosing()
			.map((turn) -> "A tool or hook of turn " + turn.turnId() + " on session " + turn.key())
			.orElse("A listener or summary trigger");
		TurnAccess turn = TurnBinding.running();
		boolean isSame = turn != null && turn.session().equals(session(key));
		return new NestedTurnException(by + " made a call on "
				+ (isSame ? "the same session " : "a session whose turn waits for it, ") + key
				+ ", which would have to be stored there. It may only read that session: give it a message, and no"
				+ " history to store, branch or turn to take the place of. Or give it a session of its own with"
				+ " SessionAdvisor.child(..), or none with SessionAdvisor.none().");
	}

	private void checkRules(List<ToolCallback> tools) {
		if (tools.isEmpty()) {
			return;
		}
		this.rules.rulings().named().check(names(tools));
		this.rules.rulings().check(tools);
		this.rules.limits().check(tools);
	}

	private static IllegalStateException withoutToolLoop(String which) {
		return new IllegalStateException("The call " + which + " has no tool advisor, so tools"
				+ " that need an approval could run unseen. Leave spring.ai.chat.client.tool-calling.enabled on, or"
				+ " add a ToolCallingAdvisor.");
	}

	private TurnCall working(RunningTurn turn, List<ToolCallback> tools, @Nullable HookContext enclosing,
			boolean toolLoop) {
		TurnCall call = new TurnCall(turn, tools, this.rules);
		boolean stepwise = this.turns.durability() == Durability.STEP && !tools.isEmpty();
		if (stepwise || this.rules.rulings().mayAsk(tools)) {
			call.gate(registered(turn, call, enclosing, toolLoop));
		}
		else if (enclosing == null && toolLoop && !tools.isEmpty()) {
			call.gateWhileStopping(this.turns.drain()::isOn, () -> gate(turn, call, null, true));
		}
		return call;
	}

	private GatedTurn registered(RunningTurn turn, TurnCall call, @Nullable HookContext enclosing, boolean toolLoop) {
		GatedTurn gate = gate(turn, call, enclosing, toolLoop);
		turn.gate(gate);
		return gate;
	}

	/** Only a call with a tool loop can continue a turn that stops. */
	private GatedTurn gate(RunningTurn turn, TurnCall call, @Nullable HookContext enclosing, boolean toolLoop) {
		return new GatedTurn(turn, call.offered(), this.rules, this.ledger, this.events, this.turns.durability(),
				enclosing, toolLoop ? this.turns.drain() : new Drain());
	}

	private TurnCall resumed(RunningTurn turn, List<ToolCallback> tools, @Nullable HookContext enclosing,
			Consumer<RunningTurn> inLine, boolean toolLoop) {
		try {
			if (!toolLoop) {
				throw withoutToolLoop("on session " + turn.key());
			}
			inLine.accept(turn);
			TurnCall call = new TurnCall(turn, tools, this.rules);
			GatedTurn gate = registered(turn, call, enclosing, true);
			call.gate(gate);
			gate.resume();
			return call;
		}
		catch (Throwable ex) {
			turn.abandon(ex);
			throw ex;
		}
	}

	/**
	 * Does what the rule for new messages says. The turn that is cancelled is the newest
	 * one then, so the call is read anew as it was made.
	 */
	private OpenedCall afterPause(TurnRequest request, RunningTurn turn, List<ToolCallback> tools,
			@Nullable HookContext enclosing, Consumer<RunningTurn> inLine, boolean toolLoop) {
		return switch (this.rules.waiting().onNewMessage()) {
			case REJECT -> throw this.turns.paused(turn, request.input().isEmpty());
			case CANCEL -> {
				cancel(request.key());
				RunningTurn next = this.turns.read(request);
				inLine.accept(next);
				yield new OpenedCall.Working(working(this.turns.begin(next), tools, enclosing, toolLoop));
			}
			case QUEUE -> {
				if (request.start().kind() != TurnRequest.Start.Kind.HEAD) {
					throw this.turns.paused(turn, request.input().isEmpty());
				}
				yield queued(request, turn, tools, inLine, toolLoop);
			}
		};
	}

	/** If nobody has to decide any more, the call continues the turn. */
	private OpenedCall queued(TurnRequest request, RunningTurn turn, List<ToolCallback> tools,
			Consumer<RunningTurn> inLine, boolean toolLoop) {
		JoiningInput joining = turn.toJoin();
		if (joining == null) {
			throw this.turns.answeredWhileOpen(turn);
		}
		TurnView kept = this.waitingTurns.queue(turn.key(), turn.openTurn(), joining, CALLS, turn::answeredBy);
		List<ToolApproval> pending = this.ledger.pending(this.ledger.read(kept.records(Ledger.APPROVAL)));
		// the lease could wait for what a transaction of the caller has written
		boolean continues = pending.isEmpty() && toolLoop && !this.ledger.mayRollBack();
		OpenedCall continued = continues ? continued(request, tools, inLine) : null;
		if (continued != null) {
			return continued;
		}
		request.observed().ended(TurnOutcome.QUEUED, null);
		return new OpenedCall.Queued(Pause.of(pending, new TurnResult(turn.key(), kept.turn(), List.of(), false)),
				false);
	}

	/**
	 * Returns null if the message is only kept, since another call continues the turn.
	 */
	private @Nullable OpenedCall continued(TurnRequest request, List<ToolCallback> tools,
			Consumer<RunningTurn> inLine) {
		try {
			return open(request.input(List.of()), tools, true, inLine);
		}
		catch (TurnInProgressException | NothingWaitsException ex) {
			return null;
		}
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
		if (!this.waitingTurns.isOpen(key)) {
			return List.of();
		}
		ObservedTurn observed = observe(false);
		TurnRequest request = TurnRequest.of(key, List.of()).limit(0).observed(observed);
		try {
			return observed.observe(TurnStage.TURN, () -> cancelOrAgain(request));
		}
		catch (NothingWaitsException ex) {
			if (this.waitingTurns.isOpen(key)) {
				throw ex;
			}
			// another call has ended the turn meanwhile
			return List.of();
		}
		catch (SessionLostException ex) {
			// the turn has gone with its session
			return List.of();
		}
	}

	/** A decision in between must not be lost, so its call is read again. */
	private List<ToolApproval> cancelOrAgain(TurnRequest request) {
		for (int attempt = 1; attempt < Attempts.FEW.most(); attempt++) {
			try {
				return cancelOpen(request);
			}
			catch (SessionConflictException ex) {
				logger.debug("The open turn of session " + request.key() + " changed while it was cancelled.");
			}
		}
		return cancelOpen(request);
	}

	private List<ToolApproval> cancelOpen(TurnRequest request) {
		RunningTurn turn = this.waitingTurns.takeOver(request, CALLS);
		try {
			takeAttributes(turn);
			// before anything is written, since a hook may fail
			takeQueued(turn);
			HeldCalls calls = HeldCalls.of(turn, this.ledger, this.rules.texts());
			List<LedgerEntry> ended = calls.cancel();
			turn.alongside(() -> this.ledger.closingUndecided(ended));
			endWithoutModel(turn, calls, ended);
			return ended.stream().map(LedgerEntry::approval).toList();
		}
		catch (Throwable ex) {
			turn.abandon(ex);
			throw ex;
		}
	}

	private void takeAttributes(RunningTurn turn) {
		HeldCalls.takeAttributes(turn, this.ledger);
	}

	private static void endWithoutModel(RunningTurn turn, HeldCalls calls, List<LedgerEntry> ended) {
		if (turn.isOnHead()) {
			turn.holding().giveUp(calls.answers(ended));
			turn.complete(null);
		}
		else {
			turn.giveUp();
		}
	}

	/** Makes queued messages part of a turn that can become history. */
	private static void takeQueued(RunningTurn turn) {
		int left = turn.isOnHead() ? turn.takeQueued() : 0;
		if (left > 0) {
			logger
				.warn("Queued messages on session " + turn.key() + " were left out when its turn was cancelled, since a"
						+ " hook refused or answered them. Calls that had sent them: " + left + ".");
		}
	}

	/**
	 * Returns the tools for a call that names no session. No tool call could wait there,
	 * so calls that need approval are refused.
	 * @param agent the agent that the call names; null for none
	 * @param tools the tools on offer
	 * @param toolLoop whether the call runs tools itself
	 * @param parameters the advisor parameters of the call
	 * @return the tools as the call may use them
	 * @throws UnknownToolException if a configured name that no tool has resembles that
	 * of a tool on offer
	 * @throws IllegalStateException if a tool has a condition that can never be
	 * evaluated, or if the call leaves it to the application to run tools that need
	 * approval
	 */
	public List<ToolCallback> withoutSession(@Nullable String agent, List<ToolCallback> tools, boolean toolLoop,
			Map<String, Object> parameters) {
		checkRules(tools);
		if (tools.isEmpty()) {
			return tools;
		}
		if (!toolLoop && this.rules.rulings().mayAsk(tools)) {
			throw withoutToolLoop("without a session");
		}
		return attended(agent, tools, parameters).stream().map(this.rules.limits()::limited).toList();
	}

	private List<ToolCallback> attended(@Nullable String agent, List<ToolCallback> tools,
			Map<String, Object> parameters) {
		HookContext enclosing = TurnBinding.enclosing().orElse(null);
		Rulings.Caller caller = new Rulings.Caller(null, agent, Map.of(), parameters);
		return sessionless(tools, caller, "names no session", enclosing);
	}

	private List<ToolCallback> sessionless(List<ToolCallback> tools, Rulings.Caller caller, String why,
			@Nullable HookContext enclosing) {
		return tools.stream()
			.<ToolCallback>map((tool) -> new SessionlessTool(tool, this.rules.rulings(), caller, why, enclosing))
			.toList();
	}

	/**
	 * Checks the tools that a request without a session really has. A tool that an inner
	 * advisor has added would run without approval.
	 * @param offered the tools of the request
	 * @throws UnattendedToolException if one of them is named or annotated and would run
	 * unchecked
	 */
	public void checkWithoutSession(List<ToolCallback> offered) {
		for (ToolCallback tool : offered) {
			String name = tool.getToolDefinition().name();
			boolean asks = this.rules.rulings().named().appliesTo(name)
					|| this.rules.rulings().annotated().appliesTo(tool);
			if (asks && !GatedTool.isAttended(tool, List.of(this.rules.rulings()))) {
				throw unattended(name);
			}
		}
	}

	private static UnattendedToolException unattended(String name) {
		return new UnattendedToolException(name, "Tool '" + name
				+ "' needs an approval, but an advisor has added it behind"
				+ " the session advisor to a call that names no session, where nobody would ask. Nothing was run."
				+ " Offer it with .tools(..) or .toolCallbacks(..), and add"
				+ " .advisors(SessionAdvisor.session(..)).");
	}

	/**
	 * Returns the hooks of all calls, which run in turns only.
	 * @return the hooks; empty if there are none
	 */
	public List<SessionHook> hooks() {
		return this.turns.hooks();
	}

	private static List<String> names(List<ToolCallback> tools) {
		return tools.stream().map((tool) -> tool.getToolDefinition().name()).toList();
	}

}
