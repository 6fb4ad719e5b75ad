package io.sessionkit.internal.line;

import java.time.Duration;
import java.util.List;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.SessionKey;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The log of a shutdown.
 */
@Isolated
class DrainLogTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private static final Duration SOON = Duration.ofMillis(10);

	private final Logger logger = (Logger) LoggerFactory.getLogger(Drain.class);

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	private final Level level = this.logger.getLevel();

	private final Drain drain = new Drain();

	@BeforeEach
	void begin() {
		this.log.start();
		this.logger.setLevel(Level.INFO);
		this.logger.addAppender(this.log);
	}

	@AfterEach
	void close() {
		this.logger.detachAppender(this.log);
		this.logger.setLevel(this.level);
	}

	private List<String> report(Level reported) {
		return this.log.list.stream()
			.skip(1)
			.filter((event) -> event.getLevel() == reported)
			.map(ILoggingEvent::getFormattedMessage)
			.toList();
	}

	@Test
	void callThatHasStoppedAtAStepAndNotEndedYetIsNotAmongThoseThatHaveReachedNone() {
		Drain.Work stopped = this.drain.enter(KEY, false);
		this.drain.enter(KEY, false);
		this.drain.enter(KEY, false);
		this.drain.begin();
		stopped.handedOver();
		stopped.handedOver();
		this.drain.await(SOON);
		assertThat(report(Level.WARN)).singleElement()
			.asString()
			.isEqualTo("0 of 3 calls on sessions have ended. Turns that have stopped at a step, where another process"
					+ " can continue them: 1. Calls that have not reached a step yet: 2. If the process ends now, their"
					+ " turns stay as a killed process leaves them; a tool call that is in the ledger and has no result"
					+ " is uncertain.");
	}

	@Test
	void callsThatHaveAllEndedOrStoppedAreNoWarning() {
		Drain.Work ended = this.drain.enter(KEY, false);
		Drain.Work stopped = this.drain.enter(KEY, false);
		this.drain.begin();
		ended.handedOver();
		ended.close();
		stopped.handedOver();
		this.drain.await(SOON);
		assertThat(report(Level.WARN)).isEmpty();
		assertThat(report(Level.INFO))
			.containsExactly("1 of 2 calls on sessions have ended. Turns that have stopped at a"
					+ " step, where another process can continue them: 2.");
	}

}
