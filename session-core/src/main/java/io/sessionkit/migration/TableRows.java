package io.sessionkit.migration;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

/**
 * Queries of a source's tables. Each one uses a connection of its own, only while it
 * runs.
 */
final class TableRows {

	private final DataSource dataSource;

	TableRows(DataSource dataSource) {
		this.dataSource = dataSource;
	}

	/**
	 * Reads a row.
	 */
	interface Row<T> {

		T read(ResultSet row) throws SQLException;

	}

	/**
	 * Returns the first rows of a query.
	 * @param limit how many at most; 0 for all
	 */
	<T> List<T> query(String sql, int limit, Row<T> mapping, Object... parameters) {
		try (Connection connection = connection(); PreparedStatement statement = connection.prepareStatement(sql)) {
			statement.setMaxRows(limit);
			for (int i = 0; i < parameters.length; i++) {
				statement.setObject(i + 1, parameters[i]);
			}
			List<T> rows = new ArrayList<>();
			try (ResultSet result = statement.executeQuery()) {
				while (result.next()) {
					rows.add(mapping.read(result));
				}
			}
			return rows;
		}
		catch (SQLException ex) {
			throw new IllegalStateException("The source of the import cannot be read: " + sql
					+ " failed with SQL state " + ex.getSQLState() + ".", ex);
		}
	}

	/** Returns the names of the columns of a table, in lower case. */
	Set<String> columns(String table) {
		try (Connection connection = connection();
				PreparedStatement statement = connection.prepareStatement("SELECT * FROM " + table + " WHERE 1 = 0");
				ResultSet result = statement.executeQuery()) {
			ResultSetMetaData columns = result.getMetaData();
			Set<String> names = new HashSet<>();
			for (int i = 1; i <= columns.getColumnCount(); i++) {
				names.add(columns.getColumnName(i).toLowerCase(Locale.ROOT));
			}
			return names;
		}
		catch (SQLException ex) {
			throw new IllegalStateException("The source of the import has no table " + table
					+ " that can be read; the SQL state is " + ex.getSQLState() + ".", ex);
		}
	}

	/** It joins no transaction of the caller, so one beside that is needed. */
	private Connection connection() {
		try {
			return this.dataSource.getConnection();
		}
		catch (SQLException ex) {
			throw new IllegalStateException("The DataSource of the source of the import gave no connection; the SQL"
					+ " state is " + ex.getSQLState() + ". The source is read on connections of its own: run the import"
					+ " outside of a transaction, or with a pool of two.", ex);
		}
	}

	static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
		Timestamp time = row.getTimestamp(column);
		return (time != null) ? time.toInstant() : null;
	}

}
