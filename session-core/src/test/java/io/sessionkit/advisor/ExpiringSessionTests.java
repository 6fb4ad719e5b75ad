package io.sessionkit.advisor;

import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import io.sessionkit.Concurrency;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.jdbc.JdbcSessionStore;
import io.sessionkit.test.TestStores;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Sessions whose time to live ends while a call works on them.
 */
@Order(1)
class ExpiringSessionTests {

	private static final Duration LIFE = Duration.ofSeconds(4);

	private final SessionKey key = SessionKey.of("life", UUID.randomUUID().toString());

	private final List<Conversations> opened = new ArrayList<>();

	/** The work of the model before it answers. */
	private Runnable thinking = () -> {
	};

	@AfterEach
	void close() {
		this.opened.forEach(Conversations::close);
	}

	@ParameterizedTest
	@EnumSource
	void aCallThatBeginsNearTheEndOfItsSessionIsStored(TestStores kind) throws Exception {
		assertThatACallNearTheEndIsStored(kind.create());
	}

	/** By its clock, the session was not even written yet. */
	@Test
	void aCallThatBeginsNearTheEndIsStoredAlsoIfItsClockIsBehind() throws Exception {
		assertThatACallNearTheEndIsStored(onDatabase(Clock.offset(Clock.systemUTC(), Duration.ofHours(-1))));
	}

	private void assertThatACallNearTheEndIsStored(SessionStore store) throws InterruptedException {
		beginSession(store);
		ChatClient chat = chat(store, Concurrency.OPTIMISTIC);
		answer(chat, "u1");
		// a renewal of the session while the call works would come too late
		Thread.sleep(LIFE.multipliedBy(7).dividedBy(10).toMillis());
		this.thinking = () -> sleep(LIFE.dividedBy(2));
		assertThat(answer(chat, "u2")).isEqualTo("a");
		assertThat(store.messages(this.key)).hasSize(4);
	}

	private static SessionStore onDatabase(Clock clock) {
		JdbcDataSource database = new JdbcDataSource();
		database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		new ResourceDatabasePopulator(new ClassPathResource("io/sessionkit/store/jdbc/schema-h2.sql"))
			.execute(database);
		return new JdbcSessionStore(database, StoreOptions.of(JsonMessageCodec.create()).clock(clock));
	}

	@ParameterizedTest
	@EnumSource
	void aCallThatTakesLongerThanItsSessionLivesIsStored(TestStores kind) {
		SessionStore store = kind.create();
		beginSession(store);
		ChatClient chat = chat(store, Concurrency.OPTIMISTIC);
		answer(chat, "u1");
		this.thinking = () -> sleep(LIFE.multipliedBy(3).dividedBy(2));
		assertThat(answer(chat, "u2")).isEqualTo("a");
		assertThat(store.messages(this.key)).hasSize(4);
	}

	@ParameterizedTest
	@EnumSource
	void aCallInLineKeepsItsPlaceWhileItTakesLongerThanItsSessionLives(Concurrency concurrency) {
		SessionStore store = TestStores.MEMORY.create();
		beginSession(store);
		ChatClient chat = chat(store, concurrency).mutate().defaultAdvisors(SessionAdvisor.idempotencyKey("k")).build();
		this.thinking = () -> sleep(LIFE.multipliedBy(3).dividedBy(2));
		assertThat(answer(chat, "u1")).isEqualTo("a");
		assertThat(answer(chat, "u1")).isEqualTo("a");
		assertThat(store.messages(this.key)).hasSize(2);
	}

	@Test
	void aSessionExpiresWhenNoCallWorksOnItAnyMore() throws Exception {
		SessionStore store = TestStores.MEMORY.create();
		beginSession(store);
		this.thinking = () -> sleep(LIFE.dividedBy(2));
		answer(chat(store, Concurrency.SERIALIZE), "u1");
		Thread.sleep(LIFE.plusMillis(200).toMillis());
		assertThat(store.find(this.key)).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void aCallWhoseSessionHasGoneSaysSo(TestStores kind) {
		SessionStore store = kind.create();
		ChatClient chat = chat(store, Concurrency.OPTIMISTIC);
		answer(chat, "u1");
		this.thinking = () -> store.erase(this.key);
		assertThatExceptionOfType(SessionLostException.class).isThrownBy(() -> answer(chat, "u2"))
			.withMessageContaining("erased or has expired")
			.withMessageContaining("evicted")
			.satisfies((ex) -> {
				assertThat(ex.expected()).isEqualTo(1);
				assertThat(ex.found()).isZero();
				assertThat(ex.reply().getResult().getOutput().getText()).isEqualTo("a");
			});
		assertThat(store.find(this.key)).isEmpty();
	}

	private void beginSession(SessionStore store) {
		store.commit(Commit.first(this.key).header(HeaderChange.NONE.timeToLive(LIFE)));
	}

	private ChatClient chat(SessionStore store, Concurrency concurrency) {
		Conversations conversations = Conversations.of(store);
		this.opened.add(conversations);
		ChatModel model = (prompt) -> {
			this.thinking.run();
			return new ChatResponse(List.of(new Generation(new AssistantMessage("a"))));
		};
		return ChatClient.builder(model)
			.defaultAdvisors(SessionAdvisor.builder(conversations).concurrency(concurrency).build())
			.build();
	}

	private String answer(ChatClient chat, String text) {
		return chat.prompt().user(text).advisors(SessionAdvisor.session(this.key)).call().content();
	}

	private static void sleep(Duration time) {
		try {
			Thread.sleep(time.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
