package io.sessionkit.faults;

import java.time.Duration;
import java.util.List;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.store.SessionStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Brings to an end what waits, and proves that each call ran as was decided, once.
 */
final class GateAudit implements AutoCloseable {

	private static final int MOST_CALLS = 20;

	private final SessionStore store;

	private final Book book;

	private final App app;

	GateAudit(SessionStore store, Book book) {
		this.store = store;
		this.book = book;
		this.app = new App(store, book);
	}

	void audit(SessionKey key) {
		for (int calls = 0; isOpen(key); calls++) {
			assertThat(calls).as("calls to end the turn that waits in %s", key).isLessThan(MOST_CALLS);
			this.app.approvals().pending(key).forEach(this::decide);
			try {
				this.app.call(key, null, false);
			}
			catch (TurnInProgressException ex) {
				await().atMost(Duration.ofSeconds(30))
					.until(() -> this.store.records(key, TurnRecords.LEASE).isEmpty());
			}
		}
		assertRanAsDecided(this.app.approvals().ledger(key));
	}

	private boolean isOpen(SessionKey key) {
		return this.store.find(key).map(Session::openTurn).filter((turn) -> turn != 0).isPresent();
	}

	/**
	 * Nothing runs any more, so that a call without an effect can be run again.
	 */
	private void decide(ToolApproval call) {
		if (call.status() != ApprovalStatus.UNCERTAIN) {
			this.app.approvals().approve(call, "auditor");
		}
		else if (this.book.effects.contains(call.id())) {
			this.book.answered.add(call.id());
			this.app.approvals().decide(call, Decision.answer("auditor", "it ran"));
		}
		else {
			this.app.approvals().decide(call, Decision.retry("auditor"));
		}
	}

	private void assertRanAsDecided(List<ToolApproval> ledger) {
		assertThat(this.book.effects).as("calls that ran, each once").doesNotHaveDuplicates();
		assertThat(ledger).extracting(ToolApproval::id).doesNotHaveDuplicates();
		for (ToolApproval call : ledger) {
			String what = call.id() + ", " + call.status();
			assertThat(call.status()).as(what).isIn(ApprovalStatus.DONE, ApprovalStatus.REJECTED);
			boolean ran = this.book.effects.contains(call.id());
			if (this.book.rejected.contains(call.id())) {
				assertThat(call.status()).as(what).isEqualTo(ApprovalStatus.REJECTED);
			}
			if (!this.book.answered.contains(call.id())) {
				assertThat(ran).as("%s has run", what).isEqualTo(call.status() == ApprovalStatus.DONE);
			}
		}
	}

	@Override
	public void close() {
		this.app.close();
	}

}
