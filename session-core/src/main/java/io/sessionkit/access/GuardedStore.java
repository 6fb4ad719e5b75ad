package io.sessionkit.access;

import java.util.List;
import java.util.Optional;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.binding.TurnSession;
import io.sessionkit.internal.door.StoreGuard;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.Page;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.RecordPage;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreLayer;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnView;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * A store of which each caller reaches only some sessions. It overrides every method,
 * since one that is passed on as it is would reach all sessions.
 */
final class GuardedStore implements StoreGuard {

	private final SessionStore store;

	private final SessionAccess access;

	GuardedStore(SessionStore store, SessionAccess access) {
		this.store = store;
		this.access = access;
	}

	@Override
	public SessionStore layered() {
		return this.store;
	}

	SessionAccess access() {
		return this.access;
	}

	private SessionKey key(SessionKey named) {
		return this.access.key(named);
	}

	/** A turn becomes history although title, tags, settings or records have changed. */
	private static boolean costsTheTurn(Commit commit) {
		HeaderChange header = commit.header();
		return !commit.turns().isEmpty() || !commit.delete().isEmpty() || commit.oldest() != null
				|| header.attributes() != null || header.head() != null || header.summary() != null;
	}

	/**
	 * Returns the key of a session that is written, which no turn around the writer may
	 * be on. Erasing is no such write: who asks to be forgotten is not refused.
	 */
	private SessionKey written(SessionKey named) {
		SessionKey key = key(named);
		TurnBinding.checkWrites(turnSession(key), "written",
				"Write attributes with SessionContext.putAttribute(..), and the rest when the call has returned.");
		return key;
	}

	private TurnSession turnSession(SessionKey key) {
		return new TurnSession(StoreLayer.beneath(this.store), key);
	}

	@Override
	public StoreOptions options() {
		return this.store.options();
	}

	@Override
	public Optional<SessionView> open(SessionKey key, Window window) {
		return this.store.open(key(key), window);
	}

	@Override
	public CommitResult commit(Commit commit) {
		return this.store.commit(commit.under(costsTheTurn(commit) ? written(commit.key()) : key(commit.key())));
	}

	@Override
	public Optional<PathView> path(SessionKey key, PathQuery query) {
		return this.store.path(key(key), query);
	}

	@Override
	public List<SessionItem> items(SessionKey key, Tail tail) {
		return this.store.items(key(key), tail);
	}

	@Override
	public List<SessionItem> items(SessionKey key, long turn) {
		return this.store.items(key(key), turn);
	}

	@Override
	public List<Turn> turns(SessionKey key, Tail tail) {
		return this.store.turns(key(key), tail);
	}

	@Override
	public Optional<TurnView> turn(SessionKey key, long number, Set<String> kinds) {
		return this.store.turn(key(key), number, kinds);
	}

	@Override
	public List<Session> list(String owner, Page page) {
		return this.store.list(this.access.owner(owner), page);
	}

	@Override
	public boolean erase(SessionKey key) {
		SessionKey named = key(key);
		boolean erased = this.store.erase(named);
		TurnBinding.erased(turnSession(named));
		return erased;
	}

	/** Removes what nobody can read any more, so it is everybody's. */
	@Override
	public int deleteExpired(int limit) {
		return this.store.deleteExpired(limit);
	}

	@Override
	public boolean put(SessionKey key, RecordWrite record) {
		return this.store.put(key(key), record);
	}

	@Override
	public List<SessionRecord> records(SessionKey key, String kind) {
		return this.store.records(key(key), kind);
	}

	@Override
	public Optional<SessionRecord> record(SessionKey key, String kind, String id) {
		return this.store.record(key(key), kind, id);
	}

	@Override
	public List<SessionRecord> records(String owner, String kind, Page page) {
		return this.store.records(this.access.owner(owner), kind, page);
	}

	/** Records of all owners are for those alone who reach all owners. */
	@Override
	public RecordPage oldestRecords(String kind, @Nullable String after, int limit) {
		this.access.requireAllOwners();
		return this.store.oldestRecords(kind, after, limit);
	}

	@Override
	public boolean mayRollBack() {
		return this.store.mayRollBack();
	}

	@Override
	public void checkWritable(SessionKey key, boolean here) {
		this.store.checkWritable(key(key), here);
	}

	@Override
	public void whenRolledBack(Runnable what) {
		this.store.whenRolledBack(what);
	}

	@Override
	public List<Message> messages(SessionKey key) {
		return this.store.messages(key(key));
	}

	@Override
	public List<Message> messages(SessionKey key, int limit) {
		return this.store.messages(key(key), limit);
	}

	@Override
	public void add(SessionKey key, List<? extends Message> messages) {
		this.store.add(written(key), messages);
	}

	@Override
	public Optional<Message> pop(SessionKey key) {
		return this.store.pop(written(key));
	}

	@Override
	public boolean clear(SessionKey key) {
		SessionKey named = key(key);
		return TurnBinding.clear(turnSession(named), () -> this.store.clear(named), () -> this.store.erase(named));
	}

	@Override
	public Optional<Session> find(SessionKey key) {
		return this.store.find(key(key));
	}

	/**
	 * Returns the name of the store, which logs and reports show.
	 */
	@Override
	public String toString() {
		return this.store.toString();
	}

}
