package io.sessionkit.internal.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * One statement with named parameters, written {@code :name}.
 */
public final class Sql {

	private static final Pattern PARAMETER = Pattern.compile("(?<!:):([a-z][A-Za-z]*)");

	private final String text;

	private final List<String> names = new ArrayList<>();

	private final Dialect dialect;

	public Sql(String template, Dialect dialect) {
		this.dialect = dialect;
		Matcher matcher = PARAMETER.matcher(template);
		while (matcher.find()) {
			this.names.add(matcher.group(1));
		}
		this.text = matcher.replaceAll("?");
	}

	/** Reads one row. */
	@FunctionalInterface
	public interface Row<T> {

		T read(ResultSet row) throws SQLException;

	}

	/** Receives one row. */
	@FunctionalInterface
	public interface Receiver {

		void receive(ResultSet row) throws SQLException;

	}

	/** Passes all rows to the receiver, in order. */
	public void each(Connection connection, Params params, Receiver receiver) throws SQLException {
		try (PreparedStatement statement = this.dialect.prepare(connection, this.text)) {
			bind(connection, statement, params);
			try (ResultSet rows = statement.executeQuery()) {
				while (rows.next()) {
					receiver.receive(rows);
				}
			}
		}
	}

	/** Returns all rows, in order. */
	public <T> List<T> all(Connection connection, Params params, Row<T> row) throws SQLException {
		List<T> all = new ArrayList<>();
		each(connection, params, (rows) -> all.add(row.read(rows)));
		return all;
	}

	/** Returns the first row, or null if there is none. */
	public <T> @Nullable T first(Connection connection, Params params, Row<T> row) throws SQLException {
		List<T> all = all(connection, params, row);
		return all.isEmpty() ? null : all.get(0);
	}

	/** Executes the statement and returns how many rows it wrote. */
	public int update(Connection connection, Params params) throws SQLException {
		try (PreparedStatement statement = this.dialect.prepare(connection, this.text)) {
			bind(connection, statement, params);
			return statement.executeUpdate();
		}
	}

	/**
	 * Executes the statement, which inserts one row.
	 * @return whether a row was inserted; false if there is one with its key already
	 */
	public boolean insert(Connection connection, Params params) throws SQLException {
		try {
			return update(connection, params) == 1;
		}
		catch (SQLException ex) {
			if (SqlErrors.isDuplicateKey(ex)) {
				return false;
			}
			throw ex;
		}
	}

	/**
	 * Executes the statement once for each of the parameters, in as few round trips as
	 * the driver can.
	 */
	public void updateAll(Connection connection, List<Params> all) throws SQLException {
		if (all.isEmpty()) {
			return;
		}
		try (PreparedStatement statement = this.dialect.prepare(connection, this.text)) {
			for (Params params : all) {
				bind(connection, statement, params);
				statement.addBatch();
			}
			statement.executeBatch();
		}
	}

	private void bind(Connection connection, PreparedStatement statement, Params params) throws SQLException {
		for (int i = 0; i < this.names.size(); i++) {
			Object value = params.get(this.names.get(i));
			if (value instanceof Params.Text text) {
				this.dialect.bindText(statement, i + 1, text.value());
			}
			else if (value instanceof Params.Numeric number) {
				this.dialect.bindNumber(statement, i + 1, number.value());
			}
			else {
				statement.setObject(i + 1, withArray(connection, value));
			}
		}
	}

	/**
	 * Returns the value as a driver expects it: an array of Java becomes one of SQL.
	 */
	private static @Nullable Object withArray(Connection connection, @Nullable Object value) throws SQLException {
		if (value instanceof String[] texts) {
			return connection.createArrayOf("text", texts);
		}
		return (value instanceof Long[] numbers) ? connection.createArrayOf("bigint", numbers) : value;
	}

}
