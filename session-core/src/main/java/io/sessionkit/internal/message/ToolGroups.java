package io.sessionkit.internal.message;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;

/**
 * Checks that the calls and results in a turn belong together.
 */
public final class ToolGroups {

	private ToolGroups() {
	}

	/**
	 * Returns what is wrong with the messages of a turn, as words that follow "returned".
	 * If the application runs the tools itself, a turn may begin with results and end
	 * with calls. That is therefore wrong only if it was not so before.
	 * @param messages the messages as they will be kept
	 * @param before the messages as they were
	 * @return the fault; null if there is none
	 */
	public static @Nullable String fault(List<Message> messages, List<Message> before) {
		for (int i = 0; i < messages.size(); i++) {
			Message message = messages.get(i);
			if (callsTools(message)) {
				boolean atEnd = i == messages.size() - 1;
				if (atEnd ? !callsTools(last(before)) : !answers(messages.get(i + 1), (AssistantMessage) message)) {
					return "a list in which message " + i
							+ " has tool calls, and their results are not right behind it";
				}
			}
			if (message instanceof ToolResponseMessage) {
				boolean wrong = (i == 0) ? !(before.get(0) instanceof ToolResponseMessage)
						: !callsTools(messages.get(i - 1));
				if (wrong) {
					return "a list in which message " + i
							+ " has tool results, and their calls are not right before it";
				}
			}
		}
		return null;
	}

	private static Message last(List<Message> messages) {
		return messages.get(messages.size() - 1);
	}

	private static boolean callsTools(Message message) {
		return message instanceof AssistantMessage reply && reply.hasToolCalls();
	}

	private static boolean answers(Message message, AssistantMessage calls) {
		return message instanceof ToolResponseMessage results && results.getResponses()
			.stream()
			.map(ToolResponse::id)
			.toList()
			.equals(calls.getToolCalls().stream().map(ToolCall::id).toList());
	}

}
