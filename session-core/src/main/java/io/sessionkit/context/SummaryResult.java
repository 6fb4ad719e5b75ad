package io.sessionkit.context;

import io.sessionkit.Summary;
import org.jspecify.annotations.Nullable;

/**
 * The result of an attempt to summarize.
 *
 * @param status the status of the attempt
 * @param summary the newest summary that was stored; null if there is none
 * @param turns the number of turns in the summary that no earlier summary had covered
 * @param failure the reason of a failure: the class name of an exception, or a few words;
 * null if the attempt did not fail
 */
public record SummaryResult(Status status, @Nullable Summary summary, int turns, @Nullable String failure) {

	/**
	 * The possible outcomes of an attempt to summarize.
	 */
	public enum Status {

		/** The view starts with a new summary. */
		SUMMARIZED,

		/**
		 * No trigger has made a summary due yet, or the session is in its backoff time.
		 */
		NOT_DUE,

		/** There is no turn except those that stay, or a turn is open. */
		NOTHING_TO_COVER,

		/**
		 * The summarizer failed, was late, or returned nothing usable, or the store was
		 * not available. Nothing has changed, except for summaries that were stored
		 * before, of which this has the newest one:
		 * {@link io.sessionkit.conversation.Conversation#summarize(boolean)} makes
		 * several if it has to. If the failure is a
		 * {@link io.sessionkit.store.StoreUnavailableException}, a summary that is not in
		 * here may be stored all the same.
		 */
		FAILED,

		/**
		 * The session was rewritten in the meantime, or another process or thread
		 * summarized it. The summary was dropped; those that were stored before, as with
		 * {@link #FAILED}, stay.
		 */
		DROPPED

	}

}
