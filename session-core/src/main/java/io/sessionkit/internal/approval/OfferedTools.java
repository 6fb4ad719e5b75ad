package io.sessionkit.internal.approval;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.UnattendedToolException;
import io.sessionkit.approval.UnknownToolException;
import io.sessionkit.internal.binding.TurnBinding;
import io.sessionkit.internal.binding.TurnFacts;
import io.sessionkit.internal.ruling.Rulings;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.tool.ToolCallback;

/**
 * The tools that calls offer, and the rules that these have to meet. Safe for use by many
 * threads.
 */
public final class OfferedTools {

	private final ApprovalRules rules;

	OfferedTools(ApprovalRules rules) {
		this.rules = rules;
	}

	/**
	 * Returns the settings that all calls share.
	 */
	ApprovalRules rules() {
		return this.rules;
	}

	/**
	 * Checks the rules and limits against the tools that a call offers, before anybody
	 * pays for a model call.
	 * @throws UnknownToolException if a configured name that no tool has resembles that
	 * of a tool on offer
	 * @throws IllegalStateException if a tool has a condition that can never be
	 * evaluated, or a limit that none can have
	 */
	void check(List<ToolCallback> tools) {
		if (tools.isEmpty()) {
			return;
		}
		this.rules.rulings().named().check(names(tools));
		this.rules.rulings().check(tools);
		this.rules.limits().check(tools);
	}

	/**
	 * Returns the tools for a call that names no session. No tool call could wait there,
	 * so calls that need approval are refused.
	 * @param agent the agent that the call names; null for none
	 * @param tools the tools on offer
	 * @param toolLoop whether the call runs tools itself
	 * @param parameters the advisor parameters of the call
	 * @return the tools as the call may use them
	 * @throws UnknownToolException if a configured name that no tool has resembles that
	 * of a tool on offer
	 * @throws IllegalStateException if a tool has a condition that can never be
	 * evaluated, or if the call leaves it to the application to run tools that need
	 * approval
	 */
	public List<ToolCallback> withoutSession(@Nullable String agent, List<ToolCallback> tools, boolean toolLoop,
			Map<String, Object> parameters) {
		check(tools);
		if (tools.isEmpty()) {
			return tools;
		}
		if (!toolLoop && this.rules.rulings().mayAsk(tools)) {
			throw withoutToolLoop("without a session");
		}
		return attended(agent, tools, parameters).stream().map(this.rules.limits()::limited).toList();
	}

	private List<ToolCallback> attended(@Nullable String agent, List<ToolCallback> tools,
			Map<String, Object> parameters) {
		TurnFacts enclosing = TurnBinding.enclosing().orElse(null);
		Rulings.Caller caller = new Rulings.Caller(null, agent, Map.of(), parameters);
		return sessionless(tools, caller, "names no session", enclosing);
	}

	/**
	 * Returns tools whose calls fail if they need an approval.
	 * @param why the reason why no call can wait, as words that follow "the call"
	 */
	List<ToolCallback> sessionless(List<ToolCallback> tools, Rulings.Caller caller, String why,
			@Nullable TurnFacts enclosing) {
		return tools.stream()
			.<ToolCallback>map((tool) -> new SessionlessTool(tool, this.rules.rulings(), caller, why, enclosing))
			.toList();
	}

	/**
	 * Checks the tools that a request in a session really has. A tool that an inner
	 * advisor has added would run without approval; one that it has wrapped is asked
	 * about. Each session advisor asks about annotated tools, whatever else it asks
	 * about.
	 * @param offered the tools of the request
	 * @throws UnattendedToolException if one of them needs approval and would run without
	 * asking the turn
	 */
	void checkInSession(SessionKey key, List<ToolCallback> offered) {
		for (ToolCallback tool : offered) {
			String name = tool.getToolDefinition().name();
			boolean annotated = !GatedTool.isGated(tool) && this.rules.rulings().annotated().appliesTo(tool);
			if (annotated || (!isAttended(tool) && this.rules.rulings().named().appliesTo(name))) {
				throw unattended(key, name);
			}
		}
	}

	/**
	 * Returns the names of tools that run without asking the turn. One that an inner
	 * advisor has put in the place of a tool on offer runs whatever is decided about its
	 * calls.
	 * @param offered the tools of the request
	 */
	Stream<String> unasked(List<ToolCallback> offered) {
		return offered.stream().filter((tool) -> !isAttended(tool)).map((tool) -> tool.getToolDefinition().name());
	}

	private boolean isAttended(ToolCallback tool) {
		return GatedTool.isAttended(tool, List.of(this.rules.rulings()));
	}

	private static UnattendedToolException unattended(SessionKey key, String name) {
		return new UnattendedToolException("Tool '" + name
				+ "' needs an approval, but an advisor has added it to the call on session " + key
				+ " behind the session advisor, where nobody would ask."
				+ " Offer it with .tools(..) or .toolCallbacks(..), or give that advisor an order below the one of"
				+ " the session advisor.", name);
	}

	static UnattendedToolException replaced(SessionKey key, String name) {
		return new UnattendedToolException(
				"An advisor behind the session advisor has put another tool in the place of '" + name
						+ "', which the call on session " + key + " offers. It would run whatever is decided about its"
						+ " calls. Have that advisor keep the tool or wrap it, keep the wrapped one in a field, or give that"
						+ " advisor an order below the one of the session advisor.",
				name);
	}

	/**
	 * Checks the tools that a request without a session really has. A tool that an inner
	 * advisor has added would run without approval.
	 * @param offered the tools of the request
	 * @throws UnattendedToolException if one of them is named or annotated and would run
	 * unchecked
	 */
	public void checkWithoutSession(List<ToolCallback> offered) {
		for (ToolCallback tool : offered) {
			String name = tool.getToolDefinition().name();
			boolean asks = this.rules.rulings().named().appliesTo(name)
					|| this.rules.rulings().annotated().appliesTo(tool);
			if (asks && !isAttended(tool)) {
				throw unattended(name);
			}
		}
	}

	private static UnattendedToolException unattended(String name) {
		return new UnattendedToolException("Tool '" + name + "' needs an approval, but an advisor has added it behind"
				+ " the session advisor to a call that names no session, where nobody would ask. Nothing was run."
				+ " Offer it with .tools(..) or .toolCallbacks(..), and add"
				+ " .advisors(SessionAdvisor.session(..)).", name);
	}

	static IllegalStateException withoutToolLoop(String which) {
		return new IllegalStateException("The call " + which + " has no tool advisor, so tools"
				+ " that need an approval could run unseen. Leave spring.ai.chat.client.tool-calling.enabled on, or"
				+ " add a ToolCallingAdvisor.");
	}

	private static List<String> names(List<ToolCallback> tools) {
		return tools.stream().map((tool) -> tool.getToolDefinition().name()).toList();
	}

}
