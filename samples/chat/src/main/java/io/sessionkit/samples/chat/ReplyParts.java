package io.sessionkit.samples.chat;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.Generation;

/**
 * The pieces of one reply as they arrive: what the model says, and what it thinks. Used
 * by one reply, whose pieces arrive one after another.
 */
final class ReplyParts {

	private String thought = "";

	List<Part> of(@Nullable Generation generation) {
		if (generation == null) {
			return List.of();
		}
		List<Part> parts = new ArrayList<>();
		String reasoning = Reasoning.of(generation.getOutput());
		if (reasoning != null) {
			parts.add(new Part("reasoning", added(reasoning)));
		}
		String text = generation.getOutput().getText();
		if (text != null) {
			parts.add(new Part("text", text));
		}
		return parts.stream().filter((part) -> !part.text().isEmpty()).toList();
	}

	/**
	 * Some providers send all of the reasoning so far with each chunk, others what is
	 * new.
	 */
	private String added(String reasoning) {
		boolean isWhole = !this.thought.isEmpty() && reasoning.startsWith(this.thought);
		String added = isWhole ? reasoning.substring(this.thought.length()) : reasoning;
		this.thought += added;
		return added;
	}

	/**
	 * @param name the kind of the event
	 */
	record Part(String name, String text) {
	}

}
