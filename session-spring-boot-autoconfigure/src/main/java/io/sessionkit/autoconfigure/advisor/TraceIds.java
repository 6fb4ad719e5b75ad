package io.sessionkit.autoconfigure.advisor;

import org.jspecify.annotations.Nullable;

/**
 * Gives the trace id of the running call, if the application uses tracing.
 */
@FunctionalInterface
interface TraceIds {

	/**
	 * Returns the id of the current trace.
	 * @return the id; null if there is no trace
	 */
	@Nullable String current();

}
