package io.sessionkit.advisor;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;

/**
 * A slow model that counts what it is asked.
 */
final class CountedModel implements ChatModel {

	private final Map<String, Integer> calls = new ConcurrentHashMap<>();

	private final long millis;

	CountedModel(long millis) {
		this.millis = millis;
	}

	int calls(String question) {
		return this.calls.getOrDefault(question, 0);
	}

	@Override
	public ChatResponse call(Prompt prompt) {
		String question = prompt.getInstructions().get(prompt.getInstructions().size() - 1).getText();
		this.calls.merge(question, 1, Integer::sum);
		try {
			TimeUnit.MILLISECONDS.sleep(this.millis);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		return new ChatResponse(List.of(new Generation(new AssistantMessage("a of " + question))));
	}

	@Override
	public Flux<ChatResponse> stream(Prompt prompt) {
		return Mono.fromCallable(() -> call(prompt)).subscribeOn(Schedulers.boundedElastic()).flux();
	}

}
