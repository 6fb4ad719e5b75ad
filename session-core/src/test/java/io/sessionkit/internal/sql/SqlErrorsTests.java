package io.sessionkit.internal.sql;

import java.net.ConnectException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;

import io.sessionkit.SessionException;
import io.sessionkit.store.StoreUnavailableException;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ObjectAssert;
import org.assertj.core.util.Throwables;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.CannotGetJdbcConnectionException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is said of the failures of databases.
 */
class SqlErrorsTests {

	@ParameterizedTest
	@ValueSource(strings = { "25006", "25P02", "42501", "53100", "53200", "57014", "HZ000" })
	void refusalThatUndoesTheStatementIsUnwritten(String state) {
		assertUnavailable(translated(state, true)).matches(StoreUnavailableException::isUnwritten)
			.matches((ex) -> ex.getMessage().endsWith("Nothing was written."));
		assertUnavailable(translated(state, false)).matches((ex) -> !ex.isUnwritten());
	}

	@ParameterizedTest
	@ValueSource(strings = { "08006", "57P01", "53300", "42P01", "26000", "XX000", "HY000" })
	void failureThatMayHaveWrittenOrIsOfNoKnownKindIsNot(String state) {
		assertUnavailable(translated(state, true)).matches((ex) -> !ex.isUnwritten());
	}

	/** The driver of H2 has a type of its own for them. */
	@Test
	void statementThatTheDatabaseHasEndedIsNoLostConnection() {
		SQLException ended = new SQLTimeoutException("secret", "57014", 57014);
		assertUnavailable(SqlErrors.translate(ended, null, true)).matches(StoreUnavailableException::isUnwritten)
			.matches((ex) -> !ex.getMessage().contains("secret"));
	}

	/** Those of MariaDB and MySQL, SQL Server, Oracle and SQLite. */
	@ParameterizedTest
	@CsvSource({ "HY000, 1290", "HY000, 1836", "S0001, 3906", "72000, 1456", "72000, 16000", ", 8" })
	void serverThatOnlyReadsIsNamedAndTheWriteUnwritten(@Nullable String state, int code) {
		assertUnavailable(SqlErrors.translate(new SQLException("secret", state, code), null, true))
			.matches(StoreUnavailableException::isUnwritten)
			.matches((ex) -> ex.getMessage().contains("connect to the primary server"));
	}

	/**
	 * For which the driver of MariaDB has that type. A connection that was killed is one.
	 */
	@ParameterizedTest
	@CsvSource({ "1317, true", "1969, true", "1927, false" })
	void statementThatMariaDbHasEndedIsNoLostConnection(int code, boolean unwritten) {
		SQLException ended = new SQLTimeoutException("secret", "70100", code);
		assertUnavailable(SqlErrors.translate(ended, null, true)).matches((ex) -> ex.isUnwritten() == unwritten)
			.matches((ex) -> ex.getMessage().contains("cannot be reached") != unwritten);
	}

	@Test
	void statementOfWhichNobodyKnowsHowItHasEndedIsNoLostConnectionEither() {
		SQLException unknown = SqlErrors.unknown(new SQLException("secret", "70100", 1969),
				new SQLException("secret", "70100", 1317));
		SessionException translated = SqlErrors.translate(unknown, null, true);
		assertUnavailable(translated).matches((ex) -> !ex.isUnwritten());
		assertThat(translated).hasMessageContaining("max_statement_time")
			.hasMessageContaining("unknown")
			.hasMessageNotContaining("cannot be reached");
		assertThat(Throwables.getStackTrace(translated)).contains("Suppressed").doesNotContain("secret");
	}

	/** As MariaDB and MySQL with a binary log of statements do. */
	@Test
	void writeThatTheServerCannotLogIsUnwritten() {
		assertUnavailable(SqlErrors.translate(new SQLException("secret", "HY000", 1665), null, true))
			.matches(StoreUnavailableException::isUnwritten);
	}

	@ParameterizedTest
	@ValueSource(strings = { "26000", "42P05" })
	void preparedStatementThatAPoolerHasLostIsExplained(String state) {
		assertThat(translated(state, true)).hasMessageContaining("prepareThreshold=0");
	}

	@Test
	void poolThatIsExhaustedIsToldFromADatabaseThatIsAway() {
		SQLException pool = new SQLTransientConnectionException("secret, request timed out");
		assertThat(SqlErrors.noConnection(pool, true)).hasMessageContaining("pool had none free")
			.hasMessageContaining("java.sql.SQLTransientConnectionException")
			.hasMessageNotContaining("secret")
			.matches((ex) -> ((StoreUnavailableException) ex).isUnwritten());
		SQLException away = new SQLTransientConnectionException("secret",
				new SQLNonTransientConnectionException("secret", "08000", new ConnectException("secret")));
		assertThat(SqlErrors.noConnection(new CannotGetJdbcConnectionException("secret", away), false))
			.hasMessageContaining("java.net.ConnectException, SQLSTATE 08000")
			.hasMessageNotContaining("pool")
			.hasMessageNotContaining("secret");
	}

	private static SessionException translated(String state, boolean write) {
		return SqlErrors.translate(new SQLException("secret", state), null, write);
	}

	private static ObjectAssert<StoreUnavailableException> assertUnavailable(SessionException translated) {
		return assertThat(translated).asInstanceOf(InstanceOfAssertFactories.type(StoreUnavailableException.class));
	}

}
