package io.sessionkit.faults;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

import io.sessionkit.store.SessionStore;
import io.sessionkit.test.RedisServers;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisNode;

class RedisClusterCutConnectionsTests extends CutConnections {

	private final RedisClusterConfiguration servers = (RedisClusterConfiguration) RedisServers.cluster()
		.configuration();

	private final String prefix = "cut-" + UUID.randomUUID() + ":";

	@Override
	SessionStore clean(Ways ways) {
		return ways.lettuce(this.servers, this.prefix, Ways.OPTIONS);
	}

	@Override
	SessionStore cut(Ways ways) throws IOException {
		Map<Integer, Integer> proxies = new HashMap<>();
		for (RedisNode node : this.servers.getClusterNodes()) {
			proxies.put(node.getPort(), proxy(ways, node.getHost(), node.getPort()).port());
		}
		return ways.lettuce(this.servers, this.prefix, proxies);
	}

}
