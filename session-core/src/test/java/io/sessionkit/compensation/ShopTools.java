package io.sessionkit.compensation;

import java.util.List;
import java.util.function.Consumer;

import io.sessionkit.approval.RequiresApproval;

import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.annotation.ToolParam;

/**
 * The tools of a shop. Each says what it does before it does it, so that a test can make
 * it fail.
 */
public final class ShopTools {

	private final Consumer<String> runs;

	ShopTools(Consumer<String> runs) {
		this.runs = runs;
	}

	/** The tools of a shop. */
	static List<ToolCallback> of(Consumer<String> runs) {
		return List.of(ToolCallbacks.from(new ShopTools(runs)));
	}

	private String run(String what) {
		this.runs.accept(what);
		return "ok " + what;
	}

	@Tool(name = "cancel_order")
	@CompensatedBy("restore_order")
	public String cancelOrder(int order) {
		return run("cancel " + order);
	}

	@Tool(name = "restore_order")
	public String restoreOrder(int order, @ToolParam(required = false) String result) {
		return run("restore " + order + " (" + result + ")");
	}

	@Tool(name = "pay_back")
	@CompensatedBy("charge")
	public String payBack(int order, int amount) {
		return run("pay back " + amount + " for " + order);
	}

	@Tool(name = "charge")
	@RequiresApproval(description = "Takes money")
	public String charge(int amount) {
		return run("charge " + amount);
	}

	@Tool(name = "delete_order")
	@RequiresApproval
	@CompensatedBy("restore_order")
	public String deleteOrder(int order) {
		return run("delete " + order);
	}

	@Tool(name = "look_up")
	@CompensatedBy(CompensatedBy.NOTHING)
	public String lookUp(int order) {
		return run("look up " + order);
	}

	@Tool(name = "send_mail")
	public String sendMail(String to) {
		return run("mail " + to);
	}

	@Tool(name = "ship")
	@CompensatedBy("call_back")
	public String ship(int order) {
		return run("ship " + order);
	}

}
