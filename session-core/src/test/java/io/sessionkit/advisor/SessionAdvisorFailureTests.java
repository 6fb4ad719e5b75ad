package io.sessionkit.advisor;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.context.InvalidSequenceException;
import io.sessionkit.context.UnfinishedReplyException;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.guard.StopWords;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.internal.call.SessionParameters;
import io.sessionkit.internal.lease.TurnRecords;
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
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

class SessionAdvisorFailureTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final Conversations conversations = Conversations.of(this.store);

	private final SessionAdvisor advisor = SessionAdvisor.of(this.conversations);

	private final Conversation thread = this.conversations.get(T1);

	private final ScriptedChatModel model = new ScriptedChatModel();

	static List<ClientSetup> setups() {
		return ClientSetup.all();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void aModelThatThrowsLeavesAFailedTurnAndTheExceptionAsItIs(ClientSetup setup) {
		IllegalArgumentException failure = new IllegalArgumentException("secret prompt text");
		this.model.fails(failure).says("a");
		ChatClient chat = client(setup);
		assertThatThrownBy(() -> ask(setup, chat, "q")).isSameAs(failure);
		assertThat(failure.getSuppressed()).filteredOn(SessionAdvisorFailureTests::isOurs).isEmpty();
		Turn failed = this.thread.turns(Tail.ALL).get(0);
		assertThat(failed.status()).isEqualTo(TurnStatus.FAILED);
		assertThat(failed.failure()).isEqualTo(IllegalArgumentException.class.getName());
		assertThat(this.thread.messages()).isEmpty();
		assertThat(Lines.of(messages(failed))).containsExactly("user: q");
		ask(setup, chat, "q");
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: q"));
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: q", "assistant: a");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void aModelThatThrowsInTheSecondRoundKeepsWhatThereWas(ClientSetup setup) {
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).fails(new IllegalStateException("down")).says("a");
		ChatClient chat = client(setup, SessionAdvisorTests.echo("add"));
		assertThatThrownBy(() -> ask(setup, chat, "q")).hasMessage("down");
		Turn failed = this.thread.turns(Tail.ALL).get(0);
		assertThat(Lines.of(messages(failed))).containsExactly("user: q", "assistant add({\"value\":\"1\"})",
				"tool add=1");
		assertThat(failed.rounds()).hasSize(1);
		ask(setup, chat, "q");
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: q"));
	}

	/**
	 * Reactor does not pass such an error on but throws it at the thread that subscribes,
	 * which is SessionKit's here. The caller of a stream gets it as a cause.
	 */
	@ParameterizedTest
	@MethodSource("setups")
	void aClassThatIsMissingEndsTheTurnLikeAnyOtherFailure(ClientSetup setup) {
		NoClassDefFoundError failure = new NoClassDefFoundError("com/example/Missing");
		this.model.step((prompt) -> {
			throw failure;
		})
			.calls(SessionAdvisorTests.call("c1", "add", "1"))
			.step((prompt) -> Flux.just(this.model.chunk("half", List.of(), false)).map((chunk) -> {
				throw failure;
			}))
			.says("a");
		ChatClient chat = client(setup, SessionAdvisorTests.echo("add"));

		assertThatThrownBy(() -> ask(setup, chat, "q")).matches((ex) -> isOrHasCause(ex, failure));
		assertThatThrownBy(() -> ask(setup, chat, "q")).matches((ex) -> isOrHasCause(ex, failure));

		assertThat(this.thread.turns(Tail.ALL)).extracting(Turn::status)
			.containsExactly(TurnStatus.FAILED, TurnStatus.FAILED);
		assertThat(this.thread.turns(Tail.ALL).get(1).failure()).isEqualTo(NoClassDefFoundError.class.getName());
		ask(setup, chat, "q");
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: q", "assistant: a");
	}

	private static boolean isOrHasCause(Throwable thrown, Error failure) {
		return thrown == failure || thrown.getCause() == failure;
	}

	@ParameterizedTest
	@MethodSource("setups")
	void aToolThatMissesAClassEndsTheTurnLikeAnyOtherFailure(ClientSetup setup) {
		NoClassDefFoundError failure = new NoClassDefFoundError("com/example/Missing");
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).says("a");
		ChatClient chat = client(setup, FunctionToolCallback.builder("add", (Map<String, Object> input) -> {
			throw failure;
		}).inputType(Map.class).description("adds").build());

		assertThatThrownBy(() -> ask(setup, chat, "q")).matches((ex) -> isOrHasCause(ex, failure));

		assertThat(this.thread.turns(Tail.ALL)).extracting(Turn::status).containsExactly(TurnStatus.FAILED);
	}

	/**
	 * The place at which a call fails after its first tool.
	 */
	private enum Place {

		MODEL, ADVISOR, TOOL

	}

	/**
	 * Nothing in Kotlin is declared, and other code can throw what it does not declare.
	 */
	@ParameterizedTest
	@CsvSource({ "MODEL,TURN,OPTIMISTIC", "MODEL,STEP,OPTIMISTIC", "MODEL,TURN,SERIALIZE", "ADVISOR,TURN,OPTIMISTIC",
			"ADVISOR,STEP,OPTIMISTIC", "ADVISOR,TURN,SERIALIZE", "TOOL,TURN,OPTIMISTIC", "TOOL,STEP,OPTIMISTIC",
			"TOOL,TURN,SERIALIZE" })
	@Timeout(60)
	void checkedExceptionThatNobodyDeclaresEndsTheTurnAndGivesTheLeaseBack(Place place, Durability durability,
			Concurrency concurrency) {
		IOException failure = new IOException("secret prompt text");
		AtomicReference<Place> failing = new AtomicReference<>(place);
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1")).step((prompt) -> {
			failAt(Place.MODEL, failing, failure);
			return Flux.just(this.model.chunk("a", List.of(), true));
		}).says("a");
		try (Conversations process = Conversations.builder(this.store).durability(durability).build()) {
			ChatClient chat = ClientSetup.plain()
				.builder(this.model, SessionAdvisor.of(process))
				.defaultAdvisors(new FailingLater(() -> failAt(Place.ADVISOR, failing, failure)))
				.defaultTools(undeclared(() -> failAt(Place.TOOL, failing, failure)))
				.build();

			assertThatThrownBy(() -> inLine(chat.prompt().user("q"), concurrency)).isSameAs(failure);

			assertThat(this.store.records(T1, TurnRecords.LEASE)).isEmpty();
			assertThat(this.store.records(T1, "line")).isEmpty();
			assertThat(process.drain(Duration.ZERO)).as("nothing is at work").isTrue();
			process.accept();
			boolean isOpen = durability == Durability.STEP;
			assertThat(this.thread.turns(Tail.ALL)).extracting(Turn::status)
				.containsExactly(isOpen ? TurnStatus.INCOMPLETE : TurnStatus.FAILED);
			assertThat(inLine(isOpen ? chat.prompt() : chat.prompt().user("again"), concurrency)).isEqualTo("a");
		}
	}

	private static void failAt(Place place, AtomicReference<Place> failing, IOException failure) {
		if (failing.compareAndSet(place, null)) {
			throw SessionAdvisorFailureTests.<RuntimeException>undeclared(failure);
		}
	}

	@SuppressWarnings("unchecked")
	private static <X extends Exception> X undeclared(Exception thrown) throws X {
		throw (X) thrown;
	}

	/** Spring AI wraps what a function or a method throws, but not what a tool does. */
	private static ToolCallback undeclared(Runnable first) {
		ToolCallback add = SessionAdvisorTests.echo("add");
		return new ToolCallback() {

			@Override
			public ToolDefinition getToolDefinition() {
				return add.getToolDefinition();
			}

			@Override
			public String call(String input) {
				first.run();
				return add.call(input);
			}

		};
	}

	private static String inLine(ChatClient.ChatClientRequestSpec call, Concurrency concurrency) {
		return call.advisors(SessionAdvisor.session(T1).andThen(SessionAdvisor.concurrency(concurrency)))
			.call()
			.content();
	}

	/**
	 * Runs something before each model call of a turn but the first.
	 */
	private record FailingLater(Runnable later) implements CallAdvisor {

		@Override
		public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
			if (request.prompt().getInstructions().stream().anyMatch(ToolResponseMessage.class::isInstance)) {
				this.later.run();
			}
			return chain.nextCall(request);
		}

		@Override
		public String getName() {
			return "FailingLater";
		}

		@Override
		public int getOrder() {
			return SessionParameters.MODEL_ORDER - 10;
		}

	}

	@Test
	void aStreamThatBreaksKeepsThePartialTextBesideTheHistory() {
		this.model.step((prompt) -> Flux.concat(Flux.just(this.model.chunk("half an ", List.of(), false)),
				Flux.just(this.model.chunk("answer", List.of(), false)),
				Flux.error(new IllegalStateException("connection reset"))))
			.says("a");
		ChatClient chat = client(ClientSetup.streaming());
		assertThatThrownBy(() -> ask(ClientSetup.streaming(), chat, "q")).hasMessage("connection reset");
		Turn failed = this.thread.turns(Tail.ALL).get(0);
		assertThat(failed.status()).isEqualTo(TurnStatus.FAILED);
		assertThat(Lines.of(messages(failed))).containsExactly("user: q", "assistant: half an answer");
		assertThat(this.thread.messages()).isEmpty();
		ask(ClientSetup.streaming(), chat, "q");
		assertThat(this.model.lastRequestLines()).containsExactly("user: q");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aStreamWithoutAFinishReasonFailsBeforeItsToolsRunIfOneIsRequired(boolean withHook) {
		AtomicInteger runs = new AtomicInteger();
		ToolCallback tool = undeclared(runs::incrementAndGet);
		ToolCall call = SessionAdvisorTests.call("c1", tool.getToolDefinition().name(), "1");
		Conversations checked = withHook ? Conversations.builder(this.store).hooks(StopWords.of("never")).build()
				: this.conversations;
		SessionAdvisor requiring = SessionAdvisor.builder(checked).requireFinishReason(true).build();
		ChatClient chat = ClientSetup.streaming().builder(this.model, requiring).defaultTools(tool).build();
		for (ChatResponse last : List.of(this.model.chunk("half", List.of(), false),
				this.model.chunk("half", List.of(call), false))) {
			this.model.responds(last);
			assertThatExceptionOfType(UnfinishedReplyException.class)
				.isThrownBy(() -> ask(ClientSetup.streaming(), chat, "q"))
				.withMessageContaining("t1")
				.withMessageContaining("sessionkit.require-finish-reason=false");
			assertThat(this.thread.turns(Tail.newest(1))).extracting(Turn::status).containsExactly(TurnStatus.FAILED);
		}
		assertThat(runs).hasValue(0);
		assertThat(this.thread.messages()).isEmpty();
		this.model.says("a");
		assertThat(ask(ClientSetup.streaming(), chat, "q")).isEqualTo("a");
		assertThat(this.model.lastRequestLines()).containsExactly("user: q");
	}

	@Test
	void aCancelledStreamKeepsThePartialTextAsCancelled() {
		this.model.step((prompt) -> Flux.concat(Flux.just(this.model.chunk("half", List.of(), false)), Flux.never()))
			.says("a");
		ChatClient chat = client(ClientSetup.streaming());
		StepVerifier.create(stream(chat, "q")).expectNextCount(1).thenCancel().verify(Duration.ofSeconds(30));
		Turn cancelled = awaitTurn();
		assertThat(cancelled.status()).isEqualTo(TurnStatus.CANCELLED);
		assertThat(Lines.of(messages(cancelled))).containsExactly("user: q", "assistant: half");
		assertThat(this.thread.messages()).isEmpty();
		ask(ClientSetup.streaming(), chat, "q");
		assertThat(this.model.lastRequestLines()).containsExactly("user: q");
	}

	@Test
	void aStreamCancelledAfterTheWholeAnswerIsCompleted() {
		this.model.step((prompt) -> Flux.concat(Flux.just(this.model.chunk("whole", List.of(), true)), Flux.never()));
		ChatClient chat = client(ClientSetup.streaming());
		StepVerifier.create(stream(chat, "q")).expectNextCount(1).thenCancel().verify(Duration.ofSeconds(30));
		assertThat(awaitTurn().status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: q", "assistant: whole");
	}

	@Test
	void aStreamCancelledWhileAToolRunsRecordsNothingOfTheInterruptedTool() {
		this.model.calls(SessionAdvisorTests.call("c1", "slow", "1"));
		CountDownLatch started = new CountDownLatch(1);
		ToolCallback slow = FunctionToolCallback.builder("slow", (SessionAdvisorTests.Value value) -> {
			started.countDown();
			try {
				new CountDownLatch(1).await();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException("interrupted", ex);
			}
			return "never";
		}).description("waits").inputType(SessionAdvisorTests.Value.class).build();
		ChatClient chat = client(ClientSetup.streaming(), slow);
		Disposable running = stream(chat, "q").subscribe();
		Awaitility.await().until(() -> started.getCount() == 0);
		running.dispose();
		Turn cancelled = awaitTurn();
		assertThat(cancelled.status()).isEqualTo(TurnStatus.CANCELLED);
		assertThat(Lines.of(messages(cancelled))).containsExactly("user: q", "assistant slow({\"value\":\"1\"})");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void anUnknownToolNeverBreaksTheThread(ClientSetup setup) {
		this.model.says("a0").calls(SessionAdvisorTests.call("c1", "missing", "1")).says("a");
		ChatClient chat = client(setup, SessionAdvisorTests.echo("add"));
		ask(setup, chat, "q0");
		assertThatThrownBy(() -> ask(setup, chat, "q1")).hasMessageContaining("missing");
		ask(setup, chat, "q2");
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines("user: q0", "assistant: a0", "user: q2"));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void malformedArgumentsNeverBreakTheThread(ClientSetup setup) {
		this.model.calls(new ToolCall("c1", "function", "add", "{not json")).says("a").says("b");
		ChatClient chat = client(setup, SessionAdvisorTests.echo("add"));
		try {
			ask(setup, chat, "q1");
		}
		catch (RuntimeException ex) {
			assertThat(this.thread.turns(Tail.ALL).get(0).status()).isEqualTo(TurnStatus.FAILED);
		}
		ask(setup, chat, "q2");
		List<String> request = this.model.lastRequestLines();
		assertThat(request).endsWith("user: q2");
		assertThat(request.stream().filter((line) -> line.startsWith("assistant add")).count())
			.isEqualTo(request.stream().filter((line) -> line.startsWith("tool add")).count());
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void aStoreThatIsDownBeforeTheCallMeansTheModelIsNeverCalled(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		this.store.failAt(Fault.OPEN);
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> ask(setup, client(setup), "q"));
		assertThat(this.model.prompts()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void aStoreThatFailsAfterTheCallHandsOutTheReply(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		this.model.says("precious");
		this.store.failAt(Fault.COMMIT);
		CommitFailedException failed = catchThrowableOfType(CommitFailedException.class,
				() -> setup.response(prompt(client(setup), "q")));
		assertThat(text(failed.reply())).isEqualTo("precious");
		assertThat(failed).hasMessageNotContaining("precious").matches((unknown) -> !unknown.isUnwritten());
		this.store.failAt(Fault.NONE);
		assertThat(this.thread.messages()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void aStoreThatRefusesTheTurnIsKnownToHaveNothingOfIt(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		this.model.says("precious");
		this.store.beforeCommit(() -> {
			throw StoreUnavailableException.unwritten("full", null);
		});
		assertThatExceptionOfType(CommitFailedException.class).isThrownBy(() -> ask(setup, client(setup), "q"))
			.withMessageContaining("as it was before")
			.matches(CommitFailedException::isUnwritten);
		this.store.beforeCommit(() -> {
		});
		assertThat(this.thread.messages()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void aStoreThatHasWaitedForOtherWritersInVainMeansAConflictWithTheReply(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		this.model.says("precious");
		this.store.beforeCommit(() -> {
			throw new SessionConflictException("locked", null);
		});
		SessionConflictException lost = catchThrowableOfType(SessionConflictException.class,
				() -> setup.response(prompt(client(setup), "q")));
		assertThat(text(lost.reply())).isEqualTo("precious");
		assertThat(lost).hasMessageContaining("Nothing of it is stored").hasMessageNotContaining("precious");
		this.store.beforeCommit(() -> {
		});
		assertThat(this.thread.turns(Tail.ALL)).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void anAnswerOfTheStoreThatIsLostLeavesTheWholeTurn(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		this.model.says("a");
		this.store.failAt(Fault.ANSWER);
		assertThatExceptionOfType(CommitFailedException.class).isThrownBy(() -> ask(setup, client(setup), "q"));
		this.store.failAt(Fault.NONE);
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: q", "assistant: a");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void ofTwoWritersOneWinsAndTheOtherGetsItsReply(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		this.model.says("a1").says("mine");
		ChatClient chat = client(setup);
		ask(setup, chat, "q1");
		this.store.beforeCommit(() -> {
			this.store.beforeCommit(() -> {
			});
			this.store.add(T1, List.of(new UserMessage("theirs")));
		});
		SessionConflictException conflict = catchThrowableOfType(SessionConflictException.class,
				() -> setup.response(prompt(chat, "q2")));
		assertThat(text(conflict.reply())).isEqualTo("mine");
		assertThat(conflict).hasMessageContaining("version 1").hasMessageNotContaining("mine");
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: q1", "assistant: a1", "user: theirs");
		List<Turn> turns = this.thread.turns(Tail.ALL);
		assertThat(turns).extracting(Turn::status)
			.containsExactly(TurnStatus.COMPLETED, TurnStatus.COMPLETED, TurnStatus.FAILED);
		assertThat(turns.get(2).failure()).isEqualTo(SessionConflictException.class.getName());
		assertThat(Lines.of(messages(turns.get(2)))).containsExactly("user: q2", "assistant: mine");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void noReplyIsAFailedTurnNeverABlankMessage(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		this.model.step((prompt) -> Flux.empty()).says("").says("a");
		ChatClient chat = client(setup);
		ask(setup, chat, "q");
		ask(setup, chat, "q");
		assertThat(this.thread.turns(Tail.ALL)).extracting(Turn::status)
			.containsExactly(TurnStatus.FAILED, TurnStatus.FAILED);
		assertThat(this.thread.messages()).isEmpty();
		ask(setup, chat, "q");
		assertThat(this.model.lastRequestLines()).containsExactly("user: q");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void aMessageThatCouldNotBeStoredIsRefusedBeforeTheModel(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		UserMessage message = UserMessage.builder().text("q").metadata(Map.of("stream", new Object())).build();
		assertThatExceptionOfType(UnstorableMessageException.class).isThrownBy(
				() -> setup.content(client(setup).prompt().messages(message).advisors(SessionAdvisor.session("t1"))))
			.withMessageContaining("stream");
		assertThat(this.model.prompts()).isEmpty();
		assertThat(this.store.calls()).isEmpty();
	}

	@Test
	void noStoreCallOfAStreamRunsOnTheSubscribersEventLoop() {
		this.model.says("a").says("b");
		ChatClient chat = client(ClientSetup.streaming());
		stream(chat, "q").subscribeOn(Schedulers.newSingle("event-loop")).blockLast();
		stream(chat, "q").subscribeOn(Schedulers.newSingle("event-loop")).blockLast();
		assertThat(this.store.calls()).containsExactly("open", "commit", "open", "commit");
		assertThat(this.store.threads()).allMatch((thread) -> thread.startsWith("sessionkit-stream"));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void toolRoundsCostNoStoreCalls(ClientSetup setup) {
		this.model.calls(SessionAdvisorTests.call("c1", "add", "1"))
			.calls(SessionAdvisorTests.call("c2", "add", "2"))
			.calls(SessionAdvisorTests.call("c3", "add", "3"))
			.says("done");
		ask(setup, client(setup, SessionAdvisorTests.echo("add")), "go");
		assertThat(this.store.calls()).containsExactly("open", "commit");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void aSecondUseOfACallWritesNoSecondTurnAndSaysWhy(ClientSetup.Mode mode) {
		this.model.says("a").says("b");
		ChatClient chat = client(ClientSetup.plain());
		if (mode == ClientSetup.Mode.CALL) {
			ChatClient.CallResponseSpec call = prompt(chat, "q").call();
			assertThat(call.content()).isEqualTo("a");
			for (int use = 2; use <= 4; use++) {
				assertThatExceptionOfType(IllegalStateException.class).isThrownBy(call::content)
					.withMessageContaining("executed before");
			}
		}
		else {
			Flux<ChatResponse> stream = prompt(chat, "q").stream().chatResponse();
			stream.blockLast();
			for (int use = 2; use <= 4; use++) {
				assertThatExceptionOfType(IllegalStateException.class).isThrownBy(stream::blockLast)
					.withMessageContaining("executed before");
			}
		}
		assertThat(this.thread.turns(Tail.ALL)).hasSize(1);
		assertThat(this.model.prompts()).hasSize(1);
	}

	@Test
	void aRetriedStreamNeverAsksTheModelWithoutItsSession() {
		this.model.says("a1").fails(new IllegalStateException("down")).says("never");
		ChatClient chat = client(ClientSetup.plain());
		prompt(chat, "My name is Ada").call().content();
		Flux<String> stream = prompt(chat, "q").stream().content().retry(2);
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> stream.collectList().block())
			.withMessageContaining("executed before")
			.withMessageContaining("Flux.defer");
		assertThat(this.model.prompts()).hasSize(2);
	}

	@Test
	void aStreamIsRetriedWithANewCall() {
		this.model.says("a1").fails(new IllegalStateException("down")).says("Ada");
		ChatClient chat = client(ClientSetup.plain());
		prompt(chat, "My name is Ada").call().content();
		Flux<String> retried = Flux.defer(() -> prompt(chat, "q").stream().content()).retry(3);
		assertThat(String.join("", retried.collectList().block())).isEqualTo("Ada");
		assertThat(this.model.lastRequest()).hasSize(3);
		assertThat(this.thread.messages()).hasSize(4);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void aSessionThatIsErasedDuringACallStaysErased(ClientSetup setup) {
		this.model.says("a1").step((prompt) -> {
			this.thread.clear();
			return Flux.error(new IllegalStateException("down"));
		}).says("a3").step((prompt) -> {
			this.thread.clear();
			return Flux.just(this.model.chunk("a4", List.of(), true));
		});
		ChatClient chat = client(setup);
		ask(setup, chat, "q1");
		assertThatThrownBy(() -> ask(setup, chat, "q2")).hasMessage("down");
		assertThat(this.thread.session()).isEmpty();
		ask(setup, chat, "q3");
		assertThatExceptionOfType(SessionLostException.class).isThrownBy(() -> ask(setup, chat, "q4"));
		assertThat(this.thread.session()).isEmpty();
		assertThat(this.thread.turns(Tail.ALL)).isEmpty();
	}

	@Test
	void aSubscriberThatGoesAwayDuringTheCommitDoesNotInterruptIt() throws InterruptedException {
		this.model.says("a");
		CountDownLatch committing = new CountDownLatch(1);
		CountDownLatch gone = new CountDownLatch(1);
		AtomicBoolean interrupted = new AtomicBoolean();
		this.store.beforeCommit(() -> {
			committing.countDown();
			try {
				gone.await();
			}
			catch (InterruptedException ex) {
				interrupted.set(true);
			}
		});
		Disposable running = stream(client(ClientSetup.streaming()), "q").subscribe();
		committing.await();
		running.dispose();
		gone.countDown();
		assertThat(awaitTurn().status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(interrupted).isFalse();
	}

	@Test
	void aStreamThatTimesOutAndIsTriedAgainIsRecordedWhole() {
		this.model.step((prompt) -> Flux.concat(Flux.just(this.model.chunk("Hello ", List.of(), false)), Flux.never()))
			.says("Hello world");
		ChatClient chat = ClientSetup.streaming()
			.builder(this.model, this.advisor)
			.defaultAdvisors(new TimingOut())
			.build();
		ask(ClientSetup.streaming(), chat, "q");
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: q", "assistant: Hello world");
		assertThat(this.thread.turns(Tail.ALL).get(0).rounds()).hasSize(1);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aStreamThatFailsAtOnceAndIsTriedAgainIsRecorded(boolean withHook) {
		this.model.says("a");
		ChatClient chat = ClientSetup.streaming()
			.builder(this.model, this.advisor)
			.defaultAdvisors(new TimingOut(), new FailingOnce())
			.build();
		ChatClient.ChatClientRequestSpec call = prompt(chat, "q");
		ClientSetup.streaming().content(withHook ? call.advisors(SessionAdvisor.hook(new SessionHook() {
		})) : call);
		assertThat(Lines.of(this.thread.messages())).containsExactly("user: q", "assistant: a");
		assertThat(this.thread.turns(Tail.ALL).get(0).rounds()).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void renamingTheThreadDoesNotCostTheTurnThatRuns(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		this.model.says("a1").step((prompt) -> {
			this.thread.title("renamed");
			return Flux.just(this.model.chunk("a2", List.of(), true));
		});
		ask(setup, client(setup), "q1");
		assertThat(ask(setup, client(setup), "q2")).isEqualTo("a2");
		assertThat(this.thread.messages()).hasSize(4);
		assertThat(this.thread.session().orElseThrow().title()).isEqualTo("renamed");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void takingAMessageAwayDoesConflictWithTheTurnThatRuns(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		this.model.says("a1").step((prompt) -> {
			CompletableFuture.runAsync(() -> this.thread.pop()).join();
			return Flux.just(this.model.chunk("a2", List.of(), true));
		});
		ask(setup, client(setup), "q1");
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> ask(setup, client(setup), "q2"));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void anAgentNameThatCouldNotBeStoredIsRefusedBeforeTheModel(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		assertThatExceptionOfType(UnstorableMessageException.class)
			.isThrownBy(() -> setup.content(prompt(client(setup), "q").advisors(SessionAdvisor.agent("a\uD800"))));
		assertThat(this.model.prompts()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void resultsWithoutTheirCallsAreRefusedInsteadOfAnEmptyRequest(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, true);
		ToolResponseMessage results = ToolResponseMessage.builder()
			.responses(List.of(new ToolResponseMessage.ToolResponse("c1", "add", "1")))
			.build();
		assertThatExceptionOfType(InvalidSequenceException.class)
			.isThrownBy(
					() -> setup.content(client(setup).prompt().messages(results).advisors(SessionAdvisor.session(T1))))
			.withMessageContaining("'c1'")
			.withMessageContaining("answers no call");
		assertThat(this.model.prompts()).isEmpty();
	}

	@Test
	void aSecondUseOfACallWhoseSessionWasResolvedIsRefused() {
		this.model.says("a").says("b");
		SessionAdvisor resolved = SessionAdvisor.builder(this.conversations)
			.resolver((request) -> Optional.of(T1))
			.build();
		ChatClient.CallResponseSpec call = ClientSetup.plain()
			.builder(this.model, resolved)
			.build()
			.prompt()
			.user("q")
			.call();
		assertThat(call.content()).isEqualTo("a");
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(call::content)
			.withMessageContaining("executed before");
		assertThat(this.model.prompts()).hasSize(1);
	}

	private Turn awaitTurn() {
		Awaitility.await().until(() -> !this.thread.turns(Tail.ALL).isEmpty());
		return this.thread.turns(Tail.ALL).get(0);
	}

	private List<Message> messages(Turn turn) {
		List<Message> messages = new ArrayList<>();
		this.thread.items(turn.number()).forEach((item) -> messages.add(item.message()));
		return messages;
	}

	private ChatClient client(ClientSetup setup, ToolCallback... tools) {
		return setup.builder(this.model, this.advisor).defaultTools((Object[]) tools).build();
	}

	private static ChatClient.ChatClientRequestSpec prompt(ChatClient chat, String text) {
		return chat.prompt().user(text).advisors(SessionAdvisor.session("t1"));
	}

	private static Flux<String> stream(ChatClient chat, String text) {
		return prompt(chat, text).stream().content();
	}

	private static String ask(ClientSetup setup, ChatClient chat, String text) {
		return setup.content(prompt(chat, text));
	}

	private static String text(ChatResponse response) {
		return response.getResult().getOutput().getText();
	}

	/**
	 * Gives up on a model that falls silent and asks again, inside the turn. The second
	 * answer may take its time.
	 */
	private static final class TimingOut implements StreamAdvisor {

		private final AtomicBoolean again = new AtomicBoolean();

		@Override
		public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
			return Flux.defer(() -> {
				Duration patience = this.again.getAndSet(true) ? Duration.ofDays(1) : Duration.ofMillis(300);
				return chain.copy(this).nextStream(request).timeout(Mono.never(), (response) -> Mono.delay(patience));
			}).retry(1);
		}

		@Override
		public String getName() {
			return "TimingOut";
		}

		@Override
		public int getOrder() {
			return SessionParameters.TURN_ORDER + 40;
		}

	}

	/**
	 * Fails the first model call before there is a stream.
	 */
	private static final class FailingOnce implements StreamAdvisor {

		private final AtomicBoolean failed = new AtomicBoolean();

		@Override
		public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
			if (this.failed.compareAndSet(false, true)) {
				throw new IllegalStateException("not yet");
			}
			return chain.nextStream(request);
		}

		@Override
		public String getName() {
			return "FailingOnce";
		}

		@Override
		public int getOrder() {
			return SessionParameters.MODEL_ORDER - 10;
		}

	}

	private static boolean isOurs(Throwable suppressed) {
		return suppressed.getClass().getName().startsWith("io.sessionkit");
	}

}
