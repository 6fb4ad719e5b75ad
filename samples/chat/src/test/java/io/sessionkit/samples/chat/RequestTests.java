package io.sessionkit.samples.chat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.sessionkit.SessionKey;
import io.sessionkit.samples.chat.RunningChat.Event;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Requests with a name, through the REST API: they wait in line, are repeated and
 * stopped.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RequestTests {

	private RunningChat chat;

	private String thread;

	@BeforeAll
	void start(@TempDir Path folder) {
		this.chat = RunningChat.start(folder, "--demo.pace=1ms", "--demo.look-up=1ms");
	}

	@AfterAll
	void stop() {
		this.chat.close();
	}

	@AfterEach
	void letTheModelGoOn() {
		this.chat.release();
	}

	@BeforeEach
	void inAThreadOfItsOwn(TestInfo test) {
		this.thread = test.getTestMethod().orElseThrow().getName();
	}

	@Test
	void aRequestThatIsMadeAgainGetsTheStoredAnswerWithoutTheModel() throws Exception {
		JsonNode first = last(this.chat.askAs("r1", this.thread, "Roll two dice"));

		List<Event> again = this.chat.askAs("r1", this.thread, "Roll two dice");

		assertThat(again).hasSize(1);
		assertThat(last(again)).isEqualTo(first);
		assertThat(turns()).hasSize(1);
	}

	@Test
	void aRequestWithAnotherQuestionIsRefused() throws Exception {
		this.chat.askAs("r1", this.thread, "Hello");

		JsonNode problem = last(this.chat.askAs("r1", this.thread, "Roll a die"));

		assertThat(problem.path("kind").asString()).isEqualTo("REPEATED");
		assertThat(turns()).hasSize(1);
	}

	@Test
	void nothingIsAskedInAThreadThatHasLostWhatItsReaderHasSeen() throws Exception {
		String turns = "/api/threads/" + this.thread + "/turns";
		this.chat.askAs("r1", this.thread, "Hello");
		assertThat(this.chat.send("POST", turns, Map.of("text", "Roll a die", "request", "r2", "seen", 1)).body())
			.contains("event:turn");
		this.chat.send("DELETE", "/api/threads/" + this.thread, null);

		String refused = this.chat.send("POST", turns, Map.of("text", "And again", "request", "r3", "seen", 2)).body();

		assertThat(refused).contains("event:problem", "DELETED").doesNotContain("event:begun", "event:text");
		assertThat(this.chat.send("GET", "/api/threads/" + this.thread, null).statusCode()).isEqualTo(404);
	}

	@Test
	void whoLosesTheConnectionGetsTheWholeAnswerFromTheFirstWord() throws Exception {
		this.chat.hold();
		try (InputStream reply = this.chat.openAs("r1", this.thread, "Tell me a story")) {
			assertThat(reply.read()).isPositive();
		}
		List<Event> again;
		try (InputStream reply = this.chat.openAs("r1", this.thread, "Tell me a story")) {
			this.chat.release();
			again = RunningChat.events(reply);
		}

		assertThat(RunningChat.text(again)).startsWith("There was once").endsWith("tore out half a page.");
		assertThat(turns()).singleElement()
			.satisfies((turn) -> assertThat(turn.path("cutShort").asBoolean()).isFalse());
	}

	@Test
	void anAnswerNobodyReadsAnyMoreIsCompleted() throws Exception {
		this.chat.hold();
		try (InputStream reply = this.chat.openAs("r1", this.thread, "Tell me a story")) {
			assertThat(reply.read()).isPositive();
		}
		this.chat.release();

		await().untilAsserted(() -> assertThat(turns()).singleElement()
			.satisfies((turn) -> assertThat(turn.path("messages").path(1).path("text").asString())
				.endsWith("tore out half a page.")));
	}

	@Test
	void aStoppedRequestKeepsWhatWasRead() throws Exception {
		this.chat.hold();
		try (InputStream reply = this.chat.openAs("r1", this.thread, "Tell me a story")) {
			awaitText(reply);
			stop("r1");

			await().untilAsserted(() -> assertThat(turns()).singleElement()
				.satisfies((turn) -> assertThat(turn.path("cutShort").asBoolean()).isTrue()));
		}
	}

	@Test
	void aQuestionWaitsForTheOneBeforeItAndSaysSo() throws Exception {
		this.chat.hold();
		try (InputStream first = this.chat.openAs("r1", this.thread, "Tell me a story");
				InputStream second = this.chat.openAs("r2", this.thread, "What did I say first?")) {
			assertThat(first.read()).isPositive();
			BufferedReader lines = new BufferedReader(new InputStreamReader(second, StandardCharsets.UTF_8));
			assertThat(lines.readLine()).startsWith("id:");
			assertThat(lines.readLine()).isEqualTo("event:waiting");
			this.chat.release();

			assertThat(lines.lines()).contains("event:begun").anyMatch((line) -> line.contains("Tell me a story"));
		}
		assertThat(turns()).extracting((turn) -> turn.path("status").asString())
			.containsExactly("COMPLETED", "COMPLETED");
	}

	@Test
	void aQuestionThatIsStoppedWhileItWaitsIsNeverAsked() throws Exception {
		this.chat.hold();
		try (InputStream first = this.chat.openAs("r1", this.thread, "Tell me a story")) {
			assertThat(first.read()).isPositive();
			CompletableFuture<List<Event>> second = later("r2", "Roll a die");
			await().until(() -> this.chat.inLine(SessionKey.of(this.thread)) == 2);

			stop("r2");

			assertThat(second.join()).isEmpty();
			this.chat.release();
			first.readAllBytes();
		}
		assertThat(this.chat.reply(this.thread, "How many messages are there?")).contains("3 messages,");
	}

	@Test
	void aQuestionJoinsTheAnswerThatRuns() throws Exception {
		String orders = "Check orders 1, 2 and 3";
		this.chat.hold();
		try (InputStream first = this.chat.openAs("r1", this.thread, orders)) {
			assertThat(first.read()).isPositive();

			CompletableFuture<HttpResponse<String>> joined = this.chat.sendLater("POST",
					"/api/threads/" + this.thread + "/turns",
					Map.of("text", "That is enough", "request", "r2", "steer", true));
			await().until(() -> this.chat.offers(this.thread) == 1);
			this.chat.release();

			assertThat(joined.join().body()).contains("event:steered").doesNotContain("event:text", "event:turn");
			assertThat(new String(first.readAllBytes(), StandardCharsets.UTF_8))
				.contains("event:joined\ndata:{\"text\":\"That is enough\"}");
		}
		assertThat(turns()).singleElement()
			.satisfies((turn) -> assertThat(turn.path("messages").values())
				.filteredOn((message) -> message.path("role").asString().equals("user"))
				.extracting((message) -> message.path("text").asString())
				.containsExactly(orders, "That is enough"));
		assertThat(last(this.chat.askAs("r2", this.thread, "That is enough")).path("number").asInt()).isEqualTo(1);
	}

	@Test
	void anotherQuestionUnderTheNameOfOneThatIsBeingAnsweredIsRefused() throws Exception {
		this.chat.hold();
		try (InputStream first = this.chat.openAs("r1", this.thread, "Tell me a story")) {
			assertThat(first.read()).isPositive();
			JsonNode problem = last(this.chat.askAs("r1", this.thread, "Roll a die"));
			assertThat(problem.path("kind").asString()).isEqualTo("REPEATED");
			this.chat.release();
			assertThat(RunningChat.text(RunningChat.events(first))).endsWith("tore out half a page.");
		}
	}

	@Test
	void anAnswerCanBeReadAndStoppedByAWindowThatHasNotAskedForIt() throws Exception {
		String running = "/api/threads/" + this.thread + "/running";
		this.chat.askAs("r0", this.thread, "Hello");
		assertThat(this.chat.send("GET", running, null).body()).isEmpty();
		this.chat.hold();
		try (InputStream first = this.chat.openAs("r1", this.thread, "Tell me a story")) {
			assertThat(first.read()).isPositive();
			CompletableFuture<HttpResponse<String>> other = this.chat.sendLater("GET", running, Map.of());
			String event = awaitText(first);

			assertThat(this.chat.stopRunning(this.thread, event)).isEqualTo(204);
			assertThat(this.chat.send("DELETE", "/api/threads/" + this.thread + "/requests/r9", null).statusCode())
				.as("a request that is over, or on its way")
				.isEqualTo(202);

			assertThat(other.join().body()).contains("event:text", "There ", "event:turn", "\"cutShort\":true");
		}
		assertThat(turns()).hasSize(2);
		assertThat(this.chat.stopRunning(this.thread, "nowhere-1")).isEqualTo(404);
	}

	@Test
	void anotherAnswerHasANameToo() throws Exception {
		this.chat.askAs("r1", this.thread, "Roll a die");
		String path = "/api/threads/" + this.thread + "/turns/1/again";

		this.chat.sendJson("POST", path, "{\"request\":\"r2\"}");
		this.chat.sendJson("POST", path, "{\"request\":\"r2\"}");

		assertThat(this.chat.thread(this.thread).path("siblings").toString()).isEqualTo("{\"0\":[1]}");
	}

	@Test
	void nameOfARequestThatCannotBeOneIsABadRequest() throws Exception {
		String path = "/api/threads/" + this.thread + "/turns";
		for (String name : List.of("", " ", "x".repeat(256))) {
			assertThat(this.chat.send("POST", path, Map.of("text", "Hello", "request", name)).statusCode())
				.isEqualTo(400);
		}
		String call = "/api/inbox/ada/" + this.thread + "/rewind/c1";
		Map<String, String> decision = Map.of("digest", "d", "verb", "APPROVE", "by", "Ada", "always", "TOOL");
		assertThat(this.chat.send("POST", call, decision).statusCode()).isEqualTo(400);
	}

	private CompletableFuture<List<Event>> later(String request, String text) {
		return CompletableFuture.supplyAsync(() -> {
			try {
				return this.chat.askAs(request, this.thread, text);
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

	/** Reads up to the first piece of text, and returns the id of that event. */
	private static String awaitText(InputStream reply) throws IOException {
		BufferedReader lines = new BufferedReader(new InputStreamReader(reply, StandardCharsets.UTF_8));
		String id = "";
		for (String line = lines.readLine(); !line.equals("event:text"); line = lines.readLine()) {
			id = line.startsWith("id:") ? line.substring("id:".length()) : id;
		}
		return id;
	}

	private void stop(String request) throws Exception {
		assertThat(this.chat.send("DELETE", "/api/threads/" + this.thread + "/requests/" + request, null).statusCode())
			.isEqualTo(204);
	}

	private List<JsonNode> turns() throws Exception {
		return List.copyOf(this.chat.thread(this.thread).path("turns").values());
	}

	private static JsonNode last(List<Event> events) {
		return events.get(events.size() - 1).data();
	}

}
