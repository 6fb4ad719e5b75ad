package io.sessionkit.store;

import java.time.Instant;
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
import io.sessionkit.TurnStatus;

import org.springframework.ai.chat.messages.Message;

/**
 * Keeps sessions. Applications inject it for the readable protocol ({@link #messages},
 * {@link #add}, {@link #pop}, {@link #clear}, {@link #find}, {@link #list}); who writes a
 * store implements the primitives that this protocol and everything else stands on, and
 * runs {@code SessionStoreContract} against them.
 * <p>
 * A session is a tree of turns. Each turn has a parent with a smaller number; the active
 * branch is the path from {@link Session#head()} to the beginning. Items are written
 * once. What is handed out is a copy.
 * <p>
 * Safe for use by many threads and processes. A store that cannot be reached throws
 * {@link io.sessionkit.StoreUnavailableException}. Expired sessions read as absent,
 * judged by the store's own clock where it has one.
 */
public interface SessionStore {

	/** The kind of the records that hold summaries. */
	String CHECKPOINT = "checkpoint";

	/** The kind of the records that hold the heads of branches that are not active. */
	String BRANCH = "branch";

	/** The kind of the records that hold what a snapshot cannot refer to. */
	String SNAPSHOT = "snapshot";

	/** The kind of the records that hold the reply that an open turn holds back. */
	String PAUSE = "pause";

	/** The kind of the records that hold the tool calls of that reply. */
	String APPROVAL = "approval";

	/** The kind of the records that hold tool calls that are over. */
	String LEDGER = "ledger";

	/** The kind of the records that hold decisions on calls to come. */
	String STANDING_DECISION = "standing";

	/** The kind of the records that say who works on an open turn. */
	String LEASE = "lease";

	// primitives

	/**
	 * What the store was built with.
	 * @return its options
	 */
	StoreOptions options();

	/**
	 * The header and the newest part of the view, as of one moment.
	 * @param key the session
	 * @param window how much of the view
	 * @return the session, or empty if it is absent or has expired
	 * @throws io.sessionkit.UnreadablePayloadException if an item cannot be read; the
	 * message names session and sequence. If the session cannot be read at all, the
	 * message names the session
	 */
	Optional<SessionView> open(SessionKey key, Window window);

	/**
	 * Changes a session, all or nothing.
	 * <ul>
	 * <li>A part of a turn that was stored before changes nothing and says
	 * {@link CommitResult.Outcome#REPEATED}, whatever else was written since.</li>
	 * <li>A session that is not as expected is left alone:
	 * {@link CommitResult.Outcome#CONFLICT}.</li>
	 * <li>A {@link TurnStatus#COMPLETED} turn follows the head and becomes it, and raises
	 * the totals and the version. Another status is kept beside the history: it follows
	 * {@link Turn#parent()}, moves neither head nor version, and becomes
	 * {@link Session#openTurn()} if it is open.</li>
	 * <li>A later part of a turn adds its items, replaces status, end, model, rounds and
	 * failure, and, when the turn is completed, makes it the head. Agent, start, tools,
	 * snapshot and inputs stay those of the first part.</li>
	 * <li>While a turn is open, only that turn moves the head: it could not become
	 * history otherwise. Another completed turn, a move, a deletion that takes the last
	 * item of the head, and another turn that is to be left open are refused, unless the
	 * same commit ends the open turn.</li>
	 * <li>Items that are deleted leave the totals. A head that has lost its last item
	 * moves to its parent, until it has one.</li>
	 * <li>Every commit that changes something but a turn that is not completed raises the
	 * version by one, and sets the expiry to now plus the time to live.</li>
	 * </ul>
	 * Where several of these apply, the first one counts: repeated, conflict (of the
	 * session, the turn or a record), a part that is left out, a move, a checkpoint, an
	 * open turn.
	 * @param commit the change
	 * @return what became of it
	 * @throws IllegalArgumentException if the head is to move to a turn that is not there
	 * or not completed, if a checkpoint is to cover a turn that is not on the path of the
	 * head (after a move, of the new one), or if a part of a turn is left out; nothing is
	 * changed then
	 * @throws SessionPausedException if the head would move, or another turn would be
	 * left open, while a turn is open; nothing is changed then
	 */
	CommitResult commit(Commit commit);

	/**
	 * The newest items of the log: all completed turns of the active branch, checkpoint
	 * or not.
	 * @param key the session
	 * @param tail which of them, by sequence
	 * @return the items, oldest first; none if the session is absent
	 */
	List<SessionItem> items(SessionKey key, Tail tail);

	/**
	 * The items of one turn, whatever its status and branch.
	 * @param key the session
	 * @param turn its number
	 * @return the items, oldest first; none if there is no such turn
	 */
	List<SessionItem> items(SessionKey key, long turn);

	/**
	 * The newest turns of all branches and statuses.
	 * @param key the session
	 * @param tail which of them, by number
	 * @return the turns, oldest first; none if the session is absent
	 */
	List<Turn> turns(SessionKey key, Tail tail);

	/**
	 * The sessions of an owner, last written first.
	 * @param owner the owner; empty for those that have none
	 * @param page which of them
	 * @return their headers
	 */
	List<Session> list(String owner, Page page);

	/**
	 * Erases a session and all it left, whatever waits in it. Erasing what is absent does
	 * nothing.
	 * @param key the session
	 */
	void erase(SessionKey key);

	/**
	 * Deletes sessions that have expired, with all they left, and records that have
	 * expired before their session. They read as absent before that already: this is what
	 * makes their texts go. May run in several processes at once, and beside all other
	 * methods; what lives, or was written anew since, is never touched. A store may find
	 * what has expired a little later, one may keep an expired record until the session
	 * is written next or goes, and one whose server deletes by itself only clears what
	 * that leaves behind.
	 * @param limit how many to delete at most; 0 deletes nothing
	 * @return how many were deleted. Call it until it returns 0
	 * @throws IllegalArgumentException if the limit is negative
	 */
	int deleteExpired(int limit);

	/**
	 * Writes one record of a session that exists, without touching its header and without
	 * waiting for a commit of it.
	 * @param key the session
	 * @param record the record
	 * @return whether it was written: false if it is not as expected or the session is
	 * absent
	 */
	boolean put(SessionKey key, RecordWrite record);

	/**
	 * The records of one kind that a session holds, by id.
	 * @param key the session
	 * @param kind the kind
	 * @return the records; none if the session is absent
	 */
	List<SessionRecord> records(SessionKey key, String kind);

	/**
	 * The records of one kind in all sessions of an owner, last written first.
	 * @param owner the owner; empty for the sessions that have none
	 * @param kind the kind
	 * @param page which of them
	 * @return the records
	 */
	List<SessionRecord> records(String owner, String kind, Page page);

	// protocol

	/**
	 * All messages of the thread.
	 * @param key the session
	 * @return the log, oldest first; none if the session is absent
	 */
	default List<Message> messages(SessionKey key) {
		return items(key, Tail.ALL).stream().map(SessionItem::message).toList();
	}

	/**
	 * The newest messages of the thread.
	 * @param key the session
	 * @param limit how many; 0 for none
	 * @return the end of the log, oldest first
	 * @throws IllegalArgumentException if the limit is negative
	 */
	default List<Message> messages(SessionKey key, int limit) {
		return items(key, Tail.newest(limit)).stream().map(SessionItem::message).toList();
	}

	/**
	 * Appends messages as one completed turn, together and in order, whoever else writes.
	 * @param key the session; created where it is absent
	 * @param messages the messages; none leaves everything as it is
	 * @throws io.sessionkit.UnstorableMessageException if one would not come back equal;
	 * none is stored then
	 * @throws SessionPausedException if the session has an open turn; none is stored then
	 */
	default void add(SessionKey key, List<? extends Message> messages) {
		if (messages.isEmpty()) {
			return;
		}
		StoreOptions options = options();
		Instant now = options.now();
		Turn turn = new Turn(options.turnIds().get(), 0, 0, Session.MAIN, TurnStatus.COMPLETED, null, null, now, now,
				List.of(), Map.of(), null, 0, 0);
		List<NewItem> items = messages.stream()
			.map((message) -> new NewItem(message, now, options.tokens().applyAsInt(message)))
			.toList();
		CommitResult result = commit(Commit.any(key).turn(new TurnWrite(turn, 0, items)));
		if (!result.isStored()) {
			throw new SessionConflictException(
					"Session " + key + " could not be written: others wrote to it all the time. Try again.", null);
		}
	}

	/**
	 * Takes the newest message of the thread away for good. Of several callers each gets
	 * another one.
	 * @param key the session
	 * @return the message that was taken, or empty if there was none
	 */
	default Optional<Message> pop(SessionKey key) {
		while (true) {
			Optional<Session> session = find(key);
			session.ifPresent((header) -> SessionPausedException.check(header, "shortened"));
			List<SessionItem> newest = items(key, Tail.newest(1));
			if (session.isEmpty() || newest.isEmpty()) {
				return Optional.empty();
			}
			Commit commit = Commit.on(session.get()).delete(Set.of(newest.get(0).sequence()));
			if (commit(commit).isStored()) {
				return Optional.of(newest.get(0).message());
			}
		}
	}

	/**
	 * Erases a session and all it left, unless tool calls wait in it. Erasing what is
	 * absent does nothing.
	 * @param key the session
	 * @throws SessionPausedException if it has an open turn; nothing was erased. End that
	 * turn first, or use {@link #erase}
	 */
	default void clear(SessionKey key) {
		find(key).ifPresent((header) -> SessionPausedException.check(header, "cleared"));
		erase(key);
	}

	/**
	 * The header of a session.
	 * @param key the session
	 * @return its header, or empty if it is absent or has expired
	 */
	default Optional<Session> find(SessionKey key) {
		return open(key, Window.HEADER).map(SessionView::session);
	}

}
