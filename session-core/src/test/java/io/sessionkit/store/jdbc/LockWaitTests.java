package io.sessionkit.store.jdbc;

import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.SessionConflictException;
import io.sessionkit.internal.sql.JdbcWork;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Error 1205 with the state of a deadlock: by the driver of MySQL it is a lock that was
 * not given in time, by that of SQL Server a deadlock.
 */
class LockWaitTests {

	@ParameterizedTest
	@CsvSource({ "MySQL, 1", "Microsoft SQL Server, 10" })
	void lockThatWasWaitedForInVainIsNotWaitedForAgainAndADeadlockIsTriedAgain(String product, int attempts) {
		JdbcWork work = new JdbcWork(new ProductName(TestDatabase.h2().direct(), product));
		AtomicInteger single = new AtomicInteger();
		assertThatExceptionOfType(SessionConflictException.class)
			.isThrownBy(() -> work.writing((connection) -> failing(single)));
		AtomicInteger several = new AtomicInteger();
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> work.atomically(null,
				(connection) -> Optional.of(new JdbcWork.Change<>(failing(several), true))));
		assertThat(single).hasValue(attempts);
		assertThat(several).hasValue(attempts);
	}

	private static int failing(AtomicInteger count) throws SQLException {
		count.incrementAndGet();
		throw new SQLException("as the driver says it", "40001", 1205);
	}

}
