package io.sessionkit.store;

import java.util.List;
import java.util.Map;
import java.util.UUID;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.store.redis.RedisSessionStore;
import io.sessionkit.test.RedisServers;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Messages of a class that only the codec of an application knows.
 */
class OwnMessageClassTests {

	private static final StoreOptions OPTIONS = StoreOptions.of(new NotingCodec());

	@Test
	void messageOfAClassThatOnlyTheCodecKnowsComesBackAsThatClassEachTimeFromMemory() {
		assertComesBackEachTime(new InMemorySessionStore(OPTIONS));
	}

	@Test
	void messageOfAClassThatOnlyTheCodecKnowsComesBackAsThatClassEachTimeFromADatabase() {
		JdbcDataSource database = new JdbcDataSource();
		database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		new ResourceDatabasePopulator(new ClassPathResource("io/sessionkit/store/jdbc/schema-h2.sql"))
			.execute(database);
		assertComesBackEachTime(new JdbcSessionStore(database, OPTIONS));
	}

	@Test
	void messageOfAClassThatOnlyTheCodecKnowsComesBackAsThatClassEachTimeFromRedis() {
		LettuceConnectionFactory connections = RedisServers.alone().connections();
		try {
			assertComesBackEachTime(new RedisSessionStore(connections, OPTIONS, "own-" + UUID.randomUUID() + ":"));
		}
		finally {
			connections.destroy();
		}
	}

	private static void assertComesBackEachTime(SessionStore store) {
		SessionKey key = SessionKey.of("t1");
		store.add(key, List.of(new NotedMessage("q1", "urgent"), new AssistantMessage("a1")));
		store.add(key, List.of(new NotedMessage("q2", "later"), new AssistantMessage("a2")));
		for (int i = 0; i < 3; i++) {
			List<SessionItem> items = store.open(key, Window.ALL).orElseThrow().items();
			assertThat(items).extracting((item) -> note(item.message())).containsExactly("urgent", null, "later", null);
			assertThat(store.messages(key)).extracting(OwnMessageClassTests::note)
				.containsExactly("urgent", null, "later", null);
		}
	}

	private static @Nullable String note(Message message) {
		return (message instanceof NotedMessage noted) ? noted.note : null;
	}

	/** A question with something of its own. */
	private static final class NotedMessage extends UserMessage {

		private final String note;

		NotedMessage(String text, String note) {
			super(text);
			this.note = note;
		}

	}

	/** Stores notes in a line of their own. */
	private static final class NotingCodec implements MessageCodec {

		private final MessageCodec codec = JsonMessageCodec.create();

		@Override
		public String encode(SessionKey key, Message message) {
			return (message instanceof NotedMessage noted) ? noted.note + "\n" + noted.getText()
					: this.codec.encode(key, message);
		}

		@Override
		public Message decode(SessionKey key, String payload) {
			int line = payload.indexOf('\n');
			return (line > 0) ? new NotedMessage(payload.substring(line + 1), payload.substring(0, line))
					: this.codec.decode(key, payload);
		}

		@Override
		public String encodeValues(SessionKey key, Map<String, ? extends @Nullable Object> values) {
			return this.codec.encodeValues(key, values);
		}

		@Override
		public Map<String, @Nullable Object> decodeValues(SessionKey key, String payload) {
			return this.codec.decodeValues(key, payload);
		}

		@Override
		public Message storable(Message reply) {
			return (reply instanceof NotedMessage) ? reply : this.codec.storable(reply);
		}

	}

}
