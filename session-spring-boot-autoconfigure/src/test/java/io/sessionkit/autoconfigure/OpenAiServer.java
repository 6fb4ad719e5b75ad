package io.sessionkit.autoconfigure;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;

/**
 * A local server that answers chat completions from a script.
 */
public final class OpenAiServer implements AutoCloseable {

	private final Queue<String> script = new ConcurrentLinkedQueue<>();

	private final AtomicInteger requests = new AtomicInteger();

	private final HttpServer server;

	public OpenAiServer() throws IOException {
		this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		this.server.createContext("/", this::answer);
		this.server.start();
	}

	@Override
	public void close() {
		this.server.stop(0);
	}

	/**
	 * Returns a model that speaks to this server.
	 * @param manager what the model resolves tools by; null for one of its own
	 */
	public OpenAiChatModel model(@Nullable ToolCallingManager manager) {
		InetSocketAddress address = this.server.getAddress();
		OpenAiChatModel.Builder model = OpenAiChatModel.builder()
			.options(OpenAiChatOptions.builder()
				.baseUrl("http://" + address.getAddress().getHostAddress() + ":" + address.getPort() + "/v1")
				.apiKey("none")
				.model("stub-1")
				.build());
		return ((manager != null) ? model.toolCallingManager(manager) : model).build();
	}

	public OpenAiServer says(String text) {
		this.script.add("{\"role\":\"assistant\",\"content\":\"" + text + "\"}");
		return this;
	}

	public OpenAiServer calls(ToolCall call) {
		this.script.add("""
				{"role":"assistant","content":null,"tool_calls":[{"id":"%s","type":"function",
				"function":{"name":"%s","arguments":%s}}]}""".formatted(call.id(), call.name(),
				JsonMapper.shared().writeValueAsString(call.arguments())));
		return this;
	}

	public int requests() {
		return this.requests.get();
	}

	private void answer(HttpExchange exchange) throws IOException {
		this.requests.incrementAndGet();
		exchange.getRequestBody().readAllBytes();
		String message = this.script.remove();
		byte[] body = """
				{"id":"r","object":"chat.completion","created":1,"model":"stub-1","choices":[{"index":0,"message":%s,
				"finish_reason":"%s"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"""
			.formatted(message, message.contains("tool_calls") ? "tool_calls" : "stop")
			.getBytes(StandardCharsets.UTF_8);
		exchange.getResponseHeaders().add("Content-Type", "application/json");
		exchange.sendResponseHeaders(200, body.length);
		exchange.getResponseBody().write(body);
		exchange.close();
	}

}
