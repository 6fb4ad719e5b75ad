package io.sessionkit.store;

import java.util.List;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import org.jspecify.annotations.Nullable;

/**
 * A session as it was opened: the header and the requested part of the view, both as of
 * one moment.
 *
 * @param session the header
 * @param summary the summary that the view starts with; null if there is none
 * @param items whole turns of the active branch after the summary, oldest first
 */
public record SessionView(Session session, @Nullable SessionRecord summary, List<SessionItem> items) {

	public SessionView {
		items = List.copyOf(items);
	}

}
