package io.sessionkit.conversation;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.Turn;
import io.sessionkit.TurnOpenException;
import io.sessionkit.access.Caller;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.access.SessionDoor;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.DecisionRefusedException;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.compensation.Compensation;
import io.sessionkit.compensation.Irreversible;
import io.sessionkit.compensation.RewindPlan;
import io.sessionkit.compensation.RewindReport;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.binding.TurnSession;
import io.sessionkit.internal.compensation.CompensatingTools;
import io.sessionkit.internal.compensation.CompensationRuns;
import io.sessionkit.internal.compensation.RewindPlanner;
import io.sessionkit.internal.compensation.RewindPlanner.Planned;
import io.sessionkit.internal.lease.TurnLeases;
import io.sessionkit.internal.ledger.Deciders;
import io.sessionkit.internal.ledger.Decisions;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.internal.ledger.LedgerEntry;
import io.sessionkit.internal.line.Drain;
import io.sessionkit.internal.message.OpenTurn;
import io.sessionkit.internal.ruling.Rulings;
import io.sessionkit.store.Page;
import io.sessionkit.store.PathView;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreLayer;

import org.springframework.ai.tool.ToolCallback;

/**
 * Rewinds sessions: takes the effects of tool calls back, then moves the head back over
 * their turns. A tool says by {@link io.sessionkit.compensation.CompensatedBy} which tool
 * takes its effect back.
 * <p>
 * Each effect is taken back at most once, whatever is called twice or killed: the
 * compensating call has a record of its own, is claimed in it before it runs, and is
 * never run again unless a person decides so. Who may plan, rewind and decide is as with
 * {@link Approvals}. Each method blocks its thread until the store answers, and
 * {@link #rewind} also while tools run. Safe for use by many threads and processes.
 */
public final class Compensations implements SessionDoor {

	private final SessionStore store;

	private final SessionAccess access;

	private final Approvals approvals;

	private final TurnLeases leases;

	private final Drain drain;

	private final CompensationRuns runs;

	private final Ledger ledger;

	private final Decisions decisions;

	private final Ledger callsOfModels;

	private final Rulings rulings;

	private final Supplier<? extends Collection<? extends ToolCallback>> tools;

	private final Map<String, String> compensating;

	private Compensations(Builder builder) {
		this.store = builder.conversations.turns().store();
		this.access = builder.conversations.access();
		this.approvals = builder.approvals;
		this.leases = builder.conversations.turns().leases();
		this.drain = builder.conversations.turns().drain();
		this.ledger = Ledger.ofCompensations(builder.conversations.turns());
		this.runs = new CompensationRuns(this.ledger, builder.approvals.limits());
		this.decisions = new Decisions(this.ledger);
		this.callsOfModels = new Ledger(builder.conversations.turns());
		this.rulings = builder.approvals.rulings();
		this.tools = builder.tools;
		this.compensating = builder.compensating;
	}

	/**
	 * Creates a builder. By default it has no tools.
	 * @param conversations the sessions
	 * @param approvals the approvals, which say which compensating calls need consent
	 * @return the builder
	 */
	public static Builder builder(Conversations conversations, Approvals approvals) {
		return new Builder(conversations, approvals);
	}

	/**
	 * Plans a rewind of the newest turns of the active branch. Nothing is changed or run.
	 * Turns before a {@link Conversation#reset} are not rewound.
	 * @param key the session
	 * @param turns the number of turns, at least 1; if there are fewer, all are rewound,
	 * and the plan says whether some of them were deleted
	 * @return the plan; it has no turns if there is none to rewind
	 * @throws IllegalArgumentException if the number is not positive, or if two of the
	 * tools have the same name
	 * @throws SessionNotFoundException if the session is absent
	 * @throws TurnOpenException if the session has an open turn
	 */
	public RewindPlan plan(SessionKey key, int turns) {
		if (turns <= 0) {
			throw new IllegalArgumentException("A rewind of session " + key + " cannot take " + turns
					+ " turns back. Name how many of the newest turns are to leave the history, at least 1.");
		}
		return planned(this.access.key(key), turns, tools()).plan();
	}

	private CompensatingTools tools() {
		return new CompensatingTools(List.copyOf(this.tools.get()), this.compensating);
	}

	private Planned planned(SessionKey key, int turns, CompensatingTools known) {
		PathView path = moves(key).pathBack(turns)
			.orElseThrow(() -> new SessionNotFoundException(
					"There is no session " + key + " to rewind, or it has expired."));
		OpenTurn.check(path.session(), "rewound");
		MovesBack.Gone gone = moves(key).gone(path, turns);
		List<Turn> looked = new DeletedHeads(this.store, path).with(gone, gone.turns().size() < turns);
		return new RewindPlanner(this.store, this.callsOfModels, this.runs, known, this.rulings).plan(path.session(),
				gone.turns(), new RewindPlanner.Looked(looked, gone.cut()));
	}

	private MovesBack moves(SessionKey key) {
		return new MovesBack(new TreeChanges(key, this.store, null));
	}

	/**
	 * Rewinds a session without values for tools that take a context, as
	 * {@link #rewind(RewindPlan, Map)} does.
	 * @param plan the plan
	 * @return the report
	 * @throws SessionConflictException if the session is not as it was planned
	 * @throws TurnOpenException if the session has an open turn
	 * @throws io.sessionkit.TurnInProgressException if another call rewinds the session
	 */
	public RewindReport rewind(RewindPlan plan) {
		return rewind(plan, Map.of());
	}

	/**
	 * Takes effects back as planned, the newest first, and moves the head back when all
	 * of them are. If a compensating call waits for a person, has failed or is uncertain,
	 * the rewind stops before the next one, and the head stays. Decide that call and call
	 * again with the same plan, or with a new one if it was approved with other
	 * arguments: what is done is not repeated. An {@link Error} of a tool is recorded as
	 * a failure, and thrown.
	 * @param plan the plan
	 * @param context the values for compensating tools that take a tool context
	 * @return the report
	 * @throws SessionConflictException if the session is not as it was planned: it has
	 * moved on, or other tools or arguments would take effects back, also since a person
	 * has approved others. What was taken back before that stays recorded; plan again. A
	 * call that is repeated since its answer was lost gets it too, if it has moved the
	 * head: read the session before you plan again
	 * @throws IllegalArgumentException if two of the tools have the same name; nothing
	 * was run
	 * @throws io.sessionkit.NestedTurnException if a tool or hook of a turn on this
	 * session makes the call; nothing was run
	 * @throws SessionNotFoundException if the session is absent, or was erased while a
	 * call ran
	 * @throws TurnOpenException if the session has an open turn
	 * @throws io.sessionkit.TurnInProgressException if another call rewinds the session,
	 * if the lease of the rewind was lost, or if somebody decided a call while it ran;
	 * call again
	 * @throws io.sessionkit.ShuttingDownException if this process shuts down; what was
	 * taken back before that stays recorded. Call again in another process
	 */
	public RewindReport rewind(RewindPlan plan, Map<String, Object> context) {
		CompensatingTools known = tools();
		SessionKey key = this.access.key(plan.key());
		TurnBinding.checkMoves(new TurnSession(StoreLayer.beneath(this.store), key));
		try (Drain.Work work = this.drain.enter(key, TurnBinding.enclosing().isPresent())) {
			return this.leases.rewinding(key, (lease) -> {
				Planned now = planned(key, asked(plan), known);
				checkIsPlan(plan, now.plan());
				return new Rewind(plan, now,
						new Rewind.Work(this.store, this.runs, moves(key), known, context, lease, this.drain))
					.run();
			});
		}
	}

	/**
	 * Returns how many turns to plan for. A plan that reaches behind its oldest turn was
	 * made for more turns than there are.
	 */
	private static int asked(RewindPlan plan) {
		int turns = plan.turns().size();
		long oldest = (turns > 0) ? plan.turns().get(turns - 1).number() : Long.MAX_VALUE;
		boolean reachesFurther = Stream
			.concat(plan.irreversible().stream().map(Irreversible::effect),
					plan.compensations().stream().map(Compensation::effect))
			.anyMatch((effect) -> effect.turn() < oldest);
		return reachesFurther ? turns + 1 : turns;
	}

	private static void checkIsPlan(RewindPlan plan, RewindPlan now) {
		boolean sameTurns = turns(plan).equals(turns(now)) && effects(plan).equals(effects(now));
		Set<List<String>> planned = new HashSet<>();
		plan.compensations().forEach((each) -> planned.add(shown(each)));
		boolean sameCalls = now.compensations().stream().allMatch((each) -> planned.contains(shown(each)));
		if (!plan.place().equals(now.place()) || !sameTurns || !sameCalls) {
			throw Rewind.notAsPlanned(plan);
		}
	}

	/**
	 * Returns the turns as a person has seen them. Kept parameters may have no equality.
	 */
	private static List<List<Object>> turns(RewindPlan plan) {
		return plan.turns()
			.stream()
			.map((turn) -> List.<Object>of(turn.number(), turn.id(), turn.status(), turn.items()))
			.toList();
	}

	private static Set<String> effects(RewindPlan plan) {
		Set<String> effects = new HashSet<>();
		plan.irreversible().forEach((each) -> effects.add(each.effect().id()));
		plan.compensations().forEach((each) -> effects.add(each.effect().id()));
		return effects;
	}

	/** Returns the part of a call that a person has seen: what it would run. */
	private static List<String> shown(Compensation each) {
		return List.of(each.call().id(), each.call().effectiveDigest());
	}

	/**
	 * Returns the compensating calls of a session that wait for a person, and those of
	 * which nobody knows whether they took the effect back. For the session of somebody
	 * else, a decider gets those that the caller may decide.
	 * @param key the session
	 * @return the calls; empty if the session is absent
	 */
	public List<ToolApproval> pending(SessionKey key) {
		Caller caller = this.access.caller();
		return this.ledger.pending(this.ledger.open(this.approvals.deciders().key(key, caller)))
			.stream()
			.filter((call) -> maySee(caller, call))
			.toList();
	}

	private boolean maySee(Caller caller, ToolApproval call) {
		return caller.reaches(call.key().owner()) || this.approvals.deciders().mayDecide(caller, call);
	}

	/**
	 * Returns the compensating calls that wait for a person, or of which nobody knows
	 * whether they took the effect back, in all sessions of an owner, the newest change
	 * first. Of the sessions of somebody else, a decider gets those that the caller may
	 * decide.
	 * @param owner the owner; empty for the caller, and for the sessions that have none
	 * if sessions do not depend on a caller
	 * @param page the part of the list to return
	 * @return the calls
	 */
	public List<ToolApproval> pendingOf(String owner, Page page) {
		Caller caller = this.access.caller();
		boolean own = owner.isEmpty() || caller.reaches(owner);
		if (own || !this.approvals.deciders().mayDecideOf(caller, owner)) {
			return this.ledger.pendingOf(this.access.owner(owner), page);
		}
		return this.ledger.pendingOf(owner, new Page(0, Integer.MAX_VALUE))
			.stream()
			.filter((call) -> maySee(caller, call))
			.skip(page.offset())
			.limit(page.limit())
			.toList();
	}

	/**
	 * Returns all compensating calls of a session that were stored, with any status.
	 * @param key the session
	 * @return the calls; empty if the session is absent
	 */
	public List<ToolApproval> ledger(SessionKey key) {
		return this.runs.stored(this.access.key(key)).values().stream().map(LedgerEntry::approval).toList();
	}

	/**
	 * Decides a compensating call as it was shown. The next {@link #rewind} follows the
	 * decision. A call that waits is approved or rejected. One that is uncertain, also
	 * because it has failed, is run again ({@link Decision#retry}), taken as done
	 * ({@link Decision#answer}), or rejected. One that was shown as approved, by
	 * {@link #ledger}, can be rejected as long as it does not run. The effect of a
	 * rejected one stays.
	 * @param shown the call
	 * @param decision the decision, which cannot count for later calls
	 * @return the call as it is now
	 * @throws IllegalArgumentException if the decision is one for later calls too
	 * @throws DecisionRefusedException if it can no longer be decided, if it may have run
	 * since it was shown, or if other arguments do not fit the tool
	 * @throws io.sessionkit.approval.DeciderRequiredException if the calls of the tool
	 * are decided by others
	 */
	public ToolApproval decide(ToolApproval shown, Decision decision) {
		return decide(shown.key(), shown.id(), shown.asShown(), decision);
	}

	/**
	 * Decides a compensating call that was shown elsewhere, as
	 * {@link #decide(ToolApproval, Decision)} does.
	 * @param key the session
	 * @param id the id of the call
	 * @param shown the call {@linkplain ToolApproval#asShown() as it was shown}, or its
	 * digest alone, which proves merely that its tool and arguments were shown, and takes
	 * no approval back
	 * @param decision the decision, which cannot count for later calls
	 * @return the call as it is now
	 * @throws IllegalArgumentException if the decision is one for later calls too
	 * @throws DecisionRefusedException if there is no such call, if it is not the one
	 * that was shown, if it can no longer be decided, if it may have run since it was
	 * shown, or if other arguments do not fit the tool
	 * @throws io.sessionkit.approval.DeciderRequiredException if the caller reaches the
	 * session, and the calls of the tool are decided by others
	 */
	public ToolApproval decide(SessionKey key, String id, String shown, Decision decision) {
		if (decision.always() != null) {
			throw new IllegalArgumentException("A decision on a call that takes an effect back counts for this call"
					+ " only; leave out always(..).");
		}
		Caller caller = this.access.caller();
		return this.decisions.make(this.approvals.deciders().key(key, caller), id, shown,
				Deciders.named(decision, caller), this.approvals.deciders().right(caller));
	}

	@Override
	public SessionAccess access() {
		return this.access;
	}

	/**
	 * Builds {@link Compensations}. Not safe for use by many threads.
	 */
	public static final class Builder {

		private final Conversations conversations;

		private final Approvals approvals;

		private Supplier<? extends Collection<? extends ToolCallback>> tools = List::of;

		private Map<String, String> compensating = Map.of();

		private Builder(Conversations conversations, Approvals approvals) {
			this.conversations = conversations;
			this.approvals = approvals;
		}

		/**
		 * Sets the tools that a rewind knows: those whose effects are taken back, and
		 * those that take them back. The default is none. A call counts as one of the
		 * tool of its name, whatever description that tool had when the call was made: do
		 * not offer other tools under these names.
		 * @param tools the tools; no two of them have the same name
		 * @return this builder
		 */
		public Builder tools(ToolCallback... tools) {
			List<ToolCallback> known = List.of(tools);
			return tools(() -> known);
		}

		/**
		 * Sets a supplier of the tools that a rewind knows, which is called for each plan
		 * and each rewind. The default is none.
		 * @param tools the supplier of the tools; no two of them have the same name
		 * @return this builder
		 */
		public Builder tools(Supplier<? extends Collection<? extends ToolCallback>> tools) {
			this.tools = tools;
			return this;
		}

		/**
		 * Sets which tool takes the effect of which other one back, for tools that have
		 * no annotation. It counts more than annotations. The default is none.
		 * @param compensating the names of the compensating tools by the name of the
		 * other one; an empty name for a tool that has no effect
		 * @return this builder
		 */
		public Builder compensating(Map<String, String> compensating) {
			this.compensating = Map.copyOf(compensating);
			return this;
		}

		/**
		 * Builds the compensations.
		 * @return new compensations
		 */
		public Compensations build() {
			return new Compensations(this);
		}

	}

}
