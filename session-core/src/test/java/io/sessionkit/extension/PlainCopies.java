package io.sessionkit.extension;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.HookContext;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Sends all that was said, made anew without its metadata.
 */
public final class PlainCopies implements HistoryMerge {

	@Override
	public List<Message> merge(HookContext context, List<Message> history, List<Message> input) {
		List<Message> messages = new ArrayList<>();
		history.forEach((message) -> messages.add(plain(message)));
		messages.addAll(input);
		return messages;
	}

	private static Message plain(Message message) {
		if (message instanceof UserMessage user) {
			return UserMessage.builder().text(user.getText()).media(user.getMedia()).build();
		}
		if (message instanceof AssistantMessage reply) {
			return AssistantMessage.builder()
				.content(reply.getText())
				.toolCalls(reply.getToolCalls())
				.media(reply.getMedia())
				.build();
		}
		return (message instanceof ToolResponseMessage results)
				? ToolResponseMessage.builder().responses(results.getResponses()).build() : message;
	}

}
