package io.sessionkit.samples.webflux;

import java.util.List;

import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Page;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * The threads of the user who is signed in. A call of a model is a stream, and does its
 * work with the store on threads that may wait. What reads the store itself is moved to
 * such a thread here, and the user goes with it.
 */
@RestController
@RequestMapping("/threads")
class ThreadController {

	private static final int NEWEST = 20;

	private final ChatClient chat;

	private final Conversations conversations;

	ThreadController(ChatClient.Builder builder, OrderTools tools, Conversations conversations) {
		this.chat = builder.defaultTools(tools).build();
		this.conversations = conversations;
	}

	record Question(@Nullable String text) {

		String checked() {
			if (this.text == null || this.text.isBlank()) {
				throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "The question has no text. Write something.");
			}
			return this.text;
		}

	}

	record Line(String role, String text) {
	}

	// tag::ask
	record Piece(String text) {
	}

	@PostMapping(path = "/{thread}", consumes = MediaType.APPLICATION_JSON_VALUE,
			produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	Flux<Piece> ask(@PathVariable String thread, @RequestBody Question question) {
		return this.chat.prompt()
			.user(question.checked())
			.advisors(SessionAdvisor.session(thread))
			.stream()
			.content()
			.map(Piece::new);
	}
	// end::ask

	@GetMapping
	Mono<List<String>> threads() {
		return Mono
			.fromCallable(() -> this.conversations.store()
				.list("", Page.first(NEWEST))
				.stream()
				.map((session) -> session.key().id())
				.toList())
			.subscribeOn(Schedulers.boundedElastic());
	}

	// tag::read
	@GetMapping("/{thread}")
	Mono<List<Line>> read(@PathVariable String thread) {
		return Mono
			.fromCallable(() -> this.conversations.get(thread)
				.messages()
				.stream()
				.map((message) -> new Line(message.getMessageType().getValue(), String.valueOf(message.getText())))
				.toList())
			.subscribeOn(Schedulers.boundedElastic());
	}
	// end::read

}
