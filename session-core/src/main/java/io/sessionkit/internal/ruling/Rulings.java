package io.sessionkit.internal.ruling;

import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.ToolRequest;
import io.sessionkit.internal.Interrupts;
import io.sessionkit.internal.Names;
import io.sessionkit.internal.argument.ToolArguments;
import io.sessionkit.internal.tool.ToolInput;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.ToolCallback;

/**
 * The parts of an application that rule on a tool call: allow it, ask a person, or deny
 * it.
 *
 * @param named the tools that the configuration names
 * @param annotated the tools whose method has the annotation
 * @param policies the policies of the application
 */
public record Rulings(NamedTools named, AnnotatedTools annotated, List<ApprovalPolicy> policies) {

	/**
	 * The facts known about the model call in which a tool call is made.
	 */
	public record Caller(@Nullable SessionKey key, @Nullable String agent, Map<String, Object> attributes,
			Map<String, Object> parameters) {
	}

	/**
	 * The text for the person who decides if it is uncertain which values the tool would
	 * get.
	 */
	private static final String UNCERTAIN = "The arguments do not fit the input schema of the tool, or the tool would"
			+ " get other values than they say.";

	public Rulings {
		policies = List.copyOf(policies);
	}

	/**
	 * Checks the conditions of the tools before anybody pays for a model call.
	 * @param tools the tools on offer
	 * @throws IllegalStateException if a tool has a condition that can never be evaluated
	 */
	public void check(List<ToolCallback> tools) {
		this.annotated.check(tools);
	}

	/**
	 * Returns whether any call of these tools could need approval.
	 */
	public boolean mayAsk(List<ToolCallback> tools) {
		return !this.named.isEmpty() || !this.policies.isEmpty() || tools.stream().anyMatch(this.annotated::appliesTo);
	}

	/**
	 * Returns the strictest of all rulings on a call. Conditions and policies see the
	 * values that the tool will get; if these are not certain, the call needs approval.
	 * @param tool the tool; null if no tool of this name is offered
	 */
	public Ruling rule(Caller caller, ToolCall call, @Nullable ToolCallback tool) {
		ToolInput input = new ToolInput(tool, ToolArguments.of(call.arguments()));
		Ruling ruling = ruleOfApplication(caller, call, tool, input);
		return (tool != null && this.annotated.appliesTo(tool)) ? ruling.or(this.annotated.rule(tool, input)) : ruling;
	}

	/**
	 * Returns the ruling on a call, without its annotations, which others check.
	 */
	public Ruling ruleOfApplication(Caller caller, ToolCall call, @Nullable ToolCallback tool) {
		return ruleOfApplication(caller, call, tool, new ToolInput(tool, ToolArguments.of(call.arguments())));
	}

	private Ruling ruleOfApplication(Caller caller, ToolCall call, @Nullable ToolCallback tool, ToolInput input) {
		Ruling ruling = this.named.appliesTo(call.name()) ? Ruling.ask() : Ruling.allow();
		for (ApprovalPolicy policy : this.policies) {
			if (policy.appliesTo(call.name())) {
				ruling = ruling.or(rule(policy, caller, call, tool, input));
			}
		}
		return ruling;
	}

	/**
	 * Returns the ruling of one policy. If the policy allows a call, that counts only if
	 * it is certain which values it allows. A policy may deny a call whatever its
	 * arguments are, and a model must not bypass that with arguments that do not fit.
	 */
	private static Ruling rule(ApprovalPolicy policy, Caller caller, ToolCall call, @Nullable ToolCallback tool,
			ToolInput input) {
		Map<String, @Nullable Object> values = input.values();
		if (values != null) {
			return ruled(policy, request(caller, call, values, tool));
		}
		try {
			return Ruling.ask(UNCERTAIN).or(ruled(policy, request(caller, call, Map.of(), tool)));
		}
		catch (Exception ex) {
			Interrupts.keep(ex);
			// the policy misses an argument
			return Ruling.ask(UNCERTAIN);
		}
	}

	private static Ruling ruled(ApprovalPolicy policy, ToolRequest request) {
		Ruling ruling = policy.rule(request);
		if (ruling == null) {
			throw new IllegalStateException(
					"The ApprovalPolicy " + policy.getClass().getName() + " has returned null for a call of tool "
							+ Names.quoted(request.call().name()) + ". Return Ruling.allow(), ask() or deny(..).");
		}
		return ruling;
	}

	private static ToolRequest request(Caller caller, ToolCall call, Map<String, @Nullable Object> arguments,
			@Nullable ToolCallback tool) {
		return new ToolRequest(caller.key(), caller.agent(), call, arguments,
				(tool != null) ? tool.getToolDefinition() : null, caller.attributes(), caller.parameters());
	}

}
