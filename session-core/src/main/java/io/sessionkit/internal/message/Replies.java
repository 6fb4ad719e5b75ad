package io.sessionkit.internal.message;

import java.util.List;
import java.util.Set;

import io.sessionkit.TokenUsage;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.metadata.Usage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

/**
 * Reads and creates replies of models.
 */
public final class Replies {

	/**
	 * The metadata key of a message in which Gemini thinks: its text is no part of the
	 * answer.
	 */
	public static final String IS_THOUGHT = "isThought";

	/**
	 * The metadata keys that Anthropic sets on a generation that is a thinking block.
	 * Such a generation precedes the one that is the answer.
	 */
	private static final Set<String> THINKING = Set.of("signature", "data");

	private Replies() {
	}

	/**
	 * Returns the generation that the tool loop follows: the first with tool calls, else
	 * the first in which the model does not think, else the last.
	 * @return the generation; null if there is none
	 */
	public static @Nullable Generation chosen(ChatResponse response) {
		return chosen(response.getResults());
	}

	/**
	 * Returns the generation that the tool loop follows.
	 * @param generations the generations of a response
	 * @return the generation; null if there is none
	 */
	public static @Nullable Generation chosen(List<Generation> generations) {
		for (Generation generation : generations) {
			if (generation.getOutput().hasToolCalls()) {
				return generation;
			}
		}
		for (Generation generation : generations) {
			if (!isThinking(generation.getOutput())) {
				return generation;
			}
		}
		return generations.isEmpty() ? null : generations.get(generations.size() - 1);
	}

	private static boolean isThinking(AssistantMessage message) {
		return isThought(message) || THINKING.stream().anyMatch(message.getMetadata()::containsKey);
	}

	/**
	 * Returns a copy of a response that contains this generation and no other.
	 */
	public static ChatResponse with(ChatResponse response, Generation generation) {
		return ChatResponse.builder().from(response).generations(List.of(generation)).build();
	}

	/**
	 * Returns a response that no model gave.
	 */
	public static ChatResponse answer(AssistantMessage message) {
		return new ChatResponse(
				List.of(new Generation(message, ChatGenerationMetadata.builder().finishReason("STOP").build())));
	}

	/**
	 * Returns whether a message contains nothing that a person or a tool could use.
	 */
	public static boolean isBlank(AssistantMessage message) {
		String text = message.getText();
		return (text == null || text.isBlank()) && !message.hasToolCalls() && message.getMedia().isEmpty();
	}

	/**
	 * Returns whether a message ends a turn that can become history: an answer with
	 * content, and without tool calls.
	 */
	public static boolean isAnswer(Message message) {
		return message instanceof AssistantMessage reply && !reply.hasToolCalls() && !isBlank(reply);
	}

	/**
	 * Returns whether the text of a message, or of a chunk, is a thought.
	 */
	public static boolean isThought(AssistantMessage message) {
		return Boolean.parseBoolean(String.valueOf(message.getMetadata().get(IS_THOUGHT)));
	}

	/**
	 * Returns what a message says as the whole reply: without its text if that is a
	 * thought, as in a stream.
	 * @param message the message that the model has sent
	 */
	public static AssistantMessage said(AssistantMessage message) {
		if (!isThought(message)) {
			return message;
		}
		MessageContent content = MessageContent.of(message);
		content.metadata().remove(IS_THOUGHT);
		return (AssistantMessage) content.withText("").message();
	}

	public static TokenUsage usage(@Nullable Usage usage) {
		if (usage == null) {
			return TokenUsage.NONE;
		}
		return new TokenUsage(count(usage.getPromptTokens()), count(usage.getCompletionTokens()),
				count(usage.getCacheReadInputTokens()), count(usage.getCacheWriteInputTokens()));
	}

	private static long count(@Nullable Number number) {
		return (number != null) ? number.longValue() : 0;
	}

}
