package io.sessionkit.store.redis;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.LongFunction;

import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.Turn;
import io.sessionkit.advisor.ChildSession;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.HistoryPolicy;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.Page;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.Window;
import io.sessionkit.test.Allocations;
import io.sessionkit.test.RedisServers;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
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
import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the cost of a whole turn of a {@code ChatClient} on Redis, counted on the wire,
 * and by the server itself.
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
	@EnumSource(names = { "REJECT", "SERIALIZE", "STEER" })
	void aTurnThatStandsInLineTakesOneRoundTripMore(Concurrency concurrency) {
		ChatClient inLine = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(Conversations.of(this.store)).concurrency(concurrency).build())
			.build();
		turn(inLine, this.key, false, 0);
		turn(inLine, this.key, true, 0);
		for (boolean stream : List.of(false, true)) {
			this.proxy.reset();
			turn(inLine, this.key, stream, 0);
			assertThat(this.proxy.roundTrips()).isEqualTo(3);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aTurnThatMessagesMayJoinTakesOneRoundTripMoreForEachFurtherModelCall(boolean stream) {
		ChatClient steering = this.chat.mutate().defaultAdvisors(SessionAdvisor.concurrency(Concurrency.STEER)).build();
		turn(steering, this.key, stream, 1);
		for (int rounds = 0; rounds < 4; rounds++) {
			this.proxy.reset();
			turn(steering, this.key, stream, rounds);
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

	@Test
	void plainTurnAllocatesAtMostAHundredKilobytes() {
		for (int i = 0; i < 20; i++) {
			this.store.add(this.key, List.of(new UserMessage(TEXT), new AssistantMessage(TEXT)));
		}
		assertThat(Allocations.kilobytesOf(() -> turn(false, 0))).isBetween(10L, 100L);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aCallThatOnlyReadsTakesOneRoundTripAndOneWithItsHistoryTwo(boolean stream) {
		List<Message> given = List.of(new UserMessage("x?"), new AssistantMessage("x!"));
		turn(stream, 0);
		assertThat(roundTrips(SessionAdvisor.reading(), stream)).isEqualTo(1);
		assertThat(roundTrips(SessionAdvisor.history(given), stream)).isEqualTo(1);
		assertThat(roundTrips(SessionAdvisor.history(given, HistoryPolicy.USE_IF_PROVIDED), stream)).isEqualTo(2);
		assertThat(roundTrips(SessionAdvisor.history(given, HistoryPolicy.REPLACE_SESSION), stream)).isEqualTo(2);
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
	void turnOfASessionWithLimitsOfItsOwnTakesTwoRoundTripsOnceTheyAreKnown() {
		this.store.commit(Commit.any(this.key)
			.header(HeaderChange.NONE.settings(SessionSettings.NONE.trim((trim) -> trim.maxTurns(7)))));
		this.proxy.reset();
		turn(this.chat, this.key, false, 0);
		assertThat(this.proxy.roundTrips()).isEqualTo(3);
		for (int i = 0; i < 3; i++) {
			this.proxy.reset();
			turn(this.chat, this.key, false, 0);
			assertThat(this.proxy.roundTrips()).isEqualTo(2);
		}
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
		assertThat(at4000).isBetween(at40 - 6 * 41, at40 + 6 * 41);
	}

	@Test
	void historyThatThisProcessKnowsIsNotReadAgain() {
		store(20);
		turn(false, 0);
		for (int i = 0; i < 5; i++) {
			assertThat(bytesOfATurn()).as("bytes read").isLessThanOrEqualTo(400);
		}
	}

	@Test
	void historyThatAnotherProcessHasWrittenIsReadInTheSameTwoRoundTrips() {
		SessionStore other = new RedisSessionStore(this.connections, OPTIONS, this.prefix);
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
		SessionStore other = new RedisSessionStore(this.connections, OPTIONS, this.prefix);
		store(20);
		turn(false, 0);
		for (int turns = 1; turns <= 3; turns++) {
			for (int i = 0; i < turns; i++) {
				turn(client(other), this.key, false, 0);
			}
			long bytes = bytesOfATurn();
			assertThat(this.proxy.roundTrips()).isEqualTo(2);
			assertThat(bytes).as("bytes read").isBetween(2L * turns * TEXT.length(), 600 + 1_100L * turns);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void turnThatAnotherProcessHasAppendedIsReadAloneInEveryWindow(boolean summarized) {
		SessionStore other = new RedisSessionStore(this.connections, OPTIONS, this.prefix);
		store(20);
		if (summarized) {
			this.store.commit(Commit.on(this.store.find(this.key).orElseThrow())
				.header(HeaderChange.NONE.summary(1, "1"))
				.records(List.of(RecordWrite.create(SessionStore.SUMMARY, "1", "summary"))));
		}
		for (Window window : List.of(Window.ALL, Window.turns(5), Window.items(30))) {
			this.store.open(this.key, window);
			plainTurn(other, this.key, (number) -> number + "-" + UUID.randomUUID());
			this.proxy.reset();
			assertThat(this.store.open(this.key, window).orElseThrow().items()).hasSizeBetween(10, 100);
			assertThat(this.proxy.bytesRead()).as("bytes read, %s", window).isBetween(2L * TEXT.length(), 1_600L);
		}
	}

	/**
	 * Beside the commands, what a script builds is what it costs. A plain turn builds
	 * nothing.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aPlainTurnTakesFiveCommandsAndOneMoreToReadTheHistory(boolean expires) {
		Map<String, Long> expected = new TreeMap<>(
				Map.of("evalsha", 2L, "get", 2L, "time", 1L, "lpush", 1L, "set", 1L));
		if (expires) {
			expected.putAll(Map.of("time", 2L, "pexpireat", 1L));
		}
		assertThatPlainTurnsTake(expected, expires, (number) -> number + "-" + UUID.randomUUID());
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aPlainTurnWhoseIdDoesNotNameItsPlaceTakesTwoCommandsMore(boolean expires) {
		Map<String, Long> expected = new TreeMap<>(
				Map.of("evalsha", 2L, "get", 2L, "time", 1L, "lpush", 1L, "set", 1L, "hexists", 1L, "hsetnx", 1L));
		if (expires) {
			expected.putAll(Map.of("time", 2L, "pexpireat", 2L));
		}
		assertThatPlainTurnsTake(expected, expires, (number) -> "id " + number);
	}

	private void assertThatPlainTurnsTake(Map<String, Long> expected, boolean expires, LongFunction<String> ids) {
		StoreOptions options = OPTIONS.timeToLive(expires ? Duration.ofHours(1) : null);
		SessionStore one = new RedisSessionStore(this.connections, options, this.prefix);
		SessionStore other = new RedisSessionStore(this.connections, options, this.prefix);
		SessionKey session = SessionKey.of("owner", "counted " + expires);
		plainTurn(other, session, ids);
		for (int i = 0; i < 25; i++) {
			plainTurn(one, session, ids);
		}
		assertThat(scriptCommands(() -> plainTurn(one, session, ids))).isEqualTo(expected);
		expected.put("lrange", 1L);
		assertThat(scriptCommands(() -> plainTurn(other, session, ids))).isEqualTo(expected);
	}

	private static void plainTurn(SessionStore store, SessionKey session, LongFunction<String> ids) {
		Optional<Session> opened = store.open(session, Window.turns(20)).map(SessionView::session);
		Commit commit = opened.map(Commit::on).orElseGet(() -> Commit.first(session));
		long number = opened.map(Session::turns).orElse(0L) + 1;
		Turn turn = Turn.builder(ids.apply(number), OPTIONS.now()).build();
		store.commit(commit.turn(new TurnWrite(turn, 0, List.of(new NewItem(new UserMessage(TEXT), OPTIONS.now(), 1),
				new NewItem(new AssistantMessage(TEXT), OPTIONS.now(), 1)))));
	}

	private Map<String, Long> scriptCommands(Runnable work) {
		Map<String, Long> named = new TreeMap<>();
		commands(work).forEach((name, calls) -> named.put(name.replace("cmdstat_", ""), calls));
		named.keySet().removeIf((name) -> name.startsWith("config") || name.equals("info"));
		return named;
	}

	@Test
	void aSessionTakesTwoKeysAndAtMost410BytesForAMessage() {
		SessionKey session = SessionKey.of("owner", "two keys");
		for (int i = 0; i < 600; i++) {
			plainTurn(this.store, session, (number) -> number + "-" + UUID.randomUUID());
		}
		StoredKeys keys = StoredKeys.in(this.connections, this.prefix);
		assertThat(bytesOfAMessage(session, List.of(keys.session(session), keys.turns(session))))
			.isLessThanOrEqualTo(410);
	}

	@Test
	void aSessionTakesThreeKeysAndAtMost450BytesForAMessageIfIdsNameNoPlaces() {
		SessionKey session = SessionKey.of("owner", "three keys");
		for (int i = 0; i < 600; i++) {
			plainTurn(this.store, session, (number) -> UUID.randomUUID().toString());
		}
		StoredKeys keys = StoredKeys.in(this.connections, this.prefix);
		assertThat(bytesOfAMessage(session, List.of(keys.session(session), keys.turns(session), keys.ids(session))))
			.isLessThanOrEqualTo(450);
	}

	private long bytesOfAMessage(SessionKey session, List<String> names) {
		StoredKeys keys = StoredKeys.in(this.connections, this.prefix);
		assertThat(keys.leftOf(session)).isEqualTo(names.size());
		long bytes = 0;
		for (String name : names) {
			bytes += Objects.requireNonNull(keys.redis()
				.execute(new DefaultRedisScript<>("return redis.call('MEMORY', 'USAGE', KEYS[1], 'SAMPLES', 0)",
						Long.class), List.of(name)));
		}
		long message = bytes / this.store.find(session).orElseThrow().items();
		System.out.println("Bytes of a message in " + names.size() + " keys: " + message);
		return message;
	}

	/** Each round of a turn that is stored in steps costs what it adds. */
	@Test
	void aStepCostsTheSameInLateRoundsAsInEarlyOnes() throws IOException {
		RedisServers appending = RedisServers.appending();
		LettuceConnectionFactory direct = appending.connections();
		try (TcpProxy counting = new TcpProxy(appending.host(), appending.port());
				RedisConnection server = direct.getConnection()) {
			LettuceConnectionFactory counted = appending.connectionsBy(counting.port());
			List<Long> written = new ArrayList<>();
			List<Long> roundTrips = new ArrayList<>();
			ChatClient client = ChatClient.builder(this.model)
				.defaultAdvisors(
						SessionAdvisor.of(Conversations.builder(new RedisSessionStore(counted, OPTIONS, this.prefix))
							.durability(Durability.STEP)
							.build()))
				.defaultTools(FunctionToolCallback.builder("add", (Object nothing) -> {
					written
						.add(Long.valueOf(server.serverCommands().info("persistence").getProperty("aof_current_size")));
					roundTrips.add(counting.roundTrips());
					return TEXT;
				}).description("adds").inputType(Object.class).build())
				.build();
			for (int i = 0; i < 40; i++) {
				this.model.calls(new ToolCall("c" + i, "function", "add", "{}"));
			}
			this.model.says(TEXT);
			client.prompt().user(TEXT).advisors(SessionAdvisor.session(this.key)).call().content();
			counted.destroy();
			assertThat(written).hasSize(40);
			long early = written.get(9) - written.get(2);
			long late = written.get(38) - written.get(31);
			System.out.println("Bytes that a step appends in rounds 3 to 10 and 32 to 39: " + early / 7 + ", "
					+ late / 7 + "; round trips of 7 steps: " + (roundTrips.get(9) - roundTrips.get(2)) + ", "
					+ (roundTrips.get(38) - roundTrips.get(31)));
			assertThat((double) late / early).isLessThanOrEqualTo(1.5);
			assertThat(roundTrips.get(38) - roundTrips.get(31)).isEqualTo(roundTrips.get(9) - roundTrips.get(2));
		}
		finally {
			direct.destroy();
		}
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
		this.store = new RedisSessionStore(this.connections, OPTIONS.viewCache(DataSize.ofBytes(0)), this.prefix);
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
