package io.sessionkit.migration;

import java.time.Instant;
import java.util.Map;
import java.util.Objects;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.store.SessionRecord;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ImportRecordTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	/** As the first version has written it; never edited. */
	private static final String FIRST_VERSION = """
			{"v":1,"t":"values","values":{"source":"AI_SESSION","conversation":"c1","done":false,"archived":true,\
			"position":{"$t":"long","v":"12"},"turns":{"$t":"long","v":"3"},"version":{"$t":"long","v":"1"}}}""";

	private final MessageCodec codec = JsonMessageCodec.create();

	private final ImportRecord record = new ImportRecord("AI_SESSION", "c1", 12, 3, true, false, 7, 0);

	@Test
	void namesAreStoredAndNeverChange() {
		assertThat(ImportRecord.KIND).isEqualTo("import");
		assertThat(ImportRecord.ID).isEqualTo("source");
	}

	@Test
	void recordOfTheFirstVersionIsReadAndWritten() {
		assertThat(ImportRecord.read(stored(FIRST_VERSION), this.codec)).isEqualTo(this.record);
		String written = Objects.requireNonNull(this.record.write(KEY, this.codec).payload());
		assertThat(this.codec.decodeValues(KEY, written)).isEqualTo(this.codec.decodeValues(KEY, FIRST_VERSION));
	}

	@Test
	void recordOfALaterVersionIsRefused() {
		SessionRecord later = stored(this.codec.encodeValues(KEY, Map.of("version", 2L)));
		assertThatExceptionOfType(UnsupportedVersionException.class)
			.isThrownBy(() -> ImportRecord.read(later, this.codec));
	}

	private static SessionRecord stored(String payload) {
		return new SessionRecord(KEY, ImportRecord.KIND, ImportRecord.ID, 7, payload, Instant.EPOCH, null);
	}

}
