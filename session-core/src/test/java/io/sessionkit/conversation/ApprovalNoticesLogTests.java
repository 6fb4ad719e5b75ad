package io.sessionkit.conversation;

import java.time.Duration;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the log about notices that nobody stores.
 */
@Isolated
class ApprovalNoticesLogTests {

	private final Conversations conversations = Conversations.of(TestStores.MEMORY.create());

	private final Logger logger = (Logger) LoggerFactory.getLogger(ApprovalNotices.class);

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	@BeforeEach
	void begin() {
		this.log.start();
		this.logger.addAppender(this.log);
	}

	@AfterEach
	void close() {
		this.logger.detachAppender(this.log);
		this.conversations.close();
	}

	@Test
	void approvalsThatStoreNoNoticesAreWarnedOf() {
		deliver(Approvals.builder(this.conversations).notices(true).build());
		assertThat(this.log.list).isEmpty();
		deliver(Approvals.of(this.conversations));
		assertThat(this.log.list).hasSize(1);
		assertThat(this.log.list.get(0).getFormattedMessage()).contains("Approvals.Builder.notices(true)");
	}

	private static void deliver(Approvals approvals) {
		ApprovalNotices.start(approvals, (notice) -> {
		}, Duration.ofDays(1)).close();
	}

}
