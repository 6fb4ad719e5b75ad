package io.sessionkit.internal;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RenewalsTests {

	private static final Duration LIFE = Duration.ofMillis(100);

	private final Renewals renewals = new Renewals();

	private final CountDownLatch made = new CountDownLatch(3);

	@AfterEach
	void close() {
		this.renewals.close();
	}

	@Test
	void renewalThatEndsWithAnErrorIsMadeAgain() throws Exception {
		this.renewals.start(LIFE, () -> "The lease", this::fail);
		assertThat(this.made.await(10, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void workThatEndsWithAnErrorIsTriedAgain() throws Exception {
		this.renewals.tryAgain(LIFE, this::fail);
		assertThat(this.made.await(10, TimeUnit.SECONDS)).isTrue();
	}

	/**
	 * A call that comes late must not fail for that, nor start threads that nobody stops.
	 */
	@Test
	void nothingIsRenewedAfterTheEnd() throws Exception {
		this.renewals.close();
		this.renewals.start(LIFE, () -> "The lease", this.made::countDown).cancel();
		this.renewals.start(LIFE, () -> "The lease", this.made::countDown);
		this.renewals.tryAgain(LIFE, this.made::countDown);
		TimeUnit.MILLISECONDS.sleep(3 * LIFE.toMillis());
		assertThat(this.made.getCount()).isEqualTo(3);
	}

	private void fail() {
		this.made.countDown();
		throw new NoClassDefFoundError("driver");
	}

}
