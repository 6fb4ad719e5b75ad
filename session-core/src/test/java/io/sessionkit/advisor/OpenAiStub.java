package io.sessionkit.advisor;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import tools.jackson.databind.JsonNode;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;

/**
 * Speaks like OpenAI's chat completions, with the reasoning of those that imitate it.
 */
public final class OpenAiStub extends ProviderStub {

	private static final Map<String, Integer> USAGE = Map.of("prompt_tokens", 11, "completion_tokens", 3,
			"total_tokens", 14);

	public OpenAiStub() throws IOException {
	}

	@Override
	public OpenAiChatModel model() {
		return OpenAiChatModel.builder()
			.options(OpenAiChatOptions.builder().baseUrl(url() + "/v1").apiKey("none").model("stub-1").build())
			.build();
	}

	@Override
	protected String streamType() {
		return "text/event-stream";
	}

	@Override
	protected String whole(Reply reply) {
		Map<String, Object> message = said(reply);
		message.put("role", "assistant");
		message.putIfAbsent("content", null);
		if (!reply.thinking().isEmpty()) {
			message.put("reasoning_content", String.join("", reply.thinking()));
		}
		return this.json
			.writeValueAsString(Map.of("id", "r", "object", "chat.completion", "created", 1, "model", "stub-1", "usage",
					USAGE, "choices", List.of(Map.of("index", 0, "message", message, "finish_reason", reason(reply)))));
	}

	@Override
	protected String streamed(Reply reply) {
		StringBuilder events = new StringBuilder();
		for (String piece : reply.thinking()) {
			delta(events, new LinkedHashMap<>(Map.of("reasoning_content", piece)), null);
		}
		delta(events, said(reply), null);
		delta(events, new LinkedHashMap<>(), reason(reply));
		chunk(events, Map.of("choices", List.of(), "usage", USAGE));
		return events.append("data: [DONE]\n\n").toString();
	}

	private void delta(StringBuilder events, Map<String, Object> delta, String reason) {
		Map<String, Object> choice = new LinkedHashMap<>();
		delta.put("role", "assistant");
		choice.put("index", 0);
		choice.put("delta", delta);
		choice.put("finish_reason", reason);
		chunk(events, Map.of("choices", List.of(choice)));
	}

	private void chunk(StringBuilder events, Map<String, Object> content) {
		Map<String, Object> chunk = new LinkedHashMap<>(content);
		chunk.putAll(Map.of("id", "r", "object", "chat.completion.chunk", "created", 1, "model", "stub-1"));
		events.append("data: ").append(this.json.writeValueAsString(chunk)).append("\n\n");
	}

	private static Map<String, Object> said(Reply reply) {
		Map<String, Object> said = new LinkedHashMap<>();
		if (!reply.text().isEmpty()) {
			said.put("content", reply.text());
		}
		if (!reply.calls().isEmpty()) {
			List<Map<String, Object>> calls = new ArrayList<>();
			for (ToolCall call : reply.calls()) {
				calls.add(Map.of("index", calls.size(), "id", call.id(), "type", "function", "function",
						Map.of("name", call.name(), "arguments", call.arguments())));
			}
			said.put("tool_calls", calls);
		}
		return said;
	}

	private static String reason(Reply reply) {
		return reply.calls().isEmpty() ? "stop" : "tool_calls";
	}

	@Override
	protected List<String> lines(JsonNode body) {
		List<String> lines = new ArrayList<>();
		for (JsonNode message : body.path("messages")) {
			StringBuilder line = new StringBuilder(message.path("role").asString());
			message.path("tool_calls")
				.forEach((call) -> line.append(' ')
					.append(call.path("id").asString())
					.append(call.path("function").path("arguments").asString()));
			if (message.has("tool_call_id")) {
				line.append(' ').append(message.path("tool_call_id").asString());
			}
			String text = WireSequence.text(message);
			lines.add(text.isEmpty() ? line.toString() : line + ": " + text);
		}
		return lines;
	}

	@Override
	public List<String> faults(JsonNode body) {
		return WireSequence.faults(body);
	}

}
