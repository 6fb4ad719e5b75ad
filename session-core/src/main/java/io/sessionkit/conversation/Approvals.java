package io.sessionkit.conversation;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
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
import io.sessionkit.approval.UnknownToolException;
import io.sessionkit.internal.approval.ApprovalRules;
import io.sessionkit.internal.approval.GatedTurns;
import io.sessionkit.internal.ledger.Continuations;
import io.sessionkit.internal.ledger.Decisions;
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

	private final SessionAccess access;

	private final Deciders deciders;

	private final ApprovalRules rules;

	private final Ledger ledger;

	private final Decisions decisions;

	private final StandingDecisions standing;

	private final Notices notices;

	private final GatedTurns turns;

	private final Continuations continuations;

	private final ApprovalListeners listeners;

	private Approvals(Builder builder) {
		this.access = builder.conversations.access();
		this.deciders = new Deciders(this.access, builder.deciders, builder.ownerDecides);
		Rulings rulings = new Rulings(new NamedTools(builder.tools, builder.decidedTools(), builder.knownTools),
				new AnnotatedTools(), builder.policies);
		ApprovalRules.Waiting waiting = new ApprovalRules.Waiting(builder.onNewMessage, builder.expiresAfter,
				builder.notices, builder.continuations);
		this.rules = new ApprovalRules(rulings, builder.siblings, waiting, builder.version,
				new SafeTexts(builder.texts), builder.conversations.limits(builder.knownTools), builder.traceIds);
		Turns turns = builder.conversations.turns();
		this.ledger = new Ledger(turns);
		this.continuations = new Continuations(turns, this.ledger, waiting.continuations());
		this.decisions = new Decisions(turns.waitingTurns(), this.ledger,
				waiting.continuations() ? this.continuations::announce : (call) -> {
				});
		this.standing = new StandingDecisions(turns.store());
		this.notices = new Notices(turns.store());
		this.listeners = new ApprovalListeners(builder.listeners);
		this.turns = new GatedTurns(turns, this.rules, this.ledger, this.listeners::tell);
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
		Caller caller = this.access.caller();
		Instant latest = latest(query.waitingFor());
		Predicate<ToolApproval> shown = (call) -> query.isFor(call.tool()) && !changedAt(call).isAfter(latest)
				&& this.deciders.mayDecide(caller, call) && SessionAccess.owned(call.key(), caller).equals(call.key());
		List<String> owners = query.owners();
		if (owners == null && this.deciders.mayDecideOfOthers(caller)) {
			return this.ledger.pending(shown, page);
		}
		return ((owners != null) ? owners : List.of(caller.name())).stream()
			.map((owner) -> owner.isEmpty() ? caller.name() : owner)
			.filter((owner) -> this.deciders.mayDecideOf(caller, owner))
			.distinct()
			.flatMap((owner) -> this.ledger.pendingOf(owner, new Page(0, Integer.MAX_VALUE)).stream())
			.filter(shown)
			.sorted(Comparator.comparing(Approvals::changedAt))
			.skip(page.offset())
			.limit(page.limit())
			.toList();
	}

	/** A time may come from a request, so it may be longer than all times before. */
	private Instant latest(@Nullable Duration waited) {
		Instant now = this.ledger.now();
		if (waited == null || waited.isNegative()) {
			return Instant.MAX;
		}
		return (waited.compareTo(Duration.between(Instant.MIN, now)) > 0) ? Instant.MIN : now.minus(waited);
	}

	/** A call that may have run waits since its claim. */
	private static Instant changedAt(ToolApproval call) {
		Instant claimed = call.claimedAt();
		return (claimed != null) ? claimed : call.requestedAt();
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
	 * Returns who may decide.
	 */
	Deciders deciders() {
		return this.deciders;
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

	/**
	 * Returns the object that opens the turns of model calls. For SessionKit's own
	 * packages.
	 * @return the same object each time
	 */
	public GatedTurns turns() {
		return this.turns;
	}

	/**
	 * Returns the notices that turns are to be continued. For SessionKit's own packages.
	 * @return the same object each time
	 */
	public Continuations continuations() {
		return this.continuations;
	}

	/**
	 * Returns whether a policy rules on calls here, or texts are those that the model
	 * gets. For SessionKit's own packages.
	 * @param part the policy or the texts
	 * @return true if the builder was given it
	 */
	public boolean has(Object part) {
		return rulings().policies().contains(part) || this.rules.texts().are(part);
	}

	/**
	 * Returns whether anybody receives the events of calls. For SessionKit's own
	 * packages.
	 * @return true if the builder was given listeners
	 */
	public boolean hasListeners() {
		return this.listeners.hasAny();
	}

	/**
	 * Returns the rules that say which calls need consent.
	 */
	Rulings rulings() {
		return this.rules.rulings();
	}

	/**
	 * Returns the limits on the time of tools.
	 */
	ToolLimits limits() {
		return this.rules.limits();
	}

	/**
	 * Checks the configured tool names against the tools that are known before any call,
	 * and logs the names that no such tool has.
	 * @throws UnknownToolException if a name that no such tool has is probably a
	 * misspelling of the name of one of them
	 */
	public void checkNames() {
		this.rules.rulings().named().checkKnown();
		this.rules.limits().checkKnown();
	}

	/**
	 * Checks the approval condition of a tool method before any call offers the tool.
	 * @param tool the name of the tool
	 * @param method the method
	 * @throws IllegalStateException if the condition can never be evaluated
	 */
	public void checkCondition(String tool, Method method) {
		this.rules.rulings().annotated().check(tool, method);
	}

	/**
	 * Checks the time limit of a tool method before any call offers the tool.
	 * @param tool the name of the tool
	 * @param method the method
	 * @throws IllegalStateException if the limit is not positive, or longer than a year
	 */
	public void checkTimeout(String tool, Method method) {
		this.rules.limits().check(tool, method);
	}

	/** Returns whether pauses are stored with notices. */
	boolean storesNotices() {
		return this.rules.waiting().notices();
	}

	Notices notices() {
		return this.notices;
	}

	/**
	 * Returns those that are told of the calls.
	 */
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
		 * none. The supplier is called by {@link Approvals#checkNames}, and by calls as
		 * long as a name of {@link #tools} has not been found.
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
			deciders.forEach((tool, authorities) -> {
				if (!tool.equals(Deciders.ALL_TOOLS)) {
					ToolName.check(tool, "The map of deciders");
				}
				if (authorities.isEmpty()) {
					throw new IllegalArgumentException("Nobody decides on the calls of tool '" + tool
							+ "': give it an authority, or leave it out for those who reach the session.");
				}
			});
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

		private Set<String> decidedTools() {
			Set<String> named = new HashSet<>(this.deciders.keySet());
			named.remove(Deciders.ALL_TOOLS);
			return named;
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
			if (!this.deciders.isEmpty() && this.conversations.access().isUnlimited()) {
				throw new IllegalStateException("Tools have deciders " + this.deciders
						+ ", and the caller is unknown. Give the conversations an access, or leave the deciders out.");
			}
			if (!this.ownerDecides && this.deciders.isEmpty()) {
				throw new IllegalStateException(
						"Owners do not decide on the calls of tools that have deciders, and no tool"
								+ " has any. Name deciders, or let the owners decide.");
			}
			return new Approvals(this);
		}

	}

}
