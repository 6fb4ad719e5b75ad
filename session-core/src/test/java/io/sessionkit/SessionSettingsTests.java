package io.sessionkit;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class SessionSettingsTests {

	@Test
	void changingOneSettingLeavesTheOthers() {
		SessionSettings settings = SessionSettings.NONE.limit(5)
			.trim((trim) -> trim.maxTurns(20).maxTokens(100))
			.summarize(true)
			.retention((kept) -> kept.maxAge(Duration.ofDays(1)));
		SessionSettings changed = settings.limit(null)
			.trim((trim) -> trim.maxTokens(null).maxMessages(7))
			.retention((kept) -> kept.maxTurns(9));
		assertThat(changed.limit()).isNull();
		assertThat(changed.trim()).isEqualTo(new SessionSettings.TrimSettings(20, 7, null));
		assertThat(changed.summarize()).isTrue();
		assertThat(changed.retention()).isEqualTo(new SessionSettings.RetentionSettings(9, Duration.ofDays(1)));
	}

	@Test
	void settingsOfWhichEachOneWasRemovedAreNone() {
		SessionSettings settings = SessionSettings.NONE.limit(5).trim((trim) -> trim.maxTurns(1)).summarize(false);
		assertThat(settings.isEmpty()).isFalse();
		assertThat(settings.limit(null).trim((trim) -> trim.maxTurns(null)).summarize(null).isEmpty()).isTrue();
	}

	@Test
	void valuesThatCannotBeAreRefusedByName() {
		SessionSettings none = SessionSettings.NONE;
		assertThatIllegalArgumentException().isThrownBy(() -> none.limit(-1))
			.withMessage("The setting limit of a session must be 0 or more: -1. Leave it out for what is configured.");
		assertThatIllegalArgumentException().isThrownBy(() -> none.trim((trim) -> trim.maxTurns(-1)))
			.withMessageContaining("trim.max-turns");
		assertThatIllegalArgumentException().isThrownBy(() -> none.trim((trim) -> trim.maxMessages(0)))
			.withMessageContaining("trim.max-messages");
		assertThatIllegalArgumentException().isThrownBy(() -> none.trim((trim) -> trim.maxTokens(0)))
			.withMessageContaining("trim.max-tokens");
		assertThatIllegalArgumentException().isThrownBy(() -> none.retention((kept) -> kept.maxTurns(0)))
			.withMessageContaining("retention.max-turns");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> none.retention((kept) -> kept.maxAge(Duration.ofSeconds(-1))))
			.withMessageContaining("retention.max-age");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> none.retention((kept) -> kept.maxAge(Duration.ofMillis(5))))
			.withMessageContaining("retention.max-age");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new SessionSettings.RetentionSettings(null, Duration.ofMillis(999)))
			.withMessageContaining("a second or more");
		assertThat(none.retention((kept) -> kept.maxAge(Duration.ZERO)).retention().maxAge()).isZero();
	}

}
