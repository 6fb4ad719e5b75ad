package io.sessionkit.advisor;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;

/**
 * A local server that speaks like OpenAI's chat completions: it answers from a script,
 * whole or as a stream, and keeps what it was sent.
 */
public final class OpenAiStub implements AutoCloseable {

	private record Reply(String message, String finishReason, List<String> reasoning) {

		Reply(String message, String finishReason) {
			this(message, finishReason, List.of());
		}

	}

	private final JsonMapper json = JsonMapper.builder().build();

	private final List<JsonNode> bodies = new CopyOnWriteArrayList<>();

	private final Queue<Reply> script = new ConcurrentLinkedQueue<>();

	private final HttpServer server;

	public OpenAiStub() throws IOException {
		this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		this.server.createContext("/", this::answer);
		this.server.start();
	}

	@Override
	public void close() {
		this.server.stop(0);
	}

	public OpenAiChatModel model() {
		return OpenAiChatModel.builder()
			.options(OpenAiChatOptions.builder()
				.baseUrl("http://" + this.server.getAddress().getAddress().getHostAddress() + ":"
						+ this.server.getAddress().getPort() + "/v1")
				.apiKey("none")
				.model("stub-1")
				.build())
			.build();
	}

	/** The next request is answered with a text. */
	public OpenAiStub says(String text) {
		this.script.add(new Reply("\"content\":\"" + text + "\"", "stop"));
		return this;
	}

	/**
	 * The next request is answered with a text after reasoning, which a stream gets in
	 * pieces.
	 */
	public OpenAiStub says(String text, List<String> reasoning) {
		this.script.add(new Reply("\"content\":\"" + text + "\"", "stop", reasoning));
		return this;
	}

	/** The next request is answered with a tool call after reasoning. */
	public OpenAiStub calls(ToolCall call, List<String> reasoning) {
		this.script.add(new Reply("\"tool_calls\":[" + made(call, 0) + "]", "tool_calls", reasoning));
		return this;
	}

	/** The next request is answered with tool calls. */
	public OpenAiStub calls(ToolCall... calls) {
		List<String> made = new ArrayList<>();
		for (ToolCall call : calls) {
			made.add(made(call, made.size()));
		}
		this.script.add(new Reply("\"tool_calls\":[" + String.join(",", made) + "]", "tool_calls"));
		return this;
	}

	private String made(ToolCall call, int index) {
		return "{\"index\":" + index + ",\"id\":\"" + call.id() + "\",\"type\":\"function\",\"function\":{\"name\":\""
				+ call.name() + "\",\"arguments\":" + this.json.writeValueAsString(call.arguments()) + "}}";
	}

	/** What was sent, one body for each request. */
	public List<JsonNode> bodies() {
		return List.copyOf(this.bodies);
	}

	/** The messages of the newest request, a line for each. */
	public List<String> lastLines() {
		List<String> lines = new ArrayList<>();
		for (JsonNode message : this.bodies.get(this.bodies.size() - 1).path("messages")) {
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

	private void answer(HttpExchange exchange) throws IOException {
		JsonNode body = this.json.readTree(exchange.getRequestBody().readAllBytes());
		this.bodies.add(body);
		Reply reply = this.script.poll();
		boolean stream = body.path("stream").asBoolean(false);
		byte[] answer = ((reply == null) ? "{\"error\":{\"message\":\"the script is at its end\"}}"
				: stream ? streamed(reply) : whole(reply))
			.getBytes(StandardCharsets.UTF_8);
		exchange.getResponseHeaders().add("Content-Type", stream ? "text/event-stream" : "application/json");
		exchange.sendResponseHeaders((reply != null) ? 200 : 400, answer.length);
		exchange.getResponseBody().write(answer);
		exchange.close();
	}

	private static String whole(Reply reply) {
		String message = reply.message().startsWith("\"content\"") ? reply.message()
				: "\"content\":null," + reply.message();
		if (!reply.reasoning().isEmpty()) {
			message = "\"reasoning_content\":\"" + String.join("", reply.reasoning()) + "\"," + message;
		}
		return """
				{"id":"r","object":"chat.completion","created":1,"model":"stub-1","choices":[{"index":0,
				"message":{"role":"assistant",%s},"finish_reason":"%s"}],
				"usage":{"prompt_tokens":11,"completion_tokens":3,"total_tokens":14}}""".formatted(message,
				reply.finishReason());
	}

	private static String streamed(Reply reply) {
		String chunk = "data: {\"id\":\"r\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"stub-1\",";
		StringBuilder reasoning = new StringBuilder();
		for (String piece : reply.reasoning()) {
			reasoning.append(chunk)
				.append("\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"reasoning_content\":\"")
				.append(piece)
				.append("\"},\"finish_reason\":null}]}\n\n");
		}
		return reasoning + chunk + "\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"," + reply.message()
				+ "},\"finish_reason\":null}]}\n\n" + chunk + "\"choices\":[{\"index\":0,\"delta\":{},"
				+ "\"finish_reason\":\"" + reply.finishReason() + "\"}]}\n\n" + chunk
				+ "\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":3,\"total_tokens\":14}}\n\n"
				+ "data: [DONE]\n\n";
	}

}
