package io.sessionkit.hook;

import java.util.Collections;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * The turn that a hook or a merge is called for. Nothing in it can be changed.
 *
 * @param key the session
 * @param turnId the turn
 * @param agent the agent that handles the turn: the one that the call named which opened
 * it, whatever a call names that continues it; null if it named none
 * @param history the history in front of the turn's input, within the limits, as it was
 * before a {@link HistoryMerge}; each read returns a copy of the message
 * @param turnStarts the indexes in the history at which its turns begin, ascending. The
 * first is 0, and a turn ends where the next one begins. A summary counts as a turn.
 * Empty if there is no history
 * @param turn the messages of the turn so far: its input as
 * {@link SessionHook#beforeTurn} and the merge have left it, then its tool rounds,
 * including the parts that earlier calls have stored. Empty while hooks check the input
 * before the model; each read returns a copy of the message
 * @param attributes the session's attributes as of the head, with the changes of this
 * turn so far
 * @param parameters the advisor parameters of the call, except those of SessionKit. In a
 * call that continues a turn, those that are kept with turns are the turn's. No others
 * are ever stored
 */
public record HookContext(SessionKey key, String turnId, @Nullable String agent, List<Message> history,
		List<Integer> turnStarts, List<Message> turn, Map<String, Object> attributes, Map<String, Object> parameters) {

	public HookContext {
		history = Collections.unmodifiableList(history);
		turnStarts = Collections.unmodifiableList(turnStarts);
		turn = Collections.unmodifiableList(turn);
		attributes = Collections.unmodifiableMap(attributes);
		parameters = Collections.unmodifiableMap(parameters);
	}

	/**
	 * Creates the context of a turn without messages so far, on a history that is one
	 * turn.
	 * @param key the session
	 * @param turnId the turn
	 * @param agent the agent that handles the turn; null if there is none
	 * @param history the history in front of the turn's input
	 * @param attributes the session's attributes
	 * @param parameters the advisor parameters of the call
	 */
	public HookContext(SessionKey key, String turnId, @Nullable String agent, List<Message> history,
			Map<String, Object> attributes, Map<String, Object> parameters) {
		this(key, turnId, agent, history, history.isEmpty() ? List.of() : List.of(0), List.of(), attributes,
				parameters);
	}

}
