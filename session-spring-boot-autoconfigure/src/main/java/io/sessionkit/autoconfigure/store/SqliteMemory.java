package io.sessionkit.autoconfigure.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.regex.Pattern;

import javax.sql.DataSource;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/**
 * Knows by its URL whether a SQLite database is in memory. Spring Boot does not count
 * SQLite as embedded.
 */
final class SqliteMemory {

	private static final Pattern IN_MEMORY = Pattern
		.compile("jdbc:sqlite:(?:|\\?.*|:memory:.*|file::memory:.*|file:.*[?&]mode=memory\\b.*)");

	private static final Pattern SHARED = Pattern.compile("jdbc:sqlite:file:.*[?&]cache=shared\\b.*");

	private SqliteMemory() {
	}

	static boolean isIn(DataSource dataSource) {
		try (Connection connection = dataSource.getConnection()) {
			return isIn(connection);
		}
		catch (SQLException ex) {
			return false;
		}
	}

	private static boolean isIn(Connection connection) throws SQLException {
		return IN_MEMORY.matcher(url(connection)).matches();
	}

	private static String url(Connection connection) throws SQLException {
		@Nullable String url = connection.getMetaData().getURL();
		return (url != null) ? url.toLowerCase(Locale.ROOT) : "";
	}

	/**
	 * Refuses a database of which each connection would have one of its own: the tables
	 * would be in one of them.
	 */
	static void refuseSeparate(DataSource dataSource, Connection connection) throws SQLException {
		boolean shared = dataSource.isWrapperFor(SingleConnectionDataSource.class)
				|| SHARED.matcher(url(connection)).matches();
		if (isIn(connection) && !shared) {
			throw new ConfigurationRefusedException(
					"The DataSource that sessions are to be kept in is a SQLite database in memory, and each connection"
							+ " to it has a database of its own.",
					"Name a file, as in 'jdbc:sqlite:sessions.db', or let all connections share one database, as in"
							+ " 'jdbc:sqlite:file:sessions?mode=memory&cache=shared'.");
		}
	}

}
