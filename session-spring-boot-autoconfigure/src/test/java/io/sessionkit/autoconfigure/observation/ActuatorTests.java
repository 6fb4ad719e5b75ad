package io.sessionkit.autoconfigure.observation;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.sessionkit.SessionKey;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.store.SessionStore;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Health, Prometheus and the endpoint of sessions, read over HTTP. The board and the page
 * are held to the meters that are scraped.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ActuatorTests {

	private static final SessionKey WAITING = SessionKey.of("waiting");

	private static final SessionKey SUMMARIZED = SessionKey.of("bob", "summarized");

	private static final Path DOCS = Path.of("..", "docs");

	private static final Pattern NAME = Pattern.compile("sessionkit_[a-z_]+");

	private static final Pattern ROW = Pattern.compile("^\\| `(sessionkit[a-z.]+)`", Pattern.MULTILINE);

	private ObservedApplication application;

	@BeforeAll
	void start() {
		this.application = ObservedApplication.start("--sessionkit.observation.waiting-interval=1s",
				"--sessionkit.summarize.trigger-messages=2", "--sessionkit.summarize.mode=before",
				"--sessionkit.summarize.keep-turns=0");
		this.application.model().says("the answer");
		this.application.ask(SessionKey.of("plain"), "a secret");
		this.application.model().calls(new ToolCall("c1", "function", "look", "{\"at\":\"a secret\"}"));
		this.application.ask(WAITING, "a secret");
		this.application.model().says("the answer").says("a secret summary").says("the answer");
		this.application.ask(SUMMARIZED, "a secret");
		this.application.ask(SUMMARIZED, "a secret");
		this.application.bean(SessionStore.class)
			.add(SessionKey.of("ada", "a/b c"), List.of(new UserMessage("secret")));
	}

	@AfterAll
	void stop() {
		this.application.close();
	}

	@Test
	void healthHasTheStore() throws Exception {
		JsonNode health = this.application.get("/health");
		JsonNode ours = health.path("components").path("sessionKit");
		assertThat(ours.path("status").asString()).isEqualTo("UP");
		assertThat(ours.path("details").path("store").asString()).isEqualTo("JdbcSessionStore");
	}

	@Test
	void metersAreScraped() throws Exception {
		List<String> scraped = this.application.scrape();
		assertThat(scraped).anySatisfy((line) -> assertThat(line).startsWith("sessionkit_calls_total{")
			.contains("mode=\"call\"")
			.contains("outcome=\"completed\"")
			.endsWith(" 3.0"));
		assertThat(scraped).anySatisfy((line) -> assertThat(line).startsWith("sessionkit_calls_total{")
			.contains("outcome=\"awaiting-approval\"")
			.endsWith(" 1.0"));
		assertThat(scraped).anySatisfy((line) -> assertThat(line).startsWith("sessionkit_call_seconds_count{"))
			.anySatisfy((line) -> assertThat(line).startsWith("sessionkit_call_commit_seconds_count{"));
		assertThat(scraped).noneSatisfy((line) -> assertThat(line).containsAnyOf("secret", "plain", "look", "ada"));
	}

	@Test
	void boardAndPageHaveTheNamesThatAreScraped() throws Exception {
		Set<String> scraped = this.application.scrape()
			.stream()
			.map((line) -> line.split("[{ ]")[0])
			.collect(Collectors.toCollection(TreeSet::new));
		JsonNode board = JsonMapper.builder().build().readTree(Files.readString(DOCS.resolve("grafana.json")));
		Set<String> shown = found(NAME, board.findValuesAsString("expr").toString());
		assertThat(shown).hasSizeGreaterThan(20).as("a call that hangs").contains("sessionkit_call_active_seconds_max");
		assertThat(scraped).containsAll(shown);
		assertThat(families(shown)).as("each family of meters is on the board").isEqualTo(families(scraped));
		Set<String> registered = registered(this.application.bean(MeterRegistry.class));
		assertThat(found(ROW, Files.readString(DOCS.resolve("observability.md")))).isEqualTo(registered);
	}

	@Test
	void statementOnThePageFindsTheSessionWhoseTurnIsOpen() throws Exception {
		String page = Files.readString(DOCS.resolve("observability.md"));
		assertThat(page).containsOnlyOnce("```sql");
		String statement = page.split("```sql\n")[1].split("```")[0];
		assertThat(new JdbcTemplate(this.application.bean(DataSource.class)).queryForList(statement)).singleElement()
			.satisfies(
					(row) -> assertThat(row).containsEntry("OWNER", WAITING.owner()).containsEntry("ID", WAITING.id()));
	}

	@Test
	void waitingCallsAreCountedBesideTheScrape() {
		Awaitility.await()
			.atMost(Duration.ofSeconds(10))
			.untilAsserted(() -> assertThat(this.application.scrape()).contains(
					"sessionkit_approvals_waiting{status=\"proposed\"} 1.0",
					"sessionkit_approvals_waiting{status=\"uncertain\"} 0.0"));
	}

	@Test
	void ownerThatNoSessionCanHaveIsABadRequest() throws Exception {
		assertThat(this.application.send("GET", "/sessions?owner=%20").statusCode()).isEqualTo(400);
	}

	@Test
	void endpointShowsSessionsAndWaitingCallsWithoutTexts() throws Exception {
		HttpResponse<String> response = this.application.send("GET", "/sessions");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.body()).doesNotContain("secret").doesNotContain("the answer");
		JsonNode body = this.application.get("/sessions");
		assertThat(body.path("count").asInt()).isEqualTo(2);
		assertThat(body.path("isMore").asBoolean(true)).isFalse();
		assertThat(body.path("sessions").valueStream().map((each) -> each.path("id").asString()))
			.containsExactly("waiting", "plain");
		assertThat(body.path("approvals").valueStream().map((each) -> each.path("tool").asString()))
			.containsExactly("look");
		assertThat(body.path("approvals").get(0).path("status").asString()).isEqualTo("proposed");
		assertThat(body.path("approvals").get(0).path("turnId").asString())
			.isEqualTo(this.application.get("/sessions/waiting").path("turns").get(0).path("id").asString());
	}

	@Test
	void endpointShowsOneSessionWithItsTurns() throws Exception {
		HttpResponse<String> response = this.application.send("GET", "/sessions/plain");
		assertThat(response.body()).doesNotContain("secret").doesNotContain("the answer");
		JsonNode body = this.application.get("/sessions/plain");
		assertThat(body.path("session").path("turns").asInt()).isEqualTo(1);
		assertThat(body.path("turns").get(0).path("status").asString()).isEqualTo("completed");
		assertThat(body.path("turns").get(0).path("items").asInt()).isEqualTo(2);
		assertThat(body.path("turns").get(0).has("messages")).isFalse();
	}

	@Test
	void pagesAreCutAsAsked() throws Exception {
		SessionKey key = SessionKey.of("paged", "long");
		SessionStore store = this.application.bean(SessionStore.class);
		for (int i = 0; i < 5; i++) {
			store.add(key, List.of(new UserMessage("q" + i)));
			store.add(SessionKey.of("paged", "s" + i), List.of(new UserMessage("q")));
		}
		assertThat(numbers("/sessions/long?owner=paged&limit=2")).containsExactly(4, 5);
		assertThat(numbers("/sessions/long?owner=paged&limit=2&before=4")).containsExactly(2, 3);
		JsonNode page = this.application.get("/sessions?owner=paged&offset=4&limit=2");
		assertThat(page.path("count").asInt()).isEqualTo(6);
		assertThat(page.path("sessions").size()).isEqualTo(2);
	}

	private List<Integer> numbers(String path) throws IOException, InterruptedException {
		return this.application.get(path)
			.path("turns")
			.valueStream()
			.map((turn) -> turn.path("number").asInt())
			.toList();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/sessions?limit=0", "/sessions?limit=101", "/sessions?offset=-1",
			"/sessions/plain?limit=0", "/sessions/plain?before=-1", "/sessions?limit=x" })
	void impossiblePageIsRefused(String path) throws Exception {
		assertThat(this.application.send("GET", path).statusCode()).isEqualTo(400);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/sessions/unknown", "/sessions/plain?owner=ada", "/sessions/a/b%20c", "/sessions/%20",
			"/sessions/plain?owner=%20" })
	void unknownSessionIsNotFound(String path) throws Exception {
		assertThat(this.application.send("GET", path).statusCode()).isEqualTo(404);
	}

	@Test
	void sessionOfAnOwnerWithASlashInItsIdIsFound() throws Exception {
		JsonNode body = this.application.get("/sessions/a/b%20c?owner=ada");
		assertThat(body.path("session").path("id").asString()).isEqualTo("a/b c");
	}

	/** The page says so: the server leaves empty parts out. */
	@ParameterizedTest
	@ValueSource(strings = { "a//b", "end/", "/begin" })
	void sessionWithAnEmptyPartInItsIdIsListedAndNotFound(String id) throws Exception {
		SessionStore store = this.application.bean(SessionStore.class);
		store.add(SessionKey.of("odd", id), List.of(new UserMessage("secret")));
		assertThat(this.application.get("/sessions?owner=odd")
			.path("sessions")
			.valueStream()
			.map((each) -> each.path("id").asString())).contains(id);
		assertThat(this.application.send("GET", "/sessions/" + id + "?owner=odd").statusCode()).isEqualTo(404);
	}

	@Test
	void sessionCannotBeErasedUnlessTheApplicationAllowsIt() throws Exception {
		assertThat(this.application.send("DELETE", "/sessions/plain").statusCode()).isEqualTo(405);
		assertThat(this.application.bean(SessionStore.class).find(SessionKey.of("plain"))).isPresent();
	}

	@Test
	void textsAreShownAndSessionsErasedWhereBothAreAllowed() throws Exception {
		try (ObservedApplication open = ObservedApplication.start("--sessionkit.observation.endpoint-texts=true",
				"--management.endpoint.sessions.access=unrestricted")) {
			open.model().calls(new ToolCall("c1", "function", "look", "{\"at\":\"a secret\"}")).says("the answer");
			open.ask(WAITING, "a secret");
			assertThat(open.get("/sessions").path("approvals").get(0).path("arguments").asString())
				.contains("a secret");
			ToolApproval shown = open.bean(Approvals.class).pending(WAITING).get(0);
			open.bean(Approvals.class).approve(shown, "anna");
			open.ask(WAITING, null);
			assertThat(open.send("GET", "/sessions/waiting").body()).contains("a secret", "the answer", "found");
			SessionStore store = open.bean(SessionStore.class);
			store.add(WAITING.child("critic"), List.of(new UserMessage("secret")));
			assertThat(open.send("DELETE", "/sessions/waiting").statusCode()).isEqualTo(204);
			assertThat(open.send("DELETE", "/sessions/waiting").statusCode()).isEqualTo(404);
			assertThat(store.find(WAITING)).isEmpty();
			assertThat(store.find(WAITING.child("critic"))).as("child sessions stay").isPresent();
			assertThat(open.send("DELETE", "/sessions/waiting/critic").statusCode()).isEqualTo(204);
			assertThat(store.find(WAITING.child("critic"))).isEmpty();
		}
	}

	/** Returns the meters. An observation has a meter for those at work too. */
	private static Set<String> registered(MeterRegistry registry) {
		return registry.getMeters()
			.stream()
			.map(Meter::getId)
			.map(Meter.Id::getName)
			.filter((name) -> name.startsWith("sessionkit") && !name.endsWith(".active"))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	/**
	 * Returns the names of meters without what Prometheus adds, and without those at
	 * work.
	 */
	private static Set<String> families(Set<String> names) {
		return names.stream()
			.filter((name) -> !name.contains("_active_"))
			.map((name) -> name.replaceAll("(_seconds)?(_count|_sum|_max|_total|_bucket)$", ""))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private static Set<String> found(Pattern pattern, String text) {
		Set<String> found = new TreeSet<>();
		Matcher matcher = pattern.matcher(text);
		while (matcher.find()) {
			found.add(matcher.group(matcher.groupCount()));
		}
		return found;
	}

}
