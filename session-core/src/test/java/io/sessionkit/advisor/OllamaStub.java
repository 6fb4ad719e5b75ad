package io.sessionkit.advisor;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import tools.jackson.databind.JsonNode;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.ollama.OllamaChatModel;
import org.springframework.ai.ollama.api.OllamaApi;
import org.springframework.ai.ollama.api.OllamaChatOptions;

/**
 * Speaks like Ollama's chat. A call whose id is empty is sent without one, as earlier
 * versions do.
 */
public final class OllamaStub extends ProviderStub {

	public OllamaStub() throws IOException {
	}

	@Override
	public ChatModel model() {
		return OllamaChatModel.builder()
			.ollamaApi(OllamaApi.builder().baseUrl(url()).build())
			.options(OllamaChatOptions.builder().model("stub-1").enableThinking().build())
			.build();
	}

	@Override
	protected String streamType() {
		return "application/x-ndjson";
	}

	@Override
	protected String whole(Reply reply) {
		return end(message(String.join("", reply.thinking()), reply.text(), reply.calls()));
	}

	@Override
	protected String streamed(Reply reply) {
		StringBuilder lines = new StringBuilder();
		for (String thought : reply.thinking()) {
			int middle = thought.length() / 2;
			lines.append(chunk(message(thought.substring(0, middle), "", List.of())));
			lines.append(chunk(message(thought.substring(middle), "", List.of())));
		}
		if (!reply.calls().isEmpty()) {
			lines.append(chunk(message("", "", reply.calls())));
		}
		int middle = reply.text().length() / 2;
		lines.append(chunk(message("", reply.text().substring(0, middle), List.of())));
		return lines + end(message("", reply.text().substring(middle), List.of())) + "\n";
	}

	private Map<String, Object> message(String thinking, String text, List<ToolCall> calls) {
		Map<String, Object> message = new HashMap<>(Map.of("role", "assistant", "content", text));
		if (!thinking.isEmpty()) {
			message.put("thinking", thinking);
		}
		if (!calls.isEmpty()) {
			message.put("tool_calls", calls.stream().map(this::call).toList());
		}
		return message;
	}

	private Map<String, Object> call(ToolCall call) {
		Map<String, Object> made = new HashMap<>();
		made.put("function", Map.of("name", call.name(), "arguments", this.json.readTree(call.arguments())));
		if (!call.id().isEmpty()) {
			made.put("id", call.id());
		}
		return made;
	}

	private String chunk(Map<String, Object> message) {
		return this.json.writeValueAsString(
				Map.of("model", "stub-1", "created_at", "2026-01-01T00:00:00Z", "message", message, "done", false))
				+ "\n";
	}

	private String end(Map<String, Object> message) {
		return this.json.writeValueAsString(Map.of("model", "stub-1", "created_at", "2026-01-01T00:00:00Z", "message",
				message, "done", true, "done_reason", "stop", "prompt_eval_count", 11, "eval_count", 3));
	}

	@Override
	protected List<String> lines(JsonNode body) {
		List<String> lines = new ArrayList<>();
		for (JsonNode message : body.path("messages")) {
			StringBuilder line = new StringBuilder(message.path("role").asString());
			if (!message.path("thinking").asString("").isEmpty()) {
				line.append(" <").append(message.path("thinking").asString()).append('>');
			}
			message.path("tool_calls")
				.forEach((call) -> line.append(' ')
					.append(call.path("id").asString(""))
					.append(call.path("function").path("arguments")));
			String text = message.path("content").asString("");
			lines.add(text.isEmpty() ? line.toString() : line + ": " + text);
		}
		return lines;
	}

	/**
	 * Each call has its result right behind it, in order; the last message is no answer.
	 */
	@Override
	public List<String> faults(JsonNode body) {
		List<String> faults = new ArrayList<>();
		int open = 0;
		String last = "";
		for (JsonNode message : body.path("messages")) {
			last = message.path("role").asString();
			if (last.equals("tool")) {
				open--;
			}
			else if (open != 0) {
				faults.add(open + " calls without results before a message of " + last);
				open = 0;
			}
			open += message.path("tool_calls").size();
		}
		if (open != 0 || last.equals("assistant") || last.isEmpty()) {
			faults.add("the last message is of " + last + ", with " + open + " calls open");
		}
		return faults;
	}

}
