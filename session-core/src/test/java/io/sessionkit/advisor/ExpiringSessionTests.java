package io.sessionkit.advisor;

import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

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

	/** So long that sessions outlive seconds in which this process does nothing. */
	private static final Duration LIFE = Duration.ofSeconds(15);

	private final SessionKey key = SessionKey.of("life", UUID.randomUUID().toString());

	private final List<Conversations> opened = new CopyOnWriteArrayList<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.opened.forEach(Conversations::close);
	}

	/** On the stores, and on one by whose clock the session was not even written yet. */
	@Test
	void aCallThatBeginsNearTheEndOfItsSessionIsStored() {
		Map<String, Callable<?>> checks = onAllStores(this::assertThatACallNearTheEndIsStored);
		Clock behind = Clock.offset(Clock.systemUTC(), Duration.ofHours(-1));
		checks.put("its clock is behind", () -> assertThatACallNearTheEndIsStored(onDatabase(behind)));
		assertThatAllHold(checks);
	}

	private boolean assertThatACallNearTheEndIsStored(SessionStore store) {
		Thinking thinking = new Thinking();
		ChatClient chat = chat(store, Concurrency.OPTIMISTIC, thinking);
		answer(chat, "u1");
		beginLife(store);
		// a renewal of the session while the call works would come too late
		sleep(LIFE.multipliedBy(7).dividedBy(10));
		thinking.work = () -> sleep(LIFE.dividedBy(2));
		assertThat(answer(chat, "u2")).isEqualTo("a");
		assertThat(store.messages(this.key)).hasSize(4);
		return true;
	}

	private Map<String, Callable<?>> onAllStores(Function<SessionStore, ?> check) {
		Map<String, Callable<?>> checks = new LinkedHashMap<>();
		for (TestStores kind : TestStores.values()) {
			checks.put(kind.name(), () -> check.apply(kind.create()));
		}
		return checks;
	}

	/** At the same time, since they take long and do little. */
	private void assertThatAllHold(Map<String, Callable<?>> checks) {
		Map<String, Future<?>> running = new LinkedHashMap<>();
		checks.forEach((name, check) -> running.put(name, this.threads.submit(check)));
		running.forEach((name, check) -> assertThat(check).as(name).succeedsWithin(Duration.ofMinutes(2)));
	}

	private static SessionStore onDatabase(Clock clock) {
		JdbcDataSource database = new JdbcDataSource();
		database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		new ResourceDatabasePopulator(new ClassPathResource("io/sessionkit/store/jdbc/schema-h2.sql"))
			.execute(database);
		return new JdbcSessionStore(database, StoreOptions.of(JsonMessageCodec.create()).clock(clock));
	}

	@Test
	void aCallThatTakesLongerThanItsSessionLivesIsStored() {
		assertThatAllHold(onAllStores((store) -> {
			Thinking thinking = new Thinking();
			ChatClient chat = chat(store, Concurrency.OPTIMISTIC, thinking);
			answer(chat, "u1");
			beginLife(store);
			thinking.work = () -> sleep(LIFE.multipliedBy(3).dividedBy(2));
			assertThat(answer(chat, "u2")).isEqualTo("a");
			return assertThat(store.messages(this.key)).hasSize(4);
		}));
	}

	@Test
	void aCallInLineKeepsItsPlaceWhileItTakesLongerThanItsSessionLives() {
		Map<String, Callable<?>> checks = new LinkedHashMap<>();
		for (Concurrency concurrency : Concurrency.values()) {
			checks.put(concurrency.name(), () -> assertThatACallKeepsItsPlace(concurrency));
		}
		assertThatAllHold(checks);
	}

	private boolean assertThatACallKeepsItsPlace(Concurrency concurrency) {
		SessionStore store = TestStores.MEMORY.create();
		beginSession(store, LIFE);
		Thinking thinking = new Thinking();
		ChatClient chat = chat(store, concurrency, thinking).mutate()
			.defaultAdvisors(SessionAdvisor.idempotencyKey("k"))
			.build();
		thinking.work = () -> sleep(LIFE.multipliedBy(3).dividedBy(2));
		assertThat(answer(chat, "u1")).isEqualTo("a");
		assertThat(answer(chat, "u1")).isEqualTo("a");
		assertThat(store.messages(this.key)).hasSize(2);
		return true;
	}

	@Test
	void aSessionExpiresWhenNoCallWorksOnItAnyMore() {
		SessionStore store = TestStores.MEMORY.create();
		Duration life = Duration.ofSeconds(6);
		beginSession(store, life);
		Thinking thinking = new Thinking();
		thinking.work = () -> sleep(life.dividedBy(2));
		answer(chat(store, Concurrency.SERIALIZE, thinking), "u1");
		sleep(life.plusMillis(200));
		assertThat(store.find(this.key)).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void aCallWhoseSessionHasGoneSaysSo(TestStores kind) {
		SessionStore store = kind.create();
		Thinking thinking = new Thinking();
		ChatClient chat = chat(store, Concurrency.OPTIMISTIC, thinking);
		answer(chat, "u1");
		thinking.work = () -> store.erase(this.key);
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

	/** After a first call, which is slow where nothing has run yet. */
	private void beginLife(SessionStore store) {
		store.commit(Commit.any(this.key).header(HeaderChange.NONE.timeToLive(LIFE)));
	}

	private void beginSession(SessionStore store, Duration life) {
		store.commit(Commit.first(this.key).header(HeaderChange.NONE.timeToLive(life)));
	}

	/** The work of a model before it answers. */
	private static final class Thinking {

		private volatile Runnable work = () -> {
		};

	}

	private ChatClient chat(SessionStore store, Concurrency concurrency, Thinking thinking) {
		Conversations conversations = Conversations.of(store);
		this.opened.add(conversations);
		ChatModel model = (prompt) -> {
			thinking.work.run();
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
