package io.sessionkit.context;

import io.sessionkit.Session;

/**
 * Decides whether to summarize the older part of a session. A trigger is called at most
 * once for each turn, on the thread of its call: after the turn is stored if summaries
 * are made in the background, and otherwise before it begins, when the session must not
 * be written. It is not called as long as the view has too few turns for a summary, or a
 * turn is open, nor for a session that has summaries switched off, so it cannot count
 * turns by its calls. {@code Conversation.summarize()} calls it before each summary that
 * it makes. It must not block, and must be safe for use by many threads. If it throws,
 * the exception is logged by its class name and no summary is made.
 */
@FunctionalInterface
public interface SummaryTrigger {

	/**
	 * Returns whether a summary is due.
	 * @param session the header of the session; its totals give the size of the view
	 * @return true if a summary is due
	 */
	boolean isDue(Session session);

}
