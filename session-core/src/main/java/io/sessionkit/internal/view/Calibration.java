package io.sessionkit.internal.view;

import java.util.function.ToIntFunction;

import io.sessionkit.SessionKey;
import io.sessionkit.TokenUsage;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.ToolCallback;

/**
 * Compares the estimated size of one turn's requests with the token counts that the
 * provider reports. It is needed only if a limit counts tokens. A report is compared with
 * the request that was sent last, on whichever thread.
 */
public final class Calibration {

	private final SessionKey key;

	private final TokenMemory memory;

	private final RequestSize size;

	private final ToIntFunction<Message> estimate;

	private volatile long estimated;

	public Calibration(SessionKey key, TokenMemory memory, RequestSize size, ToIntFunction<Message> estimate) {
		this.key = key;
		this.memory = memory;
		this.size = size;
		this.estimate = estimate;
	}

	/**
	 * Records a request that leaves for the model.
	 */
	public void sent(Prompt prompt) {
		long tokens = this.size.estimateOfAll(prompt.getInstructions());
		if (prompt.getOptions() instanceof ToolCallingChatOptions options && options.getToolCallbacks() != null) {
			for (ToolCallback tool : options.getToolCallbacks()) {
				tokens += this.memory.tokensOf(tool.getToolDefinition(), this.estimate);
			}
		}
		this.estimated = tokens;
	}

	/**
	 * Records the tokens that the provider reported for the request that was sent last.
	 */
	public void answered(TokenUsage usage) {
		this.memory.reported(this.key, input(usage), this.estimated, usage.cacheRead() + usage.cacheWrite() > 0);
	}

	/**
	 * Returns all input tokens, cached ones included. Some providers count cached tokens
	 * apart from the rest of the input, others within it.
	 */
	private static long input(TokenUsage usage) {
		long cached = usage.cacheRead() + usage.cacheWrite();
		return (cached > usage.input()) ? usage.input() + cached : usage.input();
	}

}
