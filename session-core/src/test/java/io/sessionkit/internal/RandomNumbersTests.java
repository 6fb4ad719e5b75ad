package io.sessionkit.internal;

import java.util.UUID;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RandomNumbersTests {

	@Test
	void idsHaveTheFormOfRandomOnes() {
		for (int i = 0; i < 100; i++) {
			UUID id = RandomNumbers.uuid();
			assertThat(id.version()).isEqualTo(4);
			assertThat(id.variant()).isEqualTo(2);
			assertThat(id).isNotEqualTo(RandomNumbers.uuid());
		}
	}

}
