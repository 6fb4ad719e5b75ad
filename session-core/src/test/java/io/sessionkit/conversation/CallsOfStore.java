package io.sessionkit.conversation;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Set;

import io.sessionkit.store.SessionStore;

/**
 * Lets something happen before the calls of a store.
 */
final class CallsOfStore {

	private CallsOfStore() {
	}

	static SessionStore before(SessionStore store, Runnable first) {
		return (SessionStore) Proxy.newProxyInstance(SessionStore.class.getClassLoader(),
				new Class<?>[] { SessionStore.class }, (proxy, method, args) -> {
					if (!Set.of("options", "mayRollBack", "checkWritable", "whenRolledBack")
						.contains(method.getName())) {
						first.run();
					}
					try {
						return method.invoke(store, args);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

}
