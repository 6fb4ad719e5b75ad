package io.sessionkit.advisor;

import java.util.List;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.Usage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/**
 * The usage that a provider with a prompt cache reports.
 *
 * @param input tokens of the request
 * @param cached those of them that it had in its cache
 */
public record CachedUsage(int input, long cached) implements Usage {

	public static ChatResponse response(String text, int input, long cached) {
		return new ChatResponse(List.of(new Generation(new AssistantMessage(text))),
				ChatResponseMetadata.builder().model("cached").usage(new CachedUsage(input, cached)).build());
	}

	@Override
	public Integer getPromptTokens() {
		return this.input;
	}

	@Override
	public Integer getCompletionTokens() {
		return 5;
	}

	@Override
	public Long getCacheReadInputTokens() {
		return this.cached;
	}

	@Override
	public Object getNativeUsage() {
		return this;
	}

}
