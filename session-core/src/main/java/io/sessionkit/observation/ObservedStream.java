package io.sessionkit.observation;

import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Observes a stage of a stream for one subscriber. It sees none of the elements. Every
 * method does nothing unless it is overridden. One of {@link #completed}, {@link #failed}
 * and {@link #cancelled} is called, once, before the subscriber learns of it. No method
 * may block.
 */
public interface ObservedStream {

	/** Observes nothing. */
	ObservedStream NONE = new ObservedStream() {
	};

	/**
	 * Returns what the work of the stage finds in its Reactor context, besides what its
	 * subscriber has put there.
	 * @return the context to add
	 */
	default ContextView context() {
		return Context.empty();
	}

	/**
	 * Handles that the stage is complete.
	 */
	default void completed() {
	}

	/**
	 * Handles that the stage has failed.
	 * @param failure what the subscriber gets, or the error of the JVM that it carries;
	 * its message may quote the conversation
	 */
	default void failed(Throwable failure) {
	}

	/**
	 * Handles that the subscriber has cancelled. If it has cancelled a whole call,
	 * {@link ObservedCall#ended} is called after that.
	 */
	default void cancelled() {
	}

}
