package io.sessionkit.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Registers the scripts of the stores for native images: the schema scripts and the
 * scripts that Redis runs.
 */
final class StoreScriptHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources()
			.registerPattern("io/sessionkit/store/jdbc/schema-*.sql")
			.registerPattern("io/sessionkit/store/redis/*.lua");
	}

}
