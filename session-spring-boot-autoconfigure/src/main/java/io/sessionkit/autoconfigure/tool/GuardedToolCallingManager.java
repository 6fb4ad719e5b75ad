package io.sessionkit.autoconfigure.tool;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.sessionkit.conversation.UnattendedTools;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.model.tool.ToolExecutionResult;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.tool.resolution.ToolCallbackResolver;
import org.springframework.util.StringUtils;

/**
 * Wraps the application's {@link ToolCallingManager} and refuses tools that need an
 * approval in calls in which nobody would be asked.
 * <p>
 * It is used in two places. The chat models of Spring AI ask it for the definitions of
 * the tools of each request, whichever client made the request, so a call that offers
 * such a tool is refused before the model is called. And it runs the tools of clients
 * that are built with it.
 */
final class GuardedToolCallingManager implements ToolCallingManager {

	private final ToolCallingManager manager;

	private final Supplier<UnattendedTools> rules;

	private final Iterable<ToolCallbackResolver> resolvers;

	GuardedToolCallingManager(ToolCallingManager manager, Supplier<UnattendedTools> rules,
			Iterable<ToolCallbackResolver> resolvers) {
		this.manager = manager;
		this.rules = rules;
		this.resolvers = resolvers;
	}

	@Override
	public List<ToolDefinition> resolveToolDefinitions(ToolCallingChatOptions options) {
		List<ToolCallback> offered = tools(options);
		if (!offered.isEmpty()) {
			this.rules.get().checkOffered(offered);
		}
		return this.manager.resolveToolDefinitions(options);
	}

	@Override
	public ToolExecutionResult executeToolCalls(Prompt prompt, ChatResponse response) {
		List<ToolCallback> offered = tools(prompt.getOptions());
		List<ToolCall> calls = response.getResults()
			.stream()
			.flatMap((generation) -> generation.getOutput().getToolCalls().stream())
			.toList();
		this.rules.get().checkCalls(offered, withResolved(offered, calls), calls);
		return this.manager.executeToolCalls(prompt, response);
	}

	/**
	 * Returns the offered tools and the called tools that are beans. A manager may run
	 * tools that are beans even if the call does not offer them ({@code
	 * spring.ai.tools.resolution.fallback.enabled}).
	 */
	private List<ToolCallback> withResolved(List<ToolCallback> offered, List<ToolCall> calls) {
		List<ToolCallback> known = new ArrayList<>(offered);
		calls.stream()
			.map(ToolCall::name)
			// a provider may leave it out, and a resolver takes no such name
			.filter(StringUtils::hasText)
			.filter((name) -> offered.stream().noneMatch((tool) -> tool.getToolDefinition().name().equals(name)))
			.forEach((name) -> this.resolvers.forEach((resolver) -> {
				ToolCallback resolved = resolver.resolve(name);
				if (resolved != null) {
					known.add(resolved);
				}
			}));
		return known;
	}

	private static List<ToolCallback> tools(@Nullable ChatOptions options) {
		List<ToolCallback> tools = (options instanceof ToolCallingChatOptions toolOptions)
				? toolOptions.getToolCallbacks() : null;
		return (tools != null) ? tools : List.of();
	}

}
