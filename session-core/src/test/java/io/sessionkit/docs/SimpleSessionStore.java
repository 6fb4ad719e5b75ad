package io.sessionkit.docs;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Stream;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.UnreadablePayloadException;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.Page;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * Keeps each session as one document. A change is made to a copy, which then takes the
 * place of the document that was read, if that is still there. The map stands for
 * whatever can do this: a file, an object store, a key-value server.
 */
public final class SimpleSessionStore implements SessionStore {

	final ConcurrentMap<SessionKey, SessionDocument> documents = new ConcurrentHashMap<>();

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
			Instant now = now();
			SessionDocument before = this.documents.get(commit.key());
			SessionDocument after = (before != null && !before.isExpired(now)) ? new SessionDocument(before)
					: new SessionDocument(commit.key(), now, this.options.timeToLive());
			CommitResult result = after.commit(commit, codec(), now);
			if (result.outcome() != CommitResult.Outcome.COMMITTED || replace(commit.key(), before, after)) {
				return result;
			}
		}
	}

	@Override
	public boolean put(SessionKey key, RecordWrite record) {
		while (true) {
			Instant now = now();
			SessionDocument before = this.documents.get(key);
			if (before == null || before.isExpired(now)) {
				return false;
			}
			SessionDocument after = new SessionDocument(before);
			if (!after.write(record, now)) {
				return false;
			}
			if (replace(key, before, after)) {
				return true;
			}
		}
	}

	private boolean replace(SessionKey key, @Nullable SessionDocument before, SessionDocument after) {
		return (before != null) ? this.documents.replace(key, before, after)
				: this.documents.putIfAbsent(key, after) == null;
	}

	@Override
	public void clear(SessionKey key) {
		this.documents.remove(key);
	}

	@Override
	public Optional<SessionView> open(SessionKey key, Window window) {
		return document(key).map((document) -> new SessionView(document.session(codec()), document.checkpoint(now()),
				decode(key, document.view(window))));
	}

	@Override
	public List<SessionItem> items(SessionKey key, Tail tail) {
		return document(key).map((document) -> decode(key, document.log(tail))).orElse(List.of());
	}

	@Override
	public List<SessionItem> items(SessionKey key, long turn) {
		return document(key).map((document) -> decode(key, document.items(turn))).orElse(List.of());
	}

	@Override
	public List<Turn> turns(SessionKey key, Tail tail) {
		return document(key).map((document) -> document.turns(tail)).orElse(List.of());
	}

	@Override
	public List<SessionRecord> records(SessionKey key, String kind) {
		return document(key).stream()
			.flatMap((document) -> document.records(kind, now()))
			.sorted(Comparator.comparing(SessionRecord::id))
			.toList();
	}

	@Override
	public List<Session> list(String owner, Page page) {
		return of(owner).sorted(Comparator.comparing(SessionDocument::updatedAt).reversed())
			.skip(page.offset())
			.limit(page.limit())
			.map((document) -> document.session(codec()))
			.toList();
	}

	@Override
	public List<SessionRecord> records(String owner, String kind, Page page) {
		return of(owner).flatMap((document) -> document.records(kind, now()))
			.sorted(Comparator.comparing(SessionRecord::writtenAt).reversed())
			.skip(page.offset())
			.limit(page.limit())
			.toList();
	}

	private Optional<SessionDocument> document(SessionKey key) {
		Instant now = now();
		return Optional.ofNullable(this.documents.get(key)).filter((document) -> !document.isExpired(now));
	}

	private Stream<SessionDocument> of(String owner) {
		Instant now = now();
		return this.documents.values()
			.stream()
			.filter((document) -> document.key().owner().equals(owner) && !document.isExpired(now));
	}

	private List<SessionItem> decode(SessionKey key, List<SessionDocument.Item> items) {
		return items.stream().map((item) -> decode(key, item)).toList();
	}

	private SessionItem decode(SessionKey key, SessionDocument.Item item) {
		try {
			return new SessionItem(item.sequence(), item.turn(), item.at(), item.tokens(),
					codec().decode(key, item.payload()));
		}
		catch (UnreadablePayloadException ex) {
			throw new UnreadablePayloadException("Item " + item.sequence() + " of session " + key + " cannot be read.",
					ex);
		}
	}

	private MessageCodec codec() {
		return this.options.codec();
	}

	private Instant now() {
		return this.options.now();
	}

}
