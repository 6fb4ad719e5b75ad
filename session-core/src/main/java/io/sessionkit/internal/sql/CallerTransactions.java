package io.sessionkit.internal.sql;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.store.Commit;
import io.sessionkit.store.RecordWrite;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Knows what the open transactions of callers on a thread have written, also while others
 * suspend them. A write beside such a transaction, on another connection, would wait for
 * it, and it resumes only after that write: neither would ever end. So what would wait is
 * refused. Safe for use by many threads.
 */
public final class CallerTransactions {

	private final JdbcWork work;

	private final BooleanSupplier oneWriter;

	private final ThreadLocal<@Nullable List<Open>> ofThread = new ThreadLocal<>();

	/**
	 * Creates what knows the transactions that some work joins.
	 * @param oneWriter whether one writer keeps all others out of the database until it
	 * commits
	 */
	public CallerTransactions(JdbcWork work, BooleanSupplier oneWriter) {
		this.work = work;
		this.oneWriter = oneWriter;
	}

	/**
	 * Notes what a commit has written, if it has joined a transaction.
	 * @param begins whether the session begins with it, so that nobody else sees it yet
	 */
	public void committed(Commit commit, boolean begins) {
		Open open = joined();
		if (open != null) {
			Written written = open.written(commit.key());
			written.begun |= begins;
			commit.records().forEach(written::add);
		}
	}

	/** Notes that a session was erased, if that has joined a transaction. */
	public void erased(SessionKey key) {
		Open open = joined();
		if (open != null) {
			open.written(key).erased = true;
		}
	}

	/**
	 * Does something once the transaction is rolled back that a commit of this thread
	 * joins, or at its end if only the part of it is rolled back that this belongs to, as
	 * a nested transaction is; never if it joins none.
	 */
	public void whenRolledBack(Runnable what) {
		Open open = joined();
		if (open != null) {
			open.whenRolledBack.add(what);
		}
	}

	/**
	 * Checks that a commit of this thread neither has to be made in a transaction that
	 * only reads, nor waits for one that is suspended around it.
	 */
	public void checkCommit(SessionKey key) {
		if (onlyReads()) {
			throw new IllegalStateException("Session " + key + " cannot be written: the transaction around this call"
					+ " only reads. Nothing was run. Make the call outside of it, or in a transaction without"
					+ " readOnly = true; a call that need not be stored says so with SessionAdvisor.reading().");
		}
		if (any((open) -> !open.isCurrent() && (open.written.containsKey(key) || isOnlyWriter(open)))) {
			throw new TurnInProgressException(written(key)
					+ " by the transaction that is suspended around this one (REQUIRES_NEW, NOT_SUPPORTED)"
					+ " and continues only after it, so each would wait for the other. Nothing was run. Do both in one"
					+ " transaction, or this after the commit of the other.");
		}
	}

	/**
	 * Checks that expired sessions are not to be deleted in a transaction that only
	 * reads. They would be, since that happens beside it.
	 */
	public void checkDeletion() {
		if (onlyReads()) {
			throw new IllegalStateException("Expired sessions cannot be deleted: the transaction around this call only"
					+ " reads. Nothing was deleted. Make the call outside of it, or in a transaction without"
					+ " readOnly = true.");
		}
	}

	private boolean onlyReads() {
		return this.work.mayJoin() && TransactionSynchronizationManager.isCurrentTransactionReadOnly();
	}

	/**
	 * Checks that commits of other threads, for which this one waits, do not wait for a
	 * transaction of this thread.
	 */
	public void checkCommitElsewhere(SessionKey key) {
		if (any((open) -> open.written.containsKey(key) || isOnlyWriter(open))) {
			throw new TurnInProgressException(written(key)
					+ " by the transaction around this call, which is not committed. A stream is stored on"
					+ " other threads, where it would wait for that. Nothing was run. Use call() instead of stream(), or"
					+ " make the call after the commit, outside of the transaction.");
		}
	}

	/**
	 * Checks that a record can be written beside the transactions of this thread.
	 */
	public void checkBeside(SessionKey key, RecordWrite write) {
		if (any((open) -> open.keepsOut(key, write) || isOnlyWriter(open))) {
			throw new TurnInProgressException(written(key)
					+ " by the transaction around this call, which is not committed. Places in line, idempotency keys,"
					+ " leases, claims and decisions are stored beside it, where they would wait for it or not see the"
					+ " session. Nothing was run. Make this call after the commit, or outside of the transaction.");
		}
	}

	private String written(SessionKey key) {
		return any((open) -> open.written.containsKey(key)) ? "Session " + key + " was written"
				: "The database of session " + key + ", which has one writer at a time, was written";
	}

	private boolean isOnlyWriter(Open open) {
		return !open.written.isEmpty() && this.oneWriter.getAsBoolean();
	}

	private boolean any(Predicate<Open> what) {
		List<Open> all = this.ofThread.get();
		return all != null && all.stream().anyMatch(what);
	}

	/** Returns the transaction that a commit of this thread joins; null if none. */
	private @Nullable Open joined() {
		Object transaction = this.work.joined();
		if (transaction == null) {
			return null;
		}
		List<Open> all = this.ofThread.get();
		if (all == null) {
			// the thread that ends a transaction need not be this one
			all = new CopyOnWriteArrayList<>();
			this.ofThread.set(all);
		}
		for (Open each : all) {
			if (each.transaction == transaction) {
				return each;
			}
		}
		Open open = new Open(transaction, all);
		TransactionSynchronizationManager.registerSynchronization(open);
		all.add(open);
		return open;
	}

	/** The writes of a transaction to one session. */
	private static final class Written {

		/** The last write of each record. */
		private final Map<List<String>, RecordWrite> records = new HashMap<>();

		private boolean begun;

		private boolean erased;

		void add(RecordWrite write) {
			this.records.merge(name(write), write, (before, now) -> (before.expected() == 0) ? before : now);
		}

		/**
		 * A write that expects a record which others do not see yet waits for nobody, and
		 * finds that it is not there.
		 */
		boolean keepsOut(RecordWrite write) {
			boolean expectsRecord = write.expected() > 0;
			RecordWrite own = this.records.get(name(write));
			return this.erased || this.begun && !expectsRecord
					|| !this.begun && own != null && !(own.expected() == 0 && expectsRecord);
		}

		private static List<String> name(RecordWrite write) {
			return List.of(write.kind(), write.id());
		}

	}

	/** A transaction that has not ended. */
	private final class Open implements TransactionSynchronization {

		private final Object transaction;

		private final List<Open> all;

		private final Map<SessionKey, Written> written = new HashMap<>();

		private final List<Runnable> whenRolledBack = new ArrayList<>();

		/** What belongs to parts that are rolled back, whatever becomes of the others. */
		private final List<Runnable> rolledBack = new ArrayList<>();

		/** How much belonged to what is before a savepoint, by the savepoint. */
		private final Map<Object, Integer> before = new IdentityHashMap<>();

		Open(Object transaction, List<Open> all) {
			this.transaction = transaction;
			this.all = all;
		}

		/** Returns whether a commit of this thread joins it. */
		boolean isCurrent() {
			return this.transaction == CallerTransactions.this.work.joined();
		}

		Written written(SessionKey key) {
			return this.written.computeIfAbsent(key, (each) -> new Written());
		}

		boolean keepsOut(SessionKey key, RecordWrite write) {
			Written of = this.written.get(key);
			return of != null && of.keepsOut(write);
		}

		@Override
		public void savepoint(Object savepoint) {
			this.before.put(savepoint, this.whenRolledBack.size());
		}

		/**
		 * Some databases keep the locks of what is rolled back to a savepoint, so nothing
		 * is done before the end of the transaction. A savepoint that is not known is
		 * older than all that was written.
		 */
		@Override
		public void savepointRollback(Object savepoint) {
			int most = this.whenRolledBack.size();
			List<Runnable> since = this.whenRolledBack.subList(Math.min(most, this.before.getOrDefault(savepoint, 0)),
					most);
			this.rolledBack.addAll(since);
			since.clear();
		}

		/** Is told of the commit before those who write after it. */
		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

		@Override
		public void afterCommit() {
			leave();
		}

		private void leave() {
			this.all.remove(this);
			if (this.all.isEmpty()) {
				CallerTransactions.this.ofThread.remove();
			}
		}

		@Override
		public void afterCompletion(int status) {
			leave();
			if (status != STATUS_COMMITTED) {
				this.rolledBack.addAll(this.whenRolledBack);
			}
			if (!this.rolledBack.isEmpty()) {
				CallerTransactions.this.work.outside(() -> this.rolledBack.forEach(Runnable::run));
			}
		}

	}

}
