package io.sessionkit.conversation;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.Page;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.RecordPage;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * A store that tells what becomes of approved calls and of turns, before it is written
 * and after it was.
 *
 * @param store the store
 * @param steps is told each step, and the id of the call, or {@code -}
 */
public record JournalingStore(SessionStore store, BiConsumer<Step, String> steps) implements SessionStore {

	private static final Set<String> KINDS = Set.of(Ledger.APPROVAL, Ledger.COMPENSATION);

	/**
	 * A step of a call that was approved.
	 */
	public enum Step {

		/** A person's word is about to be stored. */
		DECIDING,

		/** It is stored. */
		DECIDED,

		/** The claim is about to be stored. */
		CLAIMING,

		/** It is stored. */
		CLAIMED,

		/** The tool has begun, and has had no effect. */
		BEGUN,

		/** The tool has had its effect. */
		RAN,

		/** The result is about to be stored. */
		STORING,

		/** It is stored. */
		STORED,

		/** A part of the turn is about to be stored. */
		COMMITTING,

		/** It is stored. */
		COMMITTED

	}

	@Override
	public int deleteExpired(int limit) {
		return this.store.deleteExpired(limit);
	}

	@Override
	public boolean put(SessionKey key, RecordWrite record) {
		Step before = before(key, record);
		if (before == null) {
			return this.store.put(key, record);
		}
		this.steps.accept(before, record.id());
		boolean stored = this.store.put(key, record);
		if (stored) {
			this.steps.accept(Step.values()[before.ordinal() + 1], record.id());
		}
		return stored;
	}

	private @Nullable Step before(SessionKey key, RecordWrite record) {
		if (!KINDS.contains(record.kind()) || record.payload() == null) {
			return null;
		}
		Object status = options().codec().decodeValues(key, record.payload()).get("status");
		return switch (Objects.toString(status)) {
			case "CLAIMED" -> Step.CLAIMING;
			case "DONE" -> Step.STORING;
			default -> Step.DECIDING;
		};
	}

	@Override
	public CommitResult commit(Commit commit) {
		this.steps.accept(Step.COMMITTING, "-");
		CommitResult result = this.store.commit(commit);
		this.steps.accept(Step.COMMITTED, "-");
		return result;
	}

	@Override
	public StoreOptions options() {
		return this.store.options();
	}

	@Override
	public Optional<PathView> path(SessionKey key, PathQuery query) {
		return this.store.path(key, query);
	}

	@Override
	public Optional<SessionView> open(SessionKey key, Window window) {
		return this.store.open(key, window);
	}

	@Override
	public List<SessionItem> items(SessionKey key, Tail tail) {
		return this.store.items(key, tail);
	}

	@Override
	public List<SessionItem> items(SessionKey key, long turn) {
		return this.store.items(key, turn);
	}

	@Override
	public List<Turn> turns(SessionKey key, Tail tail) {
		return this.store.turns(key, tail);
	}

	@Override
	public List<Session> list(String owner, Page page) {
		return this.store.list(owner, page);
	}

	@Override
	public boolean erase(SessionKey key) {
		return this.store.erase(key);
	}

	@Override
	public List<SessionRecord> records(SessionKey key, String kind) {
		return this.store.records(key, kind);
	}

	@Override
	public Optional<SessionRecord> record(SessionKey key, String kind, String id) {
		return this.store.record(key, kind, id);
	}

	@Override
	public List<SessionRecord> records(String owner, String kind, Page page) {
		return this.store.records(owner, kind, page);
	}

	@Override
	public RecordPage oldestRecords(String kind, @Nullable String after, int limit) {
		return this.store.oldestRecords(kind, after, limit);
	}

}
