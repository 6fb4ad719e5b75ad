package io.sessionkit.autoconfigure;

import org.jspecify.annotations.Nullable;

/**
 * Gives the trace of the running call, where the application traces.
 */
@FunctionalInterface
interface TraceIds {

	/**
	 * The trace now.
	 * @return its id; null for none
	 */
	@Nullable String current();

}
