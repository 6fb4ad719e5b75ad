package io.sessionkit.advisor;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import com.openai.errors.BadRequestException;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.sessionkit.SessionKey;
import io.sessionkit.TokenUsage;
import io.sessionkit.Turn;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.SequenceGuard;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.stream.CallEvent;
import io.sessionkit.stream.CallEvents;
import io.sessionkit.test.ClientSetup;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests what a provider really receives: Spring AI's OpenAI model speaks to a local
 * server that answers from a script and keeps the bodies.
 */
class OpenAiWireTests {

	private static final String CALLS = """
			[{"index":0,"id":"call_1","type":"function","function":{"name":"add","arguments":"{\\"value\\":\\"1\\"}"}},
			 {"index":1,"id":"call_2","type":"function","function":{"name":"add","arguments":"{\\"value\\":\\"2\\"}"}}]""";

	private final JsonMapper json = JsonMapper.builder().build();

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final List<JsonNode> bodies = new CopyOnWriteArrayList<>();

	private HttpServer server;

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

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void twoTurnsWithParallelToolCallsArriveValidAndComplete(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, true);
		ChatClient chat = setup.builder(model(), SessionAdvisor.of(Conversations.of(this.store)))
			.defaultTools(SessionAdvisorTests.echo("add"))
			.build();
		ask(setup, chat, "add 1 and 2");
		ask(setup, chat, "again");
		assertThat(this.bodies).hasSize(4);
		List<String> firstTurn = List.of("system: be brief", "user: add 1 and 2", "assistant: call_1 call_2",
				"tool call_1: 1", "tool call_2: 2");
		assertThat(lines(this.bodies.get(0))).isEqualTo(firstTurn.subList(0, 2));
		assertThat(lines(this.bodies.get(1))).isEqualTo(firstTurn);
		List<String> secondTurn = new ArrayList<>(firstTurn);
		secondTurn.addAll(List.of("assistant: done", "user: again"));
		assertThat(lines(this.bodies.get(2))).isEqualTo(secondTurn);
		secondTurn.addAll(firstTurn.subList(2, 5));
		assertThat(lines(this.bodies.get(3))).isEqualTo(secondTurn);
		for (JsonNode body : this.bodies) {
			assertThat(body.path("tools").size()).isEqualTo(1);
			assertThat(body.path("model").asString()).isEqualTo("stub-1");
		}
		assertThat(argumentsOfCalls(this.bodies.get(3))).containsOnly("{\"value\":\"1\"}", "{\"value\":\"2\"}");
		List<Turn> turns = this.store.turns(SessionKey.of("t1"), Tail.ALL);
		assertThat(turns).hasSize(2).allSatisfy((turn) -> {
			assertThat(turn.model()).isEqualTo("stub-1");
			assertThat(turn.rounds()).hasSize(2);
			assertThat(turn.usage()).isEqualTo(new TokenUsage(22, 6, 0, 0));
		});
	}

	/**
	 * A stream brings more of the reasoning with each chunk. It is stored once, with
	 * calls of tools as with text.
	 */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void reasoningIsStoredOnceAndWhole(ClientSetup.Mode mode) throws IOException {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, true);
		try (OpenAiStub stub = new OpenAiStub()) {
			stub.calls(List.of(SessionAdvisorTests.call("c1", "add", "1")), "First ", "the ", "sum.");
			stub.says("done", "It ", "is ", "1.");
			ChatClient chat = setup.builder(stub.model(), SessionAdvisor.of(Conversations.of(this.store)))
				.defaultTools(SessionAdvisorTests.echo("add"))
				.build();

			ask(setup, chat, "add 1");

			assertThat(Conversations.of(this.store).get(SessionKey.of("t1")).messages())
				.filteredOn(AssistantMessage.class::isInstance)
				.extracting((message) -> message.getMetadata().get("reasoningContent"))
				.containsExactly("First the sum.", "It is 1.");
			assertThat(stub.bodies().get(1).path("messages"))
				.filteredOn((message) -> message.path("role").asString().equals("assistant"))
				.extracting((message) -> message.path("reasoning_content").asString())
				.containsExactly("First the sum.");
		}
	}

	@Test
	void reasoningComesAsEventsInPiecesAndOnce() throws IOException {
		try (OpenAiStub stub = new OpenAiStub()) {
			stub.calls(List.of(SessionAdvisorTests.call("c1", "add", "1")), "First ", "the ", "sum.");
			stub.says("done", "First ", "It ", "is ", "1.");
			ChatClient chat = ClientSetup.streaming()
				.builder(stub.model(), SessionAdvisor.of(Conversations.of(this.store)))
				.defaultTools(SessionAdvisorTests.echo("add"))
				.build();
			List<String> thoughts = CallEvents.of(chat.prompt().user("q").advisors(SessionAdvisor.session("t1")))
				.ofType(CallEvent.Reasoning.class)
				.map(CallEvent.Reasoning::text)
				.collectList()
				.block(Duration.ofSeconds(20));
			assertThat(thoughts).containsExactly("First ", "the ", "sum.", "First ", "It ", "is ", "1.");
		}
	}

	/** The session keeps them as they came. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callsWithTheSameIdAreSentWithIdsOfTheirOwn(ClientSetup.Mode mode) throws IOException {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, true);
		try (OpenAiStub stub = new OpenAiStub()) {
			stub.calls(List.of(SessionAdvisorTests.call("c1", "add", "1"), SessionAdvisorTests.call("c1", "add", "2")));
			stub.says("done");
			stub.says("done");
			Conversations strict = Conversations.builder(this.store).sequenceGuard(SequenceGuard.strict()).build();
			ChatClient chat = setup.builder(stub.model(), SessionAdvisor.of(strict))
				.defaultTools(SessionAdvisorTests.echo("add"))
				.build();

			ask(setup, chat, "add 1 and 2");
			ask(setup, chat, "again");

			assertThat(stub.bodies()).hasSize(3).flatExtracting(stub::faults).isEmpty();
			assertThat(stub.lastLines()).contains("tool c1: 1", "tool c1_2: 2");
			assertThat(strict.get(SessionKey.of("t1")).messages()).filteredOn(AssistantMessage.class::isInstance)
				.flatExtracting((message) -> ((AssistantMessage) message).getToolCalls())
				.extracting(ToolCall::id)
				.containsExactly("c1", "c1");
		}
	}

	/** A stream brings it as a constant of an enum. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void theFinishReasonIsStoredAndComesAgainWithARepeatedRequest(ClientSetup.Mode mode) throws IOException {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, true);
		SessionStore strict = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create().strict()));
		try (OpenAiStub stub = new OpenAiStub()) {
			stub.calls(List.of(SessionAdvisorTests.call("c1", "add", "1")));
			stub.says("done");
			ChatClient chat = setup.builder(stub.model(), SessionAdvisor.of(Conversations.of(strict)))
				.defaultTools(SessionAdvisorTests.echo("add"))
				.build();

			for (int i = 0; i < 2; i++) {
				ChatClient.ChatClientRequestSpec call = chat.prompt()
					.user("add 1")
					.advisors(SessionAdvisor.session("t1"))
					.advisors(SessionAdvisor.idempotencyKey("r1"));

				assertThat((mode == ClientSetup.Mode.CALL) ? List.of(call.call().chatResponse())
						: call.stream().chatResponse().collectList().block())
					.flatExtracting(ChatResponse::getResults)
					.extracting((generation) -> generation.getMetadata().getFinishReason())
					.contains("STOP");
			}

			assertThat(stub.bodies()).hasSize(2);
			assertThat(Conversations.of(strict).get(SessionKey.of("t1")).messages())
				.filteredOn(AssistantMessage.class::isInstance)
				.extracting((message) -> message.getMetadata().get("finishReason"))
				.containsExactly("TOOL_CALLS", "STOP");
		}
	}

	/** A stream wraps what the client of the provider throws. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void aFailedTurnNamesWhatTheProviderAnswered(ClientSetup.Mode mode) throws IOException {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, true);
		try (OpenAiStub stub = new OpenAiStub()) {
			ChatClient chat = setup.builder(stub.model(), SessionAdvisor.of(Conversations.of(this.store))).build();

			assertThatThrownBy(() -> ask(setup, chat, "hello")).isInstanceOf(RuntimeException.class);

			assertThat(this.store.turns(SessionKey.of("t1"), Tail.ALL)).extracting(Turn::failure)
				.containsExactly(BadRequestException.class.getName());
		}
	}

	@Test
	void theEventOfAFailedCallSaysThatItIsNoneOfOursAndItsTurnNamesWhatTheProviderAnswered() throws IOException {
		try (OpenAiStub stub = new OpenAiStub()) {
			ChatClient chat = ClientSetup.streaming()
				.builder(stub.model(), SessionAdvisor.of(Conversations.of(this.store)))
				.build();

			CallEvent last = CallEvents.of(chat.prompt().user("hello").advisors(SessionAdvisor.session("t1")))
				.blockLast(Duration.ofSeconds(20));

			assertThat(last).isInstanceOfSatisfying(CallEvent.Failed.class,
					(failed) -> assertThat(failed.code()).isEqualTo("error"));
			assertThat(this.store.turns(SessionKey.of("t1"), Tail.ALL)).extracting(Turn::failure)
				.containsExactly(BadRequestException.class.getName());
		}
	}

	private void ask(ClientSetup setup, ChatClient chat, String text) {
		assertThat(setup.content(chat.prompt().user(text).advisors(SessionAdvisor.session("t1")))).isEqualTo("done");
	}

	private OpenAiChatModel model() {
		return OpenAiChatModel.builder()
			.options(OpenAiChatOptions.builder()
				.baseUrl("http://" + this.server.getAddress().getAddress().getHostAddress() + ":"
						+ this.server.getAddress().getPort() + "/v1")
				.apiKey("none")
				.model("stub-1")
				.build())
			.build();
	}

	/**
	 * Calls tools when a user has spoken, answers when tools have.
	 */
	private void answer(HttpExchange exchange) throws IOException {
		JsonNode body = this.json.readTree(exchange.getRequestBody().readAllBytes());
		this.bodies.add(body);
		JsonNode messages = body.path("messages");
		boolean tools = messages.get(messages.size() - 1).path("role").asString().equals("user");
		boolean stream = body.path("stream").asBoolean(false);
		byte[] answer = (stream ? streamed(tools) : whole(tools)).getBytes(StandardCharsets.UTF_8);
		exchange.getResponseHeaders().add("Content-Type", stream ? "text/event-stream" : "application/json");
		exchange.sendResponseHeaders(200, answer.length);
		exchange.getResponseBody().write(answer);
		exchange.close();
	}

	private static String whole(boolean tools) {
		String message = tools ? "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":" + CALLS + "}"
				: "{\"role\":\"assistant\",\"content\":\"done\"}";
		return """
				{"id":"r","object":"chat.completion","created":1,"model":"stub-1","choices":[{"index":0,"message":%s,
				"finish_reason":"%s"}],"usage":{"prompt_tokens":11,"completion_tokens":3,"total_tokens":14}}"""
			.formatted(message, tools ? "tool_calls" : "stop");
	}

	private static String streamed(boolean tools) {
		String delta = tools ? "{\"role\":\"assistant\",\"tool_calls\":" + CALLS.replace("\n", "") + "}"
				: "{\"role\":\"assistant\",\"content\":\"do\"}";
		String chunk = "data: {\"id\":\"r\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"stub-1\",";
		String end = tools ? "{}" : "{\"content\":\"ne\"}";
		return chunk + "\"choices\":[{\"index\":0,\"delta\":" + delta + ",\"finish_reason\":null}]}\n\n" + chunk
				+ "\"choices\":[{\"index\":0,\"delta\":" + end + ",\"finish_reason\":\""
				+ (tools ? "tool_calls" : "stop") + "\"}]}\n\n" + chunk
				+ "\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":3,\"total_tokens\":14}}\n\n"
				+ "data: [DONE]\n\n";
	}

	private static List<String> lines(JsonNode body) {
		List<String> lines = new ArrayList<>();
		for (JsonNode message : body.path("messages")) {
			String role = message.path("role").asString();
			if (message.has("tool_calls")) {
				List<String> ids = new ArrayList<>();
				message.path("tool_calls").forEach((call) -> ids.add(call.path("id").asString()));
				lines.add(role + ": " + String.join(" ", ids));
			}
			else if (role.equals("tool")) {
				lines.add("tool " + message.path("tool_call_id").asString() + ": " + text(message));
			}
			else {
				lines.add(role + ": " + text(message));
			}
		}
		return lines;
	}

	private static String text(JsonNode message) {
		JsonNode content = message.path("content");
		return content.isArray() ? content.get(0).path("text").asString() : content.asString();
	}

	private static List<String> argumentsOfCalls(JsonNode body) {
		List<String> arguments = new ArrayList<>();
		body.path("messages")
			.forEach((message) -> message.path("tool_calls")
				.forEach((call) -> arguments.add(call.path("function").path("arguments").asString())));
		return arguments;
	}

}
