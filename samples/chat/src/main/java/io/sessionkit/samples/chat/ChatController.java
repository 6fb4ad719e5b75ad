package io.sessionkit.samples.chat;

import java.util.function.Consumer;

import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.stream.OnDisconnect;
import io.sessionkit.stream.TurnStreams;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Talks with the model. Naming the session is all there is to do: its history is sent,
 * and the whole turn is stored when it ends, even if it fails or the reader disconnects.
 */
@RestController
final class ChatController {

	private final ChatClient chat;

	private final Conversations conversations;

	private final TurnStreams streams;

	ChatController(ChatClient.Builder builder, ChatTools tools, OrderTools orders, Conversations conversations,
			TurnStreams streams) {
		this.chat = builder.defaultSystem("You are a friendly assistant. Answer briefly.")
			.defaultTools(tools, orders)
			.build();
		this.conversations = conversations;
		this.streams = streams;
	}

	/**
	 * Asks the model, at the end of the thread or in the place of another turn, and
	 * streams the answer: {@code begun}, then {@code text}, {@code reasoning} and
	 * {@code tool} events in the order in which they happen, then one {@code turn}, whose
	 * status may say that it waits for a decision, or one {@code problem}. While another
	 * window is answered, a {@code waiting} event comes first. What joins the turn
	 * meanwhile is a {@code joined} event; the question that has joined gets nothing but
	 * {@code steered}, with that turn. Closing the stream cancels the turn, unless the
	 * request has a name: it goes on then, and the same request gets the same answer, in
	 * any process on the same store.
	 */
	@PostMapping(path = "/api/threads/{id}/turns", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	Flux<ServerSentEvent<Object>> ask(@PathVariable String id, @RequestBody Question question) {
		String text = question.checked();
		Conversation thread = this.conversations.get(id);
		Long turn = question.editing();
		if (turn != null) {
			checkShown(thread, turn);
		}
		ChatClientRequestSpec call = this.chat.prompt().user(text).advisors(seen(question));
		return answer(thread, (turn != null) ? call.advisors(SessionAdvisor.editing(turn)) : call, question);
	}

	/**
	 * Asks the question of a turn again. The new turn takes its place, and the old one
	 * stays as a sibling. Streams as {@link #ask} does.
	 */
	@PostMapping(path = "/api/threads/{id}/turns/{number}/again", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	Flux<ServerSentEvent<Object>> again(@PathVariable String id, @PathVariable long number,
			@RequestBody(required = false) @Nullable Name name) {
		Conversation thread = this.conversations.get(id);
		checkShown(thread, number);
		return answer(thread, this.chat.prompt().advisors(SessionAdvisor.regenerating(number)),
				new Question(null, number, (name != null) ? name.request() : null, null, null));
	}

	/** Nothing is asked in a thread that has lost what its reader has seen. */
	private static Consumer<ChatClient.AdvisorSpec> seen(Question question) {
		return SessionAdvisor.expectTurn((question.seen() != null) ? Math.max(0, question.seen()) : 0);
	}

	private Flux<ServerSentEvent<Object>> answer(Conversation thread, ChatClientRequestSpec call, Question question) {
		if (!Boolean.TRUE.equals(question.steer())) {
			// only who asks for it joins what another window has asked
			call.advisors(SessionAdvisor.ownTurn());
		}
		String request = question.request();
		if (request == null) {
			return reply(thread, call, OnDisconnect.CANCEL);
		}
		return reply(thread, call.advisors(named(request)), OnDisconnect.CONTINUE);
	}

	private static Consumer<ChatClient.AdvisorSpec> named(String request) {
		try {
			return SessionAdvisor.idempotencyKey(request);
		}
		catch (IllegalArgumentException ex) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
					"The name of a request must have 1 to 255 characters, not all blank.", ex);
		}
	}

	private Flux<ServerSentEvent<Object>> reply(Conversation thread, ChatClientRequestSpec call,
			OnDisconnect onDisconnect) {
		return ReplyEvents.of(this.streams.start(call.advisors(SessionAdvisor.session(thread.key())), onDisconnect),
				thread);
	}

	/**
	 * Streams the answer that is being made in the thread, from its first word on;
	 * nothing if there is none. For a window that has not asked for it.
	 */
	@GetMapping(path = "/api/threads/{id}/running", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	Flux<ServerSentEvent<Object>> running(@PathVariable String id) {
		Conversation thread = this.conversations.get(id);
		return ReplyEvents.of(this.streams.running(thread.key()), thread);
	}

	/**
	 * Ends the answer of which the page has an event.
	 * @return 204; 202 if it was over
	 */
	@DeleteMapping("/api/threads/{id}/running")
	ResponseEntity<Void> stopRunning(@PathVariable String id, @RequestHeader("Last-Event-ID") String eventId) {
		return stopped(this.streams.stop(this.conversations.get(id).key(), eventId));
	}

	/**
	 * Ends a request with a name, whether it waits or is being answered.
	 * @return 204; 202 if there is none: it was over, or is still on its way, so the page
	 * asks again after a moment
	 */
	@DeleteMapping("/api/threads/{id}/requests/{request}")
	ResponseEntity<Void> stop(@PathVariable String id, @PathVariable String request) {
		return stopped(this.streams.stopRequest(this.conversations.get(id).key(), request));
	}

	private static ResponseEntity<Void> stopped(boolean found) {
		return ResponseEntity.status(found ? HttpStatus.NO_CONTENT : HttpStatus.ACCEPTED).build();
	}

	private static void checkShown(Conversation thread, long turn) {
		if (thread.session().filter((session) -> ShownTurns.of(thread, session).contains(turn)).isEmpty()) {
			throw new ResponseStatusException(HttpStatus.NOT_FOUND, "Turn " + turn
					+ " is not shown in this thread, or not any more. Reload the page, or go to its branch first.");
		}
	}

	/**
	 * Continues the turn that waited for a decision, with a call without a question.
	 * Streams as {@link #ask} does, and goes on without a reader.
	 */
	@PostMapping(path = "/api/threads/{id}/resume", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	Flux<ServerSentEvent<Object>> resume(@PathVariable String id) {
		Conversation thread = this.conversations.get(id);
		if (thread.openTurn().isEmpty()) {
			throw new ResponseStatusException(HttpStatus.CONFLICT,
					"Nothing waits in this thread, or another window has gone on with it. Reload the page.");
		}
		return reply(thread, this.chat.prompt(), OnDisconnect.CONTINUE);
	}

	/**
	 * @param editing the turn whose place the new one takes; null for none
	 * @param request the name of this request, by which it can be repeated and stopped;
	 * null for none
	 * @param steer whether it joins the turn that runs; null for no
	 * @param seen the newest turn that its reader has seen in the thread; null for none
	 */
	record Question(@Nullable String text, @Nullable Long editing, @Nullable String request, @Nullable Boolean steer,
			@Nullable Long seen) {

		String checked() {
			if (this.text == null || this.text.isBlank()) {
				throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "The question has no text. Write something.");
			}
			return this.text;
		}

	}

	/**
	 * @param request the name of this request; null for none
	 */
	record Name(@Nullable String request) {
	}

}
