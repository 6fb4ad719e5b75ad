package io.sessionkit.internal.view;

import java.util.function.ToIntFunction;

import io.sessionkit.SessionKey;
import io.sessionkit.TokenUsage;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.ToolCallback;

/**
 * Compares the estimated size of one turn's requests with the token counts that the
 * provider reports. It is needed only if a limit counts tokens. A report is compared with
 * the request of its round, on whichever thread. If an advisor has made several requests
 * of one round, the report may be of all of them together, and is ignored.
 */
public final class Calibration {

	private final SessionKey key;

	private final TokenMemory memory;

	private final RequestSize size;

	private final ToIntFunction<Message> estimate;

	/** The newest request of the round; null if none has left. */
	private @Nullable Prompt newest;

	/** The size of the only request of the round; 0 if there is not exactly one. */
	private volatile long estimated;

	public Calibration(SessionKey key, TokenMemory memory, RequestSize size, ToIntFunction<Message> estimate) {
		this.key = key;
		this.memory = memory;
		this.size = size;
		this.estimate = estimate;
	}

	/** Begins a round. */
	public synchronized void begin() {
		this.newest = null;
		this.estimated = 0;
	}

	/**
	 * Records a request that leaves for the model. It may be reported twice.
	 */
	public synchronized void sent(Prompt prompt) {
		if (prompt != this.newest) {
			this.estimated = (this.newest == null) ? estimated(prompt) : 0;
			this.newest = prompt;
		}
	}

	private long estimated(Prompt prompt) {
		long tokens = this.size.estimateOfAll(prompt.getInstructions());
		if (prompt.getOptions() instanceof ToolCallingChatOptions options && options.getToolCallbacks() != null) {
			for (ToolCallback tool : options.getToolCallbacks()) {
				tokens += this.memory.tokensOf(tool.getToolDefinition(), this.estimate);
			}
		}
		return tokens;
	}

	/**
	 * Records the tokens that the provider reported for the round.
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
