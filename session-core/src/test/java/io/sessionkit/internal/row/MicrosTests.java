package io.sessionkit.internal.row;

import java.time.Instant;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class MicrosTests {

	@Test
	void instantsOfAllTimesAreReadBackToTheMicrosecond() {
		for (String text : new String[] { "1969-12-31T23:59:59.000001Z", "1970-01-01T00:00:00Z",
				"2026-02-03T04:05:06.789012Z", "2262-04-12T00:00:00Z", "9999-12-31T23:59:59.999999Z" }) {
			Instant instant = Instant.parse(text);
			assertThat(Micros.instant(Micros.of(instant))).isEqualTo(instant);
		}
		assertThat(Micros.of(Instant.parse("2026-02-03T04:05:06.789012345Z")))
			.isEqualTo(Micros.of(Instant.parse("2026-02-03T04:05:06.789012Z")));
	}

}
