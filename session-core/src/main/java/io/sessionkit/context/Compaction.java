package io.sessionkit.context;

import io.sessionkit.Checkpoint;
import org.jspecify.annotations.Nullable;

/**
 * What came of an attempt to summarize.
 *
 * @param outcome what became of it
 * @param checkpoint the newest summary that was stored; null for none
 * @param turns how many turns were taken in that no summary had covered
 * @param failure why it failed: the class name of an exception, or a few words; null if
 * it did not
 */
public record Compaction(Outcome outcome, @Nullable Checkpoint checkpoint, int turns, @Nullable String failure) {

	/**
	 * What can become of it.
	 */
	public enum Outcome {

		/** The view starts with a new summary. */
		SUMMARIZED,

		/** The triggers do not ask for one yet. */
		NOT_DUE,

		/** There is no turn but those that stay. */
		NOTHING_TO_COVER,

		/**
		 * The summarizer failed, was late, or gave nothing of use. Nothing has changed.
		 */
		FAILED,

		/**
		 * The thread was rewritten in the meantime, or somebody else summarized it. The
		 * summary was dropped.
		 */
		DROPPED

	}

	public static Compaction of(Outcome outcome) {
		return new Compaction(outcome, null, 0, null);
	}

	public static Compaction failed(String failure) {
		return new Compaction(Outcome.FAILED, null, 0, failure);
	}

}
