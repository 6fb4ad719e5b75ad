package io.sessionkit.advisor;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.sessionkit.ApprovalStatus;
import io.sessionkit.TurnStatus;
import io.sessionkit.approval.Approval;
import io.sessionkit.approval.Approvals;
import io.sessionkit.approval.Decision;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.InMemorySessionStore;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;

class ApprovalSpikeTests {

	record Order(int id) {
	}

	static List<ClientSetup> all() {
		return ClientSetup.all();
	}

	@ParameterizedTest
	@MethodSource("all")
	void pauseDecideResume(ClientSetup setup) {
		SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
		Conversations conversations = Conversations.of(store);
		Approvals approvals = Approvals.builder(conversations).tools(Set.of("cancel")).build();
		SessionAdvisor advisor = SessionAdvisor.builder(conversations).approvals(approvals).build();
		List<Integer> cancelled = new ArrayList<>();
		ScriptedChatModel model = new ScriptedChatModel();
		ChatClient chat = setup.builder(model, advisor)
			.defaultToolCallbacks(FunctionToolCallback.builder("cancel", (Order order) -> {
				cancelled.add(order.id());
				return "cancelled " + order.id();
			}).description("cancels").inputType(Order.class).build(),
					FunctionToolCallback.builder("look", (Order order) -> "looked " + order.id())
						.description("looks")
						.inputType(Order.class)
						.build())
			.build();
		model.calls(new ToolCall("c1", "function", "cancel", "{\"id\":1}"),
				new ToolCall("c2", "function", "look", "{\"id\":2}"),
				new ToolCall("c3", "function", "cancel", "{\"id\":3}"));
		ChatResponse response = setup.response(chat.prompt().user("q").advisors(SessionAdvisor.session("t")));
		assertThat(response.getResult().getOutput().getText()).isNull();
		assertThat(response.getResult().getMetadata().getFinishReason()).isEqualTo("approvalRequired");
		assertThat(SessionAdvisor.turn(response))
			.hasValueSatisfying((turn) -> assertThat(turn.turn().status()).isEqualTo(TurnStatus.AWAITING_APPROVAL));
		List<Approval> pending = SessionAdvisor.pending(response);
		assertThat(pending).extracting(Approval::arguments).containsExactly("{\"id\":1}", "{\"id\":3}");
		assertThat(store.messages(SessionKey.of("t"))).isEmpty();
		response = setup.response(chat.prompt().advisors(SessionAdvisor.session("t")));
		assertThat(SessionAdvisor.pending(response)).hasSize(2);
		approvals.approve(pending.get(0), "anna");
		response = setup.response(chat.prompt().advisors(SessionAdvisor.session("t")));
		assertThat(SessionAdvisor.pending(response)).hasSize(1);
		assertThat(cancelled).containsExactly(1);
		approvals.decide(pending.get(1), Decision.reject("bob", "no"));
		model.says("done");
		assertThat(setup.content(chat.prompt().advisors(SessionAdvisor.session("t")))).isEqualTo("done");
		assertThat(cancelled).containsExactly(1);
		assertThat(model.lastRequestLines())
			.isEqualTo(setup.lines("user: q", "assistant cancel({\"id\":1}) look({\"id\":2}) cancel({\"id\":3})",
					"tool cancel=\"cancelled 1\" look=\"looked 2\" cancel=no"));
		assertThat(ScriptedChatModel.Lines.of(store.messages(SessionKey.of("t")))).hasSize(4);
		assertThat(approvals.ledger(SessionKey.of("t"))).extracting(Approval::status)
			.containsExactly(ApprovalStatus.DONE, ApprovalStatus.DONE, ApprovalStatus.REJECTED);
		assertThat(approvals.pending(SessionKey.of("t"))).isEmpty();
	}

}
