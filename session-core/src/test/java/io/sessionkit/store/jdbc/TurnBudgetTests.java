package io.sessionkit.store.jdbc;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.Concurrency;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.ChildSession;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.HistoryPolicy;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.Allocations;
import io.sessionkit.test.CountingDataSource;
import io.sessionkit.test.PostgresProxy;
import io.sessionkit.test.PostgresServer;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the cost of a whole turn of a {@code ChatClient}, with a test for each row of the
 * budget that can be counted. On PostgreSQL the messages on the wire are counted.
 */
class TurnBudgetTests {

	private static final PostgresServer SERVER = PostgresServer.running();

	private static final String TEXT = "x".repeat(250);

	private final SessionKey key = SessionKey.of("t1");

	private final ScriptedChatModel model = new ScriptedChatModel();

	private PostgresProxy proxy;

	private HikariDataSource pool;

	private SessionStore store;

	private JdbcTemplate sql;

	private ChatClient chat;

	@BeforeEach
	void start() throws IOException {
		String database = SERVER.newDatabase();
		DataSource direct = SERVER.dataSource(database);
		TestDatabase.runScript("postgresql", direct);
		this.sql = new JdbcTemplate(direct);
		this.proxy = new PostgresProxy(SERVER.host(), SERVER.port());
		this.pool = TestDatabase.pool(SERVER.dataSource(database, this.proxy.host(), this.proxy.port()), 1, true);
		this.store = JdbcTransactionContract.storeOn(this.pool);
		this.chat = client(this.store);
	}

	@AfterEach
	void stop() throws IOException {
		this.pool.close();
		this.proxy.close();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aPlainTurnTakesTwoRoundTrips(boolean stream) {
		turn(stream, 0);
		this.proxy.reset();
		turn(stream, 0);
		assertThat(this.proxy.roundTrips()).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aTurnOnASessionThatSoonExpiresTakesOneRoundTripMore(boolean stream) throws InterruptedException {
		Duration life = Duration.ofSeconds(12);
		turn(stream, 0);
		this.store.commit(Commit.any(this.key).header(HeaderChange.NONE.timeToLive(life)));
		this.proxy.reset();
		turn(stream, 0);
		assertThat(this.proxy.roundTrips()).isEqualTo(2);
		Thread.sleep(life.toMillis() / 2 + 300);
		this.proxy.reset();
		turn(stream, 0);
		assertThat(this.proxy.roundTrips()).isEqualTo(3);
	}

	@ParameterizedTest
	@EnumSource(names = { "REJECT", "SERIALIZE", "STEER" })
	void aTurnThatStandsInLineTakesOneRoundTripMore(Concurrency concurrency) {
		ChatClient inLine = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(Conversations.of(this.store)).concurrency(concurrency).build())
			.build();
		turn(inLine, false, 0);
		turn(inLine, true, 0);
		for (boolean stream : List.of(false, true)) {
			this.proxy.reset();
			turn(inLine, stream, 0);
			assertThat(this.proxy.roundTrips()).isEqualTo(3);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aTurnThatMessagesMayJoinTakesOneRoundTripMoreForEachFurtherModelCall(boolean stream) {
		ChatClient steering = this.chat.mutate().defaultAdvisors(SessionAdvisor.concurrency(Concurrency.STEER)).build();
		turn(steering, stream, 1);
		for (int rounds = 0; rounds < 4; rounds++) {
			this.proxy.reset();
			turn(steering, stream, rounds);
			assertThat(this.proxy.roundTrips()).isEqualTo(3 + rounds);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aTurnWithAnIdempotencyKeyTakesOneRoundTripMore(Concurrency concurrency) {
		int inLine = (concurrency != Concurrency.OPTIMISTIC) ? 1 : 0;
		turn(false, 0);
		this.model.says("a");
		roundTrips(concurrency, "first", false);
		roundTrips(concurrency, "first", false);
		for (boolean stream : List.of(false, true)) {
			this.model.says("a");
			assertThat(roundTrips(concurrency, "r" + stream, stream)).isEqualTo(3 + inLine);
			assertThat(roundTrips(concurrency, "r" + stream, stream)).as("repeated").isEqualTo(3);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aCallThatOnlyReadsTakesOneRoundTripAndOneWithItsHistoryTwo(boolean stream) {
		List<Message> given = List.of(new UserMessage("x?"), new AssistantMessage("x!"));
		turn(stream, 0);
		assertThat(roundTrips(SessionAdvisor.reading(), stream)).isEqualTo(1);
		assertThat(roundTrips(SessionAdvisor.history(given), stream)).isEqualTo(1);
		assertThat(roundTrips(SessionAdvisor.history(given, HistoryPolicy.USE_IF_PROVIDED), stream)).isEqualTo(2);
		assertThat(roundTrips(SessionAdvisor.history(given, HistoryPolicy.REPLACE_SESSION), stream)).isEqualTo(19);
		assertThat(roundTrips(SessionAdvisor.child("c"), stream)).isPositive();
		assertThat(roundTrips(SessionAdvisor.child("c"), stream)).isEqualTo(2);
		assertThat(roundTrips(SessionAdvisor.child(ChildSession.of("c").readingParent()), stream)).isEqualTo(3);
	}

	private long roundTrips(Consumer<ChatClient.AdvisorSpec> how, boolean stream) {
		this.model.says("a");
		ChatClient.ChatClientRequestSpec call = this.chat.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(this.key).andThen(how));
		this.proxy.reset();
		Object answer = stream ? call.stream().content().blockLast() : call.call().content();
		assertThat(answer).isNotNull();
		return this.proxy.roundTrips();
	}

	private long roundTrips(Concurrency concurrency, String request, boolean stream) {
		ChatClient.ChatClientRequestSpec call = this.chat.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(this.key))
			.advisors(SessionAdvisor.concurrency(concurrency))
			.advisors(SessionAdvisor.idempotencyKey(request));
		this.proxy.reset();
		Object answer = stream ? call.stream().content().blockLast() : call.call().content();
		assertThat(answer).isNotNull();
		return this.proxy.roundTrips();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aToolRoundTakesNoRoundTripMore(boolean stream) {
		turn(stream, 0);
		for (int rounds = 1; rounds <= 4; rounds++) {
			this.proxy.reset();
			turn(stream, rounds);
			assertThat(this.proxy.roundTrips()).as("%d tool rounds", rounds).isEqualTo(2);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void turnWhoseToolsWriteAttributesTakesNoRoundTripMore(boolean stream) {
		SessionContext session = new SessionContext();
		ChatClient counting = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(Conversations.of(this.store)))
			.defaultTools(FunctionToolCallback.builder("add", (Object nothing) -> {
				session.putAttribute("count", session.attribute("count", Integer.class).orElse(0) + 1);
				return "1";
			}).description("counts").inputType(Object.class).build())
			.build();
		turn(stream, 0);
		for (int count = 1; count <= 3; count++) {
			this.proxy.reset();
			turn(counting, stream, 1);
			assertThat(this.proxy.roundTrips()).isEqualTo(2);
			assertThat(this.store.find(this.key).orElseThrow().attributes()).containsEntry("count", 2 * count);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void theFirstTurnOfASessionTakesAtMostOneRoundTripMore(boolean stream) {
		this.store.find(SessionKey.of("another"));
		this.proxy.reset();
		turn(stream, 0);
		assertThat(this.proxy.roundTrips()).isLessThanOrEqualTo(3);
	}

	@Test
	void aCallersTransactionAddsOnlyItsOwnCommit() {
		turn(false, 0);
		this.proxy.latency(Duration.ofMillis(20));
		this.proxy.reset();
		JdbcTransactionContract.transactionOn(this.pool).executeWithoutResult((status) -> turn(false, 2));
		assertThat(this.proxy.waits()).isEqualTo(3);
	}

	@Test
	void aStreamNeverJoinsACallersTransaction() {
		try (HikariDataSource two = TestDatabase.pool(this.pool.getDataSource(), 2, true)) {
			SessionStore own = JdbcTransactionContract.storeOn(two);
			ChatClient streaming = client(own);
			JdbcTransactionContract.transactionOn(two).executeWithoutResult((status) -> {
				turn(streaming, true, 0);
				status.setRollbackOnly();
			});
			assertThat(own.messages(this.key)).hasSize(2);
		}
	}

	@Test
	void aPlainTurnRewritesTheHeaderAndAddsOneRow() {
		turn(false, 0);
		List<String> turnsAndItems = rows("SESSIONKIT_TURN", "SESSIONKIT_ITEM");
		List<String> header = rows("SESSIONKIT_SESSION");
		turn(false, 0);
		assertThat(rows("SESSIONKIT_TURN", "SESSIONKIT_ITEM")).containsAll(turnsAndItems)
			.hasSize(turnsAndItems.size() + 1);
		assertThat(rows("SESSIONKIT_SESSION")).hasSize(1).doesNotContainAnyElementsOf(header);
	}

	@Test
	void plainTurnAllocatesAtMostAHundredKilobytes() {
		store(20);
		assertThat(Allocations.kilobytesOf(() -> turn(false, 0))).isBetween(10L, 100L);
	}

	@Test
	void turnWhoseIdNamesItsNumberHasNoEntryInTheIndexOfIds() {
		for (int i = 0; i < 5; i++) {
			turn(i % 2 == 0, i);
		}
		assertThat(given()).isEmpty();
		this.store.add(this.key, List.of(new UserMessage(TEXT)));
		assertThat(given()).hasSize(1).isEqualTo(List.of(this.store.turns(this.key, Tail.newest(1)).get(0).id()));
		turn(false, 0);
		assertThat(given()).hasSize(1);
	}

	private List<String> given() {
		return this.sql.queryForList("select given_id from SESSIONKIT_TURN where given_id is not null", String.class);
	}

	@Test
	void theBytesReadAreTheSameAt40AndAt4000Messages() {
		store(20);
		for (int i = 0; i < 10; i++) {
			turn(false, 0);
		}
		store(20);
		long at40 = bytesOfATurn();
		store(1_980);
		long at4000 = bytesOfATurn();
		System.out.println("Bytes read for a turn over 40 messages of 100 and of 4,000: " + at40 + ", " + at4000);
		// numbers with more digits, a few bytes a row
		assertThat(at4000).isBetween(at40 - 4 * 41, at40 + 4 * 41);
	}

	@Test
	void historyThatThisProcessKnowsIsNotReadAgain() {
		store(20);
		turn(false, 0);
		for (int i = 0; i < 5; i++) {
			assertThat(bytesOfATurn()).as("bytes read").isLessThanOrEqualTo(700);
		}
	}

	@Test
	void historyThatAnotherProcessHasWrittenIsReadInTheSameTwoRoundTrips() {
		SessionStore other = JdbcTransactionContract.storeOn(this.pool);
		store(20);
		for (int i = 0; i < 3; i++) {
			other.commit(Commit.on(other.find(this.key).orElseThrow()).header(HeaderChange.NONE.title("title " + i)));
			long bytes = bytesOfATurn();
			assertThat(this.proxy.roundTrips()).isEqualTo(2);
			assertThat(bytes).isGreaterThan(40 * TEXT.length());
		}
	}

	@Test
	void turnsThatAnotherProcessHasAppendedAreReadAlone() {
		SessionStore other = JdbcTransactionContract.storeOn(this.pool);
		store(20);
		turn(false, 0);
		for (int turns = 1; turns <= 3; turns++) {
			for (int i = 0; i < turns; i++) {
				turn(client(other), false, 0);
			}
			long bytes = bytesOfATurn();
			assertThat(this.proxy.roundTrips()).isEqualTo(2);
			assertThat(bytes).as("bytes read").isBetween(2L * turns * TEXT.length(), 1_000 + 1_100L * turns);
		}
	}

	@Test
	void plainTurnOnH2TakesAtMostFiveStatements() {
		CountingDataSource counted = new CountingDataSource(TestDatabase.h2().created().direct());
		ChatClient client = client(JdbcTransactionContract.storeOn(counted));
		turn(client, false, 0);
		counted.reset();
		turn(client, false, 3);
		assertThat(counted.calls()).isBetween(2, 5);
	}

	@Test
	void plainTurnOnH2ThatFollowsAnotherProcessTakesAtMostSixStatements() {
		DataSource database = TestDatabase.h2().created().direct();
		CountingDataSource counted = new CountingDataSource(database);
		ChatClient client = client(JdbcTransactionContract.storeOn(counted));
		for (int i = 0; i < 3; i++) {
			turn(client(JdbcTransactionContract.storeOn(database)), false, 0);
			counted.reset();
			turn(client, false, 3);
			assertThat(counted.calls()).isBetween(3, 6);
		}
	}

	private long bytesOfATurn() {
		this.proxy.reset();
		turn(false, 0);
		assertThat(this.model.lastRequest()).hasSize(41);
		return this.proxy.bytesRead();
	}

	private void store(int turns) {
		for (int i = 0; i < turns; i++) {
			this.store.add(this.key, List.of(new UserMessage(TEXT), new AssistantMessage(TEXT)));
		}
	}

	private void turn(boolean stream, int toolRounds) {
		turn(this.chat, stream, toolRounds);
	}

	private void turn(ChatClient client, boolean stream, int toolRounds) {
		for (int i = 0; i < toolRounds; i++) {
			this.model.calls(new ToolCall("c" + i, "function", "add", "{}"),
					new ToolCall("d" + i, "function", "add", "{}"));
		}
		this.model.says(TEXT);
		ChatClient.ChatClientRequestSpec spec = client.prompt().user(TEXT).advisors(SessionAdvisor.session(this.key));
		if (stream) {
			spec.stream().content().blockLast();
		}
		else {
			spec.call().content();
		}
	}

	private ChatClient client(SessionStore sessions) {
		return ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(Conversations.builder(sessions).trim(Trim.keepLastTurns(20)).build()))
			.defaultTools(tool())
			.build();
	}

	private static ToolCallback tool() {
		return FunctionToolCallback.builder("add", (Object nothing) -> "1")
			.description("adds")
			.inputType(Object.class)
			.build();
	}

	private List<String> rows(String... tables) {
		List<String> rows = new ArrayList<>();
		for (String table : tables) {
			rows.addAll(this.sql.queryForList("select '" + table + " ' || ctid || ' ' || xmin from " + table,
					String.class));
		}
		return rows;
	}

}
