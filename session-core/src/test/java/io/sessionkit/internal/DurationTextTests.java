package io.sessionkit.internal;

import java.time.Duration;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class DurationTextTests {

	@ParameterizedTest
	@CsvSource({ "PT0S, 0ms", "PT0.2S, 200ms", "PT0.0004S, 0ms", "PT0.9997S, 1s", "PT4.999987771S, 5s", "PT4.94S, 4.9s",
			"PT30S, 30s", "PT1M, 1m", "PT1H30M, 1h30m", "P2D, 48h", "PT59.97S, 1m" })
	void durationsAreShortAndRounded(Duration duration, String text) {
		assertThat(DurationText.of(duration)).isEqualTo(text);
	}

}
