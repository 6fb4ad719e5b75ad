package io.sessionkit.hook;

import java.util.Collections;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * The turn that a hook is asked about. Nothing in it can be changed.
 *
 * @param key the session
 * @param turnId the turn
 * @param agent the agent that the call named; null if it named none
 * @param history what goes before the turn's input, within the limits, as it was before a
 * {@link HistoryMerge}; each read gives a copy of the message
 * @param state the session's attributes as of the head, with what was written to them in
 * this turn so far
 * @param parameters the advisor parameters of the call, without those of SessionKit; they
 * are never stored
 */
public record HookContext(SessionKey key, String turnId, @Nullable String agent, List<Message> history,
		Map<String, Object> state, Map<String, Object> parameters) {

	public HookContext {
		history = Collections.unmodifiableList(history);
		state = Collections.unmodifiableMap(state);
		parameters = Collections.unmodifiableMap(parameters);
	}

}
