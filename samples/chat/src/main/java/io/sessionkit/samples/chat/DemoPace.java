package io.sessionkit.samples.chat;

import java.time.Duration;

import reactor.core.publisher.Flux;

import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/**
 * The pace at which the demo model says its words.
 */
@Component
class DemoPace {

	private final Duration word;

	/**
	 * @param word the time before each word; zero to say all at once
	 */
	DemoPace(@Value("${demo.pace:40ms}") Duration word) {
		this.word = word;
	}

	/**
	 * Slows a reply down.
	 * @param prompt what it answers
	 */
	Flux<ChatResponse> slow(Prompt prompt, Flux<ChatResponse> words) {
		return this.word.isZero() ? words : words.delayElements(this.word);
	}

}
