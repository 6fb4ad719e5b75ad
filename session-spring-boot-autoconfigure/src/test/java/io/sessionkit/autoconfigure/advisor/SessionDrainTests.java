package io.sessionkit.autoconfigure.advisor;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.SessionKey;
import io.sessionkit.ShuttingDownException;
import io.sessionkit.TurnHandedOverException;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.autoconfigure.web.SessionProblemAutoConfiguration;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.line.Drain;
import io.sessionkit.store.SessionStore;
import io.sessionkit.stream.CallEvent;
import io.sessionkit.stream.StreamEvent;
import io.sessionkit.stream.TurnStreams;
import io.sessionkit.test.TestStores;
import io.sessionkit.test.WorkingModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.http.converter.autoconfigure.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.tomcat.autoconfigure.servlet.TomcatServletWebServerAutoConfiguration;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.MediaType;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Applications that close while calls are at work.
 */
@Timeout(120)
// it reads the log, which applications that start beside it set up anew
@Isolated
@ExtendWith(OutputCaptureExtension.class)
class SessionDrainTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
				SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class,
				ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class))
		.withBean(WorkingModel.class, () -> new WorkingModel("work"));

	@Test
	void drainsInThePhaseOfTheWebServer() {
		assertThat(SessionDrain.PHASE).isEqualTo(WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE);
	}

	@Test
	void streamsEndBetweenTheRequestsAndTheWebServer() {
		assertThat(StreamClosing.PHASE).isLessThan(WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE)
			.isGreaterThan(WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE);
	}

	/** The first of three that does so is enough: any takes longer on a busy machine. */
	@Test
	void applicationWithoutWorkClosesAtOnce() {
		List<Duration> closings = new ArrayList<>();
		List<ILoggingEvent> log = logOf(Drain.class, () -> {
			do {
				closings.add(closing());
			}
			while (closings.size() < 3 && !isAtOnce(closings));
		});
		assertThat(closings).matches(SessionDrainTests::isAtOnce);
		assertThat(log).extracting(ILoggingEvent::getFormattedMessage).isEmpty();
	}

	private static List<ILoggingEvent> logOf(Class<?> type, Runnable work) {
		Logger logger = (Logger) LoggerFactory.getLogger(type);
		Level level = logger.getLevel();
		ListAppender<ILoggingEvent> log = new ListAppender<>();
		log.start();
		logger.setLevel(Level.INFO);
		logger.addAppender(log);
		try {
			work.run();
		}
		finally {
			logger.detachAppender(log);
			logger.setLevel(level);
		}
		return log.list;
	}

	private static boolean isAtOnce(List<? extends Duration> closings) {
		return closings.stream().anyMatch((closing) -> closing.compareTo(Duration.ofSeconds(1)) < 0);
	}

	private Duration closing() {
		AtomicReference<Duration> closing = new AtomicReference<>(Duration.ofDays(1));
		this.runner.withPropertyValues("sessionkit.shutdown.timeout=5s").run((context) -> {
			ask(context.getBean(ChatClient.Builder.class), "q");
			long begun = System.nanoTime();
			context.close();
			closing.set(Duration.ofNanos(System.nanoTime() - begun));
		});
		return closing.get();
	}

	@Test
	void applicationThatIsStartedAgainAcceptsCalls() {
		this.runner.run((context) -> {
			ChatClient.Builder chat = context.getBean(ChatClient.Builder.class);
			context.stop();
			assertThatExceptionOfType(ShuttingDownException.class).isThrownBy(() -> ask(chat, "q"));
			context.start();
			assertThat(ask(chat, "q")).isEqualTo("a of q");
		});
	}

	@Test
	void timeThatSpringDoesNotWaitIsSaidAtStart(CapturedOutput output) {
		this.runner.withPropertyValues("sessionkit.shutdown.timeout=31s").run((context) -> {
		});
		assertThat(output).contains("'sessionkit.shutdown.timeout' is 31s, and Spring goes on after 30s.");
	}

	private static String ask(ChatClient.Builder chat, String question) {
		return chat.build().prompt().user(question).advisors(SessionAdvisor.session(KEY)).call().content();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class,
			SessionAdvisorAutoConfiguration.class, SessionProblemAutoConfiguration.class,
			ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class, TaskExecutionAutoConfiguration.class,
			JacksonAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class,
			TomcatServletWebServerAutoConfiguration.class, DispatcherServletAutoConfiguration.class,
			WebMvcAutoConfiguration.class })
	static class Application {

		private static volatile SessionStore store = TestStores.MEMORY.create();

		private static final AtomicInteger runs = new AtomicInteger();

		private static volatile CountDownLatch begun = new CountDownLatch(1);

		@Bean
		SessionStore store() {
			return store;
		}

		@Bean
		WorkingModel model() {
			return new WorkingModel("work");
		}

		@Bean
		Chat chat(ChatClient.Builder builder, TurnStreams streams) {
			return new Chat(builder, streams);
		}

		static void begin() {
			store = TestStores.MEMORY.create();
			runs.set(0);
			begun = new CountDownLatch(1);
		}

	}

	static ToolCallback work() {
		return FunctionToolCallback.builder("work", () -> {
			Application.begun.countDown();
			try {
				Thread.sleep(1000);
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
			return Application.runs.incrementAndGet();
		}).build();
	}

	@RestController
	static class Chat {

		private final ChatClient chat;

		private final TurnStreams streams;

		Chat(ChatClient.Builder builder, TurnStreams streams) {
			this.chat = builder.build();
			this.streams = streams;
		}

		@GetMapping("/call")
		String call() {
			return this.chat.prompt().user("q:3").tools(work()).advisors(SessionAdvisor.session(KEY)).call().content();
		}

		@GetMapping(path = "/stream", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
		Flux<ServerSentEvent<CallEvent>> stream() {
			return this.streams
				.start(this.chat.prompt().user("q:3").tools(work()).advisors(SessionAdvisor.session(KEY)))
				.map((each) -> ServerSentEvent.builder(each.event()).id(each.id()).event(each.event().name()).build());
		}

	}

	private static ConfigurableApplicationContext web(String... properties) {
		return new SpringApplicationBuilder(Application.class)
			.properties("server.port=0", "server.address=127.0.0.1", "sessionkit.problem-details=true",
					"sessionkit.owner=none", "spring.main.banner-mode=off")
			.properties(properties)
			.run();
	}

	private static CompletableFuture<HttpResponse<String>> get(ConfigurableApplicationContext context, String path) {
		String port = context.getEnvironment().getProperty("local.server.port");
		return HttpClient.newHttpClient()
			.sendAsync(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
					HttpResponse.BodyHandlers.ofString());
	}

	private static void closeInTime(ConfigurableApplicationContext context) throws InterruptedException {
		Application.begun.await();
		long begun = System.nanoTime();
		context.close();
		assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(10));
	}

	private static void assertGoesOnElsewhere() {
		try (Conversations other = Conversations.of(Application.store)) {
			assertThat(other.get(KEY).openTurn())
				.hasValueSatisfying((turn) -> assertThat(turn.status()).isEqualTo(TurnStatus.INCOMPLETE));
			assertThat(ChatClient.builder(new WorkingModel("work"))
				.defaultAdvisors(SessionAdvisor.of(other))
				.build()
				.prompt()
				.tools(work())
				.advisors(SessionAdvisor.session(KEY))
				.call()
				.content()).isEqualTo("a of q:3");
		}
		assertThat(Application.runs).hasValue(3);
	}

	@Test
	void requestAtWorkIsAnsweredAndItsTurnHandedOver() throws InterruptedException {
		Application.begin();
		ConfigurableApplicationContext context = web();
		CompletableFuture<HttpResponse<String>> answer = get(context, "/call");
		closeInTime(context);
		HttpResponse<String> response = answer.join();
		assertThat(response.statusCode()).isEqualTo(503);
		assertThat(response.headers().firstValue("Retry-After")).as("the same message again").isEmpty();
		assertThat(response.body()).contains("\"code\":\"handed-over\"");
		assertGoesOnElsewhere();
	}

	@Test
	void readerOfAStreamIsToldAndItsTurnHandedOver() throws InterruptedException {
		Application.begin();
		ConfigurableApplicationContext context = web("sessionkit.streams.resumable=true");
		CompletableFuture<HttpResponse<String>> answer = get(context, "/stream");
		closeInTime(context);
		assertThat(answer.join().body()).contains("\"status\":\"incomplete\",\"code\":\"handed-over\"");
		assertEndElsewhere();
		assertGoesOnElsewhere();
	}

	private static void assertEndElsewhere() {
		try (Conversations other = Conversations.of(Application.store);
				TurnStreams streams = TurnStreams.builder(other).build()) {
			String id = Application.store.records(KEY, "stream").get(0).id();
			List<StreamEvent> events = streams.resume(KEY, id.substring(0, 32) + "-0").collectList().block();
			assertThat(events).extracting(StreamEvent::event)
				.last()
				.isInstanceOfSatisfying(CallEvent.Failed.class,
						(failed) -> assertThat(failed.status()).isEqualTo(TurnStatus.INCOMPLETE));
		}
	}

	/** Spring waits for the tasks of executors before it comes to the web server. */
	@Test
	void turnOfAnExecutorStopsToo() {
		Application.begin();
		this.runner.withBean(ThreadPoolTaskExecutor.class).run((context) -> {
			ChatClient chat = context.getBean(ChatClient.Builder.class).build();
			CompletableFuture<String> answer = context.getBean(ThreadPoolTaskExecutor.class)
				.submitCompletable(() -> chat.prompt()
					.user("q:20")
					.tools(work())
					.advisors(SessionAdvisor.session(KEY))
					.call()
					.content());
			closeInTime(context);
			assertThat(answer).isCompletedExceptionally();
			assertThatExceptionOfType(CompletionException.class).isThrownBy(answer::join)
				.withCauseInstanceOf(TurnHandedOverException.class);
		});
	}

	@Test
	void threadThatDrainsInheritsNoThreadLocals() {
		InheritableThreadLocal<String> user = new InheritableThreadLocal<>();
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch stopping = new CountDownLatch(1);
		this.runner.run((context) -> {
			context.getBean(WorkingModel.class).before((prompt) -> {
				asked.countDown();
				await(stopping);
			});
			CompletableFuture.runAsync(() -> ask(context.getBean(ChatClient.Builder.class), "q"));
			asked.await();
			CompletableFuture<String> seen = new CompletableFuture<>();
			user.set("ada");
			context.getBean(SessionDrain.class)
				.stop(() -> seen.complete(Thread.currentThread().getName() + " of " + user.get()));
			user.remove();
			stopping.countDown();
			assertThat(seen.join()).isEqualTo("sessionkit-drain of null");
		});
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void closedChildLeavesTheConversationsOfItsParentAtWork() {
		this.runner.run((parent) -> {
			this.runner.withParent(parent)
				.run((child) -> assertThat(child.getBean(Conversations.class))
					.isSameAs(parent.getBean(Conversations.class)));
			assertThat(ask(parent.getBean(ChatClient.Builder.class), "q")).isEqualTo("a of q");
		});
	}

	@Test
	void oneOfTwoApplicationsInAProcessCloses() {
		this.runner.run((first) -> this.runner.run((second) -> {
			first.close();
			assertThat(ask(second.getBean(ChatClient.Builder.class), "q")).isEqualTo("a of q");
		}));
	}

}
