package io.sessionkit.internal.turn;

import java.util.LinkedHashMap;
import java.util.Map;

import io.sessionkit.internal.binding.TurnSession;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The child sessions that are erased when the call ends that works on a turn. If one
 * cannot be erased, it expires. Safe for use by many threads.
 */
final class TurnChildren {

	private static final Log logger = LogFactory.getLog(TurnChildren.class);

	/** The children, with what erases each of them. */
	private Map<TurnSession, Runnable> children = Map.of();

	private boolean over;

	/**
	 * Adds a child. It is erased at once if the call has ended: the call of a child may
	 * end later than the one that it was made in.
	 */
	void add(TurnSession child, Runnable erasing) {
		if (!isAdded(child, erasing)) {
			erase(child, erasing);
		}
	}

	private synchronized boolean isAdded(TurnSession child, Runnable erasing) {
		if (this.over) {
			return false;
		}
		this.children = this.children.isEmpty() ? new LinkedHashMap<>() : this.children;
		this.children.put(child, erasing);
		return true;
	}

	/** Erases the children. */
	void end() {
		ended().forEach(TurnChildren::erase);
	}

	private synchronized Map<TurnSession, Runnable> ended() {
		this.over = true;
		Map<TurnSession, Runnable> all = this.children;
		this.children = Map.of();
		return all;
	}

	private static void erase(TurnSession child, Runnable erasing) {
		try {
			erasing.run();
		}
		catch (RuntimeException ex) {
			logger.warn(
					"The child session " + child.key() + " could not be erased when its turn ended, and stays until it"
							+ " expires: " + ex.getClass().getName());
		}
	}

}
