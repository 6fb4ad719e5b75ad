package io.sessionkit.internal;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Renewals whose process was suspended: their time has passed, and the store has had
 * none. The watch is kept from its work here, as it is in such a process.
 */
@Isolated
@Timeout(60)
class SuspendedRenewalTests {

	private static final Duration PATIENCE = Duration.ofSeconds(1);

	private final Logger logger = (Logger) LoggerFactory.getLogger(RenewalThreads.class);

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	private final RenewalThreads threads = new RenewalThreads(getClass().getClassLoader());

	/** The time at which the watch goes on with its work. */
	private volatile long watched;

	private final CountDownLatch begun = new CountDownLatch(1);

	private final CountDownLatch ended = new CountDownLatch(1);

	@BeforeEach
	void begin() {
		this.log.start();
		this.logger.setLevel(Level.INFO);
		this.logger.addAppender(this.log);
	}

	@AfterEach
	void close() {
		this.ended.countDown();
		this.threads.close();
		this.logger.detachAppender(this.log);
		this.logger.setLevel(null);
	}

	@Test
	void renewalOfAProcessThatWasSuspendedDoesNotHang() {
		CountDownLatch hung = new CountDownLatch(1);
		schedule(() -> await(hung), () -> {
			hung.countDown();
			await(this.begun);
			sleep(PATIENCE.multipliedBy(2).plusMillis(500));
			this.watched = System.currentTimeMillis();
		});
		Awaitility.await().until(() -> logged().size() == 1);
		schedule(() -> {
			this.begun.countDown();
			await(this.ended);
		}, () -> {
		});
		Awaitility.await().until(() -> logged().size() == 2);
		assertThat(this.watched).isPositive();
		assertThat(logged().get(1).getTimeStamp()).isGreaterThan(this.watched + PATIENCE.dividedBy(4).toMillis());
	}

	private void schedule(Runnable work, Runnable whenOverdue) {
		this.threads.schedule(new RenewalThreads.Task(() -> "The lease", PATIENCE, work, whenOverdue), Duration.ZERO);
	}

	private List<ILoggingEvent> logged() {
		return List.copyOf(this.log.list)
			.stream()
			.filter((event) -> event.getFormattedMessage().contains("waits for the store"))
			.toList();
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static void sleep(Duration time) {
		try {
			TimeUnit.MILLISECONDS.sleep(time.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
