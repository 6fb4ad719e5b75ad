package io.sessionkit.docs;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.compensation.RewindPlan;
import io.sessionkit.compensation.RewindReport.Status;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Compensations;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The code of {@code docs/compensation.md} does what the page says.
 */
class CompensationSnippetsTests {

	private final Conversations conversations = Conversations
		.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final Approvals approvals = Approvals.of(this.conversations);

	private final RecordingShop shop = new RecordingShop();

	private final CompensationSnippets.OrderTools orders = new CompensationSnippets.OrderTools(this.shop,
			this.approvals);

	private final Compensations compensations = CompensationSnippets.configured(this.conversations, this.approvals,
			this.orders);

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final SessionKey key = SessionKey.of("ada", "t1");

	/**
	 * Notes what it is told.
	 */
	private static final class RecordingShop implements CompensationSnippets.Shop {

		private final List<String> calls = new ArrayList<>();

		private boolean down;

		private String note(String call) {
			if (this.down) {
				throw new IllegalStateException("the shop is closed");
			}
			this.calls.add(call);
			return "ok";
		}

		@Override
		public String cancel(String order) {
			return note("cancel " + order);
		}

		@Override
		public String restore(String order) {
			return note("restore " + order);
		}

		@Override
		public String payBack(String order, int amount) {
			return note("pay back " + amount);
		}

		@Override
		public String charge(String order, int amount, String key) {
			assertThat(key).hasSize(32);
			return note("charge " + amount);
		}

	}

	private void turn(String tool, String arguments) {
		this.model.calls(new ToolCall("c1", "function", tool, arguments)).says("done");
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(this.conversations).approvals(this.approvals).build())
			.build()
			.prompt()
			.user("question")
			.tools(this.orders)
			.advisors(SessionAdvisor.session(this.key))
			.call()
			.content();
	}

	@Test
	void effectsAreTakenBackAsDecided() {
		turn("cancelOrder", "{\"order\":\"o7\"}");
		turn("payBack", "{\"order\":\"o7\",\"amount\":50}");
		assertThat(CompensationSnippets.rewind(this.compensations, this.key).status()).isEqualTo(Status.WAITING);
		List<ToolApproval> inbox = CompensationSnippets.inbox(this.compensations, "ada");
		assertThat(inbox).hasSize(1);
		CompensationSnippets.decide(this.compensations, inbox.get(0), "anna");
		assertThat(CompensationSnippets.rewind(this.compensations, this.key).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.shop.calls).containsExactly("cancel o7", "pay back 50", "charge 50", "restore o7");
		assertThat(this.conversations.get(this.key).messages()).isEmpty();
	}

	@Test
	void planIsShownAndConfirmed() {
		turn("cancelOrder", "{\"order\":\"o7\"}");
		this.conversations.get(this.key).addTurn(saidElsewhere(), null);
		RewindPlan plan = this.compensations.plan(this.key, 2);
		assertThat(CompensationSnippets.show(plan)).startsWith("stays: charge. ")
			.endsWith("\nrestoreOrder{\"order\":\"o7\"} APPROVED\n");
		assertThatIllegalStateException()
			.isThrownBy(() -> CompensationSnippets.confirmed(this.compensations, this.key, 1, plan.digest()));
		assertThat(CompensationSnippets.confirmed(this.compensations, this.key, 2, plan.digest()).status())
			.isEqualTo(Status.COMPLETED);
		assertThat(this.shop.calls).containsExactly("cancel o7", "restore o7");
	}

	private static List<Message> saidElsewhere() {
		ToolCall charge = new ToolCall("c1", "function", "charge", "{\"order\":\"o7\",\"amount\":50}");
		return List.of(new UserMessage("question"),
				AssistantMessage.builder().content("").toolCalls(List.of(charge)).build(),
				ToolResponseMessage.builder().responses(List.of(new ToolResponse("c1", "charge", "ok"))).build(),
				new AssistantMessage("done"));
	}

	@Test
	void whatAModelDoesWithTheCompensatingToolsIsTakenBackToo() {
		turn("cancelOrder", "{\"order\":\"o7\"}");
		turn("restoreOrder", "{\"order\":\"o7\"}");
		turn("charge", "{\"order\":\"o7\",\"amount\":50}");
		this.approvals.approve(this.approvals.pending(this.key).get(0), "anna");
		turnGoesOn();
		RewindPlan plan = this.compensations.plan(this.key, 2);
		assertThat(plan.irreversible()).isEmpty();
		assertThat(this.compensations.rewind(plan).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.shop.calls).containsExactly("cancel o7", "restore o7", "charge 50", "pay back 50", "cancel o7");
	}

	private void turnGoesOn() {
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(this.conversations).approvals(this.approvals).build())
			.build()
			.prompt()
			.tools(this.orders)
			.advisors(SessionAdvisor.session(this.key))
			.call()
			.content();
	}

	@Test
	void uncertainOneIsTakenAsDone() {
		turn("cancelOrder", "{\"order\":\"o7\"}");
		turn("lookUp", "{\"order\":\"o7\"}");
		this.shop.down = true;
		assertThat(CompensationSnippets.rewind(this.compensations, this.key).status()).isEqualTo(Status.STOPPED);
		CompensationSnippets.uncertain(this.compensations, this.compensations.pending(this.key).get(0), "anna");
		RewindPlan plan = this.compensations.plan(this.key, 2);
		assertThat(CompensationSnippets.accept(this.compensations, plan).status()).isEqualTo(Status.COMPLETED);
		assertThat(this.shop.calls).containsExactly("cancel o7");
	}

}
