package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

import io.sessionkit.Session;
import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.KnownView;
import io.sessionkit.internal.row.NewItems;
import io.sessionkit.internal.row.OpenedRows;
import io.sessionkit.internal.row.TurnIds;
import io.sessionkit.internal.sql.Columns;
import io.sessionkit.internal.sql.Dialect;
import io.sessionkit.internal.sql.OpenedCollector;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.PathItems;
import io.sessionkit.internal.sql.RunWalk;
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
 * Appends and reads turns in plain SQL, for every other database: one statement to open
 * and one more for each jump of the path; three to commit.
 */
final class PortableStatements implements HotStatements {

	/** No session has it, not even one whose stamp somebody has set by hand to 0. */
	private static final long NO_STAMP = -1;

	/** The header, and its summary if the view is not the known one. */
	private static final String OPEN_HEADER = """
			select {kind}, {header} from {session} s where s.key_hash = :key and {live}
			union all
			select 1, r.revision, r.written_at, r.expires_at, null, null, null, null, null, null, null, null, null,
				null, null, null, null, s.stamp, null, null, null, {noText}, {noText}, {noText}, r.payload
			from {session} s join {record} r on r.session_pk = s.pk and r.kind = 'summary' and r.id = {exact s.summary_id}
				and (r.expires_at is null or r.expires_at > {now})
			where s.key_hash = :key and {live} and {kind} = 0
			""";

	/**
	 * The header and its summary, and the newest turns of the run that ends at the head.
	 */
	private static final String OPEN = OPEN_HEADER + """
			union all
			select 2, t.turn_no, t.first_item, t.items, t.apart, null, null, null, null, null, null, null, null,
				null, null, null, null, t.stamp, null, null, null, {noText}, {noText}, {noText}, t.body
			from (
				select {turnItems}, s.stamp
				from {session} s join {turn} t on t.session_pk = s.pk and t.items > 0
					and t.turn_no >= case when s.head - :turns + 1 > s.run_lo
						then case when s.head - :turns > s.summary_turn then s.head - :turns + 1
							else s.summary_turn + 1 end
						else case when s.run_lo > s.summary_turn then s.run_lo else s.summary_turn + 1 end end
					and t.turn_no <= s.head
				where s.key_hash = :key and {live} and {kind} <> 3 and t.turn_no > {known}
				order by t.turn_no desc {limit}) t
			order by 1
			""";

	private static final String HEADER = """
			select {header} from {session} s where s.key_hash = :key and {live}
			""";

	/**
	 * Has no alias, because SQL Server and SQLite each write aliases in their own way.
	 */
	private static final String APPEND = """
			update {session} set {raise}
			where key_hash = :key and version = :version and turns = :turns and items = :items
				and incarnation = :incarnation and open_turn = 0 and (expires_at is null or expires_at > {now})
			""".replace("{raise}", AppendPhrases.RAISE_HEADER).replace("{moment}", "{now}");

	/**
	 * Returns the statement that appends. On InnoDB only the key of the turn reveals a
	 * repeated turn: looking for the turn would lock the place where it would be.
	 */
	static String append(Dialect dialect) {
		return dialect.isInnoDb() ? APPEND : APPEND + AppendPhrases.unlessStored("");
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
		.replace("{turnOfHeader}", AppendPhrases.TURN_OF_HEADER)
		.replace("{given}", "{exact :given}");

	private static final String ITEM = """
			insert into {item} ({itemColumns})
				select s.pk, :turn, :seq, :at, :tokens, :body from {session} s where s.key_hash = :key
			""".replace("{itemColumns}", AppendPhrases.ITEM_COLUMNS);

	/** What was read of a session that no write has come between. */
	private record Read(OpenedCollector rows, List<ItemRow> items) {
	}

	private final Templates templates;

	/** Null on a server, where each statement is a round trip. */
	private final @Nullable PlainOpening plain;

	private final Sql open;

	private final Sql openHeader;

	private final Sql header;

	private final PathItems path;

	private final TurnSearch search;

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
		this.path = new PathItems(templates);
		this.search = new TurnSearch(templates);
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
		Read read = PathReading.settled(() -> read(connection, key, window, known));
		return read.rows().opened(read.items());
	}

	private Optional<Read> read(Connection connection, String key, Window window, KnownView known) throws SQLException {
		OpenedCollector rows = (this.plain != null) ? this.plain.read(connection, key, window, known)
				: newest(connection, key, window, known);
		HeaderRow header = rows.header();
		if (header == null || rows.isUnchanged() || window.isEmpty()) {
			return Optional.of(new Read(rows, List.of()));
		}
		RunWalk walk = new RunWalk(header, rows.floor(), window);
		walk.read(header.path().runLo(), header.path().runParent(), rows.turns());
		return (!rows.isOutdated() && walkToEnd(connection, key, header, walk))
				? Optional.of(new Read(rows, walk.wholeTurns(window))) : Optional.empty();
	}

	/**
	 * Reads the header, its summary and the newest turns, in one statement.
	 */
	private OpenedCollector newest(Connection connection, String key, Window window, KnownView known)
			throws SQLException {
		OpenedCollector rows = new OpenedCollector();
		Params params = known(known).with("key", key)
			.with("turns", (long) window.turns())
			.with("limit", RunWalk.turnsFor(window));
		(window.isEmpty() ? this.openHeader : this.open).each(connection, params, rows);
		return rows;
	}

	static Params known(KnownView known) {
		return Params.of("stamp", (known.stamp() != 0) ? known.stamp() : NO_STAMP)
			.with("summaryRevision", known.summaryRevision())
			.with("summaryAt", known.summaryWrittenAt());
	}

	/**
	 * Walks the rest of the path, and reads the items in rows of their own, if some are
	 * left.
	 * @return false if the header has moved meanwhile
	 */
	private boolean walkToEnd(Connection connection, String key, HeaderRow header, RunWalk walk) throws SQLException {
		if (!walk.hasNext() && walk.apart().isEmpty()) {
			return true;
		}
		this.path.walk(connection, walk);
		return isUnchanged(connection, key, header);
	}

	@Override
	public List<ItemRow> log(Connection connection, String key, Tail tail) throws SQLException {
		return PathReading.settled(() -> {
			HeaderRow header = header(connection, key);
			if (header == null || tail.limit() == 0) {
				return Optional.of(List.of());
			}
			RunWalk walk = new RunWalk(header, tail, newestBefore(connection, header, tail));
			this.path.walk(connection, walk);
			return isUnchanged(connection, key, header) ? Optional.of(walk.items(tail.limit())) : Optional.empty();
		});
	}

	private long newestBefore(Connection connection, HeaderRow header, Tail tail) throws SQLException {
		return (tail.before() > header.items()) ? header.turns()
				: this.search.newestBefore(connection, header.pk(), header.turns(), tail.before());
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
		NewItems items = NewItems.of(commit.plainTurn());
		Session base = commit.commit().base();
		long number = (base != null) ? base.turns() + 1 : 1;
		if (!writeTurn(connection, commit, number, items)) {
			return null;
		}
		long sequence = (base != null) ? base.items() + 1 : 1;
		writeApart(connection, items.apart(),
				Params.of("key", commit.key().session()).with("turn", number).with("seq", sequence));
		return new CommitResult(Outcome.COMMITTED, (base != null) ? base.version() + commit.step() : 1, number,
				commit.plainTurn().items().isEmpty() ? 0 : sequence);
	}

	/**
	 * Returns whether only its number reveals that the turn is stored already, where the
	 * key of ids has to reveal it: the driver of MariaDB, by which the same tables may
	 * have been written, leaves those ids out of the key that name the number.
	 */
	private boolean mayBeStored(EncodedCommit commit, long number) {
		long place = TurnIds.place(commit.plainTurn().turn().id());
		return this.templates.dialect().isInnoDb() && place > 0 && place < number;
	}

	/**
	 * Writes the header and the turn.
	 * @return false if the commit has to be made in another way
	 */
	private boolean writeTurn(Connection connection, EncodedCommit commit, long number, NewItems items)
			throws SQLException {
		if (mayBeStored(commit, number)) {
			return false;
		}
		Params params = AppendPhrases.params(commit, items)
			.with("given", this.templates.dialect().givenId(commit.plainTurn().turn().id(), number));
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

	private void writeApart(Connection connection, List<NewItems.Apart> items, Params turn) throws SQLException {
		if (items.isEmpty()) {
			return;
		}
		if (this.templates.dialect().sendsBatchesOneByOne()) {
			String session = "(select s.pk from {session} s where s.key_hash = :key)";
			String rows = MultiRow.values(items.size(), session, ":turn", ":seq");
			this.templates.sql("insert into {item} (" + AppendPhrases.ITEM_COLUMNS + ") values " + rows)
				.update(connection, MultiRow.params(items).all(turn));
		}
		else {
			long first = (long) Objects.requireNonNull(turn.get("seq"));
			this.item.updateAll(connection,
					items.stream()
						.map((item) -> AppendPhrases.item(item).all(turn).with("seq", first + item.place()))
						.toList());
		}
	}

}
