package io.sessionkit.conversation;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

import io.sessionkit.NestedTurnException;
import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.SessionSettings;
import io.sessionkit.Summary;
import io.sessionkit.Turn;
import io.sessionkit.TurnOpenException;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.context.SentHistory;
import io.sessionkit.context.SummaryResult;
import io.sessionkit.internal.TypedValue;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.binding.TurnSession;
import io.sessionkit.internal.message.Copies;
import io.sessionkit.internal.message.OpenTurn;
import io.sessionkit.internal.snapshot.SnapshotReader;
import io.sessionkit.internal.summary.Summarizer;
import io.sessionkit.internal.tree.ForkedFrom;
import io.sessionkit.internal.turn.WaitingTurns;
import io.sessionkit.internal.view.Summaries;
import io.sessionkit.internal.view.ViewLine;
import io.sessionkit.internal.view.ViewReader;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.Point;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreLayer;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.util.unit.DataSize;

/**
 * A handle for one session. It holds no data of the session, only the key. Each call
 * reads from the store, and blocks its thread until the store answers. Safe for use by
 * many threads.
 * <p>
 * A write is done as a whole or not at all: if a method throws an exception that it
 * names, nothing was written, unless it says otherwise. If others write meanwhile, the
 * change is made to what they have written. If they do not stop, it throws a
 * {@link SessionConflictException}; try again then. A tool or hook of a turn on this
 * session changes attributes and messages with its turn, by
 * {@link io.sessionkit.hook.SessionContext}; here it gets a {@link NestedTurnException}.
 * <p>
 * {@link #undo}, {@link #redo}, {@link #reset}, {@link #choose}, {@link #branch(String)
 * branch}, {@link #branchFromContent}, {@link #switchTo} and {@link #deleteBranch} are
 * the <em>moves</em> of a session. They are refused while a turn is open, unless the
 * handle is {@linkplain #cancelling cancelling} those that wait, and in a tool or hook of
 * a turn on this session.
 */
public final class Conversation {

	private static final String FORGET = "Use SessionContext.forget(from, to), which deletes messages with the commit of"
			+ " the turn, or delete them when the call has returned.";

	private final SessionKey key;

	private final SessionStore store;

	private final @Nullable Summarizer summarizer;

	private final WaitingTurns waitingTurns;

	private final SessionAccess access;

	private final HeaderWrites header;

	private final TreeChanges changes;

	Conversation(SessionKey key, SessionAccess access, SessionStore store, @Nullable Summarizer summarizer,
			WaitingTurns waitingTurns, DataSize maxAttributes) {
		this(key, access, store, summarizer, waitingTurns, new HeaderWrites(key, store, maxAttributes),
				new TreeChanges(key, store, null));
	}

	private Conversation(SessionKey key, SessionAccess access, SessionStore store, @Nullable Summarizer summarizer,
			WaitingTurns waitingTurns, HeaderWrites header, TreeChanges changes) {
		this.key = key;
		this.access = access;
		this.store = store;
		this.summarizer = summarizer;
		this.waitingTurns = waitingTurns;
		this.header = header;
		this.changes = changes;
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
	 * Returns the head, the turn with which the history ends: the last completed turn of
	 * the active branch, whatever turns have failed, wait, or were written on other
	 * branches since. A {@link #reset} leaves it as it is.
	 * @return the turn; empty if there is none, or the session is absent
	 */
	public Optional<Turn> head() {
		PathQuery query = PathQuery.to(Point.HEAD).turns(Tail.newest(1));
		return this.store.path(this.key, query).flatMap((path) -> path.turns().stream().findFirst());
	}

	/**
	 * Returns the open turn: its tool calls wait for a decision, a process works on it
	 * and stores it step by step, or it broke off. No other turn can begin before it has
	 * ended.
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
			.map((record) -> Summaries.read(record, this.store.options().codec()))
			.filter((summary) -> !summary.isReset());
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
			.filter((summary) -> !summary.isReset())
			.sorted(Summaries.BY_AGE)
			.toList();
	}

	/**
	 * Summarizes older turns now, on the caller's thread, if a summary is due.
	 * @return the outcome
	 * @throws TurnOpenException if the session has an open turn
	 * @throws IllegalStateException if no summarizer is configured
	 */
	public SummaryResult summarize() {
		return summarize(false);
	}

	/**
	 * Summarizes older turns now, on the caller's thread. Only the newest turns, which
	 * the configuration keeps, stay as they are. If the turns are too large for one
	 * summary, several are made.
	 * @param force whether to summarize even if no summary is due, or if the session is
	 * in its backoff time after a failure
	 * @return the outcome
	 * @throws TurnOpenException if the session has an open turn
	 * @throws IllegalStateException if no summarizer is configured
	 */
	public SummaryResult summarize(boolean force) {
		checkNotPaused("summarized");
		if (this.summarizer == null) {
			throw new IllegalStateException("Session " + this.key + " cannot be summarized: no model is set for it. Set"
					+ " sessionkit.summarize.model or a trigger, and not sessionkit.summarize.enabled=false, or give"
					+ " Conversations.builder(..) a Summarize.");
		}
		return this.summarizer.summarizeNow(this.key, force);
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
	 * Returns a page of the turns of all branches and statuses. So the newest one need
	 * not be in the history; {@link #head} is the last one that is.
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
	 * beginning: title, tags, attributes, settings, and a time to live of its own. The
	 * first turn keeps them, also one that runs meanwhile; only attributes, which it has
	 * not read, cost it a {@link SessionConflictException}.
	 * @param header the values
	 * @return true if it was created; false if it exists already, in which case it is
	 * left as it is: {@link #title}, for example, changes it then. A call that stands in
	 * line, or has an idempotency key, creates it before its model is asked
	 * @throws NestedTurnException for attributes in a tool or hook of a turn on this
	 * session
	 * @throws IllegalArgumentException if its time to live is not longer than the lease,
	 * or {@link #title} or {@link #tags} would refuse its title or tags
	 */
	public boolean create(HeaderChange header) {
		if (header.attributes() != null) {
			checkWritesAttributes();
		}
		this.waitingTurns.checkLife(header.timeToLive());
		return this.header.create(header);
	}

	/**
	 * Gives the session a title. A turn that runs meanwhile is not affected.
	 * @param title the title, of at most 1,000 characters; an empty one removes it
	 * @throws IllegalArgumentException if the title is longer, or has characters that no
	 * id may have, such as line ends
	 * @throws SessionNotFoundException if the session is absent
	 */
	public void title(String title) {
		this.header.change(HeaderChange.NONE.title(title));
	}

	/**
	 * Replaces the tags of the session. A turn that runs meanwhile is not affected.
	 * @param tags all tags, at most 100 of at most 255 characters each; none removes them
	 * @throws IllegalArgumentException if there are more, or one is longer or has
	 * characters that no id may have, such as line ends
	 * @throws SessionNotFoundException if the session is absent
	 */
	public void tags(Set<String> tags) {
		this.header.change(HeaderChange.NONE.tags(tags));
	}

	/**
	 * Gives the session a time to live of its own, instead of the one that was configured
	 * when it was created. It counts from now, and again from each write.
	 * @param timeToLive how long the session lives after each write;
	 * {@link Duration#ZERO} if it never expires
	 * @throws SessionNotFoundException if the session is absent
	 * @throws IllegalArgumentException if it is not longer than the lease
	 */
	public void timeToLive(Duration timeToLive) {
		this.waitingTurns.checkLife(timeToLive);
		this.header.change(HeaderChange.NONE.timeToLive(timeToLive));
	}

	/**
	 * Returns the settings of the session, which outrank the properties.
	 * @return the settings; {@link SessionSettings#NONE} if none was set, or the session
	 * is absent
	 */
	public SessionSettings settings() {
		return session().map(Session::settings).orElse(SessionSettings.NONE);
	}

	/**
	 * Changes settings of the session. They apply to all calls that begin later, in any
	 * process; a turn that runs meanwhile is not affected. If several callers change
	 * different settings at once, all changes are kept.
	 * @param change returns the settings that are to apply, from those that the session
	 * has. It is called again if others wrote meanwhile
	 * @throws SessionNotFoundException if the session is absent
	 * @throws IllegalStateException if the change returns null
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public void settings(UnaryOperator<SessionSettings> change) {
		this.header.settings(change);
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
	 * Returns the value of an attribute as of the head.
	 * @param name the attribute
	 * @param type the class of the value that was put, or a supertype of it
	 * @param <T> the type
	 * @return a copy of the value; empty if the attribute or the session is absent
	 * @throws IllegalArgumentException if the value is of another class
	 */
	public <T> Optional<T> attribute(String name, Class<T> type) {
		return TypedValue.find(attributes(), name, type, this.key);
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
	 * {@link io.sessionkit.hook.SessionContext#putAttribute}, which is for code that runs
	 * inside a turn. The attribute belongs to the turn that is the head. If there is no
	 * turn yet, this creates the session and the attribute belongs to the beginning: the
	 * first turn inherits it. If the head goes back to the beginning later, the attribute
	 * is gone: also if the first question is edited or regenerated. A turn that runs
	 * meanwhile has read other attributes, so it fails with a
	 * {@link SessionConflictException}. If several callers write different attributes at
	 * once, all are kept.
	 * @param name the name of the attribute
	 * @param value its value
	 * @throws NestedTurnException in a tool or hook of a turn on this session
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public void putAttribute(String name, Object value) {
		checkWritesAttributes();
		this.header.attributes(true, (rules, attributes) -> rules.with(attributes, name, value));
	}

	/**
	 * Removes an attribute between turns, under the same rules as {@link #putAttribute}.
	 * @param name the name of the attribute
	 * @return whether it was there
	 * @throws IllegalArgumentException if no attribute can have the name
	 * @throws NestedTurnException in a tool or hook of a turn on this session
	 * @throws SessionNotFoundException if the session is absent
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public boolean removeAttribute(String name) {
		checkWritesAttributes();
		return this.header.attributes(false, (rules, attributes) -> rules.without(attributes, name)).containsKey(name);
	}

	/**
	 * Returns a handle whose moves end a turn that waits, in place of being refused. They
	 * call {@link Approvals#cancel} first. The cancelled turn becomes history as it does
	 * there, in a commit of its own: {@code undo(1)} takes it back, and {@code redo(1)}
	 * brings it back with the answer that its calls were cancelled. If it waited on a
	 * branch that is not active, it becomes history of that branch, and the move is one
	 * of the active branch all the same. If another call works on the turn, a move throws
	 * a {@link io.sessionkit.TurnInProgressException}. If a hook fails on a message that
	 * is queued in it, the move throws what the hook has thrown. Nothing is changed then.
	 * @param approvals the approvals of this store
	 * @return another handle for this session
	 */
	public Conversation cancelling(Approvals approvals) {
		return new Conversation(this.key, this.access, this.store, this.summarizer, this.waitingTurns, this.header,
				this.changes.cancelling(approvals));
	}

	/**
	 * Moves the head back by turns, without deleting anything. What tools have done stays
	 * done; {@link Compensations} take it back. Attributes and summary become those of
	 * the turn before. What was undone can be redone until another turn is written, and
	 * stays among the {@link #siblings} after that.
	 * <p>
	 * Turns before a {@link #reset} are not undone; if there is no turn behind the reset,
	 * the reset itself is taken back. No turn is returned then, and the {@link #view}
	 * begins earlier. {@link #redo} brings the reset back.
	 * @param turns the number of completed turns, at least 1; if there are fewer, the
	 * branch is emptied
	 * @return the turns that were undone, newest first; none if there was none or the
	 * session is absent
	 * @throws IllegalArgumentException if the number is not positive
	 * @throws ChangeRefusedException if the rewind of one of the turns has not ended; see
	 * {@link Compensations}
	 * @throws NestedTurnException in a tool or hook of a turn on this session
	 * @throws TurnOpenException if the session has an open turn
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public List<Turn> undo(int turns) {
		return new MovesBack(this.changes).undo(turns);
	}

	/**
	 * Moves the head forward again over turns that were undone. Turns whose messages were
	 * deleted since are passed over, and do not count. A {@link #reset} that was taken
	 * back comes back with the first turn behind it, and does not count either; without
	 * such a turn it does if fewer turns than these can be redone. Each reset is a commit
	 * of its own.
	 * @param turns the number of turns, at least 1
	 * @return the turns that were redone, oldest first; none if nothing was undone, if
	 * another turn was written since, if all messages were deleted, or if only a reset
	 * came back
	 * @throws IllegalArgumentException if the number is not positive
	 * @throws ChangeRefusedException if effects of one of the turns were taken back; see
	 * {@link Compensations}
	 * @throws NestedTurnException in a tool or hook of a turn on this session
	 * @throws TurnOpenException if the session has an open turn
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public List<Turn> redo(int turns) {
		return new MovesForward(this.changes).redo(turns);
	}

	/**
	 * Starts the view anew: the next call sends no message of the turns before, except
	 * those of a {@link #seed}. The log keeps all turns, and title, tags, attributes,
	 * settings and time to live stay. An absent session, or one that was just reset,
	 * stays as it is.
	 * @throws ChangeRefusedException if the rewind of one of the turns has not ended; see
	 * {@link Compensations}
	 * @throws NestedTurnException in a tool or hook of a turn on this session
	 * @throws TurnOpenException if the session has an open turn
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public void reset() {
		new Resets(this.changes).reset();
	}

	/**
	 * Returns the turns that stand for the same question of the active branch: the turn
	 * itself, and those that were left when it was edited or regenerated, or undone and
	 * asked anew.
	 * @param turn the number of a turn of the active branch
	 * @return these turns, oldest first; the turn itself among them
	 * @throws SessionNotFoundException if the session is absent
	 * @throws ChangeRefusedException if the turn is not on the active branch
	 */
	public List<Turn> siblings(long turn) {
		return new LeftPaths(this.changes).siblings(turn);
	}

	/**
	 * Returns the turns that were left on the active branch, by the turn that they
	 * follow. The other {@link #siblings(long)} of a turn are those of its parent, and
	 * {@link #redo} continues with one of those of the head, so a page that shows many
	 * turns needs one read for all of them. Turns whose messages were deleted since are
	 * among them.
	 * @return the numbers of the first turns that were left, ascending, by the number of
	 * the turn that they follow, 0 for the beginning; that one may have been left itself.
	 * Empty if nothing was left, or the session is absent
	 */
	public Map<Long, List<Long>> siblings() {
		return new LeftPaths(this.changes).siblings();
	}

	/**
	 * Makes one of the siblings of a turn active instead of it, with the turns that were
	 * behind it when it was left, and the resets that were taken back on the way to them.
	 * Each reset is a commit of its own: after a failure the sibling may be active
	 * without what is behind a reset, which {@link #redo} brings back.
	 * @param sibling the number of the sibling
	 * @return the sibling
	 * @throws SessionNotFoundException if the session is absent
	 * @throws ChangeRefusedException if the turn was not left on the active branch, if
	 * effects of a turn that would be active again were taken back, or if the rewind of a
	 * turn that would be left has not ended; see {@link Compensations}
	 * @throws NestedTurnException in a tool or hook of a turn on this session
	 * @throws TurnOpenException if the session has an open turn
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public Turn choose(long sibling) {
		return new MovesForward(this.changes).choose(sibling);
	}

	/**
	 * Makes a branch that begins at the head, and makes it active. Nothing is copied.
	 * @param name its name: 1 to 64 characters, not all blank, no control characters. The
	 * name of a deleted branch is free again
	 * @return the branch
	 * @throws SessionNotFoundException if the session is absent
	 * @throws IllegalArgumentException if the name is not possible
	 * @throws ChangeRefusedException if there is a branch of this name
	 * @throws NestedTurnException in a tool or hook of a turn on this session
	 * @throws TurnOpenException if the session has an open turn
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public Branch branch(String name) {
		return branchesOf().make(name);
	}

	/**
	 * Makes a branch of the turns before a turn, without that turn, and makes it active.
	 * @param name its name, as for {@link #branch(String)}
	 * @param fromTurn the number of a turn of the active branch
	 * @return the branch
	 * @throws SessionNotFoundException if the session is absent
	 * @throws IllegalArgumentException if the name is not possible
	 * @throws ChangeRefusedException if the turn is not on the active branch, or if there
	 * is a branch of this name
	 * @throws NestedTurnException in a tool or hook of a turn on this session
	 * @throws TurnOpenException if the session has an open turn
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public Branch branch(String name, long fromTurn) {
		return branchesOf().make(name, fromTurn);
	}

	/**
	 * Makes a branch of the turns before a turn, as {@link #branch(String, long)} does,
	 * with a free name: {@code branch_from_turn_3}, or the same with {@code _2} and so
	 * on.
	 * @param fromTurn the number of a turn of the active branch
	 * @return the branch
	 * @throws SessionNotFoundException if the session is absent
	 * @throws ChangeRefusedException if the turn is not on the active branch
	 * @throws NestedTurnException in a tool or hook of a turn on this session
	 * @throws TurnOpenException if the session has an open turn
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public Branch branch(long fromTurn) {
		return branchesOf().make(null, fromTurn);
	}

	/**
	 * Makes a branch of the turns before the first question that contains a text, as
	 * {@link #branch(String, long)} does. Upper and lower case, and the forms that
	 * Unicode has for one character, count as the same.
	 * @param name its name, as for {@link #branch(String)}
	 * @param text a part of the question; taken literally
	 * @return the branch
	 * @throws SessionNotFoundException if the session is absent
	 * @throws IllegalArgumentException if the name is not possible, or the text is blank
	 * @throws ChangeRefusedException if no question contains the text, or if there is a
	 * branch of this name
	 * @throws NestedTurnException in a tool or hook of a turn on this session
	 * @throws TurnOpenException if the session has an open turn
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public Branch branchFromContent(String name, String text) {
		return branchesOf().makeFromContent(name, text);
	}

	/**
	 * Makes another branch the active one. Nothing happens if it is active already.
	 * @param name the name of the branch
	 * @return the branch
	 * @throws SessionNotFoundException if the session is absent
	 * @throws ChangeRefusedException if there is no branch of this name
	 * @throws NestedTurnException in a tool or hook of a turn on this session
	 * @throws TurnOpenException if the session has an open turn
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public Branch switchTo(String name) {
		return branchesOf().switchTo(name);
	}

	/**
	 * Returns the branches.
	 * @return the branches, the oldest first; none if the session is absent
	 */
	public List<Branch> branches() {
		return branchesOf().list();
	}

	/**
	 * Counts the turns and items of each branch. This reads all turns of the session,
	 * without their messages.
	 * @return the sizes by the name of the branch, in the order of {@link #branches()};
	 * none if the session is absent
	 */
	public Map<String, Branch.Size> branchSizes() {
		return branchesOf().sizes();
	}

	/**
	 * Deletes a branch, and permanently the items of those turns that were written on it
	 * or belong to it and are part of no other branch, as {@link #delete(long)} does.
	 * @param name the name of the branch; never {@value Session#MAIN}
	 * @param force whether it may be the active one; {@value Session#MAIN} is made active
	 * first then, in a commit of its own, which stays if the deletion fails
	 * @return the number of items deleted
	 * @throws SessionNotFoundException if the session is absent
	 * @throws IllegalArgumentException if the name is blank or {@value Session#MAIN}
	 * @throws ChangeRefusedException if there is no branch of this name, if it is the
	 * active one and this is not forced, or if the rewind of a turn whose items would be
	 * deleted has not ended
	 * @throws NestedTurnException in a tool or hook of a turn on this session
	 * @throws TurnOpenException if the session has an open turn
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public int deleteBranch(String name, boolean force) {
		TurnBinding.checkMoves(turnSession());
		return branchesOf().delete(name, force);
	}

	/**
	 * Copies the active branch to a session of its own, with everything that its turns
	 * have: messages, agents, usage, snapshots, kept parameters, summaries and
	 * attributes. Turns are numbered from 1. Title, tags, settings and time to live are
	 * copied too, and the system message of a chat memory; open turns, approvals,
	 * standing decisions and a question that waits in that memory are not. What that
	 * memory has evicted is in that of the copy again. The session is read turn by turn,
	 * and the copy is written with one commit.
	 * @param to the key of the new session, which the caller must reach
	 * @return the handle of the new session, as {@link Conversations#get(SessionKey)}
	 * returns it
	 * @throws SessionNotFoundException if this session is absent, or the caller does not
	 * reach the owner of the new one
	 * @throws ChangeRefusedException if the new session exists already, as this one does
	 * @throws SessionConflictException if others kept changing this session
	 */
	public Conversation fork(SessionKey to) {
		return fork(to, Point.HEAD);
	}

	/**
	 * Copies the turns up to one turn to a session of its own, as
	 * {@link #fork(SessionKey)} does.
	 * @param to the key of the new session, which the caller must reach
	 * @param lastTurn the number of the last turn to copy, a completed one of any branch;
	 * 0 for none
	 * @return the handle of the new session
	 * @throws SessionNotFoundException if this session is absent, or the caller does not
	 * reach the owner of the new one
	 * @throws ChangeRefusedException if there is no such turn, or it is not completed, if
	 * the new session exists already, or if effects of a turn to copy were taken back
	 * that is not on the active branch; see {@link Compensations}
	 * @throws SessionConflictException if others kept changing this session
	 */
	public Conversation fork(SessionKey to, long lastTurn) {
		return fork(to, Point.at(lastTurn));
	}

	private Conversation fork(SessionKey to, Point end) {
		SessionKey copy = this.access.key(to);
		Fork.make(this.store, this.key, copy, end);
		return new Conversation(copy, this.access, this.store, this.summarizer, this.waitingTurns, this.header.of(copy),
				new TreeChanges(copy, this.store, null));
	}

	/**
	 * Returns the session that this one was forked from.
	 * @return its key; empty if this session is no fork, or is absent. That session may
	 * be gone
	 */
	public Optional<SessionKey> forkedFrom() {
		return ForkedFrom.read(this.store.records(this.key, ForkedFrom.KIND), this.store.options().codec())
			.map(ForkedFrom::key);
	}

	/**
	 * Begins the session with messages that were said elsewhere. A question behind an
	 * answer begins another turn. The turns are marked as seeded, and a {@link #reset}
	 * keeps their messages in the view.
	 * @param messages the messages: they begin with a question, before which there may be
	 * system messages, and end with an answer, and calls are followed by their results.
	 * Each answer has text, tool calls or media. Some providers refuse an answer before
	 * the first question: put a greeting into the system text
	 * @return the turns
	 * @throws IllegalArgumentException if the messages are not such a sequence
	 * @throws ChangeRefusedException if the history has turns already; those that failed
	 * or were undone do not count
	 * @throws NestedTurnException in a tool or hook of a turn on this session
	 * @throws io.sessionkit.codec.UnstorableMessageException if a message would not be
	 * read back equal
	 * @throws TurnOpenException if the session has an open turn
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public List<Turn> seed(List<? extends Message> messages) {
		return additions().seed(messages);
	}

	/**
	 * Adds one completed turn that no call on this session has made.
	 * @param messages its messages: questions, then answers, calls followed by their
	 * results, and an answer at the end. Each answer has text, tool calls or media
	 * @param agent the agent that has answered; null for none
	 * @return the turn
	 * @throws IllegalArgumentException if the messages are not one such turn
	 * @throws NestedTurnException in a tool or hook of a turn on this session
	 * @throws io.sessionkit.codec.UnstorableMessageException if a message would not be
	 * read back equal
	 * @throws TurnOpenException if the session has an open turn
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public Turn addTurn(List<? extends Message> messages, @Nullable String agent) {
		return additions().addTurn(messages, agent);
	}

	/**
	 * Makes a turn history that was kept beside it: one that was cancelled, has failed,
	 * or lost to another writer. A copy of it is written behind the head, with the
	 * parameter {@value Turn#ADOPTED}; the turn itself stays as it is.
	 * @param turn the number of the turn
	 * @return the copy
	 * @throws ChangeRefusedException if there is no such turn, if it has no answer, if it
	 * is history already, itself or as a copy, which the message names, or if effects of
	 * it were taken back; see {@link Compensations}. A copy that was undone does not
	 * count
	 * @throws NestedTurnException in a tool or hook of a turn on this session
	 * @throws TurnOpenException if the turn is open, or another one is
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public Turn adopt(long turn) {
		return additions().adopt(turn);
	}

	/**
	 * Deletes the newest message permanently. Attributes stay as they are, and so does
	 * what quotes the message: a summary that covers it, a title of its first words,
	 * texts of snapshots, streams. {@link #delete(Set)} deletes these too.
	 * @return the message, or empty if there was none
	 * @throws NestedTurnException in a tool or hook of a turn on this session
	 * @throws ChangeRefusedException if the rewind of the turn has not ended
	 * @throws TurnOpenException if the session has an open turn
	 */
	public Optional<Message> pop() {
		checkWrites("popped", FORGET);
		beingRewound().check(this.store.items(this.key, Tail.newest(1)), "popped");
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
	 * that it is not complete. A title goes if it is the first words of a question that
	 * is deleted; one that a model has made, or a person, stays: {@link #title} changes
	 * it. The ledger of approvals keeps the arguments and results of tool calls.
	 * <p>
	 * A turn that retention has deleted has no items any more. What quotes it is still
	 * deleted, except a title.
	 * @param turn the number of the turn
	 * @return the number of items deleted; 0 if there is no such turn
	 * @throws NestedTurnException in a tool or hook of a turn on this session, which uses
	 * {@link io.sessionkit.hook.SessionContext#forget}
	 * @throws ChangeRefusedException if the rewind of a turn that loses messages has not
	 * ended
	 * @throws TurnOpenException if the turn is open, or if another turn is open that
	 * follows it. End the open turn first
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public int delete(long turn) {
		checkWrites("shortened", FORGET);
		return new Deletion(this.key, this.store).ofTurn(turn);
	}

	/**
	 * Deletes items permanently, as {@link #delete(long)} does. With calls their results
	 * are deleted, and with results their calls. So the items are read; one that cannot
	 * be read is deleted by a {@link io.sessionkit.store.Commit} of the store.
	 * @param items the sequences of the items; those that do not exist are ignored
	 * @return the number of items deleted
	 * @throws NestedTurnException in a tool or hook of a turn on this session, which uses
	 * {@link io.sessionkit.hook.SessionContext#forget}
	 * @throws ChangeRefusedException if the rewind of a turn that loses messages has not
	 * ended
	 * @throws TurnOpenException if an item belongs to an open turn, or if nothing would
	 * be left of the turn that an open turn follows
	 * @throws SessionConflictException if others kept writing to the session
	 */
	public int delete(Set<Long> items) {
		checkWrites("shortened", FORGET);
		return new Deletion(this.key, this.store).ofItems(items);
	}

	/**
	 * Erases the session with all that is stored of it, unless a turn is open: its tool
	 * calls wait, it broke off, or it is stored step by step and a call works on it. A
	 * tool or hook of that turn itself is not refused. Clearing an absent session does
	 * nothing. A turn that runs meanwhile ends in a
	 * {@link io.sessionkit.SessionLostException} with the reply, also if its own tool or
	 * hook has asked for this; one that was open, without, since the model is not called
	 * again. With a first turn whose session is not stored yet that is so for its own
	 * tools and hooks alone: anybody else finds nothing to erase, and the turn is stored
	 * when it ends. Clear once more then, or {@link #create} the session before its first
	 * turn.
	 * @return whether there was a session, as {@link #erase} says it
	 * @throws TurnOpenException if a turn is open that this code is no part of
	 * @throws ChangeRefusedException if the rewind of a turn has not ended.
	 * {@link #erase} looks at neither
	 */
	public boolean clear() {
		beingRewound().checkNone("cleared");
		return TurnBinding.clear(turnSession(), () -> this.store.clear(this.key), () -> this.store.erase(this.key));
	}

	/**
	 * Erases the session with all that is stored of it, whatever waits in it: open calls
	 * are gone, and nobody can decide them any more. Erasing an absent session does
	 * nothing. A turn that runs meanwhile ends as with {@link #clear}.
	 * @return whether there was a session, which is gone now; in a transaction of the
	 * caller, as soon as that is committed. It may be true also if somebody else has
	 * erased it at the same time. False if nothing is stored under the key, or only what
	 * has expired: so also of a first turn that is not stored yet, even if this is one of
	 * its tools or hooks, so that it never will be
	 */
	public boolean erase() {
		boolean erased = this.store.erase(this.key);
		TurnBinding.erased(turnSession());
		return erased;
	}

	/**
	 * Returns the child sessions of this session, and theirs. They are found in the list
	 * of the sessions of the owner, all of which is read.
	 * @return their headers, in no particular order; none if there is no child. A child
	 * that is written meanwhile may be missing
	 */
	public List<Session> children() {
		return new Children(this.key, this.store).find();
	}

	/**
	 * Erases the child sessions of this session, and theirs, whatever waits in them. They
	 * are not erased with their parent, and do not expire with it.
	 * @return the number of sessions that were erased
	 * @throws SessionConflictException if others write child sessions all the time, so
	 * that some are left. One that begins after this method has looked for the last time
	 * stays
	 */
	public int eraseChildren() {
		return new Children(this.key, this.store).erase();
	}

	private Branches branchesOf() {
		return new Branches(this.changes);
	}

	private TurnsBeingRewound beingRewound() {
		return new TurnsBeingRewound(this.key, this.store);
	}

	private Additions additions() {
		checkWrites("given turns", "Add them when the call has returned, or outside of the turn.");
		return new Additions(this.key, this.store);
	}

	private void checkWritesAttributes() {
		checkWrites("given attributes",
				"Use SessionContext.putAttribute(..) or removeAttribute(..), which write with the turn.");
	}

	private void checkWrites(String what, String instead) {
		TurnBinding.checkWrites(turnSession(), what, instead);
	}

	private TurnSession turnSession() {
		return new TurnSession(StoreLayer.beneath(this.store), this.key);
	}

	private void checkNotPaused(String what) {
		session().ifPresent((session) -> OpenTurn.check(session, what));
	}

}
