package io.sessionkit.autoconfigure.observation;

import io.sessionkit.autoconfigure.internal.AtStart;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.internal.door.ApprovalChecks;
import io.sessionkit.internal.door.InnerParts;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * Warns of approvals of the application whose calls the meters do not count: an alert on
 * calls that nobody decides would stay silent.
 */
final class UncountedApprovals extends AtStart {

	private static final Log logger = LogFactory.getLog(UncountedApprovals.class);

	/** The approvals of the auto-configuration, which publish their events. */
	private static final String OURS = "sessionKitApprovals";

	private final ListableBeanFactory beans;

	UncountedApprovals(ListableBeanFactory beans) {
		this.beans = beans;
	}

	@Override
	protected void run() {
		for (String name : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beans, Approvals.class, true,
				false)) {
			if (!name.equals(OURS) && !hasListeners(this.beans.getBean(name, Approvals.class))) {
				logger.warn("The Approvals bean '" + name + "' has no listeners, so sessionkit.approvals.requested,"
						+ " decided, expired and executed do not count its calls, and nothing publishes their events. Build"
						+ " it with Approvals.builder(..).listeners(List.of(events::publishEvent)), where events is the"
						+ " ApplicationEventPublisher.");
			}
		}
	}

	private static boolean hasListeners(Approvals approvals) {
		return InnerParts.find(approvals, ApprovalChecks.class).filter(ApprovalChecks::hasListeners).isPresent();
	}

}
