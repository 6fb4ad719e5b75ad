package io.sessionkit.autoconfigure;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionKeyResolver;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.Pins;
import io.sessionkit.hook.Prune;
import io.sessionkit.hook.SequenceGuard;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.hook.SummaryTrigger;
import io.sessionkit.hook.Trim;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClientBuilderCustomizer;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * The conversations on the application's store, and the advisor that puts them into
 * {@code ChatClient} calls.
 */
@AutoConfiguration(after = SessionStoreAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = SessionKitProperties.ENABLED, matchIfMissing = true)
@EnableConfigurationProperties(SessionKitProperties.class)
public final class SessionAdvisorAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	Conversations conversations(SessionStore store, ObjectProvider<SessionHook> hooks,
			ObjectProvider<SessionListener> listeners, ObjectProvider<HistoryMerge> merge,
			ObjectProvider<SummaryTrigger> trigger, ListableBeanFactory beans, SessionKitProperties properties) {
		Conversations.Builder builder = Conversations.builder(store)
			.trim(trim(properties.trim()))
			.prune(new Prune(orUnlimited(properties.prune().toolResultsKeep())))
			.guard(properties.sequence().strict() ? SequenceGuard.strict() : SequenceGuard.repairing())
			.hooks(hooks.orderedStream().toList())
			.listeners(listeners.orderedStream().toList())
			.maxStateSize(properties.state().maxSize())
			.turnInputs(names(properties.turn().inputs()))
			.replay(names(properties.turn().replay()))
			.replayExclude(names(properties.turn().replayExclude()))
			.keepSystemText(properties.snapshot().system());
		merge.ifAvailable(builder::merge);
		SummaryRule.of(properties, trigger.getIfAvailable(), beans).ifPresent(builder::summarize);
		return builder.build();
	}

	@Bean
	@ConditionalOnMissingBean
	SessionAdvisor sessionAdvisor(Conversations conversations, ObjectProvider<SessionKeyResolver> resolver,
			SessionKitProperties properties) {
		SessionAdvisor.Builder builder = SessionAdvisor.builder(conversations)
			.requireSession(properties.requireSession());
		resolver.ifAvailable(builder::resolver);
		return builder.build();
	}

	@Bean
	@ConditionalOnMissingBean
	SessionContext sessionKitContext() {
		return new SessionContext();
	}

	@Bean
	@ConditionalOnBooleanProperty(name = SessionKitProperties.AUTO_REGISTER, matchIfMissing = true)
	ChatClientBuilderCustomizer sessionAdvisorCustomizer(SessionAdvisor sessionAdvisor) {
		return (builder) -> builder.defaultAdvisors(sessionAdvisor);
	}

	private static Trim trim(SessionKitProperties.Trim properties) {
		return new Trim(orUnlimited(properties.maxTurns()), orUnlimited(properties.maxMessages()),
				orUnlimited(properties.maxTokens()), new Pins(properties.pin().firstUserMessage(),
						orNone(properties.pin().roles()), orNone(properties.pin().metadata())));
	}

	private static Set<String> names(@Nullable List<String> names) {
		return (names != null) ? new LinkedHashSet<>(names) : Set.of();
	}

	private static <T> Set<T> orNone(@Nullable Set<T> values) {
		return (values != null) ? values : Set.of();
	}

	private static int orUnlimited(@Nullable Integer limit) {
		return (limit != null) ? limit : Integer.MAX_VALUE;
	}

}
