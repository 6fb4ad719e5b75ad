package io.sessionkit.observation;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import reactor.util.context.ContextView;

/**
 * Observes one call on a session. Every method does nothing unless it is overridden. The
 * work of a stage is done once, and its outcome is that of the stage, whatever an
 * observer does; what the observer throws is logged by its class name.
 * <p>
 * Safe for use by many threads: the stages of a stream are on several. No method may
 * block. Nothing that it is given has texts of a conversation.
 */
public interface ObservedCall {

	/** Observes nothing. */
	ObservedCall NONE = new ObservedCall() {
	};

	/**
	 * Observes a stage that takes place on this thread.
	 * @param stage the stage
	 * @param work does what the stage consists of, and must be called once
	 * @param <T> the type of the result
	 * @return the result of the work
	 */
	default <T extends @Nullable Object> T observe(CallStage stage, Supplier<T> work) {
		return work.get();
	}

	/**
	 * Begins to observe a stage of a stream, for one subscriber: {@link CallStage#CALL}
	 * or {@link CallStage#ROUND}.
	 * @param stage the stage
	 * @param context the Reactor context of the subscriber
	 * @return the observer of the stage
	 */
	default ObservedStream observeStream(CallStage stage, ContextView context) {
		return ObservedStream.NONE;
	}

	/**
	 * Handles that the session was read, and that the turn begins or continues. Not
	 * called for a call whose message is queued for an open turn.
	 * @param turnId the id of the turn
	 */
	default void opened(String turnId) {
	}

	/**
	 * Handles what the call has sent of the history, once, before the end of the call.
	 * Not called for a call that has not asked the model.
	 * @param tokens the estimated tokens of the history, after the limits on turns
	 * @param trimmed whether a limit has left out some of it
	 */
	default void viewed(int tokens, boolean trimmed) {
	}

	/**
	 * Handles the end of the call. It is called once for each turn that was opened, and
	 * for a call that needs no turn of its own. A call that fails before that has no
	 * outcome.
	 * @param outcome the result
	 * @param failure the class name of the exception of a call that has failed, or "no
	 * reply"; null otherwise
	 */
	default void ended(CallOutcome outcome, @Nullable String failure) {
	}

}
