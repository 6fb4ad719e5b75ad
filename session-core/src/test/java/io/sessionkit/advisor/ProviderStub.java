package io.sessionkit.advisor;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.model.ChatModel;

/**
 * A local server that speaks like a provider: it answers from a script, whole or as a
 * stream, and keeps what it was sent.
 */
public abstract class ProviderStub implements AutoCloseable {

	/**
	 * A reply of the script.
	 *
	 * @param thinking what the model thinks, in pieces
	 * @param text what it says; empty for nothing
	 * @param calls its tool calls
	 */
	protected record Reply(List<String> thinking, String text, List<ToolCall> calls) {
	}

	protected final JsonMapper json = JsonMapper.builder().build();

	private final List<JsonNode> bodies = new CopyOnWriteArrayList<>();

	private final Queue<Reply> script = new ConcurrentLinkedQueue<>();

	private final HttpServer server;

	protected ProviderStub() throws IOException {
		this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		this.server.createContext("/", this::answer);
		this.server.start();
	}

	@Override
	public void close() {
		this.server.stop(0);
	}

	/** The next request is answered with a text, after some thinking. */
	public void says(String text, String... thinking) {
		this.script.add(new Reply(List.of(thinking), text, List.of()));
	}

	/** The next request is answered with tool calls, after some thinking. */
	public void calls(List<ToolCall> calls, String... thinking) {
		this.script.add(new Reply(List.of(thinking), "", calls));
	}

	/** Returns the requests, one body for each. */
	public List<JsonNode> bodies() {
		return List.copyOf(this.bodies);
	}

	/** The messages of the newest request, a line for each. */
	public List<String> lastLines() {
		return lines(this.bodies.get(this.bodies.size() - 1));
	}

	/** The real client of the provider, with thinking on. */
	public abstract ChatModel model();

	/** Returns the faults for which the provider would refuse a request. */
	public abstract List<String> faults(JsonNode body);

	protected abstract List<String> lines(JsonNode body);

	protected abstract String whole(Reply reply);

	protected abstract String streamed(Reply reply);

	protected abstract String streamType();

	protected String url() {
		return "http://" + this.server.getAddress().getAddress().getHostAddress() + ":"
				+ this.server.getAddress().getPort();
	}

	private void answer(HttpExchange exchange) throws IOException {
		JsonNode body = this.json.readTree(exchange.getRequestBody().readAllBytes());
		this.bodies.add(body);
		Reply reply = this.script.poll();
		boolean stream = body.path("stream").asBoolean(false);
		byte[] answer = ((reply == null) ? "{\"error\":\"the script is at its end\"}"
				: stream ? streamed(reply) : whole(reply))
			.getBytes(StandardCharsets.UTF_8);
		exchange.getResponseHeaders().add("Content-Type", stream ? streamType() : "application/json");
		exchange.sendResponseHeaders((reply != null) ? 200 : 400, answer.length);
		exchange.getResponseBody().write(answer);
		exchange.close();
	}

}
