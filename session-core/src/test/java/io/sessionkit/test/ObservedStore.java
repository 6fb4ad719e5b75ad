package io.sessionkit.test;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
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
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnView;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * A store that notes who calls the two operations of a turn, and fails where it is told
 * to.
 */
public final class ObservedStore implements SessionStore {

	/**
	 * A point at which a store may fail.
	 */
	public enum Fault {

		/** Nowhere. */
		NONE,

		/** It cannot be opened. */
		OPEN,

		/** A commit does not arrive. */
		COMMIT,

		/** A commit arrives and its answer is lost. */
		ANSWER

	}

	private final SessionStore store;

	private final List<String> threads = new CopyOnWriteArrayList<>();

	private final List<String> calls = new CopyOnWriteArrayList<>();

	private volatile Fault fault = Fault.NONE;

	private volatile IntUnaryOperator deletion;

	private volatile Runnable beforeOpen = () -> {
	};

	private volatile Runnable beforePath = () -> {
	};

	private volatile Runnable beforeCommit = () -> {
	};

	private volatile Runnable afterCommit = () -> {
	};

	private volatile Runnable beforeTurn = () -> {
	};

	private volatile Runnable beforeRecord = () -> {
	};

	private volatile Consumer<String> beforeRecords = (kind) -> {
	};

	private volatile Consumer<RecordWrite> beforePut = (record) -> {
	};

	private volatile Consumer<RecordWrite> afterPut = (record) -> {
	};

	public ObservedStore(SessionStore store) {
		this.store = store;
		this.deletion = store::deleteExpired;
	}

	/**
	 * From now on it fails there.
	 */
	public void failAt(Fault fault) {
		this.fault = fault;
	}

	/**
	 * From now on this deletes what has expired.
	 */
	public void deletion(IntUnaryOperator deletion) {
		this.deletion = deletion;
	}

	/**
	 * From now on this runs before each view that is opened.
	 */
	public void beforeOpen(Runnable beforeOpen) {
		this.beforeOpen = beforeOpen;
	}

	/**
	 * From now on this runs before each path that is read.
	 */
	public void beforePath(Runnable beforePath) {
		this.beforePath = beforePath;
	}

	/**
	 * From now on this runs first.
	 */
	public void beforeCommit(Runnable beforeCommit) {
		this.beforeCommit = beforeCommit;
	}

	/**
	 * From now on this runs after each commit that has changed something, before its
	 * writer gets the answer.
	 */
	public void afterCommit(Runnable afterCommit) {
		this.afterCommit = afterCommit;
	}

	/**
	 * From now on this runs before each turn that is read by its number.
	 */
	public void beforeTurn(Runnable beforeTurn) {
		this.beforeTurn = beforeTurn;
	}

	/**
	 * From now on this runs before each record that is read by its name.
	 */
	public void beforeRecord(Runnable beforeRecord) {
		this.beforeRecord = beforeRecord;
	}

	/**
	 * From now on this is told first of the kind of records that are read of a session.
	 */
	public void beforeRecords(Consumer<String> beforeRecords) {
		this.beforeRecords = beforeRecords;
	}

	/**
	 * From now on this is told first of each record that is written by itself.
	 */
	public void beforePut(Consumer<RecordWrite> beforePut) {
		this.beforePut = beforePut;
	}

	/**
	 * From now on this is told of each record that was written by itself, before the
	 * writer is.
	 */
	public void afterPut(Consumer<RecordWrite> afterPut) {
		this.afterPut = afterPut;
	}

	/**
	 * The names of the threads that opened and committed.
	 */
	public List<String> threads() {
		return List.copyOf(this.threads);
	}

	/**
	 * Returns the calls of open and commit, in order.
	 */
	public List<String> calls() {
		return List.copyOf(this.calls);
	}

	@Override
	public StoreOptions options() {
		return this.store.options();
	}

	@Override
	public Optional<PathView> path(SessionKey key, PathQuery query) {
		note("path");
		this.beforePath.run();
		if (this.fault == Fault.OPEN) {
			throw new StoreUnavailableException("The store is down.", null);
		}
		return this.store.path(key, query);
	}

	@Override
	public Optional<SessionView> open(SessionKey key, Window window) {
		note("open");
		this.beforeOpen.run();
		if (this.fault == Fault.OPEN) {
			throw new StoreUnavailableException("The store is down.", null);
		}
		return this.store.open(key, window);
	}

	@Override
	public CommitResult commit(Commit commit) {
		note("commit");
		this.beforeCommit.run();
		if (this.fault == Fault.COMMIT) {
			throw new StoreUnavailableException("The store is down.", null);
		}
		CommitResult result = this.store.commit(commit);
		if (result.isStored()) {
			this.afterCommit.run();
		}
		if (this.fault == Fault.ANSWER) {
			throw new StoreUnavailableException("The store's answer was lost.", null);
		}
		return result;
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
	public Optional<TurnView> turn(SessionKey key, long number, Set<String> kinds) {
		this.beforeTurn.run();
		return this.store.turn(key, number, kinds);
	}

	@Override
	public boolean mayRollBack() {
		return this.store.mayRollBack();
	}

	@Override
	public void checkWritable(SessionKey key, boolean here) {
		this.store.checkWritable(key, here);
	}

	@Override
	public void whenRolledBack(Runnable what) {
		this.store.whenRolledBack(what);
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
	public int deleteExpired(int limit) {
		return this.deletion.applyAsInt(limit);
	}

	@Override
	public boolean put(SessionKey key, RecordWrite record) {
		this.beforePut.accept(record);
		boolean written = this.store.put(key, record);
		if (written) {
			this.afterPut.accept(record);
		}
		return written;
	}

	@Override
	public List<SessionRecord> records(SessionKey key, String kind) {
		this.beforeRecords.accept(kind);
		return this.store.records(key, kind);
	}

	@Override
	public Optional<SessionRecord> record(SessionKey key, String kind, String id) {
		this.beforeRecord.run();
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

	private void note(String call) {
		this.calls.add(call);
		this.threads.add(Thread.currentThread().getName());
	}

}
