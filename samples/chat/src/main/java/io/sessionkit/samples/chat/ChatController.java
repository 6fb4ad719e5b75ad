package io.sessionkit.samples.chat;

import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
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

	private final ChatClient chat;

	private final Conversations conversations;

	ChatController(ChatClient.Builder builder, ChatTools tools, OrderTools orders, Conversations conversations) {
		this.chat = builder.defaultSystem("You are a friendly assistant. Answer briefly.")
			.defaultTools(tools, orders)
			.build();
		this.conversations = conversations;
	}

	/**
	 * Asks the model, at the end of the thread or in the place of another turn, and
	 * streams the answer: {@code text}, {@code reasoning} and {@code tool} events in the
	 * order in which they happen, then one {@code turn}, whose status may say that it
	 * waits for a decision, or one {@code problem}. Closing the stream cancels the turn.
	 */
	@PostMapping(path = "/api/threads/{id}/turns", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	Flux<ServerSentEvent<Object>> ask(@PathVariable String id, @RequestBody Question question) {
		String text = question.checked();
		Long turn = question.editing();
		Conversation thread = this.conversations.get(id);
		if (turn == null) {
			return ReplyEvents.of(() -> this.chat.prompt().user(text), thread);
		}
		checkShown(thread, turn);
		return ReplyEvents.of(() -> this.chat.prompt().user(text).advisors(SessionAdvisor.editing(turn)), thread);
	}

	/**
	 * Asks the question of a turn again. The new turn takes its place, and the old one
	 * stays as a sibling. Streams as {@link #ask} does.
	 */
	@PostMapping(path = "/api/threads/{id}/turns/{number}/again", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	Flux<ServerSentEvent<Object>> again(@PathVariable String id, @PathVariable long number) {
		Conversation thread = this.conversations.get(id);
		checkShown(thread, number);
		return ReplyEvents.of(() -> this.chat.prompt().advisors(SessionAdvisor.regenerating(number)), thread);
	}

	private static void checkShown(Conversation thread, long turn) {
		if (thread.session().filter((session) -> ShownTurns.of(thread, session).contains(turn)).isEmpty()) {
			throw new ResponseStatusException(HttpStatus.NOT_FOUND, "Turn " + turn
					+ " is not shown in this thread, or not any more. Reload the page, or go to its branch first.");
		}
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
		return ReplyEvents.of(this.chat::prompt, this.conversations.get(id));
	}

	/**
	 * @param editing the turn whose place the new one takes; null for none
	 */
	record Question(@Nullable String text, @Nullable Long editing) {

		String checked() {
			if (this.text == null || this.text.isBlank()) {
				throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "The question has no text. Write something.");
			}
			return this.text;
		}

	}

}
