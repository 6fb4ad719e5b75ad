package io.sessionkit.samples.chat;

import java.io.InputStream;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

import io.sessionkit.samples.chat.RunningChat.Event;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ChatSampleTests {

	private RunningChat chat;

	@BeforeAll
	void start(@TempDir Path folder) {
		this.chat = RunningChat.start(folder, "--demo.pace=5ms");
	}

	@AfterAll
	void stop() {
		this.chat.close();
	}

	@Test
	void streamsTheReplyAndThenTheStoredTurn() throws Exception {
		List<Event> events = this.chat.ask("streams", "My name is Ada");

		assertThat(events).hasSizeGreaterThan(10);
		assertThat(events.subList(0, events.size() - 1)).allMatch(Event::isText);
		JsonNode turn = events.get(events.size() - 1).data();
		assertThat(turn.path("number").asInt()).isEqualTo(1);
		assertThat(turn.path("status").asString()).isEqualTo("COMPLETED");
		assertThat(turn.path("model").asString()).isEqualTo("demo");
		assertThat(turn.path("tokens").path("output").asInt()).isPositive();
		assertThat(turn.path("messages").values()).extracting((message) -> message.path("role").asString())
			.containsExactly("user", "assistant");
	}

	@Test
	void answersFromTheHistoryOfTheThreadAlone() throws Exception {
		this.chat.ask("names", "My name is Ada");

		assertThat(this.chat.reply("names", "What is my name?")).contains("Ada");
		assertThat(this.chat.reply("stranger", "What is my name?")).doesNotContain("Ada");
	}

	@Test
	void takesBracesForTextAndNotForATemplate() throws Exception {
		this.chat.ask("braces", "if (a) { return {b}; } <c>");

		assertThat(this.chat.reply("braces", "What did I say first?")).contains("“if (a) { return {b}; } <c>”");
	}

	@Test
	void showsToolCallsWithTheirResults() throws Exception {
		this.chat.ask("tools", "Roll two dice");

		JsonNode turn = this.chat.thread("tools").path("turns").path(0);
		assertThat(turn.path("rounds").asInt()).isEqualTo(2);
		assertThat(turn.path("messages").path(1).path("calls").values())
			.extracting((call) -> call.path("name").asString())
			.containsExactly("roll_die", "roll_die");
		assertThat(turn.path("messages").path(2).path("results").values())
			.extracting((result) -> result.path("data").asInt())
			.hasSize(2)
			.allMatch((roll) -> roll >= 1 && roll <= 6);
	}

	@Test
	void titlesAThreadByItsFirstQuestionUntilItIsRenamed() throws Exception {
		this.chat.ask("titles", "Hello there, " + "this is long, ".repeat(10));

		assertThat(title("titles")).startsWith("Hello there").endsWith("…").hasSizeLessThan(60);
		assertThat(rename("titles", "Greetings").statusCode()).isEqualTo(204);
		assertThat(title("titles")).isEqualTo("Greetings");
		assertThat(rename("titles", "").statusCode()).isEqualTo(204);
		assertThat(title("titles")).startsWith("Hello there");
	}

	@Test
	void refusesToRenameWhatIsNotThere() throws Exception {
		assertThat(rename("nobody", "Greetings").statusCode()).isEqualTo(404);
	}

	@Test
	void refusesATitleThatIsTooLongOrMissing() throws Exception {
		this.chat.ask("long", "Hello");

		assertThat(rename("long", "x".repeat(121)).body()).contains("at most 120 characters");
		assertThat(this.chat.send("PUT", "/api/threads/long/title", Map.of()).statusCode()).isEqualTo(400);
	}

	@Test
	void erasesADeletedThread() throws Exception {
		this.chat.ask("deleted", "Hello");

		assertThat(this.chat.send("DELETE", "/api/threads/deleted", null).statusCode()).isEqualTo(204);
		assertThat(this.chat.send("GET", "/api/threads/deleted", null).statusCode()).isEqualTo(404);
		assertThat(this.chat.get("/api/threads").path("threads").values())
			.noneMatch((thread) -> thread.path("id").asString().equals("deleted"));
		assertThat(this.chat.send("DELETE", "/api/threads/deleted", null).statusCode()).isEqualTo(404);
	}

	@Test
	void endsAnAnswerWhoseThreadIsDeletedAndSaysSo() throws Exception {
		this.chat.ask("deleted-while", "Hello");
		this.chat.hold();
		try (InputStream reply = this.chat.openAs("r1", "deleted-while", "Tell me a story")) {
			assertThat(reply.readNBytes(1)).isNotEmpty(); // it has begun
			assertThat(this.chat.send("DELETE", "/api/threads/deleted-while", null).statusCode()).isEqualTo(204);

			List<Event> events = RunningChat.events(reply); // the model is held still
			JsonNode problem = events.get(events.size() - 1).data();
			assertThat(problem.path("kind").asString()).isEqualTo("DELETED");
			assertThat(problem.path("detail").asString()).contains("was deleted");
		}
		finally {
			this.chat.release();
		}
		assertThat(this.chat.send("GET", "/api/threads/deleted-while", null).statusCode()).isEqualTo(404);
	}

	@ParameterizedTest
	@ValueSource(strings = { "%20", "a%07b", "%C2%85" })
	void refusesAnIdThatBreaksTheRules(String id) throws Exception {
		HttpResponse<String> response = this.chat.send("POST", "/api/threads/" + id + "/turns",
				Map.of("text", "Hello"));

		assertThat(response.statusCode()).isEqualTo(400);
		assertThat(response.body()).contains("The id of the thread is not a valid one.");
		assertThat(this.chat.send("GET", "/api/threads/" + id, null).statusCode()).isEqualTo(400);
		assertThat(this.chat.send("DELETE", "/api/threads/" + id, null).statusCode()).isEqualTo(400);
	}

	@Test
	void refusesAnIdThatIsTooLong() throws Exception {
		HttpResponse<String> response = this.chat.send("GET", "/api/threads/" + "x".repeat(256), null);

		assertThat(response.statusCode()).isEqualTo(400);
		assertThat(response.body()).contains("The id of the thread is not a valid one.");
	}

	@Test
	void refusesAQuestionWithoutText() throws Exception {
		assertThat(this.chat.send("POST", "/api/threads/blank/turns", Map.of("text", "  ")).statusCode())
			.isEqualTo(400);
		assertThat(this.chat.send("POST", "/api/threads/blank/turns", Map.of()).statusCode()).isEqualTo(400);
	}

	@Test
	void keepsAFailedTurnBesideTheHistoryAndSaysSo() throws Exception {
		List<Event> events = this.chat.ask("failing", "Please fail");

		assertThat(events).singleElement().satisfies((event) -> {
			assertThat(event.data().path("detail").asString()).isEqualTo("The model could not answer. Try again.");
			assertThat(event.data().path("kind").asString()).isEqualTo("MODEL");
			assertThat(event.data().path("turn").asInt()).isEqualTo(1);
		});
		assertThat(this.chat.thread("failing").path("turns").path(0).path("failure").asString())
			.isEqualTo("java.lang.IllegalStateException");
		assertThat(this.chat.reply("failing", "How many messages are there?")).contains("1 message,");
		assertThat(statuses("failing")).containsExactly("FAILED", "COMPLETED");
	}

	@Test
	void keepsWhatWasReadWhenTheReaderGoesAway() throws Exception {
		this.chat.hold();
		try (InputStream reply = this.chat.open("cancelled", "Tell me a story")) {
			assertThat(reply.read()).isPositive();
		}
		this.chat.release();

		await().untilAsserted(() -> assertThat(statuses("cancelled")).containsExactly("COMPLETED"));
		JsonNode turn = this.chat.thread("cancelled").path("turns").path(0);
		assertThat(turn.path("cutShort").asBoolean()).isTrue();
		assertThat(turn.path("messages").path(0).path("text").asString()).isEqualTo("Tell me a story");
		assertThat(this.chat.reply("cancelled", "How many messages are there?")).contains("3 messages,");
	}

	/**
	 * The container notices that the reader is gone when it writes the events of the
	 * tools.
	 */
	@Test
	void cancelsTheTurnWhenTheReaderGoesAwayBeforeAnyText(@TempDir Path folder) throws Exception {
		try (RunningChat slow = RunningChat.start(folder, "--demo.pace=2s")) {
			Future<?> reply = slow.begin("cancelled", "Roll two dice");
			assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> reply.get(1, TimeUnit.SECONDS));
			reply.cancel(true);

			await().untilAsserted(
					() -> assertThat(slow.thread("cancelled").path("turns").path(0).path("status").asString())
						.isEqualTo("CANCELLED"));
			assertThat(slow.reply("cancelled", "How many messages are there?")).contains("1 message,");
		}
	}

	@Test
	void summarizesAThreadThatRunsPastItsLimitAndKeepsItsTurns() throws Exception {
		runPastTheLimit("summarized");

		JsonNode thread = this.chat.thread("summarized");
		assertThat(thread.path("turns").values()).extracting((turn) -> turn.path("number").asInt())
			.containsExactly(1, 2, 3, 4, 5, 6);
		assertThat(thread.path("turns").path(0).path("messages").path(0).path("text").asString())
			.isEqualTo("My name is Ada");
		assertThat(thread.path("thread").path("unsummarized").toString())
			.isEqualTo("{\"since\":2,\"messages\":16,\"limit\":20}");
		JsonNode summary = thread.path("summaries").path(0);
		assertThat(summary.path("turn").asInt()).isEqualTo(2);
		assertThat(summary.path("since").asInt(-1)).isZero();
		assertThat(summary.path("current").asBoolean()).isTrue();
		assertThat(summary.path("model").asString()).isEqualTo("demo");
		assertThat(summary.path("tokens").path("input").asInt()).isPositive();
		assertThat(Instant.parse(summary.path("at").asString())).isBeforeOrEqualTo(Instant.now());
		assertThat(summary.path("text").asString()).contains("“My name is Ada”", "roll_die: ");
	}

	@Test
	void answersFromTheSummary() throws Exception {
		runPastTheLimit("recalled");

		assertThat(this.chat.reply("recalled", "How many messages are there?"))
			.contains("19 messages. Two of them are the summary", "From you: 5.");
		assertThat(this.chat.reply("recalled", "What is my name?")).contains("Ada");
		assertThat(this.chat.reply("recalled", "What did I roll?"))
			.matches("The history says: [1-6](?:, [1-6]){3} and [1-6]\\.");
	}

	@Test
	void showsWhatTheModelSawInATurn() throws Exception {
		runPastTheLimit("seen");
		this.chat.ask("seen", "What is my name?");

		JsonNode turns = this.chat.thread("seen").path("turns");
		assertThat(turns.path(0).path("history").toString()).isEqualTo("{\"messages\":0,\"summarized\":false}");
		assertThat(turns.path(6).path("history").toString()).isEqualTo("{\"messages\":18,\"summarized\":true}");
		JsonNode history = this.chat.get("/api/threads/seen/turns/7/history");
		assertThat(history.path("complete").asBoolean()).isTrue();
		assertThat(history.path("missing").asInt(-1)).isZero();
		assertThat(history.path("messages").values()).hasSize(18)
			.extracting((message) -> message.path("role").asString())
			.startsWith("user", "assistant", "user", "assistant", "tool", "assistant");
		assertThat(history.path("messages").path(1).path("text").asString()).contains("“My name is Ada”");
		assertThat(this.chat.send("GET", "/api/threads/seen/turns/8/history", null).statusCode()).isEqualTo(404);
		assertThat(this.chat.send("GET", "/api/threads/nobody/turns/1/history", null).statusCode()).isEqualTo(404);
	}

	@Test
	void summarizesWhenAskedToAndSaysWhatCameOfIt() throws Exception {
		runPastTheLimit("asked");

		assertThat(summarize("asked")).isEqualTo("{\"outcome\":\"NOTHING_TO_COVER\",\"turns\":0,\"failure\":null}");
		this.chat.ask("asked", "Roll a die");
		assertThat(summarize("asked")).isEqualTo("{\"outcome\":\"SUMMARIZED\",\"turns\":1,\"failure\":null}");

		JsonNode summaries = this.chat.thread("asked").path("summaries");
		assertThat(summaries.values()).extracting((summary) -> summary.path("current").asBoolean())
			.containsExactly(false, true);
		assertThat(summaries.path(1).path("turn").asInt()).isEqualTo(3);
		assertThat(summaries.path(1).path("since").asInt()).isEqualTo(2);
		assertThat(summaries.path(1).path("text").asString()).startsWith(summaries.path(0).path("text").asString());
		assertThat(summarize("nobody")).contains("NOTHING_TO_COVER");
	}

	@Test
	void saysWhoAnswersAndWhereTheThreadsAre() throws Exception {
		JsonNode about = this.chat.get("/api/about");

		assertThat(about.toString())
			.startsWith("{\"model\":\"DemoChatModel (offline)\",\"offline\":true,\"store\":\"H2\",");
		assertThat(about.path("suggestions").values()).extracting((each) -> each.path("text").asString())
			.contains("My name is Ada", "Cancel order 4711");
	}

	@Test
	void servesAPageThatNeedsNothingFromElsewhere() throws Exception {
		String page = this.chat.send("GET", "/", null).body();

		assertThat(page).contains("<title>SessionKit Chat</title>")
			.doesNotContain("http://", "https://", "onclick", "style=");
		assertThat(Pattern.compile("(?:src|href)=\"([^#\"]+)\"").matcher(page).results().map((link) -> link.group(1)))
			.hasSizeGreaterThanOrEqualTo(3)
			.allSatisfy((link) -> assertThat(this.chat.send("GET", "/" + link, null).statusCode()).isEqualTo(200));
	}

	/**
	 * The sixth turn is one too many, and all but the newest four are summarized.
	 */
	private void runPastTheLimit(String thread) throws Exception {
		this.chat.ask(thread, "My name is Ada");
		for (int turn = 2; turn <= 6; turn++) {
			assertThat(this.chat.thread(thread).path("summaries").values()).isEmpty();
			this.chat.ask(thread, "Roll a die");
		}
		await().untilAsserted(() -> assertThat(this.chat.thread(thread).path("summaries").values()).hasSize(1));
	}

	private String summarize(String thread) throws Exception {
		return this.chat.send("POST", "/api/threads/" + thread + "/summaries", null).body();
	}

	private HttpResponse<String> rename(String thread, String title) throws Exception {
		return this.chat.send("PUT", "/api/threads/" + thread + "/title", Map.of("title", title));
	}

	private String title(String thread) throws Exception {
		return this.chat.thread(thread).path("thread").path("title").asString();
	}

	private List<String> statuses(String thread) throws Exception {
		return this.chat.thread(thread)
			.path("turns")
			.values()
			.stream()
			.map((turn) -> turn.path("status").asString())
			.toList();
	}

}
