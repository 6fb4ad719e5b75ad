package io.sessionkit.approval;

import java.util.concurrent.atomic.AtomicBoolean;

import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.test.AwayStores;
import io.sessionkit.test.CapturedLog;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests the log about a claim of which nobody knows whether it is stored.
 */
@Isolated
class ClaimLogTests extends ApprovalFixture {

	private final AtomicBoolean away = new AtomicBoolean();

	private final SessionStore store = AwayStores.of(TestStores.MEMORY.create(), this.away::get);

	@RegisterExtension
	private final CapturedLog log = CapturedLog.of(Ledger.class);

	@Override
	protected SessionStore store() {
		return this.store;
	}

	/** Whoever decides on the uncertain call finds there that it did not run. */
	@Test
	void claimThatCannotBeLookedUpIsLoggedAndDoesNotRun() {
		this.model.calls(cancel("c1", 1));
		ask(ClientSetup.Mode.CALL, "q");
		approve(waiting());
		observed().afterPut((record) -> {
			if (record.kind().equals(Ledger.APPROVAL)) {
				this.away.set(true);
				throw new StoreUnavailableException("The answer was lost.", null);
			}
		});
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> goOn(ClientSetup.Mode.CALL))
			.withMessage("The answer was lost.");
		assertThat(this.log.events()).singleElement()
			.satisfies((event) -> assertThat(event.getFormattedMessage()).contains("the claim of tool 'cancel'",
					"will be uncertain although it did not run"));
		this.away.set(false);
		Awaitility.await()
			.untilAsserted(() -> assertThat(pending()).extracting(ToolApproval::status)
				.containsExactly(ApprovalStatus.UNCERTAIN));
		assertThat(this.runs).isEmpty();
	}

}
