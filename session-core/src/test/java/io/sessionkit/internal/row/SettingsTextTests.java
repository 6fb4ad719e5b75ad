package io.sessionkit.internal.row;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.codec.UnsupportedVersionException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class SettingsTextTests {

	private static final SessionKey KEY = SessionKey.of("owner", "thread");

	private static final MessageCodec CODEC = JsonMessageCodec.create();

	private static final SessionSettings ALL = SessionSettings.NONE.limit(12)
		.trim((trim) -> trim.maxTurns(20).maxMessages(40).maxTokens(8000))
		.summarize(false)
		.retention((kept) -> kept.maxTurns(100).maxAge(Duration.ofDays(90)));

	/** The first version of the form: it must stay readable, so it is never edited. */
	private static final Map<String, Object> FIRST = Map.of("settings", 1, "limit", 12, "maxTurns", 20, "maxMessages",
			40, "maxTokens", 8000, "summarize", false, "retainedTurns", 100, "retainedAge", Duration.ofDays(90));

	@Test
	void firstVersionStaysReadable() {
		assertThat(SettingsText.values(ALL)).isEqualTo(FIRST);
		assertThat(SettingsText.read(KEY, CODEC.encodeValues(KEY, FIRST), CODEC)).isEqualTo(ALL);
	}

	@Test
	void settingsThatAreAbsentTakeNoPlace() {
		assertThat(SettingsText.values(SessionSettings.NONE)).containsOnlyKeys("settings");
		assertThat(SettingsText.read(KEY, null, CODEC)).isEqualTo(SessionSettings.NONE);
	}

	@Test
	void newerVersionsAndUnknownSettingsAreRefusedInsteadOfIgnored() {
		assertThatExceptionOfType(UnsupportedVersionException.class).isThrownBy(() -> read("settings", 2))
			.withMessageContaining("in version 2")
			.withMessageContaining("Use the version that wrote them");
		assertThatExceptionOfType(UnsupportedVersionException.class).isThrownBy(() -> read("maxDays", 7))
			.withMessageContaining("does not know");
	}

	@Test
	void valuesThatCannotBeAreUnreadable() {
		for (Map.Entry<String, Object> wrong : Map
			.<String, Object>of("settings", "1", "limit", -1, "maxTurns", "20", "summarize", "no", "retainedAge", 7,
					"retainedTurns", 0)
			.entrySet()) {
			assertThatExceptionOfType(UnreadablePayloadException.class)
				.isThrownBy(() -> read(wrong.getKey(), wrong.getValue()))
				.withMessageContaining("settings of session");
		}
		assertThatExceptionOfType(UnreadablePayloadException.class)
			.isThrownBy(() -> read("retainedAge", Duration.ofMillis(-5)))
			.withMessageContaining("settings of session");
	}

	/** It was allowed once. */
	@Test
	void ageBelowASecondIsReadAsNone() {
		assertThat(read("retainedAge", Duration.ofMillis(5))).isEqualTo(ALL.retention((kept) -> kept.maxAge(null)));
		assertThat(read("retainedAge", Duration.ZERO).retention().maxAge()).isZero();
	}

	private static SessionSettings read(String name, Object value) {
		Map<String, Object> values = new HashMap<>(FIRST);
		values.put(name, value);
		return SettingsText.read(KEY, CODEC.encodeValues(KEY, values), CODEC);
	}

}
