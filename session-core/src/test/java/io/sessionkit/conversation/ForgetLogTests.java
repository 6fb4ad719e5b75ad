package io.sessionkit.conversation;

import java.util.List;
import java.util.Set;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.internal.turn.RunningTurn;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.CapturedLog;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests the log about messages that stay although a tool was to forget them.
 */
@Isolated
class ForgetLogTests {

	private final SessionKey key = SessionKey.of("t1");

	private final SessionStore store = TestStores.MEMORY.create();

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final SessionContext context = new SessionContext();

	private final Conversations conversations = Conversations.of(this.store);

	private final Approvals approvals = Approvals.builder(this.conversations).tools(Set.of("t")).build();

	private final ChatClient chat = ChatClient.builder(this.model)
		.defaultAdvisors(SessionAdvisor.builder(this.conversations).approvals(this.approvals).build())
		.defaultTools(SessionAdvisorTests.echo("t"))
		.defaultToolCallbacks(FunctionToolCallback.builder("forget", () -> {
			this.context.forget(0, 2);
			return "forgotten";
		}).description("forgets").build())
		.build();

	@RegisterExtension
	private final CapturedLog log = CapturedLog.of(RunningTurn.class);

	@AfterEach
	void close() {
		this.conversations.close();
	}

	private void goOn() {
		this.chat.prompt().advisors(SessionAdvisor.session(this.key)).call().content();
	}

	/** Its result is told again by the call that continues the turn behind it. */
	@Test
	void messagesThatAToolWasToForgetBeforeItsCallBrokeOffStayAndAreWarnedOf() {
		this.store.add(this.key, List.of(new UserMessage("secret"), new AssistantMessage("there")));
		this.model.calls(SessionAdvisorTests.call("c1", "t", "1"))
			.calls(new ToolCall("c2", "function", "forget", "{}"))
			.fails(new IllegalStateException("down"))
			.says("done");
		this.chat.prompt().user("q").advisors(SessionAdvisor.session(this.key)).call().content();
		this.approvals.approve(this.approvals.pending(this.key).get(0), "anna");
		assertThat(this.log.events()).isEmpty();
		assertThatIllegalStateException().isThrownBy(this::goOn).withMessage("down");
		assertThat(this.log.events()).singleElement()
			.extracting(ILoggingEvent::getFormattedMessage)
			.asString()
			.contains("t1", "stays open", "forget")
			.doesNotContain("secret");
		goOn();
		assertThat(this.log.events()).hasSize(1);
		assertThat(this.store.messages(this.key)).hasSize(8).first().extracting(Message::getText).isEqualTo("secret");
	}

}
