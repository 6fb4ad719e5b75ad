package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.sessionkit.Session;
import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.KnownView;
import io.sessionkit.internal.row.OpenedRows;
import io.sessionkit.store.Commit.Expect;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * Appends and reads turns in plain SQL, for every other database: one statement to open
 * and one more for each jump of the path; three to commit.
 */
final class PortableStatements implements HotStatements {

	private static final int ATTEMPTS = 20;

	/**
	 * The header and its summary, and the newest items of the run that ends at the head.
	 */
	private static final String OPEN_HEADER = """
			select {kind} as kind, {header} from {session} s where s.key_hash = :key and {live}
			union all
			select 1, r.revision, r.written_at, r.expires_at, null, null, null, null, null, null, null, null, null,
				null, null, null, null, null, null, null, null, {noText}, {noText}, r.payload
			from {session} s join {record} r on r.session_pk = s.pk and r.kind = 'checkpoint' and r.id = {exact s.cp_id}
				and (r.expires_at is null or r.expires_at > {now})
			where s.key_hash = :key and {live} and {changed}
			""";

	private static final String OPEN = OPEN_HEADER + """
			union all
			select 2, i.seq, i.turn_no, i.recorded_at, i.tokens, null, null, null, null, null, null, null, null,
				null, null, null, null, null, null, null, null, {noText}, {noText}, i.body
			from (
				select i.seq, i.turn_no, i.recorded_at, i.tokens, i.body
				from {session} s join {item} i on i.session_pk = s.pk
					and i.turn_no >= case when s.head - :turns + 1 > s.run_lo
						then case when s.head - :turns > s.cp then s.head - :turns + 1 else s.cp + 1 end
						else case when s.run_lo > s.cp then s.run_lo else s.cp + 1 end end
					and i.turn_no <= s.head
				where s.key_hash = :key and {live} and {changed}
				order by i.turn_no desc, i.seq desc {limit}) i
			order by 1, 3, 2
			""";

	private static final String HEADER = """
			select {header} from {session} s where s.key_hash = :key and {live}
			""";

	/** The start of a run, its parent, and its newest items. */
	private static final String RUN = """
			select 0 as kind, t.run_lo, t.run_parent, null, null, {noText}
			from {turn} t where t.session_pk = :pk and t.turn_no = :hi
			union all
			select 2, i.seq, i.turn_no, i.recorded_at, i.tokens, i.body from (
				select i.seq, i.turn_no, i.recorded_at, i.tokens, i.body
				from {turn} t join {item} i on i.session_pk = t.session_pk
					and i.turn_no >= case when t.run_lo > :lo then t.run_lo else :lo end and i.turn_no <= :hi
				where t.session_pk = :pk and t.turn_no = :hi and i.seq < :before
				order by i.turn_no desc, i.seq desc {limit}) i
			order by 1, 3, 2
			""";

	/**
	 * Has no alias, because SQL Server and SQLite each write aliases in their own way.
	 */
	private static final String APPEND = """
			update {session} set {raise}
			where key_hash = :key and version = :version and turns = :turns and items = :items
				and incarnation = :incarnation and open_turn = 0 and (expires_at is null or expires_at > {now})
			""".replace("{raise}", AppendPhrases.RAISE_HEADER).replace("{moment}", "{now}");

	private static final String UNLESS_STORED = """
			and not exists (select 1 from {turn} t where t.session_pk = pk and t.turn_id = :turn)
			""";

	/**
	 * Returns the statement that appends. On InnoDB only the key of the turn reveals a
	 * repeated turn: looking for the turn would lock the place where it would be.
	 */
	static String append(Dialect dialect) {
		return dialect.isInnoDb() ? APPEND : APPEND + UNLESS_STORED;
	}

	static final String CREATE = """
			insert into {session} ({headerColumns})
				values ({firstHeader})
			""".replace("{headerColumns}", AppendPhrases.HEADER_COLUMNS)
		.replace("{firstHeader}", AppendPhrases.FIRST_HEADER)
		.replace("{moment}", "{statementTime}");

	private static final String TURN = """
			insert into {turn} ({turnColumns})
				select {turnOfHeader} from {session} s where s.key_hash = :key
			""".replace("{turnColumns}", AppendPhrases.TURN_COLUMNS)
		.replace("{turnOfHeader}", AppendPhrases.TURN_OF_HEADER);

	private static final String ITEM = """
			insert into {item} ({itemColumns})
				select s.pk, :turn, :seq, :role, :at, :tokens, :body from {session} s where s.key_hash = :key
			""".replace("{itemColumns}", AppendPhrases.ITEM_COLUMNS);

	private final Templates templates;

	/** Null on a server, where each statement is a round trip. */
	private final @Nullable PlainOpening plain;

	private final Sql open;

	private final Sql openHeader;

	private final Sql header;

	private final Sql run;

	private final Sql append;

	private final Sql create;

	private final Sql turn;

	private final Sql item;

	PortableStatements(Templates templates) {
		this.templates = templates;
		this.plain = templates.dialect().runsInProcess() ? new PlainOpening(templates) : null;
		this.open = templates.sql(OPEN);
		this.openHeader = templates.sql(OPEN_HEADER + "order by 1");
		this.header = templates.sql(HEADER);
		this.run = templates.sql(RUN);
		this.append = templates.sql(append(templates.dialect()));
		this.create = templates.sql(CREATE);
		this.turn = templates.sql(TURN);
		this.item = templates.sql(ITEM);
	}

	@Override
	public boolean appendsInOneStatement() {
		return false;
	}

	/**
	 * Reads with several statements, whose results belong together if the header has not
	 * moved since.
	 */
	@Override
	public @Nullable OpenedRows open(Connection connection, String key, Window window, KnownView known)
			throws SQLException {
		for (int i = 1; i < ATTEMPTS; i++) {
			OpenedCollector rows = (this.plain != null) ? this.plain.read(connection, key, window, known)
					: newest(connection, key, window, known);
			HeaderRow header = rows.header();
			if (header == null || rows.isUnchanged()) {
				return rows.opened();
			}
			RunWalk walk = new RunWalk(header, window);
			walk.read(rows.items());
			if (!rows.isOutdated() && walkToEnd(connection, key, header, walk)) {
				return rows.opened(walk.wholeTurns(window));
			}
		}
		throw new SQLException("The session was written all the time while it was read.", "40001");
	}

	/**
	 * Reads the header, its summary and the newest items, in one statement.
	 */
	private OpenedCollector newest(Connection connection, String key, Window window, KnownView known)
			throws SQLException {
		OpenedCollector rows = OpenedCollector.ofHeaderColumns();
		Params params = known(known).with("key", key)
			.with("turns", (long) window.turns())
			.with("limit", RunWalk.oneMore(window));
		(window.isEmpty() ? this.openHeader : this.open).each(connection, params, rows);
		return rows;
	}

	static Params known(KnownView known) {
		return Params.of("stamp", known.stamp())
			.with("summaryRevision", known.summaryRevision())
			.with("summaryAt", known.summaryWrittenAt());
	}

	/**
	 * Walks the rest of the path, if one is left.
	 * @return false if the header has moved meanwhile
	 */
	private boolean walkToEnd(Connection connection, String key, HeaderRow header, RunWalk walk) throws SQLException {
		if (!walk.hasNext()) {
			return true;
		}
		walk(connection, walk);
		return isUnchanged(connection, key, header);
	}

	@Override
	public List<ItemRow> log(Connection connection, String key, Tail tail) throws SQLException {
		for (int i = 1; i < ATTEMPTS; i++) {
			HeaderRow header = header(connection, key);
			if (header == null || tail.limit() == 0) {
				return List.of();
			}
			RunWalk walk = new RunWalk(header, tail);
			walk(connection, walk);
			if (isUnchanged(connection, key, header)) {
				return walk.items();
			}
		}
		throw new SQLException("The session was written all the time while it was read.", "40001");
	}

	private void walk(Connection connection, RunWalk walk) throws SQLException {
		while (walk.hasNext()) {
			RunCollector run = new RunCollector(walk);
			this.run.each(connection, walk.params(), run);
			run.finish();
		}
	}

	private boolean isUnchanged(Connection connection, String key, HeaderRow seen) throws SQLException {
		HeaderRow now = header(connection, key);
		return now != null && now.pk() == seen.pk() && now.version() == seen.version();
	}

	private @Nullable HeaderRow header(Connection connection, String key) throws SQLException {
		return this.header.first(connection, Params.of("key", key), (row) -> Columns.header(row, 1));
	}

	@Override
	public @Nullable CommitResult append(Connection connection, EncodedCommit commit) throws SQLException {
		if (!writeTurn(connection, commit)) {
			return null;
		}
		Session base = commit.commit().base();
		EncodedCommit.EncodedTurn turn = commit.plainTurn();
		long number = (base != null) ? base.turns() + 1 : 1;
		long sequence = (base != null) ? base.items() + 1 : 1;
		writeItems(connection, turn,
				Params.of("key", commit.key().session()).with("turn", number).with("seq", sequence));
		return new CommitResult(Outcome.COMMITTED, (base != null) ? base.version() + 1 : 1, number,
				turn.items().isEmpty() ? 0 : sequence);
	}

	/**
	 * Writes the header and the turn.
	 * @return false if the commit has to be made in another way
	 */
	private boolean writeTurn(Connection connection, EncodedCommit commit) throws SQLException {
		Params params = AppendPhrases.params(commit);
		Sql header = (commit.commit().expect() == Expect.ABSENT) ? this.create : this.append;
		try {
			if (commit.commit().expect() == Expect.ANY || header.update(connection, params) == 0) {
				return false;
			}
			this.turn.update(connection, params);
			return true;
		}
		catch (SQLException ex) {
			// another writer was faster to create the session or to add the turn
			if (SqlErrors.isDuplicateKey(ex)) {
				return false;
			}
			throw ex;
		}
	}

	private void writeItems(Connection connection, EncodedCommit.EncodedTurn turn, Params first) throws SQLException {
		if (this.templates.dialect().sendsBatchesOneByOne()) {
			insertAtOnce(connection, turn, first);
		}
		else {
			insertAsBatch(connection, turn, first);
		}
	}

	private void insertAsBatch(Connection connection, EncodedCommit.EncodedTurn turn, Params first)
			throws SQLException {
		long sequence = (long) Objects.requireNonNull(first.get("seq"));
		List<Params> items = new ArrayList<>();
		for (NewItem item : turn.items()) {
			Params params = AppendPhrases.item(item, turn.bodies().get(items.size())).all(first);
			items.add(params.with("seq", sequence + items.size()));
		}
		this.item.updateAll(connection, items);
	}

	private void insertAtOnce(Connection connection, EncodedCommit.EncodedTurn turn, Params first) throws SQLException {
		if (!turn.items().isEmpty()) {
			String session = "(select s.pk from {session} s where s.key_hash = :key)";
			String rows = MultiRow.values(turn.items().size(), session, ":turn", ":seq");
			this.templates.sql("insert into {item} (" + AppendPhrases.ITEM_COLUMNS + ") values " + rows)
				.update(connection, MultiRow.params(turn).all(first));
		}
	}

}
