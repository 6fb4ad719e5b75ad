package io.sessionkit.samples.chat;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.ToolApproval;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests which field a sentence about the arguments of a person names.
 */
class ArgumentFaultTests {

	private static final String SCHEMA = "{\"additionalProperties\":{\"type\":\"object\",\"$ref\":\"#\"}}";

	@Test
	void fieldIsTheOneAtFaultHoweverDeepItIs() {
		String arguments = "{\"order\":".repeat(20) + "{\"deliveryInstructions\":7}" + "}".repeat(20);
		assertThat(ArgumentFault.in(arguments, call(SCHEMA))).singleElement()
			.returns("deliveryInstructions", ArgumentFault::field)
			.returns("type", ArgumentFault::rule)
			.returns("The delivery instructions has the wrong type.", ArgumentFault::sentence);
	}

	/** The stack of a thread may be small. */
	@Test
	void argumentsThatAreNestedTooDeepAreNotSaidToBeNoObject() throws InterruptedException {
		String schema = "{\"$defs\":{\"n\":{\"properties\":{\"c\":{\"allOf\":[{\"anyOf\":[{\"$ref\":\"#/$defs/n\"}]}]}}}},"
				+ "\"$ref\":\"#/$defs/n\"}";
		String arguments = "{\"c\":".repeat(490) + "{}" + "}".repeat(490);
		List<ArgumentFault> faults = new CopyOnWriteArrayList<>();
		Thread thread = new Thread(null, () -> faults.addAll(ArgumentFault.in(arguments, call(schema))), "small",
				256 * 1024);
		thread.start();
		thread.join();
		assertThat(faults).singleElement().returns("The arguments are nested too deep.", ArgumentFault::sentence);
	}

	private static ToolApproval call(String schema) {
		return new ToolApproval(SessionKey.of("t1"), "c1", new ToolApproval.Origin("turn", 1, 0, null),
				new ToolApproval.Call("1", "cancel_order", "{}", "", 1),
				new ToolApproval.Request(null, Instant.EPOCH, null,
						new ToolApproval.Requirements(null, schema, null, null)),
				new ToolApproval.Progress(ApprovalStatus.PROPOSED, List.of(), null, null));
	}

}
