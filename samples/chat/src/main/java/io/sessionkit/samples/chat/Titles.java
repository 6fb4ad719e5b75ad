package io.sessionkit.samples.chat;

import java.util.Optional;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;

import org.springframework.stereotype.Component;

/**
 * The titles of threads: the one that a person has given, else the first question.
 */
@Component
final class Titles {

	static final String NONE = "New thread";

	private static final int LONGEST = 48;

	private final SessionStore store;

	private final Conversations conversations;

	Titles(SessionStore store, Conversations conversations) {
		this.store = store;
		this.conversations = conversations;
	}

	String of(SessionKey key) {
		return this.conversations.get(key).session().map(this::of).orElse(NONE);
	}

	String of(Session session) {
		if (session.title() != null) {
			return session.title();
		}
		return firstItem(session).map((item) -> item.message().getText()).map(Titles::shortened).orElse(NONE);
	}

	/**
	 * Returns the first item. If the first turn of a thread waits, the log has nothing
	 * yet.
	 */
	private Optional<SessionItem> firstItem(Session session) {
		return this.store.items(session.key(), 1)
			.stream()
			.findFirst()
			.or(() -> this.conversations.get(session.key()).items(session.openTurn()).stream().findFirst());
	}

	private static String shortened(String text) {
		String line = text.strip().replaceAll("\\s+", " ");
		int end = line.offsetByCodePoints(0, Math.min(LONGEST, line.codePointCount(0, line.length())));
		return (end < line.length()) ? line.substring(0, end).strip() + "…" : line;
	}

}
