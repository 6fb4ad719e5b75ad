package io.sessionkit.internal.view;

import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class SettingsMemoryTests {

	private final SettingsMemory memory = new SettingsMemory();

	@Test
	void onlySettingsThatLimitTheHistoryTakePlace() {
		SessionKey key = SessionKey.of("t1");
		SessionSettings limited = SessionSettings.NONE.limit(4);
		this.memory.read(key, limited);
		assertThat(this.memory.of(key)).isEqualTo(limited);
		this.memory.read(key, SessionSettings.NONE.summarize(false));
		assertThat(this.memory.of(key)).isEqualTo(SessionSettings.NONE);
	}

	@Test
	void sessionsThatWereNotUsedForLongestAreForgottenFirst() {
		SessionSettings limited = SessionSettings.NONE.trim((trim) -> trim.maxTurns(1));
		SessionKey used = SessionKey.of("used");
		SessionKey unused = SessionKey.of("unused");
		this.memory.read(used, limited);
		this.memory.read(unused, limited);
		for (int i = 0; i < 10_000; i++) {
			this.memory.read(SessionKey.of("t" + i), limited);
			this.memory.of(used);
		}
		assertThat(this.memory.of(used)).isEqualTo(limited);
		assertThat(this.memory.of(unused)).isEqualTo(SessionSettings.NONE);
	}

}
