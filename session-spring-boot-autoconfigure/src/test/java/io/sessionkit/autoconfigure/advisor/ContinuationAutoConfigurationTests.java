package io.sessionkit.autoconfigure.advisor;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.access.Caller;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.InboxQuery;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.autoconfigure.ContinuationProperties;
import io.sessionkit.autoconfigure.StartFailure;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.docs.ContinuationSnippets.ContinuationConfiguration;
import io.sessionkit.docs.ContinuationSnippets.OrderTools;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.internal.turn.Turns;
import io.sessionkit.store.Page;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.stream.TurnContinuation;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.context.SecurityContextHolder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A property and a bean have turns continue once their calls are decided.
 */
@Isolated
@ExtendWith(OutputCaptureExtension.class)
class ContinuationAutoConfigurationTests {

	private static final String ON = "sessionkit.approval.continuations.enabled=true";

	private static final String OFTEN = "sessionkit.approval.continuations.interval=1s";

	private static final SessionKey KEY = SessionKey.of("t1");

	private static final ToolCall CALL = new ToolCall("c1", "function", "cancel_order", "{\"id\":7}");

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final InMemorySessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final OrderTools tools = new OrderTools();

	private final ApplicationContextRunner without = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
				SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class,
				ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class))
		.withBean(ScriptedChatModel.class, () -> this.model)
		.withBean("ours", SessionStore.class, () -> this.store)
		.withBean(OrderTools.class, () -> this.tools)
		.withPropertyValues("sessionkit.approval.tools=cancel_order", OFTEN);

	private final ApplicationContextRunner runner = this.without.withUserConfiguration(ContinuationConfiguration.class);

	@AfterEach
	void signOut() {
		SecurityContextHolder.clearContext();
	}

	@Test
	void decidedTurnContinuesWithoutARequest() {
		this.model.calls(CALL).says("done");
		this.runner.withPropertyValues(ON).run((context) -> {
			approve(context, ask(context));
			awaitStatus(KEY, TurnStatus.COMPLETED);
			assertThat(this.tools.runs()).containsExactly("7 for somebody");
		});
	}

	@Test
	void toolWorksForTheOwnerWhoeverDecides() {
		this.model.calls(CALL).says("done");
		this.runner.withSystemProperties("sessionkit.owner=")
			.withPropertyValues(ON, "sessionkit.approval.deciders=cancel_order=ROLE_LEAD")
			.run((context) -> {
				this.tools.caller(() -> context.getBean(SessionAccess.class).caller().toString());
				signIn("ada");
				ask(context);
				signIn("anna", "ROLE_LEAD");
				approve(context, context.getBean(Approvals.class).inbox(InboxQuery.ofAnyOwner(), Page.first(1)).get(0));
				SecurityContextHolder.clearContext();
				awaitStatus(SessionKey.of("ada", "t1"), TurnStatus.COMPLETED);
				assertThat(this.tools.runs()).containsExactly("7 for " + Caller.of("ada"));
			});
	}

	@Test
	void applicationThatShutsDownLeavesTheTurnToTheNextOne() {
		CompletableFuture<Void> asked = new CompletableFuture<>();
		AtomicReference<Conversations> closing = new AtomicReference<>();
		this.model.calls(CALL).step((prompt) -> {
			asked.complete(null);
			await().atMost(Duration.ofSeconds(30))
				.until(() -> InnerParts.of(closing.get(), Turns.class).drain().isOn());
			return Flux.just(this.model.chunk("", List.of(new ToolCall("c2", "function", "look", "{}")), true));
		}).says("done");
		this.runner.withPropertyValues(ON).run((context) -> {
			closing.set(context.getBean(Conversations.class));
			approve(context, ask(context));
			asked.join();
		});
		assertThat(this.store.turns(KEY, Tail.newest(1))).extracting("status").containsExactly(TurnStatus.INCOMPLETE);
		assertThat(this.store.oldestRecords("notice", null, 1).records()).singleElement()
			.satisfies((notice) -> assertThat(notice.payload()).contains("\"attempts\":0"));
		this.runner.withPropertyValues(ON).run((context) -> awaitStatus(KEY, TurnStatus.COMPLETED));
		assertThat(this.tools.runs()).containsExactly("7 for somebody", "look");
	}

	@Test
	void processThatOnlyDecidesNeedsNoBean() {
		this.model.calls(CALL).says("done");
		this.without.withPropertyValues(ON, "sessionkit.approval.continuations.run=false").run((context) -> {
			approve(context, ask(context));
			assertThat(this.store.oldestRecords("notice", null, 1).records()).hasSize(1);
		});
		this.runner.withPropertyValues(ON)
			.run((context) -> await().atMost(Duration.ofSeconds(20))
				.untilAsserted(() -> assertStatus(KEY, TurnStatus.COMPLETED)));
	}

	@Test
	void applicationWithoutTheBeanOrWithTwoDoesNotStart() {
		FailureAnalysis none = StartFailure.analysis(this.without.withPropertyValues(ON));
		assertThat(none.getDescription()).isEqualTo("The property '" + ContinuationProperties.ENABLED + "' is 'true'.");
		assertThat(none.getAction()).contains("Add one", ContinuationProperties.RUN);
		FailureAnalysis two = StartFailure.analysis(this.runner.withPropertyValues(ON)
			.withBean("another", TurnContinuation.class, () -> (turn) -> ChatClient.create(this.model).prompt()));
		assertThat(two.getAction()).contains("another", "continuation", "@Primary");
	}

	@Test
	void beanWithoutThePropertyIsAWarningAndChangesNothing(CapturedOutput output) {
		this.model.calls(CALL);
		this.runner.run((context) -> {
			assertThat(context).doesNotHaveBean(ContinuationDelivery.class);
			approve(context, ask(context));
			assertThat(this.store.oldestRecords("notice", null, 1).records()).isEmpty();
			assertStatus(KEY, TurnStatus.AWAITING_APPROVAL);
		});
		assertThat(output).contains("The TurnContinuation continuation is not called",
				"'" + ContinuationProperties.ENABLED + "' to true");
	}

	private ToolApproval ask(AssertableApplicationContext context) {
		return SessionAdvisor
			.pending(context.getBean(ChatClient.Builder.class)
				.build()
				.prompt()
				.user("q")
				.tools(this.tools)
				.advisors(SessionAdvisor.session("t1"))
				.call()
				.chatResponse())
			.get(0);
	}

	private static void approve(ApplicationContext context, ToolApproval shown) {
		context.getBean(Approvals.class).approve(shown, "anna");
	}

	private static void signIn(String name, String... authorities) {
		SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken(name, "", authorities));
	}

	private void awaitStatus(SessionKey key, TurnStatus status) {
		await().untilAsserted(() -> assertStatus(key, status));
	}

	private void assertStatus(SessionKey key, TurnStatus status) {
		assertThat(this.store.turns(key, Tail.newest(1))).extracting("status").containsExactly(status);
	}

}
