package io.sessionkit.internal.message;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.codec.Deep;
import io.sessionkit.codec.EnvelopeVersion1Tests;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

class MessageContentTests {

	@Test
	void everyMessageIsPutTogetherAgainAsItWas() {
		for (Message message : EnvelopeVersion1Tests.messages()) {
			assertThat(MessageContent.knows(message)).isTrue();
			Message again = MessageContent.of(message).message();
			assertThat(again).isNotSameAs(message);
			Deep.assertEqual(again, message);
		}
	}

	@Test
	void listsAndMetadataAreTheCallersOwn() {
		List<ToolCall> calls = new ArrayList<>(List.of(new ToolCall("1", "function", "find", "{}")));
		Map<String, Object> metadata = new HashMap<>(Map.of("a", 1));
		AssistantMessage message = AssistantMessage.builder()
			.content("a")
			.toolCalls(calls)
			.properties(metadata)
			.build();
		MessageContent content = MessageContent.of(message);
		content.calls().clear();
		content.metadata().clear();
		assertThat(message.getToolCalls()).hasSize(1);
		assertThat(message.getMetadata()).containsEntry("a", 1);
	}

	@Test
	void changesLeaveTheRestAsItIs() {
		ToolResponseMessage tools = ToolResponseMessage.builder()
			.responses(List.of(new ToolResponse("1", "find", "long")))
			.metadata(Map.of("a", 1))
			.build();
		ToolResponseMessage shorter = (ToolResponseMessage) MessageContent.of(tools)
			.withResponses(List.of(new ToolResponse("1", "find", "short")))
			.message();
		assertThat(shorter.getResponses()).extracting(ToolResponse::responseData).containsExactly("short");
		assertThat(shorter.getMetadata()).isEqualTo(tools.getMetadata());
		UserMessage user = UserMessage.builder().text("a").metadata(Map.of("a", 1)).build();
		Message changed = MessageContent.of(user).withText("b").withMetadata(Map.of("b", 2)).message();
		Deep.assertEqual(changed, UserMessage.builder().text("b").metadata(Map.of("b", 2)).build());
	}

	@Test
	void messageThatIsNoneOfSpringAisIsNotKnown() {
		Message own = new Message() {

			@Override
			public MessageType getMessageType() {
				return MessageType.USER;
			}

			@Override
			public String getText() {
				return "a";
			}

			@Override
			public Map<String, Object> getMetadata() {
				return Map.of();
			}

		};
		assertThat(MessageContent.knows(own)).isFalse();
	}

}
