package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.KnownView;
import io.sessionkit.internal.row.OpenedRows;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * The operations of every turn, and those that depend on how many round trips a database
 * needs for them.
 */
sealed interface HotStatements permits PostgresStatements, MariaDbStatements, PortableStatements {

	/**
	 * Returns the header and the newest part of the view; null if the session is absent.
	 * @param known the view that the reader knows, which is left out if it is still that
	 * of the session
	 */
	@Nullable OpenedRows open(Connection connection, String key, Window window, KnownView known) throws SQLException;

	/**
	 * Returns the newest items of the log, oldest first.
	 */
	List<ItemRow> log(Connection connection, String key, Tail tail) throws SQLException;

	/**
	 * Appends one completed turn.
	 * @return the result, or null if the session is not in the state that this short way
	 * requires; the transaction must then be rolled back
	 */
	@Nullable CommitResult append(Connection connection, EncodedCommit commit) throws SQLException;

	/**
	 * Takes back what an {@link #append} that has failed has left unfinished.
	 * @return whether it may have written its turn all the same
	 * @throws SQLException if it cannot be taken back
	 */
	default boolean mayHaveAppended(Connection connection, SQLException failure) throws SQLException {
		return false;
	}

	/**
	 * Returns whether {@link #commit} may make a commit that is not plain.
	 */
	default boolean makes(EncodedCommit commit) {
		return false;
	}

	/**
	 * Makes a commit with one statement, outside of transactions of the caller.
	 * @return the result, or null if it has to be made in the general way. Nothing is
	 * written then
	 * @throws SQLException also if it has to be made in the general way
	 */
	default @Nullable CommitResult commit(Connection connection, EncodedCommit commit) throws SQLException {
		return null;
	}

	/**
	 * Returns whether {@link #append} is one statement, which needs no transaction around
	 * it.
	 */
	boolean appendsInOneStatement();

}
