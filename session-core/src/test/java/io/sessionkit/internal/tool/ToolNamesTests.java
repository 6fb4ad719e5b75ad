package io.sessionkit.internal.tool;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class ToolNamesTests {

	@ParameterizedTest
	@CsvSource({ "cancelOrder, cancel_order", "cancel-order, cancel_order", "CANCEL_ORDER, cancel_order",
			"cancelorder, cancelOrder", "cancel.order, cancel order", "getURLParts, get_url_parts" })
	void caseAndSeparatorsMakeNoOtherName(String one, String other) {
		assertAlike(one, other);
	}

	@ParameterizedTest
	@CsvSource({ "cancel_orders, cancel_order", "refunds, refund", "cancelsOrder, cancelOrder" })
	void pluralsAreAlike(String one, String other) {
		assertAlike(one, other);
	}

	@ParameterizedTest
	@CsvSource({ "order_cancel, cancelOrder", "orders-cancel, cancelOrder" })
	void theSameWordsInAnotherOrderAreAlike(String one, String other) {
		assertAlike(one, other);
	}

	@ParameterizedTest
	@CsvSource({ "cancle, cancel", "cancel_ordre, cancel_order", "cancel_oder, cancel_order",
			"cancell_order, cancel_order", "canzel_order, cancel_order", "cansel_ordre2x, cancel_order2x",
			"delete_acount_foreever, delete_account_forever" })
	void typosAreAlike(String one, String other) {
		assertAlike(one, other);
	}

	@ParameterizedTest
	@CsvSource({ "get_order, set_order", "activate_account, deactivate_account", "load_1, load_2", "pay, say",
			"look, lock", "lock_door, unlock_door", "refund, wipe", "cancel, cancel_order", "send_mail, read_mail",
			"import_data, export_data", "pass, pas" })
	void otherToolsAreNotAlike(String one, String other) {
		assertThat(ToolNames.areAlike(one, other)).isFalse();
		assertThat(ToolNames.areAlike(other, one)).isFalse();
	}

	private static void assertAlike(String one, String other) {
		assertThat(ToolNames.areAlike(one, other)).isTrue();
		assertThat(ToolNames.areAlike(other, one)).isTrue();
	}

}
