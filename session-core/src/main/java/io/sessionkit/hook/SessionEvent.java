package io.sessionkit.hook;

import io.sessionkit.Checkpoint;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;

/**
 * What a {@link SessionListener} hears. Nothing in it can be changed.
 */
public sealed interface SessionEvent {

	/**
	 * Where it happened.
	 * @return the key of the session
	 */
	SessionKey key();

	/**
	 * In which turn it happened.
	 * @return the id of the turn
	 */
	String turnId();

	/**
	 * The model is about to be called.
	 *
	 * @param key the session
	 * @param turnId the turn
	 * @param messages how many messages are sent, system text included
	 */
	record ModelCalled(SessionKey key, String turnId, int messages) implements SessionEvent {
	}

	/**
	 * A reply with text is whole.
	 *
	 * @param key the session
	 * @param turnId the turn
	 * @param text what was said
	 */
	record TextComplete(SessionKey key, String turnId, String text) implements SessionEvent {
	}

	/**
	 * A reply calls a tool.
	 *
	 * @param key the session
	 * @param turnId the turn
	 * @param call the call
	 */
	record ToolCalled(SessionKey key, String turnId, ToolCall call) implements SessionEvent {
	}

	/**
	 * The result of a tool call is known.
	 *
	 * @param key the session
	 * @param turnId the turn
	 * @param response the result
	 */
	record ToolReturned(SessionKey key, String turnId, ToolResponse response) implements SessionEvent {
	}

	/**
	 * Older turns are sent as a summary from now on.
	 *
	 * @param key the session
	 * @param turnId the turn in front of which or after which it was made
	 * @param checkpoint the summary
	 * @param turns how many turns it took in that no summary had covered
	 */
	record Summarized(SessionKey key, String turnId, Checkpoint checkpoint, int turns) implements SessionEvent {
	}

	/**
	 * A summary was due and could not be made: nothing has changed, and the session is
	 * left alone for a while.
	 *
	 * @param key the session
	 * @param turnId the turn in front of which or after which it was tried
	 * @param failure the class name of an exception, or a few words; never text of the
	 * conversation
	 */
	record SummaryFailed(SessionKey key, String turnId, String failure) implements SessionEvent {
	}

	/**
	 * A hook refused, and the turn is over.
	 *
	 * @param key the session
	 * @param turnId the turn
	 * @param verdict who refused, where and why
	 */
	record Refused(SessionKey key, String turnId, Verdict verdict) implements SessionEvent {
	}

	/**
	 * The turn is history.
	 *
	 * @param key the session
	 * @param turnId the turn
	 * @param turn the turn as it was stored
	 */
	record Committed(SessionKey key, String turnId, Turn turn) implements SessionEvent {
	}

	/**
	 * The turn waits for an approval; another call continues it.
	 *
	 * @param key the session
	 * @param turnId the turn
	 * @param turn the turn as it was stored
	 */
	record Paused(SessionKey key, String turnId, Turn turn) implements SessionEvent {
	}

	/**
	 * The turn is over without becoming history.
	 *
	 * @param key the session
	 * @param turnId the turn
	 * @param status FAILED or CANCELLED
	 * @param failure the class name of the exception, or "no reply"; null if it was
	 * cancelled
	 */
	record Failed(SessionKey key, String turnId, TurnStatus status, @Nullable String failure) implements SessionEvent {
	}

}
