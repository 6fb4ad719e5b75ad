package io.sessionkit.conversation;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import io.sessionkit.Durability;
import io.sessionkit.SessionKey;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.access.SessionDoor;
import io.sessionkit.approval.ToolName;
import io.sessionkit.context.Prune;
import io.sessionkit.context.Retention;
import io.sessionkit.context.SequenceGuard;
import io.sessionkit.context.Summarize;
import io.sessionkit.context.Trim;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.internal.LongestTime;
import io.sessionkit.internal.ShortestTime;
import io.sessionkit.internal.attribute.AttributeRules;
import io.sessionkit.internal.door.BeanParts;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.internal.door.StoreGuard;
import io.sessionkit.internal.lease.TurnLeases;
import io.sessionkit.internal.line.Drain;
import io.sessionkit.internal.opening.Extensions;
import io.sessionkit.internal.opening.TurnParameters;
import io.sessionkit.internal.opening.TurnRules;
import io.sessionkit.internal.opening.TurnViews;
import io.sessionkit.internal.run.ToolLimits;
import io.sessionkit.internal.stream.StreamLogs;
import io.sessionkit.internal.summary.Summarizer;
import io.sessionkit.internal.turn.Turns;
import io.sessionkit.internal.view.TokenMemory;
import io.sessionkit.internal.view.ViewReader;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

import org.springframework.util.unit.DataSize;

/**
 * The entry point to the sessions of a store: it gives handles for sessions, and it holds
 * the configuration, the hooks and the listeners of their turns. Safe for use by many
 * threads.
 */
public final class Conversations implements SessionDoor, AutoCloseable {

	/** The shortest lease of an open turn: one second. */
	public static final Duration MIN_LEASE = ShortestTime.LIMIT;

	/** The longest lease of an open turn: a year. */
	public static final Duration MAX_LEASE = LongestTime.LIMIT;

	static {
		InnerParts.open(Conversations.class, Turns.class, Conversations::turns);
		InnerParts.open(Conversations.class, StreamLogs.class, Conversations::streams);
		InnerParts.open(Conversations.class, BeanParts.class, Conversations::parts);
	}

	private final SessionStore store;

	private final SessionAccess access;

	private final TurnRules rules;

	private final @Nullable Summarizer summarizer;

	private final List<CallObserver> observers;

	private final Turns turns;

	private final Duration lease;

	private final @Nullable Duration toolTimeout;

	private final Map<String, Duration> toolTimeouts;

	private Conversations(Builder builder) {
		refuseGap(builder.trim, builder.retention, builder.summarize);
		this.store = StoreGuard.unguarded(builder.store);
		this.access = builder.access;
		this.lease = builder.lease;
		this.toolTimeout = builder.toolTimeout;
		this.toolTimeouts = builder.toolTimeouts;
		this.observers = builder.observers;
		CallObserver observer = CallObserver.all(this.observers);
		TurnRules.Kept kept = new TurnRules.Kept(builder.keepSystemText,
				TurnParameters.of(builder.turnParameters, builder.replay, builder.replayExclude),
				builder.maxAttributesSize, builder.retention);
		this.rules = new TurnRules(new TurnRules.Sent(builder.trim, builder.prune, builder.guard), kept,
				new Extensions(builder.hooks, builder.listeners, builder.merge), observer);
		TokenMemory memory = new TokenMemory();
		this.summarizer = (builder.summarize != null)
				? new Summarizer(this.store, builder.summarize, builder.trim, builder.hooks, memory, observer) : null;
		TurnViews views = new TurnViews(new ViewReader(this.store, builder.trim, builder.prune, memory), memory,
				this.summarizer);
		this.turns = new Turns(this.store, this.rules, views, builder.lease, builder.durability);
	}

	/**
	 * Turns that are left out or deleted before they are due to be summarized would be
	 * lost to the model without a trace, for a while or for good.
	 */
	private static void refuseGap(Trim trim, Retention retention, @Nullable Summarize rule) {
		if (rule != null) {
			refuseGap("A request has ", trim.maxTurns(), "neither sent nor summarized until then", "Send ", rule);
			refuseGap("A session keeps ", retention.maxTurns(), "deleted without a summary of them", "Keep ", rule);
		}
	}

	private static void refuseGap(String who, int maxTurns, String consequence, String instead, Summarize rule) {
		if (!rule.keepsUpWith(maxTurns)) {
			throw new IllegalArgumentException(
					who + maxTurns + " turns, and a summary is only made of a session of " + rule.fewestTurns()
							+ " turns: turns would be " + consequence + ". " + instead + (rule.fewestTurns() - 1)
							+ " turns or more, or let keepTurns be less than " + rule.keepTurns() + ".");
		}
	}

	/**
	 * Creates conversations that send the whole view and repair requests that are not a
	 * valid sequence.
	 * @param store the store that holds the sessions
	 * @return the conversations
	 */
	public static Conversations of(SessionStore store) {
		return builder(store).build();
	}

	/**
	 * Creates a builder. Its defaults are no trimming and a guard that repairs.
	 * @param store the store that holds the sessions
	 * @return the builder
	 */
	public static Builder builder(SessionStore store) {
		return new Builder(store);
	}

	/**
	 * Returns the handle of a session, which need not exist. Nothing is read. With an
	 * {@link Builder#access access} the caller is checked here, and a key without owner
	 * is one of the caller's; whoever has the handle then reaches the session.
	 * @param key the session
	 * @return its handle
	 * @throws io.sessionkit.SessionNotFoundException if the caller does not reach the
	 * sessions of that owner
	 * @throws io.sessionkit.access.CallerRequiredException if no caller is known, and one
	 * is needed
	 */
	public Conversation get(SessionKey key) {
		return new Conversation(this.access.key(key), this.access, this.store, this.summarizer,
				this.turns.waitingTurns(), this.rules.kept().maxAttributes());
	}

	/**
	 * Returns the handle of a session, which need not exist: of the caller, or without
	 * owner if sessions do not depend on a caller. Nothing is read.
	 * @param id the session's id
	 * @return its handle
	 * @throws io.sessionkit.InvalidSessionKeyException if the id breaks a rule
	 * @throws io.sessionkit.access.CallerRequiredException if no caller is known, and one
	 * is needed
	 */
	public Conversation get(String id) {
		return get(SessionKey.of(id));
	}

	/**
	 * Returns the object that runs the turns of these sessions.
	 */
	Turns turns() {
		return this.turns;
	}

	BeanParts parts() {
		return this::has;
	}

	/**
	 * Returns whether a hook, a listener, a merge or an observer takes part in all turns
	 * of these sessions, or a trigger makes summaries of them due.
	 */
	private boolean has(Object part) {
		Extensions all = this.rules.extensions();
		return all.hooks().contains(part) || all.listeners().contains(part) || part.equals(all.merge())
				|| this.observers.contains(part) || this.summarizer != null && part.equals(this.summarizer.trigger());
	}

	/**
	 * Returns the limits on the time of tools.
	 * @param known supplies the names of existing tools other than those that a call
	 * offers
	 */
	ToolLimits limits(Supplier<? extends Collection<String>> known) {
		return new ToolLimits(this.toolTimeout, this.toolTimeouts, known, this.rules.observer()::toolStopped);
	}

	/**
	 * Returns the streams that these sessions keep.
	 */
	StreamLogs streams() {
		return new StreamLogs(this.store, this.lease);
	}

	/**
	 * Returns the store that holds the sessions.
	 * @return the store, of which callers reach as much as of these conversations
	 */
	public SessionStore store() {
		return this.access.guard(this.store);
	}

	@Override
	public SessionAccess access() {
		return this.access;
	}

	/**
	 * Ends the work of this process in order, before it shuts down. No new call begins,
	 * and calls that wait in line end, with a
	 * {@link io.sessionkit.ShuttingDownException}. A call at work that gets its reply
	 * ends as always. One whose tools have run, or whose model calls tools, stops there:
	 * its turn is stored as {@link io.sessionkit.TurnStatus#INCOMPLETE}, its lease is
	 * given back, and it ends with a {@link io.sessionkit.TurnHandedOverException}, so
	 * that another process can continue the turn at once. A call in line whose messages
	 * have joined the turn of another process gets its answer, or the same exception.
	 * Waits until no call is at work or in line.
	 * @param limit how long to wait at most; zero not to wait
	 * @return whether no call is at work or in line any more
	 */
	public boolean drain(Duration limit) {
		Drain drain = this.turns.drain();
		drain.begin();
		return drain.await(limit);
	}

	/**
	 * Lets calls begin again, after {@link #drain}.
	 */
	public void accept() {
		this.turns.drain().end();
	}

	/**
	 * Ends the threads that write summaries and renew leases. A summary that is not
	 * finished is dropped, and is due again with the next turn.
	 */
	@Override
	public void close() {
		this.turns.close();
		if (this.summarizer != null) {
			this.summarizer.close();
		}
	}

	/**
	 * Builds {@link Conversations}. Not safe for use by many threads.
	 */
	public static final class Builder {

		private final SessionStore store;

		private SessionAccess access;

		private Trim trim = Trim.NONE;

		private Prune prune = Prune.NONE;

		private @Nullable Summarize summarize;

		private SequenceGuard guard = SequenceGuard.repairing();

		private List<SessionHook> hooks = List.of();

		private List<SessionListener> listeners = List.of();

		private List<CallObserver> observers = List.of();

		private boolean keepSystemText;

		private Set<String> turnParameters = Set.of();

		private Set<String> replay = Set.of();

		private Set<String> replayExclude = Set.of();

		private DataSize maxAttributesSize = AttributeRules.DEFAULT_MAX_SIZE;

		private Retention retention = Retention.NONE;

		private @Nullable HistoryMerge merge;

		private Duration lease = TurnLeases.DEFAULT_LIFE;

		private Durability durability = Durability.TURN;

		private @Nullable Duration toolTimeout;

		private Map<String, Duration> toolTimeouts = Map.of();

		private Builder(SessionStore store) {
			this.store = store;
			this.access = SessionAccess.around(store);
		}

		/**
		 * Sets the check of whose sessions a caller reaches: by
		 * {@link Conversations#get}, {@link Approvals}, {@link Compensations} and the
		 * session advisor. The default is the check that is around the store, as it is
		 * around the one that applications inject; without one, sessions do not depend on
		 * a caller.
		 * @param access the check
		 * @return this builder
		 */
		public Builder access(SessionAccess access) {
			this.access = access;
			return this;
		}

		/**
		 * Sets how much history is sent with a request. By default all of it is sent.
		 * @param trim the limits
		 * @return this builder
		 */
		public Builder trim(Trim trim) {
			this.trim = trim;
			return this;
		}

		/**
		 * Sets which tool results of the history are sent with a request. By default all
		 * of them are sent.
		 * @param prune the rule
		 * @return this builder
		 */
		public Builder prune(Prune prune) {
			this.prune = prune;
			return this;
		}

		/**
		 * Sets when and how the older part of a session is summarized. By default it
		 * never is.
		 * @param summarize the rule
		 * @return this builder
		 */
		public Builder summarize(Summarize summarize) {
			this.summarize = summarize;
			return this;
		}

		/**
		 * Sets what a session keeps. By default it keeps everything.
		 * @param retention the limits
		 * @return this builder
		 */
		public Builder retention(Retention retention) {
			this.retention = retention;
			return this;
		}

		/**
		 * Sets the guard for requests that are not a valid sequence. By default they are
		 * repaired.
		 * @param guard the guard
		 * @return this builder
		 */
		public Builder sequenceGuard(SequenceGuard guard) {
			this.guard = guard;
			return this;
		}

		/**
		 * Sets the hooks that check and change all turns, instead of those set before.
		 * The default is none.
		 * @param hooks the hooks, the outermost first
		 * @return this builder
		 */
		public Builder hooks(List<? extends SessionHook> hooks) {
			this.hooks = List.copyOf(hooks);
			return this;
		}

		/**
		 * Sets the hooks that check and change all turns, instead of those set before.
		 * The default is none.
		 * @param hooks the hooks, the outermost first
		 * @return this builder
		 */
		public Builder hooks(SessionHook... hooks) {
			return hooks(List.of(hooks));
		}

		/**
		 * Sets the listeners that receive the events of all turns. The default is none.
		 * @param listeners the listeners
		 * @return this builder
		 */
		public Builder listeners(List<? extends SessionListener> listeners) {
			this.listeners = List.copyOf(listeners);
			return this;
		}

		/**
		 * Sets the listeners that receive the events of all turns. The default is none.
		 * @param listeners the listeners
		 * @return this builder
		 */
		public Builder listeners(SessionListener... listeners) {
			return listeners(List.of(listeners));
		}

		/**
		 * Sets the observers of all calls on these sessions. The default is none.
		 * @param observers the observers, the outermost first
		 * @return this builder
		 */
		public Builder observers(List<? extends CallObserver> observers) {
			this.observers = List.copyOf(observers);
			return this;
		}

		/**
		 * Sets whether the snapshot of a turn has the system text in addition to its
		 * digest. By default it has only the digest.
		 * @param keepSystemText true to keep the text
		 * @return this builder
		 */
		public Builder keepSystemText(boolean keepSystemText) {
			this.keepSystemText = keepSystemText;
			return this;
		}

		/**
		 * Sets the advisor parameters of a call that are kept with its turn. The default
		 * is none. They are not sent to the model again unless {@link #replay} names
		 * them.
		 * @param names the names of the parameters
		 * @return this builder
		 */
		public Builder turnParameters(Set<String> names) {
			this.turnParameters = new LinkedHashSet<>(names);
			return this;
		}

		/**
		 * Sets the kept parameters that are sent to the model again, after the question,
		 * when their turn is part of the history. The default is none.
		 * @param names the names of these parameters in the order in which they are sent,
		 * or {@code *} for all
		 * @return this builder
		 */
		public Builder replay(Set<String> names) {
			this.replay = new LinkedHashSet<>(names);
			return this;
		}

		/**
		 * Sets the kept parameters that are not sent to the model again, even if
		 * {@link #replay} names them. The default is none.
		 * @param names the names of these parameters, or {@code *} for all
		 * @return this builder
		 */
		public Builder replayExclude(Set<String> names) {
			this.replayExclude = new LinkedHashSet<>(names);
			return this;
		}

		/**
		 * Sets how large all attributes of a session may be together. The default is 64
		 * KB.
		 * @param size the limit; one byte for each character of the attributes as the
		 * codec encodes them
		 * @return this builder
		 * @throws IllegalArgumentException if it is below one byte
		 */
		public Builder maxAttributesSize(DataSize size) {
			if (size.toBytes() < 1) {
				throw new IllegalArgumentException(
						"The size of the attributes must be at least one byte, not " + size + ".");
			}
			this.maxAttributesSize = size;
			return this;
		}

		/**
		 * Sets the merge that combines the history and the input into the messages to
		 * send. By default the input is appended to the history. A call may bring its own
		 * merge.
		 * @param merge the merge
		 * @return this builder
		 */
		public Builder merge(HistoryMerge merge) {
			this.merge = merge;
			return this;
		}

		/**
		 * Sets how long a process that works on an open turn, or whose call stands in
		 * line, may fail to renew its lease before others may go on. The default is 30
		 * seconds. The lease is renewed regularly, so it need not be as long as a tool or
		 * a model takes.
		 * @param lease the time, at least one second and at most a year
		 * @return this builder
		 * @throws IllegalArgumentException if it is shorter or longer
		 */
		public Builder lease(Duration lease) {
			if (lease.compareTo(MIN_LEASE) < 0) {
				throw new IllegalArgumentException(
						"A lease must last at least " + MIN_LEASE + ", so that it can be renewed; not " + lease + ".");
			}
			if (LongestTime.isBelow(lease)) {
				throw new IllegalArgumentException(
						"A lease must not last longer than a year: " + lease + ". Use a duration such as 30 seconds.");
			}
			this.lease = lease;
			return this;
		}

		/**
		 * Sets when turns are written. The default is {@link Durability#TURN}.
		 * @param durability the durability
		 * @return this builder
		 */
		public Builder durability(Durability durability) {
			this.durability = durability;
			return this;
		}

		/**
		 * Sets how long a run of a tool may take, for tools that have no other limit: by
		 * {@link #toolTimeouts} or by {@link io.sessionkit.ToolTimeout}. By default there
		 * is none.
		 * @param limit the time; null for no limit
		 * @return this builder
		 * @throws IllegalArgumentException if it is not positive, or longer than a year
		 */
		public Builder toolTimeout(@Nullable Duration limit) {
			if (limit != null) {
				ToolLimits.check("The time limit of tools", limit);
			}
			this.toolTimeout = limit;
			return this;
		}

		/**
		 * Sets how long a run of a tool may take, by the name of the tool. These limits
		 * count instead of {@link io.sessionkit.ToolTimeout} on the method of the tool.
		 * By default there are none.
		 * @param limits the times by the exact name of the tool, or by the
		 * {@linkplain ToolName#original original} one
		 * @return this builder
		 * @throws IllegalArgumentException if one is not positive, or longer than a year,
		 * or if no tool could have one of the names ({@link ToolName})
		 */
		public Builder toolTimeouts(Map<String, Duration> limits) {
			limits.keySet().forEach((tool) -> ToolName.check(tool, "The map of time limits"));
			limits.forEach((tool, limit) -> ToolLimits.check("The time limit of tool '" + tool + "'", limit));
			this.toolTimeouts = Map.copyOf(limits);
			return this;
		}

		/**
		 * Builds the conversations.
		 * @return new conversations
		 * @throws IllegalArgumentException if {@link #trim} leaves turns out or
		 * {@link #retention} deletes them before {@link #summarize} makes a summary of
		 * them, if {@link #replay} or {@link #replayExclude} names a parameter that
		 * {@link #turnParameters} does not keep, if the name of a parameter is blank,
		 * {@code *} or starts with {@code sessionkit.}, or if the name of one that is
		 * sent again cannot be a tag: it must begin with a letter or '_' and contain only
		 * letters, digits, '_', '-' and '.'
		 */
		public Conversations build() {
			return new Conversations(this);
		}

	}

}
