package io.sessionkit.autoconfigure.observation;

import java.util.ArrayList;
import java.util.List;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.sessionkit.SessionKey;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalEvent;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.autoconfigure.AddedInterface;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.autoconfigure.internal.StoreWatch;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.observation.ObservedCall;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreLayer;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.MDC;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

class SessionObservationAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class,
						SessionAdvisorAutoConfiguration.class, SessionObservationAutoConfiguration.class,
						SessionHealthAutoConfiguration.class, SessionEndpointAutoConfiguration.class,
						ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class))
		.withPropertyValues("sessionkit.store.type=memory");

	private final ApplicationContextRunner observed = this.runner
		.withBean(ObservationRegistry.class, ObservationRegistry::create)
		.withBean(SimpleMeterRegistry.class, SimpleMeterRegistry::new);

	@Test
	void registriesOfTheApplicationAreUsed() {
		ScriptedChatModel model = new ScriptedChatModel().says("a");
		this.observed.withBean(ScriptedChatModel.class, () -> model).run((context) -> {
			assertThat(context.getBeanProvider(CallObserver.class).orderedStream().map(Object::getClass))
				.containsExactly(CallObservations.class, CallMeters.class);
			ChatClient chat = context.getBean(ChatClient.Builder.class).build();
			chat.prompt().user("q").advisors(SessionAdvisor.session(SessionKey.of("t1"))).call().content();
			MeterRegistry meters = context.getBean(MeterRegistry.class);
			assertThat(meters.get("sessionkit.calls").tag("outcome", "completed").tag("mode", "call").counter().count())
				.isEqualTo(1);
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "sessionkit.observation.enabled=true", "sessionkit.observation.waiting-owners=ada" })
	void waitingCallsOfAllOwnersAreCountedUnlessSomeAreNamed(String property) {
		ScriptedChatModel model = new ScriptedChatModel().calls(new ToolCall("c1", "function", "look", "{}"));
		this.observed.withBean(ScriptedChatModel.class, () -> model)
			.withPropertyValues(property, "sessionkit.approval.tools=look")
			.run((context) -> {
				ChatClient chat = context.getBean(ChatClient.Builder.class).build();
				chat.prompt("q")
					.tools(FunctionToolCallback.builder("look", () -> "found").inputType(Void.class).build())
					.advisors(SessionAdvisor.session(SessionKey.of("ada", "t1")))
					.call()
					.content();
				MeterRegistry meters = context.getBean(MeterRegistry.class);
				context.getBean(WaitingApprovals.class).bindTo(meters);
				Gauge waiting = meters.get("sessionkit.approvals.waiting").tag("status", "proposed").gauge();
				Awaitility.await().until(() -> waiting.value() == 1);
			});
	}

	/**
	 * A rate begins with the first value of a counter, so the first event would not
	 * count.
	 */
	@Test
	void countersOfApprovalsAreThereBeforeTheFirstEventOfALazyApplication() {
		this.observed
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> assertThat(
					context.getBean(MeterRegistry.class).find("sessionkit.approvals.requested").counter())
				.isNotNull());
	}

	/** Spring publishes an event in the contexts above too. */
	@Test
	void eventOfAContextBelowAnotherIsCountedOnce() {
		this.observed.run((parent) -> this.runner.withParent(parent).run((context) -> {
			context.publishEvent(new ApprovalEvent.Requested(mock(ToolApproval.class)));
			assertThat(parent.getBean(MeterRegistry.class).get("sessionkit.approvals.requested").counter().count())
				.isEqualTo(1);
		}));
	}

	@Test
	void storeThatTheApplicationInjectsIsNotAnother() {
		this.observed.run((context) -> {
			assertThat(context.getBean(SessionStore.class)).isInstanceOf(InMemorySessionStore.class);
			SessionStore counted = context.getBean(Conversations.class).store();
			assertThat(counted).isInstanceOf(CountedStore.class);
			assertThat(StoreLayer.beneath(counted)).isSameAs(context.getBean(SessionStore.class));
		});
	}

	@Test
	void withoutRegistriesNothingIsObserved() {
		this.runner.run((context) -> {
			assertThat(context).doesNotHaveBean(CallObserver.class).doesNotHaveBean(StoreWatch.class);
			assertThat(context.getBean(Conversations.class).store()).isInstanceOf(InMemorySessionStore.class);
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "sessionkit.observation.enabled=false", "sessionkit.observation.enabled=off",
			"sessionkit.enabled=false" })
	void switchedOffNothingIsObserved(String property) {
		this.observed.withPropertyValues(property)
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(CallObserver.class)
				.doesNotHaveBean(StoreWatch.class)
				.doesNotHaveBean(WaitingApprovals.class)
				.doesNotHaveBean(ApprovalMeters.class));
	}

	@Test
	void withoutMetersOnTheClassPathObservationsAreMade() {
		this.runner.withBean(ObservationRegistry.class, ObservationRegistry::create)
			.withClassLoader(new FilteredClassLoader("io.micrometer.core", "org.springframework.boot.actuate",
					"org.springframework.boot.health", "io.micrometer.tracing"))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(CallObservations.class)
				.doesNotHaveBean(StoreWatch.class)
				.doesNotHaveBean("sessionKitHealthIndicator")
				.doesNotHaveBean("sessionKitSessionsEndpoint"));
	}

	@Test
	void healthAndEndpointComeWithTheirLibraries() {
		this.runner
			.withPropertyValues("management.endpoints.web.exposure.include=*",
					"management.endpoints.jmx.exposure.include=*")
			.run((context) -> {
				assertThat(context).hasSingleBean(HealthIndicator.class).hasSingleBean(SessionsEndpoint.class);
				assertThat(context.getBean(SessionsEndpoint.class).getClass().getAnnotation(Endpoint.class).id())
					.isEqualTo("sessions");
			});
		this.runner.withClassLoader(new FilteredClassLoader(Endpoint.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("sessionKitSessionsEndpoint"));
		this.runner.withClassLoader(new FilteredClassLoader(HealthIndicator.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("sessionKitHealthIndicator"));
		this.runner.withPropertyValues("management.health.sessionkit.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(HealthIndicator.class));
	}

	@Test
	void endpointThatIsNotExposedIsNotThere() {
		this.runner.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(SessionsEndpoint.class));
	}

	/** Two endpoints of one name would keep the application from starting. */
	@Test
	void besideTheEndpointOfSpringSessionOursHasAnotherName() {
		this.runner
			.withClassLoader(new AddedInterface("org.springframework.boot.session.actuate.endpoint.SessionsEndpoint"))
			.withPropertyValues("management.endpoints.web.exposure.include=*",
					"management.endpoints.jmx.exposure.include=*")
			.run((context) -> assertThat(
					context.getBean(SessionsEndpoint.class).getClass().getAnnotation(Endpoint.class).id())
				.isEqualTo("sessionkit"));
	}

	@Test
	void idOfTheTurnIsLoggedWhereAskedFor() {
		this.runner.run((context) -> assertThat(context).doesNotHaveBean(LoggedTurns.class));
		this.runner.withPropertyValues("sessionkit.observation.mdc=on")
			.run((context) -> assertThat(context).hasSingleBean(LoggedTurns.class));
		this.runner.withPropertyValues("sessionkit.observation.mdc=on")
			.withClassLoader(new FilteredClassLoader(MDC.class))
			.run((context) -> assertThat(context).doesNotHaveBean("sessionKitLoggedTurns"));
	}

	@Test
	void observersOfTheApplicationAreAskedToo() {
		List<Boolean> begun = new ArrayList<>();
		ScriptedChatModel model = new ScriptedChatModel().says("a");
		this.runner.withBean(ScriptedChatModel.class, () -> model)
			.withBean(CallObserver.class, () -> new CallObserver() {

				@Override
				public ObservedCall begin(boolean streams) {
					begun.add(streams);
					return ObservedCall.NONE;
				}

			})
			.run((context) -> {
				context.getBean(ChatClient.Builder.class)
					.build()
					.prompt()
					.user("q")
					.advisors(SessionAdvisor.session("t1"))
					.call()
					.content();
				assertThat(begun).containsExactly(false);
			});
	}

}
