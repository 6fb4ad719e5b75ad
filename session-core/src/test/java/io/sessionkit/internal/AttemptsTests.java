package io.sessionkit.internal;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.internal.Attempts.Step;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

/**
 * How often a change is tried while others write.
 */
class AttemptsTests {

	private final AtomicInteger made = new AtomicInteger();

	@ParameterizedTest
	@EnumSource
	void attemptsEndAfterTheLargestNumber(Attempts attempts) {
		assertThat(attempts.until(() -> this.made.incrementAndGet() < 0)).isFalse();
		assertThat(this.made.getAndSet(0)).isEqualTo(attempts.most());
		assertThat(attempts.make(() -> found(this.made.incrementAndGet() < 0))).isEmpty();
		assertThat(this.made.getAndSet(0)).isEqualTo(attempts.most());
		assertThat(attempts.<Integer, String>make(1, (number) -> {
			this.made.incrementAndGet();
			return Step.again(number + 1);
		})).isEmpty();
		assertThat(this.made).hasValue(attempts.most());
	}

	@ParameterizedTest
	@EnumSource
	void theLastAttemptCounts(Attempts attempts) {
		assertThat(attempts.until(() -> this.made.incrementAndGet() == attempts.most())).isTrue();
		assertThat(attempts.<Integer, Integer>make(1,
				(number) -> (number == attempts.most()) ? Step.done(number) : Step.again(number + 1)))
			.hasValue(attempts.most());
	}

	@Test
	void attemptsEndWithAResult() {
		assertThat(Attempts.FEW.until(() -> this.made.incrementAndGet() == 2)).isTrue();
		assertThat(this.made).hasValue(2);
		assertThat(Attempts.FEW.make(() -> found(this.made.incrementAndGet() == 4))).hasValue("found");
		assertThat(this.made).hasValue(4);
	}

	private static Optional<String> found(boolean isFound) {
		return isFound ? Optional.of("found") : Optional.empty();
	}

	@Test
	void anAttemptSaysThatAnotherOneMakesNoSense() {
		assertThat(Attempts.MANY.<Integer, String>make(1, (number) -> {
			this.made.incrementAndGet();
			return (number < 3) ? Step.again(number + 1) : Step.stop();
		})).isEmpty();
		assertThat(this.made).hasValue(3);
		assertThat(Attempts.MANY.<Integer, String>make(1, (number) -> {
			this.made.incrementAndGet();
			return Step.again(null);
		})).isEmpty();
		assertThat(this.made).hasValue(4);
	}

	@Test
	void whatAnAttemptThrowsEndsThem() {
		assertThatIOException().isThrownBy(() -> Attempts.MANY.until(() -> {
			this.made.incrementAndGet();
			throw new IOException("disk");
		}));
		assertThat(this.made).hasValue(1);
	}

}
