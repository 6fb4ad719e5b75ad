package io.sessionkit.autoconfigure.access;

import io.sessionkit.access.CallerResolver;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.OwnerSource;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.internal.AtStart;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;

/**
 * Checks that no property or bean of the access is without effect, and checks the beans
 * that {@link AccessGuard} does not see: those of a parent, objects that were registered
 * as beans, and beans that another post processor needs.
 */
final class AccessCheck extends AtStart {

	private final SessionAccess access;

	private final ConfigurableBeanFactory beans;

	private final SessionKitProperties properties;

	private final ObjectProvider<PrincipalOwner> owners;

	private final ObjectProvider<CallerResolver> callers;

	AccessCheck(SessionAccess access, ConfigurableBeanFactory beans, SessionKitProperties properties,
			ObjectProvider<PrincipalOwner> owners, ObjectProvider<CallerResolver> callers) {
		this.access = access;
		this.beans = beans;
		this.properties = properties;
		this.owners = owners;
		this.callers = callers;
	}

	@Override
	protected void run() {
		checkOwner();
		checkCallers();
		checkAnyOwner();
		checkPrincipalOwner();
		if (!this.access.isUnlimited()) {
			BeanFactory next = this.beans;
			while (next instanceof ConfigurableBeanFactory factory) {
				check(factory);
				next = factory.getParentBeanFactory();
			}
		}
	}

	private void checkOwner() {
		if (this.properties.owner() == OwnerSource.PRINCIPAL && this.access.isUnlimited()) {
			throw ConfigurationRefusedException.of(SessionKitProperties.OWNER, "principal",
					"The SessionAccess bean lets everybody reach all sessions. Build it with SessionAccess.of(..),"
							+ " remove it, or write none.");
		}
	}

	/** An access that is built with another resolver may ask the bean in that. */
	private void checkCallers() {
		if (this.access.isUnlimited() && !areUsersAsked() && this.callers.stream().findAny().isPresent()) {
			throw new ConfigurationRefusedException(
					"The CallerResolver bean is never asked: the SessionAccess bean lets everybody reach all sessions.",
					"Build the SessionAccess bean with SessionAccess.of(..), or leave one of the two out. If the"
							+ " CallerResolver is meant for something else, define it with @Bean(defaultCandidate = false).");
		}
	}

	/** Returns whether sessions belong to the users of Spring Security here. */
	private boolean areUsersAsked() {
		return this.beans.containsBean(SessionAccessConfiguration.PRINCIPAL_CALLER);
	}

	private void checkAnyOwner() {
		String authority = this.properties.anyOwnerAuthority();
		if (!areUsersAsked() && !authority.equals(SessionKitProperties.DEFAULT_ANY_OWNER_AUTHORITY)) {
			throw ConfigurationRefusedException.of(SessionKitProperties.ANY_OWNER_AUTHORITY, authority,
					"Only users of Spring Security are asked for it, and sessions do not belong to them here. Set '"
							+ SessionKitProperties.OWNER
							+ "' to principal, or leave it out: a CallerResolver bean says itself who reaches all owners"
							+ " (Caller.of(name, authorities, anyOwner)). If the bean only names the owners of users of"
							+ " Spring Security, make it a PrincipalOwner, to which the authority is applied.");
		}
	}

	private void checkPrincipalOwner() {
		if (!areUsersAsked() && this.owners.getIfAvailable() != null) {
			throw new ConfigurationRefusedException(
					"The PrincipalOwner bean is never asked: sessions do not belong to the users of Spring Security here.",
					"Set '" + SessionKitProperties.OWNER + "' to principal, or leave the bean out. A CallerResolver or"
							+ " SessionAccess bean, which comes before it, names the owners itself.");
		}
	}

	private static void check(ConfigurableBeanFactory beans) {
		for (String name : beans.getSingletonNames()) {
			Object bean = beans.getSingleton(name);
			if (bean != null && AccessGuard.isOpen(bean)) {
				throw AccessGuard.refusal(name, bean);
			}
		}
	}

}
