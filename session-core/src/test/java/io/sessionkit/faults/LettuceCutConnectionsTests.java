package io.sessionkit.faults;

import java.io.IOException;
import java.util.UUID;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.RedisServers;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

class LettuceCutConnectionsTests extends CutConnections {

	private final RedisServers server = RedisServers.alone();

	private final String prefix = "cut-" + UUID.randomUUID() + ":";

	@Override
	SessionStore clean(Ways ways) {
		return ways.lettuce(this.server.configuration(), this.prefix, Ways.OPTIONS);
	}

	@Override
	SessionStore cut(Ways ways) throws IOException {
		int port = proxy(ways, this.server.host(), this.server.port()).port();
		return ways.lettuce(new RedisStandaloneConfiguration("127.0.0.1", port), this.prefix, Ways.OPTIONS);
	}

}
