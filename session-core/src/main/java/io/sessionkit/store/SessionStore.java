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
import io.sessionkit.Turn;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.internal.message.OpenTurn;
import io.sessionkit.internal.message.TurnSplitter;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Keeps sessions. Applications inject it for the readable protocol ({@link #messages},
 * {@link #add}, {@link #pop}, {@link #clear}, {@link #find}, {@link #list}). Store
 * authors implement the primitives on which this protocol, and everything else, is built,
 * and run {@code SessionStoreContract} against them.
 * <p>
 * A session is a tree of turns. Each turn has a parent with a smaller number; the active
 * branch is the path from {@link Session#head()} to the beginning. Items are written
 * once. Whatever a store returns is a copy.
 * <p>
 * Each method blocks its thread until the answer is there. Safe for use by many threads
 * and processes. A store that cannot be reached throws {@link StoreUnavailableException}.
 * Expired sessions read as absent. If the store has a clock of its own, that clock
 * decides.
 */
public interface SessionStore {

	/**
	 * The kind of the records that hold summaries. Stores read it with the view, which
	 * begins with a summary.
	 */
	String SUMMARY = "summary";

	/** The kind of the records that hold the tool calls of an open turn. */
	String APPROVAL = "approval";

	/** The kind of the records that hold notices of calls and of decisions. */
	String NOTICE = "notice";

	/**
	 * The kinds whose records {@link #oldestRecords} finds over all owners: tool calls
	 * that wait, and notices. A store keeps an index of these and of no others.
	 */
	Set<String> SHARED_KINDS = Set.of(APPROVAL, NOTICE);

	// primitives

	/**
	 * Returns the options that the store was built with.
	 * @return its options
	 */
	StoreOptions options();

	/**
	 * Returns the header and the newest part of the view, both as of one moment.
	 * @param key the session
	 * @param window how much of the view to read
	 * @return the session, or empty if it is absent or has expired
	 * @throws io.sessionkit.codec.UnreadablePayloadException if an item cannot be read;
	 * the message names session and sequence. If the session cannot be read at all, the
	 * message names the session
	 */
	Optional<SessionView> open(SessionKey key, Window window);

	/**
	 * Changes a session atomically.
	 * <ul>
	 * <li>A part of a turn that was stored before changes nothing and results in
	 * {@link CommitResult.Outcome#REPEATED}, whatever else was written since.</li>
	 * <li>A session that is not as expected stays unchanged:
	 * {@link CommitResult.Outcome#CONFLICT}.</li>
	 * <li>A {@link TurnStatus#COMPLETED} turn follows the head, becomes the new head, and
	 * raises the totals and the version. If the commit has several turns, each follows
	 * the one before. A turn of another status is kept beside the history: it follows
	 * {@link Turn#parent()}, changes neither head nor version, and becomes
	 * {@link Session#openTurn()} if it is open. So is a completed one that says so
	 * ({@link TurnWrite#beside()}); attributes that come with it belong to it.</li>
	 * <li>A move comes first: a turn of the same commit follows the turn that the head
	 * has moved to. The totals and attributes become those of that turn. The view starts
	 * with the newest summary on its path: of the records that a commit has named as
	 * {@link HeaderChange.Summary} and that still exist, the one that covers most up to a
	 * turn of this path. Each turn is the last one of one summary, the one that was named
	 * last; a record that is written again after it was deleted is another one.</li>
	 * <li>A later part of a turn adds its items, replaces status, end, model, rounds,
	 * failure and verdicts, and makes the turn the head when it is completed. Agent,
	 * start, tools, snapshot and kept parameters stay those of the first part.</li>
	 * <li>While a turn is open, only that turn moves the head; otherwise it could not
	 * become history. Another completed turn, a move, a deletion that would move the
	 * head, and another turn that would be left open are refused, unless the same commit
	 * ends the open turn.</li>
	 * <li>Items that are deleted leave the totals. A head that has lost its last item
	 * moves to its nearest ancestor that has items, or to the beginning, but not before
	 * the turn with which the summary in force ends.</li>
	 * <li>Every commit that changes something sets the expiry to now plus the time to
	 * live, whatever the clock has said before. It also raises the version by
	 * {@link Session#newVersionStep()}, or by one in a store that loses no writes, unless
	 * all it changes is a turn that is not completed, in a session that existed before. A
	 * field of the header that is given counts as a change, even with the value that it
	 * has. A commit that gives nothing changes nothing.</li>
	 * </ul>
	 * If several of these apply, the first in this order counts: repeated, conflict (of
	 * the session, the turn or a record), a part that is left out, a move, a summary, an
	 * open turn.
	 * @param commit the change
	 * @return the result
	 * @throws IllegalArgumentException if the head would move to a turn that does not
	 * exist or is not completed, if a summary would cover a turn that is not on the path
	 * of the head (after a move, of the new head), or if a part of a turn is left out;
	 * nothing is changed then
	 * @throws TurnOpenException if the head would move, or another turn would be left
	 * open, while a turn is open; nothing is changed then
	 */
	CommitResult commit(Commit commit);

	/**
	 * Returns the session along one of its paths, all of it as of one moment. Moving the
	 * head begins with it, and so does a turn that is opened elsewhere than at the head.
	 * @param key the session
	 * @param query the end of the path, and what to read
	 * @return the session, or empty if it is absent or has expired
	 * @throws ChangeRefusedException if the path would end at a turn that does not exist
	 * or is not completed
	 */
	Optional<PathView> path(SessionKey key, PathQuery query);

	/**
	 * Returns the newest items of the log, that is of all completed turns of the active
	 * branch, whether or not a summary covers them.
	 * @param key the session
	 * @param tail the items to return, by sequence
	 * @return the items, oldest first; none if the session is absent
	 */
	List<SessionItem> items(SessionKey key, Tail tail);

	/**
	 * Returns the items of one turn, whatever its status and branch.
	 * @param key the session
	 * @param turn its number
	 * @return the items, oldest first; none if there is no such turn
	 */
	List<SessionItem> items(SessionKey key, long turn);

	/**
	 * Returns the newest turns of all branches and statuses.
	 * @param key the session
	 * @param tail the turns to return, by number
	 * @return the turns, oldest first; none if the session is absent
	 */
	List<Turn> turns(SessionKey key, Tail tail);

	/**
	 * Returns one turn of any status and branch with its items, records of the session,
	 * and the attributes as of this turn. Continuing an open turn begins with it. By
	 * default it asks {@link #records(SessionKey, String)} for each kind, then
	 * {@link #turns}, {@link #items(SessionKey, long)}, and for a completed turn
	 * {@link #path}, so others may write in between; a store should answer all of it in
	 * one round trip.
	 * @param key the session
	 * @param number the number of the turn
	 * @param kinds the kinds of the records to return; empty for no records
	 * @return the turn, or empty if there is no such turn
	 */
	default Optional<TurnView> turn(SessionKey key, long number, Set<String> kinds) {
		List<SessionRecord> records = kinds.stream().flatMap((kind) -> records(key, kind).stream()).toList();
		return turns(key, new Tail(number + 1, 1)).stream()
			.filter((turn) -> turn.number() == number)
			.findFirst()
			.map((turn) -> new TurnView(turn, items(key, number), records, attributes(key, turn)));
	}

	private Map<String, Object> attributes(SessionKey key, Turn turn) {
		if (turn.status() != TurnStatus.COMPLETED) {
			return Map.of();
		}
		try {
			return path(key, PathQuery.to(Point.at(turn.number()))).map((path) -> path.view().session().attributes())
				.orElse(Map.of());
		}
		catch (ChangeRefusedException ex) {
			// the session was erased meanwhile, and has begun again
			return Map.of();
		}
	}

	/**
	 * Returns the sessions of an owner, last written first.
	 * @param owner the owner; empty for the sessions that have none
	 * @param page the part of the list to return
	 * @return their headers
	 */
	List<Session> list(String owner, Page page);

	/**
	 * Erases a session and everything kept with it, even if tool calls wait in it.
	 * Erasing an absent session does nothing.
	 * @param key the session
	 * @return true if there was a session, in a transaction of the caller as that sees
	 * it. It is gone, by this call or by another one at the same time, so more than one
	 * may be told so. False if it was absent or had expired; what was left of it is gone
	 */
	boolean erase(SessionKey key);

	/**
	 * Deletes sessions that have expired, with everything kept with them, and records
	 * that have expired before their session. These read as absent as soon as they
	 * expire; this method removes their content from the store. It may run in several
	 * processes at once, and beside all other methods; a session that is alive, or was
	 * written again since, is never touched. A store may find expired sessions and
	 * records a little later. It may keep an expired record until its session is written
	 * next or is deleted, and one of the {@link #SHARED_KINDS} until its session is
	 * deleted. A store whose server deletes by itself only clears what the server leaves
	 * behind.
	 * @param limit how many to delete at most; 0 deletes nothing
	 * @return how many were deleted. Call the method until it returns 0
	 * @throws IllegalArgumentException if the limit is negative
	 */
	int deleteExpired(int limit);

	/**
	 * Writes one record of an existing session, without touching its header and without
	 * waiting for a commit to it.
	 * @param key the session
	 * @param record the record
	 * @return whether it was written: false if it is not as expected or the session is
	 * absent
	 */
	boolean put(SessionKey key, RecordWrite record);

	/**
	 * Returns the records of one kind in a session, by id.
	 * @param key the session
	 * @param kind the kind
	 * @return the records; none if the session is absent
	 */
	List<SessionRecord> records(SessionKey key, String kind);

	/**
	 * Returns one record of a session. By default it looks through all records of the
	 * kind; a store should read that one alone, since a session may have many.
	 * @param key the session
	 * @param kind the kind
	 * @param id the id
	 * @return the record, or empty if the record or the session is absent
	 */
	default Optional<SessionRecord> record(SessionKey key, String kind, String id) {
		return records(key, kind).stream().filter((record) -> record.id().equals(id)).findFirst();
	}

	/**
	 * Returns the records of one kind in all sessions of an owner, last written first.
	 * @param owner the owner; empty for the sessions that have none
	 * @param kind the kind
	 * @param page the part of the list to return
	 * @return the records
	 */
	List<SessionRecord> records(String owner, String kind, Page page);

	/**
	 * Returns the records of one of the {@link #SHARED_KINDS} in the sessions of all
	 * owners, those that were written longest ago first. A record that is written again
	 * moves to the end; whoever follows {@link RecordPage#next()} sees each other record
	 * once, whatever is written or deleted meanwhile. In a store of several servers the
	 * order is as good as their clocks. By default it is not supported, since a store
	 * that reads by owner cannot answer.
	 * @param kind the kind
	 * @param after the {@link RecordPage#next()} of the page before; null for the first
	 * @param limit how many records to return at most; 1 or more
	 * @return the records, without those that have expired, alone or with their session
	 * @throws IllegalArgumentException if the kind is not one of these, the limit is less
	 * than 1, or the place is not one of this store
	 * @throws UnsupportedOperationException if the store does not implement it
	 */
	default RecordPage oldestRecords(String kind, @Nullable String after, int limit) {
		throw new UnsupportedOperationException(getClass().getName()
				+ " does not list records of all owners. Implement SessionStore.oldestRecords(kind, after, limit)"
				+ " with an index of the records of " + SHARED_KINDS
				+ ", or name the owners (InboxQuery.of) and leave notices off.");
	}

	/**
	 * Returns whether what this thread commits now may be rolled back after
	 * {@link #commit} has returned, since it takes part in a transaction of the caller.
	 * If it may, what others must see at once is written by {@link #put} beside the
	 * commit, which costs one more call for a turn that was continued or stored in steps.
	 * The oldest turns that exceed the limits of retention are then left to a later turn,
	 * and the later replies of a turn that continues are not stored before their tools
	 * run. Of a call that fails it is not known that its message is kept.
	 * @return true, unless the store knows better
	 */
	default boolean mayRollBack() {
		return true;
	}

	/**
	 * Checks that a session can be written now, as far as the transactions of this thread
	 * are concerned. It is called before the model, so that no reply is paid for that
	 * cannot be stored. By default it checks nothing, which is right for a store that
	 * takes no part in transactions.
	 * @param key the session
	 * @param here whether this thread calls {@link #commit}; false if other threads do
	 * while this one waits for them, as it may for a stream
	 * @throws IllegalStateException if the commit would take part in a transaction that
	 * only reads
	 * @throws TurnInProgressException if it would wait for a transaction of this thread
	 * that has written the session
	 */
	default void checkWritable(SessionKey key, boolean here) {
	}

	/**
	 * Does something as soon as the transaction is rolled back in which a commit of this
	 * thread would take part, outside of that transaction: what was written by
	 * {@link #put} for such a commit can be taken back then. If only the part of the
	 * transaction is rolled back in which this is called, as a nested one is, it is done
	 * at the end of the transaction. It is not done otherwise, and by default never.
	 * @param what what to do, on any thread
	 */
	default void whenRolledBack(Runnable what) {
	}

	// protocol

	/**
	 * Returns all messages of the session's log.
	 * @param key the session
	 * @return the log, oldest first; none if the session is absent
	 */
	default List<Message> messages(SessionKey key) {
		return items(key, Tail.ALL).stream().map(SessionItem::message).toList();
	}

	/**
	 * Returns the newest messages of the session's log.
	 * @param key the session
	 * @param limit how many; 0 for none
	 * @return the end of the log, oldest first
	 * @throws IllegalArgumentException if the limit is negative
	 */
	default List<Message> messages(SessionKey key, int limit) {
		return items(key, Tail.newest(limit)).stream().map(SessionItem::message).toList();
	}

	/**
	 * Appends messages as completed turns, together and in order, no matter who else
	 * writes at the same time. A question behind an answer begins another turn, so that
	 * limits and summaries count them as they were said.
	 * @param key the session; created if it is absent
	 * @param messages the messages; an empty list leaves everything as it is
	 * @throws io.sessionkit.codec.UnstorableMessageException if a message would not be
	 * read back equal; none is stored then
	 * @throws TurnOpenException if the session has an open turn; none is stored then
	 * @throws SessionConflictException if concurrent writers kept the messages from being
	 * stored
	 */
	default void add(SessionKey key, List<? extends Message> messages) {
		if (messages.isEmpty()) {
			return;
		}
		StoreOptions options = options();
		Instant now = options.now();
		List<TurnWrite> turns = TurnSplitter.split(messages)
			.stream()
			.map((turn) -> new TurnWrite(Turn.builder(options.turnIds().get(), now).build(), 0,
					options.items(turn, now)))
			.toList();
		CommitResult result = commit(Commit.any(key).turns(turns));
		if (!result.isStored()) {
			throw new SessionConflictException(
					"Session " + key + " could not be written: others wrote to it all the time. Try again.", null);
		}
	}

	/**
	 * Removes the newest message of the session's log permanently. If several callers do
	 * so at once, each gets a different message. Attributes stay as they are, also if the
	 * head moves because it has lost its last message.
	 * @param key the session
	 * @return the message that was removed, or empty if there was none
	 * @throws TurnOpenException if the session has an open turn; nothing is removed then
	 */
	default Optional<Message> pop(SessionKey key) {
		while (true) {
			Optional<Session> session = find(key);
			session.ifPresent((header) -> OpenTurn.check(header, "shortened"));
			List<SessionItem> newest = items(key, Tail.newest(1));
			if (session.isEmpty() || newest.isEmpty()) {
				return Optional.empty();
			}
			// a head that loses its last message moves, and would take those of another
			// turn
			HeaderChange kept = HeaderChange.NONE.attributes(session.get().attributes());
			Commit commit = Commit.on(session.get()).delete(Set.of(newest.get(0).sequence())).header(kept);
			if (commit(commit).isStored()) {
				return Optional.of(newest.get(0).message());
			}
		}
	}

	/**
	 * Erases a session and everything kept with it, unless it has an open turn. Erasing
	 * an absent session does nothing. By default it looks first, then erases: a turn that
	 * is opened at that moment is erased too.
	 * @param key the session
	 * @return whether there was a session, as {@link #erase} says it
	 * @throws TurnOpenException if it has an open turn; nothing is erased then. End that
	 * turn first, or use {@link #erase}
	 */
	default boolean clear(SessionKey key) {
		find(key).ifPresent((header) -> OpenTurn.check(header, "cleared, only erased,"));
		return erase(key);
	}

	/**
	 * Returns the header of a session.
	 * @param key the session
	 * @return its header, or empty if it is absent or has expired
	 */
	default Optional<Session> find(SessionKey key) {
		return open(key, Window.HEADER).map(SessionView::session);
	}

}
