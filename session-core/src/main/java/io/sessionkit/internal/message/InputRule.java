package io.sessionkit.internal.message;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.SystemMessage;

/**
 * Checks the input of a turn after a hook or a merge has changed it. The input must have
 * at least one message and no system text, and the messages to send must end with one
 * that the model can answer. If the caller itself has sent messages without such an end,
 * they may stay so: some providers continue a reply that was begun.
 */
public final class InputRule {

	private InputRule() {
	}

	/**
	 * Returns what is wrong with a changed input, as words that follow "returned"; null
	 * if nothing is wrong.
	 * @param input the input as it is now
	 * @param sent the messages to send, including the input
	 * @param before the input as it was
	 */
	public static @Nullable String fault(List<Message> input, List<Message> sent, List<Message> before) {
		if (input.isEmpty()) {
			return "no message that is new";
		}
		if (input.stream().anyMatch(SystemMessage.class::isInstance)) {
			return "new system text";
		}
		return isAnswerableStill(sent, before) ? null : "a list that does not end with a user message or tool results";
	}

	/**
	 * Returns whether the model can answer a changed list, or could not answer the list
	 * before the change either.
	 */
	public static boolean isAnswerableStill(List<Message> changed, List<Message> before) {
		return !isAnswerable(before) || isAnswerable(changed);
	}

	private static boolean isAnswerable(List<Message> messages) {
		MessageType last = messages.isEmpty() ? MessageType.SYSTEM : messages.get(messages.size() - 1).getMessageType();
		return last == MessageType.USER || last == MessageType.TOOL;
	}

}
