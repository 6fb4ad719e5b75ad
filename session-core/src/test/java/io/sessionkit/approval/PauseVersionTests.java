package io.sessionkit.approval;

import java.io.IOException;
import java.io.InputStream;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.UnsupportedVersionException;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.store.Commit;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Holds the stored form of what waits still: a pause of each version that was ever
 * written is kept in a file, and can always be continued. A change that fails here needs
 * a new version of the record, with the others read beside it.
 */
class PauseVersionTests {

	private static final SessionKey KEY = SessionKey.of("owner", "thread");

	private static final int NEWEST = 3;

	private static final Instant AT = Instant.parse("2026-02-03T04:05:06.789Z");

	private static final String TURN = "turn-1";

	private static final String SCHEMA = """
			{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}""";

	private final JsonMapper json = JsonMapper.builder().build();

	private final List<String> runs = new CopyOnWriteArrayList<>();

	private final ScriptedChatModel model = new ScriptedChatModel();

	@Test
	void theSameIsWritten() {
		assertThat(this.json.readTree(written())).isEqualTo(fixture(NEWEST));
	}

	@ParameterizedTest
	@CsvSource({ "MEMORY, 1", "H2, 1", "POSTGRESQL, 1", "REDIS, 1", "MEMORY, 2", "H2, 2", "POSTGRESQL, 2", "REDIS, 2",
			"MEMORY, 3", "H2, 3", "POSTGRESQL, 3", "REDIS, 3" })
	void pauseOfEachVersionGoesOn(TestStores kind, int version) {
		SessionStore store = kind.create();
		restore(store, fixture(version));
		Approvals approvals = approvals(store);
		List<ToolApproval> pending = approvals.pending(KEY);
		assertThat(pending).extracting(ToolApproval::arguments).containsExactly("{\"id\":4}");
		assertThat(pending).extracting(ToolApproval::description).containsExactly("cancels for good");
		approvals.decide(pending.get(0), Decision.reject("bob", "not this one"));
		this.model.says("done");
		assertThat(client(store).prompt().advisors(SessionAdvisor.session(KEY)).call().content()).isEqualTo("done");
		assertThat(this.runs).containsExactly("cancel{\"id\":7}", "look{\"id\":3}");
		assertThat(this.model.lastRequestLines()).containsExactly("user: Cancel 2 and 4.", "assistant look({\"id\":1})",
				"tool look=done {\"id\":1}",
				"assistant: I cancel them. cancel({\"id\":2}) look({\"id\":3}) cancel({\"id\":4})",
				"tool cancel=A person changed the arguments of this call to {\"id\":7}. Result: done {\"id\":7}"
						+ " look=done {\"id\":3} cancel=not this one",
				"user: And hurry.");
		assertThat(Lines.of(store.messages(KEY))).hasSize(7).endsWith("assistant: done");
		assertThat(approvals.ledger(KEY)).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.DONE, ApprovalStatus.DONE, ApprovalStatus.REJECTED);
		assertThat(store.find(KEY).orElseThrow().attributes()).isEqualTo(Map.of("seen", 1L));
	}

	@Test
	void newerPauseIsRefusedAndNothingRuns() {
		JsonNode newer = fixture(NEWEST);
		((ObjectNode) values(newer.path("pause"))).put("version", 3);
		SessionStore store = TestStores.MEMORY.create();
		restore(store, newer);
		refused(store, "version 3", "Continue it with the version that wrote it.");
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void newerCallIsRefusedAndNothingRuns(int index) {
		JsonNode newer = fixture(NEWEST);
		((ObjectNode) values(newer.path("approvals").get(index))).put("version", 3);
		SessionStore store = TestStores.MEMORY.create();
		restore(store, newer);
		refused(store, "version 3", "Decide and continue it with the version that wrote it.");
		assertThatExceptionOfType(UnsupportedVersionException.class).isThrownBy(() -> approvals(store).pending(KEY));
	}

	private void refused(SessionStore store, String version, String whatToDo) {
		this.model.says("never");
		assertThatExceptionOfType(UnsupportedVersionException.class)
			.isThrownBy(() -> client(store).prompt().advisors(SessionAdvisor.session(KEY)).call().content())
			.withMessageContaining(version)
			.withMessageEndingWith(whatToDo);
		assertThat(this.runs).isEmpty();
		assertThat(this.model.prompts()).isEmpty();
		assertThat(store.turns(KEY, Tail.ALL)).extracting(Turn::status).containsExactly(TurnStatus.AWAITING_APPROVAL);
		assertThat(store.records(KEY, TurnRecords.LEASE)).isEmpty();
	}

	/**
	 * Returns what today's code writes: a round that ran, and a reply of which one call
	 * is approved with other arguments, one needs no consent and one waits, with a
	 * message that was queued.
	 */
	private String written() {
		StoreOptions options = StoreOptions.of(JsonMessageCodec.create())
			.clock(Clock.fixed(AT, ZoneOffset.UTC))
			.turnIds(() -> TURN);
		SessionStore store = new InMemorySessionStore(options);
		AssistantMessage reply = AssistantMessage.builder()
			.content("I cancel them.")
			.toolCalls(List.of(call("c2", "cancel", 2), call("c3", "look", 3), call("c4", "cancel", 4)))
			.build();
		this.model.calls(call("c1", "look", 1)).responds(new ChatResponse(List.of(new Generation(reply))));
		ask(store, "Cancel 2 and 4.");
		Approvals approvals = approvals(store);
		approvals.decide(approvals.pending(KEY).get(0), Decision.approve("anna").withArguments("{\"id\":7}"));
		ask(store, "And hurry.");
		List<String> items = store.items(KEY, 1)
			.stream()
			.map(SessionItem::message)
			.map((message) -> options.codec().encode(KEY, message))
			.toList();
		List<String> calls = store.records(KEY, Ledger.APPROVAL).stream().map(SessionRecord::payload).toList();
		return "{\"items\":[\n" + String.join(",\n", items) + "],\n\"pause\":\n"
				+ store.records(KEY, TurnRecords.PAUSE).get(0).payload() + ",\n\"approvals\":[\n"
				+ String.join(",\n", sorted(calls)) + "]}\n";
	}

	private List<String> sorted(List<String> calls) {
		List<String> sorted = new ArrayList<>(calls);
		sorted.sort(Comparator.comparingInt((call) -> values(this.json.readTree(call)).path("index").asInt()));
		return sorted;
	}

	private static JsonNode values(JsonNode payload) {
		return payload.path("values");
	}

	private static void restore(SessionStore store, JsonNode stored) {
		Turn turn = Turn.builder(TURN, AT)
			.status(TurnStatus.AWAITING_APPROVAL, null)
			.agent("clerk")
			.model("scripted")
			.build();
		List<NewItem> items = new ArrayList<>();
		stored.path("items")
			.forEach((item) -> items.add(new NewItem(store.options().codec().decode(KEY, item.toString()), AT, 5)));
		List<RecordWrite> records = new ArrayList<>();
		records.add(RecordWrite.create(TurnRecords.PAUSE, TURN, stored.path("pause").toString()));
		stored.path("approvals")
			.forEach((call) -> records
				.add(RecordWrite.create(Ledger.APPROVAL, values(call).path("id").asString(), call.toString())));
		assertThat(store.commit(Commit.first(KEY).turn(new TurnWrite(turn, 0, items)).records(records)).isStored())
			.isTrue();
	}

	private JsonNode fixture(int version) {
		try (InputStream file = getClass().getResourceAsStream("/io/sessionkit/approval/pause-v" + version + ".json")) {
			return this.json.readTree(Objects.requireNonNull(file).readAllBytes());
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static ToolCall call(String id, String tool, int order) {
		return new ToolCall(id, "function", tool, "{\"id\":" + order + "}");
	}

	private void ask(SessionStore store, String text) {
		client(store).prompt()
			.user(text)
			.advisors(SessionAdvisor.session(KEY))
			.advisors(SessionAdvisor.agent("clerk"))
			.call()
			.content();
	}

	private ChatClient client(SessionStore store) {
		RecordingTool cancel = RecordingTool.of("cancel", this.runs).taking(SCHEMA);
		RecordingTool look = RecordingTool.of("look", this.runs).taking(SCHEMA).doing((input, context) -> {
			new SessionContext().putAttribute("seen", 1L);
			return "done " + input;
		});
		return ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(Conversations.of(store)).approvals(approvals(store)).build())
			.defaultToolCallbacks(cancel, look)
			.build();
	}

	private static Approvals approvals(SessionStore store) {
		return Approvals.builder(Conversations.of(store))
			.tools(Set.of("cancel"))
			.policies(List.<ApprovalPolicy>of((request) -> request.call().name().equals("cancel")
					? Ruling.ask("cancels for good") : Ruling.allow()))
			.expiresAfter(Duration.ofDays(30))
			.version("prompt-3")
			.traceIds(() -> "trace-1")
			.onNewMessage(OnNewMessage.QUEUE)
			.build();
	}

}
