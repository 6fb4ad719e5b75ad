package io.sessionkit.hook;

/**
 * Listens to the events of turns and cannot change the turns. Every method does nothing
 * unless it is overridden.
 * <p>
 * An exception of a listener is caught and logged by its class name; it affects neither
 * the turn nor other listeners. Listeners are called where the events happen, in a stream
 * also on the thread of the model, so they must not block. One listener serves many turns
 * at once and must be safe for use by many threads. Where sessions belong to users, it
 * works for the owner of the session of its event.
 * <p>
 * The work of a call on a turn that is stored ends with exactly one of {@link #refused},
 * {@link #committed}, {@link #paused} and {@link #failed}. Of a turn that is not stored
 * only the listeners of its call hear, at its end {@link #refused} or {@link #failed} if
 * it has no reply. With none of them ends a call that has one and is not stored, one that
 * another turn answers, and one that ends before its turn begins.
 */
public interface SessionListener {

	/**
	 * Handles the start of a model call. Called before the model is.
	 * @param event the event, with the number of messages
	 */
	default void modelCalled(SessionEvent.ModelCalled event) {
	}

	/**
	 * Handles a complete reply with text. If a hook checks replies, this is called only
	 * after all hooks have let the turn pass and the turn is stored.
	 * @param event the event, with the text
	 */
	default void textComplete(SessionEvent.TextComplete event) {
	}

	/**
	 * Handles a tool call of a reply. Called when the reply is complete and hooks have
	 * let it pass, for all calls of the reply at once, before the first of them runs. As
	 * long as some of them wait, it is called for those that run, and for all of them
	 * when the turn continues or is cancelled.
	 * @param event the event, with the call
	 */
	default void toolCalled(SessionEvent.ToolCalled event) {
	}

	/**
	 * Handles the result of a tool call. Called when the tool loop delivers the results
	 * of a reply, which is when all of its calls are done; not called if one of them
	 * threw. Of a tool that ran while other calls of its reply waited, it is called when
	 * the tool has run, and once more when the turn continues.
	 * @param event the event, with the result
	 */
	default void toolReturned(SessionEvent.ToolReturned event) {
	}

	/**
	 * Handles a new summary, which replaces older turns in requests from now on. For a
	 * summary in the background this is called after the turn, on a separate thread. A
	 * summary that is asked for ({@code Conversation.summarize()}) is returned instead.
	 * @param event the event, with the summary
	 */
	default void summarized(SessionEvent.Summarized event) {
	}

	/**
	 * Handles a summary that was due and could not be made. Nothing has changed. The
	 * outcome of {@code Conversation.summarize()} is returned instead.
	 * @param event the event, with the reason
	 */
	default void summaryFailed(SessionEvent.SummaryFailed event) {
	}

	/**
	 * Handles the refusal of a hook. The turn is over.
	 * @param event the event, with the verdict
	 */
	default void refused(SessionEvent.Refused event) {
	}

	/**
	 * Handles a turn that has become history. In a transaction of the caller it becomes
	 * so with the commit of that, which comes later, or never.
	 * @param event the event, with the turn
	 */
	default void committed(SessionEvent.Committed event) {
	}

	/**
	 * Handles a turn that waits for an approval. Another call continues it.
	 * @param event the event, with the turn
	 */
	default void paused(SessionEvent.Paused event) {
	}

	/**
	 * Handles a turn that is over without becoming history.
	 * @param event the event, with the status and the reason
	 */
	default void failed(SessionEvent.Failed event) {
	}

}
