package io.sessionkit.store.jdbc;

import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.internal.row.KeyHash;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.MariaDbServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

import org.springframework.jdbc.core.JdbcTemplate;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A deadlock that the whole server counts.
 */
@Isolated
class MariaDbDeadlockTests {

	private static final MariaDbServer SERVER = MariaDbServer.running();

	private static final TestDatabase DATABASE = TestDatabase.mariaDb().created();

	private final SessionKey one = SessionKey.of("one", UUID.randomUUID().toString());

	private final SessionStore sessions = JdbcTransactionContract.storeOn(DATABASE.direct());

	private final JdbcTemplate sql = DATABASE.sql();

	private CompletableFuture<Outcome> pending;

	@Test
	void deadlockOutsideOfATransactionIsTriedAgain() {
		this.sessions.add(this.one, JdbcTransactionContract.messages("first"));
		Session base = this.sessions.find(this.one).orElseThrow();
		this.sql.execute("create table if not exists app_weight (n int)");
		long before = deadlocks();
		JdbcTransactionContract.transactionOn(DATABASE.direct()).executeWithoutResult((status) -> {
			// the one that has written more is not rolled back
			JdbcTemplate rival = new JdbcTemplate(DATABASE.direct());
			rival.update("insert into app_weight select seq from seq_1_to_2000");
			long pk = pk(rival);
			rival.queryForList("select * from SESSIONKIT_TURN where session_pk = ? and turn_no > 1 for update", pk);
			CompletableFuture<Outcome> commit = CompletableFuture.supplyAsync(
					() -> this.sessions.commit(Commit.on(base).turn(JdbcTransactionContract.turn("second"))).outcome());
			await().until(() -> waiting() > 0);
			rival.update("update SESSIONKIT_SESSION set branch = branch where pk = ?", pk);
			status.setRollbackOnly();
			this.pending = commit;
		});
		assertThat(this.pending).succeedsWithin(10, SECONDS).isEqualTo(Outcome.COMMITTED);
		assertThat(deadlocks()).isGreaterThan(before);
		assertThat(this.sessions.messages(this.one)).hasSize(2);
	}

	private long pk(JdbcTemplate rival) {
		Long pk = rival.queryForObject("select pk from SESSIONKIT_SESSION where key_hash = ?", Long.class,
				KeyHash.of(this.one).session());
		return (pk != null) ? pk : 0;
	}

	private long deadlocks() {
		return ((Number) this.sql.queryForMap("show global status like 'Innodb_deadlocks'")
			.values()
			.stream()
			.skip(1)
			.map((value) -> Long.valueOf(value.toString()))
			.findFirst()
			.orElseThrow()).longValue();
	}

	private int waiting() {
		Integer waiting = new JdbcTemplate(SERVER.dataSource("mysql")).queryForObject(
				"select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'", Integer.class);
		return (waiting != null) ? waiting : 0;
	}

}
