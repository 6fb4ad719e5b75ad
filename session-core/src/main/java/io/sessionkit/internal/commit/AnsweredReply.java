package io.sessionkit.internal.commit;

import java.util.List;

import io.sessionkit.internal.round.Transcript;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;

/**
 * The newest reply of a turn if its tool calls have been answered and nothing has been
 * said since.
 *
 * @param reply the reply
 * @param results one result for each of its calls, in their order
 */
public record AnsweredReply(AssistantMessage reply, List<ToolResponse> results) {

	/** Returns null if the turn does not end with such a reply and its results. */
	static @Nullable AnsweredReply last(List<Transcript.Entry> said) {
		int size = said.size();
		if (size < 2 || !(said.get(size - 2).message() instanceof AssistantMessage reply)
				|| !(said.get(size - 1).message() instanceof ToolResponseMessage results)) {
			return null;
		}
		return answers(results.getResponses(), reply.getToolCalls())
				? new AnsweredReply(reply, List.copyOf(results.getResponses())) : null;
	}

	private static boolean answers(List<ToolResponse> results, List<ToolCall> calls) {
		if (calls.isEmpty() || results.size() != calls.size()) {
			return false;
		}
		for (int i = 0; i < calls.size(); i++) {
			if (!results.get(i).name().equals(calls.get(i).name())) {
				return false;
			}
		}
		return true;
	}

}
