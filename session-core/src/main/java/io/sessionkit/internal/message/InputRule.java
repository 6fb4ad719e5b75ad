package io.sessionkit.internal.message;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.SystemMessage;

/**
 * What the input of a turn must be when somebody has changed it, a hook or a merge: at
 * least one message, no system text, and at the end of what is sent a message that the
 * model can answer. What the caller itself has sent without such an end may stay so: some
 * providers continue a reply that was begun.
 */
public final class InputRule {

	private InputRule() {
	}

	/**
	 * What is wrong with a changed input, to be read behind "returned"; null for nothing.
	 * @param input the input as it is now
	 * @param sent what is sent, the input included
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
	 * Whether a changed list can be answered by the model, if it could be before.
	 */
	public static boolean isAnswerableStill(List<Message> changed, List<Message> before) {
		return !isAnswerable(before) || isAnswerable(changed);
	}

	private static boolean isAnswerable(List<Message> messages) {
		MessageType last = messages.isEmpty() ? MessageType.SYSTEM : messages.get(messages.size() - 1).getMessageType();
		return last == MessageType.USER || last == MessageType.TOOL;
	}

}
