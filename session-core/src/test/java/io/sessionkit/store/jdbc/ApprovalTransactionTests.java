package io.sessionkit.store.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.Concurrency;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.SiblingRule;
import io.sessionkit.approval.StandingDecision;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.internal.turn.Turns;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.model.tool.DefaultToolCallingManager;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.execution.DefaultToolExecutionExceptionProcessor;
import org.springframework.ai.tool.execution.ToolExecutionException;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * Approved calls, small pools and transactions of the caller.
 */
@Timeout(120)
class ApprovalTransactionTests {

	private static final String[] WHOLE_THREAD = { "user: question", "assistant cancel({\"id\":1})",
			"tool cancel=\"done 1\"", "assistant: answer" };

	private final SessionKey key = SessionKey.of(UUID.randomUUID().toString());

	private final AtomicInteger effects = new AtomicInteger();

	private final ScriptedChatModel model = new ScriptedChatModel();

	record Order(int id) {
	}

	static Stream<TestDatabase> databases() {
		return Stream.of(TestDatabase.h2().created(), TestDatabase.postgres().created());
	}

	/**
	 * An application on a pool of connections.
	 */
	private final class Application implements AutoCloseable {

		private final HikariDataSource pool;

		private final SessionStore store;

		private final Conversations conversations;

		private final Approvals approvals;

		private final ChatClient chat;

		private Application(HikariDataSource pool, SiblingRule siblings) {
			this.pool = pool;
			this.store = JdbcTransactionContract.storeOn(pool);
			this.conversations = Conversations.builder(this.store).lease(Duration.ofSeconds(6)).build();
			this.approvals = Approvals.builder(this.conversations).tools(Set.of("cancel")).siblings(siblings).build();
			this.chat = ChatClient.builder(ApprovalTransactionTests.this.model)
				.defaultAdvisors(SessionAdvisor.builder(this.conversations).approvals(this.approvals).build())
				.defaultToolCallbacks(tool("cancel"), tool("look"))
				.build();
		}

		/** It takes until its lease is renewed, for which a thread needs a connection. */
		private ToolCallback tool(String name) {
			return FunctionToolCallback.builder(name, (Order order) -> {
				long before = lease().orElseThrow();
				await().atMost(Duration.ofSeconds(30)).until(() -> lease().filter((now) -> now > before).isPresent());
				ApprovalTransactionTests.this.effects.incrementAndGet();
				return "done " + order.id();
			}).description(name).inputType(Order.class).build();
		}

		private Optional<Long> lease() {
			return this.store.records(ApprovalTransactionTests.this.key, TurnRecords.LEASE)
				.stream()
				.map(SessionRecord::revision)
				.findFirst();
		}

		private void ask() {
			this.chat.prompt()
				.user("question")
				.advisors(SessionAdvisor.session(ApprovalTransactionTests.this.key))
				.call()
				.chatResponse();
		}

		private void approve() {
			this.approvals.pending(ApprovalTransactionTests.this.key)
				.forEach((call) -> this.approvals.approve(call, "somebody"));
		}

		private String resume() {
			return String.valueOf(this.chat.prompt()
				.advisors(SessionAdvisor.session(ApprovalTransactionTests.this.key))
				.call()
				.content());
		}

		/** Failures of tools end this call. */
		private void resumeThrowing() {
			this.chat.mutate()
				.defaultAdvisors(ToolCallingAdvisor.builder()
					.toolCallingManager(DefaultToolCallingManager.builder()
						.toolExecutionExceptionProcessor(new DefaultToolExecutionExceptionProcessor(true))
						.build())
					.build())
				.build()
				.prompt()
				.advisors(SessionAdvisor.session(ApprovalTransactionTests.this.key))
				.call()
				.content();
		}

		private TransactionTemplate transaction() {
			return JdbcTransactionContract.transactionOn(this.pool);
		}

		@Override
		public void close() {
			this.conversations.close();
			this.pool.close();
		}

	}

	@ParameterizedTest
	@MethodSource("databases")
	void poolOfOneConnectionIsEnoughToPauseDecideAndGoOn(TestDatabase database) {
		try (Application us = new Application(database.pool(1), SiblingRule.RUN)) {
			this.model.calls(call("cancel", 1), call("look", 2)).says("answer");
			us.ask();
			assertThat(this.effects).as("the call that needs no consent").hasValue(1);
			us.approve();
			assertThat(us.resume()).isEqualTo("answer");
			assertThat(this.effects).hasValue(2);
			assertThat(us.approvals.ledger(this.key)).extracting(ToolApproval::status)
				.containsOnly(ApprovalStatus.DONE);
			assertThat(us.store.records(this.key, TurnRecords.LEASE)).isEmpty();
		}
	}

	@ParameterizedTest
	@MethodSource("databases")
	void poolOfOneConnectionIsTooSmallInATransactionAndNothingRuns(TestDatabase database) {
		HikariDataSource pool = new HikariDataSource();
		pool.setDataSource(database.direct());
		pool.setMaximumPoolSize(1);
		pool.setConnectionTimeout(300);
		try (Application us = new Application(database.pool(1), SiblingRule.HOLD);
				Application hasty = new Application(pool, SiblingRule.HOLD)) {
			this.model.calls(call("cancel", 1));
			us.ask();
			us.approve();
			// the pool has its connection
			await().ignoreExceptions().until(() -> !hasty.approvals.ledger(this.key).isEmpty());
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> hasty.transaction().executeWithoutResult((status) -> hasty.resume()))
				.withMessageContaining("connection");
			assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
			assertThat(this.effects).hasValue(0);
			this.model.says("answer");
			assertThat(us.resume()).isEqualTo("answer");
			assertThat(this.effects).hasValue(1);
			assertThat(log(us)).containsExactly(WHOLE_THREAD);
		}
	}

	/** The line of the request, and of the session, must not wait for the transaction. */
	@ParameterizedTest
	@MethodSource("databases")
	void callInLineThatWaitsForAnApprovalDoesNotWaitForItsOwnTransaction(TestDatabase database) {
		try (Application us = new Application(database.pool(3), SiblingRule.HOLD)) {
			us.store.add(this.key, List.of(new UserMessage("q0"), new AssistantMessage("a0")));
			this.model.calls(call("cancel", 1)).says("answer");
			assertTimeoutPreemptively(Duration.ofSeconds(60),
					() -> us.transaction()
						.executeWithoutResult((status) -> us.chat.prompt()
							.user("question")
							.advisors(SessionAdvisor.session(this.key)
								.andThen(SessionAdvisor.idempotencyKey("r1"))
								.andThen(SessionAdvisor.concurrency(Concurrency.SERIALIZE)))
							.call()
							.chatResponse()));
			us.approve();
			assertThat(us.resume()).isEqualTo("answer");
			assertThat(log(us)).endsWith(WHOLE_THREAD);
		}
	}

	@ParameterizedTest
	@MethodSource("databases")
	void resultOutlivesTheRollbackOfTheCallerAndIsReplayed(TestDatabase database) {
		try (Application us = new Application(database.pool(3), SiblingRule.HOLD)) {
			this.model.calls(call("cancel", 1)).says("lost").says("answer");
			us.ask();
			us.approve();
			us.transaction().executeWithoutResult((status) -> {
				assertThat(us.resume()).isEqualTo("lost");
				status.setRollbackOnly();
			});
			assertThat(this.effects).hasValue(1);
			assertThat(log(us)).isEmpty();
			assertThat(InnerParts.of(us.conversations, Turns.class).waitingTurns().find(this.key)).map(Turn::status)
				.contains(TurnStatus.AWAITING_APPROVAL);
			assertThat(us.approvals.ledger(this.key)).extracting(ToolApproval::status)
				.containsExactly(ApprovalStatus.DONE);
			assertThat(us.resume()).isEqualTo("answer");
			assertThat(this.effects).hasValue(1);
			assertThat(log(us)).containsExactly(WHOLE_THREAD);
		}
	}

	@ParameterizedTest
	@MethodSource("databases")
	void turnThatGoesOnInATransactionOfTheCallerIsHistoryWithIt(TestDatabase database) {
		try (Application us = new Application(database.pool(3), SiblingRule.HOLD)) {
			this.model.calls(call("cancel", 1)).says("answer");
			us.transaction().executeWithoutResult((status) -> us.ask());
			us.approve();
			us.transaction().executeWithoutResult((status) -> us.resume());
			assertThat(this.effects).hasValue(1);
			assertThat(log(us)).containsExactly(WHOLE_THREAD);
		}
	}

	/** Outside of it they run in the ledger, where a claim would not find them here. */
	@ParameterizedTest
	@MethodSource("databases")
	void turnThatGoesOnInATransactionOfTheCallerRunsTheCallsOfLaterReplies(TestDatabase database) {
		try (Application us = new Application(database.pool(3), SiblingRule.HOLD)) {
			this.model.calls(call("cancel", 1)).calls(call("look", 2)).says("answer");
			us.ask();
			us.approve();
			us.transaction().executeWithoutResult((status) -> assertThat(us.resume()).isEqualTo("answer"));
			assertThat(this.effects).hasValue(2);
			assertThat(log(us)).hasSize(6);
			assertThat(us.approvals.ledger(this.key)).extracting(ToolApproval::tool).containsExactly("cancel");
		}
	}

	@ParameterizedTest
	@MethodSource("databases")
	void failureThatIsThrownInATransactionOfTheCallerEndsTheTurn(TestDatabase database) {
		try (Application us = new Application(database.pool(3), SiblingRule.HOLD)) {
			this.model.calls(call("cancel", 1)).calls(new ToolCall("c2", "function", "look", "{\"id\":\"many\"}"));
			us.ask();
			us.approve();
			us.transaction()
				.executeWithoutResult(
						(status) -> assertThatThrownBy(us::resumeThrowing).isInstanceOf(ToolExecutionException.class));
			assertThat(us.store.turns(this.key, Tail.ALL)).extracting(Turn::status).containsExactly(TurnStatus.FAILED);
			assertThat(this.effects).hasValue(1);
		}
	}

	@ParameterizedTest
	@MethodSource("databases")
	void pauseInATransactionThatIsRolledBackLeavesNothing(TestDatabase database) {
		try (Application us = new Application(database.pool(3), SiblingRule.HOLD)) {
			this.model.calls(call("cancel", 1));
			us.transaction().executeWithoutResult((status) -> {
				us.ask();
				assertThat(us.approvals.pending(this.key)).hasSize(1);
				status.setRollbackOnly();
			});
			assertNothingIsLeft(us);
			assertThat(this.effects).hasValue(0);
		}
	}

	/**
	 * The lease ends with the call, before the transaction around it: who comes in
	 * between is given the results and waits where he wants to write.
	 */
	@ParameterizedTest
	@MethodSource("databases")
	void callThatComesBeforeTheCommitOfTheCallerRunsNothingAgain(TestDatabase database) {
		try (Application us = new Application(database.pool(5), SiblingRule.HOLD)) {
			this.model.calls(call("cancel", 1)).says("answer").says("late");
			us.ask();
			us.approve();
			CompletableFuture<String> other = us.transaction().execute((status) -> {
				us.resume();
				CompletableFuture<String> late = CompletableFuture.supplyAsync(us::resume);
				await().until(() -> this.model.prompts().size() == 3);
				return late;
			});
			assertThat(other).failsWithin(Duration.ofSeconds(30))
				.withThrowableThat()
				.withCauseInstanceOf(SessionConflictException.class);
			assertThat(this.effects).hasValue(1);
			assertThat(log(us)).containsExactly(WHOLE_THREAD);
			assertThat(us.approvals.pending(this.key)).isEmpty();
			assertThat(us.approvals.ledger(this.key)).extracting(ToolApproval::status)
				.containsExactly(ApprovalStatus.DONE);
			assertThat(InnerParts.of(us.conversations, Turns.class).waitingTurns().find(this.key)).isEmpty();
		}
	}

	/**
	 * A call that is held in the transaction cannot be claimed from outside of it, and a
	 * claim inside of it could be rolled back after the call has run.
	 */
	@ParameterizedTest
	@MethodSource("databases")
	void callBesideOneThatWaitsDoesNotRunInATransactionThatHoldsIt(TestDatabase database) {
		try (Application us = new Application(database.pool(3), SiblingRule.RUN)) {
			this.model.calls(call("cancel", 1), call("look", 2));
			assertThatExceptionOfType(TurnInProgressException.class)
				.isThrownBy(() -> us.transaction().executeWithoutResult((status) -> us.ask()))
				.withMessageContaining("transaction");
			assertThat(this.effects).hasValue(0);
			assertNothingIsLeft(us);
		}
	}

	@ParameterizedTest
	@MethodSource("databases")
	void callOfAStandingApprovalDoesNotRunInATransactionThatHoldsIt(TestDatabase database) {
		try (Application us = new Application(database.pool(3), SiblingRule.HOLD)) {
			this.model.calls(call("cancel", 1)).says("answer");
			us.ask();
			us.approvals.pending(this.key)
				.forEach((call) -> us.approvals.decide(call,
						Decision.approve("somebody").always(StandingDecision.Scope.TOOL)));
			us.resume();
			this.model.calls(call("cancel", 2));
			assertThatExceptionOfType(TurnInProgressException.class)
				.isThrownBy(() -> us.transaction().executeWithoutResult((status) -> us.ask()))
				.withMessageContaining("transaction");
			assertThat(this.effects).hasValue(1);
			assertThat(us.approvals.pending(this.key)).isEmpty();
			assertThat(InnerParts.of(us.conversations, Turns.class).waitingTurns().find(this.key)).isEmpty();
			this.model.calls(call("cancel", 2)).says("answer");
			us.ask();
			assertThat(this.effects).hasValue(2);
			assertThat(log(us)).hasSize(8);
		}
	}

	private void assertNothingIsLeft(Application us) {
		assertThat(us.store.find(this.key)).isEmpty();
		assertThat(us.store.turns(this.key, Tail.ALL)).isEmpty();
		assertThat(us.approvals.pending(this.key)).isEmpty();
		assertThat(us.approvals.ledger(this.key)).isEmpty();
	}

	private List<String> log(Application us) {
		return Lines.of(us.store.messages(this.key));
	}

	private static ToolCall call(String tool, int order) {
		return new ToolCall("call-" + tool, "function", tool, "{\"id\":" + order + "}");
	}

}
