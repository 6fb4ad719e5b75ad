package io.sessionkit.internal.view;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class MemoryRecordTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	/** As the first version has written it; never edited. */
	private static final String FIRST_VERSION = """
			{"v":1,"t":"values","values":{"hiddenSummary":"x","system":["{\\"v\\":1,\\"t\\":\\"system\\",\\"text\\":\\"s\\"}"],\
			"hidden":{"$t":"long","v":"4"},"version":{"$t":"long","v":"1"},\
			"open":["{\\"v\\":1,\\"t\\":\\"user\\",\\"text\\":\\"q\\"}"]}}""";

	private final MessageCodec codec = JsonMessageCodec.create();

	@Test
	void kindIsStoredAndNeverChanges() {
		assertThat(MemoryRecord.KIND).isEqualTo("chat-memory");
	}

	@Test
	void recordOfTheFirstVersionIsRead() {
		MemoryRecord memory = MemoryRecord.of(List.of(record(FIRST_VERSION)), this.codec);
		assertThat(Lines.of(memory.system())).containsExactly("system: s");
		assertThat(Lines.of(memory.open())).containsExactly("user: q");
		assertThat(memory.hidden()).isEqualTo(4);
		assertThat(memory.hiddenSummary()).isEqualTo("x");
	}

	@Test
	void recordIsWrittenAsInTheFirstVersion() {
		MemoryRecord memory = new MemoryRecord(List.of(new SystemMessage("s")), List.of(new UserMessage("q")), 4, "x",
				7);
		List<RecordWrite> writes = memory.write(memory.hidden(3, ""), KEY, this.codec);
		assertThat(writes).hasSize(1);
		assertThat(this.codec.decodeValues(KEY, Objects.requireNonNull(writes.get(0).payload())))
			.isEqualTo(this.codec.decodeValues(KEY, FIRST_VERSION));
		assertThat(memory.write(memory, KEY, this.codec)).isEmpty();
	}

	@Test
	void recordOfALaterVersionIsRefused() {
		assertThatExceptionOfType(UnsupportedVersionException.class).isThrownBy(
				() -> MemoryRecord.of(List.of(record(this.codec.encodeValues(KEY, Map.of("version", 2L)))), this.codec))
			.withMessageContaining("version 2");
	}

	private static SessionRecord record(String payload) {
		return new SessionRecord(KEY, MemoryRecord.KIND, "memory", 7, payload, Instant.EPOCH, null);
	}

}
