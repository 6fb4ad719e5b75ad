package io.sessionkit.autoconfigure.advisor;

import io.sessionkit.autoconfigure.ContinuationProperties;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.stream.TurnContinuation;
import io.sessionkit.stream.TurnContinuations;
import io.sessionkit.stream.TurnStreams;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;

/**
 * Continues turns as long as the application runs. It stops behind {@link SessionDrain},
 * which lets nothing more begin and ends what is at work.
 */
final class ContinuationDelivery implements SmartLifecycle {

	private static final Log logger = LogFactory.getLog(ContinuationDelivery.class);

	private final Conversations conversations;

	private final Approvals approvals;

	/** Supplies the calls; null if other processes continue the turns. */
	private final @Nullable TurnContinuation continuation;

	private final ObjectProvider<TurnStreams> streams;

	private final ContinuationProperties properties;

	private volatile @Nullable TurnContinuations running;

	private volatile boolean started;

	ContinuationDelivery(Conversations conversations, Approvals approvals, @Nullable TurnContinuation continuation,
			ObjectProvider<TurnStreams> streams, ContinuationProperties properties) {
		this.conversations = conversations;
		this.approvals = approvals;
		this.continuation = continuation;
		this.streams = streams;
		this.properties = properties;
	}

	@Override
	public void start() {
		TurnContinuation supplier = this.continuation;
		if (NoticeDelivery.isMock(this.approvals)) {
			logger.info("The Approvals have no parts, as a mock has none, so no turns are continued.");
		}
		else if (supplier != null) {
			TurnContinuations.Builder builder = TurnContinuations.builder(this.conversations, this.approvals, supplier)
				.interval(this.properties.interval())
				.threads(this.properties.threads());
			this.streams.ifUnique(builder::streams);
			this.running = builder.start();
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
