package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.sessionkit.Session;
import io.sessionkit.SessionException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.KeyHash;
import io.sessionkit.internal.row.RecordPlace;
import io.sessionkit.internal.row.RowReader;
import io.sessionkit.internal.row.TurnRow;
import io.sessionkit.internal.row.ViewCache;
import io.sessionkit.internal.sql.CallerTransactions;
import io.sessionkit.internal.sql.Dialect;
import io.sessionkit.internal.sql.JdbcWork;
import io.sessionkit.internal.sql.SqlErrors;
import io.sessionkit.internal.sql.Templates;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.Page;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.RecordPage;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnView;
import io.sessionkit.store.Window;
import io.sessionkit.store.jdbc.SessionStatements.Erased;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Keeps sessions in PostgreSQL, MariaDB, MySQL, H2, HSQLDB, SQLite, SQL Server or Oracle;
 * any other database is refused by name when the store is first used. So is one that is
 * set up so that texts or names would not be kept as they are (by its encoding or
 * character set, its collation, or a mode of H2 or HSQLDB), that does not take the writes
 * of the store (MariaDB and MySQL with a binary log of statements alone), or whose
 * readers wait for writers (SQL Server without <code>READ_COMMITTED_SNAPSHOT</code>). The
 * tables are created by the scripts beside this class, <code>schema-postgresql.sql</code>
 * and so on, which can be run repeatedly (the one for Oracle from 23ai on).
 * <p>
 * <b>MySQL, SQL Server and Oracle were never tested on a real server.</b> Their
 * statements pass the contract on MariaDB and on the compatible modes of H2, and are
 * checked against their grammars; types, locks and plans are untested.
 * <p>
 * On PostgreSQL a turn is opened with one statement and committed with one, outside of
 * any transaction. MariaDB does so too; there the second statement contains its
 * transaction. On the others, opening a turn takes one statement, plus one for each jump
 * of a branched history (as on MariaDB), and committing takes a short transaction: on a
 * server these are seven round trips.
 * <p>
 * Inside a transaction of the caller, of any transaction manager that binds its
 * connection to the thread, the store joins it. A rollback then removes the turn too,
 * including the record of a failed turn if its exception leaves the transaction. A
 * conflict or a repeated turn leaves the transaction usable. A transaction that SQL has
 * begun, on a connection with auto-commit, is not known to the store, which may commit it
 * or roll it back. Only {@link #put} and {@link #deleteExpired} never join: inside a
 * transaction they need a second connection, so a pool of one is not enough for them
 * there. What is stored after the commit, while its connection is still bound, is
 * committed at once, on a second connection if the transaction only reads; in an
 * <code>afterCommit</code> of a transaction that has not used the store before, only when
 * all that is done then is done.
 * <p>
 * H2 in a file of this process closes its database for everybody when a thread that reads
 * or writes the file is interrupted. The statements of the store run on threads that are
 * never interrupted. A connection is taken and returned on the thread of the caller,
 * which is safe if a pool keeps it open. To protect what the application itself does on
 * that database, and the commit of its own transactions, use <code>jdbc:h2:async:</code>
 * instead of <code>jdbc:h2:file:</code>.
 * <p>
 * An approved tool call runs at most once as long as the database keeps what it has
 * committed. H2 in a file does so only with <code>WRITE_DELAY=0</code> in the URL: by
 * default it writes up to half a second late, and calls that a killed process had claimed
 * may run again.
 * <p>
 * SQLite has one writer at a time. While a transaction of the caller has written,
 * {@link #put} is refused if that was by the store, and waits in vain otherwise, as
 * {@link #deleteExpired} does. A transaction that has read before others wrote cannot
 * write, which is a conflict, unless it began as a writer
 * (<code>transaction_mode=IMMEDIATE</code> in the URL).
 * <p>
 * Expiry and the times of sessions and records are by the clock of the database, to the
 * microsecond (SQLite: to the millisecond).
 * <p>
 * Safe for use by many threads. If the database cannot be reached or refuses a statement,
 * methods throw {@link io.sessionkit.store.StoreUnavailableException}. If a transaction
 * of the caller cannot continue because of other writers (isolation
 * <code>REPEATABLE READ</code> and above, deadlocks), they throw
 * {@link io.sessionkit.SessionConflictException}.
 */
public final class JdbcSessionStore implements SessionStore {

	private static final Log logger = LogFactory.getLog(JdbcSessionStore.class);

	/** The default prefix of the names of the tables. */
	public static final String DEFAULT_TABLE_PREFIX = Templates.DEFAULT_PREFIX;

	/** The number of sessions that can be written at once where writers take turns. */
	private static final int WRITERS = 64;

	/**
	 * The regular expression of a prefix of table names: letters, digits and underscores,
	 * after an optional schema and a dot.
	 */
	public static final String TABLE_PREFIX_PATTERN = Templates.PREFIX_PATTERN;

	private final StoreOptions options;

	private final String tablePrefix;

	private final Object[] writers = Stream.generate(Object::new).limit(WRITERS).toArray();

	private final JdbcWork work;

	private final CallerTransactions callers;

	private final RowReader reader;

	private final ViewCache views;

	private volatile @Nullable Backend backend;

	/**
	 * Creates a store in the tables {@code SESSIONKIT_*}. Does not connect yet.
	 * @param dataSource the source of connections to the database of the tables
	 * @param options codec, clock, turn ids, token estimate and time to live
	 */
	public JdbcSessionStore(DataSource dataSource, StoreOptions options) {
		this(dataSource, options, DEFAULT_TABLE_PREFIX);
	}

	/**
	 * Creates a store in tables with another prefix. Does not connect yet. The scripts
	 * have the default prefix: run a copy with this one.
	 * @param dataSource the source of connections to the database of the tables
	 * @param options codec, clock, turn ids, token estimate and time to live
	 * @param tablePrefix the start of the table names: letters, digits and underscores,
	 * after an optional schema and a dot
	 * @throws IllegalArgumentException if the prefix has other characters
	 */
	public JdbcSessionStore(DataSource dataSource, StoreOptions options, String tablePrefix) {
		this.options = options;
		this.tablePrefix = Templates.checkedPrefix(tablePrefix);
		this.work = new JdbcWork(dataSource);
		this.callers = new CallerTransactions(this.work, () -> backend().dialect().hasOneWriter());
		this.reader = new RowReader(options.codec());
		this.views = new ViewCache(options.viewCache(), options.codec());
	}

	@Override
	public StoreOptions options() {
		return this.options;
	}

	/**
	 * Checks that the tables exist and are those of this version.
	 * @throws io.sessionkit.store.StoreUnavailableException if the database cannot be
	 * reached, or the tables are missing: the message then names the property and the
	 * script that create them
	 * @throws IllegalStateException if the tables are those of another version, or the
	 * database is not one that the store knows, or is set up so that it is refused
	 */
	public void verifySchema() {
		Backend statements = backend();
		this.work.reading((connection) -> {
			statements.schema().verify(connection);
			return true;
		});
	}

	@Override
	public Optional<SessionView> open(SessionKey key, Window window) {
		HotStatements hot = backend().hot();
		String hash = KeyHash.of(key).session();
		return this.views.open(key, window,
				(known) -> reading(key, (connection) -> hot.open(connection, hash, window, known)));
	}

	@Override
	public Optional<PathView> path(SessionKey key, PathQuery query) {
		Paths paths = backend().paths();
		Paths.Rows rows = reading(key, (connection) -> paths.read(connection, key, query));
		return (rows != null) ? Optional.of(view(key, rows)) : Optional.empty();
	}

	private PathView view(SessionKey key, Paths.Rows rows) {
		Session there = this.reader.session(key, rows.there());
		String id = there.summaryId();
		SessionRecord summary = (rows.summary() != null && id != null)
				? rows.summary().record(key, SessionStore.SUMMARY, id) : null;
		return new PathView(this.views.session(key, rows.header()),
				new SessionView(there, summary, this.reader.items(key, rows.items())), rows.next(),
				rows.turns().stream().map((row) -> this.reader.turn(key, row)).toList(), rows.records());
	}

	@Override
	public CommitResult commit(Commit commit) {
		this.callers.checkCommit(commit.key());
		EncodedCommit encoded = EncodedCommit.of(commit, this.options);
		Backend statements = backend();
		CommitResult result = named(commit.key(), () -> byShortestWay(statements, encoded));
		this.views.committed(encoded, result);
		if (result.isStored()) {
			// a repeated one has begun nothing here, but the header may be locked
			boolean now = result.outcome() == CommitResult.Outcome.COMMITTED;
			this.callers.committed(commit, now && begins(commit, result));
		}
		return result;
	}

	private CommitResult byShortestWay(Backend statements, EncodedCommit commit) {
		CommitResult made = commit.isPlain() ? commitShort(statements, commit) : commitAtOnce(statements, commit);
		return (made != null) ? made : commitAsWhole(statements, commit);
	}

	private static boolean begins(Commit commit, CommitResult result) {
		return commit.expect() == Commit.Expect.ABSENT || commit.expect() == Commit.Expect.ANY && result.version() == 1;
	}

	private @Nullable CommitResult commitShort(Backend statements, EncodedCommit commit) {
		HotStatements hot = statements.hot();
		if (hot.appendsInOneStatement()) {
			return this.work.writing((connection) -> append(statements, connection, commit));
		}
		if (commit.commit().expect() == Commit.Expect.ANY) {
			return null;
		}
		return this.work.atomically(null, (connection) -> {
			Optional<CommitResult> result = Optional.ofNullable(hot.append(connection, commit));
			return Optional.of(new JdbcWork.Change<>(result, result.isPresent()));
		}).orElse(null);
	}

	private @Nullable CommitResult commitAtOnce(Backend statements, EncodedCommit commit) {
		HotStatements hot = statements.hot();
		return (hot.makes(commit) && !mayRollBack())
				? this.work.writingOrUndone((connection) -> hot.commit(connection, commit)) : null;
	}

	@Override
	public boolean mayRollBack() {
		return this.work.mayJoin();
	}

	@Override
	public void checkWritable(SessionKey key, boolean here) {
		if (here) {
			this.callers.checkCommit(key);
		}
		else {
			this.callers.checkCommitElsewhere(key);
		}
	}

	@Override
	public void whenRolledBack(Runnable what) {
		this.callers.whenRolledBack(what);
	}

	// Only a writer that has lost reads why.
	private @Nullable CommitResult append(Backend statements, Connection connection, EncodedCommit commit)
			throws SQLException {
		CommitResult result;
		try {
			result = statements.hot().append(connection, commit);
		}
		catch (SQLException ex) {
			CommitResult found = appended(statements, connection, commit, ex);
			// it may be the first turn of this transaction, or an earlier one
			this.callers.committed(commit.commit(), found.version() == 1 && begins(commit.commit(), found));
			return found;
		}
		return (result != null) ? result : statements.general().look(connection, commit);
	}

	/**
	 * Returns the result of a statement that has failed behind what it was to do.
	 * @throws SQLException the failure, if nothing was written
	 */
	private static CommitResult appended(Backend statements, Connection connection, EncodedCommit commit,
			SQLException failure) throws SQLException {
		CommitResult found;
		try {
			found = statements.hot().mayHaveAppended(connection, failure)
					? statements.general().look(connection, commit) : null;
		}
		catch (SQLException ex) {
			throw SqlErrors.isRefused(failure) ? SqlErrors.unknown(failure, ex) : failure;
		}
		if (found == null || found.outcome() != CommitResult.Outcome.REPEATED) {
			throw failure;
		}
		return found;
	}

	private CommitResult commitAsWhole(Backend statements, EncodedCommit commit) {
		Supplier<CommitResult> whole = () -> this.work.atomically(statements.dialect().beginning(),
				(connection) -> statements.general().make(connection, commit));
		return (statements.dialect().losesWaiters() && !mayRollBack()) ? alone(commit.commit().key(), whole)
				: whole.get();
	}

	/**
	 * In a transaction of the caller this could wait for a transaction that waits for it.
	 */
	private <T> T alone(SessionKey key, Supplier<T> access) {
		synchronized (this.writers[Math.floorMod(key.hashCode(), this.writers.length)]) {
			return access.get();
		}
	}

	private <T extends @Nullable Object> T reading(SessionKey key, JdbcWork.Work<T> work) {
		return named(key, () -> this.work.reading(work));
	}

	/** Names the session whose rows are not as they were written. */
	private static <T extends @Nullable Object> T named(SessionKey key, Supplier<T> access) {
		try {
			return access.get();
		}
		catch (UnreadablePayloadException ex) {
			throw new UnreadablePayloadException("Session " + key + " cannot be read: " + ex.getMessage(), ex);
		}
	}

	@Override
	public List<SessionItem> items(SessionKey key, Tail tail) {
		HotStatements hot = backend().hot();
		String hash = KeyHash.of(key).session();
		return this.reader.items(key, reading(key, (connection) -> hot.log(connection, hash, tail)));
	}

	@Override
	public List<SessionItem> items(SessionKey key, long turn) {
		ItemStatements items = backend().tables().items();
		String hash = KeyHash.of(key).session();
		return this.reader.items(key, reading(key, (connection) -> items.ofTurn(connection, hash, turn)));
	}

	@Override
	public List<Turn> turns(SessionKey key, Tail tail) {
		TurnStatements turns = backend().tables().turns();
		String hash = KeyHash.of(key).session();
		List<TurnRow> newest = new ArrayList<>(reading(key, (connection) -> turns.newest(connection, hash, tail)));
		Collections.reverse(newest);
		return newest.stream().map((row) -> this.reader.turn(key, row)).toList();
	}

	@Override
	public Optional<TurnView> turn(SessionKey key, long number, Set<String> kinds) {
		if (kinds.size() > TurnReading.KINDS) {
			List<SessionRecord> records = kinds.stream().flatMap((kind) -> records(key, kind).stream()).toList();
			return turn(key, number, Set.of())
				.map((view) -> new TurnView(view.turn(), view.items(), records, view.attributes()));
		}
		TurnReading reading = backend().reading();
		TurnReading.Rows rows = reading(key, (connection) -> reading.read(connection, key, number, kinds));
		return (rows != null) ? Optional.of(new TurnView(this.reader.turn(key, rows.turn()),
				this.reader.items(key, rows.items()), rows.records(), this.reader.attributes(key, rows.turn())))
				: Optional.empty();
	}

	@Override
	public List<Session> list(String owner, Page page) {
		SessionStatements sessions = backend().tables().sessions();
		return this.work.reading((connection) -> sessions.of(connection, owner, page))
			.stream()
			.map((found) -> this.views.session(found.key(), found.header()))
			.toList();
	}

	@Override
	public boolean erase(SessionKey key) {
		this.callers.checkCommit(key);
		Backend statements = backend();
		SessionStatements sessions = statements.tables().sessions();
		String hash = KeyHash.of(key).session();
		Optional<Erased> erased = this.work.atomically(statements.dialect().beginning(), (connection) -> {
			Optional<Erased> found = Optional.ofNullable(sessions.erase(connection, hash));
			return Optional.of(new JdbcWork.Change<>(found, true));
		});
		this.views.forget(key);
		if (erased.isPresent()) {
			this.callers.erased(key);
		}
		// others may put records of the session until the erasure is committed
		erased.ifPresent((session) -> afterErasure(new ExpiredRows(this.work, statements).lateRecords(session.pk())));
		return erased.filter(Erased::lived).isPresent();
	}

	/**
	 * The session is erased, whatever becomes of this: nobody finds what is left, and the
	 * one who has put it takes it back too.
	 */
	private void afterErasure(JdbcWork.Work<?> work) {
		try {
			this.work.afterwards(work);
		}
		catch (SessionException ex) {
			logger
				.debug("Records that were put while their session was erased may be left: " + ex.getClass().getName());
		}
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * Expired sessions are found by an index, and each is deleted in a short transaction
	 * of its own. A session is found a 64th of its time to live after it has expired, so
	 * that not every turn has to update the index.
	 * <p>
	 * Inside a transaction of the caller it takes a second connection of the pool and
	 * does not join: what it deleted stays deleted when the caller rolls back. There it
	 * stops at the first row that another transaction is writing, because that may be the
	 * caller's.
	 * @throws IllegalStateException if that transaction only reads
	 */
	@Override
	public int deleteExpired(int limit) {
		this.callers.checkDeletion();
		int most = Page.first(limit).limit();
		Backend statements = backend();
		return (most > 0) ? new ExpiredRows(this.work.apart(), statements).delete(most) : 0;
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * The record is stored at once, on a connection of its own: it stays stored when a
	 * transaction of the caller is rolled back. Such a transaction holds a connection
	 * meanwhile, so the pool needs a second one.
	 * @throws io.sessionkit.TurnInProgressException if the record would wait for a
	 * transaction of this thread, or not see a session that began in it
	 */
	@Override
	public boolean put(SessionKey key, RecordWrite record) {
		Backend statements = backend();
		this.callers.checkBeside(key, record);
		RecordStatements records = statements.tables().records();
		String hash = KeyHash.of(key).session();
		JdbcWork apart = this.work.apart();
		Long session = apart.writing((connection) -> records.put(connection, hash, record));
		return session != null && (!records.mayBeLate(record)
				|| stays(key, () -> apart.writing((connection) -> records.stays(connection, session, record))));
	}

	/**
	 * Looks whether the session of a record that was put is still there. The record is
	 * stored by then, so no failure of the look says that nothing was written.
	 */
	private static boolean stays(SessionKey key, BooleanSupplier look) {
		try {
			return look.getAsBoolean();
		}
		catch (SessionException ex) {
			throw new StoreUnavailableException("A record of session " + key + " was stored, and then the database"
					+ " could not be asked whether the session is still there. The record stays unless the session"
					+ " was erased at the same moment: read it before you write it again.", ex);
		}
	}

	@Override
	public List<SessionRecord> records(SessionKey key, String kind) {
		RecordStatements records = backend().tables().records();
		return this.work.reading((connection) -> records.of(connection, key, kind));
	}

	@Override
	public Optional<SessionRecord> record(SessionKey key, String kind, String id) {
		RecordStatements records = backend().tables().records();
		return this.work.reading((connection) -> records.find(connection, key, kind, id));
	}

	@Override
	public List<SessionRecord> records(String owner, String kind, Page page) {
		RecordStatements records = backend().tables().records();
		return this.work.reading((connection) -> records.of(connection, owner, kind, page));
	}

	private Backend backend() {
		Backend known = this.backend;
		if (known == null) {
			Dialect dialect = this.work.reading((connection) -> {
				this.work.protect(connection);
				return Dialect.checked(connection);
			});
			known = Backend.of(dialect, this.tablePrefix);
			this.backend = known;
		}
		return known;
	}

	@Override
	public RecordPage oldestRecords(String kind, @Nullable String after, int limit) {
		RecordPlace place = RecordPlace.of(kind, after, limit);
		RecordStatements records = backend().tables().records();
		return this.work.reading((connection) -> records.oldest(connection, kind, place, limit));
	}

}
