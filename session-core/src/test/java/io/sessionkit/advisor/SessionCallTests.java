package io.sessionkit.advisor;

import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.memory.ChatMemory;

import static org.assertj.core.api.Assertions.assertThat;

class SessionCallTests {

	@Test
	void conversationIsNamedWhereSpringAiLooksForIt() {
		assertThat(SessionCall.CONVERSATION_ID).isEqualTo(ChatMemory.CONVERSATION_ID);
	}

}
