package io.sessionkit.access;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;

import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreLayerContract;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The store that callers reach is a layer that passes on every method.
 */
class GuardedStoreTests extends StoreLayerContract {

	/** One that it inherited would reach the sessions of everybody. */
	@Test
	void everyMethodOfAStoreHasItsOwnCheck() {
		assertThat(Stream.of(SessionStore.class.getMethods())
			.filter((method) -> !Modifier.isStatic(method.getModifiers()))
			.filter((method) -> !isDeclared(method))
			.map(Method::toString)).as("methods that the guard inherits").isEmpty();
	}

	private static boolean isDeclared(Method method) {
		return Stream.of(GuardedStore.class.getDeclaredMethods())
			.anyMatch((own) -> own.getName().equals(method.getName())
					&& Arrays.equals(own.getParameterTypes(), method.getParameterTypes()));
	}

	@Override
	protected SessionStore layer(SessionStore store) {
		return SessionAccess.of(() -> Optional.of(Caller.server())).guard(store);
	}

}
