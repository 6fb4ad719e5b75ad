package io.sessionkit.samples.chat;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;

/**
 * Reads the reasoning of a model from the metadata of its replies, where each provider
 * has another name for it.
 */
final class Reasoning {

	/** The names of what speaks the protocol of OpenAI, then that of others. */
	private static final List<String> NAMES = List.of("reasoningContent", "reasoning_content", "reasoning", "thinking");

	private Reasoning() {
	}

	/**
	 * Returns the reasoning of a reply or of a chunk of one.
	 * @return the text; null for none
	 */
	static @Nullable String of(Message message) {
		if (!(message instanceof AssistantMessage)) {
			return null;
		}
		if (isAllReasoning(message)) {
			return emptyToNull(message.getText());
		}
		return NAMES.stream()
			.map((name) -> message.getMetadata().get(name))
			.filter(String.class::isInstance)
			.map(String.class::cast)
			.filter((text) -> !text.isEmpty())
			.findFirst()
			.orElse(null);
	}

	/**
	 * Returns what the model says, without its reasoning.
	 * @return the text; null for none
	 */
	static @Nullable String textOf(Message message) {
		return isAllReasoning(message) ? null : message.getText();
	}

	/**
	 * Returns whether it is a thinking block of Anthropic that came in one piece: its
	 * text is the reasoning. In a stream, the reasoning is under a name of its own.
	 */
	private static boolean isAllReasoning(Message message) {
		return message instanceof AssistantMessage && message.getMetadata().get("signature") instanceof String
				&& !message.getMetadata().containsKey("thinking");
	}

	private static @Nullable String emptyToNull(@Nullable String text) {
		return (text == null || text.isEmpty()) ? null : text;
	}

}
