package io.sessionkit.docs;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Stream;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.Page;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnView;
import io.sessionkit.store.Window;
import io.sessionkit.store.memory.SessionDocument;
import io.sessionkit.store.memory.SessionDocument.Changed;
import org.jspecify.annotations.Nullable;

/**
 * Keeps each session as one text. The map stands for whatever can replace a text only if
 * nobody else did: files, an object store, a key-value server.
 */
public final class SimpleSessionStore implements SessionStore {

	final ConcurrentMap<SessionKey, String> texts = new ConcurrentHashMap<>();

	private final StoreOptions options;

	public SimpleSessionStore(StoreOptions options) {
		this.options = options;
	}

	@Override
	public StoreOptions options() {
		return this.options;
	}

	@Override
	public CommitResult commit(Commit commit) {
		while (true) {
			String before = this.texts.get(commit.key());
			Changed changed = document(commit.key(), before).commit(commit);
			boolean committed = changed.result().outcome() == Outcome.COMMITTED;
			if (!committed || replace(before, changed.document())) {
				return changed.result();
			}
		}
	}

	@Override
	public boolean mayRollBack() {
		return false;
	}

	@Override
	public boolean put(SessionKey key, RecordWrite record) {
		while (true) {
			String before = this.texts.get(key);
			Optional<SessionDocument> changed = document(key, before).put(record);
			if (changed.isEmpty() || replace(before, changed.get())) {
				return changed.isPresent();
			}
		}
	}

	private boolean replace(@Nullable String before, SessionDocument after) {
		return (before != null) ? this.texts.replace(after.key(), before, after.toText())
				: this.texts.putIfAbsent(after.key(), after.toText()) == null;
	}

	@Override
	public boolean erase(SessionKey key) {
		String before = this.texts.remove(key);
		return before != null && !hasExpired(key, before);
	}

	@Override
	public int deleteExpired(int limit) {
		return (int) this.texts.entrySet()
			.stream()
			.filter((kept) -> hasExpired(kept.getKey(), kept.getValue()))
			.limit(limit)
			.filter((kept) -> this.texts.remove(kept.getKey(), kept.getValue()))
			.count();
	}

	/**
	 * One that cannot be read stays, for whoever reads it, and must not stop the others.
	 */
	private boolean hasExpired(SessionKey key, String text) {
		try {
			return document(key, text).session().isEmpty();
		}
		catch (UnreadablePayloadException | UnsupportedVersionException ex) {
			return false;
		}
	}

	@Override
	public Optional<PathView> path(SessionKey key, PathQuery query) {
		return document(key).path(query);
	}

	@Override
	public Optional<SessionView> open(SessionKey key, Window window) {
		return document(key).open(window);
	}

	@Override
	public List<SessionItem> items(SessionKey key, Tail tail) {
		return document(key).items(tail);
	}

	@Override
	public List<SessionItem> items(SessionKey key, long turn) {
		return document(key).items(turn);
	}

	@Override
	public List<Turn> turns(SessionKey key, Tail tail) {
		return document(key).turns(tail);
	}

	@Override
	public Optional<TurnView> turn(SessionKey key, long number, Set<String> kinds) {
		return document(key).turn(number, kinds);
	}

	@Override
	public List<SessionRecord> records(SessionKey key, String kind) {
		return document(key).records(kind);
	}

	@Override
	public List<Session> list(String owner, Page page) {
		return of(owner).flatMap((document) -> document.session().stream())
			.sorted(Comparator.comparing(Session::updatedAt).reversed())
			.skip(page.offset())
			.limit(page.limit())
			.toList();
	}

	@Override
	public List<SessionRecord> records(String owner, String kind, Page page) {
		return of(owner).flatMap((document) -> document.records(kind).stream())
			.sorted(Comparator.comparing(SessionRecord::writtenAt).reversed())
			.skip(page.offset())
			.limit(page.limit())
			.toList();
	}

	private Stream<SessionDocument> of(String owner) {
		return this.texts.keySet().stream().filter((key) -> key.owner().equals(owner)).map(this::document);
	}

	private SessionDocument document(SessionKey key) {
		return document(key, this.texts.get(key));
	}

	private SessionDocument document(SessionKey key, @Nullable String text) {
		return SessionDocument.fromText(key, text, this.options.now(), this.options);
	}

}
