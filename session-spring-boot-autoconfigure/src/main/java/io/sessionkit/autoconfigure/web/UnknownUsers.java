package io.sessionkit.autoconfigure.web;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.sessionkit.SessionException;
import io.sessionkit.access.CallerRefusedException;
import io.sessionkit.access.CallerRequiredException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Logs that a user who is signed in is no caller. The client learns nothing by which it
 * could help itself, and only the application can. Each cause is logged once: any client
 * may repeat its request. Safe for use by many threads.
 */
final class UnknownUsers {

	private static final Log logger = LogFactory.getLog(UnknownUsers.class);

	private final Set<Class<?>> told = ConcurrentHashMap.newKeySet();

	/**
	 * Looks at the exception that a request has ended with.
	 * @param signedIn whether the request has a user
	 */
	void endedWith(SessionException ex, boolean signedIn) {
		if (ex instanceof CallerRefusedException) {
			tell(ex, "");
		}
		else if (ex instanceof CallerRequiredException && signedIn) {
			tell(ex, "Its user is signed in, and SessionKit knows no caller: the security context was lost on the way"
					+ " to the thread that needs it, or a CallerResolver bean does not find it. ");
		}
	}

	private void tell(SessionException ex, String cause) {
		if (this.told.add(ex.getClass())) {
			logger.warn("A request has ended with " + SessionProblem.of(ex).status() + ". " + cause + ex.getMessage()
					+ " This is logged once.");
		}
	}

}
