package io.sessionkit.store.jdbc;

import java.io.IOException;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.Window;
import io.sessionkit.test.MariaDbServer;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the cost of a turn on MariaDB, counted on the wire: the budget is five round
 * trips, two are taken.
 */
class MariaDbRoundTripTests {

	private static final MariaDbServer SERVER = MariaDbServer.running();

	private static final String TEXT = "x".repeat(250);

	private final SessionKey key = SessionKey.of("owner", "thread");

	private final ScriptedChatModel model = new ScriptedChatModel();

	private MariaDbProxy proxy;

	private HikariDataSource pool;

	private SessionStore store;

	private void start(String options) throws IOException {
		start(options, false);
	}

	private void start(String options, boolean asMySql) throws IOException {
		String database = SERVER.newDatabase();
		TestDatabase.runScript("mariadb", SERVER.dataSource(database));
		this.proxy = new MariaDbProxy(SERVER.host(), SERVER.port());
		DataSource proxied = SERVER.dataSource(database, this.proxy.host(), this.proxy.port(), options);
		this.pool = TestDatabase.pool(asMySql ? new ProductName(proxied, "MySQL") : proxied, 1, true);
		this.store = JdbcTransactionContract.storeOn(this.pool);
		this.store.find(SessionKey.of("warm"));
	}

	@AfterEach
	void stop() throws IOException {
		this.pool.close();
		this.proxy.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "allowMultiQueries=true", "useBulkStmts=true", "rewriteBatchedStatements=true" })
	void plainTurnTakesTwoRoundTripsWhateverTheDriverIsTold(String options) throws IOException {
		start(options);
		append(10);
		turn();
		for (int i = 0; i < 5; i++) {
			this.proxy.reset();
			turn();
			assertThat(this.proxy.roundTrips()).isEqualTo(2);
		}
	}

	/** Each text is prepared once. */
	@Test
	void plainTurnWithStatementsPreparedOnTheServerTakesTwoRoundTripsToo() throws IOException {
		start("useServerPrepStmts=true");
		append(10);
		this.proxy.reset();
		turn();
		assertThat(this.proxy.roundTrips()).isLessThanOrEqualTo(4);
		for (int i = 0; i < 5; i++) {
			this.proxy.reset();
			turn();
			assertThat(this.proxy.roundTrips()).isEqualTo(2);
		}
	}

	@Test
	void turnWithAttributesTitleAndSettingsTakesTwoRoundTripsAndSoDoesTheNextOne() throws IOException {
		start("");
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
	void firstTurnTakesTwoRoundTripsAndAddOne() throws IOException {
		start("");
		this.proxy.reset();
		assertThat(this.store.open(this.key, Window.turns(20))).isEmpty();
		this.store.commit(Commit.first(this.key).turn(JdbcTransactionContract.turn(TEXT, TEXT)));
		assertThat(this.proxy.roundTrips()).isEqualTo(2);
		this.proxy.reset();
		append(1);
		assertThat(this.proxy.roundTrips()).isEqualTo(1);
	}

	@Test
	void transactionOfTheCallerAddsItsOwnBeginningAndEndOnly() throws IOException {
		start("");
		append(10);
		this.proxy.reset();
		JdbcTransactionContract.transactionOn(this.pool).executeWithoutResult((status) -> turn());
		// autocommit off, open, commit of the turn, COMMIT, autocommit on
		assertThat(this.proxy.roundTrips()).isLessThanOrEqualTo(5);
	}

	@Test
	void losingTakesOneMore() throws IOException {
		start("");
		append(1);
		Session stale = this.store.find(this.key).orElseThrow();
		append(1);
		this.proxy.reset();
		assertThat(this.store.commit(Commit.on(stale).turn(JdbcTransactionContract.turn(TEXT))).outcome())
			.isEqualTo(Outcome.CONFLICT);
		assertThat(this.proxy.roundTrips()).isEqualTo(2);
	}

	@Test
	void summaryComesWithTheSameRoundTrip() throws IOException {
		start("");
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
	void bytesReadDependOnTheWindowAlone() throws IOException {
		start("");
		append(20);
		long at40 = bytesOfOpen();
		append(980);
		long at2000 = bytesOfOpen();
		append(1000);
		long at4000 = bytesOfOpen();
		System.out.println("Bytes read on MariaDB to open 40 messages of 40, 2,000 and 4,000: " + at40 + ", " + at2000
				+ ", " + at4000);
		// numbers are sent as digits. Two of each turn rise with the thread, its own and
		// that of its first item, and eight of the header, each by at most three digits
		assertThat(at4000).isBetween(at40, at40 + 3 * (2 * 20 + 8));
		assertThat(at4000).isBetween(at2000, at2000 + 2 * 20 + 8);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void toolRoundsOfAWholeTurnTakeNoRoundTripMore(boolean stream) throws IOException {
		start("");
		ChatClient chat = client();
		turn(chat, stream, 0);
		for (int rounds = 0; rounds <= 4; rounds++) {
			this.proxy.reset();
			turn(chat, stream, rounds);
			assertThat(this.proxy.roundTrips()).as("%d tool rounds", rounds).isEqualTo(2);
		}
	}

	/**
	 * MySQL, which has no compound statements, gets this: open, autocommit off, header,
	 * turn, commit, autocommit on.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "", "rewriteBatchedStatements=true" })
	void theWayOfMySqlTakesSixRoundTripsWhateverTheNumberOfToolRounds(String options) throws IOException {
		start(options, true);
		ChatClient chat = client();
		turn(chat, false, 0);
		for (int rounds = 0; rounds <= 4; rounds++) {
			this.proxy.reset();
			turn(chat, false, rounds);
			assertThat(this.proxy.roundTrips()).as("%d tool rounds", rounds).isEqualTo(6);
		}
	}

	private ChatClient client() {
		return ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(Conversations.builder(this.store).trim(Trim.keepLastTurns(20)).build()))
			.defaultTools(FunctionToolCallback.builder("add", (Object nothing) -> "1")
				.description("adds")
				.inputType(Object.class)
				.build())
			.build();
	}

	private void turn(ChatClient chat, boolean stream, int toolRounds) {
		for (int i = 0; i < toolRounds; i++) {
			this.model.calls(new ToolCall("c" + i, "function", "add", "{}"));
		}
		this.model.says(TEXT);
		ChatClient.ChatClientRequestSpec spec = chat.prompt().user(TEXT).advisors(SessionAdvisor.session(this.key));
		if (stream) {
			spec.stream().content().blockLast();
		}
		else {
			spec.call().content();
		}
	}

	/**
	 * Returns what is read, without the digits of the stamp, which comes with the header
	 * and each of the 20 turns: it is random, so in one of ten runs it has a digit less.
	 */
	private long bytesOfOpen() {
		this.proxy.reset();
		assertThat(this.store.open(this.key, Window.turns(20)).orElseThrow().items()).hasSize(40);
		long bytes = this.proxy.bytesRead();
		Long stamp = new JdbcTemplate(this.pool).queryForObject("select stamp from SESSIONKIT_SESSION", Long.class);
		return bytes - 21L * String.valueOf(stamp).length();
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
