package io.sessionkit.internal.round;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatResponse;

/**
 * How a round goes on.
 *
 * @param messages what the model is to get
 * @param answer what a hook answered; the model is not called then. Null if it is
 */
public record RoundRequest(List<Message> messages, @Nullable ChatResponse answer) {

	public RoundRequest {
		messages = List.copyOf(messages);
	}

}
