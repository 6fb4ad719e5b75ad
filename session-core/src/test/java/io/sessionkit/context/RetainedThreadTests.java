package io.sessionkit.context;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.Commit;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.Oldest;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.Window;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.store.redis.RedisSessionStore;
import io.sessionkit.test.PostgresProxy;
import io.sessionkit.test.PostgresServer;
import io.sessionkit.test.RedisServers;
import io.sessionkit.test.TcpProxy;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A session of thousands of turns of which 100 are left costs what one of 100 turns
 * costs. {@code -Dsessionkit.turns=20000} makes a longer one.
 */
class RetainedThreadTests {

	private static final int TURNS = Integer.getInteger("sessionkit.turns", 5_000);

	private static final int LEFT = 100;

	private static final int BATCH = 1_000;

	private static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create());

	private static final Instant AT = Instant.parse("2026-01-02T03:04:05Z");

	@Test
	void onPostgresqlOpeningItReadsNoMoreThanOneThatLostNothing() throws IOException, SQLException {
		PostgresServer server = PostgresServer.running();
		String database = server.newDatabase();
		new ResourceDatabasePopulator(new ClassPathResource("io/sessionkit/store/jdbc/schema-postgresql.sql"))
			.execute(server.dataSource(database));
		try (PostgresProxy proxy = new PostgresProxy(server.host(), server.port());
				Connection connection = server.dataSource(database, proxy.host(), proxy.port()).getConnection()) {
			compare("PostgreSQL", new JdbcSessionStore(new SingleConnectionDataSource(connection, true), OPTIONS),
					() -> new JdbcSessionStore(new SingleConnectionDataSource(connection, true), OPTIONS),
					proxy::bytesRead, proxy::roundTrips);
		}
	}

	@Test
	void onRedisOpeningItReadsNoMoreThanOneThatLostNothing() throws IOException {
		RedisServers server = RedisServers.alone();
		String prefix = "retained-" + UUID.randomUUID() + ":";
		try (TcpProxy proxy = new TcpProxy(server.host(), server.port())) {
			LettuceConnectionFactory connections = server.connectionsBy(proxy.port());
			try {
				compare("Redis", new RedisSessionStore(connections, OPTIONS, prefix),
						() -> new RedisSessionStore(connections, OPTIONS, prefix), proxy::bytesRead, proxy::roundTrips);
			}
			finally {
				connections.destroy();
			}
		}
	}

	private interface Stores {

		SessionStore another();

	}

	private static void compare(String name, SessionStore store, Stores stores, LongSupplier bytes,
			LongSupplier trips) {
		SessionKey small = SessionKey.of("retained", UUID.randomUUID().toString());
		SessionKey large = SessionKey.of("retained", UUID.randomUUID().toString());
		fill(store, small, LEFT);
		fill(store, large, TURNS);
		Session full = store.find(large).orElseThrow();
		assertThat(store.commit(Commit.on(full).oldest(new Oldest(1, TURNS - LEFT + 1))).isStored()).isTrue();
		for (Window window : List.of(Window.ALL, Window.turns(20))) {
			long[] ofSmall = opened(stores, small, window, bytes, trips);
			long[] ofLarge = opened(stores, large, window, bytes, trips);
			System.out.println("Bytes and round trips on " + name + " for 100 turns, and 100 that are left of " + TURNS
					+ ": " + ofSmall[0] + ", " + ofSmall[1] + "; " + ofLarge[0] + ", " + ofLarge[1]);
			// numbers with more digits, a few bytes for each of 200 items
			assertThat(ofLarge[0]).isLessThanOrEqualTo(ofSmall[0] * 5 / 4);
			assertThat(ofLarge[1]).isEqualTo(ofSmall[1]);
		}
	}

	/** Opens a session in a process that does not know it, and counts what that costs. */
	private static long[] opened(Stores stores, SessionKey key, Window window, LongSupplier bytes, LongSupplier trips) {
		SessionStore store = stores.another();
		store.find(SessionKey.of("retained", "warm"));
		store.open(SessionKey.of("retained", "warm"), window);
		long bytesBefore = bytes.getAsLong();
		long tripsBefore = trips.getAsLong();
		int items = store.open(key, window).orElseThrow().items().size();
		assertThat(items).isEqualTo(window.equals(Window.ALL) ? 2 * LEFT : 40);
		return new long[] { bytes.getAsLong() - bytesBefore, trips.getAsLong() - tripsBefore };
	}

	private static void fill(SessionStore store, SessionKey key, int turns) {
		for (int from = 1; from <= turns; from += BATCH) {
			List<TurnWrite> writes = IntStream.range(from, Math.min(from + BATCH, turns + 1))
				.mapToObj(RetainedThreadTests::turn)
				.toList();
			assertThat(store.commit(Commit.any(key).turns(writes)).isStored()).isTrue();
		}
	}

	private static TurnWrite turn(int number) {
		Turn turn = Turn.builder(UUID.randomUUID().toString(), AT).status(TurnStatus.COMPLETED, AT).build();
		return new TurnWrite(turn, 0, List.of(new NewItem(new UserMessage("question " + number), AT, 7),
				new NewItem(new AssistantMessage("answer " + number), AT, 7)));
	}

}
