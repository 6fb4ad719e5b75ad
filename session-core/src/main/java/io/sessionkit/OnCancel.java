package io.sessionkit;

/**
 * The ways to treat an answer that the caller stops reading, by cancelling the stream.
 */
public enum OnCancel {

	/**
	 * The turn is CANCELLED and kept beside the history. The next turn does not see it.
	 */
	DISCARD,

	/**
	 * The text that was read so far becomes the answer, marked with
	 * {@link Turn#CUT_SHORT}, and the turn becomes history. If no text of the answer was
	 * read, if tool calls are unanswered, or if hooks would have to check the text first,
	 * it is as with {@link #DISCARD}. The price is that the model sees answers that break
	 * off, and may continue them.
	 */
	KEEP

}
