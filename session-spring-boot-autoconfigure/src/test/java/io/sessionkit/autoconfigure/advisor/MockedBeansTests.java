package io.sessionkit.autoconfigure.advisor;

import io.sessionkit.autoconfigure.check.ConfigurationCheckAutoConfiguration;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.autoconfigure.tool.ToolGuardAutoConfiguration;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.SessionStore;
import io.sessionkit.stream.TurnContinuation;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;

import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;

/**
 * Applications whose tests put a mock in the place of a bean, as {@code @MockitoBean}
 * does: under the name of the bean that it replaces.
 */
class MockedBeansTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ConfigurationCheckAutoConfiguration.class,
				MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class,
				SessionAdvisorAutoConfiguration.class, ToolGuardAutoConfiguration.class,
				ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class))
		.withBean(ScriptedChatModel.class)
		.withPropertyValues("sessionkit.approval.tools=refund", "sessionkit.trim.max-turns=3");

	@Test
	void applicationStartsWithAMockedStore() {
		this.runner.withBean("sessionKitStore", SessionStore.class, () -> mock(SessionStore.class))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void applicationStartsWithMockedApprovals() {
		this.runner.withBean("sessionKitApprovals", Approvals.class, () -> mock(Approvals.class))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void applicationThatDeliversNoticesStartsWithMockedApprovals() {
		this.runner.withPropertyValues("sessionkit.approval.notices.enabled=true")
			.withBean("sessionKitApprovals", Approvals.class, () -> mock(Approvals.class))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void applicationThatContinuesTurnsStartsWithMockedApprovals() {
		this.runner.withPropertyValues("sessionkit.approval.continuations.enabled=true")
			.withBean("sessionKitApprovals", Approvals.class, () -> mock(Approvals.class))
			.withBean("continuation", TurnContinuation.class, () -> mock(TurnContinuation.class))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void applicationStartsWithMockedConversations() {
		this.runner
			.withBean("sessionKitConversations", Conversations.class,
					() -> mock(Conversations.class, RETURNS_DEEP_STUBS))
			.run((context) -> assertThat(context).hasNotFailed());
	}

}
