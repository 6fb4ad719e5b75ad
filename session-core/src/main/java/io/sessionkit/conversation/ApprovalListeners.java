package io.sessionkit.conversation;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import io.sessionkit.approval.ApprovalEvent;
import io.sessionkit.internal.Interrupts;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Those that are told of the calls that wait: the deliveries of notices in this process,
 * which a pause wakes, and the listeners of the application. Safe for use by many
 * threads.
 */
final class ApprovalListeners {

	private static final Log logger = LogFactory.getLog(ApprovalListeners.class);

	private final List<Consumer<? super ApprovalEvent>> listeners;

	private final List<ApprovalNotices> deliveries = new CopyOnWriteArrayList<>();

	ApprovalListeners(List<? extends Consumer<? super ApprovalEvent>> listeners) {
		this.listeners = List.copyOf(listeners);
	}

	/** Returns whether the application listens. */
	boolean hasAny() {
		return !this.listeners.isEmpty();
	}

	void register(ApprovalNotices delivery) {
		this.deliveries.add(delivery);
	}

	void remove(ApprovalNotices delivery) {
		this.deliveries.remove(delivery);
	}

	void tell(ApprovalEvent event) {
		if (event instanceof ApprovalEvent.Requested requested) {
			this.deliveries.forEach((delivery) -> delivery.requested(requested.approval()));
		}
		for (Consumer<? super ApprovalEvent> listener : this.listeners) {
			try {
				listener.accept(event);
			}
			catch (Throwable ex) {
				Interrupts.keep(ex);
				logger.warn("A listener of approvals of session " + event.approval().key() + " threw "
						+ ex.getClass().getName());
			}
		}
	}

}
