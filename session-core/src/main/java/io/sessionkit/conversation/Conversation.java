package io.sessionkit.conversation;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.SessionPausedException;
import io.sessionkit.Summary;
import io.sessionkit.Turn;
import io.sessionkit.context.Compaction;
import io.sessionkit.context.SentHistory;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.message.Copies;
import io.sessionkit.internal.snapshot.SnapshotReader;
import io.sessionkit.internal.summary.Summarizer;
import io.sessionkit.internal.turn.AttributeRules;
import io.sessionkit.internal.turn.WaitingTurns;
import io.sessionkit.internal.view.Summaries;
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
 * A handle for one session. It holds no data of the session, only the key. Each call
 * reads from the store. Safe for use by many threads.
 */
public final class Conversation {

	private final SessionKey key;

	private final SessionStore store;

	private final @Nullable Summarizer summarizer;

	private final WaitingTurns waitingTurns;

	private final DataSize maxAttributes;

	Conversation(SessionKey key, SessionStore store, @Nullable Summarizer summarizer, WaitingTurns waitingTurns,
			DataSize maxAttributes) {
		this.key = key;
		this.store = store;
		this.summarizer = summarizer;
		this.waitingTurns = waitingTurns;
		this.maxAttributes = maxAttributes;
	}

	/**
	 * Returns the key of this session.
	 * @return its key
	 */
	public SessionKey key() {
		return this.key;
	}

	/**
	 * Returns the header of this session.
	 * @return the header, or empty if the session is absent or has expired
	 */
	public Optional<Session> session() {
		return this.store.find(this.key);
	}

	/**
	 * Returns the open turn: its tool calls wait for a decision, or a process works on
	 * it. No other turn can begin before it has ended.
	 * @return the turn; empty if there is none, or the session is absent
	 */
	public Optional<Turn> openTurn() {
		return this.waitingTurns.find(this.key);
	}

	/**
	 * Returns whether a call works on the open turn at this moment, in any process. A
	 * process that was killed counts as working until its lease has run out.
	 * @return true if a call does; false if none does, or if there is no open turn
	 */
	public boolean isOpenTurnRunning() {
		return openTurn().map((turn) -> this.waitingTurns.leaseHolder(this.key)).isPresent();
	}

	/**
	 * Returns the view from which the next call would start: the summary, the pinned
	 * messages, and the completed turns of the active branch since the summary, before
	 * hooks and limits. Nothing is written.
	 * @return the messages, oldest first; none if the session is absent
	 */
	public List<Message> view() {
		return ViewLine.of(ViewReader.read(this.store, this.key).orElse(null), this.store.options())
			.stream()
			.map(ViewLine::message)
			.toList();
	}

	/**
	 * Returns the summary with which the view starts.
	 * @return the summary; empty if there is none
	 */
	public Optional<Summary> summary() {
		return this.store.open(this.key, Window.HEADER)
			.map(SessionView::summary)
			.map((record) -> Summaries.read(record, this.store.options().codec()));
	}

	/**
	 * Returns all summaries of the session, including those that newer ones have taken
	 * in.
	 * @return the summaries, those of earlier turns first
	 */
	public List<Summary> summaries() {
		return this.store.records(this.key, SessionStore.SUMMARY)
			.stream()
			.map((record) -> Summaries.read(record, this.store.options().codec()))
			.sorted(Summaries.BY_AGE)
			.toList();
	}

	/**
	 * Summarizes older turns now, on the caller's thread, if a summary is due.
	 * @return the outcome
	 * @throws SessionPausedException if the session has an open turn; nothing was
	 * summarized
	 * @throws IllegalStateException if no summarizer is configured
	 */
	public Compaction compact() {
		return compact(false);
	}

	/**
	 * Summarizes older turns now, on the caller's thread. Only the newest turns, which
	 * the configuration keeps, stay as they are. If the turns are too large for one
	 * summary, several are made.
	 * @param force whether to summarize even if no summary is due, or if the session is
	 * in its backoff time after a failure
	 * @return the outcome
	 * @throws SessionPausedException if the session has an open turn; nothing was
	 * summarized
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
	 * Returns the messages of the whole log, as a person sees them.
	 * @return the messages, oldest first; none if the session is absent
	 */
	public List<Message> messages() {
		return this.store.messages(this.key);
	}

	/**
	 * Returns the messages at the end of the log.
	 * @param limit the maximum number of messages; 0 for none
	 * @return the newest messages, oldest first
	 */
	public List<Message> messages(int limit) {
		return this.store.messages(this.key, limit);
	}

	/**
	 * Returns a page of the log with sequence, time and turn of each message.
	 * @param tail the items to return, by sequence
	 * @return the items, oldest first
	 */
	public List<SessionItem> items(Tail tail) {
		return this.store.items(this.key, tail);
	}

	/**
	 * Returns the items of a turn with any status.
	 * @param turn the number of the turn
	 * @return its items, oldest first; none if there is no such turn
	 */
	public List<SessionItem> items(long turn) {
		return this.store.items(this.key, turn);
	}

	/**
	 * Returns a page of the turns of all branches and statuses.
	 * @param tail the turns to return, by number
	 * @return the turns, oldest first
	 */
	public List<Turn> turns(Tail tail) {
		return this.store.turns(this.key, tail);
	}

	/**
	 * Returns the history that was sent to the model in the first model call of a turn,
	 * whatever was trimmed or summarized since.
	 * @param turn the number of the turn, which may have any status
	 * @return the messages as they were sent; empty if there is no such turn, or it
	 * called no model
	 */
	public Optional<SentHistory> snapshot(long turn) {
		return new SnapshotReader(this.key, this.store).read(turn);
	}

	/**
	 * Creates the session before its first turn, with values that it has from the
	 * beginning: title, tags, attributes, and a time to live of its own. The first turn
	 * keeps them.
	 * @param header the values
	 * @return true if it was created; false if it exists already, in which case it is
	 * left as it is
	 */
	public boolean create(HeaderChange header) {
		Map<String, Object> attributes = header.attributes();
		AttributeRules rules = rules();
		Map<String, Object> checked = Map.of();
		for (Map.Entry<String, Object> each : (attributes != null) ? attributes.entrySet()
				: Set.<Map.Entry<String, Object>>of()) {
			checked = rules.with(checked, each.getKey(), each.getValue());
		}
		HeaderChange first = (attributes != null) ? header.attributes(checked) : header;
		return this.store.commit(Commit.first(this.key).header(first)).isStored();
	}

	/**
	 * Gives the session a title. A turn that runs meanwhile is not affected.
	 * @param title the title; an empty one removes it
	 * @throws SessionNotFoundException if the session is absent
	 */
	public void rename(String title) {
		change((header) -> header.title(title));
	}

	/**
	 * Returns the attributes as of the head.
	 * @return a copy that cannot be changed; empty if the session is absent
	 */
	public Map<String, Object> attributes() {
		return session().map((session) -> Collections.unmodifiableMap(Copies.values(session.attributes())))
			.orElse(Map.of());
	}

	/**
	 * Returns the attributes as a turn has left them, with what was written between it
	 * and the next one. The attributes before a turn are those of its parent.
	 * @param turn the number of the turn
	 * @return a copy that cannot be changed; empty if there is no such turn, if it never
	 * was the head, such as a failed one, and if the store leaves them out
	 */
	public Map<String, Object> attributes(long turn) {
		return this.store.turn(this.key, turn, Set.of())
			.map((view) -> Collections.unmodifiableMap(Copies.values(view.attributes())))
			.orElse(Map.of());
	}

	/**
	 * Writes an attribute between turns. The rules are those of
	 * {@link io.sessionkit.hook.SessionContext#put}, which is for code that runs inside a
	 * turn. The attribute belongs to the turn that is the head. If there is no turn yet,
	 * this creates the session and the attribute belongs to the beginning: the first turn
	 * inherits it. If the head goes back to the beginning later, the attribute is gone. A
	 * turn that runs meanwhile has read other attributes, so it fails with a
	 * {@link SessionConflictException}.
	 * @param name the name of the attribute
	 * @param value its value
	 * @throws SessionConflictException if others kept writing to the session; nothing was
	 * written
	 */
	public void put(String name, Object value) {
		changeAttributes(true, (rules, attributes) -> rules.with(attributes, name, value));
	}

	/**
	 * Removes an attribute between turns, under the same rules as {@link #put}.
	 * @param name the name of the attribute
	 * @throws SessionNotFoundException if the session is absent
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public void remove(String name) {
		changeAttributes(false, (rules, attributes) -> rules.without(attributes, name));
	}

	/**
	 * Deletes the newest message permanently. A summary that covers it stays as it is;
	 * {@link #delete(Set)} deletes the summary too.
	 * @return the message, or empty if there was none
	 * @throws SessionPausedException if the session has an open turn; nothing was deleted
	 */
	public Optional<Message> pop() {
		return this.store.pop(this.key);
	}

	/**
	 * Deletes the items of a turn permanently, and with them the items of other turns
	 * that are not valid without them: if the application runs the tools itself, calls
	 * and their results are in two turns. The turn itself stays, without items.
	 * <p>
	 * Everything that quotes these items is deleted too. That is the summaries that cover
	 * the turn, so that the view starts with an earlier summary or at the beginning. It
	 * is also the texts of snapshots that are not in the log; {@link #snapshot} then says
	 * that it is not complete.
	 * @param turn the number of the turn
	 * @return the number of items deleted; 0 if there is no such turn
	 * @throws SessionPausedException if the turn is open, or if another turn is open that
	 * follows it; nothing was deleted. End the open turn first
	 * @throws io.sessionkit.SessionConflictException if others kept writing to the
	 * session; nothing was deleted
	 */
	public int delete(long turn) {
		return new Deletion(this.key, this.store).ofTurn(turn);
	}

	/**
	 * Deletes items permanently, as {@link #delete(long)} does. With calls their results
	 * are deleted, and with results their calls.
	 * @param items the sequences of the items; those that do not exist are ignored
	 * @return the number of items deleted
	 * @throws SessionPausedException if an item belongs to an open turn, or if nothing
	 * would be left of the turn that an open turn follows; nothing was deleted
	 * @throws io.sessionkit.SessionConflictException if others kept writing to the
	 * session; nothing was deleted
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

	private AttributeRules rules() {
		return new AttributeRules(this.key, this.store.options().codec(), this.maxAttributes);
	}

	private void changeAttributes(boolean creates,
			BiFunction<AttributeRules, Map<String, Object>, Map<String, Object>> change) {
		boolean written = Attempts.FEW.make(() -> {
			Session now = this.store.find(this.key).orElse(null);
			if (now == null && !creates) {
				throw notFound();
			}
			Map<String, Object> before = (now != null) ? now.attributes() : Map.of();
			return isWritten(now, change.apply(rules(), before)) ? Optional.of(true) : Optional.empty();
		}).isPresent();
		if (!written) {
			throw new SessionConflictException("Session " + this.key + " changed each of the " + Attempts.FEW.most()
					+ " times that its attributes were to be written. Nothing was written; try again.", null);
		}
	}

	/**
	 * Writes all attributes of a session as it was read, and returns whether they are
	 * stored now.
	 */
	private boolean isWritten(@Nullable Session now, Map<String, Object> changed) {
		if (now != null && AttributeRules.areEqual(changed, now.attributes())) {
			return true;
		}
		Commit commit = (now != null) ? Commit.on(now) : Commit.first(this.key);
		return this.store.commit(commit.header(HeaderChange.NONE.attributes(changed))).isStored();
	}

	private SessionNotFoundException notFound() {
		return new SessionNotFoundException("There is no session " + this.key
				+ ", or it has expired. Its first turn creates it, and so do put and create.");
	}

}
