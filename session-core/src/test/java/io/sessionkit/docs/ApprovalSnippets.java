package io.sessionkit.docs;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.ApprovalTexts;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.DecisionRefusedException;
import io.sessionkit.approval.InboxQuery;
import io.sessionkit.approval.RequiresApproval;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.StandingDecision;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.approval.ToolRequest;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.store.Page;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.mcp.McpToolNamePrefixGenerator;
import org.springframework.ai.tool.annotation.Tool;

/**
 * The code of {@code docs/approvals.md} and {@code docs/continuing.md}.
 */
final class ApprovalSnippets {

	private ApprovalSnippets() {
	}

	/** The service that the tools of the page work on. */
	interface Shop {

		String cancel(String order);

		String refund(String order, int amount, String idempotencyKey);

	}

	// tag::annotation
	static final class OrderTools {

		private final Shop shop;

		private final Approvals approvals;

		OrderTools(Shop shop, Approvals approvals) {
			this.shop = shop;
			this.approvals = approvals;
		}

		@Tool(description = "Cancels an order")
		@RequiresApproval(description = "Cannot be taken back")
		String cancelOrder(String order) {
			return this.shop.cancel(order);
		}

		@Tool(description = "Pays money back")
		@RequiresApproval(condition = "#amount > 100")
		String refund(String order, int amount) {
			// keyed by the order, two refunds that run unasked would be one
			String key = this.approvals.running().map(ToolApproval::id).orElseGet(() -> UUID.randomUUID().toString());
			return this.shop.refund(order, amount, key);
		}

	}
	// end::annotation

	// tag::policy
	static class AccountsAndMail implements ApprovalPolicy {

		@Override
		public boolean appliesTo(String tool) {
			return Set.of("delete_account", "send_mail").contains(tool);
		}

		@Override
		public Ruling rule(ToolRequest request) {
			if (request.call().name().equals("delete_account")) {
				return Ruling.deny("Accounts are deleted by the support team only.");
			}
			return "staff".equals(request.parameters().get("role")) ? Ruling.allow() : Ruling.ask();
		}

	}
	// end::policy

	static McpToolNamePrefixGenerator toolNames() {
		// tag::tool-names
		return (connection, tool) -> {
			// such as "spring-ai-mcp-client - bank"
			String client = connection.clientInfo().name();
			return client.substring(client.lastIndexOf(' ') + 1) + "_" + tool.name();
		};
		// end::tool-names
	}

	// tag::server
	static class ToolsOfTheBank implements ApprovalPolicy {

		@Override
		public boolean appliesTo(String tool) {
			return tool.startsWith("bank_");
		}

		@Override
		public Ruling rule(ToolRequest request) {
			return request.call().name().equals("bank_balance") ? Ruling.allow() : Ruling.ask();
		}

	}
	// end::server

	static @Nullable String ask(ChatClient chat, String thread, String text) {
		// tag::ask
		ChatResponse response = chat.prompt().user(text).advisors(SessionAdvisor.session(thread)).call().chatResponse();
		List<ToolApproval> waiting = SessionAdvisor.pending(response);
		if (!waiting.isEmpty()) {
			return "Waiting for approval: " + waiting.get(0).tool() + waiting.get(0).arguments();
		}
		// end::ask
		return response.getResult().getOutput().getText();
	}

	// tag::decide
	static String approve(Approvals approvals, SessionKey key, String id, String shown, String user) {
		try {
			approvals.decide(key, id, shown, Decision.approve(user));
			return "approved";
		}
		catch (DecisionRefusedException ex) {
			return ex.status() + ((ex.decidedBy() != null) ? " by " + ex.decidedBy() : "");
		}
	}
	// end::decide

	static @Nullable String resume(ChatClient chat, String thread) {
		// tag::resume
		return chat.prompt().advisors(SessionAdvisor.session(thread)).call().content();
		// end::resume
	}

	static void others(Approvals approvals, ToolApproval call, String user) {
		// tag::others
		approvals.decide(call, Decision.approve(user).withArguments("{\"order\":\"o8\"}"));
		// end::others
	}

	static void reject(Approvals approvals, ToolApproval call, String user) {
		// tag::reject
		approvals.decide(call, Decision.reject(user, "The order was shipped already."));
		// end::reject
	}

	static void always(Approvals approvals, ToolApproval call, String user) {
		// tag::always
		approvals.decide(call, Decision.approve(user).always(StandingDecision.Scope.ARGUMENTS));
		// end::always
	}

	static void takeBack(Approvals approvals, SessionKey key) {
		// tag::revoke
		approvals.standingDecisions(key).forEach(approvals::revoke);
		// end::revoke
	}

	static List<ToolApproval> inbox(Approvals approvals, List<String> team) {
		// tag::deciders
		InboxQuery query = InboxQuery.of(team).tools(Set.of("cancelOrder")).waitingFor(Duration.ofMinutes(5));
		return approvals.inbox(query, Page.first(20));
		// end::deciders
	}

	static List<ToolApproval> inboxOfAll(Approvals approvals) {
		// tag::all-owners
		return approvals.inbox(InboxQuery.ofAnyOwner(), Page.first(20));
		// end::all-owners
	}

	static List<ToolApproval> inbox(Approvals approvals, String owner) {
		// tag::inbox
		return approvals.pendingOf(owner, Page.first(20));
		// end::inbox
	}

	static void uncertain(Approvals approvals, ToolApproval call, String user) {
		// tag::uncertain
		approvals.decide(call, Decision.answer(user, "The refund was paid; I looked it up."));
		// end::uncertain
	}

	static ApprovalTexts texts() {
		// tag::texts
		return new ApprovalTexts() {

			@Override
			public String expired(ToolApproval approval) {
				return "Nobody was there to approve " + approval.tool() + ". Offer the user to call support.";
			}

		};
		// end::texts
	}

}
