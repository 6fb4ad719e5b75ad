package io.sessionkit.samples.chat;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;

/**
 * Finds what a model has thought before it answered. Each provider has a metadata entry
 * of its own for it: models that speak the protocol of OpenAI, Ollama, and Mistral.
 */
final class Reasoning {

	private static final List<String> NAMES = List.of("reasoningContent", "thinking", "thinking_content");

	private Reasoning() {
	}

	/**
	 * Returns the reasoning of a message.
	 * @return the text; null if the message has none
	 */
	static @Nullable String of(Message message) {
		if (!(message instanceof AssistantMessage)) {
			return null;
		}
		return NAMES.stream()
			.map(message.getMetadata()::get)
			.filter((value) -> value instanceof String text && !text.isBlank())
			.map(String.class::cast)
			.findFirst()
			.orElse(null);
	}

}
