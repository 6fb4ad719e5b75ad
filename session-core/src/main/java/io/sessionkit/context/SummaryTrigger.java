package io.sessionkit.context;

import io.sessionkit.Session;

/**
 * Decides whether to summarize the older part of a session. A trigger is called once for
 * each turn, must not block, and must be safe for use by many threads. If it throws, the
 * exception is logged by its class name and no summary is made.
 */
@FunctionalInterface
public interface SummaryTrigger {

	/**
	 * Returns whether a summary is due.
	 * @param session the header of the session; its totals give the size of the view
	 * @return true if a summary is due
	 */
	boolean shouldCompact(Session session);

}
