package io.sessionkit.docs;

import io.sessionkit.ToolTimeout;

import org.springframework.ai.tool.annotation.Tool;

/**
 * The code of {@code docs/tools.md}.
 */
final class ToolSnippets {

	private ToolSnippets() {
	}

	interface Shop {

		String cancel(String order);

	}

	// tag::annotation
	record OrderTools(Shop shop) {

		@Tool(description = "Cancels an order")
		@ToolTimeout(30)
		String cancelOrder(String order) {
			return this.shop.cancel(order);
		}

	}
	// end::annotation

}
