package io.sessionkit.conversation;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.approval.Approval;
import io.sessionkit.approval.ApprovalEvent;
import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.ApprovalTexts;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.DecisionRefusedException;
import io.sessionkit.approval.NewMessageRule;
import io.sessionkit.approval.SiblingRule;
import io.sessionkit.approval.StandingDecision;
import io.sessionkit.internal.approval.AnnotatedTools;
import io.sessionkit.internal.approval.ApprovalRules;
import io.sessionkit.internal.approval.Decisions;
import io.sessionkit.internal.approval.GatedTurns;
import io.sessionkit.internal.approval.Ledger;
import io.sessionkit.internal.approval.LedgerEntry;
import io.sessionkit.internal.approval.NamedTools;
import io.sessionkit.internal.approval.SafeTexts;
import io.sessionkit.internal.approval.ToolRuns;
import io.sessionkit.internal.turn.Turns;
import io.sessionkit.store.Page;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Where people see and decide the tool calls that wait for them: a bean to inject. It
 * needs the store only, so it works in a process that knows neither model nor tools.
 * Deciding runs nothing; the next call on the session without user text does.
 * <p>
 * A decision counts once: of two who decide the same call one wins, and the other gets a
 * {@link DecisionRefusedException}. Safe for use by many threads and processes.
 */
public final class Approvals {

	/**
	 * The entry of the tool context, if a call has one, in which a tool that was approved
	 * finds the id of its call; Spring AI sends it to servers of MCP with the rest of the
	 * context.
	 */
	public static final String CLAIM = ToolRuns.CLAIM;

	private static final Log logger = LogFactory.getLog(Approvals.class);

	private final ApprovalRules rules;

	private final Ledger ledger;

	private final Decisions decisions;

	private final GatedTurns turns;

	private final List<Consumer<? super ApprovalEvent>> listeners;

	private Approvals(Builder builder) {
		this.rules = new ApprovalRules(new NamedTools(builder.tools, builder.knownTools), new AnnotatedTools(),
				builder.policies, builder.siblings, builder.onNewMessage, builder.expiresAfter, builder.version,
				new SafeTexts(builder.texts), builder.traceIds);
		Turns turns = builder.conversations.turns();
		this.ledger = new Ledger(turns);
		this.decisions = new Decisions(turns.openTurns(), this.ledger);
		this.turns = new GatedTurns(turns, this.rules, this.ledger, this::tell);
		this.listeners = List.copyOf(builder.listeners);
	}

	/**
	 * Approvals for tools whose method has
	 * {@link io.sessionkit.approval.RequiresApproval}, and for no others.
	 * @param conversations the sessions
	 * @return the approvals
	 */
	public static Approvals of(Conversations conversations) {
		return builder(conversations).build();
	}

	/**
	 * A builder: no tools by name, no policies, siblings held, no expiry, new messages
	 * refused while calls wait.
	 * @param conversations the sessions
	 * @return the builder
	 */
	public static Builder builder(Conversations conversations) {
		return new Builder(conversations);
	}

	/**
	 * The calls of a session that wait for a person, and those of which nobody knows
	 * whether they ran.
	 * @param key the session
	 * @return the calls, in the order in which they were made; none if the session is
	 * absent
	 */
	public List<Approval> pending(SessionKey key) {
		return this.ledger.pending(this.ledger.open(key));
	}

	/**
	 * The same for all sessions of an owner, the newest change first. Reads what waits in
	 * these sessions up to the end of the page, and no thread.
	 * @param owner the owner; empty for sessions that have none
	 * @param page which of the calls
	 * @return the calls
	 */
	public List<Approval> pending(String owner, Page page) {
		return this.ledger.pending(owner, page);
	}

	/**
	 * All calls of a session that needed consent, whatever became of them.
	 * @param key the session
	 * @return the calls that are over, then those that are not, each in the order in
	 * which they were made
	 */
	public List<Approval> ledger(SessionKey key) {
		List<LedgerEntry> all = new ArrayList<>(this.ledger.over(key));
		all.addAll(this.decisions.open(key));
		return all.stream().map(LedgerEntry::approval).toList();
	}

	/**
	 * Approves a call as it was shown.
	 * @param shown the call
	 * @param by who approves it
	 * @return the call as it is now
	 * @throws DecisionRefusedException if it cannot be decided any more
	 */
	public Approval approve(Approval shown, String by) {
		return decide(shown, Decision.approve(by));
	}

	/**
	 * Rejects a call.
	 * @param shown the call
	 * @param by who rejects it
	 * @param reason what the model is told
	 * @return the call as it is now
	 * @throws DecisionRefusedException if it cannot be decided any more
	 */
	public Approval reject(Approval shown, String by, String reason) {
		return decide(shown, Decision.reject(by, reason));
	}

	/**
	 * Decides a call as it was shown.
	 * @param shown the call
	 * @param decision the decision
	 * @return the call as it is now
	 * @throws DecisionRefusedException if it cannot be decided any more, or other
	 * arguments do not fit the tool
	 */
	public Approval decide(Approval shown, Decision decision) {
		return decide(shown.key(), shown.id(), shown.digest(), decision);
	}

	/**
	 * Decides a call that somebody was shown elsewhere, on a page for example.
	 * @param key the session
	 * @param id the id of the call
	 * @param digest the digest that was shown with it, which proves that tool and
	 * arguments were
	 * @param decision the decision
	 * @return the call as it is now
	 * @throws io.sessionkit.StoreUnavailableException if the store failed; the call may
	 * be decided all the same, and a decision for calls to come is kept last
	 * @throws DecisionRefusedException if there is no such call, if it is not the one
	 * that was shown, if it cannot be decided any more, or if other arguments do not fit
	 * the tool
	 */
	public Approval decide(SessionKey key, String id, String digest, Decision decision) {
		Approval decided = this.decisions.make(key, id, digest, decision);
		tell(new ApprovalEvent.Decided(decided));
		this.decisions.keepAlways(decided, decision);
		return decided;
	}

	/**
	 * The call that the tool is run for that asks. Its id is the same each time that the
	 * call could run, so it is the key by which what the tool calls can recognize a
	 * repetition.
	 * @return the call; empty if it needed no consent, and outside of tools
	 */
	public Optional<Approval> running() {
		return ToolRuns.running();
	}

	/**
	 * The decisions on calls to come.
	 * @param key the session
	 * @return the decisions, the oldest first
	 */
	public List<StandingDecision> standingDecisions(SessionKey key) {
		return this.ledger.standing(key);
	}

	/**
	 * Takes a decision on calls to come back. Calls that it has decided stay decided.
	 * @param decision the decision
	 * @return whether it was there
	 */
	public boolean revoke(StandingDecision decision) {
		return this.ledger.revoke(decision.key(), decision.id());
	}

	/**
	 * Ends the open turn of a session without the model: what has not run does not run,
	 * and the model will be told so. The turn is history then; one that cannot become
	 * history, since the thread has moved on, is kept beside it.
	 * @param key the session
	 * @return the calls that were open, as they are now; none if the session has no open
	 * turn
	 * @throws io.sessionkit.TurnInProgressException if another call works on the turn
	 */
	public List<Approval> cancel(SessionKey key) {
		return this.turns.cancel(key);
	}

	/**
	 * The turns of calls to the model, for advisors.
	 * @return what opens them
	 */
	public GatedTurns turns() {
		return this.turns;
	}

	/**
	 * Returns what keeps the tools that need consent from running in calls that no
	 * advisor opens a turn for.
	 * @return the same rules for such calls
	 */
	public UnattendedTools unattended() {
		return new UnattendedTools(this.rules, "Build the client from the ChatClient.Builder bean, or give it the"
				+ " advisor: .defaultAdvisors(sessionAdvisor).");
	}

	/**
	 * Checks the configured names of tools by the tools that are known before any call,
	 * and logs those that none of them has.
	 * @throws IllegalStateException if a name that none of them has is probably a
	 * misspelling of one that one of them has
	 */
	public void checkNames() {
		this.rules.named().checkKnown();
	}

	/**
	 * Checks the condition of a method that is a tool and needs an approval, before any
	 * call offers it.
	 * @param tool the name of the tool
	 * @param method the method
	 * @throws IllegalStateException if the condition can never be evaluated
	 */
	public void checkCondition(String tool, Method method) {
		this.rules.annotated().check(tool, method);
	}

	private void tell(ApprovalEvent event) {
		for (Consumer<? super ApprovalEvent> listener : this.listeners) {
			try {
				listener.accept(event);
			}
			catch (RuntimeException ex) {
				logger.warn("A listener of approvals of session " + event.approval().key() + " threw "
						+ ex.getClass().getName());
			}
		}
	}

	/**
	 * Builds {@link Approvals}. Not safe for use by many threads.
	 */
	public static final class Builder {

		private final Conversations conversations;

		private Set<String> tools = Set.of();

		private Supplier<? extends Collection<String>> knownTools = List::of;

		private List<ApprovalPolicy> policies = List.of();

		private SiblingRule siblings = SiblingRule.HOLD;

		private NewMessageRule onNewMessage = NewMessageRule.REJECT;

		private @Nullable Duration expiresAfter;

		private @Nullable String version;

		private ApprovalTexts texts = new ApprovalTexts() {
		};

		private Supplier<@Nullable String> traceIds = () -> null;

		private List<Consumer<? super ApprovalEvent>> listeners = List.of();

		private Builder(Conversations conversations) {
			this.conversations = conversations;
		}

		/**
		 * The tools of which every call needs consent; none by default.
		 * @param names their names, letter by letter
		 * @return this builder
		 */
		public Builder tools(Set<String> names) {
			this.tools = Set.copyOf(names);
			return this;
		}

		/**
		 * The names of tools that there are besides those that a call offers, so that a
		 * name of {@link #tools} can be one of them; none by default. It is asked only
		 * where a name was not found.
		 * @param names gives the names
		 * @return this builder
		 */
		public Builder knownTools(Supplier<? extends Collection<String>> names) {
			this.knownTools = names;
			return this;
		}

		/**
		 * Who else rules on calls; nobody by default.
		 * @param policies the policies
		 * @return this builder
		 */
		public Builder policies(List<? extends ApprovalPolicy> policies) {
			this.policies = List.copyOf(policies);
			return this;
		}

		/**
		 * What becomes of calls next to one that waits; they are held by default.
		 * @param siblings the rule
		 * @return this builder
		 */
		public Builder siblings(SiblingRule siblings) {
			this.siblings = siblings;
			return this;
		}

		/**
		 * What becomes of a new message while calls wait; it is refused by default.
		 * @param onNewMessage the rule
		 * @return this builder
		 */
		public Builder onNewMessage(NewMessageRule onNewMessage) {
			this.onNewMessage = onNewMessage;
			return this;
		}

		/**
		 * How long a call can be decided, by the clock of the store; as long as its
		 * session lives by default.
		 * @param expiresAfter the time; null for no end
		 * @return this builder
		 * @throws IllegalArgumentException if it is not positive
		 */
		public Builder expiresAfter(@Nullable Duration expiresAfter) {
			if (expiresAfter != null && (expiresAfter.isZero() || expiresAfter.isNegative())) {
				throw new IllegalArgumentException("The time to decide must be positive: " + expiresAfter
						+ ". Leave it out for calls that can always be decided.");
			}
			this.expiresAfter = expiresAfter;
			return this;
		}

		/**
		 * The application's own marker of what a paused turn was made with, a prompt
		 * version for example. A call with another one does not go on with it. None by
		 * default.
		 * @param version the marker; null for none
		 * @return this builder
		 */
		public Builder version(@Nullable String version) {
			this.version = version;
			return this;
		}

		/**
		 * What the model is told in the place of a result.
		 * @param texts the texts
		 * @return this builder
		 */
		public Builder texts(ApprovalTexts texts) {
			this.texts = texts;
			return this;
		}

		/**
		 * Gives the trace id of the running call, which is kept with what waits; none by
		 * default.
		 * @param traceIds gives it, or null
		 * @return this builder
		 */
		public Builder traceIds(Supplier<@Nullable String> traceIds) {
			this.traceIds = traceIds;
			return this;
		}

		/**
		 * Who is told what happens; nobody by default.
		 * @param listeners the listeners
		 * @return this builder
		 */
		public Builder listeners(List<? extends Consumer<? super ApprovalEvent>> listeners) {
			this.listeners = List.copyOf(listeners);
			return this;
		}

		/**
		 * The approvals.
		 * @return new approvals
		 */
		public Approvals build() {
			return new Approvals(this);
		}

	}

}
