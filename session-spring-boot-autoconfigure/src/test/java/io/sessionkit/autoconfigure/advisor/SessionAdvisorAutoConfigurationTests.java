package io.sessionkit.autoconfigure.advisor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionKeyResolver;
import io.sessionkit.autoconfigure.StartFailure;
import io.sessionkit.autoconfigure.check.ConfigurationCheckAutoConfiguration;
import io.sessionkit.autoconfigure.store.MessageCodecAutoConfiguration;
import io.sessionkit.autoconfigure.store.SessionStoreAutoConfiguration;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.UnfinishedReplyException;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionEvent;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.store.Page;
import io.sessionkit.store.SessionPurge;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ScriptedChatModel;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientBuilderCustomizer;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.model.chat.client.autoconfigure.ChatClientAutoConfiguration;
import org.springframework.ai.model.tool.autoconfigure.ToolCallingAutoConfiguration;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class SessionAdvisorAutoConfigurationTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	/** Longer than a busy machine needs. */
	private static final Duration SOON = Duration.ofSeconds(30);

	private static final Consumer<ChatClient.AdvisorSpec> NO_SESSION = (advisors) -> {
	};

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
				SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class,
				ToolCallingAutoConfiguration.class, ChatClientAutoConfiguration.class))
		.withBean(ScriptedChatModel.class, () -> this.model);

	@Test
	void callThatNamesASessionContinuesIt() {
		this.model.says("hello Ada").says("you are Ada");
		this.runner.run((context) -> {
			ChatClient chat = chat(context);
			say(chat, "I am Ada", SessionAdvisor.session(KEY));
			assertThat(say(chat, "who am I?", SessionAdvisor.session(KEY))).isEqualTo("you are Ada");
			assertThat(this.model.lastRequestLines()).containsExactly("user: I am Ada", "assistant: hello Ada",
					"user: who am I?");
			assertThat(stored(context)).containsExactly("I am Ada", "hello Ada", "who am I?", "you are Ada");
		});
	}

	/** Those that docs/configuration.md lists. */
	@Test
	void propertiesOfWhatIsOffAreNotRefusedAndHaveNoEffect() {
		this.runner.withConfiguration(AutoConfigurations.of(ConfigurationCheckAutoConfiguration.class))
			.withPropertyValues("sessionkit.approval.notices.interval=5s", "sessionkit.approval.continuations.run=true",
					"sessionkit.approval.continuations.interval=5s", "sessionkit.approval.continuations.threads=2",
					"sessionkit.streams.on-disconnect=cancel", "sessionkit.streams.max-size=2MB",
					"sessionkit.retention.batch=10", "sessionkit.summarize.keep-turns=2",
					"sessionkit.summarize.mode=before", "sessionkit.purge.enabled=false",
					"sessionkit.purge.interval=1h", "sessionkit.purge.batch-size=50",
					"sessionkit.observation.enabled=false", "sessionkit.observation.waiting-owners=ada",
					"sessionkit.observation.waiting-interval=2m", "sessionkit.store.type=memory",
					"sessionkit.store.jdbc.table-prefix=MY_", "sessionkit.store.redis.key-prefix=my:",
					"sessionkit.store.view-cache=1MB")
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(NoticeDelivery.class)
				.doesNotHaveBean(ContinuationDelivery.class)
				.doesNotHaveBean(SessionPurge.class));
	}

	/** As the table in docs/retention.md has it, also with a layer around the store. */
	@Test
	void sessionsInMemoryAreLookedAtAfterEachTurn() {
		ApplicationContextRunner keeping = this.runner.withPropertyValues("sessionkit.retention.max-turns=1");
		for (ApplicationContextRunner each : List.of(keeping,
				keeping.withBean("own", SessionStore.class, () -> StartReportTests
					.layerAround(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())))))) {
			this.model.says("a1").says("a2");
			each.run((context) -> {
				say(chat(context), "q1", SessionAdvisor.session(KEY));
				say(chat(context), "q2", SessionAdvisor.session(KEY));
				assertThat(stored(context)).containsExactly("q2", "a2");
			});
		}
	}

	@Test
	void bothAdvisorsStandAroundTheToolLoop() {
		this.model.calls(new ToolCall("c1", "function", "weather", "{\"city\":\"Oslo\"}")).says("snow");
		this.runner.run((context) -> {
			String reply = chat(context).prompt()
				.user("weather in Oslo?")
				.tools(weather())
				.advisors(SessionAdvisor.session(KEY))
				.call()
				.content();
			assertThat(reply).isEqualTo("snow");
			assertThat(context.getBean(SessionStore.class).messages(KEY)).extracting(Message::getMessageType)
				.extracting(Enum::name)
				.containsExactly("USER", "ASSISTANT", "TOOL", "ASSISTANT");
		});
	}

	@Test
	void listenerThatNeedsTheSessionsTakesTheirProvider() {
		this.model.says("hello");
		this.runner.withUserConfiguration(ProvidedListener.class).run((context) -> {
			say(chat(context), "hi", SessionAdvisor.session(KEY));
			Awaitility.await()
				.untilAsserted(() -> assertThat(context.getBean(SessionStore.class).find(KEY).orElseThrow().title())
					.isEqualTo("answered"));
		});
	}

	/** Whichever of the two is made first. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void listenerThatNeedsTheSessionsThemselvesIsReportedWithTheCure(boolean last) {
		FailureAnalysis analysis = StartFailure.analysis(this.runner.withUserConfiguration(NeedyListener.class)
			.withInitializer((context) -> context
				.addBeanFactoryPostProcessor((beans) -> beans.getBeanDefinition("needy").setLazyInit(last))));
		assertThat(analysis.getDescription()).contains("needy").contains("sessionKitConversations");
		assertThat(analysis.getAction()).contains("ObjectProvider<Conversations>");
	}

	@Test
	void hookThatNeedsAClientIsReportedWithTheCure() {
		FailureAnalysis analysis = StartFailure.analysis(this.runner.withUserConfiguration(NeedyHook.class));
		assertThat(analysis.getDescription()).contains("needy").contains("sessionKitAdvisorCustomizer");
		assertThat(analysis.getAction()).contains("ObjectProvider<ChatClient.Builder>");
	}

	@Configuration(proxyBeanMethods = false)
	static class ProvidedListener {

		@Bean
		SessionListener answered(ObjectProvider<Conversations> conversations) {
			return new SessionListener() {

				@Override
				public void committed(SessionEvent.Committed event) {
					conversations.getObject().get(event.key()).title("answered");
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NeedyListener {

		@Bean
		SessionListener needy(Conversations conversations) {
			return new SessionListener() {
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NeedyHook {

		@Bean
		SessionHook needy(ChatClient.Builder builder) {
			return new SessionHook() {
			};
		}

	}

	@Test
	void callWithoutASessionLeavesNoTrace() {
		this.model.says("hello");
		this.runner.run((context) -> {
			say(chat(context), "hi", NO_SESSION);
			assertThat(this.model.lastRequestLines()).containsExactly("user: hi");
			assertThat(context.getBean(SessionStore.class).list("", Page.first(10))).isEmpty();
		});
	}

	@Test
	void callWithoutASessionIsRefusedWhereOneIsRequired() {
		this.runner.withPropertyValues("sessionkit.require-session=true").run((context) -> {
			ChatClient chat = chat(context);
			assertThatThrownBy(() -> say(chat, "hi", NO_SESSION)).isInstanceOf(RuntimeException.class)
				.hasMessageContaining("session");
			assertThat(this.model.prompts()).isEmpty();
		});
	}

	@Test
	void streamWithoutAFinishReasonFailsIfTheApplicationWantsIt() {
		this.model.responds(this.model.chunk("half", List.of(), false));
		this.runner.withPropertyValues("sessionkit.require-finish-reason=true")
			.run((context) -> assertThatExceptionOfType(UnfinishedReplyException.class)
				.isThrownBy(() -> chat(context).prompt()
					.user("q")
					.advisors(SessionAdvisor.session(KEY))
					.stream()
					.content()
					.blockLast()));
	}

	@Test
	void answerThatTheReaderStopsReadingIsKeptIfTheApplicationWantsIt() {
		this.model.step((prompt) -> Flux.concat(Flux.just(this.model.chunk("half", List.of(), false)), Flux.never()));
		this.runner.withPropertyValues("sessionkit.on-cancel=keep").run((context) -> {
			chat(context).prompt()
				.user("hi")
				.advisors(SessionAdvisor.session(KEY))
				.stream()
				.content()
				.take(1)
				.blockLast(SOON);
			Awaitility.await().untilAsserted(() -> assertThat(stored(context)).containsExactly("hi", "half"));
		});
	}

	@Test
	void requestIsRememberedForAsLongAsTheApplicationWants() {
		this.runner.withPropertyValues("sessionkit.idempotency-time-to-live=5s").run((context) -> {
			ChatClient chat = chat(context);
			Consumer<ChatClient.AdvisorSpec> request = SessionAdvisor.session(KEY)
				.andThen(SessionAdvisor.idempotencyKey("r1"));
			this.model.says("hello").says("hello again");
			assertThat(say(chat, "hi", request)).isEqualTo("hello");
			assertThat(say(chat, "hi", request)).isEqualTo("hello");
			Awaitility.await()
				.atMost(SOON)
				.untilAsserted(() -> assertThat(say(chat, "hi", request)).isEqualTo("hello again"));
		});
	}

	@Test
	void callThatComesWhileAnotherOneWorksIsRejectedIfTheApplicationWantsIt() {
		this.runner.withPropertyValues("sessionkit.concurrency=reject", "sessionkit.concurrency-timeout=1s")
			.run((context) -> {
				ChatClient chat = chat(context);
				this.model.step((prompt) -> {
					assertThatThrownBy(
							() -> CompletableFuture.supplyAsync(() -> say(chat, "second", SessionAdvisor.session(KEY)))
								.join())
						.hasCauseInstanceOf(TurnInProgressException.class);
					return Flux.just(this.model.chunk("hello", List.of(), true));
				});
				say(chat, "first", SessionAdvisor.session(KEY));
				assertThat(stored(context)).containsExactly("first", "hello");
			});
	}

	@Test
	void resolverOfTheApplicationNamesTheSession() {
		this.model.says("hello");
		this.runner.withBean(SessionKeyResolver.class, () -> (request) -> Optional.of(KEY)).run((context) -> {
			say(chat(context), "hi", NO_SESSION);
			assertThat(stored(context)).containsExactly("hi", "hello");
		});
	}

	@Test
	void mergeOfTheApplicationMakesWhatIsSent() {
		this.model.says("two");
		this.runner.withBean(HistoryMerge.class, () -> (context, history, input) -> input).run((context) -> {
			context.getBean(SessionStore.class).add(KEY, List.of(new UserMessage("q1"), new AssistantMessage("one")));
			say(chat(context), "q2", SessionAdvisor.session(KEY));
			assertThat(this.model.lastRequestLines()).containsExactly("user: q2");
			assertThat(stored(context)).containsExactly("q1", "one", "q2", "two");
		});
	}

	@Test
	void twoMergesAreRefusedUnlessOneIsPrimary() {
		HistoryMerge newest = (context, history, input) -> input;
		this.runner.withBean("a", HistoryMerge.class, () -> newest)
			.withBean("b", HistoryMerge.class, () -> newest)
			.run((context) -> assertThat(context).hasFailed()
				.getFailure()
				.rootCause()
				.isInstanceOf(NoUniqueBeanDefinitionException.class));
		this.runner.withBean("a", HistoryMerge.class, () -> newest)
			.withBean("b", HistoryMerge.class, () -> newest, (definition) -> definition.setPrimary(true))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void parametersOfATurnAreKeptAndShownAgainAsConfigured() {
		this.model.says("one").says("two");
		this.runner
			.withPropertyValues("sessionkit.turn.parameters=context,tenant", "sessionkit.turn.replay=*",
					"sessionkit.turn.replay-exclude=tenant", "sessionkit.snapshot.keep-system-text=true")
			.run((context) -> {
				ChatClient chat = chat(context);
				say(chat, "q1", SessionAdvisor.session(KEY)
					.andThen((advisors) -> advisors.param("context", "found").param("tenant", "acme")));
				chat.prompt().system("be brief").user("q2").advisors(SessionAdvisor.session(KEY)).call().content();
				assertThat(this.model.lastRequestLines()).containsExactly("system: be brief",
						"user: q1\n\n<context>\nfound\n</context>", "assistant: one", "user: q2");
				Conversation thread = context.getBean(Conversations.class).get(KEY);
				assertThat(thread.turns(Tail.ALL).get(0).parameters()).containsEntry("tenant", "acme");
				assertThat(thread.snapshot(2).orElseThrow().system()).isEqualTo("be brief");
			});
	}

	@Test
	void trimmedTurnsStayOutOfTheRequest() {
		this.model.says("three");
		this.runner.withPropertyValues("sessionkit.trim.max-turns=1").run((context) -> {
			SessionStore store = context.getBean(SessionStore.class);
			store.add(KEY, List.of(new UserMessage("q1"), new AssistantMessage("one")));
			store.add(KEY, List.of(new UserMessage("q2"), new AssistantMessage("two")));
			say(chat(context), "q3", SessionAdvisor.session(KEY));
			assertThat(this.model.lastRequestLines()).containsExactly("user: q2", "assistant: two", "user: q3");
			assertThat(store.messages(KEY)).hasSize(6);
		});
	}

	@Test
	void trimmedMessagesStayOutOfTheRequest() {
		this.model.says("three");
		this.runner.withPropertyValues("sessionkit.trim.max-messages=4").run((context) -> {
			SessionStore store = context.getBean(SessionStore.class);
			store.add(KEY, List.of(new UserMessage("q1"), new AssistantMessage("one")));
			store.add(KEY, List.of(new UserMessage("q2"), new AssistantMessage("two")));
			say(chat(context), "q3", SessionAdvisor.session(KEY));
			assertThat(this.model.lastRequestLines()).containsExactly("user: q2", "assistant: two", "user: q3");
		});
	}

	@Test
	void sequenceIsRepairedByDefault() {
		this.model.says("three");
		this.runner.run((context) -> {
			context.getBean(SessionStore.class).add(KEY, List.of(new AssistantMessage("nobody asked")));
			say(chat(context), "q", SessionAdvisor.session(KEY));
			assertThat(this.model.lastRequestLines()).containsExactly("user: q");
		});
	}

	@Test
	void greetingThatBeginsAThreadIsSentWhereThePropertySaysSo() {
		for (boolean sent : new boolean[] { false, true }) {
			this.model.says("hello");
			this.runner.withPropertyValues("sessionkit.sequence-guard.leading-replies=" + sent).run((context) -> {
				context.getBean(SessionStore.class).add(KEY, List.of(new AssistantMessage("welcome")));
				say(chat(context), "hi", SessionAdvisor.session(KEY));
				assertThat(this.model.lastRequestLines().contains("assistant: welcome")).isEqualTo(sent);
			});
		}
	}

	@Test
	void sequenceIsRefusedWhereTheGuardIsStrict() {
		this.runner.withPropertyValues("sessionkit.sequence-guard.strict=true").run((context) -> {
			context.getBean(SessionStore.class).add(KEY, List.of(new AssistantMessage("nobody asked")));
			ChatClient chat = chat(context);
			assertThatThrownBy(() -> say(chat, "q", SessionAdvisor.session(KEY)))
				.hasMessageContaining("not a valid sequence");
			assertThat(this.model.prompts()).isEmpty();
		});
	}

	@Test
	void clientsStayAsTheyAreWithoutAutoRegister() {
		this.model.says("hello").says("hello again");
		this.runner.withPropertyValues("sessionkit.auto-register=false").run((context) -> {
			assertThat(context).doesNotHaveBean(ChatClientBuilderCustomizer.class).hasSingleBean(SessionAdvisor.class);
			say(chat(context), "hi", SessionAdvisor.session(KEY));
			assertThat(stored(context)).isEmpty();
		});
	}

	@Test
	void advisorCanBePutOnAClientByHand() {
		this.model.says("hello");
		this.runner.withPropertyValues("sessionkit.auto-register=false").run((context) -> {
			SessionAdvisor advisor = context.getBean(SessionAdvisor.class);
			ChatClient chat = ChatClient.builder(this.model).defaultAdvisors(advisor).build();
			say(chat, "hi", SessionAdvisor.session(KEY));
			assertThat(stored(context)).containsExactly("hi", "hello");
		});
	}

	@Test
	void advisorOfTheApplicationIsTheOneOfTheClients() {
		SessionAdvisor own = SessionAdvisor.builder(ownConversations()).requireSession(true).build();
		this.runner.withBean("own", SessionAdvisor.class, () -> own).run((context) -> {
			assertThat(context).hasSingleBean(SessionAdvisor.class);
			ChatClient chat = chat(context);
			assertThatThrownBy(() -> say(chat, "hi", NO_SESSION)).hasMessageContaining("session");
		});
	}

	@Test
	void conversationsOfTheApplicationAreTheOnesOfTheAdvisor() {
		this.model.says("hello");
		Conversations own = ownConversations();
		this.runner.withBean("own", Conversations.class, () -> own).run((context) -> {
			say(chat(context), "hi", SessionAdvisor.session(KEY));
			assertThat(stored(context)).isEmpty();
			assertThat(own.get(KEY).messages()).hasSize(2);
		});
	}

	@Test
	void hooksAndListenersOfTheApplicationAreAskedInTheirOrder() {
		this.model.says("hello");
		this.runner.withUserConfiguration(HooksConfiguration.class).run((context) -> {
			say(chat(context), "hi", SessionAdvisor.session(KEY));
			assertThat(this.model.lastRequestLines()).containsExactly("user: hi, first, second");
			assertThat(stored(context)).containsExactly("hi, first, second", "hello");
			assertThat(context.getBean(HooksConfiguration.class).heard).containsExactly("hello");
		});
	}

	@Test
	void applicationWithoutTheChatClientAutoConfigurationStarts() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(MessageCodecAutoConfiguration.class,
					SessionStoreAutoConfiguration.class, SessionAdvisorAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("org.springframework.ai.model.chat.client.autoconfigure"))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(SessionStore.class)
				.hasSingleBean(SessionAdvisor.class));
	}

	private static Conversations ownConversations() {
		return Conversations.of(new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));
	}

	private static ChatClient chat(AssertableApplicationContext context) {
		return context.getBean(ChatClient.Builder.class).build();
	}

	private static String say(ChatClient chat, String text, Consumer<ChatClient.AdvisorSpec> advisors) {
		return String.valueOf(chat.prompt().user(text).advisors(advisors).call().content());
	}

	private static List<String> stored(AssertableApplicationContext context) {
		return context.getBean(SessionStore.class)
			.messages(KEY)
			.stream()
			.map((message) -> "" + message.getText())
			.toList();
	}

	private static FunctionToolCallback<?, ?> weather() {
		return FunctionToolCallback.builder("weather", (City city) -> "-3 in " + city.city())
			.description("the weather in a city")
			.inputType(City.class)
			.build();
	}

	@Configuration(proxyBeanMethods = false)
	static class HooksConfiguration {

		private final List<String> heard = new ArrayList<>();

		@Bean
		@Order(2)
		SessionHook second() {
			return adding("second");
		}

		@Bean
		@Order(1)
		SessionHook first() {
			return adding("first");
		}

		@Bean
		SessionListener listener() {
			return new SessionListener() {

				@Override
				public void textComplete(SessionEvent.TextComplete event) {
					HooksConfiguration.this.heard.add(event.text());
				}

			};
		}

		private static SessionHook adding(String text) {
			return new SessionHook() {

				@Override
				public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
					return HookResult.replace(List.of(new UserMessage(input.get(0).getText() + ", " + text)));
				}

			};
		}

	}

	record City(String city) {
	}

}
