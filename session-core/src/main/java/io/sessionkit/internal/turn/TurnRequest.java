package io.sessionkit.internal.turn;

import java.util.List;
import java.util.Map;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * The data with which a turn starts.
 *
 * @param key the session
 * @param input the input of the caller in this turn, without system text
 * @param agent the agent that answers; null if no particular one does
 * @param model the model to call; null if the caller leaves the choice to the provider
 * @param limit the number of newest items of history that may be sent, cut at a turn;
 * {@link Integer#MAX_VALUE} for no limit other than the configured ones
 * @param tools the tools on offer: name to digest of the definition
 * @param parameters the parameters of the call that hooks can read; only those that are
 * configured as inputs of turns are stored
 * @param hooks the hooks of this call, which run inside those of all calls
 * @param listeners the listeners of this call
 * @param merge combines the history and the input of this call into the messages to send;
 * null for the configured merge
 * @param expectedTurn the number of the newest turn that the caller has seen in the
 * session: if the session does not have it, the turn is not opened. 0 to expect nothing
 */
public record TurnRequest(SessionKey key, List<Message> input, @Nullable String agent, @Nullable String model,
		int limit, Map<String, String> tools, Map<String, Object> parameters, List<SessionHook> hooks,
		List<SessionListener> listeners, @Nullable HistoryMerge merge, long expectedTurn) {

	/**
	 * Returns this request with another input.
	 * @param messages the messages that the turn has so far
	 * @return a copy with these messages
	 */
	TurnRequest input(List<Message> messages) {
		return new TurnRequest(this.key, messages, this.agent, this.model, this.limit, this.tools, this.parameters,
				this.hooks, this.listeners, this.merge, this.expectedTurn);
	}

	public TurnRequest {
		input = List.copyOf(input);
		tools = Map.copyOf(tools);
		parameters = Map.copyOf(parameters);
		hooks = List.copyOf(hooks);
		listeners = List.copyOf(listeners);
		if (limit < 0) {
			throw new IllegalArgumentException(
					"The limit of a call must not be negative: " + limit + ". Use 0 to send no history.");
		}
		if (expectedTurn < 0) {
			throw new IllegalArgumentException("The turn that a call expects must not be negative: " + expectedTurn
					+ ". Use 0 to expect nothing.");
		}
	}

	/**
	 * Checks that the session has the turn that the caller expects.
	 * @param session the header of the session; null if the session is absent
	 * @throws SessionLostException if the number of its newest turn is smaller
	 */
	void checkExpected(@Nullable Session session) {
		long newest = (session != null) ? session.turns() : 0;
		if (newest < this.expectedTurn) {
			throw new SessionLostException(this.key, this.expectedTurn, newest);
		}
	}

}
