package io.sessionkit.store.redis;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.Page;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.test.RedisServers;
import io.sessionkit.test.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A request that arrives once more, byte for byte, when others have written meanwhile: as
 * a driver sends it that has lost the answer. It is answered as the first time, byte for
 * byte, and changes nothing.
 */
class RedisRepeatedWritesTests {

	private static final RedisServers SERVER = RedisServers.alone();

	private static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create());

	private static RedisServers clusterOfOne;

	private final String prefix = "repeated-" + UUID.randomUUID() + ":";

	private final SessionKey key = SessionKey.of("owner", "t1");

	private RedisServers server = SERVER;

	private TcpProxy proxy;

	private LettuceConnectionFactory connections;

	private LettuceConnectionFactory others;

	/** The store whose requests are repeated. */
	private SessionStore store;

	/** Somebody else. */
	private SessionStore other;

	private StoredKeys keys;

	@BeforeEach
	void start() throws IOException {
		connect(SERVER);
	}

	private void connect(RedisServers server) throws IOException {
		this.server = server;
		this.proxy = new TcpProxy(server.host(), server.port());
		this.connections = server.connectionsBy(this.proxy.port());
		this.others = server.connections();
		this.store = new RedisSessionStore(this.connections, OPTIONS, this.prefix);
		this.other = new RedisSessionStore(this.others, OPTIONS, this.prefix);
		this.keys = StoredKeys.in(this.others, this.prefix);
		for (String text : List.of("q1", "q2", "q3")) {
			this.store.add(this.key, List.of(new UserMessage(text)));
		}
		this.store.put(this.key, RecordWrite.create("note", "n", "one"));
		for (Script script : Script.values()) {
			this.others.getConnection().scriptingCommands().scriptLoad(script.text());
		}
		this.proxy.reset();
	}

	@AfterEach
	void stop() throws IOException {
		this.connections.destroy();
		this.others.destroy();
		this.proxy.close();
	}

	@Test
	void aTurnIsAnsweredAsTheFirstTime() throws IOException {
		this.store.commit(Commit.on(header()).turn(turn("turn", TurnStatus.COMPLETED, 0)));
		assertRepetitionChangesNothing(() -> this.other.add(this.key, List.of(new UserMessage("later"))));
	}

	@Test
	void aLaterPartIsAnsweredAsTheFirstTime() throws IOException {
		this.store.commit(Commit.on(header()).turn(turn("turn", TurnStatus.AWAITING_APPROVAL, 0)));
		this.store.commit(Commit.on(header()).turn(turn("turn", TurnStatus.COMPLETED, 1)));
		assertRepetitionChangesNothing(() -> this.other.add(this.key, List.of(new UserMessage("later"))));
	}

	@Test
	void aTurnBesideTheHistoryThatAlsoDeletesIsAnsweredAsTheFirstTime() throws IOException {
		this.store.commit(Commit.on(header()).turn(turn("turn", TurnStatus.FAILED, 0)).delete(Set.of(1L)));
		assertRepetitionChangesNothing(() -> this.other.add(this.key, List.of(new UserMessage("later"))));
	}

	@Test
	void theSameTurnFromSomebodyElseIsRepeated() {
		Commit commit = Commit.on(header()).turn(turn("turn", TurnStatus.COMPLETED, 0));
		assertThat(this.store.commit(commit).outcome()).isEqualTo(Outcome.COMMITTED);
		assertThat(this.other.commit(commit).outcome()).isEqualTo(Outcome.REPEATED);
	}

	@Test
	void aTitleIsNotWrittenOverALaterOne() throws IOException {
		this.store.commit(Commit.any(this.key).header(HeaderChange.NONE.title("first")));
		assertRepetitionChangesNothing(
				() -> this.other.commit(Commit.any(this.key).header(HeaderChange.NONE.title("later"))));
		assertThat(header().title()).isEqualTo("later");
	}

	@Test
	void aMessageIsTakenAwayOnce() throws IOException {
		assertThat(this.store.pop(this.key))
			.hasValueSatisfying((message) -> assertThat(message.getText()).isEqualTo("q3"));
		assertRepetitionChangesNothing(() -> this.other.add(this.key, List.of(new UserMessage("later"))));
		assertThat(this.store.messages(this.key)).hasSize(3);
	}

	@Test
	void aRecordIsNotWrittenOverALaterOne() throws IOException {
		assertThat(this.store.put(this.key, new RecordWrite("note", "n", RecordWrite.ANY, "two", null))).isTrue();
		assertRepetitionChangesNothing(
				() -> this.other.put(this.key, new RecordWrite("note", "n", RecordWrite.ANY, "three", null)));
		assertThat(this.store.records(this.key, "note")).extracting(SessionRecord::payload).containsExactly("three");
	}

	@Test
	void aRecordThatWasDeletedMeanwhileDoesNotComeBack() throws IOException {
		assertThat(this.store.put(this.key, RecordWrite.create("note", "m", "two"))).isTrue();
		assertRepetitionChangesNothing(
				() -> this.other.put(this.key, new RecordWrite("note", "m", RecordWrite.ANY, null, null)));
		assertThat(this.store.records(this.key, "note")).extracting(SessionRecord::id).containsExactly("n");
	}

	@Test
	void aWriteIsRecognizedAfterMinutesAndManyOthers() throws IOException {
		this.store.put(this.key, new RecordWrite("note", "n", RecordWrite.ANY, "two", null));
		assertRepetitionChangesNothing(() -> {
			this.keys.redis().opsForHash().put(this.keys.writes(this.key), "since", "0");
			for (int i = 0; i < 500; i++) {
				this.other.put(this.key, new RecordWrite("note", "n", RecordWrite.ANY, "three", null));
			}
		});
		assertThat(this.keys.redis().opsForHash().size(this.keys.writes(this.key))).isEqualTo(1 + 500);
		assertThat(this.keys.redis().getExpire(this.keys.writes(this.key))).isBetween(500L, 600L);
	}

	/** On a server of its own, since others write to the shared one meanwhile. */
	@Test
	void aWriteIsRecognizedByAServerThatIsFull() throws IOException {
		stop();
		connect(RedisServers.appending());
		this.store.put(this.key, new RecordWrite("note", "n", RecordWrite.ANY, "two", null));
		try {
			assertRepetitionChangesNothing(() -> config("maxmemory", "1"));
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> this.store.put(this.key, new RecordWrite("note", "n", RecordWrite.ANY, "no", null)))
				.withMessageContaining("Nothing was written")
				.matches(StoreUnavailableException::isUnwritten);
			this.store.erase(this.key);
		}
		finally {
			config("maxmemory", "0");
		}
		assertThat(this.keys.redis().keys(this.prefix + "*")).isEmpty();
	}

	@Test
	void anErasureLeavesWhatWasCreatedSince() throws IOException {
		assertErasureLeavesWhatWasCreatedSince();
	}

	@Test
	void anErasureOnAClusterLeavesWhatWasCreatedSince() throws IOException {
		onCluster();
		assertErasureLeavesWhatWasCreatedSince();
	}

	private void assertErasureLeavesWhatWasCreatedSince() throws IOException {
		this.store.put(this.key, RecordWrite.create("label", "l", "one"));
		this.proxy.reset();
		this.store.erase(this.key);
		this.other.add(this.key, List.of(new UserMessage("new")));
		this.other.put(this.key, RecordWrite.create("note", "n", "one"));
		this.proxy.repeatRequests();
		assertThat(this.store.messages(this.key)).hasSize(1);
		assertThat(this.store.list("owner", Page.first(5))).hasSize(1);
		assertThat(this.store.records("owner", "note", Page.first(5))).hasSize(1);
	}

	/** A note before a commit says for how long, which others may have changed since. */
	@Test
	void anIndexEntryOnAClusterDoesNotLoseTheLifeThatOthersGaveIt() throws IOException {
		onCluster();
		this.proxy.reset();
		this.store.commit(Commit.on(header()).header(HeaderChange.NONE.timeToLive(Duration.ofHours(1))));
		assertThat(expiriesOf("owner")).containsExactly("t1");
		this.other.commit(Commit.on(header()).header(HeaderChange.NONE.timeToLive(Duration.ZERO)));
		assertThat(expiriesOf("owner")).isEmpty();
		this.proxy.repeatRequests();
		assertThat(expiriesOf("owner")).isEmpty();
		assertThat(this.store.list("owner", Page.first(5))).hasSize(1);
		assertThat(expiriesOf("owner")).isEmpty();
	}

	@Test
	void anIndexEntryOnAClusterIsNotShortenedBeforeTheCommit() throws IOException {
		onCluster();
		SessionStore brief = new RedisSessionStore(this.connections, OPTIONS.timeToLive(Duration.ofHours(1)),
				this.prefix);
		// it expects no session, so that it notes the id for an hour and then changes
		// nothing
		assertThat(brief.commit(Commit.first(this.key).turn(turn("turn", TurnStatus.COMPLETED, 0))).outcome())
			.isEqualTo(Outcome.CONFLICT);
		assertThat(expiriesOf("owner")).isEmpty();
	}

	@Test
	void whatSomethingElseHasWrittenToAHeaderIsNamed() {
		this.keys.redis().opsForValue().set(this.keys.session(this.key), "x");
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> this.store.find(this.key))
			.withMessageContaining("session 't1' of 'owner'");
		assertThatExceptionOfType(UnreadablePayloadException.class)
			.isThrownBy(() -> this.store.list("owner", Page.first(5)))
			.withMessageContaining("session 't1' of 'owner'");
	}

	@Test
	void whatSomethingElseHasWrittenToItemsIsNamed() {
		String turn = this.keys.redis().opsForList().index(this.keys.turns(this.key), 1);
		for (String spoilt : List.of("x", "1 2", "1 2 3 400\nxx", "1 2 3 -4\nxx")) {
			this.keys.redis()
				.opsForList()
				.set(this.keys.turns(this.key), 1, turn.replaceFirst("(?s)2 \\d+ \\d+ \\d+\n.*", spoilt));
			assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> this.store.items(this.key, 2))
				.withMessageContaining("session 't1' of 'owner'");
		}
	}

	private void onCluster() throws IOException {
		stop();
		if (clusterOfOne == null) {
			clusterOfOne = RedisServers.behindProxy();
		}
		connect(clusterOfOne);
	}

	private Set<String> expiriesOf(String owner) {
		return this.keys.redis().opsForZSet().range(this.keys.expiries(owner), 0, -1);
	}

	private void assertRepetitionChangesNothing(Runnable meanwhile) throws IOException {
		byte[] answer = this.proxy.lastAnswer();
		meanwhile.run();
		Map<Object, Object> before = stored();
		assertThat(this.proxy.repeatRequests()).asString().isEqualTo(new String(answer));
		assertThat(stored()).isEqualTo(before);
	}

	private Map<Object, Object> stored() {
		StringRedisTemplate redis = this.keys.redis();
		Map<Object, Object> all = new HashMap<>(redis.opsForHash().entries(this.keys.records(this.key)));
		all.put("header", redis.opsForValue().get(this.keys.session(this.key)));
		all.put("turns", redis.opsForList().range(this.keys.turns(this.key), 0, -1));
		all.put("ids", redis.opsForHash().entries(this.keys.ids(this.key)));
		return all;
	}

	private Session header() {
		return this.other.find(this.key).orElseThrow();
	}

	private void config(String name, String value) {
		this.keys.redis().execute((RedisCallback<Void>) (connection) -> {
			connection.serverCommands().setConfig(name, value);
			return null;
		});
	}

	private static TurnWrite turn(String id, TurnStatus status, int part) {
		Turn turn = Turn.builder(id, OPTIONS.now()).status(status, status.isOpen() ? null : OPTIONS.now()).build();
		return new TurnWrite(turn, part, List.of(new NewItem(new UserMessage("text " + part), OPTIONS.now(), 1)));
	}

}
