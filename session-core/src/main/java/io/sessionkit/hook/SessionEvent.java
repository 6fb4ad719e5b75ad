package io.sessionkit.hook;

import io.sessionkit.SessionKey;
import io.sessionkit.Summary;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;

/**
 * An event of a turn, as passed to a {@link SessionListener}. Immutable.
 */
public sealed interface SessionEvent {

	/**
	 * Returns the session in which the event happened.
	 * @return the key of the session
	 */
	SessionKey key();

	/**
	 * Returns the turn in which the event happened.
	 * @return the id of the turn
	 */
	String turnId();

	/**
	 * An event that is published before the model is called.
	 *
	 * @param key the session
	 * @param turnId the turn
	 * @param messages the number of messages that are sent, including system text
	 */
	record ModelCalled(SessionKey key, String turnId, int messages) implements SessionEvent {
	}

	/**
	 * An event that is published when a reply with text is complete.
	 *
	 * @param key the session
	 * @param turnId the turn
	 * @param text the text of the reply
	 */
	record TextComplete(SessionKey key, String turnId, String text) implements SessionEvent {
	}

	/**
	 * An event that is published when a reply calls a tool.
	 *
	 * @param key the session
	 * @param turnId the turn
	 * @param call the call
	 */
	record ToolCalled(SessionKey key, String turnId, ToolCall call) implements SessionEvent {
	}

	/**
	 * An event that is published when the result of a tool call is known.
	 *
	 * @param key the session
	 * @param turnId the turn
	 * @param response the result
	 */
	record ToolReturned(SessionKey key, String turnId, ToolResponse response) implements SessionEvent {
	}

	/**
	 * An event that is published when a summary has replaced older turns in requests.
	 *
	 * @param key the session
	 * @param turnId the turn before or after which the summary was made
	 * @param summary the summary
	 * @param turns the number of turns in the summary that no earlier summary had covered
	 */
	record Summarized(SessionKey key, String turnId, Summary summary, int turns) implements SessionEvent {
	}

	/**
	 * An event that is published when a summary was due and could not be made. Nothing
	 * has changed, and no summary of the session is attempted for a while.
	 *
	 * @param key the session
	 * @param turnId the turn before or after which the summary was attempted
	 * @param failure the class name of an exception, or a few words; never text of the
	 * conversation
	 */
	record SummaryFailed(SessionKey key, String turnId, String failure) implements SessionEvent {
	}

	/**
	 * An event that is published when a hook has refused and the turn is over.
	 *
	 * @param key the session
	 * @param turnId the turn
	 * @param verdict the hook that refused, the point at which it did so, and its reason
	 */
	record Refused(SessionKey key, String turnId, Verdict verdict) implements SessionEvent {
	}

	/**
	 * An event that is published when the turn has become history, in a transaction of
	 * the caller before the commit of that.
	 *
	 * @param key the session
	 * @param turnId the turn
	 * @param turn the turn as it was stored
	 */
	record Committed(SessionKey key, String turnId, Turn turn) implements SessionEvent {
	}

	/**
	 * An event that is published when the turn waits for an approval. Another call
	 * continues it.
	 *
	 * @param key the session
	 * @param turnId the turn
	 * @param turn the turn as it was stored
	 */
	record Paused(SessionKey key, String turnId, Turn turn) implements SessionEvent {
	}

	/**
	 * An event that is published when the call is over and its turn has not become
	 * history.
	 *
	 * @param key the session
	 * @param turnId the turn
	 * @param kept whether the turn is kept
	 * @param status how it is kept: FAILED or CANCELLED; AWAITING_APPROVAL or INCOMPLETE
	 * if it stays open, so that a call without a message continues it; any other if the
	 * call has lost the turn to another one, which has ended it. Null unless {@code kept}
	 * is {@link Kept#TURN}
	 * @param failure the class name of the exception, or {@link Turn#NO_REPLY}; null if
	 * it was cancelled
	 */
	record Failed(SessionKey key, String turnId, Kept kept, @Nullable TurnStatus status,
			@Nullable String failure) implements SessionEvent {
	}

	/**
	 * Says what the store has of a turn whose call has failed.
	 */
	enum Kept {

		/** The turn, in whatever status. */
		TURN,

		/** Nothing: the message can be sent again. */
		NOTHING,

		/**
		 * The store has not said what became of the turn: read the session before you
		 * send the message again.
		 */
		UNKNOWN

	}

}
