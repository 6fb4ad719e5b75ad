package io.sessionkit.conversation;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToIntFunction;

import io.sessionkit.SessionKey;
import io.sessionkit.TokenUsage;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;

/**
 * Compares what one turn sends with what the provider says of it. Where no limit counts
 * tokens it does nothing. What was sent last counts, whichever thread asks.
 */
final class Calibration {

	/** Tools come and go where servers offer them; what is remembered is bounded. */
	private static final int REMEMBERED = 1000;

	private static final Map<ToolDefinition, Integer> tools = new ConcurrentHashMap<>();

	private final SessionKey key;

	private final TokenMemory memory;

	private final RequestSize size;

	private final ToIntFunction<Message> estimate;

	private final boolean needed;

	private volatile long estimated;

	Calibration(SessionKey key, TokenMemory memory, RequestSize size, ToIntFunction<Message> estimate, boolean needed) {
		this.key = key;
		this.memory = memory;
		this.size = size;
		this.estimate = estimate;
		this.needed = needed;
	}

	/**
	 * A request leaves for the model.
	 */
	void sent(Prompt prompt) {
		if (this.needed) {
			long tokens = this.size.estimateOfAll(prompt.getInstructions());
			if (prompt.getOptions() instanceof ToolCallingChatOptions options && options.getToolCallbacks() != null) {
				for (ToolCallback tool : options.getToolCallbacks()) {
					tokens += tokens(tool.getToolDefinition());
				}
			}
			this.estimated = tokens;
		}
	}

	/**
	 * The model has answered what was sent last.
	 */
	void answered(TokenUsage usage) {
		if (this.needed) {
			this.memory.reported(this.key, usage.input(), this.estimated);
		}
	}

	private int tokens(ToolDefinition tool) {
		if (tools.size() > REMEMBERED) {
			tools.clear();
		}
		return tools.computeIfAbsent(tool, (definition) -> this.estimate
			.applyAsInt(new UserMessage(String.join(" ", tool.name(), tool.description(), tool.inputSchema()))));
	}

}
