package io.sessionkit.store.jdbc;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;

import io.sessionkit.SessionConflictException;
import io.sessionkit.internal.sql.JdbcWork;

/**
 * Deletes the rows of sessions and records that have expired, each in a short transaction
 * of its own: several processes may do so at once, and none holds a lock for long.
 */
final class ExpiredRows {

	private final JdbcWork work;

	private final Backend statements;

	ExpiredRows(JdbcWork work, Backend statements) {
		this.work = work;
		this.statements = statements;
	}

	/**
	 * Deletes first the sessions, beginning with those that expired first, then the
	 * records.
	 * @return how many it deleted
	 */
	int delete(int limit) {
		int deleted = deleteSessions(limit);
		int left = limit - deleted;
		if (left <= 0) {
			return deleted;
		}
		List<RecordStatements.Row> records = this.work
			.reading((connection) -> this.statements.tables().records().expired(connection, left));
		return deleted + count(records, this::deleteRecord);
	}

	/**
	 * Looks again if all that it has found lives on, since what follows may have expired:
	 * the caller takes 0 for the end.
	 */
	private int deleteSessions(int limit) {
		AtomicBoolean mended = new AtomicBoolean();
		List<Long> found;
		int deleted;
		do {
			mended.set(false);
			found = this.work.reading((connection) -> this.statements.tables().sessions().expired(connection, limit));
			deleted = count(found, (pk) -> deleteSession(pk, mended));
		}
		while (deleted == 0 && found.size() == limit && mended.get());
		return deleted;
	}

	/**
	 * Skips rows that another transaction is writing; they are left for the next call.
	 * Inside a transaction of the caller it stops at the first such row: the caller
	 * itself may be writing it, and then each further wait would be in vain.
	 */
	private <T> int count(List<T> found, Predicate<T> deletion) {
		int deleted = 0;
		for (T each : found) {
			try {
				deleted += deletion.test(each) ? 1 : 0;
			}
			catch (SessionConflictException ex) {
				if (this.work.isApart()) {
					return deleted;
				}
			}
		}
		return deleted;
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
