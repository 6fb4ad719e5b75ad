package io.sessionkit.approval;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.ProviderStub;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.stream.CallEvent;
import io.sessionkit.stream.CallEvents;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.TestStores;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests what a provider really receives of a session: its Spring AI model speaks to a
 * local server. Each call has a client of its own on the same store, so nothing of a turn
 * is in memory when it goes on.
 */
abstract class ProviderWireTests {

	static final SessionKey KEY = SessionKey.of("t1");

	static final List<ToolCall> CALLS = List.of(ApprovalFixture.cancel("c1", 1), ApprovalFixture.look("c2", 2));

	final SessionStore store = TestStores.H2.create();

	private final List<String> runs = new CopyOnWriteArrayList<>();

	ProviderStub stub;

	abstract ProviderStub create() throws IOException;

	/**
	 * The line of an answer or of calls after these thoughts, as the provider expects it.
	 */
	abstract String assistant(String said, String... thinking);

	abstract String result(String id, String text);

	@BeforeEach
	void start() throws IOException {
		this.stub = create();
	}

	@AfterEach
	void stop() {
		this.stub.close();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void toolRoundsAreSentWithTheTurnsAfterThem(ClientSetup.Mode mode) {
		this.stub.calls(List.of(ApprovalFixture.look("c1", 1)));
		this.stub.says("a1");
		this.stub.says("a2");
		assertThat(ask(mode, "q1")).isEqualTo("a1");
		assertThat(ask(mode, "q2")).isEqualTo("a2");
		assertThat(this.runs).containsExactly("look{\"id\":1}");
		assertRequests("system: be brief", "user: q1", assistant(" c1{\"id\":1}"), result("c1", "done {\"id\":1}"),
				assistant(": a1"), "user: q2");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void approvedCallsGoOnInAnotherClientWithWhatTheModelHasThought(ClientSetup.Mode mode) {
		pause(mode, "think first", "then call");
		decide((approvals, call) -> approvals.approve(call, "anna"));
		this.stub.says("done", "all good");
		goOn(mode);
		assertThat(this.store.messages(KEY, 1).get(0).getText()).isEqualTo("done");
		assertThat(this.runs).containsExactly("cancel{\"id\":1}", "look{\"id\":2}");
		assertRequests("system: be brief", "user: q",
				assistant(" c1{\"id\":1} c2{\"id\":2}", "think first", "then call"), result("c1", "done {\"id\":1}"),
				result("c2", "done {\"id\":2}"));
		this.stub.says("bye");
		ask(mode, "q2");
		assertRequests("system: be brief", "user: q",
				assistant(" c1{\"id\":1} c2{\"id\":2}", "think first", "then call"), result("c1", "done {\"id\":1}"),
				result("c2", "done {\"id\":2}"), assistant(": done", "all good"), "user: q2");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void rejectedAndEditedCallsAreValidRequests(ClientSetup.Mode mode) {
		pause(mode, "think");
		decide((approvals, call) -> approvals.reject(call, "bob", "no"));
		this.stub.calls(List.of(ApprovalFixture.cancel("c3", 3)));
		goOn(mode);
		decide((approvals, call) -> approvals.decide(call, Decision.approve("anna").withArguments("{\"id\":7}")));
		this.stub.says("done");
		assertThat(goOn(mode)).isEqualTo("done");
		assertThat(this.runs).containsExactly("look{\"id\":2}", "cancel{\"id\":7}");
		assertRequests("system: be brief", "user: q", assistant(" c1{\"id\":1} c2{\"id\":2}", "think"),
				result("c1", "no"), result("c2", "done {\"id\":2}"), assistant(" c3{\"id\":3}"),
				result("c3", "A person changed the arguments of this call to {\"id\":7}. Result: done {\"id\":7}"));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void usageAndModelOfEachRoundAreKept(ClientSetup.Mode mode) {
		this.stub.calls(List.of(ApprovalFixture.look("c1", 1)), "think");
		this.stub.says("a1");
		ask(mode, "q1");
		assertThat(this.store.turns(KEY, Tail.ALL)).singleElement().satisfies((turn) -> {
			assertThat(turn.model()).isEqualTo("stub-1");
			assertThat(turn.rounds()).hasSize(2);
			assertThat(turn.usage().input()).isEqualTo(22);
			assertThat(turn.usage().output()).isEqualTo(6);
		});
	}

	/**
	 * Returns what the model thinks and says, in the order in which it comes as events.
	 */
	List<String> events(String text) {
		List<String> lines = new ArrayList<>();
		CallEvents.of(chat(ClientSetup.Mode.STREAM).prompt().user(text).advisors(SessionAdvisor.session(KEY)))
			.toIterable()
			.forEach((event) -> {
				if (event instanceof CallEvent.Reasoning thought) {
					lines.add("thinks " + thought.text());
				}
				else if (event instanceof CallEvent.Text said) {
					lines.add("says " + said.text());
				}
			});
		return lines;
	}

	void pause(ClientSetup.Mode mode, String... thinking) {
		this.stub.calls(CALLS, thinking);
		ask(mode, "q");
		assertThat(this.runs).isEmpty();
		assertThat(approvals().pending(KEY)).hasSize(1);
	}

	private interface Deciding {

		void decide(Approvals approvals, ToolApproval call);

	}

	void approve() {
		decide((approvals, call) -> approvals.approve(call, "anna"));
	}

	private void decide(Deciding deciding) {
		Approvals approvals = approvals();
		approvals.pending(KEY).forEach((call) -> deciding.decide(approvals, call));
	}

	void assertRequests(String... lastLines) {
		this.stub.bodies().forEach((body) -> assertThat(this.stub.faults(body)).isEmpty());
		assertThat(this.stub.lastLines()).containsExactly(lastLines);
	}

	@Nullable String ask(ClientSetup.Mode mode, String text) {
		return content(mode, chat(mode).prompt().user(text));
	}

	@Nullable String goOn(ClientSetup.Mode mode) {
		return content(mode, chat(mode).prompt());
	}

	private static @Nullable String content(ClientSetup.Mode mode, ChatClient.ChatClientRequestSpec call) {
		return setup(mode).content(call.advisors(SessionAdvisor.session(KEY)));
	}

	private Approvals approvals() {
		return Approvals.builder(Conversations.of(this.store)).tools(Set.of("cancel")).build();
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

}
