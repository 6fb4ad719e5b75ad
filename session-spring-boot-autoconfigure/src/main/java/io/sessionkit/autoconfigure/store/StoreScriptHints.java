package io.sessionkit.autoconfigure.store;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Registers the scripts of the stores for native images: those of SQL and those that
 * Redis runs.
 */
final class StoreScriptHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources()
			.registerPattern("io/sessionkit/store/jdbc/*.sql")
			.registerPattern("io/sessionkit/store/redis/*.lua");
	}

}
