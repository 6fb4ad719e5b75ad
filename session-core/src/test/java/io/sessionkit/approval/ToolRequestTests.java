package io.sessionkit.approval;

import java.util.Map;

import io.sessionkit.SessionKey;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.definition.ToolDefinition;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests requests that tests of policies make.
 */
class ToolRequestTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private static final ToolCall CALL = new ToolCall("c1", "function", "cancel", "{\"order\":7}");

	private static final ToolDefinition TOOL = ToolDefinition.builder().name("cancel").inputSchema("{}").build();

	@Test
	void requestOfATestHasWhatItIsGivenAndNothingElse() {
		ToolRequest request = ToolRequest.of("cancel", Map.of("order", 7));
		assertThat(request).isEqualTo(new ToolRequest(null, null, new ToolCall("", "function", "cancel", "{}"),
				Map.of("order", 7), null, Map.of(), Map.of()));
		ToolRequest whole = request.key(KEY)
			.agent("shop")
			.call(CALL)
			.tool(TOOL)
			.attributes(Map.of("a", 1))
			.parameters(Map.of("p", 2));
		assertThat(whole)
			.isEqualTo(new ToolRequest(KEY, "shop", CALL, Map.of("order", 7), TOOL, Map.of("a", 1), Map.of("p", 2)));
	}

}
