package io.sessionkit.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.Concurrency;
import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.Retention;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.conversation.SessionTitles;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.Page;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.Point;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.Window;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * The contract of the store on transactions and connections, on every database.
 */
abstract class JdbcTransactionContract {

	private static final Instant AT = Instant.parse("2026-01-02T03:04:05Z");

	private final SessionKey key = SessionKey.of("owner", UUID.randomUUID().toString());

	private final HikariDataSource pool = database().pool(4);

	private final SessionStore store = storeOn(this.pool);

	private final TransactionTemplate transaction = transactionOn(this.pool);

	abstract TestDatabase database();

	/**
	 * Returns why one writer keeps all others out until it commits; null if it does not.
	 */
	@Nullable String oneWriterAtATime() {
		return null;
	}

	/**
	 * Returns why a serializable transaction that has read keeps writers out; null if it
	 * does not.
	 */
	@Nullable String serializableReadersKeepWritersOut() {
		return null;
	}

	/**
	 * Returns whether all statements of a transaction have the time of the first one.
	 */
	boolean hasOneTimePerTransaction() {
		return false;
	}

	private void notApplicableBecause(@Nullable String reason) {
		if (reason != null) {
			System.out.println("Not applicable to " + database() + ": " + reason);
			Assumptions.abort("Not applicable: " + reason);
		}
	}

	@AfterEach
	void closePool() {
		this.pool.close();
	}

	@Test
	void recordOfACallerThatHasOnlyReadOutlivesItsRollback() {
		this.store.add(this.key, messages("first"));
		this.transaction.executeWithoutResult((status) -> {
			this.store.open(this.key, Window.ALL);
			assertThat(this.store.put(this.key, RecordWrite.create("claim", "1", "mine"))).isTrue();
			status.setRollbackOnly();
		});
		assertThat(this.store.records(this.key, "claim")).hasSize(1);
	}

	/**
	 * The turns that others append have the same numbers as those that were rolled back.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 4 })
	void turnThatWasRolledBackIsNotPartOfAViewThatOthersHaveAppendedTo(int turns) {
		SessionStore other = storeOn(this.pool);
		this.store.add(this.key, messages("first"));
		this.store.open(this.key, Window.ALL);
		this.transaction.executeWithoutResult((status) -> {
			append(this.store, "rolled back");
			status.setRollbackOnly();
		});
		for (int i = 0; i < turns; i++) {
			append(other, "question " + i);
		}
		assertThat(this.store.open(this.key, Window.ALL)).isEqualTo(other.open(this.key, Window.ALL));
		assertThat(this.store.open(this.key, Window.ALL)).isEqualTo(storeOn(this.pool).open(this.key, Window.ALL));
	}

	/** As if two writers had drawn one stamp. */
	@Test
	void stampOfAnotherWriteHidesNoHistory() {
		append(this.store, "first");
		JdbcTemplate sql = new JdbcTemplate(this.pool);
		Long stamp = sql.queryForObject("select stamp from SESSIONKIT_SESSION where id = ?", Long.class, this.key.id());
		append(storeOn(this.pool), "second");
		sql.update("update SESSIONKIT_SESSION set stamp = ?, appended = ? where id = ?", stamp, stamp, this.key.id());
		for (int i = 0; i < 2; i++) {
			assertThat(this.store.open(this.key, Window.ALL).orElseThrow().items()).hasSize(2);
		}
	}

	/** As somebody may have set it who has changed rows by hand. */
	@Test
	void stampOfZeroHidesNoHistory() {
		append(this.store, "first");
		new JdbcTemplate(this.pool).update("update SESSIONKIT_SESSION set stamp = 0 where id = ?", this.key.id());
		assertThatAllIsRead();
		for (int i = 0; i < 4; i++) {
			append(storeOn(this.pool), "question " + i);
			assertThatAllIsRead();
		}
	}

	private void assertThatAllIsRead() {
		SessionView view = storeOn(this.pool).open(this.key, Window.ALL).orElseThrow();
		assertThat(view.items()).isNotEmpty().hasSize((int) view.session().totals().items());
	}

	private void append(SessionStore store, String question) {
		Commit commit = store.open(this.key, Window.ALL)
			.map((view) -> Commit.on(view.session()))
			.orElseGet(() -> Commit.first(this.key));
		assertThat(store.commit(commit.turn(turn(question))).outcome()).isEqualTo(Outcome.COMMITTED);
	}

	@Test
	void whatHasExpiredStaysDeletedWhenTheCallerIsRolledBack() {
		SessionKey expired = SessionKey.of("owner", UUID.randomUUID().toString());
		this.store
			.commit(Commit.first(expired).turn(turn("q")).header(HeaderChange.NONE.timeToLive(Duration.ofMillis(1))));
		this.store.add(this.key, messages("before"));
		await().until(() -> this.store.find(expired).isEmpty());
		this.transaction.executeWithoutResult((status) -> {
			if (oneWriterAtATime() == null) {
				commitPlainTurn();
			}
			deleteAllExpired(this.store);
			status.setRollbackOnly();
		});
		assertThat(database().leftOf(expired)).isZero();
		assertThat(texts()).containsExactly("before");
	}

	/**
	 * As if a turn that began before the expiry was stored after it: whoever looks for
	 * expired sessions finds the old expiry, and whoever deletes the new one.
	 */
	@Test
	void sessionThatIsProlongedWhileItIsToBeDeletedStays() {
		notApplicableBecause(oneWriterAtATime());
		this.store
			.commit(Commit.first(this.key).turn(turn("q")).header(HeaderChange.NONE.timeToLive(Duration.ofHours(1))));
		Session before = header();
		JdbcTemplate sql = new JdbcTemplate(this.pool);
		String update = "update SESSIONKIT_SESSION set expires_at = ?, purge_at = ? where id = ?";
		Long lives = sql.queryForObject("select expires_at from SESSIONKIT_SESSION where id = ?", Long.class,
				this.key.id());
		sql.update(update, 1, 1, this.key.id());
		AtomicBoolean prolonged = new AtomicBoolean();
		DataSource slow = new BeforeStatement(this.pool, "delete from SESSIONKIT_SESSION", () -> {
			if (prolonged.compareAndSet(false, true)) {
				sql.update(update, lives, lives, this.key.id());
			}
		});
		storeOn(slow).deleteExpired(1);
		assertThat(prolonged).as("the session was about to be deleted").isTrue();
		assertThat(header()).isEqualTo(before);
		assertThat(texts()).containsExactly("q");
	}

	@Test
	void recordThatIsCreatedAnewWhileItIsToBeDeletedStays() {
		deleteAllExpired(this.store);
		this.store.add(this.key, messages("q"));
		this.store.put(this.key, RecordWrite.create("note", "1", "old").timeToLive(Duration.ofMillis(1)));
		await().until(() -> this.store.records(this.key, "note").isEmpty());
		AtomicBoolean created = new AtomicBoolean();
		DataSource slow = new BeforeStatement(this.pool, "delete from SESSIONKIT_RECORD", () -> {
			if (created.compareAndSet(false, true)) {
				assertThat(this.store.put(this.key, RecordWrite.create("note", "1", "new"))).isTrue();
			}
		});
		deleteAllExpired(storeOn(slow));
		assertThat(created).as("the record was about to be deleted").isTrue();
		assertThat(this.store.records(this.key, "note")).extracting(SessionRecord::payload).containsExactly("new");
	}

	private static void deleteAllExpired(SessionStore store) {
		while (store.deleteExpired(1000) > 0) {
			continue;
		}
	}

	@Test
	void rollbackOfTheCallerTakesTheTurnAway() {
		this.store.add(this.key, messages("before"));
		this.transaction.executeWithoutResult((status) -> {
			commitPlainTurn();
			commitWithRecord();
			status.setRollbackOnly();
		});
		assertThat(texts()).containsExactly("before");
		assertThat(this.store.records(this.key, "note")).isEmpty();
		assertThat(header().version()).isEqualTo(1);
	}

	@Test
	void turnThatFailsInATransactionOfTheCallerLeavesNoTraceAndOutsideOfOneDoes() {
		Runnable failing = () -> {
			ScriptedChatModel model = new ScriptedChatModel().fails(new IllegalStateException("no model"));
			SessionAdvisor advisor = SessionAdvisor.builder(Conversations.of(this.store)).build();
			ChatClient.builder(model)
				.defaultAdvisors(advisor)
				.build()
				.prompt()
				.user("q")
				.advisors(SessionAdvisor.session(this.key))
				.call()
				.content();
		};
		assertThatIllegalStateException()
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> failing.run()));
		assertThat(this.store.find(this.key)).isEmpty();
		assertThatIllegalStateException().isThrownBy(failing::run);
		assertThat(this.store.turns(this.key, Tail.ALL)).extracting(Turn::status).containsExactly(TurnStatus.FAILED);
	}

	@Test
	void connectionIsHeldWhileTheModelThinksOnlyInATransactionOfTheCaller() {
		List<Integer> held = new ArrayList<>();
		ScriptedChatModel model = new ScriptedChatModel();
		ChatClient chat = ChatClient.builder(model)
			.defaultAdvisors(SessionAdvisor.of(Conversations.of(this.store)))
			.build();
		Runnable ask = () -> {
			model.step((prompt) -> {
				held.add(this.pool.getHikariPoolMXBean().getActiveConnections());
				return Flux.just(model.chunk("a", List.of(), true));
			});
			chat.prompt().user("q").advisors(SessionAdvisor.session(this.key)).call().content();
		};
		ask.run();
		this.transaction.executeWithoutResult((status) -> ask.run());
		assertThat(held).containsExactly(0, 1);
	}

	@Test
	void turnInATransactionOfTheCallerLeavesTheDeletionOfTheOldestToTheNextOneOutside() {
		Conversations conversations = Conversations.builder(this.store)
			.retention(Retention.keepLastTurns(2).batch(1))
			.build();
		ScriptedChatModel model = new ScriptedChatModel();
		ChatClient chat = ChatClient.builder(model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
		Runnable ask = () -> {
			model.says("a");
			chat.prompt().user("q").advisors(SessionAdvisor.session(this.key)).call().content();
		};
		this.store.add(this.key, messages("first"));
		this.store.add(this.key, messages("second"));
		this.transaction.executeWithoutResult((status) -> {
			ask.run();
			assertThat(texts()).hasSize(4);
			status.setRollbackOnly();
		});
		assertThat(texts()).containsExactly("first", "second");
		this.transaction.executeWithoutResult((status) -> ask.run());
		assertThat(texts()).containsExactly("first", "second", "q", "a");
		ask.run();
		assertThat(texts()).containsExactly("q", "a", "q", "a");
	}

	/**
	 * The thread that makes titles does not see a turn before the commit of the caller.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void sessionWhoseFirstCallIsInATransactionOfTheCallerGetsItsTitleWithTheNextTurn(boolean wasThere) {
		if (wasThere) {
			this.store.commit(Commit.first(this.key).header(HeaderChange.NONE.tags(Set.of("support"))));
		}
		ScriptedChatModel model = new ScriptedChatModel().says("a1").says("a2");
		CompletableFuture<Boolean> looked = new CompletableFuture<>();
		ObservedStore observed = new ObservedStore(this.store);
		observed.beforeOpen(() -> looked.complete(this.store.find(this.key).isPresent()));
		try (SessionTitles titles = SessionTitles.ofFirstWords(observed)) {
			Conversations conversations = Conversations.builder(this.store).listeners(titles).build();
			ChatClient chat = ChatClient.builder(model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
			Consumer<String> ask = (question) -> chat.prompt()
				.user(question)
				.advisors(SessionAdvisor.session(this.key))
				.call()
				.content();
			this.transaction.executeWithoutResult((status) -> {
				ask.accept("q1");
				// some databases let it wait for this transaction
				looked.copy().completeOnTimeout(false, 1, TimeUnit.SECONDS).join();
			});
			ask.accept("q2");
			await().untilAsserted(() -> assertThat(header().title()).isEqualTo("q1"));
		}
	}

	@Test
	void streamInATransactionOfTheCallerIsNoPartOfIt() {
		// a model would go on on a thread of Spring AI anyway
		SessionHook answering = new SessionHook() {

			@Override
			public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
				return HookResult.answer("a");
			}

		};
		Conversations conversations = Conversations.builder(this.store).hooks(answering).build();
		ChatClient chat = ChatClient.builder(new ScriptedChatModel())
			.defaultAdvisors(SessionAdvisor.of(conversations))
			.build();
		this.transaction.executeWithoutResult((status) -> {
			chat.prompt().user("q").advisors(SessionAdvisor.session(this.key)).stream().content().blockLast();
			status.setRollbackOnly();
		});
		assertThat(this.store.messages(this.key)).hasSize(2);
	}

	@Test
	void commitOfTheCallerKeepsTheTurn() {
		this.transaction.executeWithoutResult((status) -> {
			this.store.add(this.key, messages("first"));
			commitPlainTurn();
			commitWithRecord();
			assertThat(CompletableFuture.supplyAsync(() -> this.store.find(this.key)).join()).isEmpty();
		});
		assertThat(texts()).containsExactly("first", "plain", "recorded");
	}

	@Test
	void callersOwnRowsAndTheTurnAreOneTransaction() {
		String order = givenOrder();
		this.transaction.executeWithoutResult((status) -> {
			new JdbcTemplate(this.pool).update("insert into app_order values (?)", order);
			this.store.add(this.key, messages("ordered"));
			status.setRollbackOnly();
		});
		assertThat(orders(order)).isZero();
		assertThat(this.store.find(this.key)).isEmpty();
	}

	/** Returns an order that is not there, in a table that is. */
	private String givenOrder() {
		new JdbcTemplate(this.pool).execute("create table if not exists app_order (id varchar(40) primary key)");
		return UUID.randomUUID().toString();
	}

	private @Nullable Integer orders(String id) {
		return new JdbcTemplate(this.pool).queryForObject("select count(*) from app_order where id = ?", Integer.class,
				id);
	}

	@Test
	void viewOfATurnThatIsRolledBackIsNotContinued() {
		this.store.add(this.key, messages("first"));
		this.store.open(this.key, Window.ALL);
		this.transaction.executeWithoutResult((status) -> {
			commitPlainTurn();
			status.setRollbackOnly();
		});
		storeOn(this.pool).commit(Commit.on(header()).turn(turn("by another")));
		commitPlainTurn();
		assertThat(this.store.open(this.key, Window.ALL)).isEqualTo(storeOn(this.pool).open(this.key, Window.ALL));
		assertThat(view(Window.ALL)).containsExactly("first", "by another", "plain");
	}

	@Test
	void repeatedTurnLeavesTheCallersTransactionUsable() {
		TurnWrite first = turn("first");
		Commit repeatedFirst = Commit.first(this.key).turn(first);
		this.store.commit(repeatedFirst);
		Session base = header();
		Commit repeated = Commit.on(base).turn(turn("second"));
		this.store.commit(repeated);
		assertUsableAfter((store) -> {
			assertThat(store.commit(repeatedFirst).outcome()).isEqualTo(Outcome.REPEATED);
			assertThat(store.commit(repeated).outcome()).isEqualTo(Outcome.REPEATED);
			assertThat(store.commit(Commit.any(this.key).turn(first)).outcome()).isEqualTo(Outcome.REPEATED);
			Commit again = Commit.on(header()).turn(first);
			assertThat(store.commit(again).outcome()).isEqualTo(Outcome.REPEATED);
			assertThat(store.commit(again.records(List.of(RecordWrite.put("note", "1", "x")))).outcome())
				.isEqualTo(Outcome.REPEATED);
		});
	}

	@Test
	void turnRepeatedInItsOwnTransactionIsRepeated() {
		Commit commit = Commit.first(this.key).turn(turn("once"));
		this.transaction.executeWithoutResult((status) -> {
			assertThat(this.store.commit(commit).outcome()).isEqualTo(Outcome.COMMITTED);
			assertThat(this.store.commit(commit).outcome()).isEqualTo(Outcome.REPEATED);
		});
		assertThat(texts()).containsExactly("once");
	}

	@Test
	void conflictLeavesTheCallersTransactionUsable() {
		this.store.add(this.key, messages("first"));
		Session stale = header();
		this.store.add(this.key, messages("second"));
		assertUsableAfter((store) -> {
			assertThat(store.commit(Commit.on(stale).turn(turn("late"))).outcome()).isEqualTo(Outcome.CONFLICT);
			assertThat(store.commit(Commit.first(this.key).turn(turn("late"))).outcome()).isEqualTo(Outcome.CONFLICT);
			assertThat(store.commit(Commit.on(stale).header(HeaderChange.NONE.title("late"))).outcome())
				.isEqualTo(Outcome.CONFLICT);
		});
		assertThat(header().title()).isNull();
	}

	@Test
	void recordThatIsNotAsExpectedTakesTheWholeCommitBackInsideATransactionToo() {
		this.store.add(this.key, messages("first"));
		this.store.put(this.key, RecordWrite.create("note", "there", "x"));
		Session before = header();
		Commit commit = Commit.on(before)
			.turn(turn("late"))
			.header(HeaderChange.NONE.title("late"))
			.records(List.of(RecordWrite.create("note", "new", "x"), RecordWrite.create("note", "there", "y")));
		assertUsableAfter((store) -> {
			assertThat(store.commit(commit).outcome()).isEqualTo(Outcome.CONFLICT);
			assertThat(store.find(this.key)).contains(before);
			assertThat(store.records(this.key, "note")).hasSize(1);
		});
	}

	@Test
	void refusedMoveLeavesTheCallersTransactionUsable() {
		this.store.add(this.key, messages("first"));
		assertUsableAfter((store) -> assertThatIllegalArgumentException()
			.isThrownBy(() -> store.commit(Commit.on(header()).header(HeaderChange.NONE.head("b", 9)))));
	}

	private void assertUsableAfter(Consumer<SessionStore> what) {
		this.transaction.executeWithoutResult((status) -> {
			what.accept(this.store);
			this.store.add(this.key, messages("after"));
		});
		assertThat(texts()).endsWith("after");
	}

	@Test
	void conflictInSerializableTransactionIsAnException() {
		notApplicableBecause(serializableReadersKeepWritersOut());
		assertConflictAt(TransactionDefinition.ISOLATION_SERIALIZABLE);
	}

	@Test
	void conflictInRepeatableReadTransactionIsAnException() {
		assertConflictAt(TransactionDefinition.ISOLATION_REPEATABLE_READ);
	}

	private void assertConflictAt(int isolation) {
		this.store.add(this.key, messages("first"));
		TransactionTemplate strict = transactionOn(this.pool);
		strict.setIsolationLevel(isolation);
		assertThatExceptionOfType(SessionConflictException.class)
			.isThrownBy(() -> strict.executeWithoutResult((status) -> {
				Session base = header();
				CompletableFuture.runAsync(() -> this.store.add(this.key, messages("other"))).join();
				this.store.commit(Commit.on(base).turn(turn("late")));
			}));
		assertThat(texts()).containsExactly("first", "other");
		strict.executeWithoutResult((status) -> this.store.commit(Commit.on(header()).turn(turn("again"))));
		assertThat(texts()).containsExactly("first", "other", "again");
	}

	@Test
	void poolWithoutAutoCommitLosesNothingInATransactionOfSomethingElse() {
		try (HikariDataSource manual = TestDatabase.pool(database().direct(), 2, false)) {
			SessionStore manualStore = storeOn(manual);
			new TransactionTemplate(new TransactionOfSomethingElse())
				.executeWithoutResult((status) -> writeAllWays(manualStore));
			assertAllWritten();
		}
	}

	/** Spring binds the connection that it takes, and nobody would commit it. */
	@Test
	void poolWithoutAutoCommitLosesNothingWhereACallerHasUsedItInATransactionOfSomethingElse() {
		try (HikariDataSource manual = TestDatabase.pool(database().direct(), 2, false)) {
			SessionStore manualStore = storeOn(manual);
			new TransactionTemplate(new TransactionOfSomethingElse()).executeWithoutResult((status) -> {
				new JdbcTemplate(manual).queryForList("select version from SESSIONKIT_SCHEMA");
				assertThat(manualStore.mayRollBack()).isFalse();
				writeAllWays(manualStore);
			});
			assertAllWritten();
		}
	}

	/**
	 * The connection is bound as in the transaction, and nobody commits what is written
	 * on it: a pool without auto-commit rolls it back.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whatIsStoredAfterTheCommitOfTheCallerIsKept(boolean autoCommit) {
		try (HikariDataSource single = TestDatabase.pool(database().direct(), 1, autoCommit)) {
			SessionStore late = storeOn(single);
			SessionKey begun = SessionKey.of("owner", UUID.randomUUID().toString());
			transactionOn(single).executeWithoutResult((status) -> {
				late.add(begun, messages("in the transaction"));
				afterCommit(() -> {
					assertThat(late.mayRollBack()).isFalse();
					assertThat(late.put(begun, RecordWrite.create("note", "1", "x"))).isTrue();
					writeAllWays(late);
				});
			});
			assertAllWritten();
			assertThat(this.store.records(begun, "note")).hasSize(1);
		}
	}

	/**
	 * A tool of the turn that does not fit may have written it, on the same connection.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whatTheCallerHasWrittenAfterItsCommitStaysWhereATurnDoesNotFit(boolean autoCommit) {
		this.store.add(this.key, messages("first"));
		Session stale = header();
		this.store.add(this.key, messages("second"));
		String order = givenOrder();
		List<Outcome> outcomes = new ArrayList<>();
		try (HikariDataSource single = TestDatabase.pool(database().direct(), 1, autoCommit)) {
			SessionStore late = storeOn(single);
			transactionOn(single).executeWithoutResult((status) -> afterCompletion(() -> {
				late.find(this.key);
				new JdbcTemplate(single).update("insert into app_order values (?)", order);
				outcomes.add(late.commit(Commit.on(stale).turn(turn("late"))).outcome());
				outcomes.add(late.commit(Commit.on(stale).header(HeaderChange.NONE.title("late"))).outcome());
			}));
		}
		assertThat(outcomes).containsExactly(Outcome.CONFLICT, Outcome.CONFLICT);
		assertThat(orders(order)).isOne();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whatIsStoredAfterTheCommitOfACallerThatHasNotUsedTheStoreIsKept(boolean autoCommit) {
		try (HikariDataSource single = TestDatabase.pool(database().direct(), 1, autoCommit)) {
			SessionStore late = storeOn(single);
			transactionOn(single).executeWithoutResult((status) -> afterCommit(() -> {
				late.add(this.key, messages("first"));
				late.commit(Commit.on(late.find(this.key).orElseThrow()).turn(turn("second")));
			}));
			assertThat(texts()).containsExactly("first", "second");
		}
	}

	/** As a <code>TransactionalEventListener</code> is called. */
	@ParameterizedTest
	@CsvSource({ "true, true", "true, false", "false, true", "false, false" })
	void whatIsStoredAfterTheEndOfATransactionOfTheCallerIsKept(boolean autoCommit, boolean rolledBack) {
		try (HikariDataSource single = TestDatabase.pool(database().direct(), 1, autoCommit)) {
			SessionStore late = storeOn(single);
			transactionOn(single).executeWithoutResult((status) -> {
				afterCompletion(() -> {
					assertThat(late.mayRollBack()).isFalse();
					writeAllWays(late);
				});
				if (rolledBack) {
					status.setRollbackOnly();
				}
			});
			assertAllWritten();
		}
	}

	/** Its connection may still be set to only read. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whatIsStoredAfterTheCommitOfACallerThatHasOnlyReadIsKept(boolean autoCommit) {
		try (HikariDataSource two = TestDatabase.pool(database().direct(), 2, autoCommit)) {
			SessionStore late = storeOn(two);
			TransactionTemplate reading = transactionOn(two);
			reading.setReadOnly(true);
			reading.executeWithoutResult((status) -> {
				assertThat(late.find(this.key)).isEmpty();
				afterCommit(() -> writeAllWays(late));
			});
			assertAllWritten();
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whatIsReadAfterTheCommitOfACallerThatHasOnlyReadWaitsForNoOtherConnection(boolean autoCommit) {
		this.store.add(this.key, messages("first"));
		List<Long> heads = new ArrayList<>();
		try (HikariDataSource single = TestDatabase.pool(database().direct(), 1, autoCommit)) {
			SessionStore late = storeOn(single);
			TransactionTemplate reading = transactionOn(single);
			reading.setReadOnly(true);
			reading.executeWithoutResult((status) -> {
				heads.add(late.find(this.key).orElseThrow().head());
				afterCommit(() -> heads.add(late.find(this.key).orElseThrow().head()));
				afterCompletion(() -> heads.add(late.find(this.key).orElseThrow().head()));
			});
			assertThat(heads).containsExactly(1L, 1L, 1L);
			late.add(this.key, messages("second"));
			assertThat(texts()).containsExactly("first", "second");
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void whatIsStoredWhileATransactionEndsIsRolledBackWithIt(boolean autoCommit) {
		try (HikariDataSource single = TestDatabase.pool(database().direct(), 1, autoCommit)) {
			SessionStore early = storeOn(single);
			transactionOn(single).executeWithoutResult((status) -> {
				early.add(this.key, messages("first"));
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void beforeCompletion() {
						early.add(JdbcTransactionContract.this.key, messages("second"));
					}

				});
				status.setRollbackOnly();
			});
			assertThat(this.store.find(this.key)).isEmpty();
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void transactionAfterTheCommitOfAnotherOneIsJoined(boolean autoCommit) {
		try (HikariDataSource two = TestDatabase.pool(database().direct(), 2, autoCommit)) {
			SessionStore late = storeOn(two);
			TransactionTemplate inner = transactionOn(two);
			inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			transactionOn(two).executeWithoutResult((status) -> {
				late.add(this.key, messages("in the transaction"));
				afterCommit(() -> {
					inner.executeWithoutResult((rolledBack) -> {
						late.add(this.key, messages("rolled back"));
						rolledBack.setRollbackOnly();
					});
					inner.executeWithoutResult((kept) -> late.add(this.key, messages("inner")));
					late.add(this.key, messages("after it"));
				});
			});
			assertThat(texts()).containsExactly("in the transaction", "inner", "after it");
		}
	}

	/** What fails there fails in the caller, what fails at the end is in a log only. */
	private static void afterCommit(Runnable what) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				what.run();
			}

		});
	}

	private static void afterCompletion(Runnable what) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCompletion(int status) {
				what.run();
			}

		});
	}

	/** As the manager of JPA does it. */
	@Test
	void transactionWhoseManagerOnlyExposesItsConnectionIsJoined() {
		TransactionTemplate exposed = new TransactionTemplate(new ExposingManager(this.pool));
		exposed.executeWithoutResult((status) -> {
			assertThat(this.store.mayRollBack()).isTrue();
			this.store.add(this.key, messages("first"));
			new JdbcTemplate(this.pool).queryForList("select version from SESSIONKIT_SCHEMA");
			this.store.add(this.key, messages("second"));
			status.setRollbackOnly();
		});
		assertThat(this.store.find(this.key)).isEmpty();
		exposed.executeWithoutResult((status) -> this.store.add(this.key, messages("again")));
		assertThat(texts()).containsExactly("again");
	}

	/** Begins and commits on a connection of which its holder knows nothing else. */
	private static final class ExposingManager extends AbstractPlatformTransactionManager {

		private final DataSource dataSource;

		ExposingManager(DataSource dataSource) {
			this.dataSource = dataSource;
		}

		@Override
		protected Object doGetTransaction() {
			return this;
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			try {
				Connection connection = this.dataSource.getConnection();
				connection.setAutoCommit(false);
				TransactionSynchronizationManager.bindResource(this.dataSource, new ConnectionHolder(connection));
			}
			catch (SQLException ex) {
				throw new TransactionSystemException("not now", ex);
			}
		}

		private void end(Use use) {
			ConnectionHolder bound = (ConnectionHolder) TransactionSynchronizationManager
				.unbindResource(this.dataSource);
			try (Connection connection = bound.getConnection()) {
				use.of(connection);
				connection.setAutoCommit(true);
			}
			catch (SQLException ex) {
				throw new TransactionSystemException("not now", ex);
			}
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			end(Connection::commit);
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
			end(Connection::rollback);
		}

		/** Something that is done with a connection. */
		@FunctionalInterface
		private interface Use {

			void of(Connection connection) throws SQLException;

		}

	}

	/**
	 * Manages neither this database nor any other thing that the store could see.
	 */
	private static final class TransactionOfSomethingElse extends AbstractPlatformTransactionManager {

		@Override
		protected Object doGetTransaction() {
			return this;
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

	@Test
	void poolWithoutAutoCommitLosesNothing() {
		try (HikariDataSource manual = TestDatabase.pool(database().direct(), 2, false)) {
			SessionStore manualStore = storeOn(manual);
			writeAllWays(manualStore);
			assertAllWritten();
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { TransactionDefinition.PROPAGATION_SUPPORTS, TransactionDefinition.PROPAGATION_NOT_SUPPORTED,
			TransactionDefinition.PROPAGATION_NEVER })
	void poolWithoutAutoCommitLosesNothingInAScopeWithoutTransaction(int propagation) {
		try (HikariDataSource manual = TestDatabase.pool(database().direct(), 2, false)) {
			TransactionTemplate scope = transactionOn(manual);
			scope.setPropagationBehavior(propagation);
			scope.executeWithoutResult((status) -> writeAllWays(storeOn(manual)));
			assertAllWritten();
		}
	}

	@Test
	void poolOfOneConnectionIsEnough() {
		try (HikariDataSource single = database().pool(1)) {
			SessionStore singleStore = storeOn(single);
			writeAllWays(singleStore);
			transactionOn(single).executeWithoutResult((status) -> {
				singleStore.add(this.key, messages("in a transaction"));
				singleStore.open(this.key, Window.ALL);
				singleStore.pop(this.key);
			});
			assertAllWritten();
		}
	}

	private void writeAllWays(SessionStore written) {
		Commit first = Commit.first(this.key).turn(turn("first"));
		written.commit(first);
		written.commit(first);
		Session base = written.find(this.key).orElseThrow();
		written.commit(Commit.on(base).turn(turn("plain")));
		written.commit(Commit.on(base).turn(turn("late")));
		written.add(this.key, messages("any"));
		Session later = written.find(this.key).orElseThrow();
		written.commit(Commit.on(later).turn(turn("recorded")).records(List.of(RecordWrite.put("note", "1", "x"))));
		written.put(this.key, RecordWrite.put("note", "2", "y"));
		written.add(SessionKey.of("owner", "gone"), messages("gone"));
		written.clear(SessionKey.of("owner", "gone"));
	}

	private void assertAllWritten() {
		assertThat(texts()).containsExactly("first", "plain", "any", "recorded");
		assertThat(this.store.records(this.key, "note")).hasSize(2);
		assertThat(this.store.find(SessionKey.of("owner", "gone"))).isEmpty();
		assertThat(this.store.list("owner", Page.first(1000))).extracting(Session::key).contains(this.key);
	}

	@Test
	void connectionsComeBackAsTheyWere() throws Exception {
		try (HikariDataSource single = database().pool(1)) {
			writeAllWays(storeOn(single));
			try (var connection = single.getConnection()) {
				assertThat(connection.getAutoCommit()).isTrue();
			}
		}
	}

	@Test
	void recordOutlivesTheRollbackOfTheCallerAndDoesNotWaitForItsTurn() {
		notApplicableBecause(oneWriterAtATime());
		this.store.add(this.key, messages("first"));
		this.transaction.executeWithoutResult((status) -> {
			commitPlainTurn();
			commitWithRecord();
			assertThat(this.store.put(this.key, RecordWrite.create("claim", "1", "mine"))).isTrue();
			status.setRollbackOnly();
		});
		assertThat(texts()).containsExactly("first");
		assertThat(this.store.records(this.key, "claim")).hasSize(1);
	}

	@Test
	void recordInsideATransactionSaysThatThePoolIsTooSmall() {
		this.store.add(this.key, messages("first"));
		try (HikariDataSource single = new HikariDataSource()) {
			single.setDataSource(database().direct());
			single.setMaximumPoolSize(1);
			single.setConnectionTimeout(250);
			SessionStore singleStore = storeOn(single);
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> transactionOn(single).executeWithoutResult((status) -> {
					singleStore.find(this.key);
					singleStore.put(this.key, RecordWrite.create("claim", "1", "mine"));
				}));
		}
	}

	@Test
	void recordThatIsPutWhileItsSessionIsErasedIsTakenBack() {
		this.store.add(this.key, messages("first"));
		AtomicBoolean erased = new AtomicBoolean();
		DataSource slow = new BeforeStatement(this.pool, "insert into SESSIONKIT_RECORD", () -> {
			if (erased.compareAndSet(false, true)) {
				this.store.erase(this.key);
			}
		});
		assertThat(storeOn(slow).put(this.key, RecordWrite.create("note", "1", "x"))).isFalse();
		assertThat(erased).isTrue();
		assertThat(database().leftOf(this.key)).isZero();
	}

	@Test
	void recordThatIsPutWhileATransactionErasesItsSessionIsTakenBack() {
		this.store.add(this.key, messages("first"));
		List<CompletableFuture<Boolean>> puts = new ArrayList<>();
		this.transaction.executeWithoutResult((status) -> {
			this.store.erase(this.key);
			CompletableFuture<Boolean> put = CompletableFuture
				.supplyAsync(() -> this.store.put(this.key, RecordWrite.create("note", "1", "x")));
			puts.add(put);
			// some databases let it wait for this transaction
			put.copy().completeOnTimeout(false, 1, TimeUnit.SECONDS).join();
		});
		puts.forEach(CompletableFuture::join);
		assertThat(database().leftOf(this.key)).isZero();
	}

	@Test
	void pathOfASessionThatIsErasedMeanwhileIsEmpty() {
		this.store.add(this.key, messages("first"));
		AtomicBoolean erased = new AtomicBoolean();
		DataSource slow = new BeforeStatement(this.pool, "select t.turn_no", () -> {
			if (erased.compareAndSet(false, true)) {
				this.store.erase(this.key);
			}
		});
		// one statement may read all of a path that is there
		assertThat(storeOn(slow).path(this.key, PathQuery.to(Point.at(7)))).isEmpty();
		assertThat(erased).isTrue();
	}

	/**
	 * As if the clock had been set back by an hour since the session was written.
	 */
	@Test
	void recordIsJudgedByTheClockAlsoWhereTheHeaderIsOfLater() {
		this.store.add(this.key, messages("first"));
		long hour = Duration.ofHours(1).toMillis() * 1000;
		new JdbcTemplate(this.pool).update("update SESSIONKIT_SESSION set updated_at = updated_at + ? where id = ?",
				hour, this.key.id());
		Session later = header();
		this.store.put(this.key, RecordWrite.create("note", "1", "put").timeToLive(Duration.ofMinutes(1)));
		SessionRecord put = this.store.record(this.key, "note", "1").orElseThrow();
		CommitResult result = this.store.commit(Commit.on(later)
			.turn(turn("second"))
			.records(List.of(RecordWrite.replace(put, "committed").timeToLive(Duration.ofMinutes(1)),
					RecordWrite.create("note", "2", "created").timeToLive(Duration.ofMinutes(1)))));
		assertThat(result.outcome()).isEqualTo(Outcome.COMMITTED);
		for (SessionRecord record : this.store.records(this.key, "note")) {
			assertThat(record.writtenAt()).isBetween(put.writtenAt(), put.writtenAt().plusSeconds(30));
			assertThat(record.expiresAt()).isEqualTo(record.writtenAt().plusSeconds(60));
		}
	}

	/**
	 * As if the clock had been set back by an hour since the session was written.
	 */
	@Test
	void sessionIsOfTheTimeOfItsLastWriteWhateverTheClockSaidBefore() {
		this.store.commit(Commit.first(this.key).header(HeaderChange.NONE.timeToLive(Duration.ofMinutes(30))));
		Instant before = header().updatedAt();
		List<Consumer<Session>> ways = List.of((header) -> this.store.commit(Commit.on(header).turn(turn("plain"))),
				(header) -> this.store.commit(Commit.on(header).header(HeaderChange.NONE.title("title"))),
				(header) -> this.store.commit(Commit.on(header)
					.turn(turn("with it"))
					.records(List.of(RecordWrite.create("note", "1", "x")))));
		for (Consumer<Session> way : ways) {
			long hour = Duration.ofHours(1).toMillis() * 1000;
			new JdbcTemplate(this.pool).update(
					"update SESSIONKIT_SESSION set updated_at = updated_at + ?, expires_at = expires_at + ? where id = ?",
					hour, hour, this.key.id());
			way.accept(header());
			Session written = header();
			assertThat(written.updatedAt()).isBetween(before, before.plusSeconds(60));
			assertThat(written.expiresAt()).isEqualTo(written.updatedAt().plus(Duration.ofMinutes(30)));
		}
	}

	@Test
	void writesInATransactionAreOfTheirOwnTimesUnlessTheDatabaseHasOneForAll() {
		Duration between = Duration.ofMillis(20);
		SessionKey later = SessionKey.of("owner", UUID.randomUUID().toString());
		this.transaction.executeWithoutResult((status) -> {
			writeForAnHour(this.key);
			await().pollDelay(between).until(() -> true);
			writeForAnHour(later);
		});
		Session first = header();
		Session second = this.store.find(later).orElseThrow();
		Duration passed = Duration.between(first.updatedAt(), second.updatedAt());
		assertThat(passed).matches((time) -> hasOneTimePerTransaction() ? time.isZero() : time.compareTo(between) >= 0);
		assertThat(Duration.between(first.expiresAt(), second.expiresAt())).isEqualTo(passed);
	}

	private void writeForAnHour(SessionKey key) {
		this.store.commit(Commit.first(key).turn(turn("q")).header(HeaderChange.NONE.timeToLive(Duration.ofHours(1))));
	}

	/**
	 * As if the clock had been a year ahead when the session was written, and is right
	 * again.
	 */
	@Test
	void retentionDeletesNothingByTheTimeOfAHeaderThatIsOfLater() {
		Conversations conversations = Conversations.builder(this.store)
			.retention(Retention.keepFor(Duration.ofDays(90)).batch(1))
			.build();
		ScriptedChatModel model = new ScriptedChatModel().says("a");
		IntStream.rangeClosed(1, 5).forEach((i) -> this.store.add(this.key, messages("q" + i)));
		long day = Duration.ofDays(1).toMillis() * 1000;
		new JdbcTemplate(this.pool).update(
				"update SESSIONKIT_SESSION set created_at = created_at - ?, updated_at = updated_at + ? where id = ?",
				100 * day, 365 * day, this.key.id());
		ChatClient chat = ChatClient.builder(model).defaultAdvisors(SessionAdvisor.of(conversations)).build();
		chat.prompt()
			.user("q6")
			.advisors(SessionAdvisor.session(this.key).andThen(SessionAdvisor.concurrency(Concurrency.SERIALIZE)))
			.call()
			.content();
		assertThat(texts()).containsExactly("q1", "q2", "q3", "q4", "q5", "q6", "a");
	}

	/** The drivers of SQL Server and Oracle throw there. */
	@Test
	void turnIsStoredWhereASavepointCannotBeReleased() {
		DataSource keeping = new WithoutRelease(this.pool);
		SessionStore there = storeOn(keeping);
		transactionOn(keeping).executeWithoutResult((status) -> {
			there.add(this.key, messages("first"));
			there.commit(Commit.on(there.find(this.key).orElseThrow())
				.turn(turn("second"))
				.records(List.of(RecordWrite.create("note", "1", "x"))));
		});
		assertThat(texts()).containsExactly("first", "second");
		assertThat(this.store.records(this.key, "note")).hasSize(1);
	}

	/** Connections that cannot release a savepoint. */
	private static final class WithoutRelease extends DelegatingDataSource {

		WithoutRelease(DataSource target) {
			super(target);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection target = super.getConnection();
			return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
					new Class<?>[] { Connection.class }, (proxy, method, args) -> {
						if (method.getName().equals("releaseSavepoint")) {
							throw new SQLFeatureNotSupportedException("This operation is not supported.");
						}
						try {
							return method.invoke(target, args);
						}
						catch (InvocationTargetException ex) {
							throw ex.getTargetException();
						}
					});
		}

	}

	@Test
	void erasureSaysWhetherItsTransactionHasSeenASession() {
		this.store.add(this.key, messages("first"));
		this.transaction.executeWithoutResult((status) -> {
			assertThat(this.store.erase(this.key)).isTrue();
			assertThat(this.store.erase(this.key)).isFalse();
			this.store.add(this.key, messages("second"));
			assertThat(this.store.clear(this.key)).isTrue();
			status.setRollbackOnly();
		});
		assertThat(texts()).containsExactly("first");
		assertThat(this.store.erase(this.key)).isTrue();
	}

	@Test
	void recordStaysWhereTheTransactionThatErasedItsSessionIsRolledBack() {
		this.store.add(this.key, messages("first"));
		this.store.put(this.key, RecordWrite.create("note", "1", "x"));
		this.transaction.executeWithoutResult((status) -> {
			this.store.erase(this.key);
			status.setRollbackOnly();
		});
		assertThat(this.store.records(this.key, "note")).hasSize(1);
	}

	/** The transaction around it is committed, which deletes what comes too late. */
	@Test
	void recordStaysWhereTheNestedTransactionThatErasedItsSessionIsRolledBack() {
		this.store.add(this.key, messages("first"));
		this.store.put(this.key, RecordWrite.create("note", "1", "x"));
		TransactionTemplate nested = transactionOn(this.pool);
		nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		this.transaction.executeWithoutResult((outer) -> nested.executeWithoutResult((status) -> {
			this.store.erase(this.key);
			status.setRollbackOnly();
		}));
		assertThat(texts()).containsExactly("first");
		assertThat(this.store.records(this.key, "note")).hasSize(1);
	}

	@Test
	void recordThatIsPutWhileASessionIsErasedBeforeANestedTransactionIsTakenBack() {
		this.store.add(this.key, messages("first"));
		List<CompletableFuture<Boolean>> puts = new ArrayList<>();
		TransactionTemplate nested = transactionOn(this.pool);
		nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		this.transaction.executeWithoutResult((outer) -> {
			this.store.erase(this.key);
			CompletableFuture<Boolean> put = CompletableFuture
				.supplyAsync(() -> this.store.put(this.key, RecordWrite.create("note", "1", "x")));
			puts.add(put);
			// some databases let it wait for this transaction
			put.copy().completeOnTimeout(false, 1, TimeUnit.SECONDS).join();
			nested.executeWithoutResult(TransactionStatus::setRollbackOnly);
		});
		puts.forEach(CompletableFuture::join);
		assertThat(database().leftOf(this.key)).isZero();
	}

	@Test
	void transactionAwareProxyIsSeenThrough() {
		SessionStore proxied = storeOn(new TransactionAwareDataSourceProxy(this.pool));
		this.transaction.executeWithoutResult((status) -> {
			proxied.add(this.key, messages("first"));
			status.setRollbackOnly();
		});
		assertThat(this.store.find(this.key)).isEmpty();
	}

	@Test
	void fragmentedHistoriesAreReadWhole() {
		for (int i = 1; i <= 40; i++) {
			this.store.add(this.key, messages("q" + i, "a" + i));
			this.store.commit(Commit.any(this.key).turn(new TurnWrite(failed(), 0, items("failed"))));
		}
		assertThat(header().turns()).isEqualTo(80);
		assertThat(texts()).hasSize(80).startsWith("q1", "a1").endsWith("q40", "a40").doesNotContain("failed");
		assertThat(view(Window.turns(3))).containsExactly("q38", "a38", "q39", "a39", "q40", "a40");
		assertThat(view(Window.items(5))).containsExactly("q39", "a39", "q40", "a40");
		assertThat(view(Window.items(80))).hasSize(80);
		assertThat(this.store.messages(this.key, 3)).extracting(Message::getText).containsExactly("a39", "q40", "a40");
	}

	private Turn failed() {
		return Turn.builder(UUID.randomUUID().toString(), AT)
			.after(header().head(), Session.MAIN)
			.status(TurnStatus.FAILED, AT)
			.build();
	}

	@Test
	void deletingManyItemsLeavesTheRest() {
		for (int i = 1; i <= 300; i++) {
			this.store.add(this.key, messages("q" + i, "a" + i));
		}
		Set<Long> first = new HashSet<>();
		for (long i = 1; i <= 590; i++) {
			first.add(i);
		}
		this.store.commit(Commit.any(this.key).delete(first));
		assertThat(texts()).containsExactly("q296", "a296", "q297", "a297", "q298", "a298", "q299", "a299", "q300",
				"a300");
		assertThat(header().totals().items()).isEqualTo(10);
	}

	private void commitPlainTurn() {
		CommitResult result = this.store.commit(Commit.on(header()).turn(turn("plain")));
		assertThat(result.outcome()).isEqualTo(Outcome.COMMITTED);
	}

	private void commitWithRecord() {
		CommitResult result = this.store.commit(Commit.on(header())
			.turn(turn("recorded"))
			.records(List.of(RecordWrite.create("note", UUID.randomUUID().toString(), "x"))));
		assertThat(result.outcome()).isEqualTo(Outcome.COMMITTED);
	}

	private Session header() {
		return this.store.find(this.key).orElseThrow();
	}

	private List<String> texts() {
		return this.store.items(this.key, Tail.ALL).stream().map((item) -> item.message().getText()).toList();
	}

	private List<String> view(Window window) {
		return this.store.open(this.key, window)
			.orElseThrow()
			.items()
			.stream()
			.map((item) -> item.message().getText())
			.toList();
	}

	static SessionStore storeOn(DataSource dataSource) {
		return new JdbcSessionStore(dataSource, StoreOptions.of(JsonMessageCodec.create()));
	}

	static TransactionTemplate transactionOn(DataSource dataSource) {
		return new TransactionTemplate(new DataSourceTransactionManager(dataSource));
	}

	static TurnWrite turn(String... texts) {
		Turn turn = Turn.builder(UUID.randomUUID().toString(), AT).build();
		return new TurnWrite(turn, 0, items(texts));
	}

	static List<NewItem> items(String... texts) {
		return messages(texts).stream().map((message) -> new NewItem(message, AT, 7)).toList();
	}

	static List<Message> messages(String... texts) {
		return Arrays.stream(texts).<Message>map(UserMessage::new).toList();
	}

}
