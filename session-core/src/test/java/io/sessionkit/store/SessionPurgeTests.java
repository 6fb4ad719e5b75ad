package io.sessionkit.store;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntUnaryOperator;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ObservedStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

import static io.sessionkit.store.SessionStoreFixture.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

@Isolated
class SessionPurgeTests {

	private static final Duration INTERVAL = Duration.ofMillis(20);

	private final InMemorySessionStore store = new InMemorySessionStore(
			StoreOptions.of(JsonMessageCodec.create()).timeToLive(Duration.ofMillis(200)));

	@Test
	void whatExpiresIsDeletedInTheBackgroundBatchByBatch() {
		List<Integer> deleted = new CopyOnWriteArrayList<>();
		try (SessionPurge purge = SessionPurge.builder(deletingBy((limit) -> {
			int count = this.store.deleteExpired(limit);
			deleted.add(count);
			return count;
		})).interval(INTERVAL).batchSize(2).start()) {
			for (int i = 0; i < 5; i++) {
				this.store.add(SessionKey.of("" + i), batch("text"));
			}
			await().until(() -> deleted.stream().mapToInt(Integer::intValue).sum() == 5);
			assertThat(purge).isNotNull();
		}
		assertThat(deleted).allMatch((count) -> count <= 2);
	}

	@Test
	void failureIsLoggedOnceByItsClassAndTriedAgain() {
		AtomicInteger calls = new AtomicInteger();
		SessionStore failing = deletingBy((limit) -> {
			if (calls.incrementAndGet() < 4) {
				throw new StoreUnavailableException("secret of the database", null);
			}
			return 0;
		});
		Logged log = new Logged(Level.INFO);
		try (log; SessionPurge purge = SessionPurge.builder(failing).interval(INTERVAL).batchSize(10).start()) {
			await().until(() -> calls.get() > 5);
			assertThat(purge).isNotNull();
		}
		assertThat(log.appender.list).singleElement()
			.satisfies((event) -> assertThat(event.getFormattedMessage())
				.contains(StoreUnavailableException.class.getName())
				.doesNotContain("secret"));
	}

	@Test
	void errorIsLoggedOnceByItsClassAndTriedAgain() {
		AtomicInteger calls = new AtomicInteger();
		SessionStore failing = deletingBy((limit) -> {
			if (calls.incrementAndGet() < 4) {
				throw new NoClassDefFoundError("secret of the class path");
			}
			return 0;
		});
		Logged log = new Logged(Level.INFO);
		try (log; SessionPurge purge = SessionPurge.builder(failing).interval(INTERVAL).batchSize(10).start()) {
			await().until(() -> calls.get() > 5);
			assertThat(purge).isNotNull();
		}
		assertThat(log.appender.list).singleElement()
			.satisfies((event) -> assertThat(event.getFormattedMessage()).contains(NoClassDefFoundError.class.getName())
				.doesNotContain("secret"));
	}

	@Test
	void nothingIsDeletedOnceItIsClosed() {
		AtomicInteger calls = new AtomicInteger();
		AtomicInteger interrupted = new AtomicInteger();
		SessionStore endless = deletingBy((limit) -> {
			calls.incrementAndGet();
			interrupted.addAndGet(Thread.currentThread().isInterrupted() ? 1 : 0);
			return 1;
		});
		SessionPurge purge = SessionPurge.builder(endless).interval(INTERVAL).batchSize(10).start();
		await().until(() -> calls.get() > 10);
		purge.close();
		int atTheEnd = calls.get();
		await().pollDelay(INTERVAL.multipliedBy(3)).until(() -> calls.get() == atTheEnd);
		assertThat(interrupted).hasValue(0);
	}

	@Test
	void intervalAndBatchMustBePositive() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> SessionPurge.builder(this.store).interval(Duration.ZERO).batchSize(1).start())
			.withMessageContaining("PT0S");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> SessionPurge.builder(this.store).interval(INTERVAL).batchSize(0).start())
			.withMessageContaining("0");
	}

	private SessionStore deletingBy(IntUnaryOperator deletion) {
		ObservedStore observed = new ObservedStore(this.store);
		observed.deletion(deletion);
		return observed;
	}

	/** The log of the purge. */
	private static final class Logged implements AutoCloseable {

		private final Logger logger = (Logger) LoggerFactory.getLogger(SessionPurge.class);

		private final Level before = this.logger.getLevel();

		final ListAppender<ILoggingEvent> appender = new ListAppender<>();

		Logged(Level level) {
			this.appender.start();
			this.logger.setLevel(level);
			this.logger.addAppender(this.appender);
		}

		@Override
		public void close() {
			this.logger.detachAppender(this.appender);
			this.logger.setLevel(this.before);
		}

	}

}
