package io.sessionkit.internal.message;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;

/**
 * Checks that the calls and results in a turn belong together. The results of one reply
 * may be in one message or in several that follow each other.
 */
public final class ToolGroups {

	/**
	 * The ids of calls and of the results right behind them.
	 *
	 * @param calls the ids of the calls; none if there are only results
	 * @param results the ids of the results, in all messages that they are in
	 */
	private record Group(List<@Nullable String> calls, List<@Nullable String> results) {

		boolean isWhole() {
			return !this.calls.isEmpty() && this.calls.equals(this.results);
		}

	}

	private ToolGroups() {
	}

	/**
	 * Returns what is wrong with messages, as words that follow "returned". They may
	 * begin with results and end with calls.
	 * @param messages the messages
	 * @return the fault; null if there is none
	 */
	public static @Nullable String fault(List<Message> messages) {
		return fault(messages, true, true, List.of());
	}

	/**
	 * Returns what is wrong with the messages of a turn, as words that follow "returned".
	 * If the application runs the tools itself, a turn may begin with results and end
	 * with calls, and calls in the input may have other results. That is therefore wrong
	 * only if it was not so before.
	 * @param messages the messages as they will be kept
	 * @param before the messages as they were
	 * @return the fault; null if there is none
	 */
	public static @Nullable String fault(List<Message> messages, List<Message> before) {
		return fault(messages, before.get(0) instanceof ToolResponseMessage, callsTools(last(before)), groups(before));
	}

	/**
	 * Returns what is wrong with messages.
	 * @param resultsFirst whether they may begin with results
	 * @param callsLast whether they may end with calls
	 * @param known the groups that are right although they are not whole
	 */
	private static @Nullable String fault(List<Message> messages, boolean resultsFirst, boolean callsLast,
			List<Group> known) {
		for (int i = 0; i < messages.size(); i = end(messages, i)) {
			Group group = group(messages, i);
			boolean right = group.isWhole() || known.contains(group);
			if (callsTools(messages.get(i)) && !((i == messages.size() - 1) ? callsLast : right)) {
				return "a list in which message " + i + " has tool calls, and their results are not right behind it";
			}
			if (isResults(messages.get(i)) && !((i == 0) ? resultsFirst : right)) {
				return "a list in which message " + i + " has tool results, and their calls are not right before it";
			}
		}
		return null;
	}

	private static List<Group> groups(List<Message> messages) {
		List<Group> groups = new ArrayList<>();
		for (int i = 0; i < messages.size(); i = end(messages, i)) {
			if (callsTools(messages.get(i)) || isResults(messages.get(i))) {
				groups.add(group(messages, i));
			}
		}
		return groups;
	}

	/**
	 * Returns the end of the group that begins at an index.
	 */
	private static int end(List<Message> messages, int start) {
		int end = start + 1;
		boolean mayHaveResults = callsTools(messages.get(start)) || isResults(messages.get(start));
		while (mayHaveResults && end < messages.size() && isResults(messages.get(end))) {
			end++;
		}
		return end;
	}

	private static Group group(List<Message> messages, int start) {
		List<@Nullable String> calls = new ArrayList<>();
		List<@Nullable String> results = new ArrayList<>();
		for (Message message : messages.subList(start, end(messages, start))) {
			if (message instanceof AssistantMessage reply) {
				reply.getToolCalls().stream().map(ToolCall::id).forEach(calls::add);
			}
			if (message instanceof ToolResponseMessage tools) {
				tools.getResponses().stream().map(ToolResponse::id).forEach(results::add);
			}
		}
		return new Group(calls, results);
	}

	private static Message last(List<Message> messages) {
		return messages.get(messages.size() - 1);
	}

	private static boolean callsTools(Message message) {
		return message instanceof AssistantMessage reply && reply.hasToolCalls();
	}

	private static boolean isResults(Message message) {
		return message instanceof ToolResponseMessage;
	}

}
