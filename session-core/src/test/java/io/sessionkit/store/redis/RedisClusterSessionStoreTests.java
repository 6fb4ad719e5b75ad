package io.sessionkit.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.Page;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreContract;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.test.RedisServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class RedisClusterSessionStoreTests extends SessionStoreContract {

	private static final String PREFIX = "cluster-contract-" + UUID.randomUUID() + ":";

	private static LettuceConnectionFactory connections;

	private static SessionStore store;

	@BeforeAll
	static void start(TestReporter reporter) {
		RedisServers servers = RedisServers.cluster();
		reporter.publishEntry("server", servers.toString());
		connections = servers.connections();
		store = new RedisSessionStore(connections, StoreOptions.of(JsonMessageCodec.create()), PREFIX);
	}

	@AfterAll
	static void stop() {
		connections.destroy();
	}

	@Test
	void erasedSessionLeavesNoEntryForReadersOfAllOwners() {
		SessionKey key = SessionKey.of("erased-" + UUID.randomUUID(), "s1");
		RecordWrite call = RecordWrite.create("approval", "c1", "{}");
		store.commit(Commit.first(key).records(List.of(call)));
		assertThat(StoredKeys.in(connections, PREFIX).shared(key)).hasSize(1);
		store.erase(key);
		assertThat(StoredKeys.in(connections, PREFIX).shared(key)).isEmpty();
		store.commit(Commit.first(key).records(List.of(call)));
		assertThat(StoredKeys.in(connections, PREFIX).shared(key)).hasSize(1);
	}

	@Test
	void recordsOfAServerThatCannotBeReachedAreLeftOutAndKept() {
		String prefix = "cluster-lost-" + UUID.randomUUID() + ":";
		SessionStore whole = new RedisSessionStore(connections, StoreOptions.of(JsonMessageCodec.create()), prefix);
		SessionKey lost = SessionKey.of("lost", "s1");
		SessionKey found = SessionKey.of("found", "s1");
		RecordWrite call = RecordWrite.create("approval", "c1", "{}");
		whole.commit(Commit.first(lost).records(List.of(call)));
		SessionStore partly = new RedisSessionStore(
				RefusedKeys.of(connections, List.of(StoredKeys.in(connections, prefix).session(lost))),
				StoreOptions.of(JsonMessageCodec.create()), prefix);
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> partly.oldestRecords("approval", null, 10));
		whole.commit(Commit.first(found).records(List.of(call)));
		StoredKeys.in(connections, prefix).passTimeOfShared(lost, Duration.ofHours(1));
		for (int limit : List.of(1, 2, 10)) {
			assertThat(partly.oldestRecords("approval", null, limit).records()).extracting(SessionRecord::key)
				.containsExactly(found);
		}
		assertThat(partly.deleteExpired(10)).isZero();
		assertThat(whole.oldestRecords("approval", null, 10).records()).extracting(SessionRecord::key)
			.containsExactly(lost, found);
	}

	@Test
	void whatHasExpiredIsDeletedOnTheServersThatCanBeReached() throws InterruptedException {
		String prefix = "cluster-partly-" + UUID.randomUUID() + ":";
		SessionStore whole = new RedisSessionStore(connections, StoreOptions.of(JsonMessageCodec.create()), prefix);
		int all = 30;
		for (int i = 0; i < all; i++) {
			whole.commit(Commit.first(SessionKey.of("owner", "s" + i))
				.records(List.of(RecordWrite.create("note", "1", "x").timeToLive(Duration.ofMillis(1)))));
		}
		Thread.sleep(5);
		AtomicInteger refused = new AtomicInteger();
		SessionStore partly = new RedisSessionStore(
				RefusedKeys.counted(refused, connections, List.of(firstServer(connections, prefix))),
				StoreOptions.of(JsonMessageCodec.create()), prefix);
		int deleted = 0;
		while (partly.deleteExpired(1) > 0) {
			deleted++;
		}
		assertThat(deleted).isBetween(5, all - 1);
		assertThat(refused.getAndSet(0)).as("a server that fails is not asked for each batch").isBetween(1, 4);
		assertThat(partly.deleteExpired(100)).isZero();
		assertThat(refused).as("it is asked again when the others have nothing left").hasPositiveValue();
		assertThat(whole.deleteExpired(100)).isEqualTo(all - deleted);
	}

	/** Returns the key by which scripts are called on the first server. */
	static String firstServer(RedisConnectionFactory connections, String prefix) {
		RedisKeys keys = new RedisKeys(prefix);
		byte[] first = new RedisScripts(connections, keys.severalSlots()).servers(keys).get(0).first();
		return new String(first, StandardCharsets.UTF_8);
	}

	/** The server of the index fails before, or between, the session and its entry. */
	@Test
	void sessionIsErasedAndStoredWhateverBecomesOfItsEntry() {
		SessionKey key = SessionKey.of("indexed-" + UUID.randomUUID(), "s1");
		StoredKeys stored = StoredKeys.in(connections, PREFIX);
		store
			.commit(Commit.first(key).turn(completed("before")).records(List.of(RecordWrite.create("note", "1", "x"))));
		List<String> indexes = List.of(stored.sessions(key.owner()), stored.recordsOf(key.owner(), "note"));
		withRefused(RefusedKeys.of(connections, indexes)).erase(key);
		assertThat(stored.leftOf(key)).isZero();

		// the entry that was left lives longer than the session, so it is to be shortened
		Commit first = Commit.first(key)
			.turn(completed("after"))
			.header(HeaderChange.NONE.timeToLive(Duration.ofHours(1)));
		SessionStore partly = withRefused(RefusedKeys.after(1, connections, indexes));
		assertThat(partly.commit(first).outcome()).isEqualTo(CommitResult.Outcome.COMMITTED);
		assertThat(store.messages(key)).hasSize(1);
		assertThat(store.list(key.owner(), Page.first(10))).hasSize(1);
		assertThat(store.records(key.owner(), "note", Page.first(10))).isEmpty();

		SessionStore without = withRefused(RefusedKeys.after(1, connections, indexes));
		assertThat(without.put(key, RecordWrite.create("note", "1", "y"))).isTrue();
		assertThat(store.records(key, "note")).hasSize(1);
	}

	@Test
	void erasedSessionLeavesEntriesOnNoServerThatWorks() {
		SessionKey key = SessionKey.of("partly-" + UUID.randomUUID(), "s1");
		StoredKeys stored = StoredKeys.in(connections, PREFIX);
		store
			.commit(Commit.first(key).turn(completed("before")).records(List.of(RecordWrite.create("note", "1", "x"))));
		withRefused(RefusedKeys.of(connections, List.of(stored.sessions(key.owner())))).erase(key);
		assertThat(stored.redis().hasKey(stored.sessions(key.owner()))).isTrue();
		assertThat(stored.redis().hasKey(stored.recordsOf(key.owner(), "note"))).isFalse();
	}

	private static SessionStore withRefused(RedisConnectionFactory refused) {
		return new RedisSessionStore(refused, StoreOptions.of(JsonMessageCodec.create()), PREFIX);
	}

	@Override
	protected SessionStore store() {
		return store;
	}

	@Override
	protected SessionStore another() {
		return new RedisSessionStore(connections, StoreOptions.of(JsonMessageCodec.create()), PREFIX);
	}

	@Override
	protected SessionStore restarted() {
		return another();
	}

	@Override
	protected int histories() {
		return 20;
	}

	@Override
	protected boolean spoil(SessionKey key) {
		return StoredKeys.in(connections, PREFIX).spoil(key);
	}

	@Override
	protected boolean corrupt(SessionKey key, long sequence) {
		return StoredKeys.in(connections, PREFIX).corrupt(key, sequence);
	}

	@Override
	protected long leftOf(SessionKey key) {
		return StoredKeys.in(connections, PREFIX).leftOf(key);
	}

}
