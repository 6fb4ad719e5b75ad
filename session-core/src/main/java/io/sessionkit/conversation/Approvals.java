package io.sessionkit.conversation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.access.Caller;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.access.SessionDoor;
import io.sessionkit.approval.ApprovalEvent;
import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.ApprovalTexts;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.DecisionRefusedException;
import io.sessionkit.approval.InboxQuery;
import io.sessionkit.approval.OnNewMessage;
import io.sessionkit.approval.SiblingRule;
import io.sessionkit.approval.StandingDecision;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.approval.ToolName;
import io.sessionkit.internal.approval.ApprovalRules;
import io.sessionkit.internal.approval.GatedTurns;
import io.sessionkit.internal.approval.RuleChecks;
import io.sessionkit.internal.door.ApprovalChecks;
import io.sessionkit.internal.door.BeanParts;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.internal.ledger.Continuations;
import io.sessionkit.internal.ledger.Deciders;
import io.sessionkit.internal.ledger.Decisions;
import io.sessionkit.internal.ledger.Inbox;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.internal.ledger.LedgerEntry;
import io.sessionkit.internal.ledger.Notices;
import io.sessionkit.internal.ledger.SafeTexts;
import io.sessionkit.internal.ledger.StandingDecisions;
import io.sessionkit.internal.ruling.AnnotatedTools;
import io.sessionkit.internal.ruling.NamedTools;
import io.sessionkit.internal.ruling.Rulings;
import io.sessionkit.internal.run.RunningCall;
import io.sessionkit.internal.run.ToolLimits;
import io.sessionkit.internal.turn.Turns;
import io.sessionkit.store.Page;
import org.jspecify.annotations.Nullable;

/**
 * The tool calls that wait for people, for an application to list and to decide. It is a
 * bean to inject. It needs only the store, so it also works in a process that has neither
 * the model nor the tools. A decision runs nothing. The next call on the session without
 * user text continues the turn and runs the approved calls; a server can make that call
 * itself ({@link Builder#continuations}).
 * <p>
 * Only one decision on a call counts. If two people decide the same call, one wins and
 * the other gets a {@link DecisionRefusedException}. A call that turns out to be
 * uncertain is decided once more.
 * <p>
 * If the conversations have an access ({@link Conversations.Builder#access}), a caller
 * finds and decides the calls of the own sessions, and those that
 * {@linkplain Builder#deciders deciders} decide. For a session that the caller does not
 * reach, each method throws a {@link io.sessionkit.SessionNotFoundException}, whether
 * there is such a session or not. A decision is made in the name of the caller, whatever
 * name it says. Each method blocks its thread until the store answers. Safe for use by
 * many threads and processes.
 */
public final class Approvals implements SessionDoor {

	/**
	 * The name of the tool context entry that holds the id of the call for which the tool
	 * runs, if that call is in the {@link #ledger} and has a tool context. Spring AI
	 * sends it to MCP servers with the rest of the context.
	 */
	public static final String CLAIM = RunningCall.CLAIM;

	static {
		InnerParts.open(Approvals.class, GatedTurns.class, Approvals::turns);
		InnerParts.open(Approvals.class, Continuations.class, Approvals::continuations);
		InnerParts.open(Approvals.class, ApprovalChecks.class, Approvals::checks);
		InnerParts.open(Approvals.class, BeanParts.class, Approvals::parts);
	}

	private final SessionAccess access;

	private final Deciders deciders;

	private final ApprovalRules rules;

	private final Ledger ledger;

	private final Inbox inbox;

	private final Decisions decisions;

	private final StandingDecisions standing;

	private final Notices notices;

	private final GatedTurns turns;

	private final Continuations continuations;

	private final ApprovalListeners listeners;

	private Approvals(Turns turns, Deciders deciders, ApprovalRules rules, ApprovalListeners listeners) {
		this.deciders = deciders;
		this.access = deciders.access();
		this.rules = rules;
		this.listeners = listeners;
		this.ledger = new Ledger(turns);
		this.inbox = new Inbox(deciders, this.ledger);
		boolean continues = rules.waiting().continuations();
		this.continuations = new Continuations(turns, this.ledger, continues);
		this.decisions = new Decisions(turns.waitingTurns(), this.ledger,
				continues ? this.continuations::announce : (call) -> {
				});
		this.standing = new StandingDecisions(turns.store());
		this.notices = new Notices(turns.store());
		this.turns = new GatedTurns(turns, rules, this.ledger, listeners::tell);
	}

	/**
	 * Creates approvals for tools whose method has
	 * {@link io.sessionkit.approval.RequiresApproval}, and for no others.
	 * @param conversations the sessions
	 * @return the approvals
	 */
	public static Approvals of(Conversations conversations) {
		return builder(conversations).build();
	}

	/**
	 * Creates a builder. Its defaults are: no tools by name, no policies, no expiry, the
	 * other calls of a reply are held while one waits, and new messages are refused while
	 * calls wait.
	 * @param conversations the sessions
	 * @return the builder
	 */
	public static Builder builder(Conversations conversations) {
		return new Builder(conversations);
	}

	/**
	 * Returns the calls of a session that wait for a person, and those of which nobody
	 * knows whether they ran.
	 * @param key the session
	 * @return the calls, in the order in which they were made; empty if the session is
	 * absent
	 */
	public List<ToolApproval> pending(SessionKey key) {
		return this.ledger.pending(this.ledger.open(this.access.key(key)));
	}

	/**
	 * Returns the calls that wait for a person, or of which nobody knows whether they
	 * ran, in all sessions of an owner, the newest change first. It reads the approval
	 * records of these sessions up to the end of the page, and the leases of turns whose
	 * calls are running, but no messages.
	 * @param owner the owner; empty for the caller, and for the sessions that have none
	 * if sessions do not depend on a caller
	 * @param page the part of the list to return
	 * @return the calls
	 */
	public List<ToolApproval> pendingOf(String owner, Page page) {
		return this.ledger.pendingOf(this.access.owner(owner), page);
	}

	/**
	 * Returns the calls that the caller may decide in the sessions of some owners or of
	 * all, those whose last change is oldest first. Calls that the caller may not decide
	 * are left out, so nobody else sees their arguments, and so are calls of sessions
	 * without owner, which a caller with a name cannot reach. For all owners it reads the
	 * records of the calls whose turn is not over, up to the end of the page, in as many
	 * queries as there are hundreds of them, in a Redis Cluster in one for each, and the
	 * lease of each session whose call is running; calls that cannot be read, or whose
	 * server in a Cluster cannot be reached, are left out. The list moves as calls are
	 * decided, so read the first page again after that. A caller who decides no calls of
	 * others gets those of the caller's own sessions. For some owners it reads as
	 * {@link #pendingOf} does, once for each owner of whom the caller can decide
	 * anything.
	 * @param query which calls
	 * @param page the part of the list to return
	 * @return the calls
	 * @throws io.sessionkit.access.CallerRequiredException if no caller is known, and one
	 * is needed
	 * @throws UnsupportedOperationException if the query is of all owners, and the store
	 * does not list records of all owners
	 */
	public List<ToolApproval> inbox(InboxQuery query, Page page) {
		return this.inbox.of(query, page);
	}

	/**
	 * Returns all calls of a session that needed consent, were held next to one that did,
	 * or were stored before they ran, as with {@link io.sessionkit.Durability#STEP}, with
	 * any status.
	 * @param key the session
	 * @return the calls that are over, then those that are not, each group in the order
	 * in which the calls were made
	 */
	public List<ToolApproval> ledger(SessionKey key) {
		SessionKey reached = this.access.key(key);
		List<LedgerEntry> all = new ArrayList<>(this.ledger.over(reached));
		all.addAll(this.decisions.openWithExpired(reached));
		return all.stream().map(LedgerEntry::approval).toList();
	}

	/**
	 * Approves a call as it was shown.
	 * @param shown the call
	 * @param by the name of the person who approves it; not blank
	 * @return the call as it is now
	 * @throws DecisionRefusedException if it can no longer be decided
	 * @throws io.sessionkit.approval.DeciderRequiredException if the calls of the tool
	 * are decided by others
	 */
	public ToolApproval approve(ToolApproval shown, String by) {
		return decide(shown, Decision.approve(by));
	}

	/**
	 * Rejects a call as it was shown.
	 * @param shown the call
	 * @param by the name of the person who rejects it; not blank
	 * @param reason the text that the model gets
	 * @return the call as it is now
	 * @throws DecisionRefusedException if it can no longer be decided
	 * @throws io.sessionkit.approval.DeciderRequiredException if the calls of the tool
	 * are decided by others
	 */
	public ToolApproval reject(ToolApproval shown, String by, String reason) {
		return decide(shown, Decision.reject(by, reason));
	}

	/**
	 * Decides a call as it was shown.
	 * @param shown the call
	 * @param decision the decision
	 * @return the call as it is now
	 * @throws DecisionRefusedException if it can no longer be decided, if it may have run
	 * since it was shown, or if other arguments do not fit the tool
	 * @throws io.sessionkit.approval.DeciderRequiredException if the calls of the tool
	 * are decided by others
	 */
	public ToolApproval decide(ToolApproval shown, Decision decision) {
		return decide(shown.key(), shown.id(), shown.asShown(), decision);
	}

	/**
	 * Decides a call that was shown elsewhere, on a web page for example. With its digest
	 * alone, a decision on an uncertain call counts whatever the call has done since.
	 * @param key the session
	 * @param id the id of the call
	 * @param shown the call {@linkplain ToolApproval#asShown() as it was shown}, or its
	 * digest alone, which proves merely that its tool and arguments were shown
	 * @param decision the decision
	 * @return the call as it is now
	 * @throws io.sessionkit.store.StoreUnavailableException if the store failed; the call
	 * may be decided nevertheless. A decision for later calls is stored after that on
	 * this call, so it may be missing
	 * @throws DecisionRefusedException if there is no such call, if it is not the one
	 * that was shown, if it can no longer be decided, if it may have run since it was
	 * shown, or if other arguments do not fit the tool
	 * @throws io.sessionkit.approval.DeciderRequiredException if the caller reaches the
	 * session, and the calls of the tool are decided by others
	 */
	public ToolApproval decide(SessionKey key, String id, String shown, Decision decision) {
		Caller caller = this.access.caller();
		Decision named = Deciders.named(decision, caller);
		ToolApproval decided = this.decisions.make(this.deciders.key(key, caller), id, shown, named,
				this.deciders.right(caller));
		try {
			// whoever is told may continue the turn, in which other calls follow it
			this.standing.keep(decided, named);
		}
		finally {
			this.listeners.tell(new ApprovalEvent.Decided(decided));
			this.continuations.decided(decided);
		}
		return decided;
	}

	/**
	 * Returns the call for which the tool on this thread runs. Its id is the same if the
	 * call runs again, so a service that the tool calls can use it as a key to recognize
	 * a repetition. The tools of a {@code ChatClient} call that a tool makes run for
	 * calls of their own, if its client has a session advisor.
	 * @return the call; empty if it is not in the {@link #ledger}, and outside of tools.
	 * A call that is there need not have had a person's consent
	 */
	public Optional<ToolApproval> running() {
		return RunningCall.running();
	}

	/**
	 * Returns the standing decisions of a session: those on later calls. For the session
	 * of somebody else, a decider gets those on the tools whose calls the caller decides.
	 * @param key the session
	 * @return the decisions, the oldest first
	 */
	public List<StandingDecision> standingDecisions(SessionKey key) {
		Caller caller = this.access.caller();
		return this.standing.of(this.deciders.key(key, caller))
			.stream()
			.filter((decision) -> caller.reaches(decision.key().owner()) || this.deciders.mayRevoke(caller, decision))
			.toList();
	}

	/**
	 * Revokes a decision on later calls. Calls that it has already decided stay decided.
	 * Another decision that has taken its place meanwhile stays.
	 * @param decision the decision, as it was read
	 * @return whether the session had the decision
	 * @throws io.sessionkit.approval.DeciderRequiredException if the caller reaches the
	 * session, and the calls of the tool are decided by others
	 */
	public boolean revoke(StandingDecision decision) {
		Caller caller = this.access.caller();
		SessionKey key = this.deciders.key(decision.key(), caller);
		return this.standing.revoke(key, decision, (stored) -> this.deciders.revokes(caller, stored));
	}

	/**
	 * Ends the open turn of a session without the model. Calls that have not run do not
	 * run, and the model is told so with the next turn. The turn becomes part of the
	 * history, with the messages that were queued meanwhile; one that a hook refuses or
	 * answers is left out. If that is not possible, because the session has moved on, it
	 * is kept beside the history. If a hook throws anything but a refusal, this method
	 * throws it, and the turn waits on with its calls as they were.
	 * @param key the session
	 * @return the calls that were open, as they are now; empty if the session has no open
	 * turn
	 * @throws io.sessionkit.TurnInProgressException if another call works on the turn
	 */
	public List<ToolApproval> cancel(SessionKey key) {
		return this.turns.cancel(this.access.key(key));
	}

	@Override
	public SessionAccess access() {
		return this.access;
	}

	/** Returns the object that opens the turns of model calls. */
	GatedTurns turns() {
		return this.turns;
	}

	/** Returns the notices that turns are to be continued. */
	Continuations continuations() {
		return this.continuations;
	}

	ApprovalChecks checks() {
		return new RuleChecks(this.rules, this.listeners.hasAny());
	}

	BeanParts parts() {
		return (part) -> rulings().policies().contains(part) || this.rules.texts().are(part);
	}

	/** Returns the rules that say which calls need consent. */
	Rulings rulings() {
		return this.rules.rulings();
	}

	/** Returns the limits on the time of tools. */
	ToolLimits limits() {
		return this.rules.limits();
	}

	/** Returns who may decide. */
	Deciders deciders() {
		return this.deciders;
	}

	/** Returns whether pauses are stored with notices. */
	boolean storesNotices() {
		return this.rules.waiting().notices();
	}

	Notices notices() {
		return this.notices;
	}

	/** Returns those that are told of the calls. */
	ApprovalListeners listeners() {
		return this.listeners;
	}

	/**
	 * Builds {@link Approvals}. Not safe for use by many threads.
	 */
	public static final class Builder {

		private final Conversations conversations;

		private Set<String> tools = Set.of();

		private Supplier<? extends Collection<String>> knownTools = List::of;

		private Map<String, Set<String>> deciders = Map.of();

		private boolean ownerDecides = true;

		private List<ApprovalPolicy> policies = List.of();

		private SiblingRule siblings = SiblingRule.HOLD;

		private OnNewMessage onNewMessage = OnNewMessage.REJECT;

		private @Nullable Duration expiresAfter;

		private @Nullable String version;

		private ApprovalTexts texts = new ApprovalTexts() {
		};

		private Supplier<@Nullable String> traceIds = () -> null;

		private List<Consumer<? super ApprovalEvent>> listeners = List.of();

		private boolean notices;

		private boolean continuations;

		private Builder(Conversations conversations) {
			this.conversations = conversations;
		}

		/**
		 * Sets the tools of which every call needs consent. The default is none.
		 * @param names the names of the tools; they are compared exactly, case-sensitive.
		 * A name is also meant for the tools that Spring AI has renamed from it, as in
		 * {@code alt_1_cancel}, because two MCP servers have one of the name
		 * @return this builder
		 * @throws IllegalArgumentException if no tool could have one of the names, as
		 * {@code *} ({@link ToolName}). What rules on all tools is a policy
		 */
		public Builder tools(Set<String> names) {
			names.forEach((name) -> ToolName.check(name, "The set of tools that need consent"));
			this.tools = Set.copyOf(names);
			return this;
		}

		/**
		 * Sets a supplier of the names of tools that exist besides those that a call
		 * offers, so that a name of {@link #tools} can be one of them. The default is
		 * none. The supplier is called when the auto-configuration checks the names at
		 * start, and by calls as long as a name of {@link #tools} has not been found.
		 * @param names the supplier of the names
		 * @return this builder
		 */
		public Builder knownTools(Supplier<? extends Collection<String>> names) {
			this.knownTools = names;
			return this;
		}

		/**
		 * Sets who decides on the calls of which tool, where sessions depend on a caller
		 * ({@link Conversations.Builder#access}): a caller who has one of the
		 * authorities, whoever the owner of the session is. Every call of a tool that is
		 * named here needs consent. The default is none: whoever reaches the session
		 * decides.
		 * @param deciders the authorities by the name of the tool; under {@code *} those
		 * for all other tools that need consent. A tool that Spring AI has renamed, as in
		 * {@code alt_1_cancel}, has those of its {@linkplain ToolName#original original}
		 * name, if they are named, and not those of {@code *}
		 * @return this builder
		 * @throws IllegalArgumentException if a tool has no authority, or if no tool
		 * could have one of the names ({@link ToolName})
		 */
		public Builder deciders(Map<String, Set<String>> deciders) {
			Deciders.check(deciders);
			this.deciders = Map.copyOf(deciders);
			return this;
		}

		/**
		 * Sets whether a caller may decide on calls of the own sessions if the tool has
		 * {@link #deciders}. By default a caller may who has the authority.
		 * @param ownerDecides false if the owner of a session decides on none of these
		 * calls
		 * @return this builder
		 */
		public Builder ownerDecides(boolean ownerDecides) {
			this.ownerDecides = ownerDecides;
			return this;
		}

		/**
		 * Sets the policies that also rule on calls. The default is none.
		 * @param policies the policies
		 * @return this builder
		 */
		public Builder policies(List<? extends ApprovalPolicy> policies) {
			this.policies = List.copyOf(policies);
			return this;
		}

		/**
		 * Sets the rule for the other calls of a reply while one call waits. By default
		 * they are held.
		 * @param siblings the rule
		 * @return this builder
		 */
		public Builder siblings(SiblingRule siblings) {
			this.siblings = siblings;
			return this;
		}

		/**
		 * Sets the rule for a new message while calls wait. By default the message is
		 * refused.
		 * @param onNewMessage the rule
		 * @return this builder
		 */
		public Builder onNewMessage(OnNewMessage onNewMessage) {
			this.onNewMessage = onNewMessage;
			return this;
		}

		/**
		 * Sets how long a call can be decided, by the clock of the store. By default it
		 * can be decided as long as its session lives. A time that is not shorter than
		 * the time to live of the session has no effect.
		 * @param expiresAfter the time, a year at most; null for no limit
		 * @return this builder
		 * @throws IllegalArgumentException if it is not positive, or too long
		 */
		public Builder expiresAfter(@Nullable Duration expiresAfter) {
			if (expiresAfter != null) {
				ToolLimits.check("The time to decide", expiresAfter);
			}
			this.expiresAfter = expiresAfter;
			return this;
		}

		/**
		 * Sets the application's own version marker, for example the version of its
		 * prompts. It is kept with a paused turn. A call with another marker cannot
		 * continue that turn. The default is none.
		 * @param version the marker; null for none
		 * @return this builder
		 */
		public Builder version(@Nullable String version) {
			this.version = version;
			return this;
		}

		/**
		 * Sets the texts that the model gets instead of the result of a call, or with it.
		 * The default is the texts of {@link ApprovalTexts}.
		 * @param texts the texts
		 * @return this builder
		 */
		public Builder texts(ApprovalTexts texts) {
			this.texts = texts;
			return this;
		}

		/**
		 * Sets a supplier of the trace id of the running call. The id is kept with the
		 * calls that wait. The default is none.
		 * @param traceIds the supplier of the id; it may return null
		 * @return this builder
		 */
		public Builder traceIds(Supplier<@Nullable String> traceIds) {
			this.traceIds = traceIds;
			return this;
		}

		/**
		 * Sets the listeners that receive the events of calls. The default is none.
		 * @param listeners the listeners
		 * @return this builder
		 */
		public Builder listeners(List<? extends Consumer<? super ApprovalEvent>> listeners) {
			this.listeners = List.copyOf(listeners);
			return this;
		}

		/**
		 * Sets whether each pause is stored with a notice, which {@link ApprovalNotices}
		 * deliver. By default none is, since notices that nobody delivers stay as long as
		 * their sessions.
		 * @param notices true to store notices
		 * @return this builder
		 */
		public Builder notices(boolean notices) {
			this.notices = notices;
			return this;
		}

		/**
		 * Sets whether each decision is stored with a notice that its turn is to be
		 * continued, and each pause whose calls expire with one for that time. The turn
		 * is continued where <code>io.sessionkit.stream.TurnContinuations</code> run, in
		 * any process. By default none is stored, and a turn waits for a call.
		 * @param continuations true to store such notices
		 * @return this builder
		 */
		public Builder continuations(boolean continuations) {
			this.continuations = continuations;
			return this;
		}

		/**
		 * Builds the approvals.
		 * @return new approvals
		 * @throws IllegalStateException if there are {@link #deciders}, and sessions do
		 * not depend on a caller; or if the owner does not decide, and nobody else does
		 */
		public Approvals build() {
			Deciders deciders = new Deciders(this.conversations.access(), this.deciders, this.ownerDecides);
			return new Approvals(this.conversations.turns(), deciders, rules(deciders.tools()),
					new ApprovalListeners(this.listeners));
		}

		private ApprovalRules rules(Set<String> decided) {
			Rulings rulings = new Rulings(new NamedTools(this.tools, decided, this.knownTools), new AnnotatedTools(),
					this.policies);
			ApprovalRules.Waiting waiting = new ApprovalRules.Waiting(this.onNewMessage, this.expiresAfter,
					this.notices, this.continuations);
			return new ApprovalRules(rulings, this.siblings, waiting, this.version, new SafeTexts(this.texts),
					this.conversations.limits(this.knownTools), this.traceIds);
		}

	}

}
