package io.sessionkit.autoconfigure.web;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.autoconfigure.web.EventConnection.Answer;
import io.sessionkit.autoconfigure.web.EventConnection.Event;
import io.sessionkit.docs.StreamSnippets;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.PostgresServer;
import io.sessionkit.test.RedisServers;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;
import reactor.core.publisher.Flux;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Readers whose connections are cut at any byte come back on another instance of the
 * application: two servers, each with a port of its own, share a store.
 * {@code -Dsessionkit.readers=200} cuts so many on each store.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ResumedStreamsTests {

	private static final int READERS = Integer.getInteger("sessionkit.readers", 10);

	private static final long SEED = Long.getLong("sessionkit.seed", System.nanoTime());

	private static final int WORDS = 40;

	/** The most that an answer with its heading and an event per word has. */
	private static final int BYTES = 5000;

	private static final String TEXT = IntStream.range(0, WORDS).mapToObj(Speaker::word).collect(Collectors.joining());

	/** An answer is longer than its text, so whoever reads no more than this is cut. */
	private static final int SURELY_CUT = TEXT.getBytes(StandardCharsets.UTF_8).length;

	private final Map<Server, List<ConfigurableApplicationContext>> instances = new EnumMap<>(Server.class);

	enum Server {

		POSTGRESQL {

			@Override
			List<String> arguments() {
				PostgresServer server = PostgresServer.running();
				PGSimpleDataSource database = (PGSimpleDataSource) server.dataSource(server.newDatabase());
				return List.of("--sessionkit.store.type=jdbc", "--sessionkit.store.jdbc.initialize-schema=always",
						"--spring.datasource.url=" + database.getUrl(),
						"--spring.datasource.username=" + database.getUser(),
						"--spring.datasource.password=" + database.getPassword());
			}

		},

		REDIS {

			@Override
			List<String> arguments() {
				RedisServers server = RedisServers.alone();
				return List.of("--sessionkit.store.type=redis",
						"--sessionkit.store.redis.key-prefix=streams-" + UUID.randomUUID() + ":",
						"--spring.data.redis.host=" + server.host(), "--spring.data.redis.port=" + server.port(),
						"--spring.datasource.generate-unique-name=true");
			}

		};

		abstract List<String> arguments();

	}

	/** The text and the events that a reader has in the end. */
	private record Read(String text, List<String> ids, int cuts, boolean repeated) {

	}

	@AfterAll
	void stop() {
		this.instances.values().forEach((two) -> two.forEach(ConfigurableApplicationContext::close));
	}

	@ParameterizedTest
	@EnumSource
	void everyReaderWhoIsCutAtAnyByteHasTheWholeTextOnce(Server server) throws Exception {
		int[] ports = ports(server);
		ExecutorService readers = Executors.newFixedThreadPool(READERS);
		try {
			List<Callable<Read>> tasks = new ArrayList<>();
			for (int i = 0; i < READERS; i++) {
				SplittableRandom random = new SplittableRandom(SEED + i);
				tasks.add(() -> readToTheEnd(ports, random));
			}
			int cuts = 0;
			int repeated = 0;
			for (Future<Read> each : readers.invokeAll(tasks)) {
				Read read = each.get();
				assertThat(read.text()).as("seed %d", SEED).isEqualTo(TEXT);
				assertThat(read.ids()).doesNotHaveDuplicates();
				cuts += read.cuts();
				repeated += read.repeated() ? 1 : 0;
			}
			System.out.println(READERS + " readers on " + server + ", seed " + SEED + ": " + cuts + " cuts, " + repeated
					+ " of them before the first event");
			assertThat(cuts).isGreaterThanOrEqualTo(READERS);
		}
		finally {
			readers.shutdownNow();
		}
	}

	/**
	 * Reads on another instance after each cut. A reader who has no event yet has no
	 * place to come back to, and repeats its request.
	 */
	private static Read readToTheEnd(int[] ports, SplittableRandom random) throws Exception {
		String path = "/threads/" + UUID.randomUUID();
		Map<String, String> request = Map.of("Idempotency-Key", UUID.randomUUID().toString());
		StringBuilder text = new StringBuilder();
		List<String> ids = new ArrayList<>();
		int cuts = 0;
		boolean repeated = false;
		String last = null;
		boolean ended = false;
		while (!ended) {
			int port = ports[cuts % 2];
			int bytes = switch (cuts) {
				case 0 -> 1 + random.nextInt(SURELY_CUT);
				case 1, 2 -> 1 + random.nextInt(BYTES >> cuts);
				default -> Integer.MAX_VALUE;
			};
			Answer answer = (last == null) ? EventConnection.read(port, "POST", path, request, "q", bytes)
					: EventConnection.read(port, "GET", path, Map.of("Last-Event-ID", last), "", bytes);
			repeated |= last == null && cuts > 0;
			for (Event event : answer.events()) {
				ids.add(event.id());
				if (event.name().equals("text")) {
					text.append(JsonMapper.shared().readTree(event.data()).path("text").asString());
				}
			}
			last = (answer.lastId() != null) ? answer.lastId() : last;
			ended = answer.hasEnd();
			cuts += ended ? 0 : 1;
			assertThat(cuts).as("cuts of %s, seed %d", path, SEED).isLessThan(5);
		}
		return new Read(text.toString(), ids, cuts, repeated);
	}

	@ParameterizedTest
	@EnumSource
	void stopOnAnotherInstanceEndsTheTurnAndStrangeIdsAreNotFound(Server server) throws Exception {
		int here = ports(server)[0];
		int there = ports(server)[1];
		String thread = UUID.randomUUID().toString();
		String path = "/threads/" + thread;
		Answer begun = EventConnection.read(here, "POST", path, Map.of("Idempotency-Key", "r1"), "slow", 700);
		String id = begun.lastId();
		assertThat(id).isNotNull();
		assertThat(EventConnection.read(there, "DELETE", path + "/running", Map.of("Last-Event-ID", id), "", 2000)
			.status()).isEqualTo(200);
		Answer rest = EventConnection.read(there, "GET", path, Map.of("Last-Event-ID", id), "", Integer.MAX_VALUE);
		assertThat(rest.events()).last().satisfies((event) -> {
			assertThat(event.name()).isEqualTo("ended");
			assertThat(event.data()).contains("\"cancelled\"");
		});
		SessionStore store = instances(server).get(1).getBean(SessionStore.class);
		Awaitility.await()
			.untilAsserted(
					() -> assertThat(store.turns(SessionKey.of(thread), Tail.ALL)).extracting((turn) -> turn.status())
						.containsExactly(TurnStatus.CANCELLED));
		for (String strange : List.of("0", id + "999999", "-1", "0".repeat(32) + "-1")) {
			assertThat(EventConnection.read(there, "GET", path, Map.of("Last-Event-ID", strange), "", 2000).status())
				.as(strange)
				.isEqualTo(404);
		}
		assertThat(EventConnection
			.read(there, "GET", "/threads/" + UUID.randomUUID(), Map.of("Last-Event-ID", id), "", 2000)
			.status()).isEqualTo(404);
	}

	private int[] ports(Server server) {
		return instances(server).stream()
			.mapToInt((instance) -> Integer.parseInt(instance.getEnvironment().getProperty("local.server.port", "")))
			.toArray();
	}

	private List<ConfigurableApplicationContext> instances(Server server) {
		return this.instances.computeIfAbsent(server, (each) -> {
			List<String> store = each.arguments();
			return List.of(start(store), start(store));
		});
	}

	private static ConfigurableApplicationContext start(List<String> store) {
		List<String> arguments = new ArrayList<>(List.of("--server.port=0", "--server.address=127.0.0.1",
				"--spring.liquibase.enabled=false", "--spring.flyway.enabled=false", "--spring.main.banner-mode=off",
				"--sessionkit.streams.resumable=true", "--sessionkit.problem-details=true"));
		arguments.addAll(store);
		SpringApplication application = new SpringApplication(Application.class);
		application.setWebApplicationType(WebApplicationType.SERVLET);
		return application.run(arguments.toArray(String[]::new));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(StreamSnippets.ResumableController.class)
	static class Application {

		@Bean
		Speaker model() {
			return new Speaker();
		}

	}

	/**
	 * A model that says the same words each time, one after the other.
	 */
	static final class Speaker implements ChatModel {

		static String word(int number) {
			return number + (((number % 3) == 0) ? " \uD83D\uDE00 " : " \u00e9t\u00e9, ");
		}

		@Override
		public ChatResponse call(Prompt prompt) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Flux<ChatResponse> stream(Prompt prompt) {
			boolean slow = "slow".equals(prompt.getContents());
			return Flux.interval(Duration.ofMillis(slow ? 200 : 40))
				.onBackpressureBuffer()
				.take(slow ? 1000 : WORDS)
				.map((tick) -> new ChatResponse(List.of(new Generation(new AssistantMessage(word(tick.intValue()))))));
		}

	}

}
