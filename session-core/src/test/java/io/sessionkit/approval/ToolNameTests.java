package io.sessionkit.approval;

import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ToolNameTests {

	@ParameterizedTest
	@ValueSource(strings = { "*", "", "cancel_order,refund", "cancel order", "delete_*", "${tool}", "'cancel'" })
	void nameThatNoToolCanHaveIsRefused(String name) {
		assertThat(ToolName.isPossible(name)).isFalse();
		assertThatIllegalArgumentException().isThrownBy(() -> ToolName.check(name, "The list"))
			.withMessageStartingWith("The list has the name '" + name + "'")
			.withMessageContaining("Write the exact names");
	}

	@ParameterizedTest
	@ValueSource(strings = { "cancel_order", "shop.cancel-order", "löschen", "mcp/cancel:1" })
	void nameThatAToolCanHaveIsAccepted(String name) {
		assertThat(ToolName.isPossible(name)).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "alt_1_cancel, cancel", "alt_12_cancel_order, cancel_order", "cancel, cancel",
			"alt_cancel, alt_cancel", "alt_1_, alt_1_", "salt_1_cancel, salt_1_cancel",
			"alt_1_alt_2_cancel, alt_2_cancel" })
	void whatSpringAiPutsBeforeANameIsNoPartOfTheOriginalOne(String tool, String original) {
		assertThat(ToolName.original(tool)).isEqualTo(original);
	}

	@Test
	void exactNameTakesPrecedenceOverTheOriginalOne() {
		Map<String, Integer> limits = Map.of("cancel", 1, "alt_2_cancel", 2);
		assertThat(ToolName.find(limits, "cancel")).isEqualTo(1);
		assertThat(ToolName.find(limits, "alt_1_cancel")).isEqualTo(1);
		assertThat(ToolName.find(limits, "alt_2_cancel")).isEqualTo(2);
		assertThat(ToolName.find(limits, "alt_1_refund")).isNull();
	}

	@Test
	void inboxOfAToolHasTheCallsOfThoseThatWereRenamedFromIt() {
		InboxQuery query = InboxQuery.ofAnyOwner().tools(Set.of("cancel"));
		assertThat(query.isFor("cancel")).isTrue();
		assertThat(query.isFor("alt_1_cancel")).isTrue();
		assertThat(query.isFor("refund")).isFalse();
		assertThat(InboxQuery.ofAnyOwner().isFor("refund")).isTrue();
	}

}
