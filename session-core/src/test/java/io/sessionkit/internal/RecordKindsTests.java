package io.sessionkit.internal;

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

}
