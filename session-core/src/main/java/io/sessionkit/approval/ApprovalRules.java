package io.sessionkit.approval;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.codec.ToolArguments;
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
record ApprovalRules(NamedTools named, AnnotatedTools annotated, List<ApprovalPolicy> policies, SiblingRule siblings,
		NewMessageRule onNewMessage, @Nullable Duration expiresAfter, @Nullable String version, SafeTexts texts,
		Supplier<@Nullable String> traceIds) {

	/**
	 * What is known of the call to the model that a tool call is made in.
	 */
	record Caller(@Nullable SessionKey key, @Nullable String agent, Map<String, Object> state,
			Map<String, Object> parameters) {
	}

	ApprovalRules {
		policies = List.copyOf(policies);
	}

	/**
	 * Whether any call of these tools could need consent.
	 */
	boolean mayAsk(List<ToolCallback> tools) {
		return !this.named.isEmpty() || !this.policies.isEmpty() || tools.stream().anyMatch(this.annotated::appliesTo);
	}

	/**
	 * The strictest of all rulings on a call.
	 * @param tool the tool; null if none of this name is offered
	 */
	Ruling rule(Caller caller, ToolCall call, @Nullable ToolCallback tool) {
		ToolArguments arguments = ToolArguments.of(call.arguments());
		ToolRequest request = new ToolRequest(caller.key(), caller.agent(), call, arguments.values(),
				(tool != null) ? tool.getToolDefinition() : null, caller.state(), caller.parameters());
		Ruling ruling = Ruling.allow();
		if (this.named.appliesTo(call.name())) {
			ruling = this.named.rule(request);
		}
		if (tool != null && this.annotated.appliesTo(tool)) {
			ruling = ruling.or(arguments.isReadable() ? this.annotated.rule(tool, request) : Ruling.ask());
		}
		for (ApprovalPolicy policy : this.policies) {
			if (policy.appliesTo(call.name())) {
				ruling = ruling.or(arguments.isReadable() ? policy.rule(request) : Ruling.ask());
			}
		}
		return ruling;
	}

}
