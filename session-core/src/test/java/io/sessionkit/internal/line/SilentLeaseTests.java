package io.sessionkit.internal.line;

import java.time.Duration;
import java.time.Instant;

import io.sessionkit.SessionKey;
import io.sessionkit.store.SessionRecord;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests how long a call waits for the lease of a process that was killed.
 */
class SilentLeaseTests {

	@Test
	void aLeaseIsWaitedForAsLongAsItLives() {
		SilentLease longer = lease(Duration.ofSeconds(60));
		SilentLease shorter = lease(Duration.ofMillis(50));
		assertThat(longer.test(null)).isTrue();
		assertThat(shorter.test(null)).isTrue();
		Awaitility.await().until(() -> !shorter.test(null));
		assertThat(longer.test(null)).isTrue();
	}

	/** The clock of the store may have been set back: the record stays. */
	private static SilentLease lease(Duration life) {
		Instant now = Instant.parse("2026-01-01T00:00:00Z");
		SessionRecord record = new SessionRecord(SessionKey.of("ada", "t1"), "lease", "turn", 1, "{}", now,
				now.plus(life));
		return new SilentLease(() -> record, true, (answer) -> true);
	}

}
