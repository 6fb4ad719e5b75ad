package io.sessionkit.autoconfigure.observation;

import java.util.function.BiFunction;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.store.SessionStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.support.GenericApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Conversations of an application whose calls no observer sees: they are named.
 */
@Isolated
@ExtendWith(OutputCaptureExtension.class)
class UnaskedObserversTests {

	private static final String WARNING = "does not have the CallObserver beans";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(MessageCodecAutoConfiguration.class, SessionStoreAutoConfiguration.class,
						SessionAdvisorAutoConfiguration.class, SessionObservationAutoConfiguration.class))
		.withPropertyValues("sessionkit.store.type=memory");

	private final ApplicationContextRunner metered = this.runner.withBean(SimpleMeterRegistry.class,
			SimpleMeterRegistry::new);

	@Test
	void conversationsOfTheApplicationThatNoObserverSeesAreNamed(CapturedOutput output) {
		own(this.metered, (store, observers) -> Conversations.of(store));
		assertThat(output)
			.containsOnlyOnce("The Conversations bean 'mine' " + WARNING + " [sessionKitCallMeters], so they see none");
	}

	@Test
	void observerOfTheApplicationIsNamedToo(CapturedOutput output) {
		own(this.runner.withBean("bill", CallObserver.class, () -> new CallObserver() {
		}).withBean("elsewhere", CallObserver.class, () -> new CallObserver() {
		}, (definition) -> ((AbstractBeanDefinition) definition).setDefaultCandidate(false)),
				(store, observers) -> Conversations.of(store));
		assertThat(output).containsOnlyOnce(WARNING + " [bill], so");
	}

	@Test
	void conversationsThatHaveTheObserversAreNotNamed(CapturedOutput output) {
		own(this.metered, (store,
				observers) -> Conversations.builder(store).observers(observers.orderedStream().toList()).build());
		this.metered.run((context) -> assertThat(context).hasNotFailed());
		own(this.runner, (store, observers) -> Conversations.of(store));
		assertThat(output).doesNotContain(WARNING);
	}

	private static void own(ApplicationContextRunner runner,
			BiFunction<SessionStore, ObjectProvider<CallObserver>, Conversations> built) {
		runner
			.withInitializer(
					(context) -> ((GenericApplicationContext) context).registerBean("mine", Conversations.class,
							() -> built.apply(context.getBean(SessionStore.class),
									context.getBeanProvider(CallObserver.class))))
			.run((context) -> assertThat(context).hasNotFailed());
	}

}
