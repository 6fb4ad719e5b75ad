package io.sessionkit.hook;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.NestedTurnException;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.Verdict;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.CommitFailedException;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ObservedStore.Fault;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

@Isolated
class SessionListenerTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final Recorder recorder = new Recorder();

	static List<ClientSetup> setups() {
		return ClientSetup.all();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void listenersHearWhatHappensInOrder(ClientSetup setup) {
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1"), SessionAdvisorTests.call("c2", "add", "2"))
			.says("done");
		setup.content(prompt(client(setup, List.of(), this.recorder), "q"));
		assertThat(this.recorder.lines).containsExactly("model", "called add c1", "called add c2", "returned 1",
				"returned 2", "model", "text done", "committed COMPLETED");
		assertThat(this.recorder.events).allSatisfy((event) -> {
			assertThat(event.key()).isEqualTo(T1);
			assertThat(event.turnId()).isEqualTo(this.store.turns(T1, Tail.ALL).get(0).id());
		});
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void resultsThatReturnDirectlyAreHeard(ClientSetup.Mode mode) {
		this.model.calls(SessionAdvisorTests.call("c1", "now", "noon"));
		ClientSetup setup = setup(mode);
		ChatClient chat = setup
			.builder(this.model, SessionAdvisor.of(Conversations.builder(this.store).listeners(this.recorder).build()))
			.defaultTools(SessionAdvisorTests.direct("now"))
			.build();
		setup.content(prompt(chat, "q"));
		assertThat(this.recorder.lines).containsExactly("model", "called now c1", "returned noon",
				"committed COMPLETED");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void listenerOfACallHearsThatCallOnly(ClientSetup.Mode mode) {
		this.model.says("a").says("b");
		Recorder second = new Recorder();
		ChatClient chat = client(setup(mode), List.of());
		setup(mode).content(prompt(chat, "q").advisors(SessionAdvisor.listener(this.recorder))
			.advisors(SessionAdvisor.listener(second)));
		setup(mode).content(prompt(chat, "q"));
		assertThat(this.recorder.lines).containsExactly("model", "text a", "committed COMPLETED");
		assertThat(second.lines).isEqualTo(this.recorder.lines);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void refusedTurnIsHeardWithItsVerdictAndWithoutTheText(ClientSetup.Mode mode) {
		List<SessionHook> guards = List.of(TestHooks.beforeTurn("guard", (input) -> HookResult.refuse("no")),
				TestHooks.afterModel("guard", (reply) -> HookResult.refuse("no")),
				TestHooks.beforeSave("guard", (turn) -> HookResult.refuse("no")));
		for (SessionHook guard : guards) {
			this.model.says("secret");
			Throwable thrown = catchThrowable(
					() -> setup(mode).content(prompt(client(setup(mode), List.of(guard), this.recorder), "q")));
			assertThat(thrown).isInstanceOf(SessionRefusedException.class);
		}
		assertThat(this.recorder.lines).containsExactly("refused guard no", "model", "refused guard no", "model",
				"refused guard no");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void textThatHooksCheckIsHeardAsTheyLeftItWhenTheTurnIsStored(ClientSetup.Mode mode) {
		this.model.says("secret");
		SessionHook change = TestHooks.afterModel("change",
				(reply) -> HookResult.replace(new AssistantMessage("fine")));
		setup(mode).content(prompt(client(setup(mode), List.of(change), this.recorder), "q"));
		assertThat(this.recorder.lines).containsExactly("model", "text fine", "committed COMPLETED");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void answerOfAHookIsHeardAsText(ClientSetup.Mode mode) {
		SessionHook answer = TestHooks.beforeTurn("faq", (input) -> HookResult.answer("at nine"));
		setup(mode).content(prompt(client(setup(mode), List.of(answer), this.recorder), "q"));
		assertThat(this.recorder.lines).containsExactly("text at nine", "committed COMPLETED");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void turnThatFailsIsHeardOnce(ClientSetup.Mode mode) {
		this.model.fails(new IllegalStateException("down")).says("a").says("b").step((prompt) -> Flux.empty());
		ChatClient chat = client(setup(mode), List.of(), this.recorder);
		assertThatThrownBy(() -> setup(mode).content(prompt(chat, "q"))).hasMessage("down");
		this.store.failAt(Fault.COMMIT);
		assertThat(catchThrowable(() -> setup(mode).content(prompt(chat, "q"))))
			.isInstanceOf(CommitFailedException.class);
		this.store.failAt(Fault.NONE);
		this.store.beforeCommit(() -> {
			this.store.beforeCommit(() -> {
			});
			this.store.add(T1, List.of(new UserMessage("theirs")));
		});
		assertThat(catchThrowable(() -> setup(mode).content(prompt(chat, "q"))))
			.isInstanceOf(SessionConflictException.class);
		setup(mode).content(prompt(chat, "q"));
		assertThat(this.recorder.lines).containsExactly("model", "failed FAILED java.lang.IllegalStateException",
				"model", "text a", "failed UNKNOWN io.sessionkit.store.CommitFailedException", "model", "text b",
				"failed FAILED io.sessionkit.SessionConflictException", "model", "failed FAILED no reply");
	}

	/** The message may be sent again only if it is certain that nothing is stored. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void turnThatIsCertainlyNotStoredIsHeardAsNothing(ClientSetup.Mode mode) {
		this.model.says("a");
		this.store.beforeCommit(() -> {
			throw StoreUnavailableException.unwritten("full", null);
		});
		ChatClient chat = client(setup(mode), List.of(), this.recorder);
		assertThat(catchThrowable(() -> setup(mode).content(prompt(chat, "q"))))
			.isInstanceOf(CommitFailedException.class);
		assertThat(this.recorder.lines).last().isEqualTo("failed NOTHING io.sessionkit.store.CommitFailedException");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void turnThatHasFailedAndThatTheStoreRefusesIsHeardAsNothing(ClientSetup.Mode mode) {
		this.model.fails(new IllegalStateException("down"));
		this.store.beforeCommit(() -> {
			throw StoreUnavailableException.unwritten("full", null);
		});
		ChatClient chat = client(setup(mode), List.of(), this.recorder);
		assertThatThrownBy(() -> setup(mode).content(prompt(chat, "q"))).hasMessage("down");
		assertThat(this.recorder.lines).last().isEqualTo("failed NOTHING java.lang.IllegalStateException");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void turnThatIsNotStoredIsHeardAsNothingIfItFails(ClientSetup.Mode mode) {
		this.model.fails(new IllegalStateException("down"));
		ChatClient chat = client(setup(mode), List.of());
		assertThatThrownBy(() -> setup(mode).content(
				prompt(chat, "q").advisors(SessionAdvisor.reading()).advisors(SessionAdvisor.listener(this.recorder))))
			.hasMessage("down");
		assertThat(this.recorder.lines).last().isEqualTo("failed NOTHING java.lang.IllegalStateException");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void turnWhoseEndIsNotStoredIsHeardAsOpen(ClientSetup.Mode mode) {
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).step((prompt) -> {
			this.store.beforeCommit(() -> {
				throw StoreUnavailableException.unwritten("full", null);
			});
			return Flux.just(this.model.chunk("a", List.of(), true));
		});
		Conversations conversations = Conversations.builder(this.store)
			.durability(Durability.STEP)
			.listeners(this.recorder)
			.build();
		assertThat(catchThrowable(() -> setup(mode).content(prompt(client(setup(mode), conversations), "q"))))
			.isInstanceOf(CommitFailedException.class);
		assertThat(this.store.find(T1).orElseThrow().openTurn()).isEqualTo(1);
		assertThat(this.recorder.lines).last().isEqualTo("failed INCOMPLETE io.sessionkit.store.CommitFailedException");
	}

	@Test
	void cancelledTurnIsHeard() {
		this.model.step((prompt) -> Flux.concat(Flux.just(this.model.chunk("half", List.of(), false)), Flux.never()));
		StepVerifier.create(prompt(client(ClientSetup.streaming(), List.of(), this.recorder), "q").stream().content())
			.expectNextCount(1)
			.thenCancel()
			.verify(Duration.ofSeconds(30));
		Awaitility.await().until(() -> this.recorder.lines.size() == 2);
		assertThat(this.recorder.lines).containsExactly("model", "failed CANCELLED null");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void listenerThatThrowsDisturbsNobody(ClientSetup setup) {
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).says("done");
		assertThat(setup.content(prompt(client(setup, List.of(), new Broken(), this.recorder), "q"))).isEqualTo("done");
		assertThat(Lines.of(this.store.messages(T1))).hasSize(4);
		assertThat(this.recorder.lines).hasSize(6);
	}

	/** The turn could not become history after that. */
	@ParameterizedTest
	@MethodSource("setups")
	void listenerWritesToItsSessionWhenTheTurnHasEnded(ClientSetup setup) {
		Conversations conversations = Conversations.builder(this.store).build();
		Writing writing = new Writing(conversations.get(T1));
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).says("done");
		assertThat(setup.content(prompt(client(setup, conversations), "q").advisors(SessionAdvisor.listener(writing))))
			.isEqualTo("done");
		assertThat(writing.refused).hasSize(10)
			.allSatisfy((text) -> assertThat(text).contains("t1", "listener", "Nothing was changed",
					"SessionListener.committed(..)"));
		assertThat(this.store.find(T1).orElseThrow().attributes()).containsOnlyKeys("written");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callOfAListenerOnItsSessionOnlyReadsUntilTheTurnHasEnded(ClientSetup.Mode mode) {
		ChatClient chat = client(setup(mode), List.of());
		List<String> answers = new CopyOnWriteArrayList<>();
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).says("inner").says("done").says("after");
		setup(mode).content(prompt(chat, "q").advisors(SessionAdvisor.listener(new SessionListener() {

			@Override
			public void toolCalled(SessionEvent.ToolCalled event) {
				answers.add(setup(mode).content(prompt(chat, "inner question")));
			}

			@Override
			public void committed(SessionEvent.Committed event) {
				answers.add(setup(mode).content(prompt(chat, "next question")));
			}

		})));
		assertThat(answers).containsExactly("inner", "after");
		assertThat(Lines.of(this.store.messages(T1))).hasSize(6).noneMatch((line) -> line.contains("inner"));
	}

	/** The call that has failed would hold the place in line for which it waits. */
	@ParameterizedTest
	@EnumSource(names = { "REJECT", "SERIALIZE", "STEER" })
	void callOfAListenerOnItsSessionDoesNotWaitForTheCallThatHasFailed(Concurrency concurrency) {
		ChatClient chat = client(ClientSetup.plain(), List.of());
		List<String> answers = new CopyOnWriteArrayList<>();
		SessionListener listener = new SessionListener() {

			@Override
			public void failed(SessionEvent.Failed event) {
				ask("failed");
			}

			@Override
			public void refused(SessionEvent.Refused event) {
				ask("refused");
			}

			private void ask(String question) {
				answers.add(prompt(chat, question).advisors(SessionAdvisor.concurrency(concurrency)).call().content());
			}

		};
		this.model.fails(new IllegalStateException("down")).says("not down").says("bad").says("good");
		assertThatThrownBy(() -> prompt(chat, "q").advisors(SessionAdvisor.concurrency(concurrency))
			.advisors(SessionAdvisor.listener(listener))
			.call()
			.content()).hasMessage("down");
		SessionHook guard = TestHooks.afterModel("guard", (reply) -> HookResult.refuse("no"));
		assertThatThrownBy(() -> prompt(chat, "q").advisors(SessionAdvisor.concurrency(concurrency))
			.advisors(SessionAdvisor.hook(guard))
			.advisors(SessionAdvisor.listener(listener))
			.call()
			.content()).isInstanceOf(SessionRefusedException.class);
		assertThat(answers).containsExactly("not down", "good");
	}

	@Test
	void whatSessionKitRefusesAListenerIsLoggedWithItsText() {
		Conversations conversations = Conversations.builder(this.store).build();
		this.model.says("a");
		List<ILoggingEvent> logged = logged("io.sessionkit.internal.round.TurnEvents",
				() -> prompt(client(ClientSetup.plain(), conversations), "q")
					.advisors(SessionAdvisor.listener(new SessionListener() {

						@Override
						public void modelCalled(SessionEvent.ModelCalled event) {
							conversations.get(event.key()).putAttribute("a", 1);
						}

					}))
					.call()
					.content());
		assertThat(logged).singleElement()
			.satisfies((event) -> assertThat(event.getFormattedMessage()).contains(NestedTurnException.class.getName(),
					SessionListenerTests.class.getName(), "cannot be given attributes", "committed(..)"));
	}

	@Test
	void turnWithoutAReplyIsLoggedOnceWithoutTexts() {
		this.model.says("").says("secret");
		SessionHook empty = TestHooks.afterModel("empty", (reply) -> HookResult.replace(new AssistantMessage("")));
		List<ILoggingEvent> logged = logged("io.sessionkit.internal.commit.TurnKeeper", () -> {
			prompt(client(ClientSetup.plain(), List.of()), "q").call().content();
			prompt(client(ClientSetup.plain(), List.of(empty)), "secret").call().content();
		});
		assertThat(logged).hasSize(2).allSatisfy((event) -> {
			assertThat(event.getLevel()).isEqualTo(Level.WARN);
			assertThat(event.getFormattedMessage()).contains("t1", "no reply").doesNotContain("secret");
		});
	}

	@Test
	void turnInStepsWithoutAReplyIsLoggedAsOneThatIsStillOpen() {
		Conversations steps = Conversations.builder(this.store).durability(Durability.STEP).build();
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).says("");
		List<ILoggingEvent> logged = logged("io.sessionkit.internal.commit.TurnKeeper",
				() -> prompt(client(ClientSetup.plain(), steps), "q").call().content());
		assertThat(logged).singleElement()
			.satisfies((event) -> assertThat(event.getFormattedMessage())
				.contains("still open; call again without a message")
				.doesNotContain("kept as failed"));
	}

	private static List<ILoggingEvent> logged(String name, Runnable work) {
		ListAppender<ILoggingEvent> appender = new ListAppender<>();
		appender.start();
		Logger logger = (Logger) LoggerFactory.getLogger(name);
		Level level = logger.getLevel();
		logger.setLevel(Level.WARN);
		logger.setAdditive(false);
		logger.addAppender(appender);
		try {
			work.run();
		}
		finally {
			logger.detachAppender(appender);
			logger.setAdditive(true);
			logger.setLevel(level);
		}
		return appender.list;
	}

	@Test
	void whatAListenerThrewIsLoggedByItsClassOnly() {
		this.model.says("secret");
		List<ILoggingEvent> logged = logged("io.sessionkit.internal.round.TurnEvents",
				() -> prompt(client(ClientSetup.plain(), List.of(), new Broken()), "q").call().content());
		assertThat(logged).hasSize(3).allSatisfy((event) -> {
			assertThat(event.getFormattedMessage()).doesNotContain("secret").doesNotContain("broken");
			assertThat(event.getThrowableProxy()).isNull();
		});
		assertThat(logged).extracting(ILoggingEvent::getFormattedMessage)
			.anyMatch((line) -> line.contains(AssertionError.class.getName()));
	}

	private static ClientSetup setup(ClientSetup.Mode mode) {
		return new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
	}

	private ChatClient client(ClientSetup setup, List<SessionHook> hooks, SessionListener... listeners) {
		return client(setup, Conversations.builder(this.store).hooks(hooks).listeners(listeners).build());
	}

	private ChatClient client(ClientSetup setup, Conversations conversations) {
		return setup.builder(this.model, SessionAdvisor.of(conversations))
			.defaultTools(SessionAdvisorTests.echo("add"))
			.build();
	}

	private static ChatClient.ChatClientRequestSpec prompt(ChatClient chat, String text) {
		return chat.prompt().user(text).advisors(SessionAdvisor.session(T1));
	}

	/**
	 * Notes what it hears.
	 */
	private static final class Recorder implements SessionListener {

		private final List<String> lines = new CopyOnWriteArrayList<>();

		private final List<SessionEvent> events = new CopyOnWriteArrayList<>();

		@Override
		public void modelCalled(SessionEvent.ModelCalled event) {
			note(event, "model");
		}

		@Override
		public void textComplete(SessionEvent.TextComplete event) {
			note(event, "text " + event.text());
		}

		@Override
		public void toolCalled(SessionEvent.ToolCalled event) {
			note(event, "called " + event.call().name() + " " + event.call().id());
		}

		@Override
		public void toolReturned(SessionEvent.ToolReturned event) {
			note(event, "returned " + event.response().responseData());
		}

		@Override
		public void refused(SessionEvent.Refused event) {
			Verdict verdict = event.verdict();
			note(event, "refused " + verdict.hook() + " " + verdict.reason());
		}

		@Override
		public void committed(SessionEvent.Committed event) {
			note(event, "committed " + event.turn().status());
		}

		@Override
		public void failed(SessionEvent.Failed event) {
			boolean kept = event.kept() == SessionEvent.Kept.TURN;
			assertThat(event.status() != null).isEqualTo(kept);
			note(event, "failed " + (kept ? event.status() : event.kept()) + " " + event.failure());
		}

		private void note(SessionEvent event, String line) {
			this.events.add(event);
			this.lines.add(line);
		}

	}

	/**
	 * Writes to its session wherever it can.
	 */
	private static final class Writing implements SessionListener {

		private final List<String> refused = new CopyOnWriteArrayList<>();

		private final Conversation conversation;

		Writing(Conversation conversation) {
			this.conversation = conversation;
		}

		@Override
		public void modelCalled(SessionEvent.ModelCalled event) {
			write();
		}

		@Override
		public void textComplete(SessionEvent.TextComplete event) {
			write();
		}

		@Override
		public void toolCalled(SessionEvent.ToolCalled event) {
			write();
		}

		@Override
		public void toolReturned(SessionEvent.ToolReturned event) {
			write();
		}

		private void write() {
			List<Runnable> writes = List.of(() -> this.conversation.putAttribute("written", 1),
					this.conversation::reset);
			writes.forEach((each) -> this.refused.add(String.valueOf(catchThrowable(each::run).getMessage())));
		}

		@Override
		public void committed(SessionEvent.Committed event) {
			this.conversation.putAttribute("written", 1);
		}

	}

	/**
	 * Throws wherever it can.
	 */
	private static final class Broken implements SessionListener {

		@Override
		public void modelCalled(SessionEvent.ModelCalled event) {
			throw new IllegalStateException("broken");
		}

		@Override
		public void textComplete(SessionEvent.TextComplete event) {
			throw new AssertionError(event.text());
		}

		@Override
		public void toolCalled(SessionEvent.ToolCalled event) {
			throw new IllegalStateException("broken");
		}

		@Override
		public void toolReturned(SessionEvent.ToolReturned event) {
			throw new IllegalStateException("broken");
		}

		@Override
		public void committed(SessionEvent.Committed event) {
			throw new IllegalStateException("broken");
		}

	}

}
