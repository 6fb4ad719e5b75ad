package io.sessionkit.samples.chat;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.sessionkit.samples.chat.RunningChat.Event;
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
import static org.awaitility.Awaitility.await;

/**
 * Tool calls that a person decides on, through the REST API.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ApprovalTests {

	private static final String PACE = "--demo.pace=1ms";

	private Path folder;

	private RunningChat chat;

	private String thread;

	private int runsBefore;

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
		this.runsBefore = this.chat.cancelledOrders().size();
	}

	@Test
	void cancelsAnOrderOnceItIsApproved() throws Exception {
		JsonNode turn = pause("Cancel order 4711 because it was bought twice.");

		assertThat(turn.path("status").asString()).isEqualTo("AWAITING_APPROVAL");
		JsonNode shown = calls().get(0);
		assertThat(shown.path("tool").asString()).isEqualTo("cancel_order");
		assertThat(shown.path("turnId").asString()).isEqualTo(turn.path("id").asString());
		assertThat(shown.path("arguments").asString())
			.isEqualTo("{\"orderNumber\":\"4711\",\"reason\":\"it was bought twice\"}");
		assertThat(shown.path("description").asString()).startsWith("Cancels an order.");
		assertThat(Duration.between(Instant.parse(shown.path("requestedAt").asString()),
				Instant.parse(shown.path("expiresAt").asString())))
			.isEqualTo(Duration.ofHours(24));
		HttpResponse<String> response = decide(shown, Map.of("verb", "APPROVE", "by", "Ada"));
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(cancelled()).isEmpty();

		assertThat(RunningChat.text(this.chat.resume(this.thread)))
			.isEqualTo("Order 4711 is cancelled (it was bought twice).");
		assertThat(cancelled()).containsExactly("4711");
		assertThat(calls()).singleElement().satisfies((call) -> {
			assertThat(call.path("status").asString()).isEqualTo("DONE");
			assertThat(call.path("decisions").path(0).path("by").asString()).isEqualTo("Ada");
		});
		assertThat(approvals().path("openTurn").asInt(-1)).isZero();
		assertThat(this.chat.thread(this.thread).path("turns").values()).singleElement()
			.satisfies((stored) -> assertThat(stored.path("messages").values())
				.extracting((message) -> message.path("role").asString())
				.containsExactly("user", "assistant", "tool", "assistant"));
	}

	@Test
	void tellsTheModelWhyACallWasRejected() throws Exception {
		pause("Cancel order 4711");

		decide(calls().get(0), Map.of("verb", "REJECT", "by", "Ada", "text", "It has been sent."));

		assertThat(RunningChat.text(this.chat.resume(this.thread)))
			.isEqualTo("Nothing was cancelled. I was told: “It has been sent.”");
		assertThat(cancelled()).isEmpty();
	}

	@Test
	void runsWithTheArgumentsOfThePerson() throws Exception {
		pause("Cancel order 4711");

		decide(calls().get(0), Map.of("verb", "APPROVE", "by", "Ada", "arguments",
				"{\"orderNumber\":\"4712\",\"reason\":\"the other one\"}"));

		assertThat(RunningChat.text(this.chat.resume(this.thread)))
			.isEqualTo("Order 4712 is cancelled (the other one).");
		assertThat(cancelled()).containsExactly("4712");
	}

	@Test
	void refusesArgumentsThatDoNotFitTheTool() throws Exception {
		pause("Cancel order 4711");

		HttpResponse<String> response = decide(calls().get(0),
				Map.of("verb", "APPROVE", "by", "Ada", "arguments", "{\"orderNumber\":[4712]}"));

		assertThat(response.statusCode()).isEqualTo(409);
		JsonNode problem = JsonMapper.shared().readTree(response.body());
		assertThat(problem.path("detail").asString()).contains("The reason is missing.",
				"The order number has the wrong type.");
		assertThat(problem.path("faults").values()).extracting(JsonNode::toString)
			.containsExactlyInAnyOrder("{\"field\":\"reason\",\"rule\":\"required\"}",
					"{\"field\":\"orderNumber\",\"rule\":\"type\"}");
		assertThat(response.body()).doesNotContain("4712");
		assertThat(calls()).singleElement().satisfies((call) -> assertThat(call.path("pending").asBoolean()).isTrue());
	}

	@Test
	void listsTheCallsOfAllThreadsThatWait() throws Exception {
		pause("Cancel orders 1002 and 1003");

		assertThat(this.chat.get("/api/inbox").values())
			.filteredOn((call) -> call.path("thread").asString().equals(this.thread))
			.hasSize(2)
			.allSatisfy((call) -> {
				assertThat(call.path("title").asString()).isEqualTo("Cancel orders 1002 and 1003");
				assertThat(call.path("tool").asString()).isEqualTo("cancel_order");
				assertThat(call.path("callTitle").asString()).isEqualTo("Cancel order");
				assertThat(call.path("requestedAt").asString()).isLessThan(call.path("expiresAt").asString());
			});
		assertThat(this.chat.get("/api/inbox").values()).extracting((call) -> call.path("requestedAt").asString())
			.isSorted();
	}

	@Test
	void tellsTheSecondWhoDecidesWhoWasFirst() throws Exception {
		pause("Cancel order 4711");
		JsonNode shown = calls().get(0);
		decide(shown, Map.of("verb", "REJECT", "by", "Ada"));

		HttpResponse<String> second = decide(shown, Map.of("verb", "APPROVE", "by", "Bob"));

		assertThat(second.statusCode()).isEqualTo(409);
		JsonNode problem = JsonMapper.shared().readTree(second.body());
		assertThat(problem.path("decidedBy").asString()).isEqualTo("Ada");
		assertThat(problem.path("callStatus").asString()).isEqualTo("rejected");
		assertThat(problem.path("detail").asString()).contains("decided by Ada");
	}

	@Test
	void refusesADecisionOnSomethingElseThanWhatWasShown() throws Exception {
		pause("Cancel order 4711");

		HttpResponse<String> response = this.chat.send("POST",
				"/api/threads/" + this.thread + "/approvals/" + calls().get(0).path("id").asString(),
				Map.of("verb", "APPROVE", "by", "Ada", "digest", "of another call"));

		assertThat(response.statusCode()).isEqualTo(409);
		assertThat(response.body()).contains("Look at the tool call again.");
	}

	@Test
	void saysWhatIsMissingFromADecision() throws Exception {
		pause("Cancel order 4711");
		JsonNode shown = calls().get(0);

		assertThat(decide(shown, Map.of("verb", "APPROVE", "by", " ")).body()).contains("Write your name");
		assertThat(decide(shown, Map.of("by", "Ada")).body()).contains("APPROVE, REJECT, RETRY or ANSWER");
		assertThat(decide(shown, Map.of("verb", "REJECT", "by", "Ada", "arguments", "{}")).statusCode()).isEqualTo(400);
		assertRefused(decide(shown, Map.of("verb", "MAYBE", "by", "Ada")), "MAYBE", "APPROVE, REJECT, RETRY or ANSWER");
		assertRefused(decide(shown, Map.of("verb", "APPROVE", "by", "Ada", "always", "EVER")), "EVER",
				"TOOL or ARGUMENTS");
		assertRefused(decide(shown, Map.of("verb", "REJECT", "by", "Ada", "reason", "not needed")), "reason", "verb",
				"text", "arguments", "always");
		assertThat(calls().get(0).path("status").asString()).isEqualTo("PROPOSED");
	}

	@Test
	void refusesAMessageWhileACallWaits() throws Exception {
		pause("Cancel order 4711");

		List<Event> events = this.chat.ask(this.thread, "Hello");

		assertThat(events).singleElement().satisfies((event) -> {
			assertThat(event.data().path("status").asInt()).isEqualTo(409);
			assertThat(event.data().path("detail").asString()).contains("waits for a decision");
		});
		assertThat(this.chat.thread(this.thread).path("turns").values()).hasSize(1);
	}

	@Test
	void runsWhatIsDecidedAndGoesOnWaitingForTheRest() throws Exception {
		pause("Cancel orders 4711 and 4712");
		decide(calls().get(0), Map.of("verb", "APPROVE", "by", "Ada"));

		List<Event> events = this.chat.resume(this.thread);

		assertThat(events).last()
			.satisfies((event) -> assertThat(event.data().path("status").asString()).isEqualTo("AWAITING_APPROVAL"));
		assertThat(cancelled()).containsExactly("4711");
		decide(calls().get(1), Map.of("verb", "APPROVE", "by", "Ada"));
		assertThat(RunningChat.text(this.chat.resume(this.thread))).contains("Order 4711 is cancelled",
				"Order 4712 is cancelled");
		assertThat(cancelled()).containsExactly("4711", "4712");
	}

	@Test
	void decidesCallsToComeUntilThatIsRevoked() throws Exception {
		pause("Cancel order 4711");
		decide(calls().get(0), Map.of("verb", "APPROVE", "by", "Ada", "always", "TOOL"));
		this.chat.resume(this.thread);

		assertThat(this.chat.reply(this.thread, "Cancel order 4712")).startsWith("Order 4712 is cancelled");
		JsonNode standing = approvals().path("standing").path(0);
		assertThat(standing.path("tool").asString()).isEqualTo("cancel_order");
		assertThat(standing.path("approved").asBoolean()).isTrue();
		assertThat(standing.path("exact").asBoolean(true)).isFalse();
		String path = "/api/threads/" + this.thread + "/standing-decisions/" + standing.path("id").asString();
		assertThat(this.chat.send("DELETE", path, null).statusCode()).isEqualTo(204);
		assertThat(this.chat.send("DELETE", path, null).statusCode()).isEqualTo(404);
		pause("Cancel order 4713");
		assertThat(cancelled()).containsExactly("4711", "4712");
	}

	@Test
	void decidesCallsWithExactlyTheSameArgumentsOnly() throws Exception {
		pause("Cancel order 4711");
		decide(calls().get(0), Map.of("verb", "REJECT", "by", "Ada", "text", "never", "always", "ARGUMENTS"));
		this.chat.resume(this.thread);

		assertThat(this.chat.reply(this.thread, "Cancel order 4711")).contains("“never”");
		assertThat(pause("Cancel order 4712").path("status").asString()).isEqualTo("AWAITING_APPROVAL");
	}

	@Test
	void goesOnAfterARestart() throws Exception {
		pause("Cancel order 4711");
		restart();

		decide(calls().get(0), Map.of("verb", "APPROVE", "by", "Ada"));

		assertThat(RunningChat.text(this.chat.resume(this.thread))).startsWith("Order 4711 is cancelled");
		assertThat(cancelled()).containsExactly("4711");
	}

	@Test
	void goesOnWithoutACallThatNobodyDecidedInTime() throws Exception {
		restart("--sessionkit.approval.expires-after=1s");
		pause("Cancel order 4711");

		await().untilAsserted(() -> assertThat(calls()).singleElement()
			.satisfies((call) -> assertThat(call.path("status").asString()).isEqualTo("EXPIRED")));
		assertThat(decide(calls().get(0), Map.of("verb", "APPROVE", "by", "Ada")).body()).contains("in time");
		assertThat(RunningChat.text(this.chat.resume(this.thread))).contains("Nobody decided on this call in time");
		assertThat(cancelled()).isEmpty();
		restart();
	}

	@Test
	void hasNothingToGoOnWithWhereNothingWaits() throws Exception {
		HttpResponse<String> response = this.chat.send("POST", "/api/threads/" + this.thread + "/resume", null);

		assertThat(response.statusCode()).isEqualTo(409);
		assertThat(response.body()).contains("Nothing waits in this thread");
		assertThat(approvals().toString()).isEqualTo("{\"openTurn\":0,\"running\":false,\"calls\":[],\"standing\":[]}");
	}

	@Test
	void titlesAThreadWhoseFirstTurnWaits() throws Exception {
		pause("Cancel order 4711");

		assertThat(this.chat.thread(this.thread).path("thread").path("title").asString())
			.isEqualTo("Cancel order 4711");
	}

	private void restart(String... more) {
		this.chat.close();
		this.chat = RunningChat.start(this.folder,
				Stream.concat(Stream.of(PACE), Stream.of(more)).toArray(String[]::new));
		this.runsBefore = 0;
	}

	private List<String> cancelled() {
		List<String> all = this.chat.cancelledOrders();
		return all.subList(this.runsBefore, all.size());
	}

	private JsonNode pause(String question) throws Exception {
		List<Event> events = this.chat.ask(this.thread, question);
		return events.get(events.size() - 1).data();
	}

	private HttpResponse<String> decide(JsonNode shown, Map<String, String> decision) throws Exception {
		Map<String, String> body = new HashMap<>(decision);
		body.put("digest", shown.path("digest").asString());
		return this.chat.send("POST", "/api/threads/" + this.thread + "/approvals/" + shown.path("id").asString(),
				body);
	}

	private List<JsonNode> calls() throws Exception {
		return new ArrayList<>(approvals().path("calls").values());
	}

	private static void assertRefused(HttpResponse<String> response, String... words) {
		assertThat(response.statusCode()).isEqualTo(400);
		assertThat(response.body()).contains(words);
	}

	private JsonNode approvals() throws Exception {
		return this.chat.get("/api/threads/" + this.thread + "/approvals");
	}

}
