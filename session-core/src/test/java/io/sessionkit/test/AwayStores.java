package io.sessionkit.test;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.function.BooleanSupplier;

import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreUnavailableException;

/**
 * Stores whose server is away for a while.
 */
public final class AwayStores {

	private static final Set<String> LOCAL = Set.of("options", "mayRollBack");

	private AwayStores() {
	}

	/**
	 * Creates a store on another one that takes and answers nothing while that is away,
	 * but for what no server is asked.
	 */
	public static SessionStore of(SessionStore store, BooleanSupplier away) {
		return (SessionStore) Proxy.newProxyInstance(SessionStore.class.getClassLoader(),
				new Class<?>[] { SessionStore.class }, (proxy, method, arguments) -> {
					if (!LOCAL.contains(method.getName()) && away.getAsBoolean()) {
						throw new StoreUnavailableException("The store is down.", null);
					}
					try {
						return method.invoke(store, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

}
