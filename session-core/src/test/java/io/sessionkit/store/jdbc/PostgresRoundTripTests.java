package io.sessionkit.store.jdbc;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Window;
import io.sessionkit.test.PostgresProxy;
import io.sessionkit.test.PostgresServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests the cost of a turn on PostgreSQL, counted on the wire.
 */
class PostgresRoundTripTests {

	private static final PostgresServer SERVER = PostgresServer.running();

	private static final String TEXT = "x".repeat(250);

	private final SessionKey key = SessionKey.of("owner", "thread");

	private PostgresProxy proxy;

	private HikariDataSource pool;

	private SessionStore store;

	private JdbcTemplate sql;

	@BeforeEach
	void start() throws IOException {
		String database = SERVER.newDatabase();
		DataSource direct = SERVER.dataSource(database);
		TestDatabase.runScript("postgresql", direct);
		this.sql = new JdbcTemplate(direct);
		this.proxy = new PostgresProxy(SERVER.host(), SERVER.port());
		this.pool = TestDatabase.pool(SERVER.dataSource(database, this.proxy.host(), this.proxy.port()), 1, true);
		this.store = JdbcTransactionContract.storeOn(this.pool);
	}

	@AfterEach
	void stop() throws IOException {
		this.pool.close();
		this.proxy.close();
	}

	@Test
	void turnTakesTwoRoundTrips() {
		append(10);
		for (int i = 0; i < 12; i++) {
			this.proxy.reset();
			turn();
			assertThat(this.proxy.roundTrips()).isEqualTo(2);
		}
	}

	@Test
	void turnWithAttributesTitleAndSettingsTakesTwoRoundTripsAndSoDoesTheNextOne() {
		append(1);
		this.proxy.reset();
		Session base = this.store.open(this.key, Window.turns(20)).orElseThrow().session();
		this.store.commit(Commit.on(base)
			.turn(JdbcTransactionContract.turn(TEXT, TEXT))
			.header(HeaderChange.NONE.title("title")
				.settings(SessionSettings.NONE.limit(40))
				.attributes(Map.of("step", 1))));
		assertThat(this.proxy.roundTrips()).isEqualTo(2);
		this.proxy.reset();
		turn();
		assertThat(this.proxy.roundTrips()).isEqualTo(2);
		assertThat(this.store.find(this.key).orElseThrow().settings().limit()).isEqualTo(40);
	}

	@Test
	void firstTurnTakesTwoRoundTrips() {
		this.store.find(SessionKey.of("warm"));
		this.proxy.reset();
		assertThat(this.store.open(this.key, Window.turns(20))).isEmpty();
		this.store.commit(Commit.first(this.key).turn(JdbcTransactionContract.turn(TEXT, TEXT)));
		assertThat(this.proxy.roundTrips()).isEqualTo(2);
	}

	@Test
	void addTakesOneRoundTrip() {
		append(1);
		this.proxy.reset();
		this.store.add(this.key, JdbcTransactionContract.messages(TEXT));
		assertThat(this.proxy.roundTrips()).isEqualTo(1);
	}

	@Test
	void transactionOfTheCallerAddsItsOwnCommitOnly() {
		append(10);
		// BEGIN travels with the first statement: a message of its own, but nobody waits
		this.proxy.latency(Duration.ofMillis(20));
		this.proxy.reset();
		JdbcTransactionContract.transactionOn(this.pool).executeWithoutResult((status) -> turn());
		assertThat(this.proxy.waits()).isEqualTo(3);
		this.proxy.reset();
		turn();
		assertThat(this.proxy.waits()).isEqualTo(2);
	}

	@Test
	void losingTakesOneMore() {
		append(1);
		Session stale = this.store.find(this.key).orElseThrow();
		append(1);
		this.proxy.reset();
		assertThat(this.store.commit(Commit.on(stale).turn(JdbcTransactionContract.turn(TEXT))).outcome())
			.isEqualTo(Outcome.CONFLICT);
		assertThat(this.proxy.roundTrips()).isEqualTo(2);
	}

	@Test
	void summaryComesWithTheSameRoundTrip() {
		append(10);
		this.store.commit(Commit.on(this.store.find(this.key).orElseThrow())
			.header(HeaderChange.NONE.summary(8, "summary"))
			.records(List.of(RecordWrite.create(SessionStore.SUMMARY, "summary", "text"))));
		this.proxy.reset();
		SessionView view = this.store.open(this.key, Window.turns(20)).orElseThrow();
		assertThat(view.summary()).isNotNull();
		assertThat(view.items()).hasSize(4);
		assertThat(this.proxy.roundTrips()).isEqualTo(1);
	}

	@Test
	void recordIsWrittenInOneRoundTrip() {
		append(1);
		puts(RecordWrite.create("note", "1", "a"), true);
		puts(RecordWrite.create("note", "1", "again"), false);
		puts(RecordWrite.put("note", "1", "b"), true);
		puts(RecordWrite.put("note", "2", "b"), true);
		SessionRecord note = this.store.records(this.key, "note").get(0);
		puts(RecordWrite.replace(note, "c"), true);
		puts(RecordWrite.replace(note, "d"), false);
		SessionRecord replaced = this.store.records(this.key, "note").get(0);
		assertThat(replaced.payload()).isEqualTo("c");
		puts(new RecordWrite("note", "1", note.revision(), null, null), false);
		puts(new RecordWrite("note", "1", replaced.revision(), null, null), true);
		assertThat(this.store.records(this.key, "note")).extracting(SessionRecord::id).containsExactly("2");
	}

	private void puts(RecordWrite write, boolean made) {
		this.proxy.reset();
		assertThat(this.store.put(this.key, write)).as(write.toString()).isEqualTo(made);
		assertThat(this.proxy.roundTrips()).as(write.toString()).isEqualTo(1);
	}

	@Test
	void bytesReadDependOnTheWindowAlone() {
		long[] bytes = new long[3];
		append(20);
		warmUp();
		bytes[0] = bytesOfOpen(Window.turns(20));
		append(980);
		bytes[1] = bytesOfOpen(Window.turns(20));
		append(1000);
		bytes[2] = bytesOfOpen(Window.turns(20));
		System.out.println("Bytes read to open 40 messages of 40, 2,000 and 4,000: " + bytes[0] + ", " + bytes[1] + ", "
				+ bytes[2]);
		// numbers are sent as digits until the driver switches to binary: a few bytes a
		// row
		assertThat(bytes[2]).isBetween(bytes[0] - 16 * 40, bytes[0] + 16 * 40);
		assertThat(bytes[2]).isBetween(bytes[1] - 40, bytes[1] + 40);
	}

	@Test
	void turnThatDoesNotFitIsNotSent() {
		this.store.commit(Commit.first(this.key).turn(JdbcTransactionContract.turn("y".repeat(100_000), TEXT, TEXT)));
		append(2);
		warmUp();
		this.proxy.reset();
		assertThat(this.store.open(this.key, Window.items(6)).orElseThrow().items()).hasSize(4);
		assertThat(this.proxy.bytesRead()).isLessThan(10_000);
	}

	@Test
	void turnRewritesOneHeaderRowOnly() {
		append(50);
		List<String> before = rows();
		String header = header();
		turn();
		assertThat(rows()).containsAll(before).hasSize(before.size() + 1);
		assertThat(header()).isNotEqualTo(header);
		assertThat(this.sql.queryForObject("select count(*) from SESSIONKIT_SESSION", Integer.class)).isEqualTo(1);
	}

	private List<String> rows() {
		List<String> rows = new ArrayList<>();
		for (String table : List.of("SESSIONKIT_TURN", "SESSIONKIT_ITEM")) {
			rows.addAll(this.sql.queryForList(
					"select '" + table + " ' || ctid || ' ' || xmin || ' ' || xmax from " + table, String.class));
		}
		return rows;
	}

	private String header() {
		return this.sql.queryForList("select ctid || ' ' || xmin from SESSIONKIT_SESSION", String.class).get(0);
	}

	@Test
	void connectionThatIsDownIsReported() throws IOException {
		append(1);
		try (HikariDataSource impatient = new HikariDataSource()) {
			impatient.setDataSource(this.pool.getDataSource());
			impatient.setMaximumPoolSize(1);
			impatient.setConnectionTimeout(300);
			SessionStore away = JdbcTransactionContract.storeOn(impatient);
			// until the pool has its connection
			Session base = await().ignoreExceptions()
				.until(() -> away.find(this.key), Optional::isPresent)
				.orElseThrow();
			this.proxy.close();
			assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> away.find(this.key));
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> away.commit(Commit.on(base).turn(JdbcTransactionContract.turn("secret"))))
				.withMessageNotContaining("secret");
		}
	}

	@Test
	void connectionThatBreaksDuringAWriteSaysThatTheOutcomeIsUnknown() throws IOException {
		SessionStore direct = JdbcTransactionContract.storeOn(new SingleConnectionDataSource(connection(), true));
		direct.add(this.key, JdbcTransactionContract.messages("first"));
		Session base = direct.find(this.key).orElseThrow();
		this.proxy.close();
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> direct.commit(Commit.on(base).turn(JdbcTransactionContract.turn("secret"))))
			.withMessageContaining("unknown")
			.withMessageNotContaining("secret");
	}

	private Connection connection() {
		try {
			return this.pool.getConnection();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void warmUp() {
		for (int i = 0; i < 10; i++) {
			this.store.open(this.key, Window.turns(20));
			this.store.open(this.key, Window.items(6));
		}
	}

	private long bytesOfOpen(Window window) {
		this.proxy.reset();
		assertThat(this.store.open(this.key, window).orElseThrow().items()).hasSize(40);
		return this.proxy.bytesRead();
	}

	private void turn() {
		Session base = this.store.open(this.key, Window.turns(20)).orElseThrow().session();
		assertThat(this.store.commit(Commit.on(base).turn(JdbcTransactionContract.turn(TEXT, TEXT))).outcome())
			.isEqualTo(Outcome.COMMITTED);
	}

	private void append(int turns) {
		for (int i = 0; i < turns; i++) {
			this.store.add(this.key, JdbcTransactionContract.messages(TEXT, TEXT));
		}
	}

}
