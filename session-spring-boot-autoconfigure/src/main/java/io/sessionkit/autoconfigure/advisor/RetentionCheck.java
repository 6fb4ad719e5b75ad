package io.sessionkit.autoconfigure.advisor;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.internal.AtStart;
import io.sessionkit.internal.door.StoreGuard;
import io.sessionkit.store.SessionStore;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Refuses limits of retention with a store by which nothing is ever deleted. At start no
 * transaction is open, so a store whose commits may be rolled back now always says so.
 */
final class RetentionCheck extends AtStart {

	private final ObjectProvider<SessionStore> store;

	private final ListableBeanFactory beans;

	private final SessionKitProperties.Retention retention;

	RetentionCheck(ObjectProvider<SessionStore> store, ListableBeanFactory beans,
			SessionKitProperties.Retention retention) {
		this.store = store;
		this.beans = beans;
		this.retention = retention;
	}

	@Override
	protected void run() {
		boolean limited = this.retention.maxTurns() != null || this.retention.maxAge() != null;
		if (limited && this.beans.containsBean("sessionKitConversations")) {
			this.store.ifUnique((used) -> refuseUnlessFinal(StoreGuard.unguarded(used)));
		}
	}

	private static void refuseUnlessFinal(SessionStore used) {
		if (used.mayRollBack()) {
			throw new ConfigurationRefusedException(
					"There are limits in '" + SessionKitProperties.PREFIX + ".retention', and the store "
							+ used.getClass().getSimpleName() + " would keep all turns: by its mayRollBack()"
							+ " whatever it commits may be rolled back.",
					"Let mayRollBack() return false where a commit is final when it returns, or leave the limits"
							+ " out.");
		}
	}

}
