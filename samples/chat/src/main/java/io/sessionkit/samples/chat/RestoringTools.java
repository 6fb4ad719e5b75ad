package io.sessionkit.samples.chat;

import java.util.ArrayList;
import java.util.List;

import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.annotation.ToolParam;

/**
 * Takes back what {@link OrderTools} have done. The model is not offered these: they run
 * when a person takes turns back, and only with consent of their own. Safe for use by
 * many threads.
 */
final class RestoringTools {

	static final String RESTORE_ORDER = "restore_order";

	private final OrderTools orders;

	private final List<String> restored = new ArrayList<>();

	RestoringTools(OrderTools orders) {
		this.orders = orders;
	}

	/**
	 * Makes an order valid again. It cannot always do so, as in life: the articles of
	 * orders whose number ends with 9 are gone as soon as they are free.
	 */
	@Tool(name = RESTORE_ORDER, description = "Makes a cancelled order valid again.")
	synchronized String restoreOrder(@ToolParam(description = "the number of the order") String orderNumber) {
		if (orderNumber.endsWith("9")) {
			throw new IllegalStateException(
					"The last article of order " + orderNumber + " was sold to somebody else meanwhile.");
		}
		this.orders.restore(orderNumber);
		this.restored.add(orderNumber);
		return "Order " + orderNumber + " is valid again.";
	}

	/**
	 * Returns the orders that were restored since the application was started, one entry
	 * for each run of the tool.
	 */
	synchronized List<String> restored() {
		return List.copyOf(this.restored);
	}

}
