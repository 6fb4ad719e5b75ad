package io.sessionkit.samples.chat;

import java.util.List;

import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Conversations;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Talks with the model. Naming the session is all there is to do: its history is sent,
 * and the whole turn is stored when it ends, even if it fails or the reader disconnects.
 */
@RestController
final class ChatController {

	private static final Log logger = LogFactory.getLog(ChatController.class);

	private final ChatClient chat;

	private final Conversations conversations;

	ChatController(ChatClient.Builder builder, ChatTools tools, OrderTools orders, Conversations conversations) {
		this.chat = builder.defaultSystem("You are a friendly assistant. Answer briefly.")
			.defaultTools(tools, orders)
			.build();
		this.conversations = conversations;
	}

	/**
	 * Asks the model and streams the answer: {@code text}, {@code reasoning} and
	 * {@code tool} events, then one {@code turn}, whose status may say that it waits for
	 * a decision or has failed, or one {@code problem}. Closing the stream cancels the
	 * turn.
	 */
	@PostMapping(path = "/api/threads/{id}/turns", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	Flux<ServerSentEvent<Object>> ask(@PathVariable String id, @RequestBody Question question) {
		return events(this.chat.prompt().user(question.checked()), id);
	}

	/**
	 * Continues the turn that waited for a decision, with a call without a question.
	 * Streams as {@link #ask} does.
	 */
	@PostMapping(path = "/api/threads/{id}/resume", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	Flux<ServerSentEvent<Object>> resume(@PathVariable String id) {
		if (this.conversations.get(id).openTurn().isEmpty()) {
			throw new ResponseStatusException(HttpStatus.CONFLICT,
					"Nothing waits in this thread, or another window has gone on with it. Reload the page.");
		}
		return events(this.chat.prompt(), id);
	}

	/** The listener is this call's own: it hears nothing of other calls in the thread. */
	private static Flux<ServerSentEvent<Object>> events(ChatClient.ChatClientRequestSpec call, String id) {
		Sinks.Many<ToolEvent> tools = Sinks.many().unicast().onBackpressureBuffer();
		ReplyParts parts = new ReplyParts();
		Flux<ServerSentEvent<Object>> reply = call.advisors(SessionAdvisor.session(id))
			.advisors(SessionAdvisor.listener(new ToolEvents(tools)))
			.stream()
			.chatResponse()
			.concatMapIterable((response) -> events(response, parts))
			.onErrorResume((ex) -> {
				logger.warn("The turn failed.", ex);
				return Flux.just(event("problem", Problems.of(ex)));
			})
			.doFinally((signal) -> tools.tryEmitComplete());
		return Flux.merge(tools.asFlux().map((tool) -> event("tool", tool)), reply);
	}

	private static List<ServerSentEvent<Object>> events(ChatResponse response, ReplyParts parts) {
		return SessionAdvisor.turn(response)
			.map((result) -> List.of(event("turn", TurnView.of(result.turn(), result.items()))))
			.orElseGet(() -> parts.of(response.getResult()).stream().map((part) -> event(part.name(), part)).toList());
	}

	private static ServerSentEvent<Object> event(String name, Object data) {
		return ServerSentEvent.builder(data).event(name).build();
	}

	record Question(@Nullable String text) {

		String checked() {
			if (this.text == null || this.text.isBlank()) {
				throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "The question has no text. Write something.");
			}
			return this.text;
		}

	}

}
