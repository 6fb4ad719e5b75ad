package io.sessionkit.conversation;

import java.time.Duration;

import io.sessionkit.test.CapturedLog;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the log about notices that nobody stores.
 */
@Isolated
class ApprovalNoticesLogTests {

	private final Conversations conversations = Conversations.of(TestStores.MEMORY.create());

	@RegisterExtension
	private final CapturedLog log = CapturedLog.of(ApprovalNotices.class);

	@AfterEach
	void close() {
		this.conversations.close();
	}

	@Test
	void approvalsThatStoreNoNoticesAreWarnedOf() {
		deliver(Approvals.builder(this.conversations).notices(true).build());
		assertThat(this.log.events()).isEmpty();
		deliver(Approvals.of(this.conversations));
		assertThat(this.log.events()).hasSize(1);
		assertThat(this.log.events().get(0).getFormattedMessage()).contains("Approvals.Builder.notices(true)");
	}

	private static void deliver(Approvals approvals) {
		ApprovalNotices.builder(approvals, (notice) -> {
		}).interval(Duration.ofDays(1)).start().close();
	}

}
