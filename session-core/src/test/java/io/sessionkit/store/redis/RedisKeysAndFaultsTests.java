package io.sessionkit.store.redis;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
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
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.Window;
import io.sessionkit.test.RedisServers;
import io.sessionkit.test.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * Tests what the store leaves in Redis, and what it does when something is wrong there.
 */
class RedisKeysAndFaultsTests {

	private static final RedisServers SERVER = RedisServers.alone();

	private static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create());

	private final String prefix = "faults-" + UUID.randomUUID() + ":";

	private final SessionKey key = SessionKey.of("owner", "t1");

	private LettuceConnectionFactory connections;

	private StringRedisTemplate redis;

	private StoredKeys keys;

	private SessionStore store;

	@BeforeEach
	void start() {
		this.connections = SERVER.connections();
		this.redis = new StringRedisTemplate(this.connections);
		this.keys = StoredKeys.in(this.connections, this.prefix);
		this.store = new RedisSessionStore(this.connections, OPTIONS, this.prefix);
	}

	@AfterEach
	void stop() {
		this.connections.destroy();
	}

	// expiry

	@Test
	void allKeysOfASessionExpireWithIt() {
		add(this.key, "q1");
		this.store.put(this.key, RecordWrite.create("note", "1", "text"));
		assertThat(expiry(this.keys.session(this.key))).isEqualTo(-1);
		this.store.commit(Commit.on(header()).header(HeaderChange.NONE.timeToLive(Duration.ofHours(2))));
		long expiresAt = header().expiresAt().toEpochMilli();
		assertThat(List.of(this.keys.session(this.key), this.keys.turns(this.key), this.keys.records(this.key),
				this.keys.ids(this.key)))
			.allSatisfy((name) -> assertThat(System.currentTimeMillis() + expiry(name)).isBetween(expiresAt - 2_000,
					expiresAt + 2_000));
		this.store.commit(Commit.on(header()).header(HeaderChange.NONE.timeToLive(Duration.ZERO)));
		assertThat(expiry(this.keys.session(this.key))).isEqualTo(-1);
		assertThat(expiry(this.keys.records(this.key))).isEqualTo(-1);
	}

	@Test
	void aRecordThatIsWrittenLaterExpiresWithItsSession() {
		add(this.key, "q1");
		this.store.commit(Commit.on(header()).header(HeaderChange.NONE.timeToLive(Duration.ofHours(2))));
		this.store.put(this.key, RecordWrite.create("note", "1", "text"));
		assertThat(expiry(this.keys.records(this.key))).isPositive();
	}

	@Test
	void anIndexOfSessionsThatAllExpireExpiresToo() {
		SessionStore brief = new RedisSessionStore(this.connections, OPTIONS.timeToLive(Duration.ofHours(1)),
				this.prefix);
		brief.add(this.key, List.of(new UserMessage("q1")));
		assertThat(expiry(this.keys.sessions("owner"))).isBetween(Duration.ofHours(1).toMillis(),
				Duration.ofHours(1).toMillis() + OwnerIndex.slack() / 1000 + 2);
		add(SessionKey.of("owner", "stays"), "q1");
		assertThat(expiry(this.keys.sessions("owner"))).isEqualTo(-1);
	}

	@Test
	void idsOfSessionsThatAreGoneMakeRoom() {
		add(this.key, "q1");
		for (int i = 0; i < 5; i++) {
			this.redis.opsForZSet().add(this.keys.sessions("owner"), "gone " + i, 1_000);
			this.redis.opsForZSet().add(this.keys.expiries("owner"), "gone " + i, 2_000);
		}
		assertThat(this.store.list("owner", Page.first(10))).hasSize(1);
		add(this.key, "q2");
		assertThat(this.redis.opsForZSet().range(this.keys.sessions("owner"), 0, -1)).containsExactly("t1");
	}

	@Test
	void aListForgetsWhatIsGone() {
		add(this.key, "q1");
		this.redis.opsForZSet().add(this.keys.sessions("owner"), "gone", 1_000);
		assertThat(this.store.list("owner", Page.first(10))).extracting((session) -> session.key().id())
			.containsExactly("t1");
		assertThat(this.redis.opsForZSet().range(this.keys.sessions("owner"), 0, -1)).containsExactly("t1");
	}

	@Test
	void eraseLeavesNothing() {
		add(this.key, "q1");
		this.store.put(this.key, RecordWrite.create("note", "1", "text"));
		assertThat(this.redis.keys(this.prefix + "*")).isNotEmpty();
		this.store.clear(this.key);
		assertThat(this.redis.keys(this.prefix + "*")).isEmpty();
	}

	@Test
	void eraseOnAClusterLeavesNothing() {
		LettuceConnectionFactory cluster = RedisServers.cluster().connections();
		try {
			SessionStore sessions = new RedisSessionStore(cluster, OPTIONS, this.prefix);
			sessions.add(this.key, List.of(new UserMessage("q1")));
			sessions.put(this.key, RecordWrite.create("note", "1", "text"));
			sessions.clear(this.key);
			assertThat(new StringRedisTemplate(cluster).keys(this.prefix + "*")).isEmpty();
		}
		finally {
			cluster.destroy();
		}
	}

	/**
	 * On a Cluster the index is behind, and must not be so in a way that loses a session.
	 */
	@Test
	void anIndexOnAClusterKnowsHowLongASessionLives() {
		LettuceConnectionFactory cluster = RedisServers.cluster().connections();
		try {
			StoredKeys there = StoredKeys.in(cluster, this.prefix);
			SessionStore brief = new RedisSessionStore(cluster, OPTIONS.timeToLive(Duration.ofHours(1)), this.prefix);
			brief.add(this.key, List.of(new UserMessage("q1")));
			brief.put(this.key, RecordWrite.create("note", "1", "text"));
			assertThat(there.redis().opsForZSet().range(there.expiries("owner"), 0, -1)).containsExactly("t1");
			assertThat(there.redis().getExpire(there.recordsOf("owner", "note"))).isPositive();
			brief.commit(
					Commit.on(brief.find(this.key).orElseThrow()).header(HeaderChange.NONE.timeToLive(Duration.ZERO)));
			assertThat(there.redis().opsForZSet().range(there.expiries("owner"), 0, -1)).isEmpty();
			assertThat(there.redis().getExpire(there.sessions("owner"))).isEqualTo(-1);
		}
		finally {
			cluster.destroy();
		}
	}

	// wrong keys

	@Test
	void aSessionKeyOfAnotherTypeIsAnErrorBeforeAnythingIsWritten() {
		this.redis.opsForValue().set(this.keys.session(this.key), "mine");
		assertRefusesToWrite();
		assertThat(this.redis.opsForValue().get(this.keys.session(this.key))).isEqualTo("mine");
		assertThat(this.redis.keys(this.prefix + "*")).hasSize(1);
	}

	@Test
	void aRecordsKeyOfAnotherTypeIsAnErrorBeforeAnythingIsWritten() {
		this.redis.opsForValue().set(this.keys.records(this.key), "mine");
		assertRefusesToWrite();
		assertThat(this.redis.keys(this.prefix + "*")).hasSize(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "turns", "ids", "records" })
	void aKeyOfASessionThatHasGotAnotherTypeIsAnErrorBeforeAnythingIsWritten(String which) {
		add(this.key, "q1");
		Session base = header();
		String name = switch (which) {
			case "turns" -> this.keys.turns(this.key);
			case "ids" -> this.keys.ids(this.key);
			default -> this.keys.records(this.key);
		};
		this.redis.delete(name);
		this.redis.opsForValue().set(name, "mine");
		String header = this.redis.opsForValue().get(this.keys.session(this.key));
		Long turns = which.equals("turns") ? null : this.redis.opsForList().size(this.keys.turns(this.key));
		assertRefusesToWrite();
		if (!which.equals("records")) {
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> this.store.commit(Commit.on(base).turn(turn("plain"))))
				.withMessageContaining("WRONGTYPE");
		}
		assertThat(this.redis.opsForValue().get(this.keys.session(this.key))).isEqualTo(header);
		assertThat(this.redis.opsForValue().get(name)).isEqualTo("mine");
		if (turns != null) {
			assertThat(this.redis.opsForList().size(this.keys.turns(this.key))).isEqualTo(turns);
		}
	}

	@Test
	void anIndexThatHasGotAnotherTypeIsAnErrorBeforeAPlainTurnIsWritten() {
		add(this.key, "q1");
		Session base = header();
		this.keys.passTime(this.key, "none", OwnerIndex.LAG);
		this.redis.delete(this.keys.sessions("owner"));
		this.redis.opsForValue().set(this.keys.sessions("owner"), "mine");
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> this.store.commit(Commit.on(base).turn(turn("plain"))))
			.withMessageContaining("WRONGTYPE");
		assertThat(this.redis.opsForList().size(this.keys.turns(this.key))).isEqualTo(1);
		assertThat(this.store.messages(this.key)).hasSize(1);
	}

	/** A server that evicts keys does so one by one. */
	@Test
	void aSessionWhoseTurnsAreGoneIsNeitherReadNorWritten() {
		add(this.key, "q1");
		add(this.key, "q2");
		Session base = header();
		this.redis.delete(this.keys.turns(this.key));
		SessionStore other = new RedisSessionStore(this.connections, OPTIONS, this.prefix);
		for (Runnable use : List.<Runnable>of(() -> other.open(this.key, Window.turns(5)),
				() -> other.messages(this.key), () -> other.turns(this.key, Tail.ALL),
				() -> other.open(this.key, Window.items(5)), () -> add(this.key, "q3"),
				() -> other.commit(Commit.on(base).turn(turn("plain"))))) {
			assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(use::run)
				.withMessageContaining("not all of its turns");
		}
		assertThat(this.redis.hasKey(this.keys.turns(this.key))).isFalse();
		other.erase(this.key);
		assertThat(this.redis.keys(this.prefix + "*")).isEmpty();
	}

	/** A header that is dropped takes the session with it, without an error. */
	@Test
	void aSessionWhoseHeaderIsGoneIsAbsentAndItsNextTurnDeletesTheRest() {
		add(this.key, "q1");
		this.redis.delete(this.keys.session(this.key));
		assertThat(this.store.find(this.key)).isEmpty();
		add(this.key, "q2");
		assertThat(this.store.messages(this.key)).extracting(Message::getText).containsExactly("q2");
	}

	@Test
	void aTurnOfAStatusThatOnlyANewerVersionKnowsIsUnreadable() {
		add(this.key, "q1");
		String turn = Objects.requireNonNull(this.redis.opsForList().index(this.keys.turns(this.key), 0));
		this.redis.opsForList().set(this.keys.turns(this.key), 0, turn.replaceFirst("COMPLETED", "POSTPONED"));
		for (Runnable use : List.<Runnable>of(() -> this.store.turns(this.key, Tail.ALL),
				() -> this.store.turn(this.key, 1, Set.of()),
				() -> this.store.path(this.key, PathQuery.to(Point.HEAD).turns(Tail.ALL)))) {
			assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(use::run)
				.withMessageContaining("" + this.key)
				.withMessageContaining("POSTPONED")
				.withMessageContaining("Use the version that wrote it");
		}
	}

	/** As if two writers had drawn one stamp. */
	@Test
	void aStampOfAnotherWriteHidesNoHistory() {
		add(this.key, "q0");
		this.store.open(this.key, Window.ALL);
		this.store.commit(Commit.on(header()).turn(turn("q1")));
		String name = this.keys.session(this.key);
		String stamp = Objects.requireNonNull(this.redis.opsForValue().get(name, 84, 99));
		SessionStore other = new RedisSessionStore(this.connections, OPTIONS, this.prefix);
		other.commit(Commit.on(header()).turn(turn("q2")));
		// a read of the header alone would drop the view of the other write
		this.redis.opsForValue().set(name, stamp, 84);
		for (int i = 0; i < 2; i++) {
			assertThat(this.store.open(this.key, Window.ALL).orElseThrow().items()).hasSize(3);
		}
	}

	// lists

	@Test
	void aPlainTurnRenewsItsEntryInTheListOfItsOwnerOnceAMinute() {
		add(this.key, "q1");
		Double first = entry();
		this.store.commit(Commit.on(header()).turn(turn("soon")));
		assertThat(entry()).isEqualTo(first);
		this.keys.passTime(this.key, "none", OwnerIndex.LAG_ON_ONE_SERVER);
		this.store.commit(Commit.on(header()).turn(turn("later")));
		assertThat(entry()).isGreaterThan(first);
	}

	private Double entry() {
		return this.redis.opsForZSet().score(this.keys.sessions("owner"), this.key.id());
	}

	@Test
	void aListIsInTheOrderOfWritingAlsoBetweenEntries() {
		List<SessionKey> sessions = new ArrayList<>();
		for (int i = 0; i < 130; i++) {
			sessions.add(SessionKey.of("owner", "s" + i));
			add(sessions.get(i), "q1");
		}
		for (int i : List.of(7, 0, 64)) {
			this.store.commit(Commit.on(this.store.find(sessions.get(i)).orElseThrow()).turn(turn("plain")));
		}
		assertThat(this.store.list("owner", Page.first(4))).extracting((session) -> session.key().id())
			.containsExactly("s64", "s0", "s7", "s129");
	}

	@Test
	void anIndexOfAnotherTypeIsAnErrorBeforeAnythingIsWritten() {
		this.redis.opsForValue().set(this.keys.sessions("owner"), "mine");
		assertRefusesToWrite();
		assertThat(this.redis.keys(this.prefix + "*")).hasSize(1);
	}

	private void assertRefusesToWrite() {
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> add(this.key, "q1"))
			.withMessageContaining("WRONGTYPE")
			.withMessageContaining("sessionkit.store.redis.key-prefix");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "a{b", "a}b", "a b" })
	void aPrefixThatWouldBreakTheHashTagIsRefused(String bad) {
		assertThatIllegalArgumentException().isThrownBy(() -> new RedisSessionStore(this.connections, OPTIONS, bad))
			.withMessageContaining("key prefix");
	}

	// lost answers

	@Test
	void aCommitWhoseAnswerIsLostIsStoredOnce() throws IOException {
		add(this.key, "q1");
		try (TcpProxy proxy = new TcpProxy(SERVER.host(), SERVER.port())) {
			LettuceConnectionFactory by = SERVER.connectionsBy(proxy.port());
			try {
				SessionStore cut = new RedisSessionStore(by, OPTIONS, this.prefix);
				for (int i = 0; i < 10; i++) {
					Session base = cut.find(this.key).orElseThrow();
					proxy.loseNextAnswer();
					CommitResult result = cut.commit(Commit.on(base).turn(turn("lost " + i)));
					assertThat(result.isStored()).isTrue();
					assertThat(result.turn()).isEqualTo(i + 2);
				}
			}
			finally {
				by.destroy();
			}
		}
		assertThat(this.store.messages(this.key)).hasSize(11);
		assertThat(header().turns()).isEqualTo(11);
	}

	@Test
	void aServerThatIsAwayIsUnavailable() {
		LettuceConnectionFactory nowhere = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", 1));
		nowhere.start();
		try {
			SessionStore away = new RedisSessionStore(nowhere, OPTIONS, this.prefix);
			assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> away.find(this.key))
				.withMessageContainingAll("cannot be reached", "try again later");
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> away.add(this.key, List.of(new UserMessage("secret words"))))
				.withMessageNotContaining("secret words");
		}
		finally {
			nowhere.destroy();
		}
	}

	/** As at the end of a shutdown, or around a checkpoint. */
	@Test
	void aFactoryThatIsStoppedGivesNoConnectionAndNothingWasWritten() {
		LettuceConnectionFactory stopped = SERVER.connections();
		SessionStore there = new RedisSessionStore(stopped, OPTIONS, this.prefix);
		there.add(this.key, List.of(new UserMessage("q1")));
		stopped.stop();
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> there.find(this.key))
			.withMessageContaining("stopped")
			.matches((ex) -> !ex.isUnwritten());
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> there.add(this.key, List.of(new UserMessage("secret words"))))
			.withMessageNotContaining("secret words")
			.matches(StoreUnavailableException::isUnwritten);
		stopped.start();
		assertThat(there.messages(this.key)).hasSize(1);
		stopped.destroy();
		RedisSessionStore early = new RedisSessionStore(new LettuceConnectionFactory(), OPTIONS, this.prefix);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(early::verifyServer)
			.withMessageContaining("not started yet");
	}

	/** On a server of its own. */
	@Test
	void aReplicaIsNoticedBeforeTheFirstWriteAlsoOneThatTakesWrites() {
		LettuceConnectionFactory own = RedisServers.appending().connections();
		try (RedisConnection server = own.getConnection()) {
			RedisSessionStore sessions = new RedisSessionStore(own, OPTIONS, this.prefix);
			sessions.verifyServer();
			assertThat(server.keyCommands().keys(bytes("*"))).isEmpty();
			server.execute("REPLICAOF", bytes("127.0.0.1"), bytes("1"));
			assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(sessions::verifyServer)
				.withMessageContaining("it is a replica (READONLY)");
			server.serverCommands().setConfig("replica-read-only", "no");
			assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(sessions::verifyServer)
				.withMessageContaining("it is a replica, which forgets");
		}
		finally {
			own.destroy();
		}
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/** On a server of its own, since others write to the shared one meanwhile. */
	@Test
	void aServerThatIsFullRefusesAndKeepsWhatItHas() {
		LettuceConnectionFactory own = RedisServers.appending().connections();
		try (RedisConnection server = own.getConnection()) {
			RedisSessionStore sessions = new RedisSessionStore(own, OPTIONS, this.prefix);
			sessions.add(this.key, List.of(new UserMessage("q1")));
			server.serverCommands().setConfig("maxmemory", "1");
			sessions.verifyServer();
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> sessions.add(this.key, List.of(new UserMessage("q2"))))
				.withMessageContaining("OOM")
				.withMessageNotContaining("q2");
			SessionKey created = SessionKey.of("owner", "t2");
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> sessions.add(created, List.of(new UserMessage("q2"))))
				.withMessageContaining("OOM")
				.matches(StoreUnavailableException::isUnwritten);
			assertThat(sessions.find(created)).isEmpty();
			server.serverCommands().setConfig("maxmemory", "0");
			assertThat(sessions.messages(this.key)).hasSize(1);
			sessions.add(this.key, List.of(new UserMessage("q3")));
			assertThat(sessions.messages(this.key)).hasSize(2);
		}
		finally {
			own.destroy();
		}
	}

	/** Readers remove what is gone, and need not. On a server of its own. */
	@Test
	void aServerThatMayNotWriteIsReadAllTheSame() {
		LettuceConnectionFactory own = RedisServers.appending().connections();
		try (RedisConnection server = own.getConnection()) {
			SessionStore sessions = new RedisSessionStore(own, OPTIONS, this.prefix);
			StoredKeys there = StoredKeys.in(own, this.prefix);
			sessions.add(this.key, List.of(new UserMessage("q1")));
			there.redis().opsForZSet().add(there.sessions("owner"), "gone", 1_000);
			sessions.put(this.key, new RecordWrite("approval", "expires", 0, "text", Duration.ofMillis(1)));
			sessions.put(this.key, RecordWrite.create("approval", "stays", "text"));
			await().until(() -> sessions.records(this.key, "approval").size() == 1);
			server.serverCommands().setConfig("min-replicas-to-write", "1");
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> sessions.add(this.key, List.of(new UserMessage("q2"))))
				.withMessageContaining("NOREPLICAS");
			assertThat(sessions.list("owner", Page.first(5))).hasSize(1);
			assertThat(sessions.oldestRecords("approval", null, 5).records()).extracting(SessionRecord::id)
				.containsExactly("stays");
			assertThat(there.shared(this.key)).hasSize(2);
			server.serverCommands().setConfig("min-replicas-to-write", "0");
			assertThat(sessions.list("owner", Page.first(5))).hasSize(1);
			assertThat(there.redis().opsForZSet().range(there.sessions("owner"), 0, -1)).containsExactly("t1");
			assertThat(sessions.oldestRecords("approval", null, 5).records()).hasSize(1);
			assertThat(there.shared(this.key)).hasSize(1);
		}
		finally {
			own.destroy();
		}
	}

	@Test
	void aClusterThatLooksLikeOneServerIsNoticed() {
		LettuceConnectionFactory proxied = RedisServers.behindProxy().connections();
		try {
			RedisSessionStore sessions = new RedisSessionStore(proxied, OPTIONS, this.prefix);
			sessions.verifyServer();
			sessions.add(this.key, List.of(new UserMessage("q1")));
			sessions.commit(Commit.on(sessions.find(this.key).orElseThrow()).turn(turn("q2")));
			sessions.put(this.key, RecordWrite.create("note", "1", "text"));
			assertThat(sessions.messages(this.key)).hasSize(2);
			assertThat(sessions.list("owner", Page.first(5))).hasSize(1);
			assertThat(sessions.records("owner", "note", Page.first(5))).hasSize(1);
			sessions.clear(this.key);
			assertThat(new StringRedisTemplate(proxied).keys(this.prefix + "*")).isEmpty();
		}
		finally {
			proxied.destroy();
		}
	}

	// clients

	@Test
	void jedisWorksAlone() {
		JedisConnectionFactory jedis = new JedisConnectionFactory(
				(RedisStandaloneConfiguration) SERVER.configuration());
		assertWorksWith(jedis, jedis);
	}

	@Test
	void jedisWorksOnACluster() {
		JedisConnectionFactory jedis = new JedisConnectionFactory(
				(RedisClusterConfiguration) RedisServers.cluster().configuration());
		assertWorksWith(jedis, jedis);
	}

	private void assertWorksWith(JedisConnectionFactory lifecycle, RedisConnectionFactory factory) {
		lifecycle.start();
		try {
			SessionStore sessions = new RedisSessionStore(factory, OPTIONS, this.prefix);
			String text = "Ä{}\u0000😀";
			CommitResult first = sessions.commit(Commit.first(this.key)
				.turn(turn(text))
				.header(HeaderChange.NONE.title("title").attributes(Map.of("step", 1L)))
				.records(List.of(RecordWrite.create("note", "1", "text"))));
			assertThat(first.outcome()).isEqualTo(Outcome.COMMITTED);
			Session base = sessions.find(this.key).orElseThrow();
			assertThat(base.title()).isEqualTo("title");
			assertThat(base.attributes()).isEqualTo(Map.of("step", 1L));
			assertThat(sessions.commit(Commit.on(base).turn(turn("two"))).outcome()).isEqualTo(Outcome.COMMITTED);
			assertThat(sessions.commit(Commit.on(base).turn(turn("late"))).outcome()).isEqualTo(Outcome.CONFLICT);
			assertThat(sessions.messages(this.key)).extracting((message) -> message.getText())
				.containsExactly(text, "two");
			assertThat(sessions.turns(this.key, Tail.ALL)).hasSize(2);
			assertThat(sessions.list("owner", Page.first(5))).hasSize(1);
			assertThat(sessions.records("owner", "note", Page.first(5))).hasSize(1);
			assertThat(sessions.pop(this.key)).isPresent();
			sessions.clear(this.key);
			assertThat(sessions.find(this.key)).isEmpty();
		}
		finally {
			lifecycle.destroy();
		}
	}

	private void add(SessionKey to, String text) {
		this.store.add(to, List.of(new UserMessage(text)));
	}

	private Session header() {
		return this.store.find(this.key).orElseThrow();
	}

	private long expiry(String name) {
		Long millis = this.redis.getExpire(name, TimeUnit.MILLISECONDS);
		return (millis != null) ? millis : Long.MIN_VALUE;
	}

	private static TurnWrite turn(String text) {
		Turn turn = Turn.builder(UUID.randomUUID().toString(), OPTIONS.now()).build();
		return new TurnWrite(turn, 0, List.of(new NewItem(new UserMessage(text), OPTIONS.now(), 1)));
	}

}
