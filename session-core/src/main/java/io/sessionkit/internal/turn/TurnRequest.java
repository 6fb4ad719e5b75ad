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
 * What a turn starts with.
 *
 * @param key the session
 * @param input what the caller says in this turn, without system text
 * @param agent the agent that answers; null for none in particular
 * @param model the model that is asked; null if the caller leaves it to the provider
 * @param limit the newest items of history that may be sent, cut at a turn;
 * {@link Integer#MAX_VALUE} for no limit but the configured ones
 * @param tools the tools on offer: name to digest of the definition
 * @param parameters what hooks are told of the call; never stored
 * @param hooks the hooks of this call, inside of those of all calls
 * @param listeners the listeners of this call
 * @param merge what makes of history and input what is sent in this call; null for the
 * configured one
 * @param expectedTurn the number of the newest turn that the caller has seen in the
 * session: if the session does not have it, the turn is not opened. 0 to expect nothing
 */
public record TurnRequest(SessionKey key, List<Message> input, @Nullable String agent, @Nullable String model,
		int limit, Map<String, String> tools, Map<String, Object> parameters, List<SessionHook> hooks,
		List<SessionListener> listeners, @Nullable HistoryMerge merge, long expectedTurn) {

	/**
	 * This request with another input.
	 * @param messages what the turn has so far
	 * @return a copy with it
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
	 * Throws if the session does not have the turn that the caller expects.
	 * @param session its header; null if it is absent
	 * @throws SessionLostException if its newest turn has a smaller number
	 */
	void checkExpected(@Nullable Session session) {
		long newest = (session != null) ? session.turns() : 0;
		if (newest < this.expectedTurn) {
			throw new SessionLostException(this.key, this.expectedTurn, newest);
		}
	}

}
