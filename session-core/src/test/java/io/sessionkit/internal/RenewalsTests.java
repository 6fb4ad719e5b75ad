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

	private void fail() {
		this.made.countDown();
		throw new NoClassDefFoundError("driver");
	}

}
