package io.sessionkit.samples.chat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.sessionkit.compensation.CompensatedBy;

import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.annotation.ToolParam;

/**
 * The tools of a shop. A person decides on each call that cancels an order: {@code
 * sessionkit.approval.tools} names the tool. What it has done can be taken back, see
 * {@link RestoringTools}. Safe for use by many threads.
 */
final class OrderTools {

	static final String CANCEL_ORDER = "cancel_order";

	static final String CHECK_ORDER = "check_order";

	private final List<String> cancelled = new ArrayList<>();

	private final Duration lookUp;

	/**
	 * @param lookUp the time that it takes to look an order up
	 */
	OrderTools(Duration lookUp) {
		this.lookUp = lookUp;
	}

	@CompensatedBy(RestoringTools.RESTORE_ORDER)
	@Tool(name = CANCEL_ORDER, description = "Cancels an order. Call it once for each order.")
	synchronized String cancelOrder(@ToolParam(description = "the number of the order") String orderNumber,
			@ToolParam(description = "why it is cancelled") String reason) {
		this.cancelled.add(orderNumber);
		return "Order " + orderNumber + " is cancelled (" + reason + ").";
	}

	@CompensatedBy(CompensatedBy.NOTHING)
	@Tool(name = CHECK_ORDER, description = "Looks an order up, which takes a moment. Call it once for each order.")
	String checkOrder(@ToolParam(description = "the number of the order") String orderNumber)
			throws InterruptedException {
		Thread.sleep(this.lookUp.toMillis());
		return "Order " + orderNumber + " " + state(orderNumber) + ".";
	}

	private synchronized String state(String orderNumber) {
		if (this.cancelled.contains(orderNumber)) {
			return "is cancelled";
		}
		return switch (Math.floorMod(orderNumber.hashCode(), 3)) {
			case 0 -> "is being packed";
			case 1 -> "was sent yesterday";
			default -> "waits for its payment";
		};
	}

	synchronized void restore(String orderNumber) {
		this.cancelled.remove(orderNumber);
	}

	/**
	 * Returns the orders that were cancelled since the application was started, and not
	 * restored, one entry for each run of the tool.
	 */
	synchronized List<String> cancelled() {
		return List.copyOf(this.cancelled);
	}

}
