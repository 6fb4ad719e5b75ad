package io.sessionkit.samples.chat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The profile with an endpoint that speaks the OpenAI protocol and always says the same.
 */
class OpenAiProfileTests {

	private static final String REPLY = """
			data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"stub-1","choices":\
			[{"index":0,"delta":{"role":"assistant","content":"Hello from the stub"},"finish_reason":null}]}

			data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"stub-1","choices":\
			[{"index":0,"delta":{},"finish_reason":"stop"}]}

			data: [DONE]

			""";

	private static final String REASONING = Stream.of("They ", "want ", "a greeting.").map((piece) -> """
			data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"stub-1","choices":\
			[{"index":0,"delta":{"role":"assistant","reasoning_content":"%s"},"finish_reason":null}]}

			""".formatted(piece)).collect(Collectors.joining());

	private static final String SUMMARY = """
			{"id":"2","object":"chat.completion","created":1,"model":"stub-1","choices":[{"index":0,"message":\
			{"role":"assistant","content":"A summary from the stub"},"finish_reason":"stop"}]}""";

	private final List<JsonNode> bodies = new CopyOnWriteArrayList<>();

	private HttpServer server;

	@TempDir
	private Path folder;

	@BeforeEach
	void start() throws IOException {
		this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		this.server.createContext("/", this::answer);
		this.server.start();
	}

	@AfterEach
	void stop() {
		this.server.stop(0);
	}

	@Test
	void sendsTheThreadToTheEndpoint() throws Exception {
		String url = "http://127.0.0.1:" + this.server.getAddress().getPort() + "/v1";
		try (RunningChat chat = RunningChat.start(this.folder, "--spring.profiles.active=openai",
				"--OPENAI_BASE_URL=" + url, "--OPENAI_API_KEY=none", "--OPENAI_MODEL=stub-1")) {
			assertThat(chat.get("/api/about").path("model").asString()).isEqualTo("stub-1");
			assertThat(chat.reply("t1", "My name is Ada")).isEqualTo("Hello from the stub");
			chat.reply("t1", "What is my name?");
			assertThat(chat.thread("t1").path("turns").path(1).path("model").asString()).isEqualTo("stub-1");
		}
		assertThat(this.bodies).hasSize(2);
		assertThat(this.bodies.get(1).path("messages").values())
			.extracting((message) -> message.path("role").asString())
			.containsExactly("system", "user", "assistant", "user");
	}

	/**
	 * Each chunk of Spring AI has all of the reasoning so far; a page gets what is new.
	 */
	@Test
	void reasoningIsSentOnce() throws Exception {
		String url = "http://127.0.0.1:" + this.server.getAddress().getPort() + "/v1";
		try (RunningChat chat = RunningChat.start(this.folder, "--spring.profiles.active=openai",
				"--OPENAI_BASE_URL=" + url, "--OPENAI_API_KEY=none", "--OPENAI_MODEL=stub-1")) {
			String said = chat.ask("t1", "Think first")
				.stream()
				.filter(RunningChat.Event::isText)
				.map((event) -> event.data().path("text").asString())
				.collect(Collectors.joining());

			assertThat(said).isEqualTo("They want a greeting.Hello from the stub");
		}
	}

	@Test
	void summarizesWithTheModelOfTheEndpoint() throws Exception {
		String url = "http://127.0.0.1:" + this.server.getAddress().getPort() + "/v1";
		try (RunningChat chat = RunningChat.start(this.folder, "--spring.profiles.active=openai",
				"--OPENAI_BASE_URL=" + url, "--OPENAI_API_KEY=none", "--OPENAI_MODEL=stub-1",
				"--sessionkit.summarize.trigger-messages=4", "--sessionkit.summarize.keep-turns=1")) {
			chat.reply("t1", "My name is Ada");
			chat.reply("t1", "Hello");
			await()
				.untilAsserted(() -> assertThat(chat.thread("t1").path("summaries").path(0).path("text").asString(""))
					.isEqualTo("A summary from the stub"));
			assertThat(chat.thread("t1").path("summaries").path(0).path("model").asString()).isEqualTo("stub-1");
		}
		assertThat(this.bodies.get(2).path("messages").values()).singleElement()
			.satisfies((message) -> assertThat(message.path("content").asString())
				.contains("<message role=\"user\">My name is Ada</message>"));
	}

	private void answer(HttpExchange exchange) throws IOException {
		JsonNode body = JsonMapper.shared().readTree(exchange.getRequestBody().readAllBytes());
		this.bodies.add(body);
		boolean stream = body.path("stream").asBoolean(false);
		boolean thinks = body.path("messages").toString().contains("Think first");
		byte[] reply = (stream ? (thinks ? REASONING : "") + REPLY : SUMMARY).getBytes(StandardCharsets.UTF_8);
		exchange.getResponseHeaders().add("Content-Type", stream ? "text/event-stream" : "application/json");
		exchange.sendResponseHeaders(200, reply.length);
		exchange.getResponseBody().write(reply);
		exchange.close();
	}

}
