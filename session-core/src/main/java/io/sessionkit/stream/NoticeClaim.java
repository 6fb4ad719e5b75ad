package io.sessionkit.stream;

import java.time.Duration;

import io.sessionkit.internal.OneAfterAnother;
import io.sessionkit.internal.Renewals;
import io.sessionkit.internal.ledger.Continuations.Task;
import io.sessionkit.internal.ledger.Delivery;
import org.jspecify.annotations.Nullable;

/**
 * A notice that stays claimed as long as the call works that it is for, however long that
 * takes. It is no longer claimed if it was written anew in the meantime, since a decision
 * or a pause that can expire has come: then somebody has to look at the turn again. Safe
 * for use by many threads.
 */
final class NoticeClaim implements AutoCloseable {

	private final Delivery<Task> delivery;

	private final Renewals.Renewal renewal;

	private final OneAfterAnother order;

	/** Written by renewals alone. */
	private volatile Task task;

	private volatile boolean over;

	/**
	 * Begins to renew a claim.
	 * @param claimed the notice as it was claimed
	 */
	NoticeClaim(Delivery<Task> delivery, Task claimed, Renewals renewals) {
		Duration lease = delivery.lease();
		this.delivery = delivery;
		this.task = claimed;
		this.order = new OneAfterAnother(lease);
		this.renewal = renewals.start(lease,
				() -> "The notice of turn " + claimed.turnId() + " of session " + claimed.key(), this::renew);
	}

	private void renew() {
		this.order.run(() -> {
			@Nullable Task renewed = this.over ? null : this.delivery.renew(this.task);
			if (renewed != null) {
				this.task = renewed;
			}
			else {
				close();
			}
		});
	}

	/**
	 * Returns the notice as this claim has left it. Of a renewal that hangs nobody knows
	 * whether it is stored, and it is not waited for: if it is, the notice stays until
	 * somebody looks at it again.
	 */
	Task task() {
		return this.order.call(() -> this.task);
	}

	@Override
	public void close() {
		this.over = true;
		this.renewal.cancel();
	}

}
