package io.sessionkit.internal.turn;

import java.util.LinkedHashSet;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.store.SessionStore;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The child sessions that are erased when the call ends that works on a turn. If one
 * cannot be erased, it expires. Safe for use by many threads.
 */
final class TurnChildren {

	private static final Log logger = LogFactory.getLog(TurnChildren.class);

	private final SessionStore store;

	private Set<SessionKey> children = Set.of();

	private boolean over;

	TurnChildren(SessionStore store) {
		this.store = store;
	}

	/**
	 * Adds a child. It is erased at once if the call has ended: the call of a child may
	 * end later than the one that it was made in.
	 */
	void add(SessionKey child) {
		if (!isAdded(child)) {
			erase(child);
		}
	}

	private synchronized boolean isAdded(SessionKey child) {
		if (this.over) {
			return false;
		}
		this.children = this.children.isEmpty() ? new LinkedHashSet<>() : this.children;
		this.children.add(child);
		return true;
	}

	/** Erases the children. */
	void end() {
		for (SessionKey child : ended()) {
			erase(child);
		}
	}

	private synchronized Set<SessionKey> ended() {
		this.over = true;
		Set<SessionKey> all = this.children;
		this.children = Set.of();
		return all;
	}

	private void erase(SessionKey child) {
		try {
			this.store.erase(child);
		}
		catch (RuntimeException ex) {
			logger.warn("The child session " + child + " could not be erased when its turn ended, and stays until it"
					+ " expires: " + ex.getClass().getName());
		}
	}

}
