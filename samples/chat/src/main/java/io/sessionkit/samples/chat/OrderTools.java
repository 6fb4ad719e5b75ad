package io.sessionkit.samples.chat;

import java.util.ArrayList;
import java.util.List;

import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.annotation.ToolParam;

/**
 * A tool that cannot be undone, so a person decides on each call: {@code
 * sessionkit.approval.tools} names it. Safe for use by many threads.
 */
final class OrderTools {

	static final String CANCEL_ORDER = "cancel_order";

	private final List<String> cancelled = new ArrayList<>();

	@Tool(name = CANCEL_ORDER, description = "Cancels an order for good. Call it once for each order.")
	synchronized String cancelOrder(@ToolParam(description = "the number of the order") String orderNumber,
			@ToolParam(description = "why it is cancelled") String reason) {
		this.cancelled.add(orderNumber);
		return "Order " + orderNumber + " is cancelled (" + reason + ").";
	}

	/**
	 * Returns the orders that were cancelled since the application was started, one entry
	 * for each run of the tool.
	 */
	synchronized List<String> cancelled() {
		return List.copyOf(this.cancelled);
	}

}
