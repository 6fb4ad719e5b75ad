package io.sessionkit.conversation;

import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.Names;
import io.sessionkit.store.HeaderChange;

/**
 * The rules for titles and tags, which every call and every list reads. They hold for
 * what is set anew: a fork copies what is stored as it is.
 */
final class HeaderTexts {

	private static final int MAX_TITLE = 1_000;

	private static final int MAX_TAG = SessionKey.MAX_LENGTH;

	private static final int MAX_TAGS = 100;

	private HeaderTexts() {
	}

	/**
	 * Checks the title and the tags of a change.
	 * @throws IllegalArgumentException if one breaks a rule; its message does not have
	 * the text
	 */
	static void check(SessionKey key, HeaderChange header) {
		if (header.title() != null) {
			check(header.title(), "The title of session " + key, MAX_TITLE);
		}
		if (header.tags() != null) {
			check(key, header.tags());
		}
	}

	private static void check(SessionKey key, Set<String> tags) {
		if (tags.size() > MAX_TAGS) {
			throw new IllegalArgumentException(
					"Session " + key + " may have at most " + MAX_TAGS + " tags; these are " + tags.size() + ".");
		}
		tags.forEach((tag) -> check(tag, "A tag of session " + key, MAX_TAG));
	}

	private static void check(String text, String what, int most) {
		if (text.length() > most) {
			throw new IllegalArgumentException(
					what + " may have at most " + most + " characters; this one has " + text.length() + ".");
		}
		String flaw = Names.flaw(text);
		if (flaw != null) {
			throw new IllegalArgumentException(what + " " + flaw + ".");
		}
	}

}
