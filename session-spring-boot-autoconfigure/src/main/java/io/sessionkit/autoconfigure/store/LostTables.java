package io.sessionkit.autoconfigure.store;

import java.util.List;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Tells tables that are gone from tables that were never made. The scripts create the
 * table with the version first and write its row last, so a row says that all tables were
 * there, and another table without that one that it was there too. A script that is at
 * work elsewhere, or was interrupted, has left no row yet.
 */
final class LostTables {

	private final JdbcTemplate template;

	private final String prefix;

	private final String versions;

	LostTables(DataSource dataSource, String prefix) {
		this.template = new JdbcTemplate(dataSource);
		this.prefix = prefix;
		this.versions = prefix + "SCHEMA";
	}

	/** Returns the names of the tables with the sessions. */
	static List<String> others(String prefix) {
		return Stream.of("SESSION", "TURN", "ITEM", "RECORD").map(prefix::concat).toList();
	}

	/**
	 * Returns the names of the tables that were there and are not any more, while others
	 * are. The table with the version alone is not among them: it holds no session.
	 */
	List<String> names() {
		Integer rows = namedVersions();
		List<String> missing = (rows != null && rows == 0) ? List.of() : missing();
		if (missing.isEmpty() || missing.size() == others(this.prefix).size()) {
			return List.of();
		}
		if (rows != null) {
			return missing;
		}
		// looked at again: a script that has begun since then has made it
		return isMissing(this.versions, "version") ? Stream.concat(Stream.of(this.versions), missing.stream()).toList()
				: List.of();
	}

	private List<String> missing() {
		String sessions = this.prefix + "SESSION";
		return others(this.prefix).stream()
			.filter((table) -> isMissing(table, table.equals(sessions) ? "key_hash" : "session_pk"))
			.toList();
	}

	/** Returns the number of versions that are named; null if that is not known. */
	private @Nullable Integer namedVersions() {
		try {
			return this.template.queryForObject("select count(compatible_from) from " + this.versions, Integer.class);
		}
		catch (DataAccessException ex) {
			return null;
		}
	}

	/**
	 * Returns whether the database says that there is no such table. One that may not be
	 * read is there; one without the column is not one of a script.
	 */
	private boolean isMissing(String table, String column) {
		try {
			this.template.queryForObject("select count(" + column + ") from " + table + " where 1 = 0", Integer.class);
			return false;
		}
		catch (InvalidDataAccessResourceUsageException | UncategorizedSQLException ex) {
			return !JdbcStoreCheck.isNotGranted(ex);
		}
		catch (DataAccessException ex) {
			return false;
		}
	}

}
