package io.sessionkit.advisor;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import tools.jackson.databind.JsonNode;

import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.anthropic.AnthropicChatOptions;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.model.ChatModel;

/**
 * Speaks like Anthropic's messages. A thought is a block with a signature; one that
 * begins with {@code redacted:} is hidden.
 */
public final class AnthropicStub extends ProviderStub {

	private static final String REDACTED = "redacted:";

	public AnthropicStub() throws IOException {
	}

	@Override
	public ChatModel model() {
		return AnthropicChatModel.builder()
			.options(AnthropicChatOptions.builder()
				.baseUrl(url())
				.apiKey("none")
				.model("stub-1")
				.maxTokens(4000)
				.thinkingEnabled(1024)
				.build())
			.build();
	}

	@Override
	protected String streamType() {
		return "text/event-stream";
	}

	@Override
	protected String whole(Reply reply) {
		List<Map<String, Object>> content = new ArrayList<>();
		reply.thinking().forEach((thought) -> content.add(block(thought)));
		if (!reply.text().isEmpty()) {
			content.add(Map.of("type", "text", "text", reply.text()));
		}
		for (ToolCall call : reply.calls()) {
			content.add(Map.of("type", "tool_use", "id", call.id(), "name", call.name(), "input",
					this.json.readTree(call.arguments()), "caller", Map.of("type", "direct")));
		}
		return this.json.writeValueAsString(message(content, reason(reply)));
	}

	private static Map<String, Object> block(String thought) {
		return thought.startsWith(REDACTED) ? Map.of("type", "redacted_thinking", "data", data(thought))
				: Map.of("type", "thinking", "thinking", thought, "signature", signature(thought));
	}

	private static String data(String thought) {
		return thought.substring(REDACTED.length());
	}

	private static String signature(String thought) {
		return "signed-" + thought.length();
	}

	private static String reason(Reply reply) {
		return reply.calls().isEmpty() ? "end_turn" : "tool_use";
	}

	private static Map<String, Object> message(List<?> content, String reason) {
		return Map.of("id", "m", "type", "message", "role", "assistant", "model", "stub-1", "content", content,
				"stop_reason", reason, "usage", Map.of("input_tokens", 11, "output_tokens", 3));
	}

	@Override
	protected String streamed(Reply reply) {
		StringBuilder events = new StringBuilder();
		Map<String, Object> start = new HashMap<>(message(List.of(), "end_turn"));
		start.put("stop_reason", null);
		event(events, Map.of("type", "message_start", "message", start));
		int index = 0;
		for (String thought : reply.thinking()) {
			thought(events, index++, thought);
		}
		if (!reply.text().isEmpty()) {
			block(events, index++, Map.of("type", "text", "text", ""), halves(reply.text(), "text_delta", "text"));
		}
		for (ToolCall call : reply.calls()) {
			block(events, index++, Map.of("type", "tool_use", "id", call.id(), "name", call.name(), "input", Map.of(),
					"caller", Map.of("type", "direct")), halves(call.arguments(), "input_json_delta", "partial_json"));
		}
		event(events, Map.of("type", "message_delta", "delta", Map.of("stop_reason", reason(reply)), "usage",
				Map.of("output_tokens", 3)));
		event(events, Map.of("type", "message_stop"));
		return events.toString();
	}

	private void thought(StringBuilder events, int index, String thought) {
		if (thought.startsWith(REDACTED)) {
			block(events, index, block(thought), List.of());
			return;
		}
		List<Map<String, Object>> deltas = new ArrayList<>(halves(thought, "thinking_delta", "thinking"));
		deltas.add(Map.of("type", "signature_delta", "signature", signature(thought)));
		block(events, index, Map.of("type", "thinking", "thinking", "", "signature", ""), deltas);
	}

	private static List<Map<String, Object>> halves(String text, String type, String field) {
		int middle = text.length() / 2;
		return List.of(Map.of("type", type, field, text.substring(0, middle)),
				Map.of("type", type, field, text.substring(middle)));
	}

	private void block(StringBuilder events, int index, Map<String, Object> block, List<Map<String, Object>> deltas) {
		event(events, Map.of("type", "content_block_start", "index", index, "content_block", block));
		deltas.forEach((delta) -> event(events, Map.of("type", "content_block_delta", "index", index, "delta", delta)));
		event(events, Map.of("type", "content_block_stop", "index", index));
	}

	private void event(StringBuilder events, Map<String, Object> event) {
		events.append("event: ")
			.append(event.get("type"))
			.append("\ndata: ")
			.append(this.json.writeValueAsString(event))
			.append("\n\n");
	}

	@Override
	protected List<String> lines(JsonNode body) {
		List<String> lines = new ArrayList<>();
		String system = text(body.path("system"));
		if (!system.isEmpty()) {
			lines.add("system: " + system);
		}
		for (JsonNode message : body.path("messages")) {
			String role = message.path("role").asString();
			if (message.path("content").isString()) {
				lines.add(role + ": " + message.path("content").asString());
			}
			else if (isResults(message)) {
				message.path("content")
					.forEach((block) -> lines
						.add("tool " + block.path("tool_use_id").asString() + ": " + text(block.path("content"))));
			}
			else {
				lines.add(role + blocks(message.path("content")));
			}
		}
		return lines;
	}

	private static boolean isResults(JsonNode message) {
		return message.path("content").path(0).path("type").asString("").equals("tool_result");
	}

	private String blocks(JsonNode blocks) {
		StringBuilder line = new StringBuilder();
		StringBuilder said = new StringBuilder();
		for (JsonNode block : blocks) {
			switch (block.path("type").asString()) {
				case "thinking" -> line.append(" <")
					.append(block.path("thinking").asString())
					.append('|')
					.append(block.path("signature").asString())
					.append('>');
				case "redacted_thinking" -> line.append(" <").append(block.path("data").asString()).append('>');
				case "tool_use" -> line.append(' ').append(block.path("id").asString()).append(block.path("input"));
				default -> said.append(": ").append(block.path("text").asString());
			}
		}
		return line.append(said).toString();
	}

	private static String text(JsonNode content) {
		if (content.isString()) {
			return content.asString();
		}
		StringBuilder text = new StringBuilder();
		content.forEach((block) -> text.append(block.path("text").asString("")));
		return text.toString();
	}

	/**
	 * Users and the assistant take turns, a user is first and last, and each use of a
	 * tool has its result in the next message.
	 */
	@Override
	public List<String> faults(JsonNode body) {
		List<String> faults = new ArrayList<>();
		String last = "assistant";
		List<String> open = List.of();
		for (JsonNode message : body.path("messages")) {
			String role = message.path("role").asString();
			if (role.equals(last)) {
				faults.add("two messages of " + role);
			}
			List<String> results = ids(message, "tool_result", "tool_use_id");
			if (!results.equals(open)) {
				faults.add("results " + results + " for " + open);
			}
			open = ids(message, "tool_use", "id");
			last = role;
		}
		if (!last.equals("user")) {
			faults.add("the last message is of " + last);
		}
		return faults;
	}

	private static List<String> ids(JsonNode message, String type, String field) {
		List<String> ids = new ArrayList<>();
		message.path("content").forEach((block) -> {
			if (block.path("type").asString("").equals(type)) {
				ids.add(block.path(field).asString());
			}
		});
		return ids;
	}

}
