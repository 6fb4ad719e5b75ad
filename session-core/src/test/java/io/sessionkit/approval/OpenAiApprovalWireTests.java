package io.sessionkit.approval;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.OpenAiStub;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.WireSequence;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.ai.chat.client.ChatClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests what a provider really receives after calls have waited: Spring AI's OpenAI model
 * speaks to a local server.
 */
class OpenAiApprovalWireTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private static final String ASKED = "assistant c1{\"id\":1} c2{\"id\":2} c3{\"id\":3}";

	private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-02-03T04:05:06Z"));

	private final SessionStore store = new InMemorySessionStore(
			StoreOptions.of(JsonMessageCodec.create()).clock(((InstantSource) this.now::get).withZone(ZoneOffset.UTC)));

	private final List<String> runs = new CopyOnWriteArrayList<>();

	private Consumer<Approvals.Builder> rules = (rules) -> {
	};

	private OpenAiStub stub;

	@BeforeEach
	void start() throws IOException {
		this.stub = new OpenAiStub();
	}

	@AfterEach
	void stop() {
		this.stub.close();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void requestAfterApprovalsIsValid(ClientSetup.Mode mode) {
		pause(mode);
		pending().forEach((call) -> approvals().approve(call, "anna"));
		goesOn(mode, "tool c1: done {\"id\":1}", "tool c2: done {\"id\":2}", "tool c3: done {\"id\":3}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void requestAfterAnEditIsValidAndTheCallIsAsTheModelMadeIt(ClientSetup.Mode mode) {
		pause(mode);
		approvals().decide(pending().get(0), Decision.approve("anna").withArguments("{\"id\":7}"));
		approvals().approve(pending().get(0), "anna");
		goesOn(mode, "tool c1: A person changed the arguments of this call to {\"id\":7}. Result: done {\"id\":7}",
				"tool c2: done {\"id\":2}", "tool c3: done {\"id\":3}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void requestAfterRejectionsIsValidAlsoWithAnEmptyReason(ClientSetup.Mode mode) {
		pause(mode);
		List<ToolApproval> pending = pending();
		approvals().decide(pending.get(0), Decision.reject("bob", ""));
		approvals().decide(pending.get(1), Decision.reject("bob", "no"));
		goesOn(mode, "tool c1", "tool c2: done {\"id\":2}", "tool c3: no");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void requestAfterAnExpiryIsValid(ClientSetup.Mode mode) {
		this.rules = (rules) -> rules.expiresAfter(Duration.ofHours(1));
		pause(mode);
		this.now.set(pending().get(0).expiresAt());
		assertThat(pending()).isEmpty();
		String expired = ": Nobody decided on this call in time, so it did not run.";
		goesOn(mode, "tool c1" + expired, "tool c2: done {\"id\":2}", "tool c3" + expired);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void requestAfterAMixedBatchInSeveralStepsIsValid(ClientSetup.Mode mode) {
		this.rules = (rules) -> rules.siblings(SiblingRule.RUN);
		pause(mode);
		approvals().approve(pending().get(1), "anna");
		content(mode, chat(mode).prompt());
		assertThat(this.stub.bodies()).hasSize(1);
		approvals().reject(pending().get(0), "bob", "no");
		goesOn(mode, "tool c1: no", "tool c2: done {\"id\":2}", "tool c3: done {\"id\":3}");
		assertThat(this.runs).containsExactly("look{\"id\":2}", "cancel{\"id\":3}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void requestWithQueuedMessagesIsValid(ClientSetup.Mode mode) {
		this.rules = (rules) -> rules.onNewMessage(OnNewMessage.QUEUE);
		pause(mode);
		content(mode, chat(mode).prompt().user("hurry"));
		pending().forEach((call) -> approvals().approve(call, "anna"));
		goesOn(mode, "tool c1: done {\"id\":1}", "tool c2: done {\"id\":2}", "tool c3: done {\"id\":3}", "user: hurry");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void requestAfterACancelledTurnIsValid(ClientSetup.Mode mode) {
		this.rules = (rules) -> rules.onNewMessage(OnNewMessage.CANCEL);
		pause(mode);
		this.stub.says("ok");
		content(mode, chat(mode).prompt().user("never mind"));
		String cancelled = ": This call was cancelled before it ran.";
		assertRequests("system: be brief", "user: q", ASKED, "tool c1" + cancelled, "tool c2" + cancelled,
				"tool c3" + cancelled, "user: never mind");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void requestsOfATurnThatPausesTwiceAndOfTheNextOneAreValid(ClientSetup.Mode mode) {
		pause(mode);
		pending().forEach((call) -> approvals().approve(call, "anna"));
		this.stub.calls(List.of(ApprovalFixture.cancel("c4", 4)));
		content(mode, chat(mode).prompt());
		approvals().reject(pending().get(0), "bob", "enough");
		this.stub.says("done");
		this.stub.says("bye");
		assertThat(content(mode, chat(mode).prompt())).isEqualTo("done");
		content(mode, chat(mode).prompt().user("q2"));
		assertRequests("system: be brief", "user: q", ASKED, "tool c1: done {\"id\":1}", "tool c2: done {\"id\":2}",
				"tool c3: done {\"id\":3}", "assistant c4{\"id\":4}", "tool c4: enough", "assistant: done", "user: q2");
		assertThat(this.stub.bodies()).hasSize(4);
	}

	@Test
	void validatorFindsWhatIsWrong() {
		String call = "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"a\"},{\"id\":\"b\"}]}";
		String start = "{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":\"q\"}";
		assertThat(faults(start)).isEmpty();
		assertThat(faults(start + "," + call + "," + result("a") + "," + result("b"))).isEmpty();
		assertThat(faults("{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"user\",\"content\":\"q\"}")).hasSize(1);
		assertThat(faults(start + "," + call)).hasSize(3);
		assertThat(faults(start + "," + call + "," + result("b") + "," + result("a"))).hasSize(2);
		assertThat(faults(start + "," + call + "," + result("a") + "," + result("b") + "," + result("b"))).hasSize(1);
		assertThat(faults(start + "," + call + ",{\"role\":\"tool\",\"tool_call_id\":\"a\"}," + result("b")))
			.hasSize(1);
		assertThat(faults(start + ",{\"role\":\"assistant\",\"content\":\"a\"}")).hasSize(1);
	}

	private static List<String> faults(String messages) {
		return WireSequence.faults(JsonMapper.builder().build().readTree("{\"messages\":[" + messages + "]}"));
	}

	private static String result(String id) {
		return "{\"role\":\"tool\",\"tool_call_id\":\"" + id + "\",\"content\":\"r\"}";
	}

	/**
	 * One question, answered with a call that waits on each side of one that need not.
	 */
	private void pause(ClientSetup.Mode mode) {
		this.stub.calls(List.of(ApprovalFixture.cancel("c1", 1), ApprovalFixture.look("c2", 2),
				ApprovalFixture.cancel("c3", 3)));
		content(mode, chat(mode).prompt().user("q"));
		assertThat(approvals().ledger(KEY)).extracting(ToolApproval::status).contains(ApprovalStatus.PROPOSED);
	}

	private void goesOn(ClientSetup.Mode mode, String... results) {
		this.stub.says("done");
		assertThat(content(mode, chat(mode).prompt())).isEqualTo("done");
		assertThat(this.stub.bodies()).hasSize(2);
		String[] lines = new String[results.length + 3];
		System.arraycopy(new String[] { "system: be brief", "user: q", ASKED }, 0, lines, 0, 3);
		System.arraycopy(results, 0, lines, 3, results.length);
		assertRequests(lines);
	}

	private void assertRequests(String... lastLines) {
		this.stub.bodies().forEach((body) -> assertThat(this.stub.faults(body)).isEmpty());
		assertThat(this.stub.lastLines()).containsExactly(lastLines);
	}

	private List<ToolApproval> pending() {
		return approvals().pending(KEY);
	}

	private Approvals approvals() {
		Approvals.Builder builder = Approvals.builder(Conversations.of(this.store)).tools(Set.of("cancel"));
		this.rules.accept(builder);
		return builder.build();
	}

	private ChatClient chat(ClientSetup.Mode mode) {
		SessionAdvisor advisor = SessionAdvisor.builder(Conversations.of(this.store))
			.approvals(approvals())
			.requireFinishReason(true)
			.build();
		return setup(mode).builder(this.stub.model(), advisor)
			.defaultToolCallbacks(RecordingTool.of("cancel", this.runs), RecordingTool.of("look", this.runs))
			.build();
	}

	private static ClientSetup setup(ClientSetup.Mode mode) {
		return new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, true);
	}

	private static @Nullable String content(ClientSetup.Mode mode, ChatClient.ChatClientRequestSpec call) {
		return setup(mode).content(call.advisors(SessionAdvisor.session(KEY)));
	}

}
