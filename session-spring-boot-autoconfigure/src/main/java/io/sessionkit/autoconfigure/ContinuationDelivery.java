package io.sessionkit.autoconfigure;

import io.sessionkit.advisor.TurnContinuation;
import io.sessionkit.advisor.TurnContinuations;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import org.jspecify.annotations.Nullable;

import org.springframework.context.SmartLifecycle;

/**
 * Continues turns as long as the application runs. It stops behind {@link SessionDrain},
 * which lets nothing more begin and ends what is at work.
 */
final class ContinuationDelivery implements SmartLifecycle {

	private final Conversations conversations;

	private final Approvals approvals;

	/** Supplies the calls; null if other processes continue the turns. */
	private final @Nullable TurnContinuation continuation;

	private final ContinuationProperties properties;

	private volatile @Nullable TurnContinuations running;

	private volatile boolean started;

	ContinuationDelivery(Conversations conversations, Approvals approvals, @Nullable TurnContinuation continuation,
			ContinuationProperties properties) {
		this.conversations = conversations;
		this.approvals = approvals;
		this.continuation = continuation;
		this.properties = properties;
	}

	@Override
	public void start() {
		TurnContinuation supplier = this.continuation;
		if (supplier != null) {
			this.running = TurnContinuations.start(this.conversations, this.approvals, supplier,
					this.properties.interval(), this.properties.threads());
		}
		this.started = true;
	}

	@Override
	public void stop() {
		TurnContinuations stopped = this.running;
		this.running = null;
		if (stopped != null) {
			stopped.close();
		}
		this.started = false;
	}

	@Override
	public boolean isRunning() {
		return this.started;
	}

	@Override
	public int getPhase() {
		return SessionDrain.PHASE - 1;
	}

}
