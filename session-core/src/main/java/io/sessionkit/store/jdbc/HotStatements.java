package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.OpenedRows;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * What is done for every turn, and what depends on how many round trips a database needs
 * for it.
 */
sealed interface HotStatements permits PostgresStatements, MariaDbStatements, PortableStatements {

	/**
	 * The header and the newest part of the view; null if the session is absent.
	 */
	@Nullable OpenedRows open(Connection connection, String key, Window window) throws SQLException;

	/**
	 * The newest items of the log, oldest first.
	 */
	List<ItemRow> log(Connection connection, String key, Tail tail) throws SQLException;

	/**
	 * Appends one completed turn.
	 * @return the result, or null if the session is not as it would have to be for this
	 * short way; what was done in a transaction is to be taken back then
	 */
	@Nullable CommitResult append(Connection connection, EncodedCommit commit) throws SQLException;

	/**
	 * Whether {@link #append} is one statement, which needs no transaction around it.
	 */
	boolean appendsInOneStatement();

}
