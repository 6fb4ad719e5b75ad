package io.sessionkit.guard;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Reads and changes the texts of messages: the texts of a person and a model, the
 * arguments of tool calls and the results of tools. Texts may be null. System text is the
 * application's own and is not included.
 */
final class MessageTexts {

	private MessageTexts() {
	}

	/**
	 * Returns the texts of a message, unchanged.
	 */
	static List<String> of(Message message) {
		List<@Nullable String> texts = new ArrayList<>();
		if (message instanceof UserMessage || message instanceof AssistantMessage) {
			texts.add(message.getText());
		}
		texts.addAll(data(message));
		List<String> present = new ArrayList<>();
		for (String text : texts) {
			if (text != null && !text.isEmpty()) {
				present.add(text);
			}
		}
		return present;
	}

	/**
	 * Returns the arguments of the calls of a message, or its results.
	 */
	private static List<@Nullable String> data(Message message) {
		List<@Nullable String> data = new ArrayList<>();
		if (message instanceof AssistantMessage reply) {
			reply.getToolCalls().forEach((call) -> data.add(call.arguments()));
		}
		if (message instanceof ToolResponseMessage results) {
			results.getResponses().forEach((result) -> data.add(result.responseData()));
		}
		return data;
	}

	/**
	 * Returns the message with changed texts; media and metadata stay as they are.
	 * @param text the function that changes the text of a person or model
	 * @param data the function that changes arguments and results
	 * @return the same message if nothing has changed
	 */
	static Message map(Message message, UnaryOperator<String> text, UnaryOperator<String> data) {
		if (message instanceof UserMessage user) {
			String changed = changed(user.getText(), text);
			return (changed != null) ? withText(user, changed) : message;
		}
		if (message instanceof AssistantMessage reply) {
			return calls(said(reply, text), data);
		}
		return (message instanceof ToolResponseMessage results) ? results(results, data) : message;
	}

	/**
	 * Returns the message with another text. Not with {@code mutate()}, which refuses
	 * metadata with null values.
	 */
	private static UserMessage withText(UserMessage user, String text) {
		return UserMessage.builder().text(text).media(user.getMedia()).metadata(user.getMetadata()).build();
	}

	/**
	 * Returns the reply with a changed text and the same tool calls.
	 */
	static AssistantMessage said(AssistantMessage reply, UnaryOperator<String> text) {
		String changed = changed(reply.getText(), text);
		return (changed != null) ? reply.mutate().content(changed).build() : reply;
	}

	private static AssistantMessage calls(AssistantMessage reply, UnaryOperator<String> data) {
		List<ToolCall> calls = reply.getToolCalls().stream().map((call) -> {
			String changed = changed(call.arguments(), data);
			return (changed != null) ? new ToolCall(call.id(), call.type(), call.name(), changed) : call;
		}).toList();
		return calls.equals(reply.getToolCalls()) ? reply : reply.mutate().toolCalls(calls).build();
	}

	private static ToolResponseMessage results(ToolResponseMessage message, UnaryOperator<String> data) {
		List<ToolResponse> results = message.getResponses().stream().map((result) -> {
			String changed = changed(result.responseData(), data);
			return (changed != null) ? new ToolResponse(result.id(), result.name(), changed) : result;
		}).toList();
		return results.equals(message.getResponses()) ? message
				: ToolResponseMessage.builder().responses(results).metadata(message.getMetadata()).build();
	}

	/**
	 * Returns the changed text, or null if it stays as it is.
	 */
	private static @Nullable String changed(@Nullable String text, UnaryOperator<String> change) {
		if (text == null || text.isEmpty()) {
			return null;
		}
		String changed = change.apply(text);
		return changed.equals(text) ? null : changed;
	}

}
