package io.sessionkit.store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class RecordWriteTests {

	@ParameterizedTest
	@ValueSource(longs = { 0, -1, (1L << 52) + 1, Long.MAX_VALUE })
	void firstRevisionThatAFloatingPointNumberCannotCountOnIsRefused(long first) {
		assertThatIllegalArgumentException().isThrownBy(() -> new RecordWrite("note", "1", 0, "text", null, first))
			.withMessageContaining("1 to 4503599627370496, not " + first);
	}

	/** Some databases compare kinds as if spaces at their end were missing. */
	@ParameterizedTest
	@ValueSource(strings = { "note ", "note\u2003" })
	void kindThatEndsWithWhiteSpaceIsRefused(String kind) {
		assertThatIllegalArgumentException().isThrownBy(() -> RecordWrite.create(kind, "1", "text"))
			.withMessageContaining("must not end with white space: '" + kind + "'");
	}

	@Test
	void firstRevisionMayBeTheSmallestAndTheLargest() {
		assertThat(new RecordWrite("note", "1", 0, "text", null, 1).next()).isEqualTo(1);
		assertThat(new RecordWrite("note", "1", 0, "text", null, 1L << 52).next()).isEqualTo(1L << 52);
	}

}
