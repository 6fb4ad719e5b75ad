package io.sessionkit.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.modelcontextprotocol.spec.McpSchema;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.approval.ToolRequest;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.mcp.McpConnectionInfo;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The code of {@code docs/approvals.md} and {@code docs/continuing.md} does what the
 * pages say.
 */
class ApprovalSnippetsTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final Conversations conversations = Conversations.of(this.store);

	private final Approvals approvals = Approvals.builder(this.conversations)
		.policies(List.of(new ApprovalSnippets.AccountsAndMail()))
		.texts(ApprovalSnippets.texts())
		.build();

	private final List<String> done = new ArrayList<>();

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ChatClient chat = ChatClient.builder(this.model)
		.defaultAdvisors(SessionAdvisor.builder(this.conversations).approvals(this.approvals).build())
		.defaultTools(new ApprovalSnippets.OrderTools(new ApprovalSnippets.Shop() {

			@Override
			public String cancel(String order) {
				ApprovalSnippetsTests.this.done.add("cancel " + order);
				return "cancelled";
			}

			@Override
			public String refund(String order, int amount, String key) {
				ApprovalSnippetsTests.this.done.add("refund " + order + " " + amount + " " + key);
				return "paid";
			}

		}, this.approvals))
		.build();

	@Test
	void callWaitsIsApprovedOnceAndGoesOn() {
		ToolApproval waiting = paused("cancelOrder", "{\"order\":\"o7\"}",
				"Waiting for approval: cancelOrder{\"order\":\"o7\"}");
		assertThat(waiting.description()).isEqualTo("Cannot be taken back");
		assertThat(ApprovalSnippets.inbox(this.approvals, "")).containsExactly(waiting);
		assertThat(ApprovalSnippets.inbox(this.approvals, List.of("ada"))).isEmpty();
		assertThat(ApprovalSnippets.inboxOfAll(this.approvals)).containsExactly(waiting);
		assertThat(this.done).isEmpty();
		assertThat(ApprovalSnippets.approve(this.approvals, KEY, waiting.id(), "other", "ada")).isEqualTo("PROPOSED");
		assertThat(ApprovalSnippets.approve(this.approvals, KEY, waiting.id(), waiting.digest(), "ada"))
			.isEqualTo("approved");
		assertThat(ApprovalSnippets.approve(this.approvals, KEY, waiting.id(), waiting.digest(), "bob"))
			.isEqualTo("APPROVED by ada");
		this.model.says("It is cancelled.");
		assertThat(ApprovalSnippets.resume(this.chat, "t1")).isEqualTo("It is cancelled.");
		assertThat(this.done).containsExactly("cancel o7");
	}

	@Test
	void smallRefundRunsAtOnceAndALargeOneWaitsAndKnowsItsKey() {
		this.model.calls(call("refund", "{\"order\":\"o7\",\"amount\":100}")).says("paid");
		assertThat(ApprovalSnippets.ask(this.chat, "t1", "refund")).isEqualTo("paid");
		ToolApproval waiting = paused("refund", "{\"order\":\"o7\",\"amount\":101}",
				"Waiting for approval: refund{\"order\":\"o7\",\"amount\":101}");
		this.approvals.approve(waiting, "ada");
		this.model.says("paid");
		ApprovalSnippets.resume(this.chat, "t1");
		assertThat(this.done).hasSize(2).last().isEqualTo("refund o7 101 " + waiting.id());
	}

	@Test
	void twoRefundsOfOneOrderThatNobodyHasToApproveHaveTwoKeys() {
		for (int amount : new int[] { 50, 30 }) {
			this.model.calls(call("refund", "{\"order\":\"o7\",\"amount\":" + amount + "}")).says("paid");
			assertThat(ApprovalSnippets.ask(this.chat, "t1", "refund")).isEqualTo("paid");
		}
		assertThat(this.done).extracting((line) -> line.split(" ")[2]).containsExactly("50", "30");
		assertThat(this.done).extracting((line) -> line.split(" ")[3]).doesNotHaveDuplicates();
	}

	@Test
	void otherArgumentsRunAndTheModelIsTold() {
		ToolApproval waiting = paused("cancelOrder", "{\"order\":\"o7\"}", null);
		ApprovalSnippets.others(this.approvals, waiting, "ada");
		this.model.says("done");
		ApprovalSnippets.resume(this.chat, "t1");
		assertThat(this.done).containsExactly("cancel o8");
		assertThat(this.model.lastRequestLines().get(2)).contains("{\"order\":\"o8\"}").contains("cancelled");
		ToolApproval.Decided decision = this.approvals.ledger(KEY).get(0).decision();
		assertThat(decision).isNotNull();
		assertThat(decision.digest()).isNotEqualTo(waiting.digest());
	}

	@Test
	void rejectionIsWhatTheModelReads() {
		ApprovalSnippets.reject(this.approvals, paused("cancelOrder", "{\"order\":\"o7\"}", null), "ada");
		this.model.says("Sorry.");
		ApprovalSnippets.resume(this.chat, "t1");
		assertThat(this.model.lastRequestLines().get(2)).isEqualTo("tool cancelOrder=The order was shipped already.");
		assertThat(this.done).isEmpty();
	}

	@Test
	void alwaysIsForExactlyTheseArgumentsUntilItIsRevoked() {
		ApprovalSnippets.always(this.approvals, paused("cancelOrder", "{\"order\":\"o7\"}", null), "ada");
		this.model.calls(call("cancelOrder", "{ \"order\" : \"o7\" }")).says("again");
		ApprovalSnippets.resume(this.chat, "t1");
		assertThat(this.done).containsExactly("cancel o7", "cancel o7");
		paused("cancelOrder", "{\"order\":\"o8\"}", "Waiting for approval: cancelOrder{\"order\":\"o8\"}");
		this.approvals.cancel(KEY);
		ApprovalSnippets.takeBack(this.approvals, KEY);
		assertThat(this.approvals.standingDecisions(KEY)).isEmpty();
		paused("cancelOrder", "{\"order\":\"o7\"}", "Waiting for approval: cancelOrder{\"order\":\"o7\"}");
		assertThat(this.done).hasSize(2);
	}

	@Test
	void policyDeniesWithAReason() {
		ChatClient deleting = this.chat.mutate()
			.defaultToolCallbacks(FunctionToolCallback.builder("delete_account", (String name) -> "deleted")
				.description("deletes")
				.inputType(String.class)
				.build())
			.build();
		this.model.calls(call("delete_account", "{}")).says("I cannot.");
		assertThat(ApprovalSnippets.ask(deleting, "t1", "delete me")).isEqualTo("I cannot.");
		assertThat(this.model.lastRequestLines().get(2))
			.isEqualTo("tool delete_account=Accounts are deleted by the support team only.");
		assertThat(this.approvals.ledger(KEY)).extracting(ToolApproval::status).containsExactly(ApprovalStatus.DENIED);
		assertThat(Lines.of(this.store.messages(KEY))).hasSize(4);
	}

	@Test
	void malformedCallOfAToolThatThePolicyIsNotAboutRunsUnasked() {
		this.model.calls(call("findOrder", "{\"number\":\"17\"}")).says("There it is.");
		assertThat(ApprovalSnippets.ask(this.chat.mutate().defaultTools(new Finder()).build(), "t1", "find 17"))
			.isEqualTo("There it is.");
		assertThat(this.model.lastRequestLines().get(2)).isEqualTo("tool findOrder=\"order 17\"");
		assertThat(this.approvals.pending(KEY)).isEmpty();
	}

	/** A tool that nobody has to approve. */
	static final class Finder {

		@Tool(description = "Finds an order")
		String findOrder(int number) {
			return "order " + number;
		}

	}

	@Test
	void toolsOfAServerAreNamedByItAndRuledOnTogether() {
		McpConnectionInfo bank = McpConnectionInfo.builder()
			.clientCapabilities(McpSchema.ClientCapabilities.builder().build())
			.clientInfo(new McpSchema.Implementation("spring-ai-mcp-client - bank", "1"))
			.build();
		String cancel = ApprovalSnippets.toolNames()
			.prefixedToolName(bank, McpSchema.Tool.builder("cancel", Map.of("type", "object")).build());
		assertThat(cancel).isEqualTo("bank_cancel");
		ApprovalPolicy policy = new ApprovalSnippets.ToolsOfTheBank();
		assertThat(policy.appliesTo("shop_cancel")).isFalse();
		assertThat(policy.appliesTo(cancel)).isTrue();
		assertThat(policy.rule(request(cancel))).isEqualTo(Ruling.ask());
		assertThat(policy.rule(request("bank_balance"))).isEqualTo(Ruling.allow());
	}

	private static ToolRequest request(String tool) {
		return ToolRequest.of(tool, Map.of()).key(KEY);
	}

	private ToolApproval paused(String tool, String arguments, String reply) {
		this.model.calls(call(tool, arguments));
		String said = ApprovalSnippets.ask(this.chat, "t1", "please");
		if (reply != null) {
			assertThat(said).isEqualTo(reply);
		}
		return this.approvals.pending(KEY).get(0);
	}

	private static ToolCall call(String tool, String arguments) {
		return new ToolCall("c1", "function", tool, arguments);
	}

}
