package io.sessionkit.internal.round;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatResponse;

/**
 * The request of a round, or the response that replaces it.
 *
 * @param messages the messages to send to the model
 * @param answer the response to use without calling the model; null to call it
 */
public record RoundRequest(List<Message> messages, @Nullable ChatResponse answer) {

	public RoundRequest {
		messages = List.copyOf(messages);
	}

}
