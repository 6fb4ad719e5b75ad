package io.sessionkit.approval;

import java.util.Collections;
import java.util.Map;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.definition.ToolDefinition;

/**
 * A tool call on which a policy has to rule. Nothing in it can be changed. A test of a
 * policy makes one by {@link #of}, since more components may be added.
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
	 * Creates a request for tests of policies: a call without an id, in no session, and
	 * by no agent. The call itself, which a policy rarely reads, has no arguments.
	 * @param tool the name of the tool
	 * @param arguments the arguments of the call, by name
	 * @return the request
	 */
	public static ToolRequest of(String tool, Map<String, @Nullable Object> arguments) {
		return new ToolRequest(null, null, new ToolCall("", "function", tool, "{}"), arguments, null, Map.of(),
				Map.of());
	}

	/**
	 * Returns this request for a session.
	 * @param session the session
	 * @return a new instance
	 */
	public ToolRequest key(SessionKey session) {
		return new ToolRequest(session, this.agent, this.call, this.arguments, this.tool, this.attributes,
				this.parameters);
	}

	/**
	 * Returns this request for an agent.
	 * @param name the agent that handles the turn
	 * @return a new instance
	 */
	public ToolRequest agent(String name) {
		return new ToolRequest(this.key, name, this.call, this.arguments, this.tool, this.attributes, this.parameters);
	}

	/**
	 * Returns this request with another call.
	 * @param made the call as the model made it
	 * @return a new instance
	 */
	public ToolRequest call(ToolCall made) {
		return new ToolRequest(this.key, this.agent, made, this.arguments, this.tool, this.attributes, this.parameters);
	}

	/**
	 * Returns this request with a tool that is offered.
	 * @param offered the tool
	 * @return a new instance
	 */
	public ToolRequest tool(ToolDefinition offered) {
		return new ToolRequest(this.key, this.agent, this.call, this.arguments, offered, this.attributes,
				this.parameters);
	}

	/**
	 * Returns this request with other attributes.
	 * @param values the attributes of the session
	 * @return a new instance
	 */
	public ToolRequest attributes(Map<String, Object> values) {
		return new ToolRequest(this.key, this.agent, this.call, this.arguments, this.tool, values, this.parameters);
	}

	/**
	 * Returns this request with other advisor parameters.
	 * @param values the parameters of the call to the model
	 * @return a new instance
	 */
	public ToolRequest parameters(Map<String, Object> values) {
		return new ToolRequest(this.key, this.agent, this.call, this.arguments, this.tool, this.attributes, values);
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
