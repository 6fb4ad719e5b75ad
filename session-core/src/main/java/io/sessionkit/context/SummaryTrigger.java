package io.sessionkit.context;

import io.sessionkit.Session;

/**
 * Decides whether the older part of a thread is to be summarized. It is asked once for
 * each turn, must not wait, and must be safe for use by many threads. What it throws is
 * logged by class name and means no.
 */
@FunctionalInterface
public interface SummaryTrigger {

	/**
	 * Whether a summary is due.
	 * @param session the header: its totals say how much the view holds
	 * @return true if it is
	 */
	boolean shouldCompact(Session session);

}
