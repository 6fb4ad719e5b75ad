package io.sessionkit.internal.approval;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.NewMessageRule;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.SiblingRule;
import io.sessionkit.approval.ToolRequest;
import io.sessionkit.codec.ToolArguments;
import io.sessionkit.internal.tool.ToolInput;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.ToolCallback;

/**
 * What is the same for all calls.
 *
 * @param named the tools that the configuration names
 * @param annotated the tools whose method says so
 * @param policies the application's own
 * @param siblings what becomes of calls next to one that waits
 * @param onNewMessage what becomes of a new message while calls wait
 * @param expiresAfter how long a call can be decided; null: as long as the session lives
 * @param version the application's own marker; null for none
 * @param texts what the model is told
 * @param traceIds gives the trace of the running call
 */
public record ApprovalRules(NamedTools named, AnnotatedTools annotated, List<ApprovalPolicy> policies,
		SiblingRule siblings, NewMessageRule onNewMessage, @Nullable Duration expiresAfter, @Nullable String version,
		SafeTexts texts, Supplier<@Nullable String> traceIds) {

	/**
	 * What is known of the call to the model that a tool call is made in.
	 */
	public record Caller(@Nullable SessionKey key, @Nullable String agent, Map<String, Object> state,
			Map<String, Object> parameters) {
	}

	/** What the person who decides is told where no policy was asked. */
	private static final String UNCERTAIN = "The arguments do not fit the input schema of the tool, or the tool would"
			+ " get other values than they say.";

	public ApprovalRules {
		policies = List.copyOf(policies);
	}

	/**
	 * Checks what the tools themselves say, before anybody pays for a model call.
	 * @param tools the tools on offer
	 * @throws IllegalStateException if a tool has a condition that can never be evaluated
	 */
	void check(List<ToolCallback> tools) {
		this.annotated.check(tools);
	}

	/**
	 * Whether any call of these tools could need consent.
	 */
	boolean mayAsk(List<ToolCallback> tools) {
		return !this.named.isEmpty() || !this.policies.isEmpty() || tools.stream().anyMatch(this.annotated::appliesTo);
	}

	/**
	 * The strictest of all rulings on a call. Conditions and policies see what the tool
	 * will get; where that is not certain, the call needs consent.
	 * @param tool the tool; null if none of this name is offered
	 */
	public Ruling rule(Caller caller, ToolCall call, @Nullable ToolCallback tool) {
		ToolInput input = new ToolInput(tool, ToolArguments.of(call.arguments()));
		Ruling ruling = this.named.appliesTo(call.name()) ? Ruling.ask() : Ruling.allow();
		if (tool != null && this.annotated.appliesTo(tool)) {
			ruling = ruling.or(this.annotated.rule(tool, input));
		}
		for (ApprovalPolicy policy : this.policies) {
			if (policy.appliesTo(call.name())) {
				ruling = ruling.or(rule(policy, caller, call, tool, input));
			}
		}
		return ruling;
	}

	/**
	 * What a policy allows counts only where it is certain what it allows. It may deny a
	 * call whatever its arguments are, and a model must not get around that by arguments
	 * that do not fit.
	 */
	private static Ruling rule(ApprovalPolicy policy, Caller caller, ToolCall call, @Nullable ToolCallback tool,
			ToolInput input) {
		Map<String, @Nullable Object> values = input.values();
		if (values != null) {
			return policy.rule(request(caller, call, values, tool));
		}
		try {
			return Ruling.ask(UNCERTAIN).or(policy.rule(request(caller, call, Map.of(), tool)));
		}
		catch (RuntimeException ex) {
			// it misses an argument
			return Ruling.ask(UNCERTAIN);
		}
	}

	private static ToolRequest request(Caller caller, ToolCall call, Map<String, @Nullable Object> arguments,
			@Nullable ToolCallback tool) {
		return new ToolRequest(caller.key(), caller.agent(), call, arguments,
				(tool != null) ? tool.getToolDefinition() : null, caller.state(), caller.parameters());
	}

}
