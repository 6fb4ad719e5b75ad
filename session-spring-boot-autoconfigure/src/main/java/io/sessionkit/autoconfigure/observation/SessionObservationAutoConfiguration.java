package io.sessionkit.autoconfigure.observation;

import java.util.List;

import io.micrometer.context.ContextRegistry;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.sessionkit.access.Caller;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.approval.InboxQuery;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.autoconfigure.ObservationProperties;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.autoconfigure.check.ConditionalOnSwitch;
import io.sessionkit.autoconfigure.internal.StoreWatch;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.store.Page;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.annotation.Order;

/**
 * {@link AutoConfiguration Auto-configuration} of observations and meters of the calls on
 * sessions, and of the id of their turn in the log.
 */
@AutoConfiguration(before = SessionAdvisorAutoConfiguration.class, after = SessionStoreAutoConfiguration.class,
		afterName = { "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
				"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration" })
@ConditionalOnSwitch("sessionkit.enabled")
@EnableConfigurationProperties(SessionKitProperties.class)
public final class SessionObservationAutoConfiguration {

	@Bean
	UnaskedObservers sessionKitUnaskedObservers(ListableBeanFactory beans, ObjectProvider<CallObserver> observers) {
		return new UnaskedObservers(beans, observers);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ObservationRegistry.class)
	@ConditionalOnBean(ObservationRegistry.class)
	@ConditionalOnSwitch("sessionkit.observation.enabled")
	static class ObservationConfiguration {

		@Bean
		@Order(0)
		CallObservations sessionKitCallObservations(ObservationRegistry registry) {
			return new CallObservations(registry);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	@ConditionalOnBean(MeterRegistry.class)
	@ConditionalOnSwitch("sessionkit.observation.enabled")
	static class MeterConfiguration {

		/** More waiting calls are counted as that many. */
		private static final int MOST_WAITING = 1_000;

		@Bean
		@Order(1)
		CallMeters sessionKitCallMeters(MeterRegistry registry) {
			return new CallMeters(registry);
		}

		@Bean
		StoreWatch sessionKitStoreMeters(MeterRegistry registry) {
			return (store) -> new CountedStore(store, registry);
		}

		/**
		 * Creates the counters eagerly, even if beans are created lazily: a rate begins
		 * with the first value of a counter, so it would miss the first event. A context
		 * below another that counts has none: its events are published there too, and
		 * would count twice.
		 */
		@Bean
		@Lazy(false)
		@ConditionalOnMissingBean
		ApprovalMeters sessionKitApprovalMeters(MeterRegistry registry) {
			return new ApprovalMeters(registry);
		}

		@Bean
		UncountedApprovals sessionKitUncountedApprovals(ListableBeanFactory beans) {
			return new UncountedApprovals(beans);
		}

		@Bean
		WaitingApprovals sessionKitWaitingApprovals(ObjectProvider<Approvals> approvals,
				ObjectProvider<SessionAccess> access, SessionKitProperties properties) {
			ObservationProperties observation = properties.observation();
			List<String> owners = observation.waitingOwners();
			return new WaitingApprovals(
					() -> access.getIfAvailable(SessionAccess::unlimited)
						.callAs(Caller.server(), () -> waiting(approvals.getObject(), owners)),
					observation.waitingInterval());
		}

		private static List<ToolApproval> waiting(Approvals approvals, @Nullable List<String> owners) {
			Page most = Page.first(MOST_WAITING);
			return (owners == null) ? approvals.inbox(InboxQuery.ofAnyOwner(), most)
					: owners.stream().flatMap((owner) -> approvals.pendingOf(owner, most).stream()).toList();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ MDC.class, ContextRegistry.class })
	@ConditionalOnSwitch(value = "sessionkit.observation.mdc", byDefault = false)
	static class LogConfiguration {

		@Bean
		@Order(2)
		LoggedTurns sessionKitLoggedTurns() {
			return new LoggedTurns(ContextRegistry.getInstance());
		}

	}

}
