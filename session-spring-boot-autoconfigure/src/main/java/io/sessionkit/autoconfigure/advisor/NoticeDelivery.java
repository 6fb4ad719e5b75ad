package io.sessionkit.autoconfigure.advisor;

import java.time.Duration;

import io.sessionkit.conversation.ApprovalNotices;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.internal.door.ApprovalChecks;
import io.sessionkit.internal.door.InnerParts;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;

/**
 * Publishes notices as long as the application runs. It starts when all listeners are
 * there: a notice that nobody has heard would be removed.
 */
final class NoticeDelivery implements SmartLifecycle {

	private static final Log logger = LogFactory.getLog(NoticeDelivery.class);

	private final Approvals approvals;

	private final ApplicationEventPublisher events;

	private final Duration interval;

	private volatile @Nullable ApprovalNotices running;

	NoticeDelivery(Approvals approvals, ApplicationEventPublisher events, Duration interval) {
		this.approvals = approvals;
		this.events = events;
		this.interval = interval;
	}

	@Override
	public void start() {
		if (isMock(this.approvals)) {
			logger.info("The Approvals have no parts, as a mock has none, so no notices are delivered.");
			return;
		}
		this.running = ApprovalNotices.builder(this.approvals, this.events::publishEvent)
			.interval(this.interval)
			.start();
	}

	/** A mock, instead of the bean in a test, has nothing to deliver. */
	static boolean isMock(Approvals approvals) {
		return InnerParts.find(approvals, ApprovalChecks.class).isEmpty();
	}

	@Override
	public void stop() {
		ApprovalNotices stopped = this.running;
		this.running = null;
		if (stopped != null) {
			stopped.close();
		}
	}

	@Override
	public boolean isRunning() {
		return this.running != null;
	}

}
