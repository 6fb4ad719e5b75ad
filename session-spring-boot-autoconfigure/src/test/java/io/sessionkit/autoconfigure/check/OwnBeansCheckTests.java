package io.sessionkit.autoconfigure.check;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionKeyResolver;
import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.ApprovalTexts;
import io.sessionkit.approval.Ruling;
import io.sessionkit.autoconfigure.StartFailure;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.autoconfigure.check.KnownProperties.Property;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.context.Summarize;
import io.sessionkit.context.SummaryTrigger;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.internal.door.BeanParts;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.store.SessionPurge;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.stream.TurnStreams;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/**
 * Beans of an application in whose place the auto-configuration defines none, beside what
 * only the bean of the auto-configuration would apply.
 */
class OwnBeansCheckTests {

	/**
	 * Properties and groups that are those of no bean whose place one of the application
	 * can take. A CallerResolver bean beside any-owner-authority is refused where users
	 * are known.
	 */
	private static final List<String> OF_NO_BEAN = List.of("enabled", "ignored-names", "auto-register", "owner",
			"any-owner-authority", "approval.notices", "approval.continuations", "observation", "problem-details",
			"purge.enabled", "shutdown", "titles.by");

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(ConfigurationCheckAutoConfiguration.class, MessageCodecAutoConfiguration.class,
					SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class));

	private final SessionHook hook = new SessionHook() {
	};

	@ParameterizedTest
	@ValueSource(strings = { "trim.max-turns=1", "trim.pins.roles=user", "durability=step", "durability=turn",
			"summarize.trigger-messages=5", "retention.max-turns=5", "tools.timeout=3s", "turn.parameters=context",
			"snapshot.keep-system-text=true", "prune.keep-tool-results=1", "sequence-guard.strict=true",
			"attributes.max-size=1KB", "lease=3s" })
	void propertyOfConversationsIsRefusedBesideThoseOfTheApplication(String property) {
		refuses(conversations(Conversations::of), property, "Conversations", "Conversations.builder(..)");
	}

	@ParameterizedTest
	@ValueSource(strings = { "tools=refund", "owner-decides=true", "siblings=hold" })
	void propertyOfApprovalsIsRefusedBesideThoseOfTheApplication(String property) {
		refuses(approvals(Approvals::of), "approval." + property, "Approvals", "Approvals.builder(..)");
	}

	@ParameterizedTest
	@ValueSource(strings = { "require-session=true", "require-finish-reason=true", "on-cancel=keep",
			"concurrency=reject", "concurrency-timeout=3s", "idempotency-time-to-live=3h" })
	void propertyOfTheAdvisorIsRefusedBesideThatOfTheApplication(String property) {
		refuses(own(SessionAdvisor.class, (beans) -> SessionAdvisor.of(beans.getBean(Conversations.class))), property,
				"SessionAdvisor", "SessionAdvisor.builder(..)");
	}

	@ParameterizedTest
	@ValueSource(strings = { "time-to-live=30d", "token-estimate=vocabulary", "store.view-cache=0" })
	void propertyOfStoreOptionsIsRefusedBesideThoseOfTheApplication(String property) {
		refuses(own(StoreOptions.class, (beans) -> StoreOptions.of(beans.getBean(MessageCodec.class))), property,
				"StoreOptions", "StoreOptions");
	}

	@ParameterizedTest
	@ValueSource(strings = { "store.type=memory", "store.jdbc.table-prefix=APP_", "store.redis.key-prefix=app:",
			"store.memory.max-sessions=5" })
	void propertyOfAStoreIsRefusedBesideThatOfTheApplication(String property) {
		refuses(store((beans) -> beans.getBean(StoreOptions.class)), property, "SessionStore", "constructor");
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "time-to-live=30d", "token-estimate=vocabulary", "store.view-cache=0", "codec.strict=true" })
	void propertyOfStoreOptionsIsRefusedBesideAStoreThatHasOthers(String property) {
		refuses(store((beans) -> StoreOptions.of(JsonMessageCodec.create())), property, "SessionStore",
				"StoreOptions bean");
		store((beans) -> beans.getBean(StoreOptions.class)).withPropertyValues("sessionkit." + property)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void propertyThatHasTheEffectThatItNamesIsNotRefused() {
		store((beans) -> StoreOptions.of(JsonMessageCodec.create().strict()).timeToLive(Duration.ofDays(30)))
			.withPropertyValues("sessionkit.time-to-live=30d", "sessionkit.store.view-cache=16MB",
					"sessionkit.token-estimate=length", "sessionkit.codec.strict=true")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void storeIsAskedForNothingWhereSessionKitIsSwitchedOffOrTheStoreIsAMock() {
		store((beans) -> StoreOptions.of(JsonMessageCodec.create()))
			.withPropertyValues("sessionkit.enabled=false", "sessionkit.store.type=jdbc")
			.run((context) -> assertThat(context).hasNotFailed());
		own(SessionStore.class, (beans) -> mock(SessionStore.class)).withPropertyValues("sessionkit.time-to-live=30d")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void everyPropertyIsThatOfABeanOrOfNone() {
		List<Property> ofBeans = KnownProperties.ALL
			.of(OwnBean.ALL.stream().flatMap((own) -> own.properties().stream()).toList());
		List<Property> ofNone = KnownProperties.ALL
			.of(OF_NO_BEAN.stream().map((name) -> "sessionkit." + name).toList());
		assertThat(Stream.concat(ofBeans.stream(), ofNone.stream()))
			.containsExactlyInAnyOrderElementsOf(KnownProperties.ALL.all());
	}

	@Test
	void propertyOfOtherBeansIsRefusedBesideThoseOfTheApplication() {
		refuses(own(MessageCodec.class, (beans) -> JsonMessageCodec.create()), "codec.strict=true", "MessageCodec",
				"strict()");
		refuses(own(TurnStreams.class, (beans) -> TurnStreams.builder(beans.getBean(Conversations.class)).build()),
				"streams.resumable=true", "TurnStreams", "TurnStreams.builder(..)");
		refuses(own(SessionPurge.class,
				(beans) -> SessionPurge.builder(beans.getBean(SessionStore.class))
					.interval(Duration.ofHours(1))
					.batchSize(10)
					.start()),
				"purge.interval=3h", "SessionPurge", "SessionPurge.builder(..)");
	}

	@Test
	void timesOfSingleToolsAreRefusedBesideConversationsOfTheApplication() {
		FailureAnalysis analysis = StartFailure
			.analysis(conversations(Conversations::of).withPropertyValues("sessionkit.tools.timeouts.refund=3s"));
		assertThat(analysis.getDescription()).contains("'sessionkit.tools.timeouts'");
	}

	private static void refuses(ApplicationContextRunner runner, String property, String type, String cure) {
		FailureAnalysis analysis = StartFailure.analysis(runner.withPropertyValues("sessionkit." + property));
		assertThat(analysis.getDescription()).contains("'sessionkit." + property.replaceAll("=.*", "") + "'")
			.contains(type + " bean 'mine'");
		assertThat(analysis.getAction()).contains(cure);
	}

	@Test
	void propertyOfAnotherBeanIsNotRefused() {
		conversations(Conversations::of)
			.withPropertyValues("sessionkit.time-to-live=30d", "sessionkit.approval.tools=refund",
					"sessionkit.require-session=true")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void policyThatApprovalsOfTheApplicationDoNotHaveIsRefused(boolean enabled) {
		FailureAnalysis analysis = StartFailure.analysis(this.runner.withPropertyValues("sessionkit.enabled=" + enabled)
			.withBean("mine", Approvals.class,
					() -> Approvals
						.of(Conversations.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())))))
			.withBean("deny", ApprovalPolicy.class, () -> (request) -> Ruling.deny("never")));
		assertThat(analysis.getDescription()).contains("ApprovalPolicy bean 'deny'").contains("Approvals bean 'mine'");
		assertThat(analysis.getAction()).contains("Approvals.builder(..)").contains("defaultCandidate = false");
	}

	@Test
	void textsThatApprovalsOfTheApplicationDoNotHaveAreRefused() {
		FailureAnalysis analysis = StartFailure
			.analysis(approvals(Approvals::of).withBean("texts", ApprovalTexts.class, () -> new ApprovalTexts() {
			}));
		assertThat(analysis.getDescription()).contains("ApprovalTexts bean 'texts'");
	}

	@Test
	void policyAndTextsThatApprovalsOfTheApplicationHaveAreNotRefused() {
		ApprovalPolicy policy = (request) -> Ruling.deny("never");
		ApprovalTexts texts = new ApprovalTexts() {
		};
		this.runner.withBean("deny", ApprovalPolicy.class, () -> policy)
			.withBean("texts", ApprovalTexts.class, () -> texts)
			.withInitializer(defining(Approvals.class,
					(beans) -> Approvals.builder(beans.getBean(Conversations.class))
						.policies(List.of(policy))
						.texts(texts)
						.build()))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void hookListenerAndMergeThatConversationsOfTheApplicationDoNotHaveAreRefused() {
		ApplicationContextRunner own = conversations(Conversations::of);
		assertThat(StartFailure.analysis(own.withBean("guard", SessionHook.class, () -> this.hook)).getDescription())
			.contains("SessionHook bean 'guard'")
			.contains("Conversations bean 'mine'");
		assertThat(StartFailure.analysis(own.withBean("told", SessionListener.class, () -> new SessionListener() {
		})).getDescription()).contains("SessionListener bean 'told'");
		HistoryMerge joined = (context, history, input) -> List.of();
		assertThat(StartFailure.analysis(own.withBean("joined", HistoryMerge.class, () -> joined)).getDescription())
			.contains("HistoryMerge bean 'joined'");
	}

	@Test
	void triggerThatConversationsOfTheApplicationDoNotHaveIsRefused() {
		SummaryTrigger trigger = (session) -> false;
		Summarize.Builder rule = Summarize.by(new ScriptedChatModel());
		for (Function<SessionStore, Conversations> each : List.<Function<SessionStore, Conversations>>of(
				Conversations::of, (store) -> Conversations.builder(store).summarize(rule.build()).build())) {
			assertThat(StartFailure.analysis(conversations(each).withBean("long", SummaryTrigger.class, () -> trigger))
				.getDescription()).contains("SummaryTrigger bean 'long'").contains("Conversations bean 'mine'");
		}
		conversations((store) -> Conversations.builder(store).summarize(rule.trigger(trigger).build()).build())
			.withBean("long", SummaryTrigger.class, () -> trigger)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void resolverThatTheAdvisorOfTheApplicationDoesNotHaveIsRefused() {
		SessionKeyResolver resolver = (request) -> Optional.empty();
		ApplicationContextRunner without = own(SessionAdvisor.class,
				(beans) -> SessionAdvisor.of(beans.getBean(Conversations.class)))
			.withBean("sessions", SessionKeyResolver.class, () -> resolver);
		assertThat(StartFailure.analysis(without).getDescription()).contains("SessionKeyResolver bean 'sessions'")
			.contains("SessionAdvisor bean 'mine'");
		own(SessionAdvisor.class,
				(beans) -> SessionAdvisor.builder(beans.getBean(Conversations.class)).resolver(resolver).build())
			.withBean("sessions", SessionKeyResolver.class, () -> resolver)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void hookThatConversationsOfTheApplicationHaveIsNotRefused() {
		conversations((store) -> Conversations.builder(store).hooks(this.hook).build())
			.withBean("guard", SessionHook.class, () -> this.hook)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void hookThatIsNotInjectedIsNotRefused() {
		conversations(Conversations::of)
			.withBean("ofSomeCalls", SessionHook.class, () -> this.hook,
					(definition) -> ((AbstractBeanDefinition) definition).setDefaultCandidate(false))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void allIsAppliedWhereTheApplicationHasNoSuchBeans() {
		this.runner.withBean("guard", SessionHook.class, () -> this.hook)
			.withPropertyValues("sessionkit.trim.max-turns=1", "sessionkit.time-to-live=30d")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(InnerParts.of(context.getBean(Conversations.class), BeanParts.class).has(this.hook))
					.isTrue();
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "approval.tools=refund", "trim.max-turns=1", "tools.timeouts.refund=3s",
			"store.memory.max-sessions=5", "time-to-live=30d", "require-session=true" })
	void propertyOfAContextBelowTheBeanThatHasItIsRefused(String property) {
		this.runner.run((parent) -> {
			String[] pair = property.split("=");
			FailureAnalysis analysis = StartFailure.analysis(this.runner.withParent(parent)
				.withInitializer((context) -> context.getEnvironment()
					.getPropertySources()
					.addFirst(new MapPropertySource("below", Map.of("sessionkit." + pair[0], pair[1])))));
			assertThat(analysis.getDescription())
				.contains("'sessionkit." + property.replaceAll("=.*|\\.refund.*", "") + "'")
				.contains("bean of a context above this one");
			assertThat(analysis.getAction()).contains("Write them for that context");
		});
		ApplicationContextRunner both = this.runner.withPropertyValues("sessionkit." + property);
		both.run((parent) -> both.withParent(parent).run((context) -> assertThat(context).hasNotFailed()));
	}

	/** As arguments of each context are, which hide those of the one above. */
	@Test
	void propertyOfWhichAContextBelowSaysNothingIsNotRefused() {
		this.runner.withInitializer(arguments("sessionkit.trim.max-turns", "5"))
			.run((parent) -> this.runner.withParent(parent)
				.withInitializer(arguments("server.port", "8081"))
				.run((context) -> {
					assertThat(context).hasNotFailed();
					assertThat(context.getEnvironment().containsProperty("sessionkit.trim.max-turns")).isFalse();
				}));
	}

	private static ApplicationContextInitializer<ConfigurableApplicationContext> arguments(String name, String value) {
		return (context) -> context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("arguments", Map.of(name, value)));
	}

	@Test
	void partsOfAContextBelowTheBeanThatWouldNeedThemAreRefused() {
		this.runner.run((parent) -> {
			ApplicationContextRunner below = this.runner.withParent(parent);
			refusesBelow(below.withBean("own", ApprovalPolicy.class, () -> (request) -> Ruling.deny("never")),
					"ApprovalPolicy", "Approvals bean 'sessionKitApprovals'");
			refusesBelow(below.withBean("own", SessionHook.class, () -> this.hook), "SessionHook",
					"Conversations bean 'sessionKitConversations'");
			refusesBelow(below.withBean("own", SessionListener.class, () -> new SessionListener() {
			}), "SessionListener", "Conversations bean 'sessionKitConversations'");
			FailureAnalysis ofEachUse = StartFailure
				.analysis(below.withBean("own", SessionHook.class, () -> new SessionHook() {
				}, (definition) -> definition.setScope("prototype")));
			assertThat(ofEachUse.getDescription()).contains("SessionHook bean of type")
				.contains("Conversations bean 'sessionKitConversations' of a context above this one");
			refusesBelow(below.withBean("own", SessionKeyResolver.class, () -> (request) -> Optional.empty()),
					"SessionKeyResolver", "SessionAdvisor bean 'sessionKitAdvisor'");
		});
	}

	private static void refusesBelow(ApplicationContextRunner below, String part, String owner) {
		FailureAnalysis analysis = StartFailure.analysis(below);
		assertThat(analysis.getDescription()).contains(part + " bean 'own'")
			.contains(owner + " of a context above this one");
		assertThat(analysis.getAction()).contains("Define it in that context");
	}

	@Test
	void partsOfTheContextThatHasTheBeanAreNotRefusedBelow() {
		this.runner.withBean("guard", SessionHook.class, () -> this.hook)
			.withBean("each", SessionHook.class, () -> new SessionHook() {
			}, (definition) -> definition.setScope("prototype"))
			.withBean("deny", ApprovalPolicy.class, () -> (request) -> Ruling.deny("never"))
			.run((parent) -> this.runner.withParent(parent)
				.withBean("ofSomeCalls", SessionHook.class, () -> new SessionHook() {
				}, (definition) -> ((AbstractBeanDefinition) definition).setDefaultCandidate(false))
				.run((context) -> assertThat(context).hasNotFailed()));
	}

	private ApplicationContextRunner conversations(Function<SessionStore, Conversations> built) {
		return own(Conversations.class, (beans) -> built.apply(beans.getBean(SessionStore.class)));
	}

	private ApplicationContextRunner store(Function<BeanFactory, StoreOptions> options) {
		return own(SessionStore.class, (beans) -> new InMemorySessionStore(options.apply(beans)));
	}

	private ApplicationContextRunner approvals(Function<Conversations, Approvals> built) {
		return own(Approvals.class, (beans) -> built.apply(beans.getBean(Conversations.class)));
	}

	private <T> ApplicationContextRunner own(Class<T> type, Function<BeanFactory, T> bean) {
		return this.runner.withInitializer(defining(type, bean));
	}

	private static <T> ApplicationContextInitializer<ConfigurableApplicationContext> defining(Class<T> type,
			Function<BeanFactory, T> bean) {
		return (context) -> ((GenericApplicationContext) context).registerBean("mine", type, () -> bean.apply(context));
	}

}
