package io.sessionkit.store;

import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnstorableMessageException;
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
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Messages of a class that only the codec of an application knows, and codecs that lose
 * messages.
 */
class OwnMessageClassTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private static final StoreOptions OPTIONS = StoreOptions.of(new NotingCodec());

	@Test
	void messageOfAClassThatOnlyTheCodecKnowsComesBackAsThatClassEachTimeFromMemory() {
		assertComesBackEachTime(new InMemorySessionStore(OPTIONS));
	}

	@Test
	void messageOfAClassThatOnlyTheCodecKnowsComesBackAsThatClassEachTimeFromADatabase() {
		assertComesBackEachTime(new JdbcSessionStore(database(), OPTIONS));
	}

	@Test
	void messageOfAClassThatOnlyTheCodecKnowsComesBackAsThatClassEachTimeFromRedis() {
		onRedis((connections) -> assertComesBackEachTime(redis(connections, OPTIONS)));
	}

	@Test
	void messageThatACodecLosesIsRefusedInMemory() {
		assertRefusesWhatIsLost(InMemorySessionStore::new);
	}

	@Test
	void messageThatACodecLosesIsRefusedByADatabase() {
		assertRefusesWhatIsLost((options) -> new JdbcSessionStore(database(), options));
	}

	@Test
	void messageThatACodecLosesIsRefusedByRedis() {
		onRedis((connections) -> assertRefusesWhatIsLost((options) -> redis(connections, options)));
	}

	private static JdbcDataSource database() {
		JdbcDataSource database = new JdbcDataSource();
		database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		new ResourceDatabasePopulator(new ClassPathResource("io/sessionkit/store/jdbc/schema-h2.sql"))
			.execute(database);
		return database;
	}

	private static void onRedis(Consumer<LettuceConnectionFactory> test) {
		LettuceConnectionFactory connections = RedisServers.alone().connections();
		try {
			test.accept(connections);
		}
		finally {
			connections.destroy();
		}
	}

	private static SessionStore redis(LettuceConnectionFactory connections, StoreOptions options) {
		return new RedisSessionStore(connections, options, "own-" + UUID.randomUUID() + ":");
	}

	private static void assertComesBackEachTime(SessionStore store) {
		store.add(KEY, List.of(new NotedMessage("q1", "urgent"), new AssistantMessage("a1")));
		store.add(KEY, List.of(new NotedMessage("q2", "later"), new AssistantMessage("a2")));
		for (int i = 0; i < 3; i++) {
			List<SessionItem> items = store.open(KEY, Window.ALL).orElseThrow().items();
			assertThat(items).extracting((item) -> note(item.message())).containsExactly("urgent", null, "later", null);
			assertThat(store.messages(KEY)).extracting(OwnMessageClassTests::note)
				.containsExactly("urgent", null, "later", null);
		}
	}

	/** Nobody could read what was written so. */
	private static void assertRefusesWhatIsLost(Function<StoreOptions, SessionStore> stores) {
		Map<String, Function<String, @Nullable String>> codecs = Map.of("has returned null", (payload) -> null,
				"has returned an empty text", (payload) -> "", "does not come back equal",
				(payload) -> payload.replace("secret", "other"), "cannot read", (payload) -> "secret");
		codecs.forEach((refusal, written) -> {
			SessionStore store = stores.apply(StoreOptions.of(new LosingCodec(written)));
			assertThatExceptionOfType(UnstorableMessageException.class).as(refusal)
				.isThrownBy(() -> store.add(KEY, List.of(new UserMessage("secret"))))
				.withMessageContainingAll(LosingCodec.class.getName(), refusal)
				.withMessageNotContaining("secret");
			assertThat(store.find(KEY)).isEmpty();
		});
	}

	@Test
	void whatACodecSurelyStoresIsNotReadBack() {
		NotingCodec sure = new NotingCodec() {

			@Override
			public boolean surelyStores(Message message) {
				return true;
			}

			@Override
			public Message decode(SessionKey key, String payload) {
				throw new AssertionError("nobody reads");
			}

		};
		new JdbcSessionStore(database(), StoreOptions.of(sure)).add(KEY, List.of(new UserMessage("q")));
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

	/** Writes something else than what it is given. */
	private static final class LosingCodec extends NotingCodec {

		private final Function<String, @Nullable String> writes;

		LosingCodec(Function<String, @Nullable String> writes) {
			this.writes = writes;
		}

		@Override
		@SuppressWarnings("NullAway")
		public String encode(SessionKey key, Message message) {
			return this.writes.apply(super.encode(key, message));
		}

	}

	/** Stores notes in a line of their own. */
	private static class NotingCodec implements MessageCodec {

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
