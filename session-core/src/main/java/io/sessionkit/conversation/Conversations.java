package io.sessionkit.conversation;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.sessionkit.Durability;
import io.sessionkit.SessionKey;
import io.sessionkit.context.Prune;
import io.sessionkit.context.SequenceGuard;
import io.sessionkit.context.Summarize;
import io.sessionkit.context.Trim;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.internal.summary.Summarizer;
import io.sessionkit.internal.turn.Attributes;
import io.sessionkit.internal.turn.TurnInputs;
import io.sessionkit.internal.turn.TurnLeases;
import io.sessionkit.internal.turn.TurnRules;
import io.sessionkit.internal.turn.TurnViews;
import io.sessionkit.internal.turn.Turns;
import io.sessionkit.internal.view.TokenMemory;
import io.sessionkit.internal.view.ViewReader;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

import org.springframework.util.unit.DataSize;

/**
 * Gives handles for sessions and opens turns on them: the one place that puts store,
 * codec and hooks together. Safe for use by many threads.
 */
public final class Conversations implements AutoCloseable {

	private static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);

	private final SessionStore store;

	private final TurnRules rules;

	private final @Nullable Summarizer summarizer;

	private final Turns turns;

	private Conversations(Builder builder) {
		this.store = builder.store;
		this.rules = new TurnRules(builder.trim, builder.prune, builder.guard, builder.hooks, builder.listeners,
				builder.keepSystemText, TurnInputs.of(builder.turnInputs, builder.replay, builder.replayExclude),
				builder.maxStateSize, builder.merge);
		TokenMemory memory = new TokenMemory();
		this.summarizer = (builder.summarize != null)
				? new Summarizer(this.store, builder.summarize, builder.trim.pins(), builder.hooks, memory) : null;
		TurnViews views = new TurnViews(new ViewReader(this.store, builder.trim, memory), memory, this.summarizer);
		this.turns = new Turns(this.store, this.rules, views, new TurnLeases(this.store, builder.lease),
				builder.durability);
	}

	/**
	 * Conversations that send the whole view and repair what is not a valid sequence.
	 * @param store where the sessions are
	 * @return the conversations
	 */
	public static Conversations of(SessionStore store) {
		return builder(store).build();
	}

	/**
	 * A builder: no trimming and a repairing guard unless told otherwise.
	 * @param store where the sessions are
	 * @return the builder
	 */
	public static Builder builder(SessionStore store) {
		return new Builder(store);
	}

	/**
	 * The handle for a session, whether or not it is there.
	 * @param key the session
	 * @return its handle; nothing is read
	 */
	public Conversation get(SessionKey key) {
		return new Conversation(key, this.store, this.summarizer, this.turns.openTurns(), this.rules.maxState());
	}

	/**
	 * The handle for a session without owner.
	 * @param id the session's id
	 * @return its handle; nothing is read
	 */
	public Conversation get(String id) {
		return get(SessionKey.of(id));
	}

	/**
	 * Returns what runs the turns of these sessions, for the advisors and the approvals
	 * of SessionKit alone.
	 * @return the same each time
	 */
	public Turns turns() {
		return this.turns;
	}

	/**
	 * Where the sessions are.
	 * @return the store
	 */
	public SessionStore store() {
		return this.store;
	}

	/**
	 * Ends the threads that write summaries and renew leases. What they have not finished
	 * is dropped, and is due again with the next turn.
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

		private Trim trim = Trim.NONE;

		private Prune prune = Prune.NONE;

		private @Nullable Summarize summarize;

		private SequenceGuard guard = SequenceGuard.repairing();

		private List<SessionHook> hooks = List.of();

		private List<SessionListener> listeners = List.of();

		private boolean keepSystemText;

		private Set<String> turnInputs = Set.of();

		private Set<String> replay = Set.of();

		private Set<String> replayExclude = Set.of();

		private DataSize maxStateSize = Attributes.DEFAULT_MAX_SIZE;

		private @Nullable HistoryMerge merge;

		private Duration lease = TurnLeases.DEFAULT_LIFE;

		private Durability durability = Durability.TURN;

		private Builder(SessionStore store) {
			this.store = store;
		}

		/**
		 * How much history goes with a request; all of it by default.
		 * @param trim the limits
		 * @return this builder
		 */
		public Builder trim(Trim trim) {
			this.trim = trim;
			return this;
		}

		/**
		 * Which tool results of the history a request still has; all of them by default.
		 * @param prune the rule
		 * @return this builder
		 */
		public Builder prune(Prune prune) {
			this.prune = prune;
			return this;
		}

		/**
		 * When the older part of a thread is summarized; never by default.
		 * @param summarize the rule
		 * @return this builder
		 */
		public Builder summarize(Summarize summarize) {
			this.summarize = summarize;
			return this;
		}

		/**
		 * What is done with a request that is not a valid sequence; it is repaired by
		 * default.
		 * @param guard the guard
		 * @return this builder
		 */
		public Builder guard(SequenceGuard guard) {
			this.guard = guard;
			return this;
		}

		/**
		 * What checks and changes all turns; nothing by default.
		 * @param hooks the hooks, the outermost first
		 * @return this builder
		 */
		public Builder hooks(List<? extends SessionHook> hooks) {
			this.hooks = List.copyOf(hooks);
			return this;
		}

		/**
		 * What checks and changes all turns; nothing by default.
		 * @param hooks the hooks, the outermost first
		 * @return this builder
		 */
		public Builder hooks(SessionHook... hooks) {
			return hooks(List.of(hooks));
		}

		/**
		 * Who hears of all turns; nobody by default.
		 * @param listeners the listeners
		 * @return this builder
		 */
		public Builder listeners(List<? extends SessionListener> listeners) {
			this.listeners = List.copyOf(listeners);
			return this;
		}

		/**
		 * Who hears of all turns; nobody by default.
		 * @param listeners the listeners
		 * @return this builder
		 */
		public Builder listeners(SessionListener... listeners) {
			return listeners(List.of(listeners));
		}

		/**
		 * Whether the snapshot of a turn has the system text, and not only its digest; it
		 * has not by default.
		 * @param keepSystemText true to keep it
		 * @return this builder
		 */
		public Builder keepSystemText(boolean keepSystemText) {
			this.keepSystemText = keepSystemText;
			return this;
		}

		/**
		 * The advisor parameters of a call that are kept with its turn; none by default.
		 * The model is not shown them again.
		 * @param names the names of the parameters
		 * @return this builder
		 */
		public Builder turnInputs(Set<String> names) {
			this.turnInputs = new LinkedHashSet<>(names);
			return this;
		}

		/**
		 * The inputs that the model is shown again, behind the question, when their turn
		 * is history; none by default.
		 * @param names names of inputs in the order they are shown, or {@code *} for all
		 * @return this builder
		 */
		public Builder replay(Set<String> names) {
			this.replay = new LinkedHashSet<>(names);
			return this;
		}

		/**
		 * The inputs that the model is not shown again, whatever {@link #replay} says;
		 * none by default.
		 * @param names names of inputs
		 * @return this builder
		 */
		public Builder replayExclude(Set<String> names) {
			this.replayExclude = new LinkedHashSet<>(names);
			return this;
		}

		/**
		 * How large the attributes of a session may be together; 64 KB by default.
		 * @param size the limit, a byte for each character of what the codec makes of
		 * them
		 * @return this builder
		 * @throws IllegalArgumentException if it is below one byte
		 */
		public Builder maxStateSize(DataSize size) {
			if (size.toBytes() < 1) {
				throw new IllegalArgumentException("The size of a state must be at least one byte, not " + size + ".");
			}
			this.maxStateSize = size;
			return this;
		}

		/**
		 * What makes of history and input what is sent; by default the one goes behind
		 * the other. A call may bring its own.
		 * @param merge the merge
		 * @return this builder
		 */
		public Builder merge(HistoryMerge merge) {
			this.merge = merge;
			return this;
		}

		/**
		 * How long whoever works on an open turn may be silent before others may go on
		 * with it; 30 seconds by default. It is renewed all the time, so it need not be
		 * as long as a tool takes.
		 * @param lease the time, at least one second
		 * @return this builder
		 * @throws IllegalArgumentException if it is shorter
		 */
		public Builder lease(Duration lease) {
			if (lease.compareTo(SHORTEST_LEASE) < 0) {
				throw new IllegalArgumentException("A lease must last at least " + SHORTEST_LEASE
						+ ", so that it can be renewed; not " + lease + ".");
			}
			this.lease = lease;
			return this;
		}

		/**
		 * When turns are written; {@link Durability#TURN} by default.
		 * @param durability the durability
		 * @return this builder
		 */
		public Builder durability(Durability durability) {
			this.durability = durability;
			return this;
		}

		/**
		 * The conversations.
		 * @return new conversations
		 * @throws IllegalArgumentException if an input that is not kept is to be shown
		 * again or excluded
		 */
		public Conversations build() {
			return new Conversations(this);
		}

	}

}
