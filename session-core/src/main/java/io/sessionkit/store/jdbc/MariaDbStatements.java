package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.KnownView;
import io.sessionkit.internal.row.NewItems;
import io.sessionkit.internal.row.OpenedRows;
import io.sessionkit.internal.sql.Dialect;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.Sql;
import io.sessionkit.internal.sql.SqlErrors;
import io.sessionkit.internal.sql.Templates;
import io.sessionkit.store.Commit.Expect;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * Commits with one compound statement that contains a transaction, or a savepoint if the
 * caller has a transaction. Reads like every other database.
 * <p>
 * The transaction reads committed data, and looks for the turn before it writes. Under
 * <code>REPEATABLE READ</code>, the default, a write that looks for the turn itself would
 * lock the place where the turn would be, and with it turns of other sessions. A subquery
 * in a condition locks too; a select into a variable does not.
 * <p>
 * If the server ends the statement between two of those that it is made of, by a limit of
 * time or by hand, no handler in it runs: the transaction stays open on the connection,
 * or is committed already. Other errors may end it so too. So after each failure what is
 * open is rolled back, and the turn is looked for; but not in a transaction of the caller
 * that other writers have kept from going on: it has to be made again as a whole. If that
 * connection commits by itself, a transaction that the caller has begun there by SQL is
 * rolled back with it.
 */
final class MariaDbStatements implements HotStatements {

	/**
	 * The statement that appends a turn. A deadlock rolls back the whole transaction,
	 * including the savepoint, so rolling back to the savepoint may fail. The error that
	 * is raised is the first one.
	 */
	private static final String APPEND = """
			begin not atomic
				declare sk_own boolean default @@autocommit = 1 and @@in_transaction = 0;
				declare sk_stored, sk_seen, sk_written, sk_pk, sk_version, sk_turn, sk_items bigint;
				declare exit handler for sqlexception begin
					begin
						declare continue handler for sqlexception begin end;
						if sk_own then
							rollback;
						else
							rollback to savepoint sessionkit_append;
							release savepoint sessionkit_append;
						end if;
					end;
					resignal;
				end;
				if sk_own then
					set transaction isolation level read committed;
					start transaction;
				else
					savepoint sessionkit_append;
				end if;
				select count(*), max(s.version), max(s.turns), max(s.items), count(p.turn_id) + count(g.turn_id)
					into sk_seen, sk_version, sk_turn, sk_items, sk_stored
					from {session} s
					left join {turn} p on p.session_pk = s.pk and p.turn_no = :place and p.turn_id = :turn
					left join {turn} g on g.session_pk = s.pk and g.given_id = :turn
					where s.key_hash = :key;
				if sk_stored = 0 then
					{writeHeader};
				end if;
				if sk_written = 1 then
					insert into {turn} ({turnColumns})
						select {turnOfHeader} from {session} s where s.key_hash = :key;
					select s.pk, s.version, s.turns, s.items into sk_pk, sk_version, sk_turn, sk_items
						from {session} s where s.key_hash = :key;
					{writeItems}
					if sk_own then commit; else release savepoint sessionkit_append; end if;
					select sk_version, sk_turn, sk_items;
				else
					if sk_own then rollback; else release savepoint sessionkit_append; end if;
					select 0, 0, 0 from dual where false;
				end if;
			end
			""".replace("{turnColumns}", AppendPhrases.TURN_COLUMNS)
		.replace("{turnOfHeader}", AppendPhrases.TURN_OF_HEADER)
		.replace("{given}", AppendPhrases.GIVEN);

	/**
	 * Writes to the existing session, or creates one. A plain read looks whether the
	 * session exists. If a duplicate key shows that it exists after all, the statement
	 * runs again with <code>:there</code> set.
	 */
	private static final String ANY = """
			if :there or sk_seen = 1 then
				update {session} set {raise}
				where key_hash = :key and version = sk_version and turns = sk_turn and items = sk_items
					and open_turn = 0 and (expires_at is null or expires_at > {now});
				set sk_written = row_count();
			else
				{create};
				set sk_written = row_count();
			end if
			""".replace("{raise}", AppendPhrases.RAISE_HEADER)
		.replace("{moment}", "{now}")
		.replace("{create}", PortableStatements.CREATE);

	/** Without a savepoint nothing is unfinished. */
	private static final String UNDO = """
			begin not atomic
				declare continue handler for 1305 begin end;
				rollback to savepoint sessionkit_append;
				release savepoint sessionkit_append;
			end
			""";

	private static final String WRITTEN = """
			;
			set sk_written = row_count()""";

	private final Templates templates;

	private final PortableStatements portable;

	/** The statements for turns whose items are all in their row, as nearly all are. */
	private final Map<Expect, Sql> appends = new ConcurrentHashMap<>();

	MariaDbStatements(Templates templates) {
		this.templates = templates;
		this.portable = new PortableStatements(templates);
	}

	@Override
	public boolean appendsInOneStatement() {
		return true;
	}

	@Override
	public @Nullable OpenedRows open(Connection connection, String key, Window window, KnownView known)
			throws SQLException {
		return this.portable.open(connection, key, window, known);
	}

	@Override
	public List<ItemRow> log(Connection connection, String key, Tail tail) throws SQLException {
		return this.portable.log(connection, key, tail);
	}

	@Override
	public @Nullable CommitResult append(Connection connection, EncodedCommit commit) throws SQLException {
		NewItems items = NewItems.of(commit.plainTurn());
		int count = commit.plainTurn().items().size();
		Params params = AppendPhrases.params(commit, items).all(MultiRow.params(items.apart()));
		Sql append = append(commit.commit().expect(), count, items.apart().size());
		for (boolean there : new boolean[] { false, true }) {
			try {
				return append.first(connection, params.with("there", there), (row) -> committed(row, count));
			}
			catch (SQLException ex) {
				// another writer was faster to create the session or to add the turn
				if (!SqlErrors.isDuplicateKey(ex)) {
					throw ex;
				}
			}
		}
		return null;
	}

	@Override
	public boolean mayHaveAppended(Connection connection, SQLException failure) throws SQLException {
		if (connection.getAutoCommit()) {
			rollBack(connection);
			return true;
		}
		// what the caller has written before may be gone with the turn, which another
		// transaction may have stored meanwhile
		if (SqlErrors.isConflict(failure)) {
			return false;
		}
		execute(connection, UNDO);
		return true;
	}

	/**
	 * Rolls back, or lets the server do so by ending the connection: no pool rolls back
	 * where each statement commits by itself.
	 */
	private static void rollBack(Connection connection) throws SQLException {
		try {
			execute(connection, "rollback");
		}
		catch (SQLException ex) {
			connection.abort(Runnable::run);
			throw ex;
		}
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	private Sql append(Expect expect, int items, int apart) {
		return (apart > 0) ? made(expect, items, apart)
				: this.appends.computeIfAbsent(expect, (each) -> made(each, 0, 0));
	}

	private Sql made(Expect expect, int items, int apart) {
		String header = switch (expect) {
			case UNCHANGED -> PortableStatements.append(Dialect.MARIADB) + WRITTEN;
			case ABSENT -> PortableStatements.CREATE + WRITTEN;
			case ANY -> ANY;
		};
		String rows = (apart > 0) ? "insert into {item} (" + AppendPhrases.ITEM_COLUMNS + ") values "
				+ MultiRow.values(apart, "sk_pk", "sk_turn", "sk_items - " + (items - 1)) + ";" : "";
		return this.templates.sql(APPEND.replace("{writeHeader}", header).replace("{writeItems}", rows));
	}

	private static CommitResult committed(ResultSet row, int count) throws SQLException {
		return new CommitResult(Outcome.COMMITTED, row.getLong(1), row.getLong(2),
				AppendPhrases.firstItem(row.getLong(3), count));
	}

}
