package io.sessionkit.autoconfigure.advisor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.test.simple.SimpleTracer;
import io.sessionkit.Durability;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalEvent;
import io.sessionkit.approval.ApprovalNotice;
import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.ApprovalTexts;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.RequiresApproval;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.approval.UnknownToolException;
import io.sessionkit.autoconfigure.StartFailure;
import io.sessionkit.autoconfigure.observation.SessionObservationAutoConfiguration;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.internal.turn.Turns;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.stream.TurnContinuation;
import io.sessionkit.test.ScriptedChatModel;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.ToolCallbackProvider;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

@Isolated
@ExtendWith(OutputCaptureExtension.class)
class ApprovalsAutoConfigurationTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private static final String GATED = "sessionkit.approval.tools=cancel_order";

	private static final ToolCall CALL = new ToolCall("c1", "function", "cancel_order", "{\"id\":7}");

	private final List<Integer> cancelled = new ArrayList<>();

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
				SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class,
				ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class))
		.withBean(ScriptedChatModel.class, () -> this.model);

	@Test
	void callOfANamedToolWaitsUntilTheBeanApprovesIt() {
		this.model.calls(CALL).says("done");
		this.runner.withPropertyValues(GATED).run((context) -> {
			Approvals approvals = context.getBean(Approvals.class);
			List<ToolApproval> shown = SessionAdvisor.pending(ask(context, cancelOrder()));
			assertThat(shown).isEqualTo(approvals.pending(KEY))
				.singleElement()
				.extracting(ToolApproval::tool, ToolApproval::arguments, ToolApproval::expiresAt)
				.containsExactly("cancel_order", "{\"id\":7}", null);
			assertThat(this.cancelled).isEmpty();
			approvals.approve(shown.get(0), "anna");
			assertThat(text(goOn(context, cancelOrder()))).isEqualTo("done");
			assertThat(this.cancelled).containsExactly(7);
		});
	}

	@Test
	void callOfAnotherToolRuns() {
		this.model.calls(CALL).says("done");
		this.runner.run((context) -> {
			assertThat(text(ask(context, cancelOrder()))).isEqualTo("done");
			assertThat(this.cancelled).containsExactly(7);
		});
	}

	/** Hears notices. */
	static class NoticeListener {

		private final List<ApprovalNotice> heard = new CopyOnWriteArrayList<>();

		@EventListener
		void waits(ApprovalNotice notice) {
			this.heard.add(notice);
			if (this.heard.size() == 1) {
				throw new IllegalStateException("not now");
			}
		}

	}

	@Test
	void noticesArePublishedUntilTheirListenerReturns() {
		this.model.calls(CALL);
		this.runner.withBean(NoticeListener.class)
			.withPropertyValues(GATED, "sessionkit.approval.notices.enabled=true",
					"sessionkit.approval.notices.interval=1s")
			.run((context) -> {
				ToolApproval shown = SessionAdvisor.pending(ask(context, cancelOrder())).get(0);
				SessionStore store = context.getBean(SessionStore.class);
				await().until(() -> store.oldestRecords("notice", null, 1).records().isEmpty());
				assertThat(context.getBean(NoticeListener.class).heard).hasSize(2)
					.allSatisfy((notice) -> assertThat(notice.approvalIds()).containsExactly(shown.id()));
			});
	}

	/** Two would take notices from each other, and only one has the listeners. */
	@Test
	void contextWithAParentThatDeliversDoesNotDeliverToo() {
		ApplicationContextRunner delivering = this.runner.withBean(TurnContinuation.class, () -> (turn) -> {
			throw new AssertionError("nothing waits");
		})
			.withPropertyValues("sessionkit.approval.notices.enabled=true",
					"sessionkit.approval.continuations.enabled=true");
		delivering.run((parent) -> delivering.withParent(parent).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBeansOfType(NoticeDelivery.class)).isEmpty();
			assertThat(context.getBeansOfType(ContinuationDelivery.class)).isEmpty();
			assertThat(parent.getBeansOfType(NoticeDelivery.class)).hasSize(1);
		}));
	}

	/** Nobody else would deliver its notices. */
	@Test
	void contextWithApprovalsOfItsOwnDeliversAlsoBelowOneThatDelivers() {
		ApplicationContextRunner delivering = this.runner
			.withPropertyValues("sessionkit.approval.notices.enabled=true");
		delivering.run((parent) -> delivering.withParent(parent)
			.withBean("sessionKitApprovals", Approvals.class, () -> Approvals.of(parent.getBean(Conversations.class)))
			.run((context) -> assertThat(context.getBeansOfType(NoticeDelivery.class)).hasSize(1)));
	}

	@Test
	void noticesAreOffUnlessAskedFor() {
		this.model.calls(CALL);
		this.runner.withBean(NoticeListener.class).withPropertyValues(GATED).run((context) -> {
			assertThat(context).doesNotHaveBean(NoticeDelivery.class);
			ask(context, cancelOrder());
			assertThat(context.getBean(SessionStore.class).oldestRecords("notice", null, 1).records()).isEmpty();
		});
	}

	@Test
	void expiryAndVersionAreKeptWithTheCallAsConfigured() {
		this.model.calls(CALL);
		this.runner
			.withPropertyValues(GATED, "sessionkit.approval.expires-after=2h", "sessionkit.approval.version=2026-11")
			.run((context) -> {
				ToolApproval shown = SessionAdvisor.pending(ask(context, cancelOrder())).get(0);
				assertThat(shown.expiresAt()).isEqualTo(shown.requestedAt().plus(Duration.ofHours(2)));
				assertThat(shown.requirements().version()).isEqualTo("2026-11");
			});
	}

	@Test
	void siblingRunsFirstAndNewMessageCancelsAsConfigured() {
		this.model.calls(CALL, new ToolCall("c2", "function", "look", "{\"id\":3}")).says("hello");
		this.runner
			.withPropertyValues(GATED, "sessionkit.approval.siblings=run", "sessionkit.approval.on-new-message=cancel")
			.run((context) -> {
				List<Integer> looked = new ArrayList<>();
				ask(context, cancelOrder(), tool("look", looked));
				assertThat(looked).containsExactly(3);
				assertThat(text(ask(context, cancelOrder(), tool("look", looked)))).isEqualTo("hello");
				assertThat(context.getBean(Approvals.class).pending(KEY)).isEmpty();
				assertThat(this.cancelled).isEmpty();
			});
	}

	@Test
	void policiesOfTheApplicationCountAndTheStrictestWins() {
		this.model.calls(CALL).calls(CALL).says("not today");
		ApprovalPolicy asks = (request) -> Ruling.ask("cancels for good");
		ApprovalPolicy denies = (request) -> (request.parameters().containsKey("holiday")) ? Ruling.deny("holiday")
				: Ruling.allow();
		this.runner.withBean("asks", ApprovalPolicy.class, () -> asks)
			.withBean("denies", ApprovalPolicy.class, () -> denies)
			.run((context) -> {
				assertThat(SessionAdvisor.pending(ask(context, cancelOrder()))).singleElement()
					.extracting(ToolApproval::description)
					.isEqualTo("cancels for good");
				String reply = chat(context).prompt()
					.user("q")
					.tools(cancelOrder())
					.advisors(SessionAdvisor.session("t2"))
					.advisors((advisors) -> advisors.param("holiday", true))
					.call()
					.content();
				assertThat(reply).isEqualTo("not today");
				assertThat(this.model.lastRequestLines()).last().isEqualTo("tool cancel_order=holiday");
				assertThat(this.cancelled).isEmpty();
			});
	}

	@Test
	void textsOfTheApplicationAreToldToTheModel() {
		this.model.calls(CALL).says("a pity");
		ApprovalTexts texts = new ApprovalTexts() {

			@Override
			public String rejected(ToolApproval approval) {
				return "The desk said no to " + approval.tool();
			}

		};
		this.runner.withPropertyValues(GATED).withBean(ApprovalTexts.class, () -> texts).run((context) -> {
			ToolApproval shown = SessionAdvisor.pending(ask(context, cancelOrder())).get(0);
			context.getBean(Approvals.class).decide(shown, Decision.reject("anna"));
			assertThat(text(goOn(context, cancelOrder()))).isEqualTo("a pity");
			assertThat(this.model.lastRequestLines()).last()
				.isEqualTo("tool cancel_order=The desk said no to cancel_order");
		});
	}

	@Test
	void annotatedMethodOfAToolBeanWaitsWhereItsConditionHolds() {
		this.model.calls(CALL).calls(new ToolCall("c2", "function", "cancel_order", "{\"id\":700}"));
		this.runner.withBean(AnnotatedOrders.class).run((context) -> {
			AnnotatedOrders orders = context.getBean(AnnotatedOrders.class);
			assertThat(SessionAdvisor.pending(ask(context, orders))).singleElement()
				.extracting(ToolApproval::arguments, ToolApproval::description)
				.containsExactly("{\"id\":700}", "a large order");
			assertThat(orders.cancelled).containsExactly(7);
		});
	}

	@Test
	void eventsArriveAsApplicationEvents() {
		this.model.calls(CALL).says("done");
		this.runner.withPropertyValues(GATED).withUserConfiguration(ListenerConfiguration.class).run((context) -> {
			ToolApproval shown = SessionAdvisor.pending(ask(context, cancelOrder())).get(0);
			ToolApproval approved = context.getBean(Approvals.class).approve(shown, "anna");
			goOn(context, cancelOrder());
			List<ApprovalEvent> heard = context.getBean(ListenerConfiguration.class).heard;
			assertThat(heard).hasSize(3)
				.startsWith(new ApprovalEvent.Requested(shown), new ApprovalEvent.Decided(approved));
			assertThat(heard.get(2)).isInstanceOf(ApprovalEvent.Executed.class)
				.extracting((event) -> event.approval().id())
				.isEqualTo(shown.id());
			assertThat(context.getBean(ListenerConfiguration.class).requested).containsExactly("cancel_order");
		});
	}

	@Test
	void nameThatNoToolHasFailsOnTheFirstCallThatOffersTools() {
		this.model.says("hello");
		this.runner.withPropertyValues("sessionkit.approval.tools=cancel_ordre").run((context) -> {
			assertThat(text(ask(context))).isEqualTo("hello");
			assertThatExceptionOfType(UnknownToolException.class).isThrownBy(() -> ask(context, cancelOrder()))
				.withMessageContaining("sessionkit.approval.tools names [cancel_ordre]")
				.withMessageContaining("[cancel_order]");
			assertThat(this.model.prompts()).hasSize(1);
			assertThat(this.cancelled).isEmpty();
		});
	}

	@ParameterizedTest
	@MethodSource("toolBeans")
	void nameThatIsLikeThatOfAToolBeanIsRefusedAtStart(Class<?> configuration) {
		for (String misspelt : List.of("cancelOrder", "cancel_ordre", "order_cancel", "cancel_orders")) {
			FailureAnalysis analysis = StartFailure
				.analysis(this.runner.withPropertyValues("sessionkit.approval.tools=look," + misspelt)
					.withUserConfiguration(configuration));
			assertThat(analysis.getDescription()).contains("sessionkit.approval.tools names [" + misspelt + "]")
				.contains("write 'cancel_order' instead of '" + misspelt + "'");
			assertThat(analysis.getAction()).contains("Correct the name");
		}
	}

	@ParameterizedTest
	@MethodSource("toolBeans")
	void nameThatNoToolBeanHasIsSaidAtStart(Class<?> configuration, CapturedOutput output) {
		this.runner.withPropertyValues("sessionkit.approval.tools=annul")
			.withUserConfiguration(configuration)
			.run((context) -> assertThat(output).contains("WARN")
				.contains("sessionkit.approval.tools names [annul]")
				.contains("the tool beans have [cancel_order]"));
	}

	@Test
	void toolsOfAServerThatComeLaterAreFound() {
		this.model.says("hello").calls(CALL);
		List<ToolCallback> later = new ArrayList<>();
		this.runner.withPropertyValues(GATED)
			.withBean(ToolCallbackProvider.class, () -> () -> later.toArray(ToolCallback[]::new))
			.run((context) -> {
				assertThat(text(ask(context, tool("look", new ArrayList<>())))).isEqualTo("hello");
				later.add(cancelOrder());
				ToolCallbackProvider server = context.getBean(ToolCallbackProvider.class);
				assertThat(SessionAdvisor.pending(ask(context, server))).hasSize(1);
				assertThat(this.cancelled).isEmpty();
			});
	}

	@Test
	void serverOfToolsThatIsAwayStopsNeitherTheStartNorACall(CapturedOutput output) {
		this.model.says("hello");
		AtomicBoolean away = new AtomicBoolean();
		this.runner.withPropertyValues(GATED).withBean(ToolCallbackProvider.class, () -> () -> {
			if (away.getAndSet(true)) {
				throw new IllegalStateException("http://user:secret@server");
			}
			return new ToolCallback[0];
		}).run((context) -> {
			assertThat(text(ask(context, tool("look", new ArrayList<>())))).isEqualTo("hello");
			assertThat(output).contains("could not be listed").doesNotContain("secret");
		});
	}

	@ParameterizedTest
	@MethodSource("toolBeans")
	void nameThatOnlyAToolBeanHasIsAcceptedAlthoughTheCallDoesNotOfferIt(Class<?> configuration) {
		this.model.says("hello");
		this.runner.withPropertyValues(GATED)
			.withUserConfiguration(configuration)
			.run((context) -> assertThat(text(ask(context, tool("look", new ArrayList<>())))).isEqualTo("hello"));
	}

	static Stream<Named<Class<?>>> toolBeans() {
		return Stream.of(Named.of("a callback", CallbackConfiguration.class),
				Named.of("a provider of callbacks", ProviderConfiguration.class),
				Named.of("a bean with a method that is a tool", AnnotatedOrders.class));
	}

	@Test
	void approvalsOfTheApplicationAreTheOnesOfTheAdvisor() {
		this.model.calls(CALL);
		this.runner.withUserConfiguration(OwnApprovalsConfiguration.class).run((context) -> {
			assertThat(context).hasSingleBean(Approvals.class).hasBean("ownApprovals");
			assertThat(SessionAdvisor.pending(ask(context, cancelOrder()))).hasSize(1);
		});
	}

	@Test
	void durabilityAndLeaseReachTheConversations() {
		this.model.calls(CALL).says("done");
		List<SessionRecord> leases = new ArrayList<>();
		this.runner.withPropertyValues("sessionkit.durability=step", "sessionkit.lease=90s").run((context) -> {
			assertThat(InnerParts.of(context.getBean(Conversations.class), Turns.class).durability())
				.isEqualTo(Durability.STEP);
			SessionStore store = context.getBean(SessionStore.class);
			ask(context, FunctionToolCallback.builder("cancel_order", (Order order) -> {
				leases.addAll(store.records(KEY, TurnRecords.LEASE));
				return "ok";
			}).description("cancels").inputType(Order.class).build());
			assertThat(leases).singleElement()
				.satisfies((lease) -> assertThat(lease.expiresAt())
					.isEqualTo(lease.writtenAt().plus(Duration.ofSeconds(90))));
		});
	}

	@Test
	void traceOfThePausedCallIsKeptAndNamedInTheObservationOfTheOneThatGoesOn() {
		this.model.calls(CALL).says("done");
		SimpleTracer tracer = new SimpleTracer();
		TestObservationRegistry observations = TestObservationRegistry.create();
		this.runner.withPropertyValues(GATED)
			.withBean(Tracer.class, () -> tracer)
			.withBean(ObservationRegistry.class, () -> observations)
			.run((context) -> {
				Span span = tracer.nextSpan().start();
				ToolApproval shown;
				try (Tracer.SpanInScope scope = tracer.withSpan(span)) {
					shown = SessionAdvisor.pending(ask(context, cancelOrder())).get(0);
				}
				assertThat(shown.requirements().traceId()).isNotBlank().isEqualTo(span.context().traceId());
				context.getBean(Approvals.class).approve(shown, "anna");
				goOn(context, cancelOrder());
				assertThat(observations).hasAnObservation((observation) -> observation
					.hasHighCardinalityKeyValue("sessionkit.paused.trace.id", span.context().traceId()));
			});
	}

	@Test
	void traceOfAStreamIsKeptAndNamedToo() {
		this.model.calls(CALL).says("done");
		SimpleTracer tracer = new SimpleTracer();
		TestObservationRegistry observations = TestObservationRegistry.create();
		observations.observationConfig().observationHandler(new DefaultTracingObservationHandler(tracer));
		this.runner.withPropertyValues(GATED)
			.withBean(Tracer.class, () -> tracer)
			.withBean(ObservationRegistry.class, () -> observations)
			.run((context) -> {
				ToolApproval shown = SessionAdvisor.pending(stream(chat(context).prompt().user("q"))).get(0);
				String trace = shown.requirements().traceId();
				assertThat(trace).isNotBlank();
				context.getBean(Approvals.class).approve(shown, "anna");
				stream(chat(context).prompt());
				assertThat(observations).hasAnObservation(
						(observation) -> observation.hasHighCardinalityKeyValue("sessionkit.paused.trace.id", trace));
			});
	}

	private ChatResponse stream(ChatClient.ChatClientRequestSpec call) {
		ChatResponse last = call.tools(cancelOrder())
			.advisors(SessionAdvisor.session(KEY))
			.stream()
			.chatResponse()
			.blockLast();
		assertThat(last).isNotNull();
		return last;
	}

	@Test
	void callOutsideOfATraceKeepsNone() {
		this.model.calls(CALL);
		this.runner.withPropertyValues(GATED)
			.withBean(Tracer.class, SimpleTracer::new)
			.run((context) -> assertThat(SessionAdvisor.pending(ask(context, cancelOrder()))).singleElement()
				.satisfies((shown) -> assertThat(shown.requirements().traceId()).isNull()));
	}

	@Test
	void applicationWithoutMicrometerTracingPausesToo() {
		this.model.calls(CALL);
		this.runner.withClassLoader(new FilteredClassLoader("io.micrometer.tracing"))
			.withPropertyValues(GATED)
			.run((context) -> {
				assertThat(context).hasNotFailed().doesNotHaveBean(TraceIds.class);
				assertThat(SessionAdvisor.pending(ask(context, cancelOrder()))).hasSize(1);
			});
	}

	private FunctionToolCallback<?, ?> cancelOrder() {
		return tool("cancel_order", this.cancelled);
	}

	private static FunctionToolCallback<?, ?> tool(String name, List<Integer> calls) {
		return FunctionToolCallback.builder(name, (Order order) -> {
			calls.add(order.id());
			return "ok";
		}).description(name).inputType(Order.class).build();
	}

	private static ChatResponse ask(AssertableApplicationContext context, Object... tools) {
		return response(chat(context).prompt().user("q"), tools);
	}

	private static ChatResponse goOn(AssertableApplicationContext context, Object... tools) {
		return response(chat(context).prompt(), tools);
	}

	private static ChatResponse response(ChatClient.ChatClientRequestSpec call, Object... tools) {
		ChatResponse response = call.tools(tools).advisors(SessionAdvisor.session(KEY)).call().chatResponse();
		assertThat(response).isNotNull();
		return response;
	}

	private static @Nullable String text(ChatResponse response) {
		return response.getResult().getOutput().getText();
	}

	private static ChatClient chat(AssertableApplicationContext context) {
		return context.getBean(ChatClient.Builder.class).build();
	}

	record Order(int id) {
	}

	static class AnnotatedOrders {

		private final List<Integer> cancelled = new ArrayList<>();

		@Tool(name = "cancel_order", description = "cancels an order")
		@RequiresApproval(condition = "#id > 100", description = "a large order")
		String cancelOrder(int id) {
			this.cancelled.add(id);
			return "ok";
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class CallbackConfiguration {

		@Bean
		ToolCallback cancelOrderTool() {
			return tool("cancel_order", new ArrayList<>());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ProviderConfiguration {

		@Bean
		ToolCallbackProvider tools() {
			return ToolCallbackProvider.from(tool("cancel_order", new ArrayList<>()));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnApprovalsConfiguration {

		@Bean
		Approvals ownApprovals(Conversations conversations) {
			return Approvals.builder(conversations).tools(Set.of("cancel_order")).build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ListenerConfiguration {

		private final List<ApprovalEvent> heard = new ArrayList<>();

		private final List<String> requested = new ArrayList<>();

		@EventListener
		void hear(ApprovalEvent event) {
			this.heard.add(event);
		}

		@EventListener
		void hearRequest(ApprovalEvent.Requested event) {
			this.requested.add(event.approval().tool());
		}

	}

	/** An alert on calls that nobody decides would stay silent. */
	@Test
	void approvalsOfTheApplicationThatNobodyListensToAreNamedIfThereAreMeters(CapturedOutput output) {
		this.runner.withUserConfiguration(OwnApprovals.class).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("has no listeners");
		this.runner.withUserConfiguration(OwnApprovals.class)
			.withConfiguration(AutoConfigurations.of(SessionObservationAutoConfiguration.class))
			.withBean(SimpleMeterRegistry.class, SimpleMeterRegistry::new)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce("Approvals bean 'unheard' has no listeners")
			.doesNotContain("Approvals bean 'heard'");
	}

	@Configuration(proxyBeanMethods = false)
	static class OwnApprovals {

		@Bean
		Approvals heard(Conversations conversations, ApplicationEventPublisher events) {
			return Approvals.builder(conversations)
				.listeners(List.<Consumer<ApprovalEvent>>of(events::publishEvent))
				.build();
		}

		@Bean(defaultCandidate = false)
		Approvals unheard(Conversations conversations) {
			return Approvals.of(conversations);
		}

	}

	@Test
	void conditionThatCanNeverBeEvaluatedIsRefusedAtStart() {
		FailureAnalysis analysis = StartFailure
			.analysis(this.runner.withUserConfiguration(ToolWithMisspeltCondition.class));
		assertThat(analysis.getDescription()).contains("(tool 'refund')")
			.contains("ToolWithMisspeltCondition.refund")
			.contains("'#amuont' is no parameter of the method; it has [amount]");
		assertThat(analysis.getAction()).contains("Correct the condition");
	}

	@Test
	void conditionOfAToolInAContextAboveIsRefusedToo() {
		new ApplicationContextRunner().withUserConfiguration(ToolWithMisspeltCondition.class)
			.run((above) -> assertThat(StartFailure.analysis(this.runner.withParent(above)).getDescription())
				.contains("ToolWithMisspeltCondition.refund"));
	}

	static class ToolWithMisspeltCondition {

		@Tool
		@RequiresApproval(condition = "#amuont > 100")
		String refund(int amount) {
			return "paid";
		}

	}

}
