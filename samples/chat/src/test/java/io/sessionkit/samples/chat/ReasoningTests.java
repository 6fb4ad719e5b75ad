package io.sessionkit.samples.chat;

import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;

class ReasoningTests {

	@ParameterizedTest
	@ValueSource(strings = { "reasoningContent", "reasoning_content", "reasoning", "thinking" })
	void readsEachName(String name) {
		AssistantMessage message = message("Hello", Map.of(name, "They greet me."));

		assertThat(Reasoning.of(message)).isEqualTo("They greet me.");
		assertThat(Reasoning.textOf(message)).isEqualTo("Hello");
	}

	@Test
	void takesTheTextOfASignedBlockForReasoning() {
		AssistantMessage message = message("They greet me.", Map.of("signature", "abc"));

		assertThat(Reasoning.of(message)).isEqualTo("They greet me.");
		assertThat(Reasoning.textOf(message)).isNull();
	}

	@Test
	void takesTheTextOfAStreamedReplyForItsText() {
		AssistantMessage message = message("Hello", Map.of("thinking", "They greet me.", "signature", "abc"));

		assertThat(Reasoning.of(message)).isEqualTo("They greet me.");
		assertThat(Reasoning.textOf(message)).isEqualTo("Hello");
	}

	@Test
	void findsNoneWhereThereIsNone() {
		assertThat(Reasoning.of(message("Hello", Map.of("reasoningContent", "")))).isNull();
		assertThat(Reasoning.of(new UserMessage("Hello"))).isNull();
	}

	private static AssistantMessage message(String text, Map<String, Object> metadata) {
		return AssistantMessage.builder().content(text).properties(metadata).build();
	}

}
