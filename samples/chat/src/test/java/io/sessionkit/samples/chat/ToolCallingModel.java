package io.sessionkit.samples.chat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An endpoint that speaks the OpenAI protocol. Whatever it is asked, it wants the tool
 * {@code cancel_order} called with the arguments that a test has given it, letter by
 * letter, and says "Done." to what the tool returns.
 */
final class ToolCallingModel implements AutoCloseable {

	private static final JsonMapper JSON = JsonMapper.shared();

	private final HttpServer server;

	private volatile String arguments = "{}";

	private ToolCallingModel(HttpServer server) {
		this.server = server;
		this.server.createContext("/", this::answer);
		this.server.start();
	}

	static ToolCallingModel start() throws IOException {
		return new ToolCallingModel(HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0));
	}

	/**
	 * Returns the settings that make the application use this model.
	 */
	List<String> settings() {
		return List.of("--spring.profiles.active=openai", "--OPENAI_API_KEY=none", "--OPENAI_MODEL=stub",
				"--OPENAI_BASE_URL=http://127.0.0.1:" + this.server.getAddress().getPort() + "/v1");
	}

	void callsWith(String arguments) {
		this.arguments = arguments;
	}

	private void answer(HttpExchange exchange) throws IOException {
		JsonNode messages = JSON.readTree(exchange.getRequestBody().readAllBytes()).path("messages");
		boolean hasResult = messages.path(messages.size() - 1).path("role").asString().equals("tool");
		Map<String, Object> call = Map.of("index", 0, "id", "call-" + messages.size(), "type", "function", "function",
				Map.of("name", "cancel_order", "arguments", this.arguments));
		Map<String, Object> delta = hasResult ? Map.of("role", "assistant", "content", "Done.")
				: Map.of("role", "assistant", "tool_calls", List.of(call));
		byte[] reply = (chunk(delta, hasResult ? "stop" : "tool_calls") + "data: [DONE]\n\n")
			.getBytes(StandardCharsets.UTF_8);
		exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
		exchange.sendResponseHeaders(200, reply.length);
		exchange.getResponseBody().write(reply);
		exchange.close();
	}

	private static String chunk(Map<String, Object> delta, String finishReason) {
		return "data: "
				+ JSON.writeValueAsString(Map.of("id", "1", "object", "chat.completion.chunk", "created", 1, "model",
						"stub", "choices", List.of(Map.of("index", 0, "delta", delta, "finish_reason", finishReason))))
				+ "\n\n";
	}

	@Override
	public void close() {
		this.server.stop(0);
	}

}
