package io.sessionkit.internal.line;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.Concurrency;
import io.sessionkit.SessionKey;
import io.sessionkit.internal.Renewals;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.test.AwayStores;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests the log about places that are lost or cannot be given back.
 */
@Isolated
class PlaceLogTests {

	private static final SessionKey KEY = SessionKey.of("ada", "t1");

	private final SessionStore memory = TestStores.MEMORY.create();

	private final AtomicBoolean away = new AtomicBoolean();

	private final Renewals renewals = new Renewals();

	private final Logger logger = (Logger) LoggerFactory.getLogger(Lines.class.getPackageName());

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	@BeforeEach
	void begin() {
		this.memory.add(KEY, List.of(new UserMessage("q")));
		this.log.start();
		this.logger.addAppender(this.log);
	}

	@AfterEach
	void end() {
		this.logger.detachAppender(this.log);
		this.renewals.close();
	}

	@Test
	void aCallThatStoodInNoLineLeavesNone() {
		this.away.set(true);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(arrive()::look);
		assertThat(this.log.list).isEmpty();
	}

	@Test
	void aCallThatCannotLeaveItsLineIsLoggedOnce() {
		arrive().await();
		Arrival second = arrive();
		assertThat(second.look()).isNull();
		this.away.set(true);
		second.leave();
		second.leave();
		assertThat(this.log.list).singleElement()
			.satisfies((event) -> assertThat(event.getFormattedMessage()).contains("could not leave the line", "30s"));
	}

	@Test
	void aLineThatCannotBeReadIsLoggedOnceUntilTheStoreIsBack() {
		arrive().await();
		Arrival second = arrive();
		assertThat(second.look()).isNull();
		for (int outages = 1; outages <= 2; outages++) {
			this.away.set(true);
			assertThat(second.look()).isNull();
			assertThat(second.look()).isNull();
			this.away.set(false);
			assertThat(second.look()).isNull();
			assertThat(this.log.list).hasSize(outages)
				.last()
				.satisfies((event) -> assertThat(event.getFormattedMessage()).contains("could not be read",
						"is tried again", StoreUnavailableException.class.getName()));
		}
	}

	/** The store knows no reason: its data may be lost too. */
	@Test
	void aPlaceThatIsLostNamesBothReasons() {
		Admission first = arrive().await();
		first.working(new Answer("turn", 1));
		this.memory.records(KEY, "line")
			.forEach((line) -> this.memory.put(KEY, new RecordWrite("line", line.id(), RecordWrite.ANY, null, null)));
		assertThat(first.hasChanged()).isFalse();
		assertThat(this.log.list).singleElement()
			.satisfies((event) -> assertThat(event.getFormattedMessage())
				.contains("has lost its place in line. That happens if it"
						+ " cannot show for 30s that it is there, and if the store loses what it holds. The call adds"));
	}

	private Arrival arrive() {
		SessionStore store = AwayStores.of(this.memory, this.away::get);
		return new Lines(store, Duration.ofSeconds(30), this.renewals, CallObserver.NONE).arrive(KEY, null, null,
				Concurrency.SERIALIZE, Duration.ofSeconds(30), null, new Drain());
	}

}
