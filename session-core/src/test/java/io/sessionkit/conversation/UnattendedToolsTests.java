package io.sessionkit.conversation;

import java.util.List;
import java.util.Set;

import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.UnattendedToolException;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The names of tool calls that nobody would be asked about.
 */
class UnattendedToolsTests {

	private final UnattendedTools tools = UnattendedTools.of(Set.of(),
			List.<ApprovalPolicy>of((request) -> Ruling.ask()), "Ask somebody.");

	@Test
	void callWithoutANameIsRefusedAsAnyOther() {
		assertRefused(null, List.of(), "");
	}

	@Test
	void nameOfAToolIsGivenAsItIs() {
		String name = "look".repeat(30);
		ToolCallback tool = FunctionToolCallback.builder(name, (Object nothing) -> "")
			.description("looks")
			.inputType(Object.class)
			.build();
		assertRefused(name, List.of(tool), name);
	}

	/** A model may write anything. */
	@Test
	void nameThatNoToolHasIsCutAndShownInOneLine() {
		assertRefused("a\n" + "b".repeat(100), List.of(), "a\\u000A" + "b".repeat(62) + "...");
	}

	private void assertRefused(String called, List<ToolCallback> known, String shown) {
		ToolCall call = new ToolCall("c1", "function", called, "{}");
		assertThatExceptionOfType(UnattendedToolException.class)
			.isThrownBy(() -> this.tools.checkCalls(List.of(), known, List.of(call)))
			.withMessageStartingWith("Tool '" + shown + "' needs an approval")
			.returns(shown, UnattendedToolException::tool);
	}

}
