package io.sessionkit.store.jdbc;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.sessionkit.SessionConflictException;
import io.sessionkit.internal.sql.JdbcWork;
import io.sessionkit.store.StoreUnavailableException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Deletes the rows of sessions and records that have expired, each in a short transaction
 * of its own: several processes may do so at once, and none holds a lock for long.
 */
final class ExpiredRows {

	private static final Log logger = LogFactory.getLog(ExpiredRows.class);

	/** So many failures, one after the other, are those of a database that is away. */
	private static final int MOST_FAILURES = 3;

	private final JdbcWork work;

	private final Backend statements;

	/** The last row that the database did not delete; null if there is none. */
	private @Nullable StoreUnavailableException failure;

	ExpiredRows(JdbcWork work, Backend statements) {
		this.work = work;
		this.statements = statements;
	}

	/**
	 * Deletes first the sessions, of which it takes those that expired first, then the
	 * records. One that the database does not delete, such as one that is larger than its
	 * limit on time allows, keeps no other, unless three in a row are so from both ends
	 * of what it takes, or all of it.
	 * @return how many it deleted
	 * @throws StoreUnavailableException if it deleted none, and the database has failed
	 */
	int delete(int limit) {
		int deleted = deleteSessions(limit);
		if (deleted < limit) {
			deleted += deleteRecords(limit - deleted);
		}
		if (deleted == 0 && this.failure != null) {
			throw this.failure;
		}
		return deleted;
	}

	private int deleteRecords(int limit) {
		List<RecordStatements.Row> records = this.work
			.reading((connection) -> this.statements.tables().records().expired(connection, limit));
		return count(records, this::deleteRecord);
	}

	/**
	 * Looks again if all that it has found lives on, since what follows may have expired:
	 * the caller takes 0 for the end. The oldest come last: what has failed before is
	 * among them.
	 */
	private int deleteSessions(int limit) {
		AtomicBoolean mended = new AtomicBoolean();
		List<Long> found;
		int deleted;
		do {
			mended.set(false);
			found = this.work.reading((connection) -> this.statements.tables().sessions().expired(connection, limit));
			Collections.reverse(found);
			deleted = count(found, (pk) -> deleteSession(pk, mended));
		}
		while (deleted == 0 && found.size() == limit && mended.get());
		return deleted;
	}

	/**
	 * Skips rows that another transaction is writing, and those that the database does
	 * not delete; they are left for the next call. After some failures in a row it goes
	 * on from the other end, until so many fail there too.
	 */
	private <T> int count(List<T> found, Predicate<T> deletion) {
		Deque<T> left = new ArrayDeque<>(found);
		int deleted = count(left, left::removeFirst, deletion);
		return deleted + count(left, left::removeLast, deletion);
	}

	/**
	 * Stops at the first row that is being written inside a transaction of the caller:
	 * the caller itself may be writing it, and then each further wait would be in vain.
	 */
	private <T> int count(Deque<T> left, Supplier<T> next, Predicate<T> deletion) {
		int deleted = 0;
		int failures = 0;
		while (!left.isEmpty() && failures < MOST_FAILURES) {
			try {
				deleted += deletion.test(next.get()) ? 1 : 0;
				failures = 0;
			}
			catch (SessionConflictException ex) {
				if (this.work.isApart()) {
					left.clear();
				}
			}
			catch (StoreUnavailableException ex) {
				failures++;
				failed(ex);
			}
		}
		return deleted;
	}

	private void failed(StoreUnavailableException ex) {
		if (this.work.isApart()) {
			throw ex;
		}
		logger.debug("What has expired could not be deleted: " + ex.getMessage());
		this.failure = ex;
	}

	private boolean deleteSession(long pk, AtomicBoolean mended) {
		boolean erased = this.work.atomically(this.statements.dialect().beginning(), (connection) -> {
			boolean done = this.statements.tables().sessions().eraseExpired(connection, pk);
			return Optional.of(new JdbcWork.Change<>(done, done));
		});
		if (erased) {
			this.work.writing(lateRecords(pk));
		}
		else if (this.work.writing((connection) -> this.statements.tables().sessions().purgeLater(connection, pk))) {
			mended.set(true);
		}
		return erased;
	}

	/**
	 * Returns the deletion of the records that {@link JdbcSessionStore#put} wrote between
	 * the erasure of their session and the end of that transaction, because it locks no
	 * session.
	 */
	JdbcWork.Work<Integer> lateRecords(long pk) {
		return (connection) -> this.statements.tables().records().deleteAll(connection, pk);
	}

	private boolean deleteRecord(RecordStatements.Row row) {
		return this.work.writing((connection) -> this.statements.tables().records().deleteExpired(connection, row));
	}

}
