package io.sessionkit.docs;

import java.util.List;
import java.util.Map;
import java.util.UUID;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.RequiresApproval;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.compensation.CompensatedBy;
import io.sessionkit.compensation.Compensation;
import io.sessionkit.compensation.Irreversible;
import io.sessionkit.compensation.RewindPlan;
import io.sessionkit.compensation.RewindReport;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Compensations;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Page;

import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.annotation.Tool;

/**
 * The code of {@code docs/compensation.md}.
 */
final class CompensationSnippets {

	private CompensationSnippets() {
	}

	/**
	 * The service that the tools call.
	 */
	interface Shop {

		String cancel(String order);

		String restore(String order);

		String payBack(String order, int amount);

		String charge(String order, int amount, String key);

	}

	// tag::tools
	static final class OrderTools {

		private final Shop shop;

		private final Approvals approvals;

		OrderTools(Shop shop, Approvals approvals) {
			this.shop = shop;
			this.approvals = approvals;
		}

		// tag::first
		@Tool(description = "Cancels an order")
		@CompensatedBy("restoreOrder")
		String cancelOrder(String order) {
			return this.shop.cancel(order);
		}
		// end::first

		@Tool(description = "Makes a cancelled order valid again")
		@CompensatedBy("cancelOrder")
		String restoreOrder(String order) {
			return this.shop.restore(order);
		}

		@Tool(description = "Pays money back")
		@CompensatedBy("charge")
		String payBack(String order, int amount) {
			return this.shop.payBack(order, amount);
		}

		@Tool(description = "Takes money that was paid back by mistake")
		@RequiresApproval
		@CompensatedBy("payBack")
		String charge(String order, int amount) {
			String key = this.approvals.running().map(ToolApproval::id).orElseGet(() -> UUID.randomUUID().toString());
			return this.shop.charge(order, amount, key);
		}

		@Tool(description = "Looks an order up")
		@CompensatedBy(CompensatedBy.NOTHING)
		String lookUp(String order) {
			return "valid";
		}

	}
	// end::tools

	static RewindReport rewind(Compensations compensations, SessionKey session) {
		// tag::rewind
		RewindPlan plan = compensations.plan(session, 2);
		RewindReport report = compensations.rewind(plan);
		// end::rewind
		return report;
	}

	static String show(RewindPlan plan) {
		StringBuilder page = new StringBuilder();
		// tag::show
		for (Irreversible each : plan.irreversible()) {
			page.append("stays: ").append(each.effect().tool()).append(". ").append(each.detail()).append('\n');
		}
		for (Compensation each : plan.compensations()) {
			page.append(each.call().tool()).append(each.call().effectiveArguments()).append(' ').append(each.status());
			page.append('\n');
		}
		// end::show
		return page.toString();
	}

	static RewindReport accept(Compensations compensations, RewindPlan plan) {
		// tag::accept
		return compensations.rewind(plan.acceptingIrreversible());
		// end::accept
	}

	static RewindReport confirmed(Compensations compensations, SessionKey session, int turns, String shownDigest) {
		// tag::confirmed
		RewindPlan plan = compensations.plan(session, turns);
		if (!plan.digest().equals(shownDigest)) {
			throw new IllegalStateException("Something has changed. Look at the plan again.");
		}
		return compensations.rewind(plan.acceptingIrreversible());
		// end::confirmed
	}

	static List<ToolApproval> inbox(Compensations compensations, String owner) {
		// tag::inbox
		return compensations.pendingOf(owner, Page.first(20));
		// end::inbox
	}

	static void decide(Compensations compensations, ToolApproval call, String user) {
		// tag::decide
		compensations.decide(call, Decision.approve(user));
		// end::decide
	}

	static void uncertain(Compensations compensations, ToolApproval call, String user) {
		// tag::uncertain
		compensations.decide(call, Decision.answer(user, "The order is valid again; I looked it up."));
		// end::uncertain
	}

	static Compensations configured(Conversations conversations, Approvals approvals, OrderTools orders) {
		// tag::configured
		return Compensations.builder(conversations, approvals)
			.tools(ToolCallbacks.from(orders))
			.compensating(Map.of("cancelOrder", "restoreOrder"))
			.build();
		// end::configured
	}

}
