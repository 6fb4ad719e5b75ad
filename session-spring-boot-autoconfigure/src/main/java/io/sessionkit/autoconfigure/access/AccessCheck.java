package io.sessionkit.autoconfigure.access;

import io.sessionkit.access.SessionAccess;
import io.sessionkit.autoconfigure.check.AtStart;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;

/**
 * Checks the beans that {@link AccessGuard} does not see: those of a parent, objects that
 * were registered as beans, and beans that another post processor needs.
 */
final class AccessCheck extends AtStart {

	private final SessionAccess access;

	private final ConfigurableBeanFactory beans;

	AccessCheck(SessionAccess access, ConfigurableBeanFactory beans) {
		this.access = access;
		this.beans = beans;
	}

	@Override
	protected void run() {
		if (!this.access.isUnlimited()) {
			BeanFactory next = this.beans;
			while (next instanceof ConfigurableBeanFactory factory) {
				check(factory);
				next = factory.getParentBeanFactory();
			}
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
