package io.sessionkit.internal.round;

import java.util.List;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatResponse;

/**
 * The start of a round: either a model call, or the response that replaces it.
 */
public sealed interface RoundRequest {

	/**
	 * A call of the model.
	 *
	 * @param messages the messages to send
	 * @param round the round, which the caller ends
	 */
	record ModelCall(List<Message> messages, OpenRound round) implements RoundRequest {

		public ModelCall {
			messages = List.copyOf(messages);
		}

	}

	/**
	 * A response that is used without calling the model. There is no round to end.
	 *
	 * @param response the response
	 */
	record Answer(ChatResponse response) implements RoundRequest {
	}

}
