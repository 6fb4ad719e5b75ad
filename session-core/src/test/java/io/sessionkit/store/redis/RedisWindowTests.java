package io.sessionkit.store.redis;

import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Window;
import io.sessionkit.test.RedisServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The newest turns are put together in one step up to 20 of them, and in another way
 * beyond.
 */
class RedisWindowTests {

	private static final int TURNS = 45;

	private static final SessionKey KEY = SessionKey.of("owner", "täglich { 1 }");

	private static LettuceConnectionFactory connections;

	private static SessionStore store;

	@BeforeAll
	static void start() {
		connections = RedisServers.alone().connections();
		store = new RedisSessionStore(connections,
				StoreOptions.of(JsonMessageCodec.create()).viewCache(DataSize.ofBytes(0)),
				"windows-" + UUID.randomUUID() + ":");
		IntStream.rangeClosed(1, TURNS).forEach((turn) -> store.add(KEY, List.of(new UserMessage(text(turn)))));
	}

	@AfterAll
	static void stop() {
		connections.destroy();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 19, 20, 21, 40, 44, 45, 46, 1_000 })
	void theNewestTurnsComeWholeAndInOrder(int turns) {
		assertThat(store.open(KEY, Window.turns(turns)).orElseThrow().items())
			.extracting((item) -> item.message().getText())
			.containsExactlyElementsOf(IntStream.rangeClosed(Math.max(1, TURNS - turns + 1), TURNS)
				.mapToObj(RedisWindowTests::text)
				.toList());
	}

	private static String text(int turn) {
		return turn + " 2\n=+🙂".repeat(turn);
	}

}
