package io.sessionkit.samples.chat;

import java.io.InputStream;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Going back and forth in a thread, and what is shown of it then.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ThreadTimeTests {

	private final String thread = "time-" + UUID.randomUUID();

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
	void whatIsUndoneIsNotShownAndComesBack() throws Exception {
		String id = talk("undo", 3);

		assertThat(post(id, "/undo", Map.of("count", 2))).isEqualTo("{\"turns\":[3,2]}");
		JsonNode undone = this.chat.thread(id);
		assertThat(numbers(undone)).containsExactly(1);
		assertThat(undone.path("thread").path("head").asInt()).isEqualTo(1);
		assertThat(undone.path("siblings").toString()).isEqualTo("{\"1\":[2]}");
		assertThat(post(id, "/redo", null)).isEqualTo("{\"turns\":[2]}");
		assertThat(numbers(this.chat.thread(id))).containsExactly(1, 2);
		assertThat(post(id, "/redo", Map.of())).isEqualTo("{\"turns\":[3]}");
		assertThat(post(id, "/redo", null)).isEqualTo("{\"turns\":[]}");
	}

	@Test
	void anEditedTurnIsASibling() throws Exception {
		String id = talk("edit", 3);

		this.chat.ask(id, "Please fail", 2);
		assertThat(numbers(this.chat.thread(id))).containsExactly(1, 2, 3, 4);
		this.chat.ask(id, "Hello edited", 2);

		JsonNode edited = this.chat.thread(id);
		assertThat(numbers(edited)).containsExactly(1, 4, 5);
		assertThat(edited.path("turns").path(2).path("parent").asInt()).isEqualTo(1);
		assertThat(edited.path("siblings").toString()).isEqualTo("{\"1\":[2]}");
		assertThat(post(id, "/choose", Map.of("turn", 2))).isEqualTo("{\"turns\":[2]}");
		assertThat(numbers(this.chat.thread(id))).containsExactly(1, 2, 3, 4);
	}

	@Test
	void aQuestionIsAskedAgainAndIsNotShownTwice() throws Exception {
		String id = talk("again", 2);

		this.chat.again(id, 1);

		assertThat(numbers(this.chat.thread(id))).containsExactly(3);
		HttpResponse<String> left = this.chat.send("POST", path(id, "/turns/2/again"), Map.of());
		assertThat(left.statusCode()).isEqualTo(404);
		assertThat(left.body()).contains("Turn 2 is not shown in this thread");
		HttpResponse<String> edited = this.chat.send("POST", path(id, "/turns"), Map.of("text", "Hello", "editing", 2));
		assertThat(edited.statusCode()).isEqualTo(404);
		assertThat(edited.body()).contains("Turn 2 is not shown in this thread");
	}

	@Test
	void aBranchHasItsTurnsInPagesAndItsPlaceInTheTree() throws Exception {
		String id = talk("branch", 4);
		assertThat(post(id, "/branches", Map.of("name", "side / way", "fromTurn", 3)))
			.isEqualTo("{\"name\":\"side / way\"}");
		this.chat.ask(id, "Please fail");
		this.chat.ask(id, "Hello on the branch");
		this.chat.ask(id, "Hello on the branch again");

		JsonNode newest = this.chat.get(path(id, "?limit=2"));
		assertThat(numbers(newest)).containsExactly(6, 7);
		assertThat(newest.path("earlier").asInt()).isEqualTo(3);
		JsonNode before = this.chat.get(path(id, "?limit=2&before=6"));
		assertThat(numbers(before)).containsExactly(2, 5);
		assertThat(before.path("earlier").asInt()).isEqualTo(1);
		assertThat(newest.path("thread").path("branch").asString()).isEqualTo("side / way");
		assertThat(newest.path("branches").toString())
			.isEqualTo("[{\"name\":\"main\",\"turns\":4,\"active\":false,\"of\":null,\"after\":0},"
					+ "{\"name\":\"side / way\",\"turns\":4,\"active\":true,\"of\":\"main\",\"after\":2}]");
		assertThat(this.chat.send("PUT", path(id, "/branch"), Map.of("name", "main")).statusCode()).isEqualTo(204);
		assertThat(numbers(this.chat.thread(id))).containsExactly(1, 2, 3, 4, 5);
		assertThat(this.chat.send("DELETE", path(id, "/branches?name=side%20%2F%20way"), null).statusCode())
			.isEqualTo(204);
		assertThat(this.chat.thread(id).path("branches").values()).hasSize(1);
	}

	@Test
	void theActiveBranchIsDeletedWithForce() throws Exception {
		String id = talk("force", 2);
		assertThat(post(id, "/branches", Map.of("fromTurn", 2))).isEqualTo("{\"name\":\"branch_from_turn_2\"}");

		HttpResponse<String> refused = this.chat.send("DELETE", path(id, "/branches?name=branch_from_turn_2"), null);
		assertThat(refused.statusCode()).isEqualTo(409);
		assertThat(refused.body()).contains("it is the active one");
		assertThat(
				this.chat.send("DELETE", path(id, "/branches?name=branch_from_turn_2&force=true"), null).statusCode())
			.isEqualTo(204);
		assertThat(numbers(this.chat.thread(id))).containsExactly(1, 2);
	}

	@Test
	void aForkSaysWhereItComesFrom() throws Exception {
		String id = talk("fork", 3);

		HttpResponse<String> forked = this.chat.send("POST", path(id, "/fork"), Map.of("turn", 2));
		assertThat(forked.statusCode()).isEqualTo(201);
		String copy = forked.body().replaceAll(".*\"id\":\"(.+)\".*", "$1");
		JsonNode thread = this.chat.thread(copy);
		assertThat(numbers(thread)).containsExactly(1, 2);
		assertThat(thread.path("forkedFrom").path("id").asString()).isEqualTo(id);
		assertThat(thread.path("forkedFrom").path("title").asString()).isEqualTo("Hello 1");
		this.chat.send("DELETE", "/api/threads/" + id, null);
		assertThat(this.chat.thread(copy).path("forkedFrom").path("title").isNull()).isTrue();
	}

	@Test
	void whoStopsAnAnswerKeepsWhatWasRead() throws Exception {
		String id = this.thread + "-stop";
		this.chat.hold();
		try (InputStream reply = this.chat.open(id, "Tell me a story")) {
			assertThat(reply.read()).isPositive();
		}
		this.chat.release();

		await().untilAsserted(() -> assertThat(numbers(this.chat.thread(id))).containsExactly(1));
		JsonNode turn = this.chat.thread(id).path("turns").path(0);
		assertThat(turn.path("status").asString()).isEqualTo("COMPLETED");
		assertThat(turn.path("cutShort").asBoolean()).isTrue();
		assertThat(turn.path("messages").path(1).path("text").asString()).isNotBlank()
			.doesNotContain("tore out half a page");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { "POST | /undo | {}", "POST | /redo | {}", "POST | /choose | {\"turn\":1}",
			"POST | /branches | {\"name\":\"b\"}", "PUT | /branch | {\"name\":\"main\"}", "DELETE | '' | {}" })
	void whileACallWaitsNothingMoves(String method, String verb, String body) throws Exception {
		String id = this.thread + "-waits" + verb.replace('/', '-');
		this.chat.ask(id, "Hello");
		this.chat.ask(id, "Cancel order 4711");

		HttpResponse<String> response = this.chat.sendJson(method, path(id, verb), body);

		assertThat(response.statusCode()).isEqualTo(409);
		assertThat(response.body()).contains("WAITS", "waits for a decision, which has to come first.");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "POST | /undo | {\"count\":0} | must be positive", "POST | /choose | {} | There is no",
					"POST | /fork | {\"turn\":-1} | no such turn", "POST | /branches | {} | There is no",
					"POST | /branches | {\"name\":\" \"} | cannot be one",
					"POST | /branches | {\"name\":\"main\"} | Choose another name", "PUT | /branch | {} | There is no",
					"DELETE | /branches?name=main | | the first branch, which stays" })
	void aWrongValueIsRefusedInASentence(String method, String verb, String body, String words) throws Exception {
		assertRefused(400, method, verb, body, words);
	}

	/** Another window may have taken it away. */
	@ParameterizedTest
	@CsvSource(delimiter = '|',
			value = { "POST | /choose | {\"turn\":9} | 409 | no such turn",
					"POST | /branches | {\"fromTurn\":9} | 409 | no such turn",
					"PUT | /branch | {\"name\":\"nowhere\"} | 404 | no such turn or branch",
					"DELETE | /branches?name=nowhere | | 404 | no such turn or branch",
					"POST | /fork | {\"turn\":9} | 404 | no such turn" })
	void whatIsNotThereIsRefusedInASentence(String method, String verb, String body, int status, String words)
			throws Exception {
		assertRefused(status, method, verb, body, words);
	}

	private void assertRefused(int status, String method, String verb, String body, String words) throws Exception {
		String id = this.thread + "-values";
		if (this.chat.send("GET", path(id, "/head"), null).statusCode() == 404) {
			this.chat.ask(id, "Hello");
		}

		HttpResponse<String> response = this.chat.sendJson(method, path(id, verb), (body != null) ? body : "");

		assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
		assertThat(response.body()).contains(words);
	}

	@Test
	void aThreadThatIsNotThereIsNotFound() throws Exception {
		assertThat(this.chat.send("POST", path("nobody", "/choose"), Map.of("turn", 1)).statusCode()).isEqualTo(404);
		assertThat(this.chat.send("POST", path("nobody", "/fork"), Map.of()).statusCode()).isEqualTo(404);
		assertThat(post("nobody", "/undo", null)).isEqualTo("{\"turns\":[]}");
	}

	private String talk(String name, int turns) throws Exception {
		String id = this.thread + "-" + name;
		for (int turn = 1; turn <= turns; turn++) {
			this.chat.ask(id, "Hello " + turn);
		}
		return id;
	}

	private String post(String id, String verb, Object body) throws Exception {
		return this.chat.send("POST", path(id, verb), body).body();
	}

	private static String path(String id, String rest) {
		return "/api/threads/" + id + rest;
	}

	private static List<Integer> numbers(JsonNode thread) {
		return thread.path("turns").values().stream().map((turn) -> turn.path("number").asInt()).toList();
	}

}
