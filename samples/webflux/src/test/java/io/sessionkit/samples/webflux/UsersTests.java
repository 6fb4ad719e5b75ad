package io.sessionkit.samples.webflux;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.jayway.jsonpath.JsonPath;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.MediaType;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.web.reactive.function.client.WebClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Users who are signed in, over HTTP.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = {
		"spring.datasource.url=jdbc:h2:mem:users;DB_CLOSE_DELAY=-1", "sessionkit.observation.waiting-interval=1s" })
class UsersTests {

	private static final int AT_ONCE = 20;

	private final HttpClient client = HttpClient.newHttpClient();

	private final String thread = UUID.randomUUID().toString();

	@LocalServerPort
	private int port;

	private HttpRequest request(String user, String path, String json) {
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + this.port + path));
		if (!user.isEmpty()) {
			String name = Base64.getEncoder().encodeToString((user + ":" + user).getBytes(StandardCharsets.UTF_8));
			request.header("Authorization", "Basic " + name);
		}
		if (json != null) {
			request.header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(json));
		}
		return request.build();
	}

	private HttpResponse<String> send(String user, String path, String json) {
		try {
			return this.client.send(request(user, path, json), HttpResponse.BodyHandlers.ofString());
		}
		catch (IOException | InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

	private static String text(HttpResponse<String> stream) {
		assertThat(stream.statusCode()).as(stream.body()).isEqualTo(200);
		return stream.body()
			.lines()
			.filter((line) -> line.startsWith("data:"))
			.map((line) -> JsonPath.<String>read(line.substring("data:".length()), "$.text"))
			.collect(Collectors.joining());
	}

	private String ask(String user, String text) {
		return text(send(user, "/threads/" + this.thread, "{\"text\":\"" + text + "\"}"));
	}

	@Test
	void sameNameIsAnotherThreadForEachUser() {
		assertThat(ask("ada", "one")).isEqualTo("You have said “one”.");
		assertThat(ask("bob", "two")).isEqualTo("You have said “two”.");
		assertThat(ask("ada", "three")).isEqualTo("You have said “one”, then “three”.");
		assertThat(send("ada", "/threads/" + this.thread, null).body()).contains("three").doesNotContain("two");
		assertThat(send("bob", "/threads/" + this.thread, null).body()).contains("two").doesNotContain("one");
		assertThat(send("ada", "/threads", null).body()).contains(this.thread);
		assertThat(send("eve", "/threads", null).body()).isEqualTo("[]");
		assertThat(send("eve", "/threads/" + this.thread, null).body()).isEqualTo("[]");
	}

	/**
	 * As the browser's EventSource, this reader takes one space behind the colon away.
	 */
	@Test
	void answerKeepsItsSpacesForAReaderOfEventStreams() {
		record Piece(String text) {
		}
		List<String> pieces = WebClient.create("http://127.0.0.1:" + this.port)
			.post()
			.uri("/threads/" + this.thread)
			.headers((headers) -> headers.setBasicAuth("ada", "ada"))
			.contentType(MediaType.APPLICATION_JSON)
			.bodyValue("{\"text\":\"one\"}")
			.retrieve()
			.bodyToFlux(new ParameterizedTypeReference<ServerSentEvent<Piece>>() {
			})
			.mapNotNull(ServerSentEvent::data)
			.map(Piece::text)
			.collectList()
			.block();
		assertThat(pieces).hasSizeGreaterThan(1);
		assertThat(String.join("", pieces)).isEqualTo("You have said “one”.");
	}

	@ParameterizedTest
	@ValueSource(strings = { "{}", "{\"text\":\"\"}", "{\"text\":\" \"}" })
	void questionWithoutTextIsTheMistakeOfItsClient(String question) {
		assertThat(send("ada", "/threads/" + this.thread, question).statusCode()).isEqualTo(400);
	}

	@ParameterizedTest
	@CsvSource({ "'', 401", "mallory, 401" })
	void whoIsNotSignedInReachesNothing(String user, int status) {
		assertThat(send(user, "/threads", null).statusCode()).isEqualTo(status);
		assertThat(send(user, "/threads/t1", null).statusCode()).isEqualTo(status);
		assertThat(send(user, "/threads/t1", "{\"text\":\"hi\"}").statusCode()).isEqualTo(status);
		assertThat(send(user, "/inbox", null).statusCode()).isEqualTo(status);
	}

	/** A sub-agent of a thread has a session with such an id. */
	@Test
	void nameWithASlashIsNoThread() {
		assertThat(send("ada", "/threads/" + this.thread + "%2Fplanner", null).statusCode()).isEqualTo(400);
		assertThat(send("ada", "/threads/" + this.thread + "%2Fplanner", "{\"text\":\"hi\"}").statusCode())
			.isEqualTo(400);
	}

	@Test
	void callWaitsForSomebodyWhoMayDecide() {
		assertThat(ask("ada", "cancel order 4711")).isEmpty();
		Awaitility.await()
			.until(() -> send("olga", "/actuator/prometheus", null).body()
				.lines()
				.anyMatch((line) -> line.startsWith("sessionkit_approvals_waiting{") && line.contains("proposed")
						&& line.endsWith(" 1.0")));
		assertThat(send("ada", "/inbox", null).body()).isEqualTo("[]");
		assertThat(send("bob", "/inbox", null).body()).isEqualTo("[]");
		String inbox = send("eve", "/inbox", null).body();
		List<String> mine = JsonPath.read(inbox, "$[?(@.thread == '" + this.thread + "')].id");
		List<String> shown = JsonPath.read(inbox, "$[?(@.thread == '" + this.thread + "')].shown");
		assertThat(mine).hasSize(1);
		String path = "/inbox/ada/" + this.thread + "/" + mine.get(0);
		String approval = "{\"shown\":\"" + shown.get(0) + "\",\"approved\":true}";
		assertThat(send("ada", path, approval).statusCode()).isEqualTo(403);
		HttpResponse<String> foreign = send("bob", path, approval);
		HttpResponse<String> absent = send("bob", path.replace("/ada/", "/nobody/"), approval);
		assertThat(foreign.statusCode()).isEqualTo(404);
		assertThat(foreign.body().replace("ada", "X")).isEqualTo(absent.body().replace("nobody", "X"));
		assertThat(send("eve", path, approval).body()).isEqualTo("approved");
		Awaitility.await()
			.until(() -> send("ada", "/threads/" + this.thread, null).body()
				.contains("Then: \\\"order 4711 is cancelled\\\""));
		assertThat(send("eve", "/inbox", null).body()).doesNotContain(this.thread);
	}

	@Test
	void whoOperatesTheApplicationSeesSessionsOfAllWithoutTextsAndNobodyElseDoes() {
		ask("ada", "a secret");
		String sessions = "/actuator/sessions?owner=ada&limit=100";
		assertThat(send("olga", sessions, null).body()).contains(this.thread).doesNotContain("secret");
		String one = "/actuator/sessions/" + this.thread + "?owner=ada";
		assertThat(send("olga", one, null).body()).contains("\"completed\"").doesNotContain("secret");
		assertThat(send("olga", one.replace("ada", "bob"), null).statusCode()).isEqualTo(404);
		assertThat(send("olga", "/actuator/prometheus", null).body()).contains("sessionkit_calls_total{")
			.doesNotContain(this.thread);
		for (String path : List.of(sessions, one, "/actuator/prometheus")) {
			assertThat(send("", path, null).statusCode()).isEqualTo(401);
			assertThat(send("ada", path, null).statusCode()).isEqualTo(403);
			assertThat(send("eve", path, null).statusCode()).isEqualTo(403);
		}
	}

	@Test
	void healthIsForEverybodyAndItsDetailsAreNot() {
		assertThat(send("", "/actuator/health", null).statusCode()).isEqualTo(200);
		assertThat(send("", "/actuator/health", null).body()).doesNotContain("sessionKit");
		assertThat(send("olga", "/actuator/health", null).body()).contains("\"sessionKit\"")
			.contains("JdbcSessionStore");
	}

	@Test
	void nobodyIsMistakenForSomebodyElseWhileAllTalkAtOnce() {
		List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
		for (int i = 0; i < AT_ONCE; i++) {
			String user = (i % 2 == 0) ? "ada" : "bob";
			answers.add(this.client.sendAsync(
					request(user, "/threads/" + this.thread + "-" + i / 2, "{\"text\":\"I am " + user + "\"}"),
					HttpResponse.BodyHandlers.ofString()));
		}
		IntStream.range(0, AT_ONCE)
			.forEach((i) -> assertThat(text(answers.get(i).join()))
				.isEqualTo("You have said “I am " + ((i % 2 == 0) ? "ada" : "bob") + "”."));
		for (int i = 0; i < AT_ONCE / 2; i++) {
			String path = "/threads/" + this.thread + "-" + i;
			assertThat(send("ada", path, null).body()).contains("I am ada").doesNotContain("bob");
			assertThat(send("bob", path, null).body()).contains("I am bob").doesNotContain("ada");
		}
	}

}
