package io.sessionkit.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.Message;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static java.util.concurrent.TimeUnit.MINUTES;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class MariaDbTransactionTests extends JdbcTransactionContract {

	private static final TestDatabase DATABASE = TestDatabase.mariaDb().created();

	private final SessionKey one = SessionKey.of("one", UUID.randomUUID().toString());

	private final SessionKey other = SessionKey.of("other", UUID.randomUUID().toString());

	private final SessionStore sessions = storeOn(DATABASE.direct());

	@Override
	TestDatabase database() {
		return DATABASE;
	}

	@Override
	String serializableReadersKeepWritersOut() {
		return "a serializable transaction of MariaDB locks what it reads, so the other writer is the one who waits";
	}

	/** A transaction that has read before does not see the record by reading again. */
	@Test
	void recordThatIsPutAfterTheTransactionHasReadIsDeletedInIt() {
		this.sessions.add(this.one, messages("first"));
		transactionOn(DATABASE.direct()).executeWithoutResult((status) -> {
			assertThat(this.sessions.find(this.one)).isPresent();
			assertThat(this.sessions.put(this.one, RecordWrite.create("note", "1", "new"))).isTrue();
			assertThat(deletes(this.one, RecordWrite.ANY)).isEqualTo(Outcome.COMMITTED);
		});
		assertThat(this.sessions.records(this.one, "note")).isEmpty();
	}

	@Test
	void recordThatIsPutAfterTheTransactionHasReadIsNotAbsent() {
		this.sessions.add(this.one, messages("first"));
		transactionOn(DATABASE.direct()).executeWithoutResult((status) -> {
			assertThat(this.sessions.find(this.one)).isPresent();
			assertThat(this.sessions.put(this.one, RecordWrite.create("note", "1", "new"))).isTrue();
			assertThat(deletes(this.one, 0)).isEqualTo(Outcome.CONFLICT);
		});
		assertThat(this.sessions.records(this.one, "note")).hasSize(1);
	}

	@Test
	void transactionThatDeletesARecordThatIsAbsentKeepsNobodyWaiting() {
		this.sessions.add(this.one, messages("first"));
		this.sessions.add(this.other, messages("first"));
		transactionOn(DATABASE.direct()).executeWithoutResult((status) -> {
			assertThat(this.sessions.find(this.one)).isPresent();
			assertThat(deletes(this.one, RecordWrite.ANY)).isEqualTo(Outcome.COMMITTED);
			assertThat(CompletableFuture
				.supplyAsync(() -> this.sessions.put(this.other, RecordWrite.create("note", "1", "new"))))
				.succeedsWithin(10, SECONDS)
				.isEqualTo(true);
		});
		assertThat(this.sessions.records(this.one, "note")).isEmpty();
	}

	private Outcome deletes(SessionKey key, long expected) {
		RecordWrite deletion = new RecordWrite("note", "1", expected, null, null);
		return this.sessions.commit(Commit.any(key).records(List.of(deletion))).outcome();
	}

	@Test
	void writerThatWaitsInVainForASerializableReaderIsInConflict() {
		this.sessions.add(this.one, messages("first"));
		TransactionTemplate serializable = transactionOn(DATABASE.direct());
		serializable.setIsolationLevel(TransactionDefinition.ISOLATION_SERIALIZABLE);
		SessionStore impatient = storeOn(impatient());
		serializable.executeWithoutResult((status) -> {
			Session base = this.sessions.find(this.one).orElseThrow();
			assertThat(CompletableFuture.runAsync(() -> impatient.add(this.one, messages("kept out"))))
				.failsWithin(10, SECONDS)
				.withThrowableThat()
				.withCauseInstanceOf(SessionConflictException.class);
			assertThat(this.sessions.commit(Commit.on(base).turn(turn("second"))).outcome())
				.isEqualTo(Outcome.COMMITTED);
		});
		assertThat(this.sessions.messages(this.one)).hasSize(2);
	}

	@Test
	void lockThatIsNotGivenInTimeIsAConflictAndNobodyWaitsAgain() {
		this.sessions.add(this.one, messages("first"));
		SessionStore impatient = storeOn(impatient());
		transactionOn(DATABASE.direct()).executeWithoutResult((status) -> {
			this.sessions.add(this.one, messages("second"));
			assertThat(CompletableFuture.runAsync(() -> impatient.add(this.one, messages("kept out"))))
				.failsWithin(10, SECONDS)
				.withThrowableThat()
				.withCauseInstanceOf(SessionConflictException.class)
				.withMessageNotContaining("kept out");
		});
		assertThat(this.sessions.messages(this.one)).hasSize(2);
	}

	/** Waits for a lock for one second. */
	private static DataSource impatient() {
		return new WithSetting(DATABASE.direct(), "set innodb_lock_wait_timeout = 1");
	}

	@Test
	void deadlockOfTwoCallersIsAConflictForOneOfThem() {
		this.sessions.add(this.one, messages("first"));
		this.sessions.add(this.other, messages("first"));
		CompletableFuture<Boolean> first = new CompletableFuture<>();
		CompletableFuture<Boolean> second = new CompletableFuture<>();
		CompletableFuture<Boolean> forth = writing(this.one, this.other, first, second);
		CompletableFuture<Boolean> back = writing(this.other, this.one, second, first);
		assertThat(forth.join()).isNotEqualTo(back.join());
		assertThat(this.sessions.messages(this.one)).hasSize(2);
		assertThat(this.sessions.messages(this.other)).hasSize(2);
	}

	/**
	 * As if a message were delivered twice. The database has rolled back all that the
	 * loser has written, so for it the turn that the other one has stored is no success.
	 */
	@Test
	void deadlockIsAConflictAlsoIfAnotherTransactionHasStoredTheTurn() {
		this.sessions.add(this.one, messages("first"));
		this.sessions.add(this.other, messages("first"));
		Commit turn = Commit.any(this.one).turn(turn("second"));
		CompletableFuture<Boolean> writes = new CompletableFuture<Boolean>().orTimeout(1, MINUTES);
		CompletableFuture<Boolean> loses = new CompletableFuture<Boolean>().orTimeout(1, MINUTES);
		CompletableFuture<Void> winner = CompletableFuture
			.runAsync(() -> transactionOn(DATABASE.direct()).executeWithoutResult((status) -> {
				// the database ends the transaction that has written less
				for (int i = 0; i < 50; i++) {
					this.sessions.add(SessionKey.of("winner", "" + i), messages("there"));
				}
				assertThat(this.sessions.commit(turn).outcome()).isEqualTo(Outcome.COMMITTED);
				writes.complete(true);
				loses.join();
				this.sessions.add(this.other, messages("of the winner"));
			}));
		winner
			.whenComplete((done, ex) -> writes.completeExceptionally((ex != null) ? ex : new IllegalStateException()));
		DataSource late = new Late(DATABASE.direct(), winner);
		assertThatExceptionOfType(SessionConflictException.class)
			.isThrownBy(() -> transactionOn(late).executeWithoutResult((status) -> {
				SessionStore loser = storeOn(late);
				writes.join();
				loser.add(this.other, messages("of the loser"));
				loses.complete(true);
				loser.commit(turn);
			}));
		winner.join();
		assertThat(this.sessions.messages(this.one)).extracting(Message::getText).containsExactly("first", "second");
		assertThat(this.sessions.messages(this.other)).extracting(Message::getText)
			.containsExactly("first", "of the winner");
	}

	/** Connections that roll back by a statement only when somebody else is done. */
	private static final class Late extends DelegatingDataSource {

		private final CompletableFuture<Void> awaited;

		Late(DataSource target, CompletableFuture<Void> awaited) {
			super(target);
			this.awaited = awaited;
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
					new Class<?>[] { Connection.class }, (self, called, arguments) -> {
						if (called.getName().equals("createStatement")) {
							return lateStatement(connection.createStatement());
						}
						try {
							return called.invoke(connection, arguments);
						}
						catch (InvocationTargetException ex) {
							throw ex.getCause();
						}
					});
		}

		private Statement lateStatement(Statement statement) {
			return (Statement) Proxy.newProxyInstance(Statement.class.getClassLoader(),
					new Class<?>[] { Statement.class }, (self, called, arguments) -> {
						if (called.getName().equals("execute") && ((String) arguments[0]).contains("rollback")) {
							this.awaited.join();
						}
						try {
							return called.invoke(statement, arguments);
						}
						catch (InvocationTargetException ex) {
							throw ex.getCause();
						}
					});
		}

	}

	/**
	 * Writes to two sessions in one transaction, to the second one when the other
	 * transaction has written to its first.
	 * @return whether it could be done
	 */
	private CompletableFuture<Boolean> writing(SessionKey first, SessionKey second, CompletableFuture<Boolean> done,
			CompletableFuture<Boolean> awaited) {
		return CompletableFuture.supplyAsync(() -> {
			try {
				transactionOn(DATABASE.direct()).executeWithoutResult((status) -> {
					this.sessions.add(first, messages("there"));
					done.complete(true);
					awaited.join();
					this.sessions.add(second, messages("and there"));
				});
				return true;
			}
			catch (SessionConflictException ex) {
				return false;
			}
		});
	}

}
