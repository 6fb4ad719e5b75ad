package io.sessionkit.autoconfigure.web;

import java.io.IOException;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Principal;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.ShuttingDownException;
import io.sessionkit.TurnHandedOverException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.access.CallerRefusedException;
import io.sessionkit.access.CallerRequiredException;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.DecisionRefusedException;
import io.sessionkit.context.UnfinishedReplyException;
import io.sessionkit.internal.KeptMessage;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.CommitFailedException;
import io.sessionkit.store.StoreUnavailableException;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.http.server.reactive.MockServerHttpResponse;
import org.springframework.objenesis.SpringObjenesis;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.reactive.config.EnableWebFlux;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.entry;

/**
 * Tests what clients are told of the exceptions of SessionKit.
 */
// it reads the log, which applications that start beside it set up anew
@Isolated
@ExtendWith(OutputCaptureExtension.class)
class SessionProblemTests {

	private static final String ON = "sessionkit.problem-details=true";

	private static final Pattern ROW = Pattern.compile("^\\| `(\\w+Exception)` \\|.*\\| (\\d{3}) `([a-z-]+)` \\|",
			Pattern.MULTILINE);

	private final WebApplicationContextRunner servlet = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SessionProblemAutoConfiguration.class))
		.withUserConfiguration(ServletApplication.class);

	private final ReactiveWebApplicationContextRunner reactive = new ReactiveWebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SessionProblemAutoConfiguration.class))
		.withUserConfiguration(ReactiveApplication.class);

	@Test
	void everyExceptionHasAProblemAndARowOnThePage() throws IOException {
		Map<String, String> problems = Arrays.stream(SessionProblem.values())
			.filter((problem) -> problem != SessionProblem.SESSION_ERROR)
			.collect(Collectors.toMap((problem) -> problem.type().getSimpleName(),
					(problem) -> problem.status().value() + " " + code(problem.type())));
		Map<String, String> rows = ROW.matcher(Files.readString(Path.of("../docs/http.md")))
			.results()
			.collect(Collectors.toMap((row) -> row.group(1), (MatchResult row) -> row.group(2) + " " + row.group(3)));
		List<String> exceptions = new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests())
			.importPackages("io.sessionkit")
			.stream()
			.filter((type) -> type.isAssignableTo(SessionException.class))
			.map(JavaClass::reflect)
			.filter((type) -> Modifier.isPublic(type.getModifiers()) && !Modifier.isAbstract(type.getModifiers()))
			.map(Class::getSimpleName)
			.toList();

		assertThat(problems).containsOnlyKeys(exceptions);
		assertThat(rows).isEqualTo(problems);
	}

	private static String code(Class<? extends SessionException> type) {
		return new SpringObjenesis().newInstance(type, false).code();
	}

	@Test
	void aSubclassOfTheApplicationIsAnError() {
		SessionException own = new SessionException("own", null) {
		};

		assertThat(SessionProblem.of(own)).isEqualTo(SessionProblem.SESSION_ERROR);
		assertThat(SessionProblem.SESSION_ERROR.status()).isEqualTo(HttpStatus.INTERNAL_SERVER_ERROR);
		assertThat(SessionProblem.of(own).detail(own).getProperties()).containsExactly(entry("code", "session-error"));
	}

	@Test
	void aSubclassOfTheApplicationMayHaveACodeOfItsOwn() {
		SessionException own = new SessionException("own", null) {

			@Override
			public String code() {
				return "over-budget";
			}

		};

		ProblemDetail problem = SessionProblem.of(own).detail(own);

		assertThat(problem.getType()).isEqualTo(URI.create("urn:sessionkit:over-budget"));
		assertThat(problem.getProperties()).containsExactly(entry("code", "over-budget"));
	}

	/** Its client would send it again, and the model would get it twice. */
	@Test
	void aProblemSaysWhetherTheMessageIsKept() {
		SessionException known = KeptMessage.with(new TurnInProgressException("It has joined a turn."), "t1");
		SessionException unknown = new TurnInProgressException("Nothing was run.");

		assertThat(SessionProblem.of(known).detail(known).getProperties()).containsEntry("messageKept", true);
		assertThat(SessionProblem.of(unknown).detail(unknown).getProperties()).doesNotContainKey("messageKept");
	}

	/** Whoever reads only the status and this header asks no question twice. */
	@ParameterizedTest
	@EnumSource
	void onlyARequestOfWhichNothingWasRunIsToBeSentAgain(SessionProblem problem) {
		assertThat(problem.isRepeatable()).isEqualTo(problem == SessionProblem.SHUTTING_DOWN);
	}

	/**
	 * It may have joined a turn, be queued for one, or be that of a turn that is open.
	 */
	@ParameterizedTest
	@EnumSource(names = { "CONFLICT", "TURN_IN_PROGRESS", "STORE_UNAVAILABLE", "UNFINISHED_REPLY", "NOT_STORED" })
	void theClientWhoseMessageMayBeStoredIsToldToReadTheSessionFirst(SessionProblem problem) {
		SessionException ex = new SessionNotFoundException("Any");

		assertThat(problem.detail(ex).getDetail()).containsIgnoringCase("read ")
			.containsSubsequence("sk again", "without a message if a turn is open");
	}

	/** A part of the turn may be stored, so the same request again would be refused. */
	@Test
	void theClientOfAnUnfinishedReplyIsToldWhenToAskWithoutAMessage() {
		SessionException ex = new UnfinishedReplyException(SessionKey.of("ada", "t1"));

		assertThat(SessionProblem.of(ex).detail(ex).getDetail()).isEqualTo(
				"The answer has broken off. Read the session, then ask again, without a message if a turn is open.");
	}

	@Test
	void aServletApplicationAnswersWithProblems(CapturedOutput output) {
		this.servlet.withPropertyValues(ON).run((context) -> {
			MockMvcTester client = MockMvcTester.from(context);
			assertThat(client.get().uri("/fails/conflict")).hasStatus(HttpStatus.CONFLICT)
				.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
				.bodyJson()
				.isLenientlyEqualTo(
						"""
								{"type": "urn:sessionkit:conflict", "title": "Conflict", "status": 409, "code": "conflict",
									"detail": "Another request has changed the session. Read it, then ask again, without a message if a turn is open."}""");
			assertThat(client.get().uri("/fails/store")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
				.headers()
				.doesNotContainHeader("Retry-After");
			assertThat(client.get().uri("/fails/shutdown")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
				.headers()
				.hasValue("Retry-After", "1");
			assertThat(client.get().uri("/fails/commit")).bodyJson()
				.isLenientlyEqualTo("{\"code\": \"not-stored\", \"detail\": \"The end of the turn, and with it the"
						+ " answer, may not be stored. Read the session, then ask again, without a message if a turn is open.\"}");
			assertThat(client.get().uri("/fails/refused-commit")).bodyJson()
				.isLenientlyEqualTo("{\"code\": \"not-stored\", \"detail\": \"The end of the turn, and with it the"
						+ " answer, is not stored. Ask again, without a message if a turn is open.\"}");
			assertThat(client.get().uri("/fails/decision")).hasStatus(HttpStatus.CONFLICT)
				.bodyJson()
				.isLenientlyEqualTo(
						"{\"code\": \"decision-refused\", \"reason\": \"may-have-run\", \"callStatus\": \"uncertain\", \"decidedBy\": \"Ada\"}");
			assertThat(client.get().uri("/fails/missing")).hasStatus(HttpStatus.NOT_FOUND)
				.bodyText()
				.doesNotContain("'t1'", "of 'ada'");
		});
		assertThat(output).contains("A request has ended with 503").doesNotContain("password=secret");
	}

	/** A page offers another choice for each of them. */
	@ParameterizedTest
	@EnumSource
	void aServletApplicationSaysWhyAChangeIsRefused(ChangeRefusedException.Reason reason, CapturedOutput output) {
		boolean unknown = Set.of("UNKNOWN_TURN", "UNKNOWN_BRANCH").contains(reason.name());
		this.servlet.withPropertyValues(ON)
			.run((context) -> assertThat(MockMvcTester.from(context).get().uri("/fails/" + reason))
				.hasStatus(unknown ? HttpStatus.NOT_FOUND : HttpStatus.CONFLICT)
				.bodyJson()
				.isLenientlyEqualTo("{\"code\": \"change-refused\", \"status\": %d, \"reason\": \"%s\"}"
					.formatted(unknown ? 404 : 409, reason.name().toLowerCase(Locale.ROOT).replace('_', '-'))));
		assertThat(output).doesNotContain("A request has ended with");
	}

	@Test
	void aReactiveApplicationDoesNotFindATurnThatIsGone() {
		this.reactive.withPropertyValues(ON)
			.run((context) -> WebTestClient.bindToApplicationContext(context)
				.build()
				.get()
				.uri("/fails/UNKNOWN_TURN")
				.exchange()
				.expectStatus()
				.isEqualTo(HttpStatus.NOT_FOUND)
				.expectBody()
				.jsonPath("$.reason")
				.isEqualTo("unknown-turn"));
	}

	@Test
	void eachReasonOfARefusedChangeHasARowOnThePage() throws IOException {
		String page = Files.readString(Path.of("../docs/http.md"));
		String table = page.substring(page.indexOf("| `reason` of `change-refused` |"));
		List<String> rows = Pattern.compile("^\\| `([a-z-]+)` \\|", Pattern.MULTILINE)
			.matcher(table.substring(0, table.indexOf("\n\n")))
			.results()
			.map((row) -> row.group(1).toUpperCase(Locale.ROOT).replace('-', '_'))
			.toList();

		assertThat(rows)
			.containsExactlyElementsOf(Arrays.stream(ChangeRefusedException.Reason.values()).map(Enum::name).toList());
	}

	/** Each deployment would alarm whoever counts errors. */
	@ParameterizedTest
	@ValueSource(strings = { "shutdown", "handed-over" })
	void aShutdownIsAWarningAndNoError(String kind, CapturedOutput output) {
		this.servlet.withPropertyValues(ON)
			.run((context) -> assertThat(MockMvcTester.from(context).get().uri("/fails/" + kind))
				.hasStatus(HttpStatus.SERVICE_UNAVAILABLE));
		assertThat(lines(output)).singleElement().asString().contains("WARN").doesNotContain("ERROR");
	}

	@Test
	void aStoreThatIsAwayIsAnError(CapturedOutput output) {
		this.reactive.withPropertyValues(ON)
			.run((context) -> WebTestClient.bindToApplicationContext(context)
				.build()
				.get()
				.uri("/fails/store")
				.exchange()
				.expectStatus()
				.isEqualTo(HttpStatus.SERVICE_UNAVAILABLE));
		assertThat(lines(output)).singleElement().asString().contains("ERROR");
	}

	private static List<String> lines(CapturedOutput output) {
		return output.getAll().lines().filter((line) -> line.contains("A request has ended with 503")).toList();
	}

	@Test
	void aReactiveApplicationAnswersWithProblems() {
		this.reactive.withPropertyValues(ON)
			.run((context) -> WebTestClient.bindToApplicationContext(context)
				.build()
				.get()
				.uri("/fails/conflict")
				.exchange()
				.expectStatus()
				.isEqualTo(HttpStatus.CONFLICT)
				.expectHeader()
				.contentType(MediaType.APPLICATION_PROBLEM_JSON)
				.expectBody()
				.jsonPath("$.code")
				.isEqualTo("conflict"));
	}

	@Test
	void aFunctionalEndpointOfAReactiveApplicationAnswersWithProblems() {
		this.reactive.withPropertyValues(ON)
			.run((context) -> WebTestClient.bindToApplicationContext(context)
				.build()
				.get()
				.uri("/routed/conflict")
				.exchange()
				.expectStatus()
				.isEqualTo(HttpStatus.CONFLICT)
				.expectBody()
				.jsonPath("$.code")
				.isEqualTo("conflict"));
	}

	@Test
	void aFunctionalEndpointOfAServletApplicationAnswersWithProblems() {
		this.servlet.withPropertyValues(ON)
			.run((context) -> assertThat(MockMvcTester.from(context).get().uri("/routed/conflict"))
				.hasStatus(HttpStatus.CONFLICT));
	}

	/** The answer is no event, since there is no stream. */
	@Test
	void failureBeforeTheFirstEventOfAStreamIsAProblemInAServletApplication() {
		this.servlet.withPropertyValues(ON)
			.run((context) -> assertThat(MockMvcTester.from(context)
				.get()
				.uri("/fails-at-once/conflict")
				.accept(MediaType.TEXT_EVENT_STREAM)).hasStatus(HttpStatus.CONFLICT)
				.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
				.bodyJson()
				.isLenientlyEqualTo("{\"code\": \"conflict\"}"));
	}

	@Test
	void failureBeforeTheFirstEventOfAStreamIsAProblemInAReactiveApplication() {
		this.reactive.withPropertyValues(ON)
			.run((context) -> WebTestClient.bindToApplicationContext(context)
				.build()
				.get()
				.uri("/fails-at-once/conflict")
				.accept(MediaType.TEXT_EVENT_STREAM)
				.exchange()
				.expectStatus()
				.isEqualTo(HttpStatus.CONFLICT)
				.expectHeader()
				.contentType(MediaType.APPLICATION_PROBLEM_JSON)
				.expectBody()
				.jsonPath("$.code")
				.isEqualTo("conflict"));
	}

	/**
	 * Its client has the status 200 and the beginning, and is to notice that the rest is
	 * missing.
	 */
	@Test
	void aReactiveAnswerThatHasBegunIsLeftAlone(CapturedOutput output) {
		this.reactive.withPropertyValues(ON).run((context) -> {
			HttpHandler handler = WebHttpHandlerBuilder.applicationContext(context).build();
			MockServerHttpResponse response = new MockServerHttpResponse();
			assertThatExceptionOfType(StoreUnavailableException.class)
				.isThrownBy(() -> handler.handle(MockServerHttpRequest.get("/breaks/store").build(), response).block());
			assertThat(response.isCommitted()).isTrue();
		});
		assertThat(output).doesNotContain("A request has ended with");
	}

	/** The client is told to sign in, and only the application can help. */
	@Test
	void aSignedInUserOfWhomNoCallerIsKnownIsLoggedOnce(CapturedOutput output) {
		this.servlet.withPropertyValues(ON).run((context) -> {
			MockMvcTester client = MockMvcTester.from(context);
			assertThat(client.get().uri("/fails/caller")).hasStatus(HttpStatus.UNAUTHORIZED);
			assertThat(output).doesNotContain("WARN");
			for (int i = 0; i < 2; i++) {
				assertThat(client.get().uri("/fails/caller").principal(() -> "ada")).hasStatus(HttpStatus.UNAUTHORIZED);
			}
			assertThat(output.getAll().split("signed in, and SessionKit knows no caller", -1)).hasSize(2);
		});
	}

	@Test
	void aSignedInUserOfAReactiveApplicationOfWhomNoCallerIsKnownIsLogged(CapturedOutput output) {
		this.reactive.withPropertyValues(ON)
			.run((context) -> WebTestClient.bindToApplicationContext(context)
				.webFilter((exchange, chain) -> chain
					.filter(exchange.mutate().principal(Mono.just((Principal) () -> "ada")).build()))
				.build()
				.get()
				.uri("/fails/caller")
				.exchange()
				.expectStatus()
				.isEqualTo(HttpStatus.UNAUTHORIZED));
		assertThat(output).contains("signed in, and SessionKit knows no caller");
	}

	@Test
	void aUserWhoseNameNoOwnerCanHaveIsNotToldToSignInAndIsLoggedOnce(CapturedOutput output) {
		this.servlet.withPropertyValues(ON).run((context) -> {
			for (int i = 0; i < 2; i++) {
				assertThat(MockMvcTester.from(context).get().uri("/fails/name")).hasStatus(HttpStatus.FORBIDDEN)
					.bodyJson()
					.isLenientlyEqualTo("{\"code\": \"caller-refused\"}");
			}
			assertThat(output.getAll().split("name of 256 characters", -1)).hasSize(2);
		});
	}

	@Test
	void aServletAnswerThatHasBegunIsLeftToTheContainer(CapturedOutput output) {
		this.servlet.withPropertyValues(ON).run((context) -> {
			MvcTestResult result = MockMvcTester.from(context).get().uri("/breaks/store").exchange();
			assertThat(result.getUnresolvedException()).hasStackTraceContaining("StoreUnavailableException");
		});
		assertThat(output).doesNotContain("A request has ended with");
	}

	@Test
	void anAdviceOfTheApplicationComesFirst() {
		this.servlet.withPropertyValues(ON)
			.withUserConfiguration(OwnAdvice.class)
			.run((context) -> assertThat(MockMvcTester.from(context).get().uri("/fails/conflict"))
				.hasStatus(HttpStatus.I_AM_A_TEAPOT));
	}

	@Test
	void nothingIsAnsweredUnlessTheApplicationSaysSo() {
		this.servlet.run((context) -> assertThat(context).doesNotHaveBean(SessionProblemAdvice.class));
		this.reactive.run((context) -> assertThat(context).doesNotHaveBean(ReactiveProblemAdvice.class));
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(SessionProblemAutoConfiguration.class))
			.withPropertyValues(ON)
			.run((context) -> assertThat(context).doesNotHaveBean(SessionProblemAdvice.class));
		this.servlet.withPropertyValues(ON)
			.withClassLoader(new FilteredClassLoader(ProblemDetail.class))
			.run((context) -> assertThat(context).doesNotHaveBean("sessionKitProblemAdvice"));
	}

	private static SessionException failure(String kind) {
		SessionKey key = SessionKey.of("ada", "t1");
		return switch (kind) {
			case "conflict" -> new SessionConflictException("Session " + key + " has changed.", null);
			case "caller" -> new CallerRequiredException("Nobody is known");
			case "name" -> new CallerRefusedException("It is a name of 256 characters.");
			case "shutdown" -> new ShuttingDownException("Nothing was run");
			case "handed-over" -> new TurnHandedOverException("Continue it", "7-c0ffee");
			case "store" -> new StoreUnavailableException("Away", new IllegalStateException("password=secret"));
			case "commit" -> new CommitFailedException("Whether it was written is unknown", null, null);
			case "refused-commit" -> CommitFailedException.unwritten("Full", null, null);
			case "decision" -> new DecisionRefusedException("No", DecisionRefusedException.Reason.MAY_HAVE_RUN,
					ApprovalStatus.UNCERTAIN, "Ada");
			case "missing" -> new SessionNotFoundException("Session " + key + " is absent.");
			default -> new ChangeRefusedException("Session " + key, ChangeRefusedException.Reason.valueOf(kind));
		};
	}

	@Configuration(proxyBeanMethods = false)
	@EnableWebMvc
	static class ServletApplication {

		@Bean
		Failing failing() {
			return new Failing();
		}

		@Bean
		org.springframework.web.servlet.function.RouterFunction<?> routed() {
			return org.springframework.web.servlet.function.RouterFunctions.route().GET("/routed/{kind}", (request) -> {
				throw failure(request.pathVariable("kind"));
			}).build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableWebFlux
	static class ReactiveApplication {

		@Bean
		FailingLater failing() {
			return new FailingLater();
		}

		@Bean
		RouterFunction<ServerResponse> routed() {
			return RouterFunctions.route()
				.GET("/routed/{kind}", (request) -> Mono.error(failure(request.pathVariable("kind"))))
				.build();
		}

	}

	@RestController
	static class Failing {

		@GetMapping("/fails/{kind}")
		String fail(@PathVariable("kind") String kind) {
			throw failure(kind);
		}

		@GetMapping(path = "/fails-at-once/{kind}", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
		Flux<String> failAtOnce(@PathVariable("kind") String kind) {
			return Flux.error(() -> failure(kind));
		}

		@GetMapping(path = "/breaks/{kind}", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
		Flux<String> breakOff(@PathVariable("kind") String kind) {
			return Flux.just("half").concatWith(Mono.error(() -> failure(kind)));
		}

	}

	@RestController
	static class FailingLater {

		@GetMapping("/fails/{kind}")
		Mono<String> fail(@PathVariable("kind") String kind) {
			return Mono.error(failure(kind));
		}

		@GetMapping(path = "/fails-at-once/{kind}", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
		Flux<String> failAtOnce(@PathVariable("kind") String kind) {
			return Flux.error(() -> failure(kind));
		}

		@GetMapping(path = "/breaks/{kind}", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
		Flux<String> breakOff(@PathVariable("kind") String kind) {
			return Flux.just("half").concatWith(Mono.error(() -> failure(kind)));
		}

	}

	@RestControllerAdvice
	static class OwnAdvice {

		@ExceptionHandler(SessionException.class)
		void answer(HttpServletResponse response) {
			response.setStatus(HttpStatus.I_AM_A_TEAPOT.value());
		}

	}

}
