package io.sessionkit.autoconfigure.tool;

import java.util.List;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.check.AtStart;
import io.sessionkit.conversation.Approvals;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * Refuses properties of approvals beside an {@link Approvals} bean of the application,
 * which does not have them: a tool that is named there would run unasked.
 */
final class ApprovalsCheck extends AtStart {

	private static final String OURS = "sessionKitApprovals";

	private final ListableBeanFactory beans;

	private final SessionKitProperties properties;

	ApprovalsCheck(ListableBeanFactory beans, SessionKitProperties properties) {
		this.beans = beans;
		this.properties = properties;
	}

	@Override
	protected void run() {
		List<String> written = this.properties.approval().written();
		String[] approvals = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beans, Approvals.class, true,
				false);
		if (!written.isEmpty() && approvals.length > 0 && !this.beans.containsBean(OURS)) {
			throw new ConfigurationRefusedException(
					"What '" + String.join("', '", written) + "' says is not applied to the Approvals bean '"
							+ approvals[0] + "', which the application builds itself.",
					"Say it where that bean is built, with the methods of Approvals.builder(..), and leave the"
							+ " properties out. Or leave the bean out.");
		}
	}

}
