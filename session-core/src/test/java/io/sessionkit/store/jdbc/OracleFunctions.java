package io.sessionkit.store.jdbc;

import org.jspecify.annotations.Nullable;

/**
 * A function of Oracle that H2 does not have in its Oracle mode.
 */
public final class OracleFunctions {

	private OracleFunctions() {
	}

	/** A text of any length. */
	public static @Nullable String clob(@Nullable String text) {
		return text;
	}

}
