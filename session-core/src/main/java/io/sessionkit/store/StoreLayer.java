package io.sessionkit.store;

import java.util.List;
import java.util.Optional;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Passes on to another store what it is asked, as one that counts or delays the calls. A
 * {@link SessionStore} around another one implements this, so that SessionKit knows both
 * for one store: a tool that calls a model on the session of its own turn is recognized
 * whichever of the two it uses. Without it, they count as two stores.
 * <p>
 * Every method asks the store beneath, those too that have another default in
 * {@link SessionStore} and those that a later version adds. A layer overrides what it
 * changes. No method calls another one of the layer, so one that changes {@link #commit}
 * also overrides {@link #add}, {@link #pop}, {@link #clear} and {@link #erase} if it is
 * to see those writes. A layer that refuses calls overrides all methods and has a test
 * that it does: one that it does not know passes unchecked.
 */
public interface StoreLayer extends SessionStore {

	/**
	 * Returns the store that is asked.
	 * @return the store, which may be a layer too; always the same one
	 */
	SessionStore layered();

	/**
	 * Returns the store beneath all layers.
	 * @param store a store or a layer
	 * @return the store itself if it is no layer
	 */
	static SessionStore beneath(SessionStore store) {
		return (store instanceof StoreLayer layer) ? beneath(layer.layered()) : store;
	}

	@Override
	default StoreOptions options() {
		return layered().options();
	}

	@Override
	default Optional<SessionView> open(SessionKey key, Window window) {
		return layered().open(key, window);
	}

	@Override
	default CommitResult commit(Commit commit) {
		return layered().commit(commit);
	}

	@Override
	default Optional<PathView> path(SessionKey key, PathQuery query) {
		return layered().path(key, query);
	}

	@Override
	default List<SessionItem> items(SessionKey key, Tail tail) {
		return layered().items(key, tail);
	}

	@Override
	default List<SessionItem> items(SessionKey key, long turn) {
		return layered().items(key, turn);
	}

	@Override
	default List<Turn> turns(SessionKey key, Tail tail) {
		return layered().turns(key, tail);
	}

	@Override
	default Optional<TurnView> turn(SessionKey key, long number, Set<String> kinds) {
		return layered().turn(key, number, kinds);
	}

	@Override
	default List<Session> list(String owner, Page page) {
		return layered().list(owner, page);
	}

	@Override
	default boolean erase(SessionKey key) {
		return layered().erase(key);
	}

	@Override
	default int deleteExpired(int limit) {
		return layered().deleteExpired(limit);
	}

	@Override
	default boolean put(SessionKey key, RecordWrite record) {
		return layered().put(key, record);
	}

	@Override
	default List<SessionRecord> records(SessionKey key, String kind) {
		return layered().records(key, kind);
	}

	@Override
	default Optional<SessionRecord> record(SessionKey key, String kind, String id) {
		return layered().record(key, kind, id);
	}

	@Override
	default List<SessionRecord> records(String owner, String kind, Page page) {
		return layered().records(owner, kind, page);
	}

	@Override
	default RecordPage oldestRecords(String kind, @Nullable String after, int limit) {
		return layered().oldestRecords(kind, after, limit);
	}

	@Override
	default boolean mayRollBack() {
		return layered().mayRollBack();
	}

	@Override
	default void checkWritable(SessionKey key, boolean here) {
		layered().checkWritable(key, here);
	}

	@Override
	default void whenRolledBack(Runnable what) {
		layered().whenRolledBack(what);
	}

	@Override
	default List<Message> messages(SessionKey key) {
		return layered().messages(key);
	}

	@Override
	default List<Message> messages(SessionKey key, int limit) {
		return layered().messages(key, limit);
	}

	@Override
	default void add(SessionKey key, List<? extends Message> messages) {
		layered().add(key, messages);
	}

	@Override
	default Optional<Message> pop(SessionKey key) {
		return layered().pop(key);
	}

	@Override
	default boolean clear(SessionKey key) {
		return layered().clear(key);
	}

	@Override
	default Optional<Session> find(SessionKey key) {
		return layered().find(key);
	}

}
