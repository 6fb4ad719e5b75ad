package io.sessionkit.samples.chat;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Turns that are taken back with what their tools have done, through the REST API.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RewindTests {

	private static final String PACE = "--demo.pace=1ms";

	private Path folder;

	private RunningChat chat;

	private String thread;

	@BeforeAll
	void start(@TempDir Path folder) {
		this.folder = folder;
		this.chat = RunningChat.start(folder, PACE);
	}

	@AfterAll
	void stop() {
		this.chat.close();
	}

	@BeforeEach
	void inAThreadOfItsOwn(TestInfo test) {
		this.thread = test.getTestMethod().orElseThrow().getName();
	}

	@Test
	void aCancelledOrderIsTakenBackWithConsentOfItsOwn() throws Exception {
		this.chat.ask(this.thread, "Hello");
		cancel("4001");
		this.chat.ask(this.thread, "Roll a die");

		JsonNode plan = plan(2);
		assertThat(plan.path("turns").toString()).isEqualTo("[3,2]");
		assertThat(plan.path("begun").asBoolean()).isFalse();
		assertThat(plan.path("stays").isEmpty()).isTrue();
		assertThat(plan.path("steps").values()).singleElement().satisfies((step) -> {
			assertThat(step.path("call").path("title").asString()).isEqualTo("Restore order");
			assertThat(step.path("call").path("arguments").asString()).isEqualTo("{\"orderNumber\":\"4001\"}");
			assertThat(step.path("effect").path("turn").asInt()).isEqualTo(2);
			assertThat(step.path("effect").path("result").asString()).startsWith("Order 4001 is cancelled");
		});
		JsonNode waits = rewind(plan, false);
		assertThat(waits.path("status").asString()).isEqualTo("WAITING");
		assertThat(head().path("takingBack").asInt()).isEqualTo(2);
		assertThat(head().path("head").asInt()).isEqualTo(3);
		assertThat(this.chat.restoredOrders()).doesNotContain("4001");
		assertThat(inbox()).contains("restore_order");
		decide(waits, "APPROVE");
		assertThat(this.chat.restoredOrders()).doesNotContain("4001");

		JsonNode report = rewind(plan(2), false);

		assertThat(report.path("status").asString()).isEqualTo("COMPLETED");
		assertThat(report.path("steps").path(0).path("outcome").asString()).isEqualTo("Order 4001 is valid again.");
		assertThat(this.chat.restoredOrders()).containsOnlyOnce("4001");
		assertThat(head().path("head").asInt()).isEqualTo(1);
		assertThat(head().path("takingBack").asInt()).isZero();
		assertThat(inbox()).isEmpty();
		HttpResponse<String> redo = this.chat.send("POST", path("/redo"), Map.of());
		assertThat(redo.statusCode()).isEqualTo(409);
		assertThat(redo.body()).contains("cannot become history again");
	}

	@Test
	void onlyWhatWasShownIsDone() throws Exception {
		cancel("4002");
		JsonNode plan = plan(1);
		this.chat.ask(this.thread, "Hello");

		HttpResponse<String> refused = this.chat.send("POST", path("/rewind"),
				Map.of("from", 1, "digest", plan.path("digest").asString()));

		assertThat(refused.statusCode()).isEqualTo(409);
		assertThat(refused.body()).contains("Look at it again");
		assertThat(head().path("takingBack").asInt()).isZero();
	}

	@Test
	void itStopsAtACallThatFailsAndGoesOnAfterARestart() throws Exception {
		cancel("4009");
		cancel("4003");
		decide(rewind(plan(1), false), "APPROVE");

		JsonNode stopped = rewind(plan(1), false);

		assertThat(stopped.path("status").asString()).isEqualTo("STOPPED");
		assertThat(stopped.path("steps").path(0).path("done").asBoolean()).isTrue();
		assertThat(stopped.path("steps").path(1).path("failed").asBoolean()).isTrue();
		assertThat(stopped.path("steps").path(1).path("outcome").asString()).contains("was sold to somebody else");
		assertThat(head().path("head").asInt()).isEqualTo(2);
		this.chat.close();
		this.chat = RunningChat.start(this.folder, PACE);
		JsonNode found = json(this.chat.send("GET", path("/rewind"), null));
		assertThat(found.path("from").asInt()).isEqualTo(1);
		assertThat(found.path("begun").asBoolean()).isTrue();
		decide(found, "REJECT");

		assertThat(rewind(plan(1), false).path("status").asString()).isEqualTo("REFUSED");
		JsonNode plan = plan(1);
		assertThat(plan.path("stays").path(0).path("reason").asString()).isEqualTo("REJECTED");
		assertThat(rewind(plan, true).path("status").asString()).isEqualTo("COMPLETED");
		assertThat(head().path("head").asInt()).isZero();
		assertThat(this.chat.restoredOrders()).as("since the restart").isEmpty();
	}

	@Test
	void whoLeavesItHasNothingWaiting() throws Exception {
		cancel("4004");
		rewind(plan(1), false);

		assertThat(this.chat.send("DELETE", path("/rewind"), null).statusCode()).isEqualTo(204);

		assertThat(head().path("takingBack").asInt()).isZero();
		assertThat(json(this.chat.send("GET", path("/rewind"), null)).path("from").asInt()).isZero();
		assertThat(inbox()).isEmpty();
	}

	@Test
	void threadIsNotDeletedBeforeItHasEnded() throws Exception {
		cancel("4006");
		JsonNode waits = rewind(plan(1), false);

		HttpResponse<String> refused = this.chat.send("DELETE", "/api/threads/" + this.thread, null);

		assertThat(refused.statusCode()).isEqualTo(409);
		assertThat(refused.body()).contains("being taken back");
		decide(waits, "REJECT");
		assertThat(this.chat.send("DELETE", "/api/threads/" + this.thread, null).statusCode()).isEqualTo(204);
	}

	/** No model is asked, so none is blamed. */
	@Test
	void itsTurnsAreNotAskedAgainBeforeItHasEnded() throws Exception {
		cancel("4007");
		rewind(plan(1), false);

		assertThat(List.of(this.chat.ask(this.thread, "Cancel order 4008", 1), this.chat.again(this.thread, 1)))
			.allSatisfy((events) -> {
				JsonNode problem = events.get(events.size() - 1).data();
				assertThat(problem.path("kind").asString()).isEqualTo("REFUSED");
				assertThat(problem.path("detail").asString()).contains("are being taken back");
			});
		assertThat(head().path("head").asInt()).isEqualTo(1);
	}

	@Test
	void whatCannotBePlannedIsSaid() throws Exception {
		this.chat.ask(this.thread, "Cancel order 4005");

		assertThat(plan(1).path("from").asInt(-1)).isZero();
		assertThat(this.chat.send("POST", path("/rewind"), Map.of("from", 1, "digest", "of another plan")).statusCode())
			.isEqualTo(404);
		assertThat(this.chat.send("POST", path("/rewind"), Map.of()).statusCode()).isEqualTo(400);
		assertThat(this.chat.send("GET", "/api/threads/nobody/rewind", null).statusCode()).isEqualTo(404);
	}

	/** In a turn of its own. */
	private void cancel(String order) throws Exception {
		this.chat.ask(this.thread, "Cancel order " + order);
		for (JsonNode call : this.chat.get(path("/approvals")).path("calls").values()) {
			if (call.path("pending").asBoolean()) {
				assertThat(this.chat
					.send("POST", path("/approvals/" + call.path("id").asString()),
							Map.of("digest", call.path("digest").asString(), "verb", "APPROVE", "by", "Ada"))
					.statusCode()).isEqualTo(200);
			}
		}
		this.chat.resume(this.thread);
	}

	private void decide(JsonNode view, String verb) throws Exception {
		for (JsonNode step : view.path("steps").values()) {
			JsonNode call = step.path("call");
			if (call.path("pending").asBoolean()) {
				HttpResponse<String> decided = this.chat.send("POST",
						path("/rewind/calls/" + call.path("id").asString()),
						Map.of("digest", call.path("digest").asString(), "verb", verb, "by", "Bob"));
				assertThat(decided.statusCode()).as(decided.body()).isEqualTo(200);
			}
		}
	}

	private JsonNode plan(int from) throws Exception {
		return json(this.chat.send("GET", path("/rewind?from=" + from), null));
	}

	private JsonNode rewind(JsonNode plan, boolean accept) throws Exception {
		return json(this.chat.send("POST", path("/rewind"),
				Map.of("from", plan.path("from").asInt(), "digest", plan.path("digest").asString(), "accept", accept)));
	}

	private JsonNode head() throws Exception {
		return this.chat.get(path("/head"));
	}

	private List<String> inbox() throws Exception {
		return this.chat.get("/api/inbox")
			.values()
			.stream()
			.filter((call) -> call.path("thread").asString().equals(this.thread))
			.map((call) -> call.path("tool").asString())
			.toList();
	}

	private String path(String rest) {
		return "/api/threads/" + this.thread + rest;
	}

	private static JsonNode json(HttpResponse<String> response) {
		assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
		return JsonMapper.shared().readTree(response.body());
	}

}
