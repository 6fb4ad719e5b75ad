package io.sessionkit.stream;

import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.sessionkit.SessionItem;
import io.sessionkit.TurnResult;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * The texts of a turn as hooks have left them in the store.
 *
 * @param asked what users have said
 * @param said what the model has said, in one piece
 * @param returned the results of tools, one of which may be the answer
 */
record StoredTexts(List<String> asked, String said, List<String> returned) {

	static StoredTexts of(@Nullable TurnResult turn) {
		List<Message> messages = (turn != null) ? turn.items().stream().map(SessionItem::message).toList() : List.of();
		return new StoredTexts(texts(messages, UserMessage.class).toList(),
				texts(messages, AssistantMessage.class).collect(Collectors.joining()),
				messages.stream().flatMap(StoredTexts::results).toList());
	}

	private static Stream<String> texts(List<Message> messages, Class<? extends Message> type) {
		return messages.stream().filter(type::isInstance).map((each) -> Objects.requireNonNullElse(each.getText(), ""));
	}

	private static Stream<String> results(Message message) {
		return (message instanceof ToolResponseMessage tools)
				? tools.getResponses().stream().map(ToolResponse::responseData) : Stream.of();
	}

	/** An earlier call may have begun the turn, so its texts may come first. */
	boolean haveSaid(String sent) {
		return this.said.endsWith(sent)
				|| this.returned.stream().anyMatch((result) -> (this.said + result).endsWith(sent));
	}

}
