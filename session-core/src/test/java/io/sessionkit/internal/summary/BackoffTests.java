package io.sessionkit.internal.summary;

import java.time.Duration;
import java.time.Instant;

import io.sessionkit.SessionKey;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class BackoffTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

	private static final Duration FIRST = Duration.ofMinutes(1);

	private final Backoff backoff = new Backoff(FIRST);

	@Test
	void pauseEndsAndTheNextOneIsTwiceAsLong() {
		this.backoff.failed(KEY, NOW);
		assertThat(this.backoff.isPaused(KEY, NOW.plusSeconds(59))).isTrue();
		assertThat(this.backoff.isPaused(KEY, NOW.plusSeconds(60))).isFalse();
		this.backoff.failed(KEY, NOW.plusSeconds(60));
		assertThat(this.backoff.isPaused(KEY, NOW.plusSeconds(179))).isTrue();
		assertThat(this.backoff.isPaused(KEY, NOW.plusSeconds(180))).isFalse();
	}

	@Test
	void clockThatWasAheadDoesNotMakeThePauseLonger() {
		this.backoff.failed(KEY, NOW.plus(Duration.ofDays(1)));
		assertThat(this.backoff.isPaused(KEY, NOW)).isFalse();
		this.backoff.failed(KEY, NOW);
		assertThat(this.backoff.isPaused(KEY, NOW)).isTrue();
	}

}
