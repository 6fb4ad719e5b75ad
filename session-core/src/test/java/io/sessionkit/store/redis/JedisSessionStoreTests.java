package io.sessionkit.store.redis;

import java.util.UUID;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreContract;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.test.RedisServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestReporter;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/**
 * The contract with the other driver, which runs on the thread of the caller: an
 * interrupt reaches it.
 */
class JedisSessionStoreTests extends SessionStoreContract {

	private static final String PREFIX = "jedis-" + UUID.randomUUID() + ":";

	private static JedisConnectionFactory connections;

	private static SessionStore store;

	@BeforeAll
	static void start(TestReporter reporter) {
		RedisServers servers = RedisServers.alone();
		reporter.publishEntry("server", servers.toString());
		connections = new JedisConnectionFactory((RedisStandaloneConfiguration) servers.configuration());
		connections.start();
		store = new RedisSessionStore(connections, StoreOptions.of(JsonMessageCodec.create()), PREFIX);
	}

	@AfterAll
	static void stop() {
		connections.destroy();
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
		return 15;
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
