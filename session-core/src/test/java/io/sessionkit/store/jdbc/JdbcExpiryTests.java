package io.sessionkit.store.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.SessionKey;
import io.sessionkit.internal.sql.Dialect;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static io.sessionkit.store.jdbc.JdbcTransactionContract.storeOn;
import static io.sessionkit.store.jdbc.JdbcTransactionContract.transactionOn;
import static io.sessionkit.store.jdbc.JdbcTransactionContract.turn;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests the cost of deleting expired rows on PostgreSQL.
 */
class JdbcExpiryTests {

	/**
	 * The page has room for so many versions of a row, none of which is old before the
	 * end.
	 */
	private static final int TURNS = 10;

	private static final int SESSIONS = 10_000;

	private TestDatabase database;

	private HikariDataSource pool;

	private SessionStore store;

	private JdbcTemplate sql;

	@BeforeEach
	void start() {
		this.database = TestDatabase.postgres().created();
		this.pool = this.database.pool(4);
		this.store = storeOn(this.pool);
		this.sql = this.database.sql();
	}

	@AfterEach
	void stop() {
		this.pool.close();
	}

	@Test
	void expiredRowsAreFoundByIndexAmongManyThatLive() {
		fill(SESSIONS);
		for (String analyzed : List.of("before", "after")) {
			assertThat(planOf("select s.pk from SESSIONKIT_SESSION s where s.purge_at <= "
					+ Dialect.POSTGRESQL.statementTime() + " order by s.purge_at limit 200"))
				.as("%s it was analyzed", analyzed)
				.contains("sessionkit_session_purge");
			assertThat(planOf("select r.session_pk, r.kind, r.id from SESSIONKIT_RECORD r where r.expires_at <= "
					+ Dialect.POSTGRESQL.statementTime() + " order by r.expires_at limit 200"))
				.as("%s it was analyzed", analyzed)
				.contains("sessionkit_record_expiry");
			assertThat(planOf("select r.id from SESSIONKIT_RECORD r join SESSIONKIT_SESSION s on s.pk = r.session_pk"
					+ " where r.kind = 'approval' and r.written_at >= 1"
					+ " order by r.written_at, r.session_pk, r.id limit 100"))
				.as("%s it was analyzed", analyzed)
				.contains("sessionkit_record_kind");
			this.sql.execute("analyze");
		}
	}

	@Test
	void twoDeleteAllThatExpiredAndNothingElse() {
		fill(2_000);
		this.sql.update("update SESSIONKIT_SESSION set expires_at = 1, purge_at = 1 where pk % 2 = 0");
		this.sql.update("update SESSIONKIT_RECORD set expires_at = 1 where session_pk % 4 = 1");
		SessionStore other = storeOn(this.pool);
		List<CompletableFuture<Integer>> deletions = new ArrayList<>();
		for (SessionStore each : List.of(this.store, other)) {
			deletions.add(CompletableFuture.supplyAsync(() -> {
				int deleted = 0;
				for (int batch = each.deleteExpired(100); batch > 0; batch = each.deleteExpired(100)) {
					deleted += batch;
				}
				return deleted;
			}));
		}
		assertThat(deletions.stream().mapToInt(CompletableFuture::join).sum()).isEqualTo(1_500);
		assertThat(count("SESSIONKIT_SESSION")).isEqualTo(1_000);
		assertThat(count("SESSIONKIT_TURN")).isEqualTo(1_000);
		assertThat(count("SESSIONKIT_ITEM")).isEqualTo(1_000);
		assertThat(count("SESSIONKIT_RECORD")).isEqualTo(500);
	}

	/** More than one call finds. */
	@Test
	void sessionsWhoseExpiryWasTakenAwayByHandHoldNoOthersUp() {
		fill(1_000);
		this.sql.update("update SESSIONKIT_SESSION set expires_at = null, ttl = null, purge_at = 1 where pk % 2 = 0");
		this.sql.update("update SESSIONKIT_SESSION set expires_at = 1, purge_at = 2 where pk % 20 = 1");
		this.sql.update("update SESSIONKIT_RECORD set expires_at = 1 where session_pk % 20 = 3");
		assertThat(this.store.deleteExpired(200)).as("0 is the end").isEqualTo(100);
		assertThat(this.store.deleteExpired(200)).isZero();
		assertThat(count("SESSIONKIT_SESSION")).isEqualTo(950);
		assertThat(count("SESSIONKIT_RECORD")).isEqualTo(900);
	}

	/** As those that are larger than the limit on the time of a statement allows. */
	@Test
	void sessionsThatTheDatabaseDoesNotDeleteHoldNoOthersUp() {
		fill(1_000);
		this.sql.update("update SESSIONKIT_SESSION set expires_at = 1, purge_at = 2 where pk % 2 = 0");
		this.sql.update("update SESSIONKIT_SESSION set purge_at = 1 where pk % 250 = 0");
		this.sql.update("update SESSIONKIT_RECORD set expires_at = 1 where session_pk % 4 = 1");
		refuseToDelete("old.session_pk % 250 = 0");
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> {
			while (this.store.deleteExpired(100) > 0) {
				assertThat(count("SESSIONKIT_SESSION")).isGreaterThanOrEqualTo(504);
			}
		}).withMessageContaining("statement_timeout");
		assertThat(count("SESSIONKIT_SESSION")).isEqualTo(504);
		assertThat(count("SESSIONKIT_RECORD")).isEqualTo(254);
	}

	/** As the large ones of a user, which have expired together. */
	@Test
	void sessionsInARowThatTheDatabaseDoesNotDeleteHoldNoOlderOnesUp() {
		fill(100);
		this.sql.update("update SESSIONKIT_SESSION set expires_at = 1, purge_at = pk");
		Long last = this.sql.queryForObject("select max(pk) from SESSIONKIT_SESSION", Long.class);
		refuseToDelete("old.session_pk > " + last + " - 10 or old.session_pk <= " + last + " - 98");
		assertThat(this.store.deleteExpired(200)).isEqualTo(88);
		assertThat(count("SESSIONKIT_SESSION")).as("ten of the newest, and two of the oldest").isEqualTo(12);
	}

	private void refuseToDelete(String which) {
		this.sql.execute("create function refuse() returns trigger language plpgsql as"
				+ " 'begin raise exception ''too slow'' using errcode = ''57014''; end'");
		this.sql.execute("create trigger refuse before delete on SESSIONKIT_ITEM for each row when (" + which
				+ ") execute function refuse()");
	}

	/** Otherwise each turn would write all indexes of the session. */
	@Test
	void turnsOfASessionThatExpiresRewriteTheHeaderAlone() {
		SessionKey key = SessionKey.of("t1");
		this.store
			.commit(Commit.first(key).turn(turn("q", "a")).header(HeaderChange.NONE.timeToLive(Duration.ofHours(1))));
		Long before = purgeAt();
		List<Long> updates = transactionOn(this.pool).execute((status) -> {
			for (int i = 0; i < TURNS; i++) {
				this.store.commit(Commit.any(key).turn(turn("q", "a")));
			}
			return updates(new JdbcTemplate(this.pool));
		});
		assertThat(updates).containsExactly((long) TURNS, (long) TURNS);
		assertThat(purgeAt()).isEqualTo(before);
	}

	@Test
	void rowsAreDeletedSomewhatLaterThanTheSessionExpires() {
		SessionKey key = SessionKey.of("t1");
		Duration life = Duration.ofMinutes(64);
		this.store.commit(Commit.first(key).turn(turn("q", "a")).header(HeaderChange.NONE.timeToLive(life)));
		assertThat(slack()).isEqualTo(60_000_000);
		this.store.commit(Commit.any(key).header(HeaderChange.NONE.timeToLive(Duration.ofMinutes(32))));
		assertThat(slack()).isEqualTo(30_000_000);
		this.store.commit(Commit.any(key).turn(turn("q")).header(HeaderChange.NONE.timeToLive(life)));
		assertThat(slack()).isEqualTo(60_000_000);
		this.store.commit(Commit.any(key).turn(turn("q")).header(HeaderChange.NONE.timeToLive(Duration.ZERO)));
		assertThat(purgeAt()).isNull();
		this.sql.update("update SESSIONKIT_SESSION set ttl = 64000, purge_at = 1");
		this.store.commit(Commit.any(key).turn(turn("q")));
		assertThat(slack()).isEqualTo(1_000);
	}

	@Test
	void recordIsNotLeftBehindBySessionsThatAreErasedMeanwhile() {
		SessionKey key = SessionKey.of("t1");
		CompletableFuture<Void> putting = CompletableFuture.runAsync(() -> {
			for (int i = 0; i < 300; i++) {
				this.store.put(key, RecordWrite.put("note", "" + i, "text"));
			}
		});
		while (!putting.isDone()) {
			this.store.commit(Commit.any(key).turn(turn("q")));
			this.store.erase(key);
		}
		putting.join();
		assertThat(this.database.leftOf(key)).isZero();
	}

	private Long slack() {
		return Objects.requireNonNull(
				this.sql.queryForObject("select purge_at - expires_at from SESSIONKIT_SESSION", Long.class));
	}

	private @Nullable Long purgeAt() {
		return this.sql.queryForObject("select purge_at from SESSIONKIT_SESSION", Long.class);
	}

	/** All updates of headers in this transaction, and those that wrote no index. */
	private static List<Long> updates(JdbcTemplate joined) {
		return Objects.requireNonNull(joined.queryForObject("""
				select n_tup_upd, n_tup_hot_upd from pg_stat_xact_user_tables where relname = 'sessionkit_session'
				""", (row, n) -> List.of(row.getLong(1), row.getLong(2))));
	}

	private String planOf(String select) {
		return String.join("\n", this.sql.queryForList("explain " + select, String.class));
	}

	private long count(String table) {
		return Objects.requireNonNull(this.sql.queryForObject("select count(*) from " + table, Long.class));
	}

	/** Sessions of one turn, two items and one record, which live for an hour. */
	private void fill(int sessions) {
		SessionKey key = SessionKey.of("t0");
		this.store.commit(Commit.first(key)
			.turn(turn("q", "y".repeat(20_000)))
			.header(HeaderChange.NONE.timeToLive(Duration.ofHours(1)))
			.records(List.of(RecordWrite.create("note", "1", "text").timeToLive(Duration.ofHours(1)))));
		copies("SESSIONKIT_SESSION", sessions, "pk, key_hash",
				"nextval(pg_get_serial_sequence('sessionkit_session', 'pk')), key_hash || n");
		Long first = this.sql.queryForObject("select min(pk) from SESSIONKIT_SESSION", Long.class);
		for (String table : List.of("SESSIONKIT_TURN", "SESSIONKIT_ITEM", "SESSIONKIT_RECORD")) {
			copies(table, sessions, "session_pk", first + " + n");
		}
	}

	private void copies(String table, int count, String changed, String values) {
		List<String> columns = this.sql.queryForList(
				"select column_name from information_schema.columns where table_name = lower(?)", String.class, table);
		columns.removeAll(List.of(changed.split(", ")));
		String same = String.join(", ", columns);
		this.sql.execute("insert into " + table + " (" + changed + ", " + same + ") select "
				+ values.replace("key_hash ||", "left(key_hash, 40) ||") + ", " + same + " from " + table
				+ ", generate_series(1, " + (count - 1) + ") n");
	}

}
