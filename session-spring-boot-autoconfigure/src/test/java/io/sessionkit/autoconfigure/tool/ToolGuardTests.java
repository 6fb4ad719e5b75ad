package io.sessionkit.autoconfigure.tool;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.sessionkit.access.Caller;
import io.sessionkit.access.CallerResolver;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.RequiresApproval;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.approval.UnattendedToolException;
import io.sessionkit.approval.UnknownToolException;
import io.sessionkit.autoconfigure.OpenAiServer;
import io.sessionkit.autoconfigure.StartFailure;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.autoconfigure.check.ConfigurationCheckAutoConfiguration;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.ToolCallbackProvider;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tools that need an approval in calls that no session advisor sees. The model is Spring
 * AI's for OpenAI, as Spring AI's auto-configuration builds it, and speaks to a local
 * server.
 */
@Isolated
@ExtendWith(OutputCaptureExtension.class)
class ToolGuardTests {

	private static final ToolCall CANCEL = new ToolCall("c1", "function", "cancelOrder", "{\"id\":7}");

	private static final ToolCall LOOK = new ToolCall("c1", "function", "look", "{\"id\":7}");

	private final Orders orders = new Orders();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ConfigurationCheckAutoConfiguration.class,
				MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class,
				SessionAdvisorAutoConfiguration.class, ToolGuardAutoConfiguration.class,
				ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class))
		.withBean("orders", Orders.class, () -> this.orders);

	private OpenAiServer server;

	@BeforeEach
	void start() throws IOException {
		this.server = new OpenAiServer();
	}

	@AfterEach
	void stop() {
		this.server.close();
	}

	// clients that know nothing of SessionKit

	@ParameterizedTest
	@ValueSource(strings = { "sessionkit.enabled=true", "sessionkit.enabled=false", "sessionkit.auto-register=false" })
	void annotatedToolOfAClientOfItsOwnDoesNotRunUnasked(String property) {
		openAi().withPropertyValues(property).run((context) -> {
			this.server.calls(CANCEL).says("done");
			ChatClient chat = ChatClient.create(context.getBean(ChatModel.class));
			assertThatExceptionOfType(UnattendedToolException.class).isThrownBy(() -> ask(chat))
				.withMessageContaining("'cancelOrder' needs an approval")
				.withMessageContaining("no session advisor")
				.withMessageContaining("Nothing was run.")
				.withMessageContaining("ChatClient.Builder");
			assertThatExceptionOfType(UnattendedToolException.class).isThrownBy(() -> stream(chat));
			assertThat(this.orders.cancelled).isEmpty();
			assertThat(this.server.requests()).isZero();
		});
	}

	@Test
	void annotatedToolBehindAProxyDoesNotRunUnasked() {
		openAi().run((context) -> {
			this.server.calls(CANCEL).says("done");
			ProxyFactory proxies = new ProxyFactory(tools("cancelOrder")[0]);
			proxies.setInterfaces(ToolCallback.class);
			ChatClient chat = ChatClient.create(context.getBean(ChatModel.class));
			assertThatExceptionOfType(UnattendedToolException.class)
				.isThrownBy(() -> chat.prompt().user("q").tools(proxies.getProxy()).call().content())
				.withMessageContaining("'cancelOrder' needs an approval");
			assertThat(this.orders.cancelled).isEmpty();
		});
	}

	@Test
	void namedToolOfAClientOfItsOwnDoesNotRunUnasked() {
		openAi().withPropertyValues("sessionkit.approval.tools=look").run((context) -> {
			this.server.calls(LOOK).says("done");
			ChatClient chat = ChatClient.create(context.getBean(ChatModel.class));
			assertThatExceptionOfType(UnattendedToolException.class).isThrownBy(() -> ask(chat, "look"))
				.withMessageContaining("'look'");
			assertThat(this.orders.looked).isEmpty();
		});
	}

	@Test
	void misspeltNameRefusesInAClientOfItsOwnToo() {
		openAi().withPropertyValues("sessionkit.enabled=false", "sessionkit.approval.tools=loook").run((context) -> {
			ChatClient chat = ChatClient.create(context.getBean(ChatModel.class));
			assertThatExceptionOfType(UnknownToolException.class).isThrownBy(() -> ask(chat, "look"))
				.withMessageContaining("write 'look' instead of 'loook'");
		});
	}

	@Test
	void otherToolsOfAClientOfItsOwnRun() {
		openAi().run((context) -> {
			this.server.calls(LOOK).says("done");
			assertThat(ask(ChatClient.create(context.getBean(ChatModel.class)), "look")).isEqualTo("done");
			assertThat(this.orders.looked).containsExactly(7);
		});
	}

	@Test
	void clientOfItsOwnAsksNoPolicy() {
		ApprovalPolicy policy = (request) -> Ruling.deny("never");
		openAi().withBean("policy", ApprovalPolicy.class, () -> policy).run((context) -> {
			this.server.calls(LOOK).says("done");
			assertThat(ask(ChatClient.create(context.getBean(ChatModel.class)), "look")).isEqualTo("done");
			assertThat(this.orders.looked).containsExactly(7);
		});
	}

	@Test
	void modelThatIsNotGuardedRunsToolsUnasked() {
		openAi().withPropertyValues("sessionkit.approval.tools=look").run((context) -> {
			this.server.calls(LOOK).says("done");
			assertThat(ask(ChatClient.create(this.server.model(null)), "look")).isEqualTo("done");
			this.server.calls(CANCEL).says("done");
			assertThat(ask(ChatClient.create(this.server.model(null)), "cancelOrder")).isEqualTo("done");
			assertThat(this.orders.looked).containsExactly(7);
			assertThat(this.orders.cancelled).containsExactly(7);
		});
	}

	@Test
	void clientOfItsOwnWithTheAdvisorAsks() {
		openAi().run((context) -> {
			this.server.calls(CANCEL).says("done");
			ChatClient chat = ChatClient.builder(context.getBean(ChatModel.class))
				.defaultAdvisors(context.getBean(SessionAdvisor.class))
				.build();
			asksAndRuns(context, chat);
		});
	}

	@Test
	void clientOfTheBuilderAsks() {
		openAi().run((context) -> {
			this.server.calls(CANCEL).says("done");
			asksAndRuns(context, context.getBean(ChatClient.Builder.class).build());
		});
	}

	/** It asks before it runs, whatever is around it. */
	@Test
	void toolThatAnAdvisorHasWrappedInsideOfTheSessionAdvisorIsNotRefused() {
		openAi().withPropertyValues("sessionkit.approval.tools=look").run((context) -> {
			this.server.calls(LOOK).says("done");
			ChatClient chat = context.getBean(ChatClient.Builder.class).defaultAdvisors(new WrappingTools()).build();
			List<ToolApproval> shown = SessionAdvisor
				.pending(request(chat, "look").advisors(SessionAdvisor.session("t1")).call().chatResponse());
			assertThat(shown).hasSize(1);
			assertThat(this.orders.looked).isEmpty();
			context.getBean(Approvals.class).approve(shown.get(0), "anna");
			chat.prompt().tools(tools("look")).advisors(SessionAdvisor.session("t1")).call().content();
			assertThat(this.orders.looked).containsExactly(7);
		});
	}

	private void asksAndRuns(ApplicationContext context, ChatClient chat) {
		ChatResponse asked = chat.prompt()
			.user("q")
			.tools(this.orders)
			.advisors(SessionAdvisor.session("t1"))
			.call()
			.chatResponse();
		List<ToolApproval> shown = SessionAdvisor.pending(asked);
		assertThat(shown).hasSize(1);
		assertThat(this.orders.cancelled).isEmpty();
		context.getBean(Approvals.class).approve(shown.get(0), "anna");
		chat.prompt().tools(this.orders).advisors(SessionAdvisor.session("t1")).call().content();
		assertThat(this.orders.cancelled).containsExactly(7);
	}

	// clients of the builder, with a model that does not ask for definitions of tools

	@ParameterizedTest
	@ValueSource(strings = { "sessionkit.enabled=false", "sessionkit.auto-register=false" })
	void annotatedToolOfTheBuilderDoesNotRunUnasked(String property) {
		ScriptedChatModel model = new ScriptedChatModel().calls(CANCEL).calls(CANCEL);
		scripted(model).withPropertyValues(property).run((context) -> {
			ChatClient chat = context.getBean(ChatClient.Builder.class).build();
			assertThatExceptionOfType(UnattendedToolException.class).isThrownBy(() -> ask(chat))
				.withMessageContaining("'cancelOrder'");
			assertThatExceptionOfType(UnattendedToolException.class).isThrownBy(() -> stream(chat))
				.withMessageContaining("'cancelOrder'");
			assertThat(this.orders.cancelled).isEmpty();
		});
	}

	/**
	 * Also where nobody is known who calls: the property is bound, and read, all the
	 * same.
	 */
	@Test
	void toolThatOnlyHasDecidersDoesNotRunUnasked() {
		ScriptedChatModel model = new ScriptedChatModel().calls(LOOK);
		scripted(model).withPropertyValues("sessionkit.enabled=false", "sessionkit.approval.deciders=look=ROLE_LEAD")
			.run((context) -> {
				assertThatExceptionOfType(UnattendedToolException.class)
					.isThrownBy(() -> ask(context.getBean(ChatClient.Builder.class).build(), "look"))
					.withMessageContaining("'look' needs an approval");
				assertThat(this.orders.looked).isEmpty();
			});
	}

	@Test
	void decidersOfAllOtherToolsNameNoTool() {
		ScriptedChatModel model = new ScriptedChatModel().calls(LOOK).says("done");
		scripted(model).withPropertyValues("sessionkit.enabled=false", "sessionkit.approval.deciders=*=ROLE_LEAD")
			.run((context) -> {
				assertThat(ask(context.getBean(ChatClient.Builder.class).build(), "look")).isEqualTo("done");
				assertThat(this.orders.looked).containsExactly(7);
			});
	}

	@Test
	void toolsBesideAGatedOneDoNotRunEither() {
		ScriptedChatModel model = new ScriptedChatModel().calls(LOOK, CANCEL);
		scripted(model).withPropertyValues("sessionkit.auto-register=false").run((context) -> {
			assertThatExceptionOfType(UnattendedToolException.class)
				.isThrownBy(() -> ask(context.getBean(ChatClient.Builder.class).build()));
			assertThat(this.orders.looked).isEmpty();
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "sessionkit.enabled=false", "sessionkit.auto-register=false" })
	void policiesAreAskedWhereNoAdvisorIs(String property) {
		ScriptedChatModel model = new ScriptedChatModel().calls(LOOK)
			.calls(new ToolCall("c2", "function", "look", "{\"id\":8}"))
			.says("done");
		ApprovalPolicy policy = (request) -> request.arguments().containsValue(7) ? Ruling.deny("not 7")
				: Ruling.allow();
		scripted(model).withPropertyValues(property)
			.withBean("policy", ApprovalPolicy.class, () -> policy)
			.run((context) -> {
				ChatClient chat = context.getBean(ChatClient.Builder.class).build();
				assertThatExceptionOfType(UnattendedToolException.class).isThrownBy(() -> ask(chat, "look"))
					.withMessageContaining("'look' is called, which a policy denies")
					.withMessageContaining("no session advisor");
				assertThat(ask(chat, "look")).isEqualTo("done");
				assertThat(this.orders.looked).containsExactly(8);
			});
	}

	@Test
	void namesOfApprovalsThatTheApplicationBuildsCount() {
		ScriptedChatModel model = new ScriptedChatModel().calls(LOOK);
		scripted(model).withPropertyValues("sessionkit.auto-register=false")
			.withUserConfiguration(OwnApprovals.class)
			.run((context) -> assertThatExceptionOfType(UnattendedToolException.class)
				.isThrownBy(() -> ask(context.getBean(ChatClient.Builder.class).build(), "look"))
				.withMessageContaining("'look'"));
	}

	/** Those that an advisor has by default ask about annotated tools only. */
	@ParameterizedTest
	@ValueSource(strings = { "t1", "" })
	void namedToolDoesNotRunWhereTheAdvisorOfTheApplicationHasOtherApprovals(String session) {
		ScriptedChatModel model = new ScriptedChatModel().calls(LOOK).says("done");
		scripted(model).withPropertyValues("sessionkit.approval.tools=look")
			.withUserConfiguration(OwnAdvisor.class)
			.run((context) -> {
				ChatClient chat = context.getBean(ChatClient.Builder.class).build();
				assertThatExceptionOfType(UnattendedToolException.class)
					.isThrownBy(() -> request(chat, "look").advisors(named(session)).call().content())
					.withMessageContaining("'look' needs an approval");
				assertThat(this.orders.looked).isEmpty();
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "sessionkit.enabled=true", "sessionkit.enabled=false" })
	void refusalNamesTheApprovalsThatTheAdvisorIsToHave(String property) {
		openAi().withPropertyValues("sessionkit.approval.tools=look", property).run((context) -> {
			this.server.calls(LOOK).says("done");
			try (Conversations own = Conversations
				.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())))) {
				ChatClient chat = ChatClient.builder(context.getBean(ChatModel.class))
					.defaultAdvisors(SessionAdvisor.of(own))
					.build();
				assertThatExceptionOfType(UnattendedToolException.class)
					.isThrownBy(() -> request(chat, "look").advisors(named("t1")).call().content())
					.withMessageContaining(".approvals(..) of an Approvals bean");
			}
			assertThat(this.orders.looked).isEmpty();
			assertThat(this.server.requests()).isZero();
		});
	}

	@Test
	void policyIsAskedWhereTheAdvisorOfTheApplicationHasOtherApprovals() {
		ScriptedChatModel model = new ScriptedChatModel().calls(LOOK).says("done");
		scripted(model).withBean("policy", ApprovalPolicy.class, () -> (request) -> Ruling.deny("never"))
			.withUserConfiguration(OwnAdvisor.class)
			.run((context) -> {
				ChatClient chat = context.getBean(ChatClient.Builder.class).build();
				assertThatExceptionOfType(UnattendedToolException.class)
					.isThrownBy(() -> request(chat, "look").advisors(named("t1")).call().content())
					.withMessageContaining("'look' is called, which a policy denies");
				assertThat(this.orders.looked).isEmpty();
			});
	}

	/**
	 * Each advisor asks about those. The guard sees them offered, and run once decided.
	 */
	@Test
	void annotatedToolWaitsAndRunsWhereTheAdvisorOfTheApplicationHasOtherApprovals() {
		openAi().withPropertyValues("sessionkit.approval.tools=look")
			.withUserConfiguration(OwnAdvisor.class)
			.run((context) -> {
				this.server.calls(CANCEL).says("done");
				ChatClient chat = context.getBean(ChatClient.Builder.class).build();
				ChatResponse paused = request(chat, "cancelOrder").advisors(named("t1")).call().chatResponse();
				ToolApproval call = SessionAdvisor.pending(paused).get(0);
				assertThat(this.orders.cancelled).isEmpty();
				Approvals.of(context.getBean(Conversations.class)).approve(call, "anna");
				assertThat(chat.prompt().tools(tools("cancelOrder")).advisors(named("t1")).call().content())
					.isEqualTo("done");
				assertThat(this.orders.cancelled).containsExactly(7);
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "t1", "" })
	void advisorAsksByApprovalsOfItsOwnThatAreABean(String session) {
		openAi().withPropertyValues("sessionkit.approval.tools=look")
			.withUserConfiguration(SecondApprovals.class)
			.run((context) -> {
				this.server.calls(LOOK).says("done");
				ChatClient chat = ChatClient.builder(context.getBean(ChatModel.class))
					.defaultAdvisors(context.getBean("trusted", SessionAdvisor.class))
					.build();
				assertThat(request(chat, "look").advisors(named(session)).call().content()).isEqualTo("done");
				assertThat(this.orders.looked).containsExactly(7);
			});
	}

	private static Consumer<ChatClient.AdvisorSpec> named(String session) {
		return session.isEmpty() ? SessionAdvisor.none() : SessionAdvisor.session(session);
	}

	@ParameterizedTest
	@ValueSource(strings = { "tools=refund", "deciders=refund=ROLE_LEAD", "siblings=run", "on-new-message=queue",
			"expires-after=1h", "version=2" })
	void propertyThatApprovalsOfTheApplicationDoNotHaveIsRefused(String property) {
		FailureAnalysis analysis = StartFailure.analysis(this.runner.withUserConfiguration(OwnApprovals.class)
			.withBean(CallerResolver.class, () -> () -> Optional.of(Caller.of("anna")))
			.withPropertyValues("sessionkit.approval." + property));
		assertThat(analysis.getDescription()).contains("Approvals bean 'approvals'")
			.contains("'sessionkit.approval." + property.substring(0, property.indexOf('=')) + "'");
		assertThat(analysis.getAction()).contains("Approvals.builder(..)");
	}

	@Test
	void propertyIsRefusedBesideApprovalsOfTheApplicationAlsoIfSessionsAreOff() {
		FailureAnalysis analysis = StartFailure.analysis(
				this.runner
					.withBean("approvals", Approvals.class,
							() -> Approvals.of(Conversations
								.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())))))
					.withPropertyValues("sessionkit.enabled=false", "sessionkit.approval.tools=refund"));
		assertThat(analysis.getDescription()).contains("'sessionkit.approval.tools'");
	}

	@Test
	void propertiesApplyBesideASecondApprovalsBean() {
		this.runner.withUserConfiguration(SecondApprovals.class)
			.withPropertyValues("sessionkit.approval.tools=refund")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void toolThatIsABeanAndNotOnOfferDoesNotRunUnasked() {
		ScriptedChatModel model = new ScriptedChatModel().calls(CANCEL);
		scripted(model).withPropertyValues("spring.ai.tools.resolution.fallback.enabled=true")
			.withBean("tools", ToolCallbackProvider.class,
					() -> ToolCallbackProvider.from(ToolCallbacks.from(this.orders)))
			.run((context) -> {
				Prompt prompt = new Prompt("q", ToolCallingChatOptions.builder().build());
				ChatResponse response = context.getBean(ChatModel.class).call(prompt);
				assertThatExceptionOfType(UnattendedToolException.class)
					.isThrownBy(() -> context.getBean(ToolCallingManager.class).executeToolCalls(prompt, response))
					.withMessageContaining("'cancelOrder' needs an approval");
				assertThat(this.orders.cancelled).isEmpty();
			});
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = "")
	void callWithoutANameIsRefusedAsAnyOther(String name) {
		ScriptedChatModel model = new ScriptedChatModel().calls(new ToolCall("c1", "function", name, "{}"));
		ApprovalPolicy policy = (request) -> Ruling.deny("never");
		scripted(model).withBean("policy", ApprovalPolicy.class, () -> policy).run((context) -> {
			Prompt prompt = new Prompt("q", ToolCallingChatOptions.builder().build());
			ChatResponse response = context.getBean(ChatModel.class).call(prompt);
			assertThatExceptionOfType(UnattendedToolException.class)
				.isThrownBy(() -> context.getBean(ToolCallingManager.class).executeToolCalls(prompt, response))
				.withMessageContaining("Tool '' is called, which a policy denies");
		});
	}

	@Test
	void loopOfTheApplicationThatRunsToolsByTheManagerDoesNotRunThemUnasked() {
		ScriptedChatModel model = new ScriptedChatModel().calls(CANCEL);
		scripted(model).run((context) -> {
			Prompt prompt = new Prompt("q",
					ToolCallingChatOptions.builder().toolCallbacks(ToolCallbacks.from(this.orders)).build());
			ChatResponse response = context.getBean(ChatModel.class).call(prompt);
			assertThatExceptionOfType(UnattendedToolException.class)
				.isThrownBy(() -> context.getBean(ToolCallingManager.class).executeToolCalls(prompt, response));
			assertThat(this.orders.cancelled).isEmpty();
		});
	}

	// messages at start

	@ParameterizedTest
	@ValueSource(strings = { "sessionkit.approval.tools=wipe", "sessionkit.approval.deciders=wipe=ROLE_LEAD" })
	void switchThatIsOffIsSaidWithTheToolsThatNeedAnApproval(String property, CapturedOutput output) {
		openAi().withPropertyValues("sessionkit.enabled=false", property)
			.run((context) -> assertThat(output).contains("WARN")
				.contains("'sessionkit.enabled' is false")
				.contains("[cancelOrder (bean orders), wipe]"));
	}

	@Test
	void modelThatIsNotGuardedIsSaidWithTheToolsThatWouldRun(CapturedOutput output) {
		openAi().withBean("fast", ChatModel.class, () -> this.server.model(null))
			.run((context) -> assertThat(output).contains("WARN")
				.contains("ChatModel beans [fast]")
				.contains("ChatClient.create(model)")
				.contains("[cancelOrder (bean orders)]"));
	}

	@Test
	void modelThatIsNotGuardedIsSaidWithTheToolsThatHaveDeciders(CapturedOutput output) {
		openAi().withPropertyValues("sessionkit.approval.deciders=wipe=ROLE_LEAD")
			.withBean(CallerResolver.class, () -> () -> Optional.of(Caller.of("anna")))
			.withBean("fast", ChatModel.class, () -> this.server.model(null))
			.run((context) -> assertThat(output).contains("ChatModel beans [fast]")
				.contains("[cancelOrder (bean orders), wipe]"));
	}

	@Test
	void modelThatIsNotGuardedIsSaidWithTheToolsThatTheApprovalsBeanNames(CapturedOutput output) {
		openAi().withUserConfiguration(OwnApprovals.class)
			.withBean("fast", ChatModel.class, () -> this.server.model(null))
			.run((context) -> assertThat(output).contains("[cancelOrder (bean orders), look]"));
	}

	@Test
	void applicationThatOnlyDecidesIsToldNothing(CapturedOutput output) {
		this.runner.withPropertyValues("sessionkit.approval.tools=wipe")
			.run((context) -> assertThat(output).doesNotContain("ToolGuardReport"));
	}

	@Test
	void nothingIsSaidWhereEveryModelIsGuarded(CapturedOutput output) {
		openAi().run((context) -> assertThat(output).doesNotContain("ToolGuardReport"));
	}

	@Test
	void nothingIsSaidWhereNoToolNeedsAnApproval(CapturedOutput output) {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(ToolGuardAutoConfiguration.class, ToolCallingAutoConfiguration.class))
			.withPropertyValues("sessionkit.enabled=false")
			.withBean(ScriptedChatModel.class)
			.run((context) -> assertThat(output).doesNotContain("ToolGuardReport"));
	}

	private ApplicationContextRunner openAi() {
		OpenAiServer server = this.server;
		return this.runner.withUserConfiguration(OpenAiConfiguration.class).withBean(OpenAiServer.class, () -> server);
	}

	private ApplicationContextRunner scripted(ScriptedChatModel model) {
		return this.runner.withBean(ScriptedChatModel.class, () -> model);
	}

	private @Nullable String ask(ChatClient chat, String... only) {
		return request(chat, only).call().content();
	}

	private void stream(ChatClient chat) {
		request(chat).stream().content().blockLast();
	}

	private ChatClient.ChatClientRequestSpec request(ChatClient chat, String... only) {
		return chat.prompt().user("q").tools(tools(only));
	}

	private Object[] tools(String... only) {
		Set<String> names = Set.of(only);
		return Stream.of(ToolCallbacks.from(this.orders))
			.filter((tool) -> names.isEmpty() || names.contains(tool.getToolDefinition().name()))
			.toArray();
	}

	/** Puts something around each tool, behind the session advisor. */
	private static final class WrappingTools implements CallAdvisor {

		@Override
		public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
			ToolCallingChatOptions options = (ToolCallingChatOptions) Objects
				.requireNonNull(request.prompt().getOptions());
			List<ToolCallback> wrapped = options.getToolCallbacks().stream().<ToolCallback>map(Wrapped::new).toList();
			return chain.nextCall(request.mutate()
				.prompt(new Prompt(request.prompt().getInstructions(), options.mutate().toolCallbacks(wrapped).build()))
				.build());
		}

		@Override
		public String getName() {
			return "wrapping";
		}

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE + 280;
		}

	}

	private record Wrapped(ToolCallback tool) implements ToolCallback {

		@Override
		public ToolDefinition getToolDefinition() {
			return this.tool.getToolDefinition();
		}

		@Override
		public String call(String input) {
			return this.tool.call(input);
		}

	}

	static class Orders {

		private final List<Integer> cancelled = new ArrayList<>();

		private final List<Integer> looked = new ArrayList<>();

		@Tool(description = "cancels an order")
		@RequiresApproval(condition = "#id > 5")
		String cancelOrder(int id) {
			this.cancelled.add(id);
			return "ok";
		}

		@Tool(description = "looks at an order")
		String look(int id) {
			this.looked.add(id);
			return "ok";
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OpenAiConfiguration {

		/** As OpenAiChatAutoConfiguration builds it. */
		@Bean
		ChatModel model(OpenAiServer server, ToolCallingManager manager) {
			return server.model(manager);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnAdvisor {

		@Bean
		SessionAdvisor advisor(Conversations conversations) {
			return SessionAdvisor.builder(conversations).requireSession(true).build();
		}

	}

	/** Beside those of the auto-configuration, which stay the ones that are injected. */
	@Configuration(proxyBeanMethods = false)
	static class SecondApprovals {

		@Bean(defaultCandidate = false)
		Approvals lenient(Conversations conversations) {
			return Approvals.of(conversations);
		}

		@Bean(defaultCandidate = false)
		SessionAdvisor trusted(Conversations conversations, @Qualifier("lenient") Approvals approvals) {
			return SessionAdvisor.builder(conversations).approvals(approvals).build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnApprovals {

		@Bean
		Approvals approvals(Conversations conversations) {
			return Approvals.builder(conversations).tools(Set.of("look")).build();
		}

	}

}
