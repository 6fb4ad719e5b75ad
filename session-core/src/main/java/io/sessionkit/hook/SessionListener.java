package io.sessionkit.hook;

/**
 * Hears what happens in a turn and cannot change it. Every method does nothing unless it
 * is overridden.
 * <p>
 * What a listener throws is caught and logged by its class name, and disturbs neither the
 * turn nor other listeners. It is called where things happen, in a stream on the thread
 * of the model too, and must not wait. One listener serves many turns at once and must be
 * safe for use by many threads. Each call ends with exactly one of {@link #refused},
 * {@link #committed}, {@link #paused} and {@link #failed}.
 */
public interface SessionListener {

	/**
	 * The model is about to be called.
	 * @param event how much it is sent
	 */
	default void modelCalled(SessionEvent.ModelCalled event) {
	}

	/**
	 * A reply with text is whole. Where a hook checks replies, this is heard when all of
	 * them have let the turn pass and it is stored, and never otherwise.
	 * @param event the text
	 */
	default void textComplete(SessionEvent.TextComplete event) {
	}

	/**
	 * A reply calls a tool. Heard when the reply is whole and hooks have let it pass, for
	 * all calls of the reply at once, before the first of them runs.
	 * @param event the call
	 */
	default void toolCalled(SessionEvent.ToolCalled event) {
	}

	/**
	 * The result of a tool call is known. Heard when the tool loop brings the results of
	 * a reply, which is when all of its calls are done; never if one of them threw.
	 * @param event the result
	 */
	default void toolReturned(SessionEvent.ToolReturned event) {
	}

	/**
	 * Older turns are sent as a summary from now on. In the background this is heard
	 * after the turn, on a thread of its own.
	 * @param event the summary
	 */
	default void summarized(SessionEvent.Summarized event) {
	}

	/**
	 * A summary was due and could not be made. Nothing has changed.
	 * @param event why
	 */
	default void summaryFailed(SessionEvent.SummaryFailed event) {
	}

	/**
	 * A hook refused, and the turn is over.
	 * @param event the verdict
	 */
	default void refused(SessionEvent.Refused event) {
	}

	/**
	 * The turn is history.
	 * @param event the turn
	 */
	default void committed(SessionEvent.Committed event) {
	}

	/**
	 * The turn waits for an approval; another call continues it.
	 * @param event the turn
	 */
	default void paused(SessionEvent.Paused event) {
	}

	/**
	 * The turn is over without becoming history.
	 * @param event what ended it
	 */
	default void failed(SessionEvent.Failed event) {
	}

}
