package io.sessionkit.conversation;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionPausedException;
import io.sessionkit.Turn;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.Prune;
import io.sessionkit.hook.SequenceGuard;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.hook.Summarize;
import io.sessionkit.hook.Trim;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.util.unit.DataSize;

/**
 * Gives handles for sessions and opens turns on them: the one place that puts store,
 * codec and hooks together. Safe for use by many threads.
 */
public final class Conversations implements AutoCloseable {

	private static final int QUEUE_ATTEMPTS = 5;

	private static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);

	private final SessionStore store;

	private final TurnRules rules;

	private final TurnViews views;

	private final @Nullable Summarizer summarizer;

	private final TurnLeases leases;

	private final Durability durability;

	private Conversations(Builder builder) {
		this.store = builder.store;
		this.leases = new TurnLeases(this.store, builder.lease);
		this.durability = builder.durability;
		this.rules = new TurnRules(builder.trim, builder.prune, builder.guard, builder.hooks, builder.listeners,
				builder.keepSystemText, TurnInputs.of(builder.turnInputs, builder.replay, builder.replayExclude),
				builder.maxStateSize, builder.merge);
		TokenMemory memory = new TokenMemory();
		this.summarizer = (builder.summarize != null)
				? new Summarizer(this.store, builder.summarize, builder.trim.pins(), builder.hooks, memory) : null;
		this.views = new TurnViews(new ViewReader(this.store, builder.trim, memory), memory, this.summarizer);
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
		return new Conversation(key, this.store, this.summarizer, this.rules.maxState());
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
	 * Opens a turn: checks that its input can be stored, reads header and view at once,
	 * asks the hooks about the input, and the merge what is sent. The turn is written
	 * when it is completed, failed or cancelled, and leaves no trace before that.
	 * @param request what the turn starts with
	 * @return the open turn
	 * @throws io.sessionkit.UnstorableMessageException if a message of the input could
	 * not be stored; the store was not asked
	 * @throws io.sessionkit.StoreUnavailableException if the store does not answer
	 * @throws io.sessionkit.SessionRefusedException if a hook refuses the input; the turn
	 * is kept as refused, without the input. What a hook throws is thrown as it is, and
	 * the turn is kept as failed
	 */
	public OpenTurn open(TurnRequest request) {
		for (Message message : request.input()) {
			this.store.options().codec().encode(request.key(), message);
		}
		if (request.agent() != null) {
			this.store.options().codec().encodeValues(request.key(), Map.of("agent", request.agent()));
		}
		OpenTurn turn = new OpenTurn(request, this.store, this.rules, this.views, this.leases);
		if (turn.openTurn() != 0) {
			throw new SessionPausedException("Session " + request.key() + " has an open turn, number " + turn.openTurn()
					+ ", whose tool calls wait for approval or for a process that works on it."
					+ " Decide them and call again without a message, cancel the turn with Approvals.cancel(..), or set"
					+ " sessionkit.approval.on-new-message to queue or cancel. The new message was not stored.",
					turn.openTurn());
		}
		turn.begin();
		turn.merge();
		return turn;
	}

	/**
	 * Goes on with the open turn of a session, as the only one who does. Hooks are asked
	 * about what was queued while it waited, not again about its input.
	 * @param request what the call brings; its input is left aside
	 * @return the turn, which holds a reply back
	 * @throws IllegalStateException if the session has no open turn
	 * @throws io.sessionkit.TurnInProgressException if another call works on it
	 * @throws SessionConflictException if the thread has moved on since, so that the turn
	 * cannot become history any more
	 * @throws io.sessionkit.UnsupportedVersionException if a newer version has left it
	 */
	public OpenTurn resume(TurnRequest request) {
		OpenTurn turn = resumeToEnd(request);
		try {
			if (!isOnHead(turn)) {
				throw new SessionConflictException("Session " + request.key()
						+ " has moved on since its open turn began to wait, so that turn cannot become history any"
						+ " more. End it with Approvals.cancel(..).", null);
			}
			turn.beginAgain();
			return turn;
		}
		catch (RuntimeException | Error ex) {
			turn.fail(ex);
			throw ex;
		}
	}

	/**
	 * Takes the open turn of a session over, only to end it: what was queued is left
	 * aside, and the thread may have moved on.
	 * @param request names the session
	 * @return the turn, which holds a reply back
	 * @throws IllegalStateException if the session has no open turn
	 * @throws io.sessionkit.TurnInProgressException if another call works on it
	 */
	public OpenTurn resumeToEnd(TurnRequest request) {
		SessionKey key = request.key();
		Turn open = openTurn(key).orElseThrow(() -> new IllegalStateException("The call on session " + key
				+ " has no message, and nothing in the session waits to be continued. Add .user(..) to the call."));
		TurnLease lease = this.leases.take(key, open.id());
		try {
			return continued(request, open, lease);
		}
		catch (RuntimeException | Error ex) {
			lease.leave();
			throw ex;
		}
	}

	private OpenTurn continued(TurnRequest request, Turn open, TurnLease lease) {
		SessionKey key = request.key();
		List<SessionItem> items = this.store.items(key, open.number());
		PauseRecord pause = pause(key, open.id())
			.orElseThrow(() -> new SessionConflictException(
					"The open turn " + open.number() + " of session " + key
							+ " was continued or ended by another call in the meantime. Read the session again.",
					null));
		ContinuedTurn continued = new ContinuedTurn(open, items, pause, lease);
		TurnRequest again = request.input(continued.messages());
		return new OpenTurn(again, this.store, this.rules, this.views, this.leases, KeptInputs.NONE,
				() -> this.views.openAgain(again), continued);
	}

	/**
	 * Whether a turn that goes on still stands on the head of the thread, so that it can
	 * become history.
	 * @param turn the turn
	 * @return false if the thread has moved on
	 */
	public boolean isOnHead(OpenTurn turn) {
		return turn.isOnHead();
	}

	/**
	 * The turn that other calls may go on with.
	 * @param key the session
	 * @return the turn; empty if there is none
	 */
	public Optional<Turn> openTurn(SessionKey key) {
		return this.store.find(key)
			.map(Session::openTurn)
			.filter((number) -> number != 0)
			.flatMap((number) -> this.store.turns(key, new Tail(number + 1, 1)).stream().findFirst());
	}

	/**
	 * What an open turn holds back.
	 * @param key the session
	 * @param turnId the turn
	 * @return the reply; empty if it holds none back
	 */
	public Optional<HeldReply> held(SessionKey key, String turnId) {
		return pause(key, turnId).map(PauseRecord::held);
	}

	/**
	 * Keeps messages with an open turn, which goes on with them behind the results of its
	 * tools.
	 * @param key the session
	 * @param messages what the caller says
	 * @return the turn that they are kept with
	 * @throws io.sessionkit.UnstorableMessageException if a message could not be stored
	 * @throws SessionConflictException if the turn has gone on meanwhile
	 */
	public Turn queue(SessionKey key, List<Message> messages) {
		Turn open = openTurn(key).orElseThrow(() -> gone(key));
		for (int attempt = 0; attempt < QUEUE_ATTEMPTS; attempt++) {
			PauseRecord pause = pause(key, open.id()).orElseThrow(() -> gone(key));
			if (this.store.put(key, pause.queue(key, open.id(), messages, this.store.options().codec()))) {
				return open;
			}
		}
		throw gone(key);
	}

	private static SessionConflictException gone(SessionKey key) {
		return new SessionConflictException("The turn that waited on session " + key
				+ " has gone on in the meantime. The new message was not stored; call again.", null);
	}

	private Optional<PauseRecord> pause(SessionKey key, String turnId) {
		return this.store.records(key, SessionStore.PAUSE)
			.stream()
			.filter((record) -> record.id().equals(turnId))
			.findFirst()
			.map((record) -> PauseRecord.read(record, this.store.options().codec()));
	}

	/**
	 * Who works on an open turn at this moment.
	 * @param key the session
	 * @param turnId the turn
	 * @return the holder of its lease; null if nobody does
	 */
	public @Nullable String leaseHolder(SessionKey key, String turnId) {
		return TurnLease.holder(this.store, key, turnId);
	}

	/**
	 * Where the sessions are.
	 * @return the store
	 */
	public SessionStore store() {
		return this.store;
	}

	/**
	 * When turns are written.
	 * @return the durability
	 */
	public Durability durability() {
		return this.durability;
	}

	/**
	 * Ends the threads that write summaries and renew leases. What they have not finished
	 * is dropped, and is due again with the next turn.
	 */
	@Override
	public void close() {
		this.leases.close();
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
