package io.sessionkit.store.redis;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.exceptions.JedisBusyException;
import redis.clients.jedis.exceptions.JedisClusterException;
import redis.clients.jedis.exceptions.JedisClusterOperationException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisMovedDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.data.redis.RedisSystemException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which failures say that a script did not run.
 */
class RedisErrorsTests {

	@ParameterizedTest
	@ValueSource(
			classes = { JedisException.class, JedisClusterOperationException.class, JedisConnectionException.class })
	void failureOfTheJedisClientLeavesOpenWhetherTheScriptRan(Class<? extends RuntimeException> type) throws Exception {
		RuntimeException failure = type.getConstructor(String.class).newInstance("No more cluster attempts left.");
		assertThat(RedisErrors.isAmbiguous(new RedisSystemException("failed", failure))).isTrue();
		assertThat(RedisErrors.translate(new RedisSystemException("failed", failure), true))
			.hasMessageContaining("Whether the write took place is unknown");
	}

	@ParameterizedTest
	@ValueSource(classes = { JedisDataException.class, JedisNoScriptException.class, JedisBusyException.class,
			JedisAccessControlException.class, JedisClusterException.class })
	void errorThatTheServerAnsweredJedisIsARefusal(Class<? extends RuntimeException> type) throws Exception {
		RuntimeException failure = type.getConstructor(String.class).newInstance("OOM command not allowed");
		assertThat(RedisErrors.isAmbiguous(new RedisSystemException("failed", failure))).isFalse();
		assertThat(RedisErrors.translate(new RedisSystemException("failed", failure), true)).hasMessageContaining("OOM")
			.hasMessageContaining("Nothing was written");
	}

	@Test
	void redirectionThatJedisDidNotFollowIsARefusal() {
		assertThat(RedisErrors
			.isAmbiguous(new RedisSystemException("failed", new JedisMovedDataException("MOVED 1 a:1", null, 1))))
			.isFalse();
		assertThat(RedisErrors
			.isAmbiguous(new RedisSystemException("failed", new JedisAskDataException("ASK 1 a:1", null, 1))))
			.isFalse();
	}

	@Test
	void misuseOfTheClientIsNoDoubt() {
		assertThat(RedisErrors.isAmbiguous(new InvalidDataAccessApiUsageException("wrong"))).isFalse();
	}

}
