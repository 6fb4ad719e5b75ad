package io.sessionkit.samples.chat;

import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.sessionkit.approval.ToolApproval;
import io.sessionkit.samples.chat.ApprovalsView.CallView;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.stereotype.Component;

/**
 * Adds to a call what its tool says of itself.
 */
@Component
final class ToolCallViews {

	private final Map<String, ToolDefinition> tools;

	private final JsonMapper json;

	ToolCallViews(OrderTools orders, RestoringTools restoring, JsonMapper json) {
		this.tools = Stream.of(ToolCallbacks.from(orders, restoring))
			.map((tool) -> tool.getToolDefinition())
			.collect(Collectors.toMap(ToolDefinition::name, Function.identity()));
		this.json = json;
	}

	CallView of(ToolApproval call) {
		ToolDefinition tool = this.tools.get(call.tool());
		return CallView.of(call, title(call.tool()), (tool != null) ? tool.description() : null, schema(call.tool()));
	}

	/**
	 * Returns the input schema of a tool.
	 * @return the schema; null if the tool is unknown
	 */
	@Nullable JsonNode schema(String name) {
		ToolDefinition tool = this.tools.get(name);
		return (tool != null) ? this.json.readTree(tool.inputSchema()) : null;
	}

	/**
	 * Returns the head of a sentence: "Cancel order" for {@code cancel_order} and {@code
	 * cancelOrder}.
	 */
	static String title(String tool) {
		String words = tool.replaceAll("(?<=[\\p{Ll}\\d])(?=\\p{Lu})", " ")
			.replaceAll("[^\\p{L}\\p{N}]+", " ")
			.strip()
			.toLowerCase(Locale.ROOT);
		return words.isEmpty() ? tool : Character.toTitleCase(words.charAt(0)) + words.substring(1);
	}

}
