package io.sessionkit.store.redis;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Commit;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreFixture;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.test.RedisServers;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a move costs on Redis, on threads of any length: round trips, counted on the wire,
 * and commands that write, counted by the server.
 */
@Isolated
class RedisMoveCostTests {

	private static final RedisServers SERVER = RedisServers.alone();

	private static final Set<String> WRITES = Set.of("set", "hset", "hdel", "lpush", "lset", "lpop", "del", "unlink",
			"zadd", "zrem", "pexpireat", "persist");

	private static final List<Integer> LENGTHS = List.of(10, 1_000, 10_000);

	private static final int TOGETHER = 500;

	private final ScriptedChatModel model = new ScriptedChatModel();

	private TcpProxy proxy;

	private LettuceConnectionFactory connections;

	private SessionStore store;

	private Conversations conversations;

	private ChatClient chat;

	@BeforeEach
	void start() throws IOException {
		this.proxy = new TcpProxy(SERVER.host(), SERVER.port());
		this.connections = SERVER.connectionsBy(this.proxy.port());
		this.store = new RedisSessionStore(this.connections, StoreOptions.of(JsonMessageCodec.create()),
				"moves-" + UUID.randomUUID() + ":");
		this.conversations = Conversations.of(this.store);
		this.chat = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(this.conversations)).build();
		cost(SessionKey.of("owner", "warm"), 3);
	}

	@AfterEach
	void stop() throws IOException {
		this.connections.destroy();
		this.proxy.close();
	}

	@Test
	void movesTakeTwoRoundTripsAndWriteTheSameOnAnyThread() {
		List<Map<String, List<Long>>> costs = new ArrayList<>();
		for (int length : LENGTHS) {
			costs.add(cost(SessionKey.of("owner", "t" + length), length));
		}
		System.out.println("round trips and writing commands of moves on Redis: " + costs);
		assertThat(costs).allSatisfy((cost) -> {
			for (String move : List.of("undo", "branch", "switch", "edit", "turn")) {
				assertThat(cost.get(move).get(0)).as(move).isEqualTo(2);
			}
			assertThat(cost).isEqualTo(costs.get(0));
		});
	}

	private Map<String, List<Long>> cost(SessionKey key, int length) {
		for (int i = 0; i < length; i += TOGETHER) {
			List<TurnWrite> turns = new ArrayList<>();
			for (int j = i; j < Math.min(length, i + TOGETHER); j++) {
				turns.add(SessionStoreFixture.completed("q" + j, "a" + j));
			}
			this.store.commit(Commit.any(key).turns(turns));
		}
		Conversation thread = this.conversations.get(key);
		Map<String, List<Long>> costs = new HashMap<>();
		// the first ones note their kinds of records in the indexes of the owner
		thread.undo(1);
		thread.redo(1);
		thread.branch("first");
		thread.switchTo("main");
		costs.put("undo", counted(() -> thread.undo(1)));
		thread.redo(1);
		costs.put("branch", counted(() -> thread.branch("idea", length)));
		costs.put("switch", counted(() -> thread.switchTo("main")));
		this.model.says("edited");
		costs.put("edit",
				counted(() -> this.chat.prompt()
					.user("q")
					.advisors(SessionAdvisor.session(key).andThen(SessionAdvisor.editing(length)))
					.call()
					.content()));
		this.model.says("answer");
		costs.put("turn",
				counted(() -> this.chat.prompt().user("q").advisors(SessionAdvisor.session(key)).call().content()));
		return costs;
	}

	private List<Long> counted(Runnable move) {
		long before = writes();
		this.proxy.reset();
		move.run();
		long roundTrips = this.proxy.roundTrips();
		return List.of(roundTrips, writes() - before);
	}

	private long writes() {
		LettuceConnectionFactory direct = SERVER.connectionsBy(SERVER.port());
		try (RedisConnection connection = direct.getConnection()) {
			Properties stats = connection.serverCommands().info("commandstats");
			long writes = 0;
			for (String name : stats.stringPropertyNames()) {
				if (WRITES.contains(name.substring(name.indexOf('_') + 1))) {
					writes += Long.parseLong(stats.getProperty(name).replaceAll("calls=(\\d+),.*", "$1"));
				}
			}
			return writes;
		}
		finally {
			direct.destroy();
		}
	}

}
