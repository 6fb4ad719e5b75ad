package io.sessionkit.approval;

import java.util.Collections;
import java.util.Map;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.definition.ToolDefinition;

/**
 * A tool call on which a policy has to rule. Nothing in it can be changed.
 *
 * @param key the session; null if the call to the model names none. Then nobody can be
 * asked, and the tool refuses to run unless the policies allow it
 * @param agent the agent that handles the turn: the one that the call named which opened
 * it, whatever a call names that continues it; null if it named none
 * @param call the tool call as the model made it, or with the arguments that a person has
 * approved instead
 * @param arguments its arguments as the tool gets them, by name: texts, booleans, lists,
 * maps, whole numbers as {@link Integer}, {@link Long} or {@link java.math.BigInteger}
 * and other numbers as {@link java.math.BigDecimal}; enum constants and dates are texts.
 * An argument that the model left out may be present with the default that the tool gets.
 * The map is empty if it is not certain what the tool gets; such a call needs consent
 * unless it is denied
 * @param tool the tool; null if no tool of this name is offered
 * @param attributes the session's attributes as they are now
 * @param parameters the advisor parameters of the call to the model, without those of
 * SessionKit. In a call that continues a turn, those that are kept with turns are the
 * turn's, and the others are missing if that call does not set them
 */
public record ToolRequest(@Nullable SessionKey key, @Nullable String agent, ToolCall call,
		Map<String, @Nullable Object> arguments, @Nullable ToolDefinition tool, Map<String, Object> attributes,
		Map<String, Object> parameters) {

	public ToolRequest {
		arguments = Collections.unmodifiableMap(arguments);
		attributes = Collections.unmodifiableMap(attributes);
		parameters = Collections.unmodifiableMap(parameters);
	}

	/**
	 * Returns the request without arguments, attributes and parameters, which may be
	 * secret.
	 * @return tool and session
	 */
	@Override
	public String toString() {
		return "ToolRequest[" + this.call.name() + " in session " + this.key + "]";
	}

}
