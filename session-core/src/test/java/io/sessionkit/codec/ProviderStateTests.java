package io.sessionkit.codec;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

import com.openai.models.chat.completions.ChatCompletion;
import com.sun.net.httpserver.HttpServer;
import io.sessionkit.SessionKey;
import org.junit.jupiter.api.Test;

import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.anthropic.AnthropicChatOptions;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.support.SpringFactoriesLoader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that what the real chat models of Anthropic and OpenAI put into messages
 * survives. Gemini's state is built here as its chat model builds it.
 */
class ProviderStateTests {

	private static final SessionKey KEY = SessionKey.of("thread");

	private static final List<ToolCall> CALLS = List.of(new ToolCall("toolu_1", "function", "find", "{}"));

	private final JsonMessageCodec codec = JsonMessageCodec.create();

	@Test
	void anthropicThinkingComesBackAsAnthropicsOwnClass() {
		AssistantMessage reply = AnthropicMessages.reply("Let me look.", CALLS,
				AnthropicMessages.thinking("a thought", "c2ln"), AnthropicMessages.redacted("ZGF0YQ=="));
		assertThat(this.codec.strict().storable(reply)).isSameAs(reply);
		AssistantMessage decoded = roundTrip(reply);
		assertThat(decoded).isEqualTo(reply).hasSameClassAs(new AssistantMessage(""));
		assertThat(AnthropicMessages.replayed(decoded)).hasSize(2).isEqualTo(AnthropicMessages.replayed(reply));
	}

	@Test
	void anthropicsMessageWithoutItsThinkingInTheMetadataIsNotTakenAsWhole() {
		AssistantMessage reply = AnthropicMessages.reply("", CALLS, AnthropicMessages.thinking("a thought", "c2ln"));
		reply.getMetadata().remove(AnthropicMessages.KEY);
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> this.codec.strict().storable(reply));
	}

	@Test
	void anthropicsReplyIsReplayedAfterARoundTrip() throws IOException {
		String body = """
				{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4-0","stop_reason":"tool_use",
				"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":2},"content":[
				{"type":"thinking","thinking":"a thought","signature":"c2ln"},
				{"type":"redacted_thinking","data":"ZGF0YQ=="},
				{"type":"text","text":"Let me look."},
				{"type":"tool_use","id":"toolu_1","name":"find","input":{"q":"x"}}]}""";
		ChatResponse response = respond("application/json", body,
				(url) -> AnthropicChatModel.builder()
					.options(AnthropicChatOptions.builder()
						.baseUrl(url)
						.apiKey("key")
						.model("claude-opus-4-0")
						.maxTokens(9)
						.build())
					.build()
					.call(new Prompt("find x")));
		AssistantMessage reply = withCalls(response);
		AssistantMessage decoded = roundTrip((AssistantMessage) this.codec.storable(reply));
		assertThat(decoded.getToolCalls()).isEqualTo(reply.getToolCalls());
		assertThat(AnthropicMessages.replayed(decoded)).hasSize(2).isEqualTo(AnthropicMessages.replayed(reply));
	}

	@Test
	void openAisReasoningAndToolCallPropertiesComeBack() throws IOException {
		String body = """
				{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls",
				"message":{"role":"assistant","content":null,"reasoning_content":"a thought","tool_calls":[
				{"id":"call_1","type":"function","extra_content":{"google":{"thought_signature":"c2ln"}},
				"function":{"name":"find","arguments":"{}"}}]}}],
				"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}""";
		AssistantMessage reply = withCalls(
				respond("application/json", body, (url) -> openAi(url).call(new Prompt("find x"))));
		assertThat(reply.getMetadata()).containsEntry("reasoningContent", "a thought")
			.containsKey("openai.tool_calls.additional_properties");
		assertThat(this.codec.storable(reply)).isSameAs(reply);
		Deep.assertEqual(roundTrip(reply), reply);
	}

	@Test
	void openAisAnnotationsAreLeftOut() throws IOException {
		String body = """
				{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop",
				"message":{"role":"assistant","content":"See there.","annotations":[{"type":"url_citation","url_citation":
				{"start_index":0,"end_index":3,"title":"t","url":"https://example.org"}}]}}]}""";
		ChatResponse response = respond("application/json", body, (url) -> openAi(url).call(new Prompt("where?")));
		AssistantMessage reply = Objects.requireNonNull(response.getResult()).getOutput();
		AssistantMessage storable = (AssistantMessage) this.codec.storable(reply);
		assertThat(reply.getMetadata()).containsKey("annotations");
		assertThat(storable.getMetadata()).doesNotContainKey("annotations").containsEntry("finishReason", "STOP");
		assertThat(this.codec.leftOut()).isEqualTo(1);
		Deep.assertEqual(roundTrip(storable), storable);
	}

	@Test
	void openAisStreamedFinishReasonIsStoredByItsName() throws IOException {
		String body = """
				data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi."},"finish_reason":null}]}

				data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

				data: [DONE]

				""";
		List<ChatResponse> chunks = respond("text/event-stream", body,
				(url) -> openAi(url).stream(new Prompt("Hello.")).toStream().toList());
		AssistantMessage reply = chunks.stream()
			.flatMap((chunk) -> chunk.getResults().stream())
			.map(Generation::getOutput)
			.filter((output) -> output.getMetadata()
				.get("finishReason") == ChatCompletion.Choice.FinishReason.Value.STOP)
			.findFirst()
			.orElseThrow();
		for (JsonMessageCodec each : List.of(this.codec, this.codec.strict())) {
			AssistantMessage storable = (AssistantMessage) each.storable(reply);
			assertThat(storable.getMetadata()).containsEntry("finishReason", "STOP").containsKey("id");
			Deep.assertEqual(roundTrip(storable), storable);
			assertThat(each.leftOut()).isZero();
		}
	}

	@Test
	void geminisThoughtSignaturesComeBackAsBytes() {
		AssistantMessage reply = AssistantMessage.builder()
			.content("")
			.properties(
					Map.of("thoughtSignatures", List.of(new byte[] { 1, 2 }, new byte[] { -1 }), "isThought", false))
			.toolCalls(List.of(new ToolCall("", "function", "a", "{}"), new ToolCall("", "function", "a", "{}")))
			.build();
		assertThat(this.codec.storable(reply)).isSameAs(reply);
		Deep.assertEqual(roundTrip(reply), reply);
	}

	@Test
	void withoutAnthropicsClassItsThinkingIsStoredAgainAsItWasRead() throws Exception {
		String payload = this.codec.encode(KEY,
				AnthropicMessages.reply("", CALLS, AnthropicMessages.thinking("s3cret", "c2ln")));
		try (URLClassLoader loader = withoutAnthropic()) {
			Class<?> type = loader.loadClass(JsonMessageCodec.class.getName());
			Object other = type.getMethod("create").invoke(null);
			Object key = loader.loadClass(SessionKey.class.getName())
				.getMethod("of", String.class)
				.invoke(null, "thread");
			Object message = method(type, "decode").invoke(other, key, payload);
			assertThat(Objects.toString(message)).contains("AbsentProviderState").doesNotContain("s3cret");
			assertThat(method(type, "encode").invoke(other, key, message)).isEqualTo(payload);
		}
	}

	@Test
	void valuesThatMakeNoThinkingOfTheirClassAreStoredAgainAsTheyWereRead() {
		String payload = """
				{"v":1,"t":"values","values":{"a":{"$t":"anthropic.thinking","v":{"thinking":"x","new":"y"}}}}""";
		Map<String, ?> values = this.codec.decodeValues(KEY, payload);
		assertThat(values.get("a")).isInstanceOf(AbsentProviderState.class);
		assertThat(this.codec.encodeValues(KEY, values)).isEqualTo(payload);
	}

	@Test
	void aProviderClassThatIsAbsentRestoresNothing() {
		AbsentProviderState read = new AbsentProviderState("tag", Collections.singletonMap("a", "b"));
		assertThat(new ProviderState("tag", "no.such.Type").create(read)).isSameAs(read);
		assertThat(new ProviderState("tag", "java.lang.String").create(read)).isSameAs(read);
	}

	@Test
	void aNativeImageIsToldOfAnthropicsRecord() throws Exception {
		RuntimeHints hints = new RuntimeHints();
		SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories")
			.load(RuntimeHintsRegistrar.class)
			.stream()
			.filter(CodecRuntimeHints.class::isInstance)
			.forEach((registrar) -> registrar.registerHints(hints, getClass().getClassLoader()));
		Class<?> type = AnthropicMessages.thinking("", "").getClass();
		assertThat(RuntimeHintsPredicates.reflection()
			.onConstructorInvocation(type.getDeclaredConstructor(String.class, String.class, String.class)))
			.accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(type.getDeclaredMethod("signature")))
			.accepts(hints);
	}

	private AssistantMessage roundTrip(AssistantMessage message) {
		return (AssistantMessage) this.codec.decode(KEY, this.codec.encode(KEY, message));
	}

	private static AssistantMessage withCalls(ChatResponse response) {
		return response.getResults()
			.stream()
			.map(Generation::getOutput)
			.filter(AssistantMessage::hasToolCalls)
			.findFirst()
			.orElseThrow();
	}

	private static ChatModel openAi(String url) {
		return OpenAiChatModel.builder()
			.options(OpenAiChatOptions.builder().baseUrl(url).apiKey("key").model("m").build())
			.build();
	}

	private static <T> T respond(String contentType, String body, Function<String, T> client) throws IOException {
		HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		server.createContext("/", (exchange) -> {
			exchange.getRequestBody().readAllBytes();
			exchange.getResponseHeaders().add("Content-Type", contentType);
			exchange.sendResponseHeaders(200, 0);
			try (OutputStream out = exchange.getResponseBody()) {
				out.write(body.getBytes(StandardCharsets.UTF_8));
			}
		});
		server.start();
		try {
			return client.apply("http://localhost:" + server.getAddress().getPort());
		}
		finally {
			server.stop(0);
		}
	}

	private static URLClassLoader withoutAnthropic() {
		String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path", ""));
		URL[] urls = Arrays.stream(path.split(System.getProperty("path.separator", ":")))
			.filter((entry) -> !entry.contains("anthropic"))
			.map(ProviderStateTests::url)
			.toArray(URL[]::new);
		return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
	}

	private static URL url(String entry) {
		try {
			return Path.of(entry).toUri().toURL();
		}
		catch (MalformedURLException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Method method(Class<?> type, String name) {
		return Arrays.stream(type.getMethods())
			.filter((method) -> method.getName().equals(name) && !method.isBridge())
			.findFirst()
			.orElseThrow();
	}

}
