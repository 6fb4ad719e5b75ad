package io.sessionkit.stream;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.test.CapturedLog;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the log about a turn that cannot be continued, and about calls that hang.
 */
@Isolated
class TurnContinuationsLogTests {

	private static final SessionKey KEY = SessionKey.of("ada", "thread");

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final Conversations conversations = Conversations.of(TestStores.MEMORY.create());

	private final Approvals approvals = Approvals.builder(this.conversations)
		.tools(Set.of("cancel"))
		.continuations(true)
		.build();

	private final ChatClient chat = ChatClient.builder(this.model)
		.defaultAdvisors(SessionAdvisor.builder(this.conversations).approvals(this.approvals).build())
		.build();

	private Consumer<ScriptedChatModel> answer = (model) -> {
	};

	@RegisterExtension
	private final CapturedLog log = CapturedLog.of(TurnContinuations.class);

	@AfterEach
	void close() {
		this.conversations.close();
	}

	/** The exception of a model or a tool may quote what was said. */
	@Test
	void callThatOffersOtherToolsIsWarnedOfInFullAndAModelThatFailsByItsClassAlone() {
		assertThat(warningOf(this.chat.prompt())).contains("ResumeRefusedException: The turn that waits on session",
				"This call does not offer tool 'cancel'.");
		this.approvals.cancel(KEY);
		this.log.events().clear();
		this.answer = (model) -> model.fails(new IllegalStateException("secret"));
		assertThat(warningOf(offering())).contains("java.lang.IllegalStateException.").doesNotContain("secret");
		this.approvals.cancel(KEY);
		this.log.events().clear();
		this.answer = (model) -> model.says("");
		assertThat(warningOf(offering())).contains("The reply of the model, as hooks have left it, is empty.");
	}

	@Test
	void approvalsThatStoreNoNoticesOfDecisionsAreWarnedOf() {
		TurnContinuations.builder(this.conversations, this.approvals, (turn) -> offering()).start().close();
		assertThat(this.log.events()).isEmpty();
		TurnContinuations.builder(this.conversations, Approvals.of(this.conversations), (turn) -> offering())
			.start()
			.close();
		assertThat(this.log.events()).hasSize(1);
		assertThat(this.log.events().get(0).getFormattedMessage()).contains("Approvals.Builder.continuations(true)");
	}

	@Test
	void callsThatHoldAllThreadsForLongAreWarnedOfOnce() {
		CompletableFuture<Void> hangs = new CompletableFuture<>();
		this.answer = (model) -> model.step((prompt) -> {
			hangs.join();
			return Flux.just(model.chunk("done", List.of(), true));
		});
		this.model.calls(new ToolCall("c1", "function", "cancel", "{}"));
		offering().user("q").advisors(SessionAdvisor.session(KEY)).call().content();
		try (TurnContinuations running = TurnContinuations
			.builder(this.conversations, this.approvals, (turn) -> offering())
			.interval(Duration.ofMillis(20))
			.threads(1)
			.start()) {
			this.answer.accept(this.model);
			this.approvals.approve(this.approvals.pending(KEY).get(0), "anna");
			Awaitility.await().during(Duration.ofMillis(500)).until(() -> this.log.events().size() <= 1);
			Awaitility.await().until(() -> this.log.events().size() == 1);
			hangs.complete(null);
		}
		assertThat(this.log.events()).singleElement()
			.satisfies((event) -> assertThat(event.getFormattedMessage())
				.contains("held all 1 threads at 10 looks in a row, one each 20ms"));
	}

	private String warningOf(ChatClient.ChatClientRequestSpec continuation) {
		this.model.calls(new ToolCall("c1", "function", "cancel", "{}"));
		offering().user("q").advisors(SessionAdvisor.session(KEY)).call().content();
		try (TurnContinuations running = TurnContinuations
			.builder(this.conversations, this.approvals, (turn) -> continuation)
			.start()) {
			this.answer.accept(this.model);
			this.approvals.approve(this.approvals.pending(KEY).get(0), "anna");
			Awaitility.await().until(() -> !this.log.events().isEmpty());
		}
		return List.copyOf(this.log.events()).get(0).getFormattedMessage();
	}

	private ChatClient.ChatClientRequestSpec offering() {
		return this.chat.prompt()
			.toolCallbacks(FunctionToolCallback.builder("cancel", () -> "ok").description("Cancels").build());
	}

}
