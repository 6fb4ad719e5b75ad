package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.KeyHash;
import io.sessionkit.internal.row.Micros;
import io.sessionkit.internal.row.TurnIds;
import io.sessionkit.internal.row.TurnRow;
import io.sessionkit.internal.sql.Columns;
import io.sessionkit.internal.sql.Dialect;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.Sql;
import io.sessionkit.internal.sql.Templates;
import io.sessionkit.store.Page;
import org.jspecify.annotations.Nullable;

/**
 * The statements for headers, except for appending turns: creates, locks, writes, lists
 * and erases them.
 */
final class SessionStatements {

	/** A header and the progress of one of its turns. */
	private static final String SEEN = """
			select {now}, case when {live} then 1 else 0 end, {header}, coalesce(p.turn_no, g.turn_no),
				coalesce(p.parts, g.parts), coalesce(p.status, g.status)
			from {session} s
				left join {turn} p on p.session_pk = s.pk and p.turn_no = :place and {exact p.turn_id} = {exact :turn}
				left join {turn} g on g.session_pk = s.pk and g.given_id = {exact :turn}
			where s.key_hash = :key
			""";

	private final @Nullable Sql touch;

	private final Sql locked;

	private final @Nullable Sql plain;

	private final Sql seen;

	private final Sql create;

	private final Sql write;

	private final Sql ofOwner;

	private final Sql pk;

	private final List<Sql> erase;

	private final Sql expired;

	private final Sql purgeLater;

	private final Sql eraseExpired;

	SessionStatements(Templates templates) {
		String columns = "select {now}, case when {live} then 1 else 0 end, {header} from {session} s "
				+ "where s.key_hash = :key ";
		Dialect dialect = templates.dialect();
		this.touch = dialect.locksByWriting()
				? templates.sql("update {session} set version = version where key_hash = :key") : null;
		this.locked = templates.sql(columns + "{lock}");
		this.plain = dialect.isInnoDb() ? templates.sql(columns) : null;
		this.seen = templates.sql(SEEN);
		this.create = templates.sql("insert into {session} (" + AppendPhrases.HEADER_COLUMNS
				+ """
						) values (:key, :incarnation, :ownerHash, :owner, :id, 0, 0, 0, :branch, 0, 1, 0,
							0, 0, null, 0, 0, 0, null, null, null, null, :ttl, :stamp, {statementTime}, {statementTime}, {statementTime} + :ttl, {statementTime} + :purge)
						{new}
						""");
		this.write = templates
			.sql("""
					update {session} set version = :version, turns = :turns, items = :items, branch = :branch,
						head = :head, run_lo = :runLo, run_parent = :runParent, open_turn = :openTurn,
						summary_turn = :summaryTurn, summary_id = :summaryId, view_turns = :viewTurns, view_items = :viewItems,
						view_tokens = :viewTokens, title = :title, tags = :tags, settings = :settings,
						attributes = :attributes, ttl = :ttl, stamp = :stamp,
						updated_at = :updatedAt, expires_at = :expiresAt,
						purge_at = case when purge_at >= :expiresAt and purge_at <= :purgeAt then purge_at else :purgeAt end
					where pk = :pk and version = :seenVersion and turns = :seenTurns and items = :seenItems
					""");
		this.ofOwner = templates.sql("""
				select {header}, s.owner, s.id from {session} s where s.owner_hash = :owner and {live}
				order by s.updated_at desc, s.pk desc {page}
				""");
		this.pk = templates
			.sql("select s.pk, case when {live} then 1 else 0 end from {session} s where s.key_hash = :key {lock}");
		this.erase = List.of(templates.sql("delete from {item} where session_pk = :pk"),
				templates.sql("delete from {turn} where session_pk = :pk"),
				templates.sql("delete from {record} where session_pk = :pk"),
				templates.sql("delete from {session} where pk = :pk"));
		this.expired = templates
			.sql("select s.pk from {session} s where s.purge_at <= {statementTime} order by s.purge_at {limit}");
		this.purgeLater = templates.sql("update {session} set purge_at = expires_at where pk = :pk"
				+ " and purge_at <= {now} and (expires_at is null or expires_at > {now})");
		this.eraseExpired = templates.sql("delete from {session} where pk = :pk and expires_at <= {now}");
	}

	/**
	 * A header as it was found.
	 *
	 * @param now the time of the database
	 * @param live whether it has not expired
	 * @param header the header
	 */
	record Found(long now, boolean live, HeaderRow header) {

		private static Found read(ResultSet row) throws SQLException {
			return new Found(row.getLong(1), row.getInt(2) == 1, Columns.header(row, 3));
		}

	}

	/**
	 * Returns the header, expired or not, and keeps others from writing it until the
	 * transaction ends.
	 */
	@Nullable Found locked(Connection connection, String key) throws SQLException {
		Params params = Params.of("key", key);
		if (!touched(connection, params)) {
			return null;
		}
		Found found = this.locked.first(connection, params, Found::read);
		if (found != null && this.plain != null) {
			checkNotOlder(found.header(), this.plain.first(connection, params, Found::read));
		}
		return found;
	}

	/**
	 * Locks the row by writing it unchanged, if a select cannot lock. Returns false if
	 * the session is absent: no lock would protect what is read of it.
	 */
	private boolean touched(Connection connection, Params params) throws SQLException {
		return this.touch == null || this.touch.update(connection, params) > 0;
	}

	/**
	 * Checks that the transaction sees the header that was locked. A transaction that
	 * still reads data as of its beginning would otherwise read rows that do not match
	 * that header.
	 */
	private static void checkNotOlder(HeaderRow locked, @Nullable Found plain) throws SQLException {
		if (plain == null || !plain.header().equals(locked)) {
			throw new SQLException("The session was written after the transaction had begun to read.", "40001");
		}
	}

	/**
	 * A header as it was seen, and the attributes of one of its turns.
	 *
	 * @param session the header
	 * @param turn the progress of the turn; null if there is no such turn
	 */
	record Seen(Found session, @Nullable Progress turn) {

		private static Seen read(ResultSet row) throws SQLException {
			Long number = Columns.number(row, 27);
			Progress turn = (number != null)
					? new Progress(number, row.getInt(28), TurnRow.status(row.getString(29)).isOpen()) : null;
			return new Seen(Found.read(row), turn);
		}

	}

	/**
	 * The progress of a turn.
	 *
	 * @param number its number
	 * @param parts how many parts of it are stored
	 * @param open whether it can take more parts
	 */
	record Progress(long number, int parts, boolean open) {

		static Progress of(TurnRow turn) {
			return new Progress(turn.number(), turn.parts(), turn.status().isOpen());
		}

	}

	/**
	 * Returns the header, expired or not, and the progress of one of its turns, both as
	 * of one moment.
	 */
	@Nullable Seen seen(Connection connection, String key, String turn) throws SQLException {
		return this.seen.first(connection, Params.of("key", key).with("turn", turn).with("place", TurnIds.place(turn)),
				Seen::read);
	}

	/**
	 * Creates an empty session of version 0.
	 * @return false if there is a session by now
	 */
	boolean create(Connection connection, EncodedCommit commit) throws SQLException {
		return this.create.insert(connection,
				Params.of("key", commit.key().session())
					.with("incarnation", commit.incarnation())
					.with("ownerHash", commit.key().owner())
					.with("owner", commit.commit().key().owner())
					.with("id", commit.commit().key().id())
					.with("branch", Session.MAIN)
					.number("ttl", commit.firstTimeToLive())
					.with("stamp", commit.stamp())
					.number("purge", Micros.withSlack(commit.firstTimeToLive())));
	}

	/**
	 * Writes a header.
	 * @param stamp its new stamp
	 * @return false if the stored header is no longer the one that was seen
	 */
	boolean write(Connection connection, HeaderRow seen, HeaderRow header, long stamp) throws SQLException {
		HeaderRow.Path path = header.path();
		return this.write.update(connection,
				Params.of("pk", header.pk())
					.with("version", header.version())
					.with("turns", header.turns())
					.with("items", header.items())
					.with("branch", header.branch())
					.with("head", path.head())
					.with("runLo", path.runLo())
					.with("runParent", path.runParent())
					.with("openTurn", header.openTurn())
					.with("summaryTurn", path.summary())
					.with("summaryId", path.summaryId())
					.with("viewTurns", header.totals().turns())
					.with("viewItems", header.totals().items())
					.with("viewTokens", header.totals().tokens())
					.text("title", header.title())
					.text("tags", header.tags())
					.text("settings", header.settings())
					.text("attributes", header.attributes())
					.number("ttl", header.life().timeToLive())
					.with("stamp", stamp)
					.with("updatedAt", header.life().updated())
					.number("expiresAt", header.life().expires())
					.number("purgeAt", header.life().purge())
					.with("seenVersion", seen.version())
					.with("seenTurns", seen.turns())
					.with("seenItems", seen.items())) == 1;
	}

	/**
	 * A header and the key that it was found under.
	 */
	record Keyed(SessionKey key, HeaderRow header) {
	}

	List<Keyed> of(Connection connection, String owner, Page page) throws SQLException {
		if (page.limit() == 0) {
			return List.of();
		}
		Params params = Params.of("owner", KeyHash.ofOwner(owner))
			.with("limit", (long) page.limit())
			.with("offset", (long) page.offset());
		return this.ofOwner.all(connection, params, (row) -> new Keyed(key(row, 25), Columns.header(row, 1)));
	}

	/** Reads the key from two columns. Oracle stores an empty owner as null. */
	static SessionKey key(ResultSet row, int owner) throws SQLException {
		return new SessionKey(Objects.requireNonNullElse(row.getString(owner), ""), row.getString(owner + 1));
	}

	/**
	 * A session that was erased.
	 *
	 * @param pk the primary key that its rows referred to
	 * @param lived whether it had not expired
	 */
	record Erased(long pk, boolean lived) {

		private static Erased read(ResultSet row) throws SQLException {
			return new Erased(row.getLong(1), row.getInt(2) == 1);
		}

	}

	/**
	 * Erases a session and its rows, if it exists, expired or not.
	 * @return what was erased; null if it did not exist
	 */
	@Nullable Erased erase(Connection connection, String key) throws SQLException {
		Params params = Params.of("key", key);
		Erased found = touched(connection, params) ? this.pk.first(connection, params, Erased::read) : null;
		if (found != null) {
			erase(connection, found.pk());
		}
		return found;
	}

	/**
	 * Returns sessions that have expired; those that expired first come first.
	 */
	List<Long> expired(Connection connection, int limit) throws SQLException {
		return this.expired.all(connection, Params.of("limit", (long) limit), (row) -> row.getLong(1));
	}

	/**
	 * Erases a session and its rows if it has expired. The row of the session is deleted
	 * first: a writer to it then waits, and finds that it is gone.
	 * @return whether it existed and had expired
	 */
	boolean eraseExpired(Connection connection, long session) throws SQLException {
		if (this.eraseExpired.update(connection, Params.of("pk", session)) == 0) {
			return false;
		}
		erase(connection, session);
		return true;
	}

	/**
	 * Lets a session that was found expired, but is not, be found when it has expired.
	 * Somebody has changed that by hand, and one such session after the other would keep
	 * those from being found that have expired since.
	 */
	boolean purgeLater(Connection connection, long session) throws SQLException {
		return this.purgeLater.update(connection, Params.of("pk", session)) > 0;
	}

	void erase(Connection connection, long session) throws SQLException {
		for (Sql statement : this.erase) {
			statement.update(connection, Params.of("pk", session));
		}
	}

}
