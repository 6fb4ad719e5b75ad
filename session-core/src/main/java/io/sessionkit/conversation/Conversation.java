package io.sessionkit.conversation;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

import io.sessionkit.Checkpoint;
import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.SessionPausedException;
import io.sessionkit.Turn;
import io.sessionkit.context.Compaction;
import io.sessionkit.context.SentHistory;
import io.sessionkit.internal.message.Copies;
import io.sessionkit.internal.snapshot.SnapshotReader;
import io.sessionkit.internal.summary.Summarizer;
import io.sessionkit.internal.turn.Attributes;
import io.sessionkit.internal.turn.OpenTurns;
import io.sessionkit.internal.view.Checkpoints;
import io.sessionkit.internal.view.ViewLine;
import io.sessionkit.internal.view.ViewReader;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.util.unit.DataSize;

/**
 * A handle for one session. It holds nothing but the key: each call asks the store. Safe
 * for use by many threads.
 */
public final class Conversation {

	/** How often a write is tried on a header that changes all the time. */
	private static final int ATTEMPTS = 5;

	private final SessionKey key;

	private final SessionStore store;

	private final @Nullable Summarizer summarizer;

	private final OpenTurns openTurns;

	private final DataSize maxState;

	Conversation(SessionKey key, SessionStore store, @Nullable Summarizer summarizer, OpenTurns openTurns,
			DataSize maxState) {
		this.key = key;
		this.store = store;
		this.summarizer = summarizer;
		this.openTurns = openTurns;
		this.maxState = maxState;
	}

	/**
	 * Which session this is.
	 * @return its key
	 */
	public SessionKey key() {
		return this.key;
	}

	/**
	 * The header.
	 * @return the header, or empty if the session is absent or has expired
	 */
	public Optional<Session> session() {
		return this.store.find(this.key);
	}

	/**
	 * Returns the turn that a call has left open: its tool calls wait for a decision, or
	 * a process works on it. No other turn can begin before it has ended.
	 * @return the turn; empty if there is none, or the session is absent
	 */
	public Optional<Turn> openTurn() {
		return this.openTurns.find(this.key);
	}

	/**
	 * Returns whether a call works on the open turn at this moment, in any process. A
	 * process that was killed counts until its lease has run out.
	 * @return false if none does, or there is no open turn
	 */
	public boolean isOpenTurnRunning() {
		return openTurn().map((turn) -> this.openTurns.leaseHolder(this.key, turn.id())).isPresent();
	}

	/**
	 * What the next call would start from: the summary, what is pinned, and the completed
	 * turns of the active branch since the checkpoint, before hooks and limits. Nothing
	 * is written.
	 * @return the messages, oldest first; none if the session is absent
	 */
	public List<Message> view() {
		return ViewLine.of(ViewReader.read(this.store, this.key).orElse(null), this.store.options())
			.stream()
			.map(ViewLine::message)
			.toList();
	}

	/**
	 * The summary that the view starts with.
	 * @return the summary; empty if there is none
	 */
	public Optional<Checkpoint> checkpoint() {
		return this.store.open(this.key, Window.HEADER)
			.map(SessionView::checkpoint)
			.map((record) -> Checkpoints.read(record, this.store.options().codec()));
	}

	/**
	 * All summaries of the thread, those that newer ones have taken in included.
	 * @return the summaries, those of earlier turns first
	 */
	public List<Checkpoint> checkpoints() {
		return this.store.records(this.key, SessionStore.CHECKPOINT)
			.stream()
			.map((record) -> Checkpoints.read(record, this.store.options().codec()))
			.sorted(Checkpoints.BY_AGE)
			.toList();
	}

	/**
	 * Summarizes older turns now if it is due.
	 * @return what came of it
	 * @throws IllegalStateException if no summarizer is configured
	 */
	public Compaction compact() {
		return compact(false);
	}

	/**
	 * Summarizes older turns now, on the caller's thread. Only the newest turns that are
	 * to stay are left as they are; if one summary may not read all, several are made.
	 * @param force whether to do so although none is due, or the session is left alone
	 * after a failure
	 * @return what came of it
	 * @throws IllegalStateException if no summarizer is configured
	 */
	public Compaction compact(boolean force) {
		checkNotPaused("summarized");
		if (this.summarizer == null) {
			throw new IllegalStateException("Session " + this.key + " cannot be summarized: no model is set for it. Set"
					+ " sessionkit.summarize.model or a trigger, or give Conversations.builder(..) a Summarize.");
		}
		return this.summarizer.compact(this.key, force);
	}

	/**
	 * The whole log, as a person sees it.
	 * @return the messages, oldest first; none if the session is absent
	 */
	public List<Message> messages() {
		return this.store.messages(this.key);
	}

	/**
	 * The end of the log.
	 * @param limit how many messages; 0 for none
	 * @return the newest messages, oldest first
	 */
	public List<Message> messages(int limit) {
		return this.store.messages(this.key, limit);
	}

	/**
	 * A page of the log with sequence, time and turn of each message.
	 * @param tail which items, by sequence
	 * @return the items, oldest first
	 */
	public List<SessionItem> items(Tail tail) {
		return this.store.items(this.key, tail);
	}

	/**
	 * What one turn holds, whatever became of it.
	 * @param turn its number
	 * @return its items, oldest first; none if there is no such turn
	 */
	public List<SessionItem> items(long turn) {
		return this.store.items(this.key, turn);
	}

	/**
	 * A page of the turns of all branches and statuses.
	 * @param tail which turns, by number
	 * @return the turns, oldest first
	 */
	public List<Turn> turns(Tail tail) {
		return this.store.turns(this.key, tail);
	}

	/**
	 * What the model was shown of the history when a turn called it first, whatever was
	 * trimmed or summarized since.
	 * @param turn the number of the turn, whatever became of it
	 * @return the messages as they were sent; empty if there is no such turn, or it
	 * called no model
	 */
	public Optional<SentHistory> snapshot(long turn) {
		return new SnapshotReader(this.key, this.store).read(turn);
	}

	/**
	 * Creates the session before its first turn, with what it is to have from the
	 * beginning: title, tags, state, a time to live of its own. The first turn takes them
	 * over.
	 * @param header what it is to have
	 * @return whether it was created; false if there is one, which is left as it is
	 */
	public boolean create(HeaderChange header) {
		Map<String, Object> state = header.state();
		Attributes attributes = attributes();
		Map<String, Object> checked = Map.of();
		for (Map.Entry<String, Object> each : (state != null) ? state.entrySet()
				: Set.<Map.Entry<String, Object>>of()) {
			checked = attributes.with(checked, each.getKey(), each.getValue());
		}
		HeaderChange first = (state != null) ? header.state(checked) : header;
		return this.store.commit(Commit.first(this.key).header(first)).isStored();
	}

	/**
	 * Gives the session a title.
	 * @param title the title; an empty one takes it away
	 * @throws SessionNotFoundException if the session is absent
	 */
	public void rename(String title) {
		change((header) -> header.title(title));
	}

	/**
	 * The attributes as of the head.
	 * @return a copy that cannot be changed; empty if the session is absent
	 */
	public Map<String, Object> state() {
		return session().map((session) -> Collections.unmodifiableMap(Copies.values(session.state()))).orElse(Map.of());
	}

	/**
	 * Writes an attribute between turns, under the rules of
	 * {@link io.sessionkit.hook.SessionContext#put}, which is for what runs inside of
	 * one. It belongs to the turn that is the head. Before the first turn it creates the
	 * session, and belongs to the beginning: the first turn takes it over, and it is gone
	 * where the head goes back to the beginning. A turn that is open meanwhile has read
	 * another state: it loses with a {@link SessionConflictException}.
	 * @param name the attribute
	 * @param value its value
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public void put(String name, Object value) {
		changeState(true, (attributes, state) -> attributes.with(state, name, value));
	}

	/**
	 * Takes an attribute away between turns, like {@link #put}.
	 * @param name the attribute
	 * @throws SessionNotFoundException if the session is absent
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public void remove(String name) {
		changeState(false, (attributes, state) -> attributes.without(state, name));
	}

	/**
	 * Takes the newest message away for good. A summary that covers it stays as it is;
	 * {@link #delete(Set)} takes that away too.
	 * @return the message, or empty if there was none
	 */
	public Optional<Message> pop() {
		return this.store.pop(this.key);
	}

	/**
	 * Deletes the items of a turn for good, and those of other turns that cannot stand
	 * without them: where the application runs the tools itself, calls and their results
	 * are in two turns. The turn itself stays, as one without items.
	 * <p>
	 * What quotes them goes with them: summaries that cover the turn, so that the view
	 * starts with an earlier one or at the beginning, and snapshots with texts that are
	 * not in the log. {@link #snapshot} says then that it is not complete.
	 * @param turn its number
	 * @return how many items were deleted; 0 if there is no such turn
	 * @throws SessionPausedException if the turn is open, or if another turn is open that
	 * follows it; nothing was deleted. End the open turn first
	 * @throws io.sessionkit.SessionConflictException if others write to the session all
	 * the time; nothing was deleted
	 */
	public int delete(long turn) {
		return new Deletion(this.key, this.store).ofTurn(turn);
	}

	/**
	 * Deletes items for good, as {@link #delete(long)} does. Calls take their results
	 * with them and results their calls.
	 * @param items their sequences; those that are not there are left out
	 * @return how many items were deleted
	 * @throws SessionPausedException if one is of an open turn, or if nothing would be
	 * left of the turn that an open one follows; nothing was deleted
	 * @throws io.sessionkit.SessionConflictException if others write to the session all
	 * the time; nothing was deleted
	 */
	public int delete(Set<Long> items) {
		return new Deletion(this.key, this.store).ofItems(items);
	}

	/**
	 * Erases the session with all that is stored of it, unless tool calls wait in it.
	 * Clearing an absent session does nothing.
	 * @throws SessionPausedException if tool calls wait in it; nothing was erased
	 */
	public void clear() {
		this.store.clear(this.key);
	}

	/**
	 * Erases the session with all that is stored of it, whatever waits in it: open calls
	 * are gone, and nobody can decide them any more. Erasing an absent session does
	 * nothing.
	 */
	public void erase() {
		this.store.erase(this.key);
	}

	private void checkNotPaused(String what) {
		session().ifPresent((session) -> SessionPausedException.check(session, what));
	}

	private void change(UnaryOperator<HeaderChange> change) {
		HeaderChange header = change.apply(HeaderChange.NONE);
		if (!this.store.commit(Commit.any(this.key).header(header)).isStored()) {
			throw notFound();
		}
	}

	private Attributes attributes() {
		return new Attributes(this.key, this.store.options().codec(), this.maxState);
	}

	private void changeState(boolean creates, BiFunction<Attributes, Map<String, Object>, Map<String, Object>> change) {
		Attributes attributes = attributes();
		for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
			Session now = this.store.find(this.key).orElse(null);
			if (now == null && !creates) {
				throw notFound();
			}
			Map<String, Object> before = (now != null) ? now.state() : Map.of();
			Map<String, Object> changed = change.apply(attributes, before);
			Commit commit = (now != null) ? Commit.on(now) : Commit.first(this.key);
			if (now != null && Attributes.areEqual(changed, before)
					|| this.store.commit(commit.header(HeaderChange.NONE.state(changed))).isStored()) {
				return;
			}
		}
		throw new SessionConflictException("Session " + this.key + " changed each of the " + ATTEMPTS
				+ " times that its state was to be written. Nothing was written; try again.", null);
	}

	private SessionNotFoundException notFound() {
		return new SessionNotFoundException("There is no session " + this.key
				+ ", or it has expired. Its first turn creates it, and so do put and create.");
	}

}
