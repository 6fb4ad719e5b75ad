package io.sessionkit.store.redis;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.Page;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import io.sessionkit.test.RedisServers;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a whole turn of a {@code ChatClient} may cost on Redis, counted on the wire, and
 * by the server itself.
 */
@Isolated
class RedisTurnBudgetTests {

	private static final RedisServers SERVER = RedisServers.alone();

	private static final String TEXT = "x".repeat(250);

	private static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create());

	private final String prefix = "budget-" + UUID.randomUUID() + ":";

	private final SessionKey key = SessionKey.of("owner", "t1");

	private final ScriptedChatModel model = new ScriptedChatModel();

	private TcpProxy proxy;

	private LettuceConnectionFactory connections;

	private SessionStore store;

	private ChatClient chat;

	@BeforeEach
	void start() throws IOException {
		this.proxy = new TcpProxy(SERVER.host(), SERVER.port());
		this.connections = SERVER.connectionsBy(this.proxy.port());
		this.store = new RedisSessionStore(this.connections, OPTIONS, this.prefix);
		this.chat = client(this.store);
		turn(false, 0);
	}

	@AfterEach
	void stop() throws IOException {
		this.connections.destroy();
		this.proxy.close();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aPlainTurnTakesTwoRoundTrips(boolean stream) {
		for (int i = 0; i < 5; i++) {
			this.proxy.reset();
			turn(stream, 0);
			assertThat(this.proxy.roundTrips()).isEqualTo(2);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aToolRoundTakesNoRoundTripMore(boolean stream) {
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
				session.put("count", session.get("count", Integer.class).orElse(0) + 1);
				return "1";
			}).description("counts").inputType(Object.class).build())
			.build();
		for (int count = 1; count <= 3; count++) {
			this.proxy.reset();
			turn(counting, this.key, stream, 1);
			assertThat(this.proxy.roundTrips()).isEqualTo(2);
			assertThat(this.store.find(this.key).orElseThrow().attributes()).containsEntry("count", 2 * count);
		}
	}

	@Test
	void theFirstTurnOfASessionTakesTwoRoundTrips() {
		this.proxy.reset();
		turn(this.chat, SessionKey.of("new"), false, 0);
		assertThat(this.proxy.roundTrips()).isEqualTo(2);
	}

	@Test
	void turnWithAttributesTitleAndRecordTakesTwoRoundTrips() {
		this.proxy.reset();
		Session base = this.store.open(this.key, Window.turns(20)).orElseThrow().session();
		this.store.commit(Commit.on(base)
			.header(HeaderChange.NONE.title("title").attributes(Map.of("step", 1)))
			.records(List.of(RecordWrite.create("note", "1", "text"))));
		assertThat(this.proxy.roundTrips()).isEqualTo(2);
	}

	@Test
	void addTakesOneRoundTrip() {
		this.proxy.reset();
		this.store.add(this.key, List.of(new UserMessage(TEXT)));
		assertThat(this.proxy.roundTrips()).isEqualTo(1);
	}

	@Test
	void aListTakesTwoRoundTrips() {
		for (int i = 0; i < 30; i++) {
			this.store.add(SessionKey.of("owner", "other " + i), List.of(new UserMessage(TEXT)));
		}
		assertThat(this.store.list("owner", Page.first(10))).hasSize(10);
		this.proxy.reset();
		this.store.list("owner", Page.first(10));
		assertThat(this.proxy.roundTrips()).isEqualTo(2);
	}

	@Test
	void aServerThatForgotTheScriptsIsTaughtThemOnce() {
		try (RedisConnection connection = this.connections.getConnection()) {
			connection.scriptingCommands().scriptFlush();
		}
		this.proxy.reset();
		turn(false, 0);
		assertThat(this.proxy.roundTrips()).isEqualTo(4);
		this.proxy.reset();
		turn(false, 0);
		assertThat(this.proxy.roundTrips()).isEqualTo(2);
	}

	@Test
	void theBytesReadAreTheSameAt40AndAt4000Messages() {
		store(30);
		long at40 = bytesOfATurn();
		store(1_980);
		long at4000 = bytesOfATurn();
		System.out
			.println("Bytes read from Redis for a turn over 40 messages of 60 and of 4,000: " + at40 + ", " + at4000);
		// numbers with more digits, a few bytes an item
		assertThat(at4000).isBetween(at40 - 4 * 41, at40 + 4 * 41);
	}

	/**
	 * The commands that scripts call are counted by the server.
	 */
	@Test
	void theTailOf100000ItemsCostsWhatTheTailCosts() {
		SessionKey small = SessionKey.of("small");
		SessionKey large = SessionKey.of("large");
		List<Message> batch = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			batch.add((i % 2 == 0) ? new UserMessage("q") : new AssistantMessage("a"));
		}
		addTurns(small, batch, 10);
		addTurns(large, batch, 1_000);
		assertThat(this.store.find(large).orElseThrow().items()).isEqualTo(100_000);
		assertSameCost(small, large, (key) -> this.store.open(key, Window.turns(5)));
		assertSameCost(small, large, (key) -> this.store.open(key, Window.items(250)));
		assertSameCost(small, large, (key) -> this.store.items(key, Tail.newest(10)));
		assertSameCost(small, large, (key) -> this.store.turns(key, Tail.newest(10)));
		assertSameCost(small, large, this.store::pop);
	}

	@Test
	void aTurnOnAClusterTakesTwoCallsAndTheFirstOneOneMore() {
		LettuceConnectionFactory cluster = RedisServers.cluster().connections();
		try {
			ChatClient client = client(new RedisSessionStore(cluster, OPTIONS, this.prefix));
			turn(client, SessionKey.of("warm"), false, 0);
			assertThat(scriptCalls(cluster, () -> turn(client, this.key, false, 0))).isEqualTo(3);
			assertThat(scriptCalls(cluster, () -> turn(client, this.key, false, 0))).isEqualTo(2);
			assertThat(scriptCalls(cluster, () -> turn(client, this.key, true, 3))).isEqualTo(2);
		}
		finally {
			cluster.destroy();
		}
	}

	@Test
	void aRecordOnAClusterTakesOneCallAndTheFirstOfItsKindTwoMore() {
		LettuceConnectionFactory cluster = RedisServers.cluster().connections();
		try {
			SessionStore there = new RedisSessionStore(cluster, OPTIONS.timeToLive(Duration.ofHours(1)), this.prefix);
			turn(client(there), this.key, false, 0);
			there.put(this.key, RecordWrite.create("warm", "1", "text"));
			assertThat(scriptCalls(cluster, () -> there.put(this.key, RecordWrite.create("note", "1", "text"))))
				.isEqualTo(3);
			assertThat(scriptCalls(cluster, () -> there.put(this.key, RecordWrite.create("note", "2", "text"))))
				.isEqualTo(1);
		}
		finally {
			cluster.destroy();
		}
	}

	private static long scriptCalls(LettuceConnectionFactory cluster, Runnable turn) {
		long before = scriptCalls(cluster);
		turn.run();
		return scriptCalls(cluster) - before;
	}

	private static long scriptCalls(LettuceConnectionFactory cluster) {
		try (RedisClusterConnection connection = cluster.getClusterConnection()) {
			return connection.serverCommands()
				.info("commandstats")
				.entrySet()
				.stream()
				.filter((entry) -> entry.getKey().toString().matches(".*cmdstat_eval(sha)?"))
				.mapToLong((entry) -> calls(entry.getValue().toString()))
				.sum() - failedCalls(connection);
		}
	}

	/** A script that a node does not know yet is sent twice. */
	private static long failedCalls(RedisClusterConnection connection) {
		return connection.serverCommands()
			.info("commandstats")
			.entrySet()
			.stream()
			.filter((entry) -> entry.getKey().toString().endsWith("cmdstat_evalsha"))
			.mapToLong((entry) -> failures(entry.getValue().toString()))
			.sum();
	}

	private static long calls(String statistics) {
		return Long.parseLong(statistics.replaceAll("calls=(\\d+),.*", "$1"));
	}

	private static long failures(String statistics) {
		return Long.parseLong(statistics.replaceAll(".*failed_calls=(\\d+).*", "$1"));
	}

	private void assertSameCost(SessionKey small, SessionKey large, Consumer<SessionKey> reading) {
		reading.accept(small);
		reading.accept(large);
		Map<String, Long> forSmall = commands(() -> reading.accept(small));
		Map<String, Long> forLarge = commands(() -> reading.accept(large));
		assertThat(forSmall.keySet()).contains("cmdstat_lrange");
		// a search by halves takes some steps more
		forLarge.forEach((command, calls) -> assertThat(calls).as(command)
			.isLessThanOrEqualTo(forSmall.getOrDefault(command, 0L) + 10));
	}

	private Map<String, Long> commands(Runnable reading) {
		try (RedisConnection connection = this.connections.getConnection()) {
			connection.serverCommands().resetConfigStats();
			reading.run();
			Map<String, Long> calls = new TreeMap<>();
			Properties statistics = connection.serverCommands().info("commandstats");
			statistics.forEach((name, text) -> calls.put(name.toString(), calls(text.toString())));
			return calls;
		}
	}

	private void addTurns(SessionKey to, List<Message> batch, int turns) {
		for (int i = 0; i < turns; i++) {
			this.store.add(to, batch);
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
		turn(this.chat, this.key, stream, toolRounds);
	}

	private void turn(ChatClient client, SessionKey session, boolean stream, int toolRounds) {
		for (int i = 0; i < toolRounds; i++) {
			this.model.calls(new ToolCall("c" + i, "function", "add", "{}"),
					new ToolCall("d" + i, "function", "add", "{}"));
		}
		this.model.says(TEXT);
		ChatClient.ChatClientRequestSpec spec = client.prompt().user(TEXT).advisors(SessionAdvisor.session(session));
		if (stream) {
			spec.stream().content().blockLast(Duration.ofSeconds(20));
		}
		else {
			spec.call().content();
		}
	}

	private ChatClient client(SessionStore sessions) {
		return ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(Conversations.builder(sessions).trim(Trim.keepLastTurns(20)).build()))
			.defaultTools(FunctionToolCallback.builder("add", (Object nothing) -> "1")
				.description("adds")
				.inputType(Object.class)
				.build())
			.build();
	}

}
