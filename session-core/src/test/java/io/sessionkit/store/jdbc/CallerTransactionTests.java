package io.sessionkit.store.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.DecisionRefusedException;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.SessionEvent;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClient.AdvisorSpec;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * Calls that would wait for the transaction that they are made in. They are refused
 * before the model is called.
 */
class CallerTransactionTests {

	private static final List<TestDatabase> DATABASES = List.of(TestDatabase.h2().created(),
			TestDatabase.hsqldb("mvcc").created(), TestDatabase.sqlite().created(), TestDatabase.postgres().created(),
			TestDatabase.mariaDb().created());

	private static final Consumer<AdvisorSpec> NOTHING = (spec) -> {
	};

	private static final Consumer<AdvisorSpec> IN_LINE = SessionAdvisor.concurrency(Concurrency.SERIALIZE);

	private static final Consumer<AdvisorSpec> WITH_KEY = SessionAdvisor.idempotencyKey("request");

	private final SessionKey key = SessionKey.of(UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	private HikariDataSource pool;

	private SessionStore store;

	private Conversations conversations;

	private Approvals approvals;

	private ChatClient chat;

	record Order(int id) {
	}

	static List<TestDatabase> databases() {
		return DATABASES;
	}

	private void use(TestDatabase database) {
		this.pool = database.pool(4);
		this.store = JdbcTransactionContract.storeOn(this.pool);
		use(this.store);
	}

	private void use(SessionStore there) {
		this.conversations = Conversations.builder(there).lease(Duration.ofSeconds(30)).build();
		this.approvals = Approvals.builder(this.conversations).tools(Set.of("cancel")).build();
		this.chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(this.conversations)
				.approvals(this.approvals)
				.concurrencyTimeout(Duration.ofSeconds(30))
				.build())
			.defaultToolCallbacks(cancelling())
			.build();
	}

	private static ToolCallback cancelling() {
		return FunctionToolCallback.builder("cancel", (Order order) -> "done")
			.description("cancels")
			.inputType(Order.class)
			.build();
	}

	@AfterEach
	void close() {
		if (this.pool != null) {
			this.conversations.close();
			this.pool.close();
		}
	}

	private void givenSession() {
		this.store.add(this.key, List.of(new UserMessage("before"), new AssistantMessage("there")));
	}

	private Conversation conversation() {
		return this.conversations.get(this.key);
	}

	private String call(Consumer<AdvisorSpec> how) {
		return String.valueOf(spec(how).call().content());
	}

	private ChatClient.ChatClientRequestSpec spec(Consumer<AdvisorSpec> how) {
		return this.chat.prompt().user("q").advisors(SessionAdvisor.session(this.key)).advisors(how);
	}

	private void stream() {
		spec(NOTHING).stream().content().blockLast();
	}

	private void inTransaction(Runnable what) {
		// if it waits for itself, the test fails and does not wait too
		assertTimeoutPreemptively(Duration.ofSeconds(60), () -> transaction(TransactionDefinition.PROPAGATION_REQUIRED)
			.executeWithoutResult((status) -> what.run()));
	}

	private TransactionTemplate transaction(int propagation) {
		TransactionTemplate transaction = JdbcTransactionContract.transactionOn(this.pool);
		transaction.setPropagationBehavior(propagation);
		return transaction;
	}

	private void assertRefused(Runnable call) {
		int calls = this.model.prompts().size();
		assertThatExceptionOfType(TurnInProgressException.class).isThrownBy(call::run)
			.withMessageContaining("transaction")
			.withMessageContaining("commit")
			.withMessageContaining(this.key.toString());
		assertThat(this.model.prompts()).as("calls of the model").hasSize(calls);
	}

	private List<String> texts() {
		return this.store.messages(this.key).stream().map((message) -> message.getText()).toList();
	}

	@ParameterizedTest
	@MethodSource("databases")
	void secondCallInLineIsRefusedInTheTransactionOfTheFirst(TestDatabase database) {
		use(database);
		givenSession();
		this.model.says("a1").says("a2");
		inTransaction(() -> {
			call(IN_LINE);
			assertRefused(() -> call(IN_LINE));
			assertRefused(() -> call(SessionAdvisor.concurrency(Concurrency.REJECT)));
			assertRefused(() -> call(SessionAdvisor.concurrency(Concurrency.STEER)));
		});
		assertThat(call(IN_LINE)).isEqualTo("a2");
		assertThat(texts()).containsExactly("before", "there", "q", "a1", "q", "a2");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void requestThatIsRepeatedInItsTransactionIsRefused(TestDatabase database) {
		use(database);
		givenSession();
		this.model.says("a1");
		inTransaction(() -> {
			call(WITH_KEY);
			assertRefused(() -> call(WITH_KEY));
		});
		assertThat(call(WITH_KEY)).isEqualTo("a1");
		assertThat(texts()).containsExactly("before", "there", "q", "a1");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void callInLineOfASessionThatTheTransactionBeginsIsRefused(TestDatabase database) {
		use(database);
		this.model.says("a1").says("a2");
		inTransaction(() -> {
			conversation().create(HeaderChange.NONE.title("t"));
			assertRefused(() -> call(IN_LINE));
			assertRefused(() -> call(WITH_KEY));
			assertThat(call(NOTHING)).isEqualTo("a1");
		});
		assertThat(call(WITH_KEY)).isEqualTo("a2");
	}

	/** As for a message that is delivered twice. */
	@ParameterizedTest
	@MethodSource("databases")
	void recordBesideARepeatedCommitIsWrittenIfThatHasBegunTheSessionBefore(TestDatabase database) {
		use(database);
		Assumptions.assumeFalse(oneWriter(database), "one writer at a time");
		Commit first = Commit.first(this.key).turn(JdbcTransactionContract.turn("before"));
		this.store.commit(first);
		inTransaction(() -> {
			assertThat(this.store.commit(first).outcome()).isEqualTo(CommitResult.Outcome.REPEATED);
			assertThat(this.store.put(this.key, RecordWrite.create("note", "1", "x"))).isTrue();
		});
	}

	@ParameterizedTest
	@MethodSource("databases")
	void callInLineBehindMessagesOfTheTransactionThatBeginASessionIsRefused(TestDatabase database) {
		use(database);
		this.model.says("a1");
		inTransaction(() -> {
			givenSession();
			assertRefused(() -> call(WITH_KEY));
		});
		assertThat(call(WITH_KEY)).isEqualTo("a1");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void firstCallInLineBeginsASessionAndTheSecondIsRefused(TestDatabase database) {
		use(database);
		this.model.says("a1");
		inTransaction(() -> {
			assertThat(call(IN_LINE)).isEqualTo("a1");
			assertRefused(() -> call(IN_LINE));
		});
		assertThat(texts()).containsExactly("q", "a1");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void callInLineWithAKeyBeginsASession(TestDatabase database) {
		use(database);
		this.model.says("a1").says("a2");
		Consumer<AdvisorSpec> both = WITH_KEY.andThen(IN_LINE);
		inTransaction(() -> {
			assertThat(call(both)).isEqualTo("a1");
			assertRefused(() -> call(both));
		});
		assertThat(call(both)).as("the same request").isEqualTo("a1");
		assertThat(call(IN_LINE)).isEqualTo("a2");
		assertThat(texts()).containsExactly("q", "a1", "q", "a2");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void bothPlacesInASessionThatATransactionBeginsAreGoneWhenItIsRolledBack(TestDatabase database) {
		use(database);
		this.model.says("lost").says("a1");
		Consumer<AdvisorSpec> both = WITH_KEY.andThen(SessionAdvisor.concurrency(Concurrency.STEER));
		transaction(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((status) -> {
			assertThat(call(both)).isEqualTo("lost");
			status.setRollbackOnly();
		});
		assertThat(this.store.find(this.key)).isEmpty();
		assertThat(call(both)).isEqualTo("a1");
		assertThat(texts()).containsExactly("q", "a1");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void callInLineOfASessionThatTheTransactionEndsIsRefused(TestDatabase database) {
		use(database);
		givenSession();
		inTransaction(() -> {
			conversation().erase();
			assertRefused(() -> call(IN_LINE));
		});
		assertThat(this.store.find(this.key)).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("databases")
	void firstCallInLineWorksBehindOtherWritesOfTheTransaction(TestDatabase database) {
		use(database);
		Assumptions.assumeFalse(oneWriter(database), "one writer at a time");
		givenSession();
		this.model.says("a1").says("a2").says("a3");
		TransactionTemplate transaction = transaction(TransactionDefinition.PROPAGATION_REQUIRED);
		transaction.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
		transaction.executeWithoutResult((status) -> {
			conversation().putAttribute("name", "ada");
			call(NOTHING);
			assertThat(call(IN_LINE)).isEqualTo("a2");
			assertThat(call(WITH_KEY)).isEqualTo("a3");
		});
		assertThat(texts()).hasSize(8);
	}

	/** MariaDB begins such transactions if nobody says otherwise. */
	@ParameterizedTest
	@MethodSource("databases")
	void callInLineIsRefusedInATransactionThatDoesNotSeeItsPlace(TestDatabase database) {
		Assumptions.assumeFalse(database.toString().equals("H2"), "sees what is new in tables that it has not read");
		use(database);
		givenSession();
		this.model.says("a1");
		TransactionTemplate transaction = transaction(TransactionDefinition.PROPAGATION_REQUIRED);
		transaction.setIsolationLevel(oneWriter(database) ? TransactionDefinition.ISOLATION_DEFAULT
				: TransactionDefinition.ISOLATION_REPEATABLE_READ);
		transaction.executeWithoutResult((status) -> {
			assertThat(conversation().messages()).hasSize(2);
			assertRefused(() -> call(IN_LINE));
		});
		assertThat(call(SessionAdvisor.concurrency(Concurrency.REJECT))).as("without waiting").isEqualTo("a1");
		assertThat(texts()).hasSize(4);
	}

	@ParameterizedTest
	@MethodSource("databases")
	void streamIsRefusedInTheTransactionThatHasWrittenItsSession(TestDatabase database) {
		use(database);
		givenSession();
		this.model.says("a1").says("a2");
		inTransaction(() -> {
			call(NOTHING);
			assertRefused(this::stream);
		});
		stream();
		assertThat(texts()).containsExactly("before", "there", "q", "a1", "q", "a2");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void transactionInsideOfOneThatHasWrittenTheSessionIsRefused(TestDatabase database) {
		use(database);
		givenSession();
		this.model.says("a1").says("a2");
		inTransaction(() -> {
			call(NOTHING);
			for (int inner : List.of(TransactionDefinition.PROPAGATION_REQUIRES_NEW,
					TransactionDefinition.PROPAGATION_NOT_SUPPORTED)) {
				transaction(inner).executeWithoutResult((status) -> {
					assertRefused(() -> conversation().title("t"));
					assertRefused(() -> call(NOTHING));
					assertRefused(() -> call(IN_LINE));
					assertRefused(this::stream);
					assertThat(conversation().messages()).hasSize(2);
				});
			}
			conversation().title("t");
			assertThat(call(NOTHING)).isEqualTo("a2");
		});
		assertThat(texts()).hasSize(6);
	}

	@ParameterizedTest
	@MethodSource("databases")
	void transactionInsideOfOneThatHasWrittenSomethingElseWorks(TestDatabase database) {
		use(database);
		Assumptions.assumeFalse(oneWriter(database), "one writer at a time");
		givenSession();
		this.model.says("a1");
		inTransaction(() -> {
			this.store.add(SessionKey.of(UUID.randomUUID().toString()), List.of(new UserMessage("other")));
			transaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
				.executeWithoutResult((status) -> assertThat(call(IN_LINE)).isEqualTo("a1"));
		});
		assertThat(texts()).hasSize(4);
	}

	@ParameterizedTest
	@MethodSource("databases")
	void nothingIsKnownOfATransactionThatHasEnded(TestDatabase database) {
		use(database);
		this.model.says("a1").says("lost").says("a2").says("a3");
		transaction(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((status) -> call(NOTHING));
		transaction(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((status) -> {
			call(NOTHING);
			status.setRollbackOnly();
		});
		stream();
		assertThat(call(IN_LINE)).isEqualTo("a3");
		assertThat(texts()).containsExactly("q", "a1", "q", "a2", "q", "a3");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void nothingIsRefusedAfterTheCommit(TestDatabase database) {
		use(database);
		this.model.says("a1").says("a2").says("a3");
		inTransaction(() -> {
			call(WITH_KEY);
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					assertThat(call(WITH_KEY)).isEqualTo("a1");
					assertThat(call(IN_LINE)).isEqualTo("a2");
					stream();
				}

			});
		});
		assertThat(texts()).containsExactly("q", "a1", "q", "a2", "q", "a3");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void placesInLineAreFreeWhenTheTransactionIsRolledBack(TestDatabase database) {
		use(database);
		givenSession();
		this.model.says("lost").says("a1");
		Consumer<AdvisorSpec> both = WITH_KEY.andThen(IN_LINE);
		transaction(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((status) -> {
			call(both);
			status.setRollbackOnly();
		});
		// the places would live for 30 s, and it waits for 5
		assertThat(call(both)).isEqualTo("a1");
		assertThat(texts()).containsExactly("before", "there", "q", "a1");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void placesInLineAreFreeOnceTheTransactionHasEndedWhoseNestedOneIsRolledBack(TestDatabase database) {
		use(database);
		givenSession();
		this.model.says("lost").says("a1");
		Consumer<AdvisorSpec> both = WITH_KEY.andThen(IN_LINE);
		inTransaction(() -> {
			nested((status) -> {
				call(both);
				status.setRollbackOnly();
			});
			assertThat(texts()).containsExactly("before", "there");
			assertRefused(() -> call(both));
		});
		// the places would live for 30 s, and it waits for 5
		assertThat(call(both)).isEqualTo("a1");
		assertThat(texts()).containsExactly("before", "there", "q", "a1");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void onlyWhatBelongsToNestedTransactionsThatAreRolledBackIsTakenBackAfterTheCommit(TestDatabase database) {
		use(database);
		List<String> done = new ArrayList<>();
		Consumer<String> begin = (name) -> this.store.whenRolledBack(() -> done.add(name));
		inTransaction(() -> {
			nested((status) -> {
				begin.accept("before all others");
				status.setRollbackOnly();
			});
			begin.accept("outer");
			nested((status) -> {
				begin.accept("around");
				nested((inner) -> begin.accept("inside"));
				status.setRollbackOnly();
			});
			nested((status) -> {
				begin.accept("kept");
				nested((inner) -> {
					begin.accept("inside of kept");
					inner.setRollbackOnly();
				});
			});
			assertThat(done).isEmpty();
		});
		assertThat(done).containsExactly("before all others", "around", "inside", "inside of kept");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void listenerIsToldOfATurnBeforeItsTransactionIsRolledBack(TestDatabase database) {
		use(database);
		this.model.says("lost");
		List<Turn> heard = new ArrayList<>();
		SessionListener listener = new SessionListener() {

			@Override
			public void committed(SessionEvent.Committed event) {
				heard.add(event.turn());
			}

		};
		transaction(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((status) -> {
			call(SessionAdvisor.listener(listener));
			assertThat(heard).hasSize(1);
			status.setRollbackOnly();
		});
		assertThat(heard).hasSize(1);
		assertThat(this.store.find(this.key)).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("databases")
	void turnWhoseToolErasesItsSessionInATransactionThatIsRolledBackIsStored(TestDatabase database) {
		use(database);
		givenSession();
		eraseBy(() -> transaction(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult(this::eraseInVain));
		inTransaction(() -> eraseBy(() -> nested(this::eraseInVain)));
		assertThat(texts()).as("what was there, and four messages of each turn")
			.hasSize(10)
			.startsWith("before", "there");
	}

	private void eraseBy(Runnable tool) {
		this.model.calls(new ToolCall("c1", "function", "erase", "{}")).says("still there");
		String reply = spec(NOTHING).toolCallbacks(FunctionToolCallback.builder("erase", () -> {
			tool.run();
			return "not erased";
		}).description("erases").build()).call().content();
		assertThat(reply).isEqualTo("still there");
	}

	private void eraseInVain(TransactionStatus status) {
		conversation().erase();
		assertThat(this.store.find(this.key)).isEmpty();
		status.setRollbackOnly();
	}

	private void nested(Consumer<TransactionStatus> what) {
		transaction(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult(what);
	}

	@ParameterizedTest
	@MethodSource("databases")
	void callInATransactionThatOnlyReadsIsRefusedUnlessItOnlyReads(TestDatabase database) {
		use(database);
		givenSession();
		this.model.says("read").says("streamed");
		TransactionTemplate reading = transaction(TransactionDefinition.PROPAGATION_REQUIRED);
		reading.setReadOnly(true);
		reading.executeWithoutResult((status) -> {
			assertOnlyReads(() -> call(NOTHING));
			assertOnlyReads(() -> call(IN_LINE));
			assertOnlyReads(() -> call(WITH_KEY));
			assertOnlyReads(() -> conversation().undo(1));
			assertOnlyReads(() -> conversation().title("t"));
			assertOnlyReads(() -> conversation().erase());
			assertThatIllegalStateException().isThrownBy(() -> this.store.deleteExpired(10))
				.withMessageContaining("only reads");
			assertThat(this.model.prompts()).isEmpty();
			assertThat(conversation().messages()).hasSize(2);
			assertThat(call(SessionAdvisor.reading())).isEqualTo("read");
			stream();
		});
		assertThat(texts()).containsExactly("before", "there", "q", "streamed");
	}

	private void assertOnlyReads(Runnable write) {
		assertThatIllegalStateException().isThrownBy(write::run)
			.withMessageContaining("only reads")
			.withMessageContaining("reading()");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void callIsStoredAlsoWhenTheTimeOfItsTransactionIsOver(TestDatabase database) {
		use(database);
		this.model.says("a1");
		inTransaction(() -> {
			ConnectionHolder transaction = (ConnectionHolder) TransactionSynchronizationManager.getResource(this.pool);
			Objects.requireNonNull(transaction).setTimeoutInMillis(0);
			assertThat(call(NOTHING)).isEqualTo("a1");
		});
		assertThat(texts()).containsExactly("q", "a1");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void storeThatDoesNotJoinTheTransactionThatOnlyReadsStoresTheTurn(TestDatabase database) {
		use(database);
		this.store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
		use(this.store);
		this.model.says("a1");
		TransactionTemplate reading = transaction(TransactionDefinition.PROPAGATION_REQUIRED);
		reading.setReadOnly(true);
		reading.executeWithoutResult((status) -> assertThat(call(NOTHING)).isEqualTo("a1"));
		assertThat(texts()).containsExactly("q", "a1");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void decisionInTheTransactionOfThePauseSaysWhyItIsRefused(TestDatabase database) {
		use(database);
		givenSession();
		this.model.calls(new ToolCall("c", "function", "cancel", "{\"id\":1}")).says("answer");
		inTransaction(() -> {
			call(NOTHING);
			assertThatExceptionOfType(DecisionRefusedException.class)
				.isThrownBy(() -> this.approvals.approve(this.approvals.pending(this.key).get(0), "somebody"))
				.withMessageContaining("transaction")
				.withMessageContaining("commit");
		});
		this.approvals.approve(this.approvals.pending(this.key).get(0), "somebody");
		assertThat(this.chat.prompt().advisors(SessionAdvisor.session(this.key)).call().content()).isEqualTo("answer");
	}

	private static boolean oneWriter(TestDatabase database) {
		return database.toString().equals("SQLite");
	}

	@ParameterizedTest
	@MethodSource("databases")
	void turnThatPausesInTheTransactionThatBeginsItsSessionIsNotContinuedThere(TestDatabase database) {
		use(database);
		this.model.calls(new ToolCall("c", "function", "cancel", "{\"id\":1}"));
		inTransaction(() -> {
			call(NOTHING);
			assertRefused(() -> this.chat.prompt().advisors(SessionAdvisor.session(this.key)).call().content());
			assertRefused(() -> this.approvals.cancel(this.key));
		});
		this.approvals.cancel(this.key);
		assertThat(this.store.turns(this.key, Tail.ALL)).extracting(Turn::status).containsExactly(TurnStatus.COMPLETED);
	}

	/** The exception, as it leaves the transaction, rolls it back. */
	@ParameterizedTest
	@MethodSource("databases")
	void messageIsNotSaidToBeKeptThatTheTransactionMayRollBack(TestDatabase database) {
		use(database);
		this.model.calls(new ToolCall("c", "function", "cancel", "{\"id\":1}"));
		try (Conversations stepping = Conversations.builder(this.store).durability(Durability.STEP).build()) {
			ChatClient.ChatClientRequestSpec call = ChatClient.builder(this.model)
				.defaultAdvisors(SessionAdvisor.of(stepping))
				.defaultToolCallbacks(cancelling())
				.build()
				.prompt()
				.user("q")
				.advisors(SessionAdvisor.session(this.key));
			assertThatExceptionOfType(TurnInProgressException.class)
				.isThrownBy(() -> inTransaction(() -> call.call().content()))
				.satisfies((ex) -> assertThat(ex.isMessageKept()).isFalse());
		}
		assertThat(this.store.find(this.key)).isEmpty();
	}

	/** Other databases go on after an error. */
	@Test
	void statementThatAnEarlierOneHasMadeImpossibleSaysSo() {
		use(TestDatabase.postgres().created());
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> transaction(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult((status) -> {
				try {
					new JdbcTemplate(this.pool).update("insert into NOTHING_THERE values (1)");
				}
				catch (RuntimeException ex) {
					// as an application may do
				}
				call(NOTHING);
			}))
			.withMessageContaining("earlier statement")
			.withMessageContaining("Roll back");
	}

}
