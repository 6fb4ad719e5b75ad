package io.sessionkit.store.jdbc;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.Retention;
import io.sessionkit.context.Summarize;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.PostgresServer;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.PreferQueryMode;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClient.AdvisorSpec;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * PostgreSQL keeps the plans of prepared statements, and those that it makes of new
 * tables stay until it has looked at them. None of them may read a whole table.
 */
class PostgresPlansTests {

	private static final PostgresServer SERVER = PostgresServer.running();

	/** More than a driver and a server take to keep a statement and its plan. */
	private static final int TIMES = 30;

	/** The default of {@code jit_above_cost}. */
	private static final double COMPILED_ABOVE = 100_000;

	private static final Pattern COST = Pattern.compile("cost=[\\d.]+\\.\\.([\\d.]+)");

	private final SessionKey key = SessionKey.of("owner", "t1");

	private final ScriptedChatModel model = new ScriptedChatModel();

	private String database;

	private HikariDataSource pool;

	private JdbcTemplate sql;

	private SessionStore store;

	/** An operation that is repeated. */
	enum Operation {

		TURN((test, i) -> test.turn()), STEPS((test, i) -> test.steps()), LINE((test, i) -> test.line(i)),
		READS((test, i) -> test.reads()), RECORDS((test, i) -> test.record()), APPROVAL((test, i) -> test.approval()),
		MOVES((test, i) -> test.moves(i)), SUMMARY((test, i) -> test.summary()),
		RETENTION((test, i) -> test.retention()), DELETION((test, i) -> test.deletion());

		private final Step step;

		Operation(Step step) {
			this.step = step;
		}

	}

	private interface Step {

		void take(PostgresPlansTests test, int number);

	}

	@BeforeEach
	void start() {
		this.database = SERVER.newDatabase();
		TestDatabase.runScript("postgresql", SERVER.dataSource(this.database));
		this.sql = new JdbcTemplate(SERVER.dataSource(this.database));
		this.sql.execute("create table told (id integer)");
		this.pool = TestDatabase.pool(SERVER.dataSource(this.database), 1, true);
		this.store = JdbcTransactionContract.storeOn(this.pool);
	}

	@AfterEach
	void stop() {
		this.pool.close();
	}

	@ParameterizedTest
	@EnumSource
	void noTableIsReadAsAWholeBeforeTheServerHasStatistics(Operation operation) {
		repeat(operation);
		// a server process tells what it has done when it ends
		new JdbcTemplate(this.pool).execute("insert into told values (1)");
		this.pool.close();
		await().until(() -> statistics("n_tup_ins").get("told") == 1);
		Map<String, Long> scans = statistics("seq_scan");
		scans.keySet().retainAll(Set.of("sessionkit_turn", "sessionkit_item", "sessionkit_record"));
		assertThat(scans).hasSize(3).allSatisfy((table, times) -> assertThat(times).as(table).isLessThan(5));
	}

	/**
	 * A server with a just-in-time compiler uses it for plans whose estimated cost
	 * exceeds {@code jit_above_cost}, and takes up to seconds for each. That some servers
	 * of tests have no compiler makes no difference to the cost.
	 */
	@ParameterizedTest
	@EnumSource
	void noPlanCostsSoMuchThatTheServerCompilesIt(Operation operation) {
		repeat(operation);
		JdbcTemplate session = new JdbcTemplate(this.pool);
		session.execute("set plan_cache_mode = force_generic_plan");
		assertThat(session.queryForList("select name, statement, coalesce(array_length(parameter_types, 1), 0) as size"
				+ " from pg_prepared_statements where statement ilike '%sessionkit%'"))
			.hasSizeGreaterThan(1)
			.allSatisfy((prepared) -> assertThat(cost(session, prepared)).as("%s", prepared.get("statement"))
				.isLessThan(COMPILED_ABOVE));
	}

	private void repeat(Operation operation) {
		turn();
		for (int i = 0; i < TIMES; i++) {
			operation.step.take(this, i);
		}
	}

	/**
	 * Some set the driver so that come through PgBouncer: it prepares nothing, and writes
	 * the values into the statements, some without their types.
	 */
	@ParameterizedTest
	@EnumSource
	void operationsWorkWithSimpleQueries(Operation operation) {
		PGSimpleDataSource simple = (PGSimpleDataSource) SERVER.dataSource(this.database);
		simple.setPreferQueryMode(PreferQueryMode.SIMPLE);
		this.store = JdbcTransactionContract.storeOn(simple);
		turn();
		operation.step.take(this, 1);
		assertThat(this.store.turns(this.key, Tail.ALL)).isNotEmpty();
	}

	private double cost(JdbcTemplate session, Map<String, Object> prepared) {
		int size = (int) prepared.get("size");
		String parameters = (size > 0) ? "(" + String.join(", ", Collections.nCopies(size, "null")) + ")" : "";
		String plan = session
			.queryForList("explain execute \"" + prepared.get("name") + "\"" + parameters, String.class)
			.get(0);
		Matcher total = COST.matcher(plan);
		assertThat(total.find()).as(plan).isTrue();
		return Double.parseDouble(total.group(1));
	}

	private Map<String, Long> statistics(String column) {
		Map<String, Long> values = new HashMap<>();
		this.sql.query("select relname, " + column + " from pg_stat_user_tables", (row) -> {
			values.put(row.getString(1), row.getLong(2));
		});
		return values;
	}

	private void turn() {
		turn(Conversations.builder(this.store), (advisors) -> {
		});
	}

	private void turn(Conversations.Builder conversations, Consumer<AdvisorSpec> how) {
		this.model.says("answer");
		try (Conversations built = conversations.build()) {
			assertThat(client(SessionAdvisor.of(built)).prompt()
				.user("question")
				.advisors(SessionAdvisor.session(this.key).andThen(how))
				.call()
				.content()).isNotEmpty();
		}
	}

	private ChatClient client(SessionAdvisor advisor) {
		return ChatClient.builder(this.model)
			.defaultAdvisors(advisor)
			.defaultTools(FunctionToolCallback.builder("add", (Object nothing) -> "1")
				.description("adds")
				.inputType(Object.class)
				.build())
			.build();
	}

	private void steps() {
		this.model.calls(new ToolCall("c1", "function", "add", "{}"));
		turn(Conversations.builder(this.store).durability(Durability.STEP), (advisors) -> {
		});
	}

	private void line(int number) {
		turn(Conversations.builder(this.store), SessionAdvisor.concurrency(Concurrency.SERIALIZE));
		turn(Conversations.builder(this.store), SessionAdvisor.concurrency(Concurrency.STEER));
		for (int i = 0; i < 2; i++) {
			turn(Conversations.builder(this.store), SessionAdvisor.idempotencyKey("r" + number));
		}
	}

	private void reads() {
		turn();
		Conversation conversation = conversation();
		assertThat(this.store.turns(this.key, Tail.newest(3))).isNotEmpty();
		assertThat(this.store.items(this.key, 1)).isNotEmpty();
		assertThat(this.store.items(this.key, Tail.newest(3))).isNotEmpty();
		assertThat(this.store.items(this.key, new Tail(3, 1))).isNotEmpty();
		assertThat(this.store.turn(this.key, 1, Set.of("note"))).isPresent();
		assertThat(conversation.turns(Tail.newest(1))).hasSize(1);
	}

	private void record() {
		turn();
		long revision = this.store.records(this.key, "note")
			.stream()
			.map(SessionRecord::revision)
			.findFirst()
			.orElse(0L);
		assertThat(this.store.put(this.key, new RecordWrite("note", "r", revision, "{}", null))).isTrue();
		assertThat(this.store.record(this.key, "note", "r")).isPresent();
	}

	private void approval() {
		this.model.calls(new ToolCall("c1", "function", "add", "{}")).says("answer");
		try (Conversations conversations = Conversations.of(this.store)) {
			Approvals approvals = Approvals.builder(conversations).tools(Set.of("add")).build();
			ChatClient client = client(SessionAdvisor.builder(conversations).approvals(approvals).build());
			client.prompt().user("question").advisors(SessionAdvisor.session(this.key)).call().chatResponse();
			approvals.pending(this.key).forEach((call) -> approvals.approve(call, "somebody"));
			assertThat(client.prompt().advisors(SessionAdvisor.session(this.key)).call().content()).isEqualTo("answer");
		}
	}

	private void moves(int number) {
		turn();
		Conversation conversation = conversation();
		conversation.undo(1);
		conversation.redo(1);
		conversation.branch("b" + number);
		turn(Conversations.builder(this.store),
				SessionAdvisor.editing(conversation.turns(Tail.newest(1)).get(0).number()));
		conversation.switchTo("main");
	}

	private void summary() {
		turn();
		this.model.says("summary");
		turn(Conversations.builder(this.store)
			.summarize(Summarize.by(this.model).mode(Summarize.Mode.BEFORE).triggerMessages(4).keepTurns(1).build()),
				(advisors) -> {
				});
	}

	private void retention() {
		turn(Conversations.builder(this.store).retention(Retention.keepLastTurns(2).batch(1)), (advisors) -> {
		});
	}

	private void deletion() {
		turn();
		List<Long> newest = this.store.turns(this.key, Tail.newest(1)).stream().map((turn) -> turn.number()).toList();
		assertThat(conversation().delete(newest.get(0))).isPositive();
	}

	private Conversation conversation() {
		return Conversations.of(this.store).get(this.key);
	}

}
