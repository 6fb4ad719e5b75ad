package io.sessionkit.samples.chat;

import java.util.function.Supplier;

import io.sessionkit.Concurrency;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClient.ChatClientRequestSpec;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
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

	private final RunningReplies running;

	ChatController(ChatClient.Builder builder, ChatTools tools, OrderTools orders, Conversations conversations,
			RunningReplies running) {
		this.chat = builder.defaultSystem("You are a friendly assistant. Answer briefly.")
			.defaultTools(tools, orders)
			.build();
		this.conversations = conversations;
		this.running = running;
	}

	/**
	 * Asks the model, at the end of the thread or in the place of another turn, and
	 * streams the answer: {@code text}, {@code reasoning} and {@code tool} events in the
	 * order in which they happen, then one {@code turn}, whose status may say that it
	 * waits for a decision, or one {@code problem}. While another window is answered, a
	 * {@code waiting} event comes first, and {@code begun} when that is over. What joins
	 * the turn meanwhile is a {@code joined} event; the question that has joined gets
	 * nothing but {@code steered}, with that turn. Closing the stream cancels the turn,
	 * unless the request has a name: it goes on then, and the same request gets the same
	 * answer.
	 */
	@PostMapping(path = "/api/threads/{id}/turns", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	Flux<ServerSentEvent<Object>> ask(@PathVariable String id, @RequestBody Question question) {
		String text = question.checked();
		Conversation thread = this.conversations.get(id);
		Long turn = question.editing();
		if (turn != null) {
			checkShown(thread, turn);
		}
		return answer(thread, question, () -> (turn != null)
				? this.chat.prompt().user(text).advisors(SessionAdvisor.editing(turn)) : this.chat.prompt().user(text));
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
		return answer(thread, new Question(null, number, (name != null) ? name.request() : null, null),
				() -> this.chat.prompt().advisors(SessionAdvisor.regenerating(number)));
	}

	private Flux<ServerSentEvent<Object>> answer(Conversation thread, Question question,
			Supplier<ChatClientRequestSpec> call) {
		String request = question.request();
		if (request == null) {
			return ReplyEvents.of(call, thread);
		}
		return this.running.join(new RunningReplies.Request(thread.key(), request, question.asked()),
				(alone) -> ReplyEvents.of(() -> call.get()
					.advisors(SessionAdvisor.idempotencyKey(request))
					.advisors(SessionAdvisor.concurrency(question.mode(alone))), thread));
	}

	/**
	 * Ends a request with a name, whether it waits or is being answered.
	 */
	@DeleteMapping("/api/threads/{id}/requests/{request}")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void stop(@PathVariable String id, @PathVariable String request) {
		this.running.stop(this.conversations.get(id).key(), request);
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
	 * @param request the name of this request, by which it can be repeated and stopped;
	 * null for none
	 * @param steer whether it joins the turn that runs; null for no
	 */
	record Question(@Nullable String text, @Nullable Long editing, @Nullable String request, @Nullable Boolean steer) {

		/** What makes it the same question. */
		Object asked() {
			return new Question(this.text, this.editing, null, null);
		}

		/**
		 * A question that others may join says {@code STEER} itself. One that is not
		 * alone waits instead: only who asks for it joins what another window has asked.
		 */
		Concurrency mode(boolean alone) {
			return (alone || Boolean.TRUE.equals(this.steer)) ? Concurrency.STEER : Concurrency.SERIALIZE;
		}

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
