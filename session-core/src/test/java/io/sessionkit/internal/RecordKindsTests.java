package io.sessionkit.internal;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.internal.ledger.Notices;
import io.sessionkit.internal.ledger.StandingDecisions;
import io.sessionkit.internal.line.Lines;
import io.sessionkit.internal.snapshot.KeptTexts;
import io.sessionkit.internal.snapshot.SnapshotReader;
import io.sessionkit.internal.stream.StreamLogs;
import io.sessionkit.store.SessionStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The kinds of records are stored, so they never change, and no two capabilities share
 * one.
 */
class RecordKindsTests {

	@Test
	void kindsAreThoseThatAreStoredAndDiffer() {
		assertThat(new String[] { SessionStore.SUMMARY, SnapshotReader.KIND, TurnRecords.PAUSE, TurnRecords.LEASE,
				Ledger.APPROVAL, Ledger.OVER, StandingDecisions.KIND, Ledger.COMPENSATION, TurnRecords.REWIND,
				KeptTexts.KIND, KeptTexts.RETENTION, Lines.OFFER, StreamLogs.KIND, Notices.NOTICE })
			.containsExactly("summary", "snapshot", "pause", "lease", "approval", "ledger", "standing", "compensation",
					"rewind", "kept", "retention", "offer", "stream", "notice")
			.doesNotHaveDuplicates();
	}

	/** Scripts and schemas cannot refer to a constant. */
	@Test
	void kindsThatAreIndexedOverAllOwnersAreTheSameInScriptsAndSchemas() throws IOException {
		assertThat(SessionStore.SHARED_KINDS).containsExactlyInAnyOrder(Ledger.APPROVAL, Notices.NOTICE);
		assertThat(names("/io/sessionkit/store/redis/session.lua", "local LISTED = \\{(.*)}", "(\\w+) ="))
			.isEqualTo(SessionStore.SHARED_KINDS);
		assertThat(names("/io/sessionkit/store/jdbc/schema-postgresql.sql", "where kind in \\((.*)\\)", "'(\\w+)'"))
			.isEqualTo(SessionStore.SHARED_KINDS);
	}

	private static Set<String> names(String resource, String list, String name) throws IOException {
		try (InputStream stream = SessionStore.class.getResourceAsStream(resource)) {
			String text = new String(Objects.requireNonNull(stream).readAllBytes(), StandardCharsets.UTF_8);
			return Pattern.compile(list)
				.matcher(text)
				.results()
				.flatMap((found) -> Pattern.compile(name).matcher(found.group(1)).results())
				.map((found) -> found.group(1))
				.collect(Collectors.toSet());
		}
	}

}
