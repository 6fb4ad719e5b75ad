package io.sessionkit.autoconfigure.check;

import java.util.Map;

import io.sessionkit.advisor.SessionKeyResolver;
import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.ApprovalTexts;
import io.sessionkit.context.SummaryTrigger;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * {@link AutoConfiguration Auto-configuration} that checks the properties at start, and
 * beans of the application that take the place of others, whether or not SessionKit is
 * enabled, and the version of Spring AI if SessionKit is enabled.
 */
@AutoConfiguration(beforeName = "io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration")
public final class ConfigurationCheckAutoConfiguration {

	@Bean
	static ConfigurationCheck sessionKitConfigurationCheck(Environment environment) {
		return new ConfigurationCheck(environment);
	}

	@Bean
	static SpringAiCheck sessionKitSpringAiCheck(Environment environment) {
		return new SpringAiCheck(environment);
	}

	@Bean
	OwnBeansCheck sessionKitOwnBeansCheck(ListableBeanFactory beans, Environment environment,
			ObjectProvider<SessionHook> hooks, ObjectProvider<SessionListener> listeners,
			ObjectProvider<HistoryMerge> merges, ObjectProvider<SummaryTrigger> triggers,
			ObjectProvider<ApprovalPolicy> policies, ObjectProvider<ApprovalTexts> texts,
			ObjectProvider<SessionKeyResolver> resolvers) {
		return new OwnBeansCheck(beans, environment,
				Map.of(SessionHook.class, hooks, SessionListener.class, listeners, HistoryMerge.class, merges,
						SummaryTrigger.class, triggers, ApprovalPolicy.class, policies, ApprovalTexts.class, texts,
						SessionKeyResolver.class, resolvers));
	}

}
