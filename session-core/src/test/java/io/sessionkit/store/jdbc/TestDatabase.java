package io.sessionkit.store.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.SessionKey;
import io.sessionkit.internal.row.KeyHash;
import io.sessionkit.internal.row.PackedItems;
import io.sessionkit.internal.sql.Dialect;
import io.sessionkit.internal.sql.TurnItems;
import io.sessionkit.test.MariaDbServer;
import io.sessionkit.test.PostgresServer;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteDataSource;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * An empty database of a test, and pools of connections to it.
 */
final class TestDatabase {

	private final String name;

	private final String script;

	private final DataSource direct;

	private TestDatabase(String name, String script, DataSource direct) {
		this.name = name;
		this.script = script;
		this.direct = direct;
	}

	static TestDatabase h2() {
		return h2InMode("REGULAR");
	}

	/**
	 * H2 as an application sets it up that otherwise has another database.
	 */
	static TestDatabase h2InMode(String mode) {
		return new TestDatabase("H2", "h2", h2(";MODE=" + mode));
	}

	private static org.h2.jdbcx.JdbcDataSource h2(String mode) {
		org.h2.jdbcx.JdbcDataSource dataSource = new org.h2.jdbcx.JdbcDataSource();
		dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000" + mode);
		dataSource.setUser("sa");
		return dataSource;
	}

	static TestDatabase postgres() {
		PostgresServer server = PostgresServer.running();
		return new TestDatabase(server.toString(), "postgresql", server.dataSource(server.newDatabase()));
	}

	static TestDatabase mariaDb() {
		MariaDbServer server = MariaDbServer.running();
		return new TestDatabase(server.toString(), "mariadb", server.dataSource(server.newDatabase()));
	}

	/**
	 * In a file of the build, with a write-ahead log: readers and the one writer do not
	 * wait for each other.
	 */
	static TestDatabase sqlite() {
		SQLiteConfig config = new SQLiteConfig();
		config.setJournalMode(SQLiteConfig.JournalMode.WAL);
		config.setSynchronous(SQLiteConfig.SynchronousMode.OFF);
		config.setBusyTimeout(10_000);
		SQLiteDataSource dataSource = new SQLiteDataSource(config);
		dataSource.setUrl("jdbc:sqlite:" + newFile("sqlite"));
		return new TestDatabase("SQLite", "sqlite", dataSource);
	}

	private static Path newFile(String kind) {
		try {
			Path directory = Files.createDirectories(Path.of("target", "databases"));
			return Files.createTempDirectory(directory, kind).resolve("sessions.db").toAbsolutePath();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * In memory.
	 * @param transactions {@code mvcc} or {@code locks}
	 */
	static TestDatabase hsqldb(String transactions) {
		org.hsqldb.jdbc.JDBCDataSource dataSource = new org.hsqldb.jdbc.JDBCDataSource();
		dataSource.setURL("jdbc:hsqldb:mem:" + UUID.randomUUID() + ";hsqldb.tx=" + transactions);
		dataSource.setUser("sa");
		return new TestDatabase("HSQLDB, " + transactions, "hsqldb", dataSource);
	}

	/**
	 * H2 in the place of Oracle, in its Oracle mode: an empty text is null there too. The
	 * clock is H2's.
	 */
	static TestDatabase h2AsOracle() {
		org.h2.jdbcx.JdbcDataSource h2 = h2(";MODE=Oracle;NON_KEYWORDS=VALUE");
		UnaryOperator<String> clock = (sql) -> sql.replace(Dialect.ORACLE.now(), Dialect.H2.now());
		JdbcTemplate sql = new JdbcTemplate(h2);
		sql.execute("create alias to_clob for '" + OracleFunctions.class.getName() + ".clob'");
		sql.execute("create table nls_database_parameters (parameter varchar(128), value varchar(64))");
		sql.update("insert into nls_database_parameters values ('NLS_CHARACTERSET', 'AL32UTF8')");
		return new TestDatabase("H2 as Oracle", "oracle", new Disguised(h2, "Oracle", Grammar.ORACLE, clock))
			.created(h2, (script) -> script);
	}

	static TestDatabase h2AsSqlServer() {
		return h2AsSqlServer((sql) -> {
		});
	}

	/**
	 * H2 in the place of SQL Server, in its SQL Server mode. The clock is H2's.
	 * @param prepared is told each statement that is prepared
	 */
	static TestDatabase h2AsSqlServer(Consumer<String> prepared) {
		org.h2.jdbcx.JdbcDataSource h2 = h2(";MODE=MSSQLServer");
		UnaryOperator<String> clock = (sql) -> {
			prepared.accept(sql);
			return sql.replace(Dialect.SQLSERVER.now(), Dialect.H2.now());
		};
		JdbcTemplate sql = new JdbcTemplate(h2);
		sql.execute("create schema sys");
		sql.execute("create table sys.databases (name varchar(128), is_read_committed_snapshot_on bit)");
		sql.execute("create alias db_name for '" + SqlServerFunctions.class.getName() + ".name'");
		sql.update("insert into sys.databases values ('master', false), ('sessions', true)");
		return new TestDatabase("H2 as SQL Server", "sqlserver",
				new Disguised(h2, "Microsoft SQL Server", Grammar.SQLSERVER, clock))
			.created(h2,
					(script) -> script.replaceAll("(?s)if (not )?(object_id|exists).*?create", "create")
						.replace("collate Latin1_General_BIN2", "")
						.replace("(max)", ""));
	}

	/**
	 * MariaDB in the place of MySQL: the script of MySQL, and its statements. The
	 * collation that counts spaces at the end has another name there.
	 */
	static TestDatabase mariaDbAsMySql() {
		MariaDbServer server = MariaDbServer.running();
		DataSource mariaDb = server.dataSource(server.newDatabase());
		return new TestDatabase("MariaDB as MySQL", "mysql",
				new Disguised(mariaDb, "MySQL", Grammar.MYSQL, (text) -> text))
			.created(mariaDb, (script) -> script.replace("utf8mb4_0900_bin", "utf8mb4_nopad_bin"));
	}

	private TestDatabase created(DataSource dataSource, UnaryOperator<String> translation) {
		try {
			String text = new ClassPathResource("io/sessionkit/store/jdbc/schema-" + this.script + ".sql")
				.getContentAsString(StandardCharsets.UTF_8);
			byte[] translated = translation.apply(text).getBytes(StandardCharsets.UTF_8);
			new ResourceDatabasePopulator(new ByteArrayResource(translated)).execute(dataSource);
			return this;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** With the tables. */
	TestDatabase created() {
		runScript();
		return this;
	}

	void runScript() {
		runScript(this.script, this.direct);
	}

	static void runScript(String database, DataSource dataSource) {
		new ResourceDatabasePopulator(new ClassPathResource("io/sessionkit/store/jdbc/schema-" + database + ".sql"))
			.execute(dataSource);
	}

	HikariDataSource pool(int size) {
		return pool(this.direct, size, true);
	}

	static HikariDataSource pool(DataSource direct, int size, boolean autoCommit) {
		HikariConfig config = new HikariConfig();
		config.setDataSource(direct);
		config.setMaximumPoolSize(size);
		config.setMinimumIdle(0);
		config.setAutoCommit(autoCommit);
		config.setConnectionTimeout(10_000);
		config.setInitializationFailTimeout(-1);
		HikariDataSource pool = new HikariDataSource(config);
		// on a busy machine a connection is idle for half a second; to ask it then
		// a check that it is alive costs one more round trip
		new DirectFieldAccessor(pool.getHikariPoolMXBean()).setPropertyValue("aliveBypassWindowMs", Long.MAX_VALUE);
		return pool;
	}

	DataSource direct() {
		return this.direct;
	}

	JdbcTemplate sql() {
		return new JdbcTemplate(this.direct);
	}

	boolean corrupt(SessionKey key, long sequence) {
		// as whoever changes rows by hand is told to
		sql().update("update SESSIONKIT_SESSION set stamp = stamp + 1 where key_hash = ?", KeyHash.of(key).session());
		long session = Objects.requireNonNull(sql().queryForObject(
				"select pk from SESSIONKIT_SESSION where key_hash = ?", Long.class, KeyHash.of(key).session()));
		return sql().update("update SESSIONKIT_ITEM set body = '{broken' where seq = ? and session_pk = ?", sequence,
				session) == 1 || corruptInRow(session, sequence);
	}

	private boolean corruptInRow(long session, long sequence) {
		List<TurnItems> turns = sql().query("""
				select turn_no, first_item, items, apart, body from SESSIONKIT_TURN
				where session_pk = ? and first_item <= ? and first_item + items > ?
				""", (row, number) -> TurnItems.read(row, 1, 5), session, sequence, sequence);
		TurnItems turn = turns.get(turns.size() - 1);
		PackedItems broken = new PackedItems();
		turn.inRow()
			.forEach((item) -> broken.add(item.sequence() - turn.first(), item.at(), item.tokens(),
					(item.sequence() == sequence) ? "{broken" : item.body()));
		return sql().update("update SESSIONKIT_TURN set body = ? where session_pk = ? and turn_no = ?", broken.text(),
				session, turn.turn()) == 1;
	}

	boolean spoil(SessionKey key) {
		return sql().update("update SESSIONKIT_SESSION set attributes = '{broken' where key_hash = ?",
				KeyHash.of(key).session()) == 1;
	}

	/** Copies the rows of a session, and returns what puts them back. */
	Runnable backup(SessionKey key) {
		long session = Objects.requireNonNull(sql().queryForObject(
				"select pk from SESSIONKIT_SESSION where key_hash = ?", Long.class, KeyHash.of(key).session()));
		Map<String, List<Map<String, Object>>> rows = new LinkedHashMap<>();
		for (String table : List.of("SESSION where pk", "TURN where session_pk", "ITEM where session_pk",
				"RECORD where session_pk")) {
			String from = "from SESSIONKIT_" + table + " = ?";
			rows.put(from, sql().queryForList("select * " + from, session));
		}
		return () -> rows.forEach((from, copies) -> {
			sql().update("delete " + from, session);
			copies.forEach((copy) -> insert(from.split(" ")[1], copy));
		});
	}

	private void insert(String table, Map<String, Object> row) {
		sql().update("insert into " + table + " (" + String.join(", ", row.keySet()) + ") values ("
				+ String.join(", ", Collections.nCopies(row.size(), "?")) + ")", row.values().toArray());
	}

	/**
	 * The rows of a session, and all that refer to a session that is gone.
	 */
	long leftOf(SessionKey key) {
		long rows = count("SESSIONKIT_SESSION where key_hash = ?", key);
		for (String table : List.of("SESSIONKIT_TURN", "SESSIONKIT_ITEM", "SESSIONKIT_RECORD")) {
			rows += count(table + " where session_pk in (select pk from SESSIONKIT_SESSION where key_hash = ?)"
					+ " or session_pk not in (select pk from SESSIONKIT_SESSION)", key);
		}
		return rows;
	}

	private long count(String rows, SessionKey key) {
		Long count = sql().queryForObject("select count(*) from " + rows, Long.class, KeyHash.of(key).session());
		return Objects.requireNonNull(count);
	}

	@Override
	public String toString() {
		return this.name;
	}

}
