package io.sessionkit.autoconfigure.advisor;

import java.util.Locale;

import io.sessionkit.access.CallerResolver;
import io.sessionkit.autoconfigure.ApprovalProperties;
import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.ContinuationProperties;
import io.sessionkit.autoconfigure.OwnerSource;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.TitleProperties;
import io.sessionkit.autoconfigure.TitleSource;
import io.sessionkit.autoconfigure.internal.AtStart;
import io.sessionkit.conversation.SessionTitles;
import io.sessionkit.store.SessionPurge;

import org.springframework.aot.AotDetector;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Refuses switches that differ from those with which the application was processed ahead
 * of time. They decide which beans there are, and that is fixed by then, so another value
 * must not be ignored silently.
 * <p>
 * A bean may also be missing because a library is, or because the application has one of
 * its own. So what needs a library is only refused where it is to be off and is there.
 */
final class FixedSwitches extends AtStart {

	private static final String SECURITY = "org.springframework.security.core.context.SecurityContextHolder";

	private final ListableBeanFactory beans;

	private final SessionKitProperties properties;

	FixedSwitches(ListableBeanFactory beans, SessionKitProperties properties) {
		this.beans = beans;
		this.properties = properties;
	}

	@Override
	protected void run() {
		if (AotDetector.useGeneratedArtifacts()) {
			checkSessions();
			checkApprovals(this.properties.approval());
			checkDeletionAndTitles();
			checkWhatNeedsLibraries();
		}
	}

	private void checkSessions() {
		refuseUnless(this.properties.enabled(), SessionKitProperties.ENABLED, false);
		boolean register = this.properties.autoRegister();
		refuseUnless(register == isThere("sessionKitAdvisorCustomizer"), SessionKitProperties.AUTO_REGISTER, register);
		refuseUnless(this.properties.owner() != OwnerSource.NONE || !isThere("sessionKitCallerResolver"),
				SessionKitProperties.OWNER, "none");
		refuseUnless(!isWithoutCallers(), SessionKitProperties.OWNER, "principal");
	}

	/**
	 * Returns whether everybody would reach all sessions, although the default says that
	 * they belong to the users of Spring Security.
	 */
	private boolean isWithoutCallers() {
		return this.properties.owner() == null && ClassUtils.isPresent(SECURITY, null) && !isThere(CallerResolver.class)
				&& isThere("sessionKitAccess");
	}

	private void checkApprovals(ApprovalProperties approval) {
		boolean continuations = approval.continuations().enabled();
		refuseUnless(continuations == isThere(ContinuationDelivery.class), ContinuationProperties.ENABLED,
				continuations);
		boolean notices = approval.notices().enabled();
		refuseUnless(notices == isThere(NoticeDelivery.class), SessionKitProperties.NOTICES_ENABLED, notices);
	}

	private void checkDeletionAndTitles() {
		boolean purges = this.properties.purge().enabled();
		refuseUnless(purges ? isThere(SessionPurge.class) : !isThere("sessionKitPurge"),
				SessionKitProperties.PURGE_ENABLED, purges);
		TitleSource by = this.properties.titles().by();
		refuseUnless((by != TitleSource.NONE) ? isThere(SessionTitles.class) : !isThere("sessionKitTitles"),
				TitleProperties.BY, by.name().toLowerCase(Locale.ROOT).replace('_', '-'));
	}

	private void checkWhatNeedsLibraries() {
		boolean observed = isThere("sessionKitCallObservations") || isThere("sessionKitCallMeters");
		refuseUnless(this.properties.observation().enabled() || !observed, SessionKitProperties.OBSERVATION_ENABLED,
				false);
		refuseUnless(this.properties.observation().mdc() || !isThere("sessionKitLoggedTurns"),
				SessionKitProperties.PREFIX + ".observation.mdc", false);
		refuseUnless(this.properties.problemDetails() || !isThere("sessionKitProblemAdvice"),
				SessionKitProperties.PREFIX + ".problem-details", false);
	}

	private boolean isThere(String bean) {
		return this.beans.containsBean(bean);
	}

	private boolean isThere(Class<?> type) {
		return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beans, type, true, false).length > 0;
	}

	private static void refuseUnless(boolean asProcessed, String property, Object value) {
		if (!asProcessed) {
			throw ConfigurationRefusedException.of(property, value,
					"The application was processed ahead of time with another value."
							+ " Write that, or set the property when the application is processed.");
		}
	}

}
