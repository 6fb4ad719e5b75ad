package io.sessionkit.samples.chat;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads and turns in pages, and all of one turn.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ThreadPagesTests {

	private RunningChat chat;

	@BeforeAll
	void start(@TempDir Path folder) {
		this.chat = RunningChat.start(folder, "--demo.pace=0ms");
	}

	@AfterAll
	void stop() {
		this.chat.close();
	}

	@Test
	void listsThreadsInPagesAndSaysWhetherThereAreMore() throws Exception {
		this.chat.ask("list-1", "Hello");
		this.chat.ask("list-2", "Hello");
		this.chat.ask("list-3", "Hello");

		JsonNode first = this.chat.get("/api/threads?limit=2");
		assertThat(ids(first)).hasSize(2);
		assertThat(first.path("more").asBoolean()).isTrue();
		JsonNode all = this.chat.get("/api/threads?limit=100");
		assertThat(ids(all)).contains("list-1", "list-2", "list-3");
		assertThat(all.path("more").asBoolean(true)).isFalse();
		assertThat(ids(this.chat.get("/api/threads?offset=1&limit=2"))).isEqualTo(ids(all).subList(1, 3));
	}

	@ParameterizedTest
	@ValueSource(strings = { "?limit=0", "?limit=101", "?offset=-1", "/limits?limit=0", "/limits?limit=101" })
	void refusesAPageThatIsTooLargeOrTooSmall(String query) throws Exception {
		HttpResponse<String> response = this.chat.send("GET", "/api/threads" + query, null);

		assertThat(response.statusCode()).isEqualTo(400);
		assertThat(response.body()).containsAnyOf("A limit must be from 1 to 100", "An offset must not be negative");
	}

	@Test
	void readsTheTurnsOfAThreadInPagesWithTheirItems() throws Exception {
		this.chat.ask("pages", "Roll two dice");
		this.chat.ask("pages", "Please fail");
		this.chat.ask("pages", "Roll a die");
		this.chat.ask("pages", "Hello");

		JsonNode newest = this.chat.get("/api/threads/pages?limit=2");
		assertThat(numbers(newest)).containsExactly(3, 4);
		assertThat(newest.path("earlier").asInt()).isEqualTo(2);
		assertThat(roles(newest, 0)).containsExactly("user", "assistant", "tool", "assistant");
		assertThat(roles(newest, 1)).containsExactly("user", "assistant");
		JsonNode before = this.chat.get("/api/threads/pages?before=3&limit=2");
		assertThat(numbers(before)).containsExactly(1, 2);
		assertThat(before.path("earlier").asInt(-1)).isZero();
		assertThat(roles(before, 0)).containsExactly("user", "assistant", "tool", "assistant");
		assertThat(roles(before, 1)).containsExactly("user");
		assertThat(before.path("turns").path(1).path("failure").asString()).contains("IllegalStateException");
		JsonNode all = this.chat.get("/api/threads/pages");
		assertThat(numbers(all)).containsExactly(1, 2, 3, 4);
		assertThat(all.path("turns").path(2)).isEqualTo(newest.path("turns").path(0));
		assertThat(all.path("turns").path(0)).isEqualTo(before.path("turns").path(0));
	}

	@Test
	void showsRoundsCallIdsAndTheEndOfATurn() throws Exception {
		this.chat.ask("rounds", "Roll a die");

		JsonNode turn = this.chat.thread("rounds").path("turns").path(0);
		assertThat(turn.path("roundList").values()).hasSize(2).allSatisfy((round) -> {
			assertThat(round.path("model").asString()).isEqualTo("demo");
			assertThat(round.path("tokens").path("input").asInt()).isPositive();
			assertThat(round.path("tokens").has("cacheRead")).isTrue();
		});
		assertThat(turn.path("endedAt").asString()).isNotEmpty();
		assertThat(turn.path("verdicts").isArray()).isTrue();
		String id = turn.path("messages").path(1).path("calls").path(0).path("id").asString();
		assertThat(id).startsWith("call-");
		assertThat(turn.path("messages").path(2).path("results").path(0).path("id").asString()).isEqualTo(id);
	}

	@Test
	void tellsTheStateOfAThreadWithoutItsTurns() throws Exception {
		assertThat(this.chat.send("GET", "/api/threads/nobody/head", null).statusCode()).isEqualTo(404);
		this.chat.ask("head", "Cancel orders 1002 and 1003");

		JsonNode head = this.chat.get("/api/threads/head/head");
		assertThat(head.path("title").asString()).isEqualTo("Cancel orders 1002 and 1003");
		assertThat(head.path("turns").asInt()).isEqualTo(1);
		assertThat(head.path("open").asInt()).isEqualTo(1);
		assertThat(head.path("waiting").asInt()).isEqualTo(2);
		assertThat(head).isEqualTo(this.chat.thread("head").path("thread"));
		assertThat(this.chat.get("/api/threads").path("threads").values()).contains(head);
	}

	@Test
	void showsTheAttributesBeforeAndAfterATurn() throws Exception {
		this.chat.ask("attributes", "Hello");
		this.chat.ask("attributes", "Hello again");
		this.chat.put("attributes", "mood", "curious");
		this.chat.ask("attributes", "And again");

		JsonNode second = this.chat.get("/api/threads/attributes/turns/2");
		assertThat(second.path("before").toString()).isEqualTo("{}");
		assertThat(second.path("after").toString()).isEqualTo("{\"mood\":\"curious\"}");
		assertThat(this.chat.get("/api/threads/attributes/turns/3").path("before").toString())
			.isEqualTo("{\"mood\":\"curious\"}");
	}

	@Test
	void showsAllThatIsStoredOfATurn() throws Exception {
		this.chat.ask("inspected", "My name is Ada");
		this.chat.ask("inspected", "Cancel order 1002");

		JsonNode detail = this.chat.get("/api/threads/inspected/turns/2");
		assertThat(detail.path("turn").path("number").asInt()).isEqualTo(2);
		assertThat(detail.path("parent").asInt()).isEqualTo(1);
		assertThat(detail.path("branch").asString()).isEqualTo("main");
		assertThat(detail.path("tools").has("cancel_order")).isTrue();
		assertThat(detail.path("system").asString()).startsWith("You are a friendly assistant.");
		assertThat(detail.path("systemDigest").asString()).hasSize(64);
		assertThat(detail.path("snapshot").path(0).path("kind").asString()).isEqualTo("ITEMS");
		assertThat(detail.path("snapshot").path(0).path("size").asInt()).isEqualTo(2);
		assertThat(detail.path("sent").path("messages").values()).hasSize(2);
		assertThat(detail.path("items").path(0).path("role").asString()).isEqualTo("user");
		assertThat(detail.path("items").path(0).path("json").asString()).contains("Cancel order 1002");
		JsonNode call = detail.path("calls").path(0);
		assertThat(call.path("title").asString()).isEqualTo("Cancel order");
		assertThat(call.path("schema").path("properties").has("orderNumber")).isTrue();
		HttpResponse<String> absent = this.chat.send("GET", "/api/threads/inspected/turns/3", null);
		assertThat(absent.statusCode()).isEqualTo(404);
		assertThat(absent.body()).contains("There is no turn 3 in this thread.");
	}

	@Test
	void showsTheTurnsThatAThreadKeepsAndSaysWhichWereDeleted() throws Exception {
		for (int turn = 1; turn <= 4; turn++) {
			this.chat.ask("kept", "Hello " + turn);
		}
		assertThat(keep("kept", Map.of("turns", 2)).statusCode()).isEqualTo(204);
		JsonNode set = this.chat.thread("kept");
		assertThat(numbers(set)).containsExactly(1, 2, 3, 4);
		assertThat(set.path("deleted").asInt(-1)).isZero();
		assertThat(set.path("thread").path("kept").toString()).isEqualTo("{\"turns\":2,\"seconds\":null}");

		this.chat.ask("kept", "Hello 5");

		JsonNode left = this.chat.thread("kept");
		assertThat(numbers(left)).containsExactly(4, 5);
		assertThat(left.path("deleted").asInt()).isEqualTo(3);
		assertThat(left.path("earlier").asInt(-1)).isZero();
		assertThat(this.chat.get("/api/threads/kept/turns/3").path("items").values()).isEmpty();
		JsonNode sent = this.chat.get("/api/threads/kept/turns/4").path("sent");
		assertThat(sent.path("messages").values()).hasSize(6);
		assertThat(sent.path("missing").asInt(-1)).isZero();
		assertThat(keep("kept", Map.of("everything", true)).statusCode()).isEqualTo(204);
		this.chat.ask("kept", "Hello 6");
		JsonNode all = this.chat.thread("kept");
		assertThat(numbers(all)).containsExactly(4, 5, 6);
		assertThat(all.path("thread").path("kept").path("turns").isNull()).isTrue();
	}

	@Test
	void aForkOfWhatIsKeptBeginsWithThat() throws Exception {
		for (int turn = 1; turn <= 3; turn++) {
			this.chat.ask("forked", "Hello " + turn);
			keep("forked", Map.of("turns", 2));
		}

		String copy = this.chat.send("POST", "/api/threads/forked/fork", Map.of())
			.body()
			.replaceAll(".*\"id\":\"(.+)\".*", "$1");

		JsonNode thread = this.chat.thread(copy);
		assertThat(thread.path("turns").values()).hasSize(2);
		assertThat(thread.path("thread").path("title").asString()).isEqualTo("Hello 2");
		int first = numbers(thread).get(0);
		assertThat(thread.path("deleted").asInt(-1)).isEqualTo(first - 1);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { "{} | Write either", "{\"turns\":2,\"everything\":true} | Write either",
			"{\"everything\":false} | Write either", "{\"turns\":0} | at least one turn" })
	void refusesToKeepWhatCannotBe(String body, String words) throws Exception {
		this.chat.ask("unkept", "Hello");

		HttpResponse<String> response = this.chat.sendJson("PUT", "/api/threads/unkept/retention", body);

		assertThat(response.statusCode()).isEqualTo(400);
		assertThat(response.body()).contains(words);
		assertThat(keep("nobody", Map.of("turns", 2)).statusCode()).isEqualTo(404);
	}

	private HttpResponse<String> keep(String thread, Map<String, ?> kept) throws Exception {
		return this.chat.send("PUT", "/api/threads/" + thread + "/retention", kept);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/webjars/marked/lib/marked.esm.js", "/webjars/prismjs/prism.js" })
	void servesTheLibrariesOfThePageWithoutAVersionInTheirPath(String path) throws Exception {
		HttpResponse<String> response = this.chat.send("GET", path, null);

		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.headers().firstValue("Content-Type")).get().asString().contains("javascript");
		assertThat(response.headers().firstValue("Content-Security-Policy")).isPresent();
		assertThat(response.body()).hasSizeGreaterThan(10_000);
	}

	private static List<String> ids(JsonNode list) {
		return list.path("threads").values().stream().map((thread) -> thread.path("id").asString()).toList();
	}

	private static List<Integer> numbers(JsonNode thread) {
		return thread.path("turns").values().stream().map((turn) -> turn.path("number").asInt()).toList();
	}

	private static List<String> roles(JsonNode thread, int turn) {
		return thread.path("turns")
			.path(turn)
			.path("messages")
			.values()
			.stream()
			.map((message) -> message.path("role").asString())
			.toList();
	}

}
