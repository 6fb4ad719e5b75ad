package io.sessionkit.store.jdbc;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.RequiresApproval;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.compensation.CompensatedBy;
import io.sessionkit.compensation.RewindPlan;
import io.sessionkit.compensation.RewindReport.Status;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Compensations;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.annotation.Tool;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rewinds, small pools and transactions of the caller.
 */
@Timeout(60)
class CompensationTransactionTests {

	private final SessionKey key = SessionKey.of(UUID.randomUUID().toString());

	private final Tools tools = new Tools(new CopyOnWriteArrayList<>());

	static Stream<TestDatabase> databases() {
		return Stream.of(TestDatabase.h2().created(), TestDatabase.postgres().created());
	}

	/**
	 * Tools that note what they do.
	 */
	record Tools(List<String> runs) {

		@Tool(name = "cancel")
		@CompensatedBy("restore")
		public void cancel(int order) {
		}

		@Tool(name = "restore")
		public void restore(int order) {
			this.runs.add("restore " + order);
		}

		@Tool(name = "refund")
		@CompensatedBy("charge")
		public void refund(int order) {
		}

		@Tool(name = "charge")
		@RequiresApproval
		public void charge(int order) {
			this.runs.add("charge " + order);
		}

	}

	/**
	 * An application on a pool of connections, with a session of one turn.
	 */
	private final class Application implements AutoCloseable {

		private final HikariDataSource pool;

		private final SessionStore store;

		private final Conversations conversations;

		private final Compensations compensations;

		private Application(HikariDataSource pool) {
			this.pool = pool;
			this.store = JdbcTransactionContract.storeOn(pool);
			this.conversations = Conversations.of(this.store);
			this.compensations = Compensations.builder(this.conversations, Approvals.of(this.conversations))
				.tools(ToolCallbacks.from(CompensationTransactionTests.this.tools))
				.build();
			ask();
		}

		private void ask() {
			ScriptedChatModel model = new ScriptedChatModel();
			model.calls(call("cancel"), call("refund")).says("answer");
			ChatClient.builder(model)
				.defaultAdvisors(SessionAdvisor.of(this.conversations))
				.build()
				.prompt()
				.user("question")
				.tools(CompensationTransactionTests.this.tools)
				.advisors(SessionAdvisor.session(CompensationTransactionTests.this.key))
				.call()
				.content();
		}

		private static ToolCall call(String tool) {
			return new ToolCall(tool, "function", tool, "{\"order\":1}");
		}

		private Status rewind(RewindPlan plan) {
			return this.compensations.rewind(plan).status();
		}

		private void approve() {
			this.compensations.pending(CompensationTransactionTests.this.key)
				.forEach((call) -> this.compensations.decide(call, Decision.approve("anna")));
		}

		private int messages() {
			return this.store.messages(CompensationTransactionTests.this.key).size();
		}

		@Override
		public void close() {
			this.conversations.close();
			this.pool.close();
		}

	}

	@ParameterizedTest
	@MethodSource("databases")
	void poolOfOneConnectionIsEnough(TestDatabase database) {
		try (Application us = new Application(database.pool(1))) {
			RewindPlan plan = us.compensations.plan(this.key, 1);
			assertThat(us.rewind(plan)).isEqualTo(Status.WAITING);
			us.approve();
			assertThat(us.rewind(plan)).isEqualTo(Status.COMPLETED);
			assertThat(this.tools.runs()).containsExactly("charge 1", "restore 1");
			assertThat(us.messages()).isZero();
		}
	}

	@ParameterizedTest
	@MethodSource("databases")
	void whatWasTakenBackOutlivesTheRollbackOfTheCallerAndIsNotRepeated(TestDatabase database) {
		try (Application us = new Application(database.pool(3))) {
			RewindPlan plan = us.compensations.plan(this.key, 1);
			us.rewind(plan);
			us.approve();
			JdbcTransactionContract.transactionOn(us.pool).executeWithoutResult((status) -> {
				assertThat(us.rewind(plan)).isEqualTo(Status.COMPLETED);
				assertThat(us.messages()).isZero();
				status.setRollbackOnly();
			});
			assertThat(us.messages()).as("the head is where it was").isEqualTo(4);
			assertThat(us.compensations.ledger(this.key)).extracting(ToolApproval::status)
				.containsOnly(ApprovalStatus.DONE)
				.hasSize(2);
			assertThat(us.store.records(this.key, TurnRecords.REWIND)).isEmpty();
			assertThat(us.rewind(plan)).isEqualTo(Status.COMPLETED);
			assertThat(this.tools.runs()).containsExactly("charge 1", "restore 1");
			assertThat(us.messages()).isZero();
		}
	}

}
