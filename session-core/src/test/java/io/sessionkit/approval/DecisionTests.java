package io.sessionkit.approval;

import java.util.List;
import java.util.function.Supplier;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Decisions say who decided.
 */
class DecisionTests {

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = { "", " " })
	void decisionOfNobodyIsRefused(String by) {
		List<Supplier<Decision>> decisions = List.of(() -> Decision.approve(by), () -> Decision.reject(by),
				() -> Decision.reject(by, "why"), () -> Decision.retry(by), () -> Decision.answer(by, "result"),
				() -> Decision.approve("ada").by(by));
		decisions.forEach((decision) -> assertThatIllegalArgumentException().isThrownBy(decision::get)
			.withMessageContaining("who decided"));
	}

}
