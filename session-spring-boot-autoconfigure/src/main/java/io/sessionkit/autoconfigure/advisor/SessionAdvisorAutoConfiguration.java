package io.sessionkit.autoconfigure.advisor;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionKeyResolver;
import io.sessionkit.approval.ApprovalEvent;
import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.ApprovalTexts;
import io.sessionkit.autoconfigure.ApprovalProperties;
import io.sessionkit.autoconfigure.ContinuationProperties;
import io.sessionkit.autoconfigure.PurgeProperties;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.StoreProperties.StoreType;
import io.sessionkit.autoconfigure.StreamProperties;
import io.sessionkit.autoconfigure.TitleProperties;
import io.sessionkit.autoconfigure.TitleSource;
import io.sessionkit.autoconfigure.access.SessionAccessConfiguration;
import io.sessionkit.autoconfigure.check.ConditionalOnSwitch;
import io.sessionkit.autoconfigure.internal.StoreWatch;
import io.sessionkit.autoconfigure.internal.ToolBeans;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.autoconfigure.tool.ToolCheck;
import io.sessionkit.context.Pins;
import io.sessionkit.context.Prune;
import io.sessionkit.context.Retention;
import io.sessionkit.context.SequenceGuard;
import io.sessionkit.context.SummaryTrigger;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Compensations;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.conversation.SessionTitles;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.internal.door.StoreGuard;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.store.SessionPurge;
import io.sessionkit.store.SessionStore;
import io.sessionkit.stream.TurnStreams;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.client.ChatClientBuilderCustomizer;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;

/**
 * {@link AutoConfiguration Auto-configuration} of the {@link Conversations} on the
 * application's store, and of the advisor that adds sessions to {@code ChatClient} calls.
 */
@AutoConfiguration(after = SessionStoreAutoConfiguration.class)
@ConditionalOnSwitch(SessionKitProperties.ENABLED)
@EnableConfigurationProperties(SessionKitProperties.class)
@Import(SessionAccessConfiguration.class)
public final class SessionAdvisorAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	Conversations sessionKitConversations(SessionStore store, SessionAccess access, ObjectProvider<StoreWatch> watch,
			ObjectProvider<SessionHook> hooks, ObjectProvider<SessionListener> listeners,
			ObjectProvider<CallObserver> observers, ObjectProvider<HistoryMerge> merge,
			ObjectProvider<SummaryTrigger> trigger, ListableBeanFactory beans, SessionKitProperties properties) {
		Conversations.Builder builder = Conversations.builder(watched(store, watch))
			.access(access)
			.trim(trim(properties.trim()))
			.retention(retention(properties.retention(), store))
			.prune(new Prune(orUnlimited(properties.prune().keepToolResults())))
			.sequenceGuard(sequenceGuard(properties.sequenceGuard()))
			.hooks(all(hooks))
			.listeners(listeners.orderedStream().toList())
			.observers(observers.orderedStream().toList())
			.maxAttributesSize(properties.attributes().maxSize())
			.turnParameters(names(properties.turn().parameters()))
			.replay(names(properties.turn().replay()))
			.replayExclude(names(properties.turn().replayExclude()))
			.keepSystemText(properties.snapshot().keepSystemText())
			.durability(properties.durability())
			.lease(properties.lease())
			.toolTimeout(properties.tools().timeout());
		Map<String, Duration> timeouts = properties.tools().timeouts();
		builder.toolTimeouts((timeouts != null) ? timeouts : Map.of());
		merge.ifAvailable(builder::merge);
		SummaryRule.of(properties, trigger.getIfAvailable(), beans).ifPresent(builder::summarize);
		return builder.build();
	}

	/**
	 * Returns the hooks, from the outermost to the innermost. Conversations and titles
	 * have the same ones.
	 */
	private static List<SessionHook> all(ObjectProvider<SessionHook> hooks) {
		return hooks.orderedStream().toList();
	}

	private static SessionStore watched(SessionStore store, ObjectProvider<StoreWatch> watch) {
		SessionStore used = StoreGuard.unguarded(store);
		StoreWatch known = watch.getIfAvailable();
		return (known != null) ? known.watched(used) : used;
	}

	private static SequenceGuard sequenceGuard(SessionKitProperties.SequenceGuard properties) {
		SequenceGuard guard = properties.strict() ? SequenceGuard.strict() : SequenceGuard.repairing();
		return properties.leadingReplies() ? guard.withLeadingReplies() : guard;
	}

	/**
	 * Creates the purge eagerly, even if beans are created lazily, since no other bean
	 * depends on it.
	 */
	@Bean
	@Lazy(false)
	@ConditionalOnMissingBean
	@ConditionalOnSwitch(SessionKitProperties.PURGE_ENABLED)
	SessionPurge sessionKitPurge(SessionStore store, ObjectProvider<StoreWatch> watch,
			SessionKitProperties properties) {
		PurgeProperties purge = properties.purge();
		return SessionPurge.builder(watched(store, watch))
			.interval(purge.interval())
			.batchSize(purge.batchSize())
			.start();
	}

	@Bean
	@ConditionalOnMissingBean
	Approvals sessionKitApprovals(Conversations conversations, ObjectProvider<ApprovalPolicy> policies,
			ObjectProvider<ApprovalTexts> texts, ObjectProvider<TraceIds> traceIds, ListableBeanFactory beans,
			ApplicationEventPublisher events, SessionKitProperties properties) {
		ApprovalProperties approval = properties.approval();
		Approvals.Builder builder = Approvals.builder(conversations)
			.tools((approval.tools() != null) ? approval.tools() : Set.of())
			.knownTools(new ToolBeans(beans))
			.deciders(approval.decidersByTool())
			.ownerDecides(approval.ownerDecides())
			.policies(policies.orderedStream().toList())
			.siblings(approval.siblings())
			.onNewMessage(approval.onNewMessage())
			.expiresAfter(approval.expiresAfter())
			.version(approval.version())
			.notices(approval.notices().enabled())
			.continuations(approval.continuations().enabled())
			.listeners(List.<Consumer<ApprovalEvent>>of(events::publishEvent));
		texts.ifAvailable(builder::texts);
		traceIds.ifAvailable((ids) -> builder.traceIds(ids::current));
		return builder.build();
	}

	/**
	 * Publishes the notices that calls wait, if the application asks for them. Only the
	 * context of the approvals does: one beside it, with the same approvals, would take
	 * notices from it.
	 */
	@Bean
	@Lazy(false)
	@ConditionalOnBean(value = Approvals.class, search = SearchStrategy.CURRENT)
	@ConditionalOnSwitch(value = SessionKitProperties.NOTICES_ENABLED, byDefault = false)
	NoticeDelivery sessionKitNotices(Approvals approvals, ApplicationEventPublisher events,
			SessionKitProperties properties) {
		return new NoticeDelivery(approvals, events, properties.approval().notices().interval());
	}

	/**
	 * Continues turns once their calls are decided, if the application asks for that, in
	 * the context of the approvals.
	 */
	@Bean
	@Lazy(false)
	@ConditionalOnBean(value = Approvals.class, search = SearchStrategy.CURRENT)
	@ConditionalOnSwitch(value = ContinuationProperties.ENABLED, byDefault = false)
	ContinuationDelivery sessionKitContinuations(Conversations conversations, Approvals approvals,
			ListableBeanFactory beans, ObjectProvider<TurnStreams> streams, SessionKitProperties properties) {
		ContinuationProperties continuations = properties.approval().continuations();
		return new ContinuationDelivery(conversations, approvals,
				continuations.run() ? SoleContinuation.of(beans) : null, streams, continuations);
	}

	@Bean
	SoleContinuation.Check sessionKitContinuationCheck(ListableBeanFactory beans, SessionKitProperties properties) {
		return new SoleContinuation.Check(beans, properties.approval().continuations());
	}

	/**
	 * The tools are listed anew for each rewind, since a server may offer others by then.
	 */
	@Bean
	@ConditionalOnMissingBean
	Compensations sessionKitCompensations(Conversations conversations, Approvals approvals, ListableBeanFactory beans) {
		return Compensations.builder(conversations, approvals).tools(new ToolBeans(beans)::callbacks).build();
	}

	/**
	 * Makes titles, if the application asks for them.
	 */
	@Bean
	@ConditionalOnMissingBean
	@Conditional(OnTitlesCondition.class)
	SessionTitles sessionKitTitles(SessionStore store, ObjectProvider<SessionHook> hooks, ListableBeanFactory beans,
			SessionKitProperties properties) {
		TitleProperties titles = properties.titles();
		return (titles.by() == TitleSource.MODEL)
				? SessionTitles.by(store,
						SoleModel.of(titles.model(), TitleProperties.MODEL, "A model is to make titles",
								"'" + TitleProperties.BY + "' to first-words", beans),
						all(hooks))
				: SessionTitles.ofFirstWords(store);
	}

	@Bean
	StartReport sessionKitStartReport(ObjectProvider<SessionStore> store, ObjectProvider<SummaryTrigger> triggers,
			SessionAccess access, ListableBeanFactory beans, SessionKitProperties properties) {
		return new StartReport(store, triggers, access, beans, properties);
	}

	@Bean
	RetentionCheck sessionKitRetentionCheck(ObjectProvider<SessionStore> store, ListableBeanFactory beans,
			SessionKitProperties properties) {
		return new RetentionCheck(store, beans, properties.retention());
	}

	@Bean
	FixedSwitches sessionKitFixedSwitches(ListableBeanFactory beans, SessionKitProperties properties) {
		return new FixedSwitches(beans, properties);
	}

	@Bean
	ToolCheck sessionKitToolCheck(ListableBeanFactory beans) {
		return new ToolCheck(beans);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(Tracer.class)
	static class TracingConfiguration {

		@Bean
		TraceIds sessionKitTraceIds(ObjectProvider<Tracer> tracer) {
			return () -> {
				Tracer available = tracer.getIfAvailable();
				Span span = (available != null) ? available.currentSpan() : null;
				return (span != null) ? span.context().traceId() : null;
			};
		}

	}

	@Bean
	@ConditionalOnMissingBean
	SessionAdvisor sessionKitAdvisor(Conversations conversations, Approvals approvals,
			ObjectProvider<SessionKeyResolver> resolver, SessionKitProperties properties) {
		SessionAdvisor.Builder builder = SessionAdvisor.builder(conversations)
			.approvals(approvals)
			.requireSession(properties.requireSession())
			.requireFinishReason(properties.requireFinishReason())
			.onCancel(properties.onCancel())
			.concurrency(properties.concurrency())
			.concurrencyTimeout(properties.concurrencyTimeout())
			.idempotencyTimeToLive(properties.idempotencyTimeToLive());
		resolver.ifAvailable(builder::resolver);
		return builder.build();
	}

	@Bean
	@ConditionalOnMissingBean
	TurnStreams sessionKitStreams(Conversations conversations, SessionKitProperties properties) {
		StreamProperties streams = properties.streams();
		return TurnStreams.builder(conversations)
			.resumable(streams.resumable())
			.onDisconnect(streams.onDisconnect())
			.timeToLive(streams.timeToLive())
			.maxSize(streams.maxSize())
			.build();
	}

	@Bean
	SessionDrain sessionKitDrain(ListableBeanFactory beans, SessionKitProperties properties, Environment environment) {
		Duration phase = Binder.get(environment)
			.bind("spring.lifecycle.timeout-per-shutdown-phase", Duration.class)
			.orElse(Duration.ofSeconds(30));
		return new SessionDrain(beans, properties.shutdown().timeout(), phase);
	}

	@Bean
	StreamClosing sessionKitStreamClosing(ListableBeanFactory beans) {
		return new StreamClosing(beans);
	}

	@Bean
	@ConditionalOnMissingBean
	SessionContext sessionKitContext() {
		return new SessionContext();
	}

	@Bean
	@ConditionalOnSwitch(SessionKitProperties.AUTO_REGISTER)
	ChatClientBuilderCustomizer sessionKitAdvisorCustomizer(SessionAdvisor sessionAdvisor) {
		return (builder) -> builder.defaultAdvisors(sessionAdvisor);
	}

	@Bean
	@ConditionalOnSwitch(SessionKitProperties.AUTO_REGISTER)
	RegistrationCheck sessionKitRegistrationCheck(Environment environment) {
		return new RegistrationCheck(environment);
	}

	private static Trim trim(SessionKitProperties.Trim properties) {
		Pins pins = new Pins(properties.pins().firstUserMessage(), orNone(properties.pins().roles()),
				orNone(properties.pins().metadata()));
		return Trim.NONE.maxTurns(orUnlimited(properties.maxTurns()))
			.maxMessages(orUnlimited(properties.maxMessages()))
			.maxTokens(orUnlimited(properties.maxTokens()))
			.pins(pins);
	}

	private static Retention retention(SessionKitProperties.Retention properties, SessionStore store) {
		int batch = StoreType.of(store).map(StoreType::batch).orElse(Retention.DEFAULT_BATCH);
		return new Retention(orUnlimited(properties.maxTurns()), properties.maxAge(),
				(properties.batch() != null) ? properties.batch() : batch);
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
