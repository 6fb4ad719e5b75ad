package io.sessionkit.store.memory;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnView;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * One whole session as of one moment, with the rules of a
 * {@link io.sessionkit.store.SessionStore}. It is made for stores that keep each session
 * as one text and can replace a text only if nobody else has replaced it, like files, an
 * object store, a key-value server or a document database.
 * <p>
 * Such a store reads a text, creates a document from it, reads or changes the document,
 * and stores the text of the changed document instead of the text that was read. If the
 * stored text has changed in the meantime, the store starts again.
 * <p>
 * A session without a text, or one that has expired by the given moment, is absent: there
 * is nothing to read in it, and the first turn creates it.
 * <p>
 * Immutable, and safe for use by many threads: a change returns another document.
 * <p>
 * Each write reads and writes the whole session; each read parses the whole session but
 * decodes only what was asked for. It suits sessions of some hundred turns; longer ones
 * need a store that keeps items apart.
 */
public final class SessionDocument {

	private final StoreOptions options;

	private final RoundTrip roundTrip;

	private final Instant now;

	/** The session as read. It is never changed: a change is made to a copy. */
	private final StoredSession session;

	private SessionDocument(SessionContent content, Instant now, StoreOptions options) {
		this.options = options;
		this.roundTrip = new RoundTrip(options.codec());
		this.now = now;
		this.session = session(content);
	}

	/**
	 * Creates the document of a session as of a moment. The text must belong to the same
	 * key, because a codec may bind it to the key.
	 * @param key the session
	 * @param text what {@link #toText} returned, in this or an earlier version; null if
	 * there is none
	 * @param now the moment, by the clock of the store: {@link StoreOptions#now()} if it
	 * has none of its own
	 * @param options codec, and the time to live of new sessions
	 * @return the document; its session is absent if there is no text or the session has
	 * expired
	 * @throws io.sessionkit.codec.UnreadablePayloadException if the text is not a text of
	 * this session. Items are not checked: one that cannot be read is found when it is
	 * asked for
	 * @throws io.sessionkit.codec.UnsupportedVersionException if a newer version wrote it
	 */
	public static SessionDocument fromText(SessionKey key, @Nullable String text, Instant now, StoreOptions options) {
		if (text != null) {
			SessionContent content = new DocumentText(key, options.codec()).read(text);
			SessionDocument document = new SessionDocument(content, now, options);
			if (!document.session.isExpired(now)) {
				return document;
			}
		}
		return new SessionDocument(SessionContent.absent(key, now, options.timeToLive()), now, options);
	}

	/**
	 * Returns the session as text, which {@link #fromText} reads back. All of it has
	 * passed the codec, including titles and names; messages pass it twice.
	 * @return the text
	 * @throws IllegalStateException if the session is absent
	 * @throws io.sessionkit.codec.UnstorableMessageException if a title, a tag or a name
	 * in a turn would not be read back equal
	 */
	public String toText() {
		if (!this.session.exists()) {
			throw new IllegalStateException("Session " + key() + " is absent: there is nothing to keep.");
		}
		return new DocumentText(key(), this.options.codec()).write(this.session.content(this.now));
	}

	/**
	 * Changes the session under the rules of
	 * {@link io.sessionkit.store.SessionStore#commit}.
	 * @param commit the change
	 * @return the result, and the document to keep if the change was committed
	 * @throws IllegalArgumentException if the commit is of another session, or for the
	 * reasons that {@link io.sessionkit.store.SessionStore#commit} gives
	 * @throws io.sessionkit.TurnOpenException for the reasons that
	 * {@link io.sessionkit.store.SessionStore#commit} gives
	 * @throws io.sessionkit.codec.UnstorableMessageException if a message or an attribute
	 * would not be read back equal
	 */
	public Changed commit(Commit commit) {
		if (!commit.key().equals(key())) {
			throw new IllegalArgumentException(
					"A commit of session " + commit.key() + " cannot change session " + key() + ".");
		}
		PreparedCommit write = PreparedCommit.of(commit, this.roundTrip);
		StoredSession copy = session(this.session.content(this.now));
		CommitResult result = copy.commit(write, this.now);
		return new Changed(result, (result.outcome() == CommitResult.Outcome.COMMITTED) ? with(copy) : this);
	}

	/**
	 * Writes a record under the rules of {@link io.sessionkit.store.SessionStore#put}.
	 * @param record the record
	 * @return the document to keep; empty if the record is not as expected or the session
	 * is absent
	 */
	public Optional<SessionDocument> put(RecordWrite record) {
		StoredSession copy = session(this.session.content(this.now));
		return (copy.exists() && copy.put(record, this.now)) ? Optional.of(with(copy)) : Optional.empty();
	}

	/**
	 * Returns the key of the session.
	 * @return its key
	 */
	public SessionKey key() {
		return this.session.key();
	}

	/**
	 * Returns the header. It holds the expiry, for stores that can make their texts
	 * expire.
	 * @return the header; empty if the session is absent
	 */
	public Optional<Session> session() {
		return this.session.exists() ? Optional.of(this.session.session()) : Optional.empty();
	}

	/**
	 * Returns the header and the newest part of the view.
	 * @param window how much of the view to read
	 * @return the session; empty if it is absent
	 * @throws io.sessionkit.codec.UnreadablePayloadException if an item cannot be read;
	 * the message names session and sequence
	 */
	public Optional<SessionView> open(Window window) {
		return this.session.exists() ? Optional.of(this.session.open(window, this.now)) : Optional.empty();
	}

	/**
	 * Returns the session along one of its paths.
	 * @param query the end of the path, and what to read
	 * @return the session; empty if it is absent
	 * @throws ChangeRefusedException if the path would end at a turn that does not exist
	 * or is not completed
	 */
	public Optional<PathView> path(PathQuery query) {
		return this.session.exists() ? Optional.of(this.session.path(query, this.now)) : Optional.empty();
	}

	/**
	 * Returns the newest items of the log.
	 * @param tail the items to return, by sequence
	 * @return the items, oldest first; none if the session is absent
	 * @throws io.sessionkit.codec.UnreadablePayloadException if an item cannot be read
	 */
	public List<SessionItem> items(Tail tail) {
		return this.session.log(tail);
	}

	/**
	 * Returns the items of one turn, whatever its status and branch.
	 * @param turn its number
	 * @return the items, oldest first; none if there is no such turn
	 * @throws io.sessionkit.codec.UnreadablePayloadException if an item cannot be read
	 */
	public List<SessionItem> items(long turn) {
		return this.session.items(turn);
	}

	/**
	 * Returns the newest turns of all branches and statuses.
	 * @param tail the turns to return, by number
	 * @return the turns, oldest first; none if the session is absent
	 */
	public List<Turn> turns(Tail tail) {
		return this.session.turns(tail);
	}

	/**
	 * Returns one turn of any status and branch with its items, records of the session,
	 * and the attributes as of this turn.
	 * @param number the number of the turn
	 * @param kinds the kinds of the records to return; empty for no records
	 * @return the turn, or empty if there is no such turn
	 */
	public Optional<TurnView> turn(long number, Set<String> kinds) {
		return this.session.turn(number, kinds, this.now);
	}

	/**
	 * Returns the records of one kind, by id.
	 * @param kind the kind
	 * @return the records; none if the session is absent
	 */
	public List<SessionRecord> records(String kind) {
		return this.session.records(kind, this.now).stream().map(StoredRecords.Stamped::record).toList();
	}

	private SessionDocument with(StoredSession changed) {
		return new SessionDocument(changed.content(this.now), this.now, this.options);
	}

	// One document knows no order among the records of several: a reader has to compare
	// their times.
	private StoredSession session(SessionContent content) {
		return new StoredSession(content, this.roundTrip, () -> 0);
	}

	/**
	 * The result of a commit.
	 *
	 * @param result committed, repeated or refused
	 * @param document the session after the commit; the same as before unless it was
	 * committed
	 */
	public record Changed(CommitResult result, SessionDocument document) {
	}

}
