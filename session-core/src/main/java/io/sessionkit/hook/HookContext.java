package io.sessionkit.hook;

import java.util.Collections;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * The turn that a hook or a merge is called for. Nothing in it can be changed. A test of
 * a hook makes one by {@link #of}, since more components may be added.
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
	 * Creates the context of a turn for tests of hooks: without agent, history, messages
	 * so far, attributes and parameters.
	 * @param key the session
	 * @param turnId the turn
	 * @return the context
	 */
	public static HookContext of(SessionKey key, String turnId) {
		return new HookContext(key, turnId, null, List.of(), List.of(), List.of(), Map.of(), Map.of());
	}

	/**
	 * Returns this context for an agent.
	 * @param name the agent that handles the turn
	 * @return a new instance
	 */
	public HookContext agent(String name) {
		return new HookContext(this.key, this.turnId, name, this.history, this.turnStarts, this.turn, this.attributes,
				this.parameters);
	}

	/**
	 * Returns this context with another history.
	 * @param messages the history in front of the turn's input, which counts as one turn
	 * @return a new instance
	 */
	public HookContext history(List<Message> messages) {
		return history(messages, messages.isEmpty() ? List.of() : List.of(0));
	}

	/**
	 * Returns this context with another history.
	 * @param messages the history in front of the turn's input
	 * @param starts the indexes in it at which its turns begin
	 * @return a new instance
	 */
	public HookContext history(List<Message> messages, List<Integer> starts) {
		return new HookContext(this.key, this.turnId, this.agent, messages, starts, this.turn, this.attributes,
				this.parameters);
	}

	/**
	 * Returns this context with other messages of the turn.
	 * @param messages the messages of the turn so far
	 * @return a new instance
	 */
	public HookContext turn(List<Message> messages) {
		return new HookContext(this.key, this.turnId, this.agent, this.history, this.turnStarts, messages,
				this.attributes, this.parameters);
	}

	/**
	 * Returns this context with other attributes.
	 * @param values the attributes of the session
	 * @return a new instance
	 */
	public HookContext attributes(Map<String, Object> values) {
		return new HookContext(this.key, this.turnId, this.agent, this.history, this.turnStarts, this.turn, values,
				this.parameters);
	}

	/**
	 * Returns this context with other advisor parameters.
	 * @param values the parameters of the call
	 * @return a new instance
	 */
	public HookContext parameters(Map<String, Object> values) {
		return new HookContext(this.key, this.turnId, this.agent, this.history, this.turnStarts, this.turn,
				this.attributes, values);
	}

}
