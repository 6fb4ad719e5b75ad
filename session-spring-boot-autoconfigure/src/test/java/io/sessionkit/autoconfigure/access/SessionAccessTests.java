package io.sessionkit.autoconfigure.access;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.access.Caller;
import io.sessionkit.access.CallerRefusedException;
import io.sessionkit.access.CallerRequiredException;
import io.sessionkit.access.CallerResolver;
import io.sessionkit.access.SessionAccess;
import io.sessionkit.access.SessionDoor;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.DeciderRequiredException;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.advisor.SessionAdvisorAutoConfiguration;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.chatmemory.SessionChatMemory;
import io.sessionkit.chatmemory.SessionChatMemoryRepository;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Compensations;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Page;
import io.sessionkit.store.SessionPurge;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreLayer;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.stream.TurnStreams;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanDefinitionCustomizer;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.security.access.hierarchicalroles.RoleHierarchy;
import org.springframework.security.access.hierarchicalroles.RoleHierarchyImpl;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import org.springframework.security.core.context.ReactiveSecurityContextHolderThreadLocalAccessor;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextImpl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;

/**
 * Sessions of an application with Spring Security belong to its users, without a setting.
 */
@Isolated
class SessionAccessTests {

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
				SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class,
				ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class))
		.withBean(ScriptedChatModel.class, () -> this.model)
		.withSystemProperties("sessionkit.owner=")
		.withPropertyValues("sessionkit.store.type=memory");

	@AfterEach
	void signOut() {
		SecurityContextHolder.clearContext();
	}

	private static void signIn(String name, String... authorities) {
		SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken(name, "", authorities));
	}

	static class OrderTools {

		@Tool(name = "cancel_order", description = "cancels an order")
		String cancel(int id) {
			return "cancelled";
		}

	}

	@Test
	void tenLinesOfTheReadmeKeepUsersApart() {
		this.runner.run((context) -> {
			ChatClient chat = context.getBean(ChatClient.Builder.class).build();
			for (String user : List.of("ada", "bob")) {
				signIn(user);
				this.model.says("hello " + user);
				chat.prompt().user("hi").advisors(SessionAdvisor.session("t1")).call().content();
				assertThat(this.model.lastRequest()).hasSize(1);
			}
			SessionStore store = context.getBean(SessionStore.class);
			assertThat(store.list("", Page.first(10))).extracting((session) -> session.key())
				.containsExactly(SessionKey.of("bob", "t1"));
			assertThatExceptionOfType(SessionNotFoundException.class)
				.isThrownBy(() -> store.messages(SessionKey.of("ada", "t1")));
			assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> chat.prompt()
				.user("hi")
				.advisors(SessionAdvisor.session(SessionKey.of("ada", "t1")))
				.call()
				.content());
		});
	}

	@Test
	void nobodyIsSignedInUnlessSomebodyIs() {
		this.runner.run((context) -> {
			Conversations conversations = context.getBean(Conversations.class);
			assertThatExceptionOfType(CallerRequiredException.class).isThrownBy(() -> conversations.get("t1"));
			SecurityContextHolder.getContext()
				.setAuthentication(new AnonymousAuthenticationToken("key", "anonymousUser",
						AuthorityUtils.createAuthorityList("ROLE_ANONYMOUS")));
			assertThatExceptionOfType(CallerRequiredException.class).isThrownBy(() -> conversations.get("t1"));
			TestingAuthenticationToken unauthenticated = new TestingAuthenticationToken("ada", "");
			unauthenticated.setAuthenticated(false);
			SecurityContextHolder.getContext().setAuthentication(unauthenticated);
			assertThatExceptionOfType(CallerRequiredException.class).isThrownBy(() -> conversations.get("t1"));
		});
	}

	@Test
	void streamHasTheUserOfItsReactorContext() {
		this.runner.run((context) -> {
			this.model.says("hello");
			context.getBean(ChatClient.Builder.class)
				.build()
				.prompt()
				.user("hi")
				.advisors(SessionAdvisor.session("t1"))
				.stream()
				.content()
				.subscribeOn(Schedulers.parallel())
				.contextWrite(ReactiveSecurityContextHolder
					.withAuthentication(new TestingAuthenticationToken("ada", "", "A")))
				.blockLast();
			signIn("ada");
			assertThat(context.getBean(SessionStore.class).find(SessionKey.of("t1"))).isPresent();
		});
	}

	@Test
	void authorityReachesAllOwners() {
		this.runner.withPropertyValues("sessionkit.any-owner-authority=ROLE_ADMIN").run((context) -> {
			Conversations conversations = context.getBean(Conversations.class);
			signIn("root", "ROLE_ADMIN");
			assertThat(conversations.get(SessionKey.of("ada", "t1")).key()).isEqualTo(SessionKey.of("ada", "t1"));
			assertThat(conversations.get("t1").key()).isEqualTo(SessionKey.of("root", "t1"));
			signIn("eve", "SESSIONKIT_ANY_OWNER");
			assertThatExceptionOfType(SessionNotFoundException.class)
				.isThrownBy(() -> conversations.get(SessionKey.of("ada", "t1")));
		});
	}

	@Test
	void authorityMayHaveBlanksAroundIt() {
		this.runner
			.withInitializer(
					(context) -> context.getEnvironment()
						.getPropertySources()
						.addFirst(new MapPropertySource("blanks",
								Map.of("sessionkit.any-owner-authority", "SCOPE_chats:all "))))
			.run((context) -> {
				signIn("root", "SCOPE_chats:all");
				assertThat(context.getBean(Conversations.class).get(SessionKey.of("ada", "t1")).key().owner())
					.isEqualTo("ada");
			});
	}

	/** It would count for nobody. */
	@Test
	void authorityThatNobodyIsAskedForIsRefused() {
		ApplicationContextRunner asked = this.runner.withPropertyValues("sessionkit.any-owner-authority=ROLE_ADMIN");
		asked.withPropertyValues("sessionkit.owner=none")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("'sessionkit.any-owner-authority' is 'ROLE_ADMIN'")
				.hasMessageContaining("leave it out"));
		asked.withBean(CallerResolver.class, () -> () -> Optional.of(Caller.of("acme/ada")))
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("'sessionkit.any-owner-authority' is 'ROLE_ADMIN'"));
	}

	@Test
	void accessWithoutCallersIsRefusedIfSessionsAreToBelongToThem() {
		ApplicationContextRunner open = this.runner.withBean(SessionAccess.class, SessionAccess::unlimited);
		open.withPropertyValues("sessionkit.owner=principal")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("'sessionkit.owner' is 'principal'")
				.hasMessageContaining("SessionAccess"));
		open.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void authoritiesThatOthersIncludeCountToo() {
		this.runner
			.withBean(RoleHierarchy.class,
					() -> RoleHierarchyImpl.fromHierarchy("ROLE_ADMIN > SESSIONKIT_ANY_OWNER\nROLE_USER > ROLE_LEAD"))
			.run((context) -> {
				signIn("ada", "ROLE_USER");
				assertThat(context.getBean(SessionAccess.class).caller().authorities())
					.containsExactlyInAnyOrder("ROLE_USER", "ROLE_LEAD");
				assertThat(context.getBean(SessionAccess.class).caller().anyOwner()).isFalse();
				signIn("root", "ROLE_ADMIN");
				assertThat(context.getBean(SessionAccess.class).caller().anyOwner()).isTrue();
			});
	}

	@Test
	void decisionIsThatOfTheUserAndNeedsTheAuthority() {
		this.runner.withBean(OrderTools.class)
			.withPropertyValues("sessionkit.approval.deciders=cancel_order=ROLE_LEAD,cancel_order=ROLE_BOSS",
					"sessionkit.approval.owner-decides=false")
			.run((context) -> {
				signIn("ada", "ROLE_LEAD");
				this.model.calls(new ToolCall("c1", "function", "cancel_order", "{\"id\":1}"));
				context.getBean(ChatClient.Builder.class)
					.build()
					.prompt()
					.user("cancel")
					.tools(context.getBean(OrderTools.class))
					.advisors(SessionAdvisor.session("t1"))
					.call()
					.content();
				Approvals approvals = context.getBean(Approvals.class);
				ToolApproval call = approvals.pending(SessionKey.of("t1")).get(0);
				assertThatExceptionOfType(DeciderRequiredException.class)
					.isThrownBy(() -> approvals.approve(call, "eve"));
				signIn("eve", "ROLE_BOSS");
				assertThat(approvals.approve(call, "ada").decision().by()).isEqualTo("eve");
			});
	}

	@Test
	void workOfTheServerNeedsNoUser() {
		this.runner.withPropertyValues("sessionkit.retention.max-turns=50", "sessionkit.summarize.trigger-messages=2")
			.run((context) -> {
				assertThat(context).hasNotFailed().hasSingleBean(SessionPurge.class);
				SessionAccess access = context.getBean(SessionAccess.class);
				SessionStore store = context.getBean(SessionStore.class);
				access.callAs(Caller.server(), () -> {
					store.add(SessionKey.of("ada", "t1"), List.of(new UserMessage("q")));
					return store;
				});
				signIn("ada");
				assertThat(store.messages(SessionKey.of("t1"))).hasSize(1);
			});
	}

	@Test
	void storeOfTheApplicationIsGuardedToo() {
		this.runner
			.withBean("ours", SessionStore.class,
					() -> new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())))
			.run((context) -> assertThatExceptionOfType(CallerRequiredException.class)
				.isThrownBy(() -> context.getBean(SessionStore.class).find(SessionKey.of("t1"))));
	}

	/** It might be meant either way. */
	@ParameterizedTest
	@ValueSource(strings = { "", " " })
	void blankOwnerIsRefused(String owner) {
		this.runner.withPropertyValues("sessionkit.owner=" + owner)
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("Write principal or none"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "PRINCIPAL", "principal " })
	void ownerIsReadInAnyWayOfWriting(String owner) {
		this.runner.withPropertyValues("sessionkit.owner=" + owner)
			.run((context) -> assertThatExceptionOfType(CallerRequiredException.class)
				.isThrownBy(() -> context.getBean(Conversations.class).get("t1")));
	}

	@Test
	void userWithoutANameIsNotTheOwnerOfSessionsWithoutOne() {
		this.runner.run((context) -> {
			Conversations conversations = context.getBean(Conversations.class);
			for (String name : Arrays.asList(null, "", "a\nb", "x".repeat(256))) {
				SecurityContextHolder.getContext()
					.setAuthentication(new TestingAuthenticationToken(name, "", "SESSIONKIT_ANY_OWNER"));
				assertThatExceptionOfType(CallerRefusedException.class).isThrownBy(() -> conversations.get("t1"))
					.withMessageContaining("PrincipalOwner")
					.withMessageNotContaining("xxx");
			}
		});
	}

	private static void asNoDefault(BeanDefinition bean) {
		((AbstractBeanDefinition) bean).setDefaultCandidate(false);
	}

	/** Also one that is created later, or that nothing gets injected by its type. */
	@ParameterizedTest
	@EnumSource(Unguarded.class)
	void beanThatReachesEverybodysSessionsIsRefused(Unguarded door) {
		for (BeanDefinitionCustomizer kind : List.<BeanDefinitionCustomizer>of(SessionAccessTests::asNoDefault,
				(bean) -> bean.setLazyInit(true), (bean) -> bean.setScope(BeanDefinition.SCOPE_PROTOTYPE))) {
			this.runner.withBean("ours", SessionDoor.class, door::made, kind)
				.run((context) -> assertThatExceptionOfType(Exception.class).isThrownBy(() -> context.getBean("ours"))
					.havingRootCause()
					.isInstanceOf(ConfigurationRefusedException.class)
					.withMessageContaining("'ours'")
					.withMessageContaining("reaches the sessions of everybody"));
		}
		this.runner.withBean("ours", SessionDoor.class, door::made, SessionAccessTests::asNoDefault)
			.withPropertyValues("sessionkit.owner=none")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/** No post processor sees it. */
	@ParameterizedTest
	@EnumSource(Unguarded.class)
	void objectThatIsRegisteredAsABeanIsRefusedToo(Unguarded door) {
		this.runner.withInitializer((context) -> context.getBeanFactory().registerSingleton("ours", door.made()))
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("reaches the sessions of everybody"));
	}

	@Test
	void storeThatIsRegisteredAsABeanIsRefused() {
		this.runner.withInitializer((context) -> context.getBeanFactory().registerSingleton("ours", Unguarded.store()))
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("'ours'")
				.hasMessageContaining("no post processor depend on it"));
	}

	/** As {@code @MockitoBean} does it. */
	@Test
	void mockOfTheStoreIsNoWayToSessions() {
		this.runner.withInitializer(
				(context) -> context.getBeanFactory().registerSingleton("sessionKitStore", mock(SessionStore.class)))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/** Of two checks SessionKit could take off only the outer one for work of its own. */
	@Test
	void scopedStoreOfTheApplicationIsGuardedOnce() {
		this.runner.withUserConfiguration(ScopedStore.class).run((context) -> {
			SessionStore store = context.getBean(SessionStore.class);
			assertThatExceptionOfType(CallerRequiredException.class)
				.isThrownBy(() -> store.find(SessionKey.of("ada", "t1")));
			assertThat(StoreLayer.beneath(store).find(SessionKey.of("ada", "t1"))).isEmpty();
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class ScopedStore {

		@Bean
		@Scope(value = BeanDefinition.SCOPE_PROTOTYPE, proxyMode = ScopedProxyMode.INTERFACES)
		SessionStore ours() {
			return Unguarded.store();
		}

	}

	/** Such beans are injected too. */
	@Test
	void beanOfAParentIsRefusedToo() {
		try (GenericApplicationContext parent = new GenericApplicationContext()) {
			parent.registerBean("ours", Conversations.class, () -> Conversations.of(Unguarded.store()));
			parent.refresh();
			this.runner.withParent(parent)
				.run((context) -> assertThat(context.getStartupFailure()).rootCause()
					.hasMessageContaining("the Conversations bean that it is built on"));
		}
	}

	@Test
	void guardedBeansOfTheApplicationAreAccepted() {
		this.runner.withUserConfiguration(GuardedBeans.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Configuration(proxyBeanMethods = false)
	static class GuardedBeans {

		@Bean(defaultCandidate = false)
		Conversations onTheStore(SessionStore store) {
			return Conversations.of(store);
		}

		@Bean(defaultCandidate = false)
		Conversations withTheAccess(SessionAccess access) {
			return Conversations.builder(Unguarded.store()).access(access).build();
		}

		@Bean(defaultCandidate = false)
		SessionAdvisor advisor(Conversations conversations) {
			return SessionAdvisor.of(conversations);
		}

		@Bean
		SessionChatMemory memory(SessionStore store, SessionAccess access) {
			return SessionChatMemory.of(store, () -> access.caller().name());
		}

	}

	/** The beans by which an application comes to sessions. */
	enum Unguarded {

		CONVERSATIONS, ADVISOR, APPROVALS, COMPENSATIONS, STREAMS, MEMORY, REPOSITORY;

		static SessionStore store() {
			return new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));
		}

		SessionDoor made() {
			Conversations open = Conversations.of(store());
			return switch (this) {
				case CONVERSATIONS -> open;
				case ADVISOR -> SessionAdvisor.of(open);
				case APPROVALS -> Approvals.of(open);
				case COMPENSATIONS -> Compensations.builder(open, Approvals.of(open)).build();
				case STREAMS -> TurnStreams.builder(open).build();
				case MEMORY -> SessionChatMemory.of(store(), () -> "ada");
				case REPOSITORY -> SessionChatMemoryRepository.of(store(), () -> "ada");
			};
		}

	}

	@Test
	void resolverOfTheApplicationComesFirst() {
		this.runner.withBean(CallerResolver.class, () -> () -> Optional.of(Caller.of("acme/ada")))
			.run((context) -> assertThat(context.getBean(Conversations.class).get("t1").key())
				.isEqualTo(SessionKey.of("acme/ada", "t1")));
	}

	/**
	 * A resolver says itself who reaches all owners, so the authority would do nothing.
	 */
	@Test
	void authorityThatAResolverOfTheApplicationDoesNotApplyIsRefused() {
		this.runner.withBean(CallerResolver.class, () -> () -> Optional.of(Caller.of("acme/ada")))
			.withPropertyValues("sessionkit.any-owner-authority=ROLE_ADMIN")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("sessionkit.any-owner-authority")
				.hasMessageContaining("CallerResolver"));
	}

	@Configuration(proxyBeanMethods = false)
	static class Tenants {

		private static final Map<String, String> TENANTS = Map.of("ada", "acme", "root", "acme");

		static String tenant(Authentication user) {
			return TENANTS.getOrDefault(user.getName(), "none");
		}

		// tag::tenant
		@Bean
		PrincipalOwner owners() {
			return (user) -> tenant(user) + ":" + user.getName();
		}
		// end::tenant

	}

	@Configuration(proxyBeanMethods = false)
	static class LowerCase {

		// tag::lower-case
		@Bean
		PrincipalOwner owners() {
			return (user) -> user.getName().toLowerCase(Locale.ROOT);
		}
		// end::lower-case

	}

	@Test
	void ownerOfAUserCanBeNamedInCallsInStreamsAndOnThreadsThatTakeTheUserAlong() {
		this.runner.withUserConfiguration(Tenants.class).run((context) -> {
			SessionAccess access = context.getBean(SessionAccess.class);
			TestingAuthenticationToken ada = new TestingAuthenticationToken("ada", "", "ROLE_LEAD");
			Caller expected = Caller.of("acme:ada", "ROLE_LEAD");
			assertThat(access.caller(ReactiveSecurityContextHolder.withAuthentication(ada)).block())
				.isEqualTo(expected);
			ReactiveSecurityContextHolderThreadLocalAccessor carried = new ReactiveSecurityContextHolderThreadLocalAccessor();
			carried.setValue(Mono.just(new SecurityContextImpl(ada)));
			try {
				assertThat(access.caller()).isEqualTo(expected);
			}
			finally {
				carried.setValue();
			}
			signIn("ada", "ROLE_LEAD");
			assertThat(access.caller()).isEqualTo(expected);
			signIn("root", "SESSIONKIT_ANY_OWNER");
			assertThat(access.caller().anyOwner()).isTrue();
		});
	}

	@Test
	void ownerThatNobodyAsksForIsRefused() {
		ApplicationContextRunner named = this.runner.withUserConfiguration(Tenants.class);
		for (ApplicationContextRunner each : List.of(named.withPropertyValues("sessionkit.owner=none"),
				named.withBean(CallerResolver.class, () -> () -> Optional.of(Caller.of("ada"))))) {
			each.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("PrincipalOwner bean is never asked"));
		}
	}

	@Test
	void resolverBesideAnAccessThatLetsEverybodyReachAllSessionsIsRefused() {
		CallerResolver resolver = () -> Optional.of(Caller.of("acme/ada"));
		ApplicationContextRunner both = this.runner.withBean("tenants", CallerResolver.class, () -> resolver);
		both.withBean(SessionAccess.class, SessionAccess::unlimited)
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("CallerResolver bean is never asked"));
		both.withBean(SessionAccess.class, () -> SessionAccess.of(resolver))
			.run((context) -> assertThat(context).hasNotFailed());
		this.runner.withBean(SessionAccess.class, SessionAccess::unlimited)
			.withBean("tenants", CallerResolver.class, () -> resolver,
					(definition) -> ((AbstractBeanDefinition) definition).setDefaultCandidate(false))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void userHasTheSameThreadsInEachWayOfWritingTheName() {
		this.runner.withUserConfiguration(LowerCase.class).run((context) -> {
			signIn("Eve");
			assertThat(context.getBean(Conversations.class).get("t1").key()).isEqualTo(SessionKey.of("eve", "t1"));
		});
	}

	@Test
	void withoutSpringSecurityNothingChangesUnlessItIsAskedFor() {
		ApplicationContextRunner without = this.runner
			.withClassLoader(new FilteredClassLoader("org.springframework.security"));
		without.run((context) -> assertThat(context.getBean(Conversations.class).get("t1").key())
			.isEqualTo(SessionKey.of("t1")));
		without.withPropertyValues("sessionkit.owner=principal")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("spring-boot-starter-security"));
		without.withPropertyValues("sessionkit.approval.deciders=a=B")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("sessionkit.owner=principal"));
	}

	@Test
	void noneLeavesTheOwnersToTheCalls() {
		this.runner.withPropertyValues("sessionkit.owner=none").run((context) -> {
			assertThat(context.getBean(Conversations.class).get("t1").key()).isEqualTo(SessionKey.of("t1"));
			assertThat(context.getBean(SessionStore.class)).isInstanceOf(InMemorySessionStore.class);
		});
	}

}
