package io.sessionkit.conversation;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.hook.TurnBinding;
import io.sessionkit.store.Page;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreLayer;

/**
 * Finds the child sessions of a session by their ids, which begin with that of their
 * parent.
 */
record Children(SessionKey parent, SessionStore store) {

	private static final int PAGE = 200;

	private static final int TRIES = 5;

	List<Session> find() {
		// the list may move on while it is read
		Map<SessionKey, Session> children = new LinkedHashMap<>();
		Page page = Page.first(PAGE);
		for (List<Session> read = read(page); !read.isEmpty(); read = read(page)) {
			read.stream()
				.filter((session) -> isChild(session.key()))
				.forEach((child) -> children.put(child.key(), child));
			page = page.next();
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
	 */
	int erase() {
		int erased = 0;
		for (int i = 0; i < TRIES; i++) {
			List<Session> children = find();
			if (children.isEmpty()) {
				break;
			}
			children.forEach((child) -> this.store.erase(child.key()));
			erased += children.size();
		}
		TurnBinding.sessions()
			.stream()
			.filter((session) -> session.store() == StoreLayer.beneath(this.store) && isChild(session.key()))
			.forEach(TurnBinding::erased);
		return erased;
	}

}
