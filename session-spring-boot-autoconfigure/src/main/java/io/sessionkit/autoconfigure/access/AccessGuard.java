package io.sessionkit.autoconfigure.access;

import io.sessionkit.access.SessionAccess;
import io.sessionkit.access.SessionDoor;
import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.store.SessionStore;

import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Puts the check around the stores that applications inject, whoever defines them, and
 * refuses other beans that reach the sessions of everybody where sessions belong to
 * callers. Each bean is checked when it is created, so none has to be created for that.
 */
final class AccessGuard implements BeanPostProcessor {

	private final ObjectProvider<SessionAccess> access;

	AccessGuard(ObjectProvider<SessionAccess> access) {
		this.access = access;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String name) {
		if (bean instanceof SessionStore store) {
			// of a scoped bean the proxy is guarded, which is what gets injected
			return ScopedProxyUtils.isScopedTarget(name) ? bean : this.access.getObject().guard(store);
		}
		if (isOpen(bean) && !this.access.getObject().isUnlimited()) {
			throw refusal(name, bean);
		}
		return bean;
	}

	/**
	 * Returns whether everybody reaches all sessions through a bean. A mock, which stands
	 * in its place in a test, leads to none and has no check.
	 */
	static boolean isOpen(Object bean) {
		if (bean instanceof SessionStore store) {
			return isReal(store) && SessionAccess.around(store).isUnlimited();
		}
		SessionAccess access = (bean instanceof SessionDoor door) ? door.access() : null;
		return access != null && access.isUnlimited();
	}

	/** A store of a test, such as a mock, may have no options. */
	private static boolean isReal(SessionStore store) {
		return store.options() != null;
	}

	static ConfigurationRefusedException refusal(String name, Object bean) {
		String action = (bean instanceof SessionStore)
				? "The check could not be put around it: let no post processor depend on it, and define it as a bean"
						+ " of this context"
				: "Build it, or the Conversations bean that it is built on, on the SessionStore bean, or with"
						+ " .access(sessionAccess)";
		return new ConfigurationRefusedException(
				"The bean '" + name + "' (" + bean.getClass().getSimpleName()
						+ ") reaches the sessions of everybody, and sessions belong to their callers.",
				action + ", or set '" + SessionKitProperties.OWNER + "' to none.");
	}

}
