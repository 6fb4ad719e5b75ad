package io.sessionkit.store.redis;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.sessionkit.store.StoreUnavailableException;
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
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisScriptingCommands;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests which failures mean that a script did not run.
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

	/**
	 * What the script has written before stays. The second one is of versions before 7.2.
	 */
	@ParameterizedTest
	@ValueSource(strings = {
			"NOPERM ACL failure in script: User u has no permissions to run the 'lset' command script: 7, on @user_script:1.",
			"ERR The user executing the script can't run this command or subcommand script: 7, on @user_script:1." })
	void rightThatAScriptFindsMissingIsNotSaidToLeaveNothingWritten(String message) {
		RedisSystemException failure = new RedisSystemException("failed", new JedisAccessControlException(message));
		assertThat(RedisErrors.isAmbiguous(failure)).isFalse();
		assertThat(RedisErrors.translate(failure, true)).hasMessageContaining("part of it may have been written")
			.hasMessageNotContaining("Nothing was written")
			.matches((ex) -> !ex.isUnwritten());
		assertThat(RedisErrors.translate(failure, false)).hasMessageContaining("may not run all commands")
			.hasMessageNotContaining("written");
	}

	@ParameterizedTest
	@ValueSource(strings = { "NOPERM this user has no permissions to run the 'evalsha' command",
			"NOPERM this user has no permissions to access one of the keys used as arguments",
			"READONLY You can't write against a read only replica. script: 7, on @user_script:1.",
			"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
			"NOREPLICAS Not enough good replicas to write." })
	void scriptThatIsRefusedWhereItWouldWriteIsUnwritten(String message) {
		RedisSystemException failure = new RedisSystemException("failed", new JedisDataException(message));
		assertThat(RedisErrors.translate(failure, true))
			.hasMessageContaining("(" + message.substring(0, message.indexOf(' ')) + "). Nothing was written")
			.matches(StoreUnavailableException::isUnwritten);
	}

	/**
	 * A driver sends a script again by itself when it has lost the connection, and the
	 * script is refused before it can recognize that.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "LOADING Redis is loading the dataset in memory",
			"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
			"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
			"CLUSTERDOWN The cluster is down", "TRYAGAIN Multiple keys request during rehashing of slot" })
	void refusalOfAWholeScriptLeavesOpenWhetherTheWriteTookPlace(String message) {
		RedisSystemException failure = new RedisSystemException("failed", new JedisDataException(message));
		String code = "(" + message.substring(0, message.indexOf(' ')) + ").";
		assertThat(RedisErrors.translate(failure, true))
			.hasMessageContaining(code + " Whether the write took place is unknown")
			.hasMessageNotContaining("Nothing was written")
			.matches((ex) -> !ex.isUnwritten());
		assertThat(RedisErrors.translate(failure, false)).hasMessageContaining(code + " Nothing was written");
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

	/** The first request may have been done before its answer was lost. */
	@Test
	void refusalAfterALostAnswerLeavesOpenWhetherTheWriteTookPlace() {
		RedisKeys keys = new RedisKeys("p:");
		List<RuntimeException> failures = new ArrayList<>();
		RedisScripts scripts = new RedisScripts(failing(failures), keys.severalSlots());
		RuntimeException refusal = new RedisSystemException("failed",
				new JedisDataException("LOADING Redis is loading the dataset in memory"));
		failures.addAll(List.of(new RedisConnectionFailureException("cut"), refusal));
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> scripts.repeat(Script.TOUCH, keys.sessions("owner"), new Arguments()))
			.withMessageContaining("Whether the write took place is unknown")
			.withMessageNotContaining("Nothing was written")
			.matches((failure) -> !failure.isUnwritten());
		failures.addAll(List.of(new RedisConnectionFailureException("cut"), refusal));
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> scripts.read(Script.SCAN, List.of(keys.sessions("owner")), new Arguments()))
			.withMessageContaining("(LOADING)");
		failures.add(refusal);
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> scripts.repeat(Script.TOUCH, keys.sessions("owner"), new Arguments()))
			.withMessageContaining("(LOADING). Whether the write took place is unknown")
			.matches((failure) -> !failure.isUnwritten());
		assertThat(failures).isEmpty();
	}

	/** Connections on which each script meets the next failure. */
	private static RedisConnectionFactory failing(List<RuntimeException> failures) {
		RedisScriptingCommands scripting = as(RedisScriptingCommands.class, () -> {
			throw failures.remove(0);
		});
		RedisConnection connection = as(RedisConnection.class, () -> scripting);
		return as(RedisConnectionFactory.class, () -> connection);
	}

	private static <T> T as(Class<T> type, Supplier<Object> answer) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(self, called, arguments) -> called.getName().equals("close") ? null : answer.get()));
	}

	@Test
	void misuseOfTheClientIsNoDoubt() {
		assertThat(RedisErrors.isAmbiguous(new InvalidDataAccessApiUsageException("wrong"))).isFalse();
	}

}
