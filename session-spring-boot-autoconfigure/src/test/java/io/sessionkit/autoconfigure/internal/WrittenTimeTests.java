package io.sessionkit.autoconfigure.internal;

import java.time.Duration;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class WrittenTimeTests {

	@ParameterizedTest
	@CsvSource({ "PT0S, 0s", "PT0.5S, 500ms", "PT1.25S, 1250ms", "PT0.000001S, PT0.000001S", "PT40S, 40s", "PT90S, 90s",
			"PT90M, 90m", "PT36H, 36h", "P30D, 30d", "-P1D, -1d" })
	void timeIsShownAsItWouldBeWritten(Duration time, String written) {
		assertThat(WrittenTime.of(time)).isEqualTo(written);
	}

	@Test
	void refusedTimeIsShownAsItWouldBeWritten() {
		assertThat(ConfigurationRefusedException.of("sessionkit.lease", Duration.ofMillis(500), "Write more.")
			.description()).isEqualTo("The property 'sessionkit.lease' is '500ms'.");
	}

}
