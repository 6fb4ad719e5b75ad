package io.sessionkit.store.redis;

import java.util.List;
import java.util.UUID;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.test.RedisServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

@Isolated
class ClusterPurgeLogTests {

	/** Once for what is left of sessions, and once for records. */
	@Test
	void serverOfAClusterOnWhichNothingCanBeDeletedIsWarnedOfOnce() {
		Logger logger = (Logger) LoggerFactory.getLogger(KeyWalk.class);
		ListAppender<ILoggingEvent> log = new ListAppender<>();
		log.start();
		logger.addAppender(log);
		String prefix = "cluster-purge-" + UUID.randomUUID() + ":";
		LettuceConnectionFactory cluster = RedisServers.cluster().connections();
		try {
			SessionStore partly = new RedisSessionStore(
					RefusedKeys.of(cluster, List.of(RedisClusterSessionStoreTests.firstServer(cluster, prefix))),
					StoreOptions.of(JsonMessageCodec.create()), prefix);
			for (int run = 0; run < 3; run++) {
				partly.deleteExpired(10);
			}
		}
		finally {
			logger.detachAppender(log);
			cluster.destroy();
		}
		assertThat(log.list).filteredOn((event) -> event.getLevel() == Level.WARN)
			.hasSize(2)
			.allMatch((event) -> event.getFormattedMessage().contains("(RedisConnectionFailureException)"));
	}

}
