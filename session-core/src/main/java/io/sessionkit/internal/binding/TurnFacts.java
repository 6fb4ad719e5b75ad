package io.sessionkit.internal.binding;

import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * Says what the code that runs for a turn knows of it.
 *
 * @param key the session
 * @param turnId the turn
 * @param agent the agent that handles the turn; null if the call named none
 * @param history the history in front of the turn's input; each read returns a copy of
 * the message
 * @param turnStarts the indexes in the history at which its turns begin, ascending
 * @param attributes the attributes as of the head, with the changes of the turn so far
 */
public record TurnFacts(SessionKey key, String turnId, @Nullable String agent, List<Message> history,
		List<Integer> turnStarts, Map<String, Object> attributes) {
}
