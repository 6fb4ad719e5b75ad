package io.sessionkit.approval;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Calls that need consent and do not wait for it, since it was given or refused before.
 */
class UnheldCallTests {

	private final SessionKey key = SessionKey.of("t");

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final Conversations conversations = Conversations.of(this.store);

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final List<String> ran = new ArrayList<>();

	private Approvals approvals = Approvals.builder(this.conversations).tools(Set.of("cancel")).build();

	record Order(int id) {
	}

	@Test
	void callBesideOneThatAPolicyDeniesRunsInTheFirstTurnOfASession() {
		ApprovalPolicy policy = (request) -> request.call().name().equals("cancel") ? Ruling.deny("never")
				: Ruling.allow();
		this.approvals = Approvals.builder(this.conversations).policies(List.of(policy)).build();
		this.model.calls(call("cancel", 1), call("look", 2)).says("done");
		assertThat(ask("question")).isEqualTo("done");
		assertThat(this.ran).containsExactly("look 2");
	}

	@Test
	void callOfAStandingApprovalIsReplayedWhenTheTurnGoesOnAfterAFailure() {
		this.model.calls(call("cancel", 1));
		ask("question");
		this.approvals.decide(this.approvals.pending(this.key).get(0),
				Decision.approve("anna").always(StandingDecision.Scope.TOOL));
		this.model.calls(call("cancel", 2)).fails(new IllegalStateException("the model is down"));
		assertThatThrownBy(() -> ask(null)).hasMessage("the model is down");
		assertThat(this.ran).containsExactly("cancel 1", "cancel 2");
		this.model.says("done").says("done");
		assertThat(ask(null)).isEqualTo("done");
		assertThat(this.ran).containsExactly("cancel 1", "cancel 2");
		assertThat(Lines.of(this.store.messages(this.key))).containsExactly("user: question",
				"assistant cancel({\"id\":1})", "tool cancel=\"cancel 1\"", "assistant cancel({\"id\":2})",
				"tool cancel=\"cancel 2\"", "assistant: done");
		assertThat(this.approvals.ledger(this.key)).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.DONE, ApprovalStatus.DONE);
		assertThat(this.store.records(this.key, Ledger.APPROVAL)).isEmpty();
	}

	@Test
	void callOfAStandingApprovalIsReplayedWhenANewTurnFails() {
		this.model.calls(call("cancel", 1));
		ask("question");
		this.approvals.decide(this.approvals.pending(this.key).get(0),
				Decision.approve("anna").always(StandingDecision.Scope.TOOL));
		this.model.says("done");
		ask(null);
		this.model.calls(call("cancel", 2)).fails(new IllegalStateException("the model is down"));
		assertThatThrownBy(() -> ask("again")).hasMessage("the model is down");
		assertThat(this.ran).containsExactly("cancel 1", "cancel 2");
		this.model.says("done");
		assertThat(ask(null)).isEqualTo("done");
		assertThat(this.ran).containsExactly("cancel 1", "cancel 2");
	}

	private String ask(String question) {
		ChatClient.ChatClientRequestSpec spec = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(this.conversations).approvals(this.approvals).build())
			.defaultToolCallbacks(tool("cancel"), tool("look"))
			.build()
			.prompt();
		spec = (question != null) ? spec.user(question) : spec;
		return spec.advisors(SessionAdvisor.session(this.key)).call().content();
	}

	private ToolCallback tool(String name) {
		return FunctionToolCallback.builder(name, (Order order) -> {
			this.ran.add(name + " " + order.id());
			return name + " " + order.id();
		}).description(name).inputType(Order.class).build();
	}

	private static ToolCall call(String tool, int order) {
		return new ToolCall("call-" + tool + order, "function", tool, "{\"id\":" + order + "}");
	}

}
