package io.sessionkit.hook;

import java.util.Objects;

import io.sessionkit.SessionKey;

/**
 * Describes the texts that {@link SessionHook#beforeSummary} checks. A test of a hook
 * makes one by {@link #of}, since more components may be added.
 *
 * @param key the session
 * @param kind what the messages are
 */
public record SummaryContext(SessionKey key, Kind kind) {

	public SummaryContext {
		Objects.requireNonNull(key, "key must not be null");
		Objects.requireNonNull(kind, "kind must not be null");
	}

	/**
	 * What a hook may be asked about. More kinds may be added.
	 */
	public enum Kind {

		/** The summary before, which the summarizer reads, as the text of one reply. */
		SUMMARY_SO_FAR,

		/** The messages since then, which the summarizer reads. */
		MESSAGES,

		/** The summary that the summarizer has written, as the text of one reply. */
		SUMMARY,

		/** The first question with text, and its answer, which a title is made of. */
		TITLED_TURN,

		/** The title that a model has made, as the text of one reply. */
		TITLE

	}

	/**
	 * Creates a context.
	 * @param key the session
	 * @param kind what the messages are
	 * @return the context
	 */
	public static SummaryContext of(SessionKey key, Kind kind) {
		return new SummaryContext(key, kind);
	}

}
