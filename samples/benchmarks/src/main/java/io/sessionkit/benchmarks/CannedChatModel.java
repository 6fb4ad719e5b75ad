package io.sessionkit.benchmarks;

import java.util.List;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;

/**
 * A model that always gives the same answer at once, so that only the cost of keeping the
 * session remains. Safe for use by many threads.
 */
final class CannedChatModel implements ChatModel {

	private static final ChatGenerationMetadata STOP = ChatGenerationMetadata.builder().finishReason("STOP").build();

	private final ChatOptions options = ToolCallingChatOptions.builder().build();

	private volatile int requestSize;

	/**
	 * Returns how many messages the newest call sent.
	 */
	int requestSize() {
		return this.requestSize;
	}

	@Override
	public ChatResponse call(Prompt prompt) {
		this.requestSize = prompt.getInstructions().size();
		return new ChatResponse(List.of(new Generation(new AssistantMessage(Dialogue.reply()), STOP)),
				ChatResponseMetadata.builder().model("canned").usage(new DefaultUsage(10, 5)).build());
	}

	@Override
	public ChatOptions getOptions() {
		return this.options;
	}

}
