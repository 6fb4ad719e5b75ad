package io.sessionkit.conversation;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.store.Page;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreLayer;

/**
 * Finds the child sessions of a session by their ids, which begin with that of their
 * parent.
 */
record Children(SessionKey parent, SessionStore store) {

	private static final int PAGE = 200;

	/** Each page begins with so many sessions of the one before it. */
	private static final int OVERLAP = 50;

	private static final int TRIES = 5;

	List<Session> find() {
		// the list may move on while it is read, and back for each session that goes
		Map<SessionKey, Session> children = new LinkedHashMap<>();
		Page page = Page.first(PAGE);
		for (List<Session> read = read(page); !read.isEmpty(); read = read(page)) {
			read.stream()
				.filter((session) -> isChild(session.key()))
				.forEach((child) -> children.put(child.key(), child));
			page = new Page(page.offset() + PAGE - OVERLAP, PAGE);
		}
		return List.copyOf(children.values());
	}

	private List<Session> read(Page page) {
		return this.store.list(this.parent.owner(), page);
	}

	private boolean isChild(SessionKey key) {
		return key.owner().equals(this.parent.owner()) && key.id().startsWith(this.parent.id() + "/");
	}

	/**
	 * Erases the children, also one that begins around this code. One that is written
	 * meanwhile is found by the next try.
	 * @throws SessionConflictException if there are children after each try
	 */
	int erase() {
		int erased = 0;
		List<Session> children = find();
		for (int i = 0; i < TRIES && !children.isEmpty(); i++) {
			children.forEach((child) -> this.store.erase(child.key()));
			erased += children.size();
			children = find();
		}
		tellTurns();
		if (!children.isEmpty()) {
			throw new SessionConflictException(
					"Session " + this.parent + " still has child sessions, after " + erased
							+ " were erased: others write them all the time. Try again when no calls work on them.",
					null);
		}
		return erased;
	}

	private void tellTurns() {
		TurnBinding.sessions()
			.stream()
			.filter((session) -> session.store() == StoreLayer.beneath(this.store) && isChild(session.key()))
			.forEach(TurnBinding::erased);
	}

}
