package io.sessionkit.stream;

import java.util.List;
import java.util.Objects;

import io.sessionkit.internal.message.Replies;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;

/**
 * Finds what a model thinks in the metadata of the chunks of its replies, where each
 * provider has another name for it. Not safe for use by many threads.
 */
final class Reasoning {

	/**
	 * Spring AI's model for the protocol of OpenAI gathers the pieces itself, so each
	 * chunk has all of the reasoning so far.
	 */
	private static final String GATHERED = "reasoningContent";

	/**
	 * The names under which OpenAI-compatible servers, Ollama and Anthropic send it in
	 * pieces.
	 */
	private static final List<String> PIECES = List.of("reasoning_content", "reasoning", "thinking");

	private final WholeCharacters pieces = new WholeCharacters();

	/** The reasoning so far in the current reply of a model that sends it accumulated. */
	private String gathered = "";

	/**
	 * Returns what a chunk has of the reasoning.
	 * @return the piece that the chunks before it did not have; empty for none
	 */
	String add(AssistantMessage chunk) {
		String all = text(chunk, GATHERED);
		return this.pieces.add((all != null) ? news(all) : piece(chunk));
	}

	/** A later reply of the same call begins anew. */
	private String news(String all) {
		String before = this.gathered;
		this.gathered = all;
		return all.startsWith(before) ? all.substring(before.length()) : all;
	}

	private static String piece(AssistantMessage chunk) {
		if (Replies.isThought(chunk)) {
			return Objects.requireNonNullElse(chunk.getText(), "");
		}
		return PIECES.stream().map((name) -> text(chunk, name)).filter(Objects::nonNull).findFirst().orElse("");
	}

	private static @Nullable String text(AssistantMessage chunk, String name) {
		return (chunk.getMetadata().get(name) instanceof String text && !text.isEmpty()) ? text : null;
	}

}
