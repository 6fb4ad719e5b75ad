package io.sessionkit.docs;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.sessionkit.SessionKey;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.autoconfigure.web.SessionProblemAutoConfiguration;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.stream.CallEvent;
import io.sessionkit.test.ScriptedChatModel;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.ApplicationContextAssertProvider;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.HttpStatus;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.web.reactive.config.EnableWebFlux;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The code of {@code docs/streams.md} does what the page says, in MVC and in WebFlux.
 */
class StreamSnippetsTests {

	private static final AutoConfigurations OURS = AutoConfigurations.of(ChatClientAutoConfiguration.class,
			MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class,
			SessionAdvisorAutoConfiguration.class, SessionProblemAutoConfiguration.class);

	private static final Duration SOON = Duration.ofSeconds(20);

	private final WebApplicationContextRunner servlet = new WebApplicationContextRunner().withConfiguration(OURS)
		.withUserConfiguration(ServletApplication.class)
		.withPropertyValues("sessionkit.problem-details=true");

	private final ReactiveWebApplicationContextRunner reactive = new ReactiveWebApplicationContextRunner()
		.withConfiguration(OURS)
		.withUserConfiguration(ReactiveApplication.class)
		.withPropertyValues("sessionkit.problem-details=true");

	@Test
	void browserReadsTheEventsOfACallFromMvc() {
		this.servlet.run((context) -> {
			script(context);
			MvcTestResult result = MockMvcTester.from(context).post().uri("/chat/t1").content("q").exchange();
			assertThat(result).hasStatusOk();
			checkEvents(result.getResponse().getContentAsString(), context);
		});
	}

	@Test
	void browserReadsTheEventsOfACallFromWebFlux() {
		this.reactive.run((context) -> {
			script(context);
			WebTestClient client = WebTestClient.bindToApplicationContext(context).build();
			checkEvents(body(client.post().uri("/chat/t1").bodyValue("q").exchange()), context);
		});
	}

	@Test
	void failureBeforeTheFirstEventHasItsStatus() {
		this.servlet
			.run((context) -> assertThat(MockMvcTester.from(context).post().uri("/chat/ ").content("q")).hasStatus(400)
				.bodyText()
				.contains("invalid-session-key"));
	}

	@Test
	void readerWhoComesBackReadsTheRestFromMvc() {
		this.servlet.withPropertyValues("sessionkit.streams.resumable=true").run((context) -> {
			context.getBean(ScriptedChatModel.class).says("It is on its way.");
			MockMvcTester client = MockMvcTester.from(context);
			String[] events = events(client.post()
				.uri("/threads/t1")
				.header("Idempotency-Key", "r1")
				.content("q")
				.exchange()
				.getResponse()
				.getContentAsString());
			assertThat(events).hasSize(4).allMatch((event) -> event.startsWith("id:"));
			assertThat(events(client.get()
				.uri("/threads/t1")
				.header("Last-Event-ID", id(events[0]))
				.exchange()
				.getResponse()
				.getContentAsString())).containsExactly(events[1], events[2], events[3]);
			assertThat(client.get().uri("/threads/t2").header("Last-Event-ID", id(events[0]))).hasStatus(404)
				.bodyText()
				.contains("stream-not-found");
		});
	}

	@Test
	void readerWhoComesBackReadsTheRestFromWebFlux() {
		this.reactive.withPropertyValues("sessionkit.streams.resumable=true").run((context) -> {
			context.getBean(ScriptedChatModel.class).says("It is on its way.");
			WebTestClient client = WebTestClient.bindToApplicationContext(context).build();
			String[] events = events(
					body(client.post().uri("/threads/t1").header("Idempotency-Key", "r1").bodyValue("q").exchange()));
			assertThat(events).hasSize(4);
			assertThat(events(body(client.get().uri("/threads/t1").header("Last-Event-ID", id(events[0])).exchange())))
				.containsExactly(events[1], events[2], events[3]);
			client.get()
				.uri("/threads/t2")
				.header("Last-Event-ID", id(events[0]))
				.exchange()
				.expectStatus()
				.isNotFound();
		});
	}

	/** It opens the address without an id, and again with the id of its last event. */
	@Test
	void eventSourceThatReconnectsGetsNoEventTwice() {
		this.reactive.withPropertyValues("sessionkit.streams.resumable=true").run((context) -> {
			Sinks.One<ChatResponse> rest = Sinks.one();
			ScriptedChatModel model = context.getBean(ScriptedChatModel.class);
			model.step((prompt) -> Flux.just(model.chunk("It is on", List.of(), false)).concatWith(rest.asMono()));
			WebTestClient client = WebTestClient.bindToApplicationContext(context).build();
			client.get().uri("/threads/t1").exchange().expectStatus().isNoContent();
			client.post().uri("/threads/t1").header("Idempotency-Key", "r1").bodyValue("q").exchange();
			List<ServerSentEvent<Object>> events = new ArrayList<>(read(client, null).take(2).collectList().block());
			rest.tryEmitValue(model.chunk(" its way.", List.of(), true));
			events.addAll(read(client, events.get(1).id()).collectList().block());
			assertThat(events).extracting(ServerSentEvent::event).containsExactly("begun", "text", "text", "ended");
			assertThat(events).extracting(ServerSentEvent::id).doesNotHaveDuplicates();
			open(client, events.get(3).id()).expectStatus().isNoContent();
			// the call ends a moment after its last event
			await().untilAsserted(() -> open(client, null).expectStatus().isNoContent());
		});
	}

	@Test
	void commentsKeepASilentStreamAliveAndEndWithIt() {
		ServerSentEvent<CallEvent> event = ServerSentEvent.<CallEvent>builder(new CallEvent.Text("a")).build();
		Sinks.One<ServerSentEvent<CallEvent>> later = Sinks.one();
		AtomicInteger comments = new AtomicInteger();
		List<ServerSentEvent<CallEvent>> read = StreamSnippets
			.alive(Flux.concat(Mono.just(event), later.asMono()), Duration.ofMillis(200))
			.doOnNext((each) -> {
				if (each.comment() != null && comments.incrementAndGet() == 3) {
					later.tryEmitValue(event);
				}
			})
			.collectList()
			.block(SOON);
		assertThat(read).startsWith(event).endsWith(event).hasSizeGreaterThan(3);
		assertThat(read.subList(1, read.size() - 1)).extracting(ServerSentEvent::comment).containsOnly("alive");
	}

	@Test
	void heartbeatChangesNoEndThatComesBeforeIt() {
		assertThat(StreamSnippets.alive(Flux.empty(), SOON).collectList().block(SOON)).isEmpty();
		Flux<ServerSentEvent<CallEvent>> failing = Flux.error(new ResponseStatusException(HttpStatus.NO_CONTENT));
		assertThatExceptionOfType(ResponseStatusException.class)
			.isThrownBy(() -> StreamSnippets.alive(failing, SOON).blockLast(SOON));
	}

	@Test
	void heartbeatEndsWhenItsReaderLeaves() {
		Sinks.Many<ServerSentEvent<CallEvent>> events = Sinks.many().unicast().onBackpressureBuffer();
		AtomicBoolean left = new AtomicBoolean();
		StreamSnippets.alive(events.asFlux().doOnCancel(() -> left.set(true)), SOON).subscribe().dispose();
		assertThat(left).isTrue();
	}

	private static WebTestClient.ResponseSpec open(WebTestClient client, @Nullable String lastEventId) {
		return client.get().uri("/threads/t1").headers((headers) -> {
			if (lastEventId != null) {
				headers.set("Last-Event-ID", lastEventId);
			}
		}).exchange();
	}

	private static Flux<ServerSentEvent<Object>> read(WebTestClient client, @Nullable String lastEventId) {
		return open(client, lastEventId).expectStatus()
			.isOk()
			.returnResult(new ParameterizedTypeReference<ServerSentEvent<Object>>() {
			})
			.getResponseBody();
	}

	@Test
	void nothingToReadHasNoContentInMvc() {
		this.servlet.withPropertyValues("sessionkit.streams.resumable=true").run((context) -> {
			context.getBean(ScriptedChatModel.class).says("It is on its way.");
			MockMvcTester client = MockMvcTester.from(context);
			assertThat(client.get().uri("/threads/t1")).hasStatus(204);
			String[] events = events(client.post()
				.uri("/threads/t1")
				.header("Idempotency-Key", "r1")
				.content("q")
				.exchange()
				.getResponse()
				.getContentAsString());
			assertThat(client.get().uri("/threads/t1").header("Last-Event-ID", id(events[3]))).hasStatus(204);
		});
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 256 })
	void nameOfARequestThatCannotBeOneIsABadRequest(int length) {
		String name = "x".repeat(length);
		this.servlet.run((context) -> assertThat(
				MockMvcTester.from(context).post().uri("/threads/t1").header("Idempotency-Key", name).content("q"))
			.hasStatus(400));
		this.reactive.run((context) -> WebTestClient.bindToApplicationContext(context)
			.build()
			.post()
			.uri("/threads/t1")
			.header("Idempotency-Key", name)
			.bodyValue("q")
			.exchange()
			.expectStatus()
			.isBadRequest());
	}

	private static String body(WebTestClient.ResponseSpec response) {
		byte[] body = response.expectStatus().isOk().expectBody().returnResult().getResponseBody();
		return new String((body != null) ? body : new byte[0], StandardCharsets.UTF_8);
	}

	private static String[] events(String body) {
		return body.split("\n\n");
	}

	private static String id(String event) {
		return event.lines().findFirst().orElseThrow().substring("id:".length());
	}

	private static void script(ApplicationContextAssertProvider<? extends ApplicationContext> context) {
		ScriptedChatModel model = context.getBean(ScriptedChatModel.class);
		model.calls(new ToolCall("c1", "function", "find_order", "{\"number\":17}")).says("It is on its way.");
	}

	private static void checkEvents(String body, ApplicationContext context) {
		String turnId = context.getBean(SessionStore.class).turns(SessionKey.of("t1"), Tail.ALL).get(0).id();
		assertThat(body.replace("event: ", "event:").replace("data: ", "data:").split("\n\n")).containsExactly(
				event("begun", "{\"turnId\":\"" + turnId + "\"}"),
				event("tool-called",
						"{\"callId\":\"c1\",\"tool\":\"find_order\",\"arguments\":\"{\\\"number\\\":17}\"}"),
				event("tool-returned", "{\"callId\":\"c1\",\"tool\":\"find_order\",\"result\":\"sent\"}"),
				event("text", "{\"text\":\"It is on\"}"), event("text", "{\"text\":\" its way.\"}"),
				event("ended", "{\"turnId\":\"" + turnId + "\",\"turn\":1,\"status\":\"completed\"}"));
	}

	private static String event(String name, String data) {
		return "event:" + name + "\ndata:" + data;
	}

	@Configuration(proxyBeanMethods = false)
	static class Chat {

		@Bean
		ScriptedChatModel model() {
			return new ScriptedChatModel();
		}

		@Bean
		StreamSnippets.ChatController controller(ChatClient.Builder builder) {
			record Order(int number) {
			}
			return new StreamSnippets.ChatController(
					builder.defaultTools(FunctionToolCallback.builder("find_order", (Order order) -> "sent")
						.description("finds an order")
						.inputType(Order.class)
						.toolCallResultConverter((result, type) -> String.valueOf(result))
						.build()));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableWebMvc
	@Import({ Chat.class, StreamSnippets.ResumableController.class })
	static class ServletApplication {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableWebFlux
	@Import({ Chat.class, StreamSnippets.ResumableController.class })
	static class ReactiveApplication {

	}

}
