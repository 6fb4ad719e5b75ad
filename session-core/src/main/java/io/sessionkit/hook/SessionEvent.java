package io.sessionkit.hook;

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
