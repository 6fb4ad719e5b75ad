package io.sessionkit.approval;

import java.time.Instant;
import java.util.List;

import io.sessionkit.SessionKey;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests what a call that waits says of arguments.
 */
class ToolApprovalTests {

	private static final String SCHEMA = """
			{"type":"object","properties":{"amount":{"type":"integer"}},"required":["amount"]}""";

	@Test
	void faultsAreThoseOfTheSchemaThatTheToolHadWhenItWasCalled() {
		assertThat(call(SCHEMA).faults("{\"amount\":7}")).isEmpty();
		assertThat(call(SCHEMA).faults("{\"amount\":\"seven\"}")).singleElement()
			.asString()
			.contains("amount", "type")
			.doesNotContain("seven");
	}

	@Test
	void argumentsOfAnUnknownToolAreAnObjectAtLeast() {
		assertThat(call(null).faults("{\"anything\":7}")).isEmpty();
		assertThat(call(null).faults("[7]")).singleElement().asString().contains("JSON object");
	}

	@Test
	void schemaThatCannotBeReadIsAFault() {
		assertThat(call("no schema").faults("{}")).singleElement().asString().contains("cannot be read");
	}

	private static ToolApproval call(@Nullable String schema) {
		return new ToolApproval(SessionKey.of("t1"), "c1", new ToolApproval.Origin("turn", 1, 0, null),
				new ToolApproval.Call("1", "refund", "{}", "", 1),
				new ToolApproval.Request(null, Instant.EPOCH, null,
						new ToolApproval.Requirements(null, schema, null, null)),
				new ToolApproval.Progress(ApprovalStatus.PROPOSED, List.of(), null, null));
	}

}
