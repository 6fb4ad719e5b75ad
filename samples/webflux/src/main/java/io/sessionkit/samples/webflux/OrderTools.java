package io.sessionkit.samples.webflux;

import org.springframework.ai.tool.annotation.Tool;
import org.springframework.stereotype.Component;

/**
 * The tool of the demo. Who may decide on its calls is said in {@code application.yml}.
 */
@Component
class OrderTools {

	@Tool(name = "cancel_order", description = "Cancels an order")
	String cancel(int id) {
		return "order " + id + " is cancelled";
	}

}
