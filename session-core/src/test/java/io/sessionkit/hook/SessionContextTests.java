package io.sessionkit.hook;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.AdvisorNames;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.advisor.SessionAdvisorTests;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.context.Summarize;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.client.advisor.api.AdvisorChain;
import org.springframework.ai.chat.client.advisor.api.BaseAdvisor;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.model.tool.ToolExecutionResult;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

class SessionContextTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private static final SessionKey T2 = SessionKey.of("ada", "t2");

	private final InMemorySessionStore memory = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final ObservedStore store = new ObservedStore(this.memory);

	private final Conversation thread = Conversations.of(this.store).get(T1);

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final SessionContext session = new SessionContext();

	static List<ClientSetup> setups() {
		return ClientSetup.all();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void continuedTurnHasItsAgent(ClientSetup.Mode mode) {
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		List<String> agents = new CopyOnWriteArrayList<>();
		SessionHook hook = new SessionHook() {

			@Override
			public HookResult<AssistantMessage> afterModel(HookContext turn, AssistantMessage reply) {
				agents.add("hook: " + turn.agent());
				return HookResult.keep();
			}

		};
		try (Conversations process = Conversations.builder(this.store).hooks(hook).build()) {
			Approvals approvals = Approvals.builder(process).tools(Set.of("note")).build();
			ChatClient chat = setup.builder(this.model, SessionAdvisor.builder(process).approvals(approvals).build())
				.defaultTools(tool("note", () -> agents.add("tool: " + this.session.agent().orElse(null))))
				.build();
			this.model.calls(call("note")).says("a");
			setup.content(chat.prompt()
				.user("q")
				.advisors(SessionAdvisor.session(T1).andThen(SessionAdvisor.agent("support"))));
			approvals.approve(approvals.pending(T1).get(0), "anna");
			setup.content(chat.prompt().advisors(SessionAdvisor.session(T1).andThen(SessionAdvisor.agent("other"))));
		}
		assertThat(agents).containsExactly("hook: support", "tool: support", "hook: support");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void whatAToolWritesIsReadByLaterToolsOfTheTurnAndByTheNextTurn(ClientSetup setup) {
		List<Object> read = new CopyOnWriteArrayList<>();
		ToolCallback write = tool("write", () -> this.session.putAttribute("step", 1));
		ToolCallback add = tool("add",
				() -> this.session.putAttribute("step", this.session.attribute("step", Integer.class).orElse(0) + 1));
		ToolCallback look = tool("look", () -> read.add(this.session.attributes()));
		this.model.calls(call("write"), call("look"))
			.calls(call("add"))
			.calls(call("look"))
			.says("a")
			.calls(call("look"))
			.says("b");
		ChatClient chat = client(setup, List.of(), write, add, look);
		assertThat(setup.content(prompt(chat, "q1"))).isEqualTo("a");
		assertThat(this.thread.attributes()).isEqualTo(Map.of("step", 2));
		setup.content(prompt(chat, "q2"));
		assertThat(read).containsExactly(Map.of("step", 1), Map.of("step", 2), Map.of("step", 2));
		assertThat(this.thread.attributes()).isEqualTo(Map.of("step", 2));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void hooksReadWhatAToolWroteAndToolsWhatAHookWrote(ClientSetup setup) {
		List<String> seen = new CopyOnWriteArrayList<>();
		SessionHook hook = TestHooks.noting("h", (phase, context) -> {
			assertThat(context.attributes()).isEqualTo(this.session.attributes());
			seen.add(phase + " " + context.attributes().getOrDefault("by", ""));
			this.session.putAttribute("by", phase);
		});
		ToolCallback write = tool("write", () -> {
			seen.add("tool " + this.session.attributes().get("by"));
			this.session.putAttribute("by", "tool");
		});
		this.model.calls(call("write")).says("a");
		setup.content(prompt(client(setup, List.of(hook), write), "q"));
		assertThat(seen).containsExactly("beforeTurn ", "beforeModel beforeTurn", "afterModel beforeModel",
				"tool afterModel", "beforeModel tool", "afterModel beforeModel", "beforeSave afterModel");
		assertThat(this.thread.attributes()).isEqualTo(Map.of("by", "beforeSave"));
		assertThat(this.thread.turns(Tail.ALL).get(0).verdicts()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void whatAHookWroteThatAnsweredIsStored(ClientSetup.Mode mode) {
		SessionHook answer = TestHooks.beforeTurn("faq", (input) -> {
			this.session.putAttribute("asked", true);
			return HookResult.answer("nine");
		});
		assertThat(setup(mode).content(prompt(client(setup(mode), List.of(answer)), "when?"))).isEqualTo("nine");
		assertThat(this.thread.attributes()).isEqualTo(Map.of("asked", true));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callAndHistoryAreThoseOfTheRunningTurn(ClientSetup.Mode mode) {
		List<Object> seen = new CopyOnWriteArrayList<>();
		ToolCallback look = tool("look", () -> {
			seen.add(this.session.key());
			seen.add(this.session.turnId());
			seen.add(this.session.agent());
			this.session.history().get(0).getMetadata().put("vandal", true);
			seen.addAll(Lines.of(this.session.history()));
			assertThatThrownBy(() -> this.session.history().clear()).isInstanceOf(UnsupportedOperationException.class);
		});
		this.store.add(T1, List.of(new UserMessage("q0")));
		this.model.calls(call("look")).says("a");
		ChatClient chat = client(setup(mode), List.of(), look);
		setup(mode).content(prompt(chat, "q").advisors(SessionAdvisor.agent("clerk")));
		String id = this.thread.turns(Tail.ALL).get(1).id();
		assertThat(seen).containsExactly(T1, id, Optional.of("clerk"), "user: q0");
		assertThat(this.model.lastRequest().get(0).getMetadata()).doesNotContainKey("vandal");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void failedTurnLeavesTheAttributesAsTheyWere(ClientSetup setup) {
		ChatClient chat = withAttributes(setup, List.of());
		this.model.calls(call("write")).fails(new IllegalStateException("model down"));
		assertThatThrownBy(() -> setup.content(prompt(chat, "q"))).hasMessage("model down");
		assertThat(this.thread.turns(Tail.ALL).get(1).status()).isEqualTo(TurnStatus.FAILED);
		assertThat(this.thread.attributes()).isEqualTo(Map.of("name", "Ada"));
		this.model.calls(call("write")).says("b");
		setup.content(prompt(chat, "q"));
		assertThat(this.thread.attributes()).isEqualTo(Map.of("name", "changed"));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void refusedTurnLeavesTheAttributesAsTheyWere(ClientSetup.Mode mode) {
		ClientSetup setup = setup(mode);
		withAttributes(setup, List.of());
		SessionHook input = TestHooks.beforeTurn("guard", (messages) -> refuse());
		SessionHook kept = TestHooks.beforeSave("guard", (messages) -> refuse());
		SessionHook request = TestHooks.beforeModel("guard",
				(messages) -> (messages.size() > 3) ? refuse() : HookResult.keep());
		for (SessionHook guard : List.of(input, request, kept)) {
			this.model.calls(call("write")).says("secret");
			ChatClient chat = client(setup, List.of(guard), write());
			assertThatExceptionOfType(SessionRefusedException.class).isThrownBy(() -> setup.content(prompt(chat, "q")));
			assertThat(this.thread.attributes()).isEqualTo(Map.of("name", "Ada"));
		}
		assertThat(this.thread.turns(Tail.newest(3)))
			.allSatisfy((turn) -> assertThat(turn.status()).isEqualTo(TurnStatus.REFUSED));
	}

	@Test
	void cancelledTurnLeavesTheAttributesAsTheyWere() {
		ChatClient chat = withAttributes(ClientSetup.streaming(), List.of());
		this.model.calls(call("write"))
			.step((prompt) -> Flux.concat(Flux.just(this.model.chunk("half", List.of(), false)), Flux.never()));
		StepVerifier.create(prompt(chat, "q").stream().content())
			.expectNext("half")
			.thenCancel()
			.verify(Duration.ofSeconds(30));
		awaitTurns(2);
		assertThat(this.thread.turns(Tail.ALL).get(1).status()).isEqualTo(TurnStatus.CANCELLED);
		assertThat(this.thread.attributes()).isEqualTo(Map.of("name", "Ada"));
	}

	@Test
	void streamThatIsCancelledAfterTheWholeAnswerStoresItsAttributes() {
		ChatClient chat = client(ClientSetup.streaming(), List.of(new Counting()), write());
		this.model.calls(call("write"))
			.step((prompt) -> Flux.concat(Flux.just(this.model.chunk("whole", List.of(), true)), Flux.never()));
		StepVerifier.create(prompt(chat, "q").stream().content())
			.expectNext("whole")
			.thenCancel()
			.verify(Duration.ofSeconds(30));
		awaitTurns(1);
		assertThat(this.thread.turns(Tail.ALL).get(0).status()).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.thread.attributes()).isEqualTo(Map.of("name", "changed", "saved", 1));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void turnThatLosesAConflictLeavesTheAttributesOfTheOther(ClientSetup.Mode mode) {
		ChatClient chat = withAttributes(setup(mode), List.of());
		this.model.calls(call("write")).step((prompt) -> {
			this.memory.add(T1, List.of(new UserMessage("me first")));
			return Flux.just(this.model.chunk("a", List.of(), true));
		});
		assertThatExceptionOfType(SessionConflictException.class)
			.isThrownBy(() -> setup(mode).content(prompt(chat, "q")));
		assertThat(this.thread.attributes()).isEqualTo(Map.of("name", "Ada"));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void attributesOfATurnSurviveARenameMeanwhile(ClientSetup.Mode mode) {
		ChatClient chat = withAttributes(setup(mode), List.of());
		this.thread.putAttribute("key", new byte[] { 1 });
		this.model.calls(call("write")).step((prompt) -> {
			this.thread.title("renamed");
			return Flux.just(this.model.chunk("a", List.of(), true));
		});
		setup(mode).content(prompt(chat, "q"));
		assertThat(this.thread.attributes()).containsEntry("name", "changed").containsEntry("key", new byte[] { 1 });
		assertThat(this.thread.session().orElseThrow().title()).isEqualTo("renamed");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void attributeThatIsWrittenBetweenTurnsIsNotOverwrittenByATurnThatRan(ClientSetup.Mode mode) {
		ChatClient chat = withAttributes(setup(mode), List.of());
		this.model.calls(call("write")).step((prompt) -> {
			CompletableFuture.runAsync(() -> this.thread.putAttribute("role", "admin")).join();
			return Flux.just(this.model.chunk("a", List.of(), true));
		});
		assertThatExceptionOfType(SessionConflictException.class)
			.isThrownBy(() -> setup(mode).content(prompt(chat, "q")));
		assertThat(this.thread.attributes()).isEqualTo(Map.of("name", "Ada", "role", "admin"));
	}

	@Test
	void moveOfTheHeadRestoresTheAttributesOfItsTurn() {
		ToolCallback add = tool("add",
				() -> this.session.putAttribute("step", this.session.attribute("step", Integer.class).orElse(0) + 1));
		ChatClient chat = client(ClientSetup.plain(), List.of(), add);
		for (int turn = 1; turn <= 3; turn++) {
			this.model.calls(call("add")).says("a");
			prompt(chat, "q" + turn).call().content();
		}
		moveTo(1);
		assertThat(this.thread.attributes()).isEqualTo(Map.of("step", 1));
		moveTo(3);
		assertThat(this.thread.attributes()).isEqualTo(Map.of("step", 3));
		moveTo(2);
		this.model.calls(call("add")).says("a");
		prompt(chat, "again").call().content();
		assertThat(this.thread.attributes()).isEqualTo(Map.of("step", 3));
		moveTo(0);
		assertThat(this.thread.attributes()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void attributesOfConcurrentCallsNeverMix(ClientSetup.Mode mode) throws Exception {
		long seed = new Random().nextLong();
		int threads = 8;
		ExecutorService pool = Executors.newFixedThreadPool(threads);
		CyclicBarrier together = new CyclicBarrier(threads);
		try {
			List<Future<Integer>> all = new ArrayList<>();
			for (int i = 0; i < threads; i++) {
				SessionKey key = SessionKey.of("owner " + i % 2, "thread " + i);
				Random random = new Random(seed + i);
				all.add(pool.submit(() -> turns(mode, key, random, together)));
			}
			for (int i = 0; i < threads; i++) {
				int written = all.get(i).get(60, TimeUnit.SECONDS);
				SessionKey key = SessionKey.of("owner " + i % 2, "thread " + i);
				assertThat(Conversations.of(this.store).get(key).attributes()).as("seed %d", seed)
					.isEqualTo(Map.of("me", key.toString(), "count", written));
			}
		}
		finally {
			pool.shutdownNow();
		}
	}

	/**
	 * Turns of one session whose tools and hooks count, and see who they are.
	 */
	private int turns(ClientSetup.Mode mode, SessionKey key, Random random, CyclicBarrier together) throws Exception {
		Runnable count = () -> {
			assertThat(this.session.key()).isEqualTo(key);
			assertThat(this.session.attribute("me", String.class).orElse(key.toString())).isEqualTo(key.toString());
			this.session.putAttribute("me", key.toString());
			Thread.yield();
			this.session.putAttribute("count", this.session.attribute("count", Integer.class).orElse(0) + 1);
		};
		ScriptedChatModel own = new ScriptedChatModel();
		SessionHook hook = TestHooks.noting("h", (phase, context) -> count.run());
		ChatClient chat = setup(mode).builder(own, advisor(List.of(hook))).defaultTools(tool("count", count)).build();
		int written = 0;
		together.await(60, TimeUnit.SECONDS);
		for (int turn = 0; turn < 20; turn++) {
			int rounds = random.nextInt(4);
			for (int round = 0; round < rounds; round++) {
				own.calls(call("count"), call("count"));
			}
			own.says("a");
			setup(mode).content(chat.prompt().user("q").advisors(SessionAdvisor.session(key)));
			written += 2 * rounds + 2 * (rounds + 1) + 2;
		}
		return written;
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callOnAnotherSessionInsideAToolHasItsOwnAttributes(ClientSetup.Mode outer) {
		for (ClientSetup.Mode inner : ClientSetup.Mode.values()) {
			ScriptedChatModel expert = new ScriptedChatModel().calls(call("note")).says("42");
			List<String> heard = new CopyOnWriteArrayList<>();
			ToolCallback note = tool("note", () -> this.session.putAttribute("who", this.session.key().id()));
			ChatClient experts = setup(inner).builder(expert, advisor(List.of(new Counting())))
				.defaultTools(note)
				.build();
			ToolCallback ask = tool("ask", () -> {
				this.session.putAttribute("before", this.session.key().id());
				setup(inner).content(experts.prompt().user("q").advisors(SessionAdvisor.session(T2)));
				this.session.putAttribute("after", this.session.key().id());
				heard.add("asked");
			});
			this.model.calls(call("ask")).says("a");
			setup(outer).content(prompt(client(setup(outer), List.of(), ask), "q"));
			assertThat(heard).containsExactly("asked");
			assertThat(this.thread.attributes()).isEqualTo(Map.of("before", "t1", "after", "t1"));
			assertThat(Conversations.of(this.store).get(T2).attributes()).containsEntry("who", "t2")
				.containsOnlyKeys("who", "saved");
		}
	}

	@Test
	void callWithoutASessionInsideOfAToolHasTheSessionOfTheTool() {
		ScriptedChatModel expert = new ScriptedChatModel().calls(call("write")).says("42");
		ChatClient experts = ClientSetup.plain().builder(expert, advisor(List.of())).defaultTools(write()).build();
		ToolCallback ask = tool("ask", () -> experts.prompt().user("q").call().content());
		this.model.calls(call("ask")).says("a");
		prompt(client(ClientSetup.plain(), List.of(), ask), "q").call().content();
		assertThat(this.thread.attributes()).isEqualTo(Map.of("name", "changed"));
	}

	@Test
	void outsideOfACallEveryMethodThrowsAndSaysWhatToDo() {
		List<Callable<?>> methods = List.of(this.session::key, this.session::turnId, this.session::agent,
				this.session::history, this.session::attributes, () -> this.session.attribute("a", String.class),
				() -> {
					this.session.putAttribute("a", "b");
					return true;
				}, () -> {
					this.session.removeAttribute("a");
					return true;
				}, () -> this.session.wrap(() -> {
				}));
		for (Callable<?> method : methods) {
			assertThatIllegalStateException().isThrownBy(method::call)
				.withMessageContaining(Thread.currentThread().getName())
				.withMessageContaining("names a session")
				.withMessageContaining("wrap")
				.withMessageContaining("conversations.get(key).put");
		}
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void afterACallAndInACallWithoutASessionThereIsNone(ClientSetup.Mode mode) {
		AtomicReference<Throwable> thrown = new AtomicReference<>();
		ToolCallback look = tool("look", () -> thrown.set(catchThrowable(this.session::key)));
		ChatClient chat = client(setup(mode), List.of(), look);
		this.model.calls(call("look")).says("a");
		setup(mode).content(prompt(chat, "q"));
		assertThat(thrown.get()).isNull();
		assertThatIllegalStateException().isThrownBy(this.session::key);
		this.model.calls(call("look")).says("a");
		setup(mode).content(chat.prompt().user("q"));
		assertThat(thrown.get()).isInstanceOf(IllegalStateException.class);
		this.model.fails(new IllegalStateException("model down"));
		assertThatThrownBy(() -> setup(mode).content(prompt(chat, "q"))).hasMessage("model down");
		assertThatIllegalStateException().isThrownBy(this.session::key);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void listenersHaveNoneSinceTheyChangeNothing(ClientSetup.Mode mode) {
		List<Throwable> thrown = new CopyOnWriteArrayList<>();
		SessionListener listener = new SessionListener() {

			@Override
			public void toolCalled(SessionEvent.ToolCalled event) {
				thrown.add(catchThrowable(() -> SessionContextTests.this.session.putAttribute("by", "listener")));
			}

			@Override
			public void toolReturned(SessionEvent.ToolReturned event) {
				thrown.add(catchThrowable(() -> SessionContextTests.this.session.putAttribute("by", "listener")));
			}

		};
		this.model.calls(call("write")).says("a");
		ChatClient chat = client(setup(mode), List.of(), write());
		setup(mode).content(prompt(chat, "q").advisors(SessionAdvisor.listener(listener)));
		assertThat(thrown).hasSize(2).allSatisfy((each) -> assertThat(each).isInstanceOf(IllegalStateException.class));
		assertThat(this.thread.attributes()).isEqualTo(Map.of("name", "changed"));
	}

	@Test
	void hooksOnSummariesHaveNoneSinceNoTurnRuns() {
		List<Throwable> thrown = new CopyOnWriteArrayList<>();
		SessionHook hook = new SessionHook() {

			@Override
			public HookResult<List<Message>> beforeSummary(SummaryContext context, List<Message> messages) {
				thrown.add(catchThrowable(SessionContextTests.this.session::key));
				return HookResult.keep();
			}

		};
		this.store.add(T2, List.of(new UserMessage("q"), new AssistantMessage("a")));
		Conversations summarizing = Conversations.builder(this.store)
			.hooks(hook)
			.summarize(Summarize.by(new ScriptedChatModel().says("summary")).keepTurns(0).build())
			.build();
		ToolCallback summarize = tool("summarize", () -> summarizing.get(T2).summarize(true));
		this.model.calls(call("summarize")).says("a");
		prompt(client(ClientSetup.plain(), List.of(), summarize), "q").call().content();
		assertThat(thrown).hasSize(2).allSatisfy((each) -> assertThat(each).isInstanceOf(IllegalStateException.class));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void otherThreadsHaveTheCallInTasksThatAreWrapped(ClientSetup.Mode mode) throws Exception {
		ExecutorService pool = Executors.newSingleThreadExecutor();
		try {
			ToolCallback split = tool("split", () -> {
				Future<Throwable> bare = pool.submit(() -> catchThrowable(this.session::key));
				Future<SessionKey> called = pool.submit(this.session.wrap(() -> this.session.key()));
				Future<?> run = pool.submit(this.session.wrap(() -> this.session.putAttribute("run", true)));
				assertThat(get(bare)).isInstanceOf(IllegalStateException.class);
				assertThat(get(called)).isEqualTo(T1);
				assertThat(get(run)).isNull();
				assertThat(get(pool.submit(() -> catchThrowable(this.session::key)))).isNotNull();
				this.session.putAttribute("checked", true);
			});
			this.model.calls(call("split")).says("a");
			setup(mode).content(prompt(client(setup(mode), List.of(), split), "q"));
			assertThat(this.thread.attributes()).isEqualTo(Map.of("run", true, "checked", true));
		}
		finally {
			pool.shutdownNow();
		}
	}

	/**
	 * A manager of the application may run tools on threads that Spring AI knows nothing
	 * of.
	 */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void toolsHaveTheCallOnWhicheverThreadTheyRun(ClientSetup.Mode mode) {
		ToolCallingManager manager = ToolCallingManager.builder().build();
		ToolCallingManager elsewhere = new ToolCallingManager() {

			@Override
			public List<ToolDefinition> resolveToolDefinitions(ToolCallingChatOptions options) {
				return manager.resolveToolDefinitions(options);
			}

			@Override
			public ToolExecutionResult executeToolCalls(Prompt prompt, ChatResponse response) {
				return CompletableFuture.supplyAsync(() -> manager.executeToolCalls(prompt, response)).join();
			}

		};
		this.model.calls(call("write")).says("a");
		setup(mode).content(prompt(ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(Conversations.of(this.store)))
			.defaultAdvisors(ToolCallingAdvisor.builder().toolCallingManager(elsewhere).build())
			.defaultTools(tool("write", () -> this.session.putAttribute("step", 1)))
			.build(), "q"));
		assertThat(this.thread.attributes()).isEqualTo(Map.of("step", 1));
	}

	/** Such a tool is none that the session advisor has seen. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void toolThatAnAdvisorAddsHasTheCallToo(ClientSetup.Mode mode) {
		ToolCallback late = tool("write", () -> this.session.putAttribute("step", 1));
		this.model.calls(call("write")).says("a");
		setup(mode).content(prompt(ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(Conversations.of(this.store)))
			.defaultAdvisors(adding(late))
			.build(), "q"));
		assertThat(this.thread.attributes()).isEqualTo(Map.of("step", 1));
	}

	private static BaseAdvisor adding(ToolCallback tool) {
		return new BaseAdvisor() {

			@Override
			public String getName() {
				return "adding";
			}

			@Override
			public ChatClientRequest before(ChatClientRequest request, AdvisorChain chain) {
				return request.mutate()
					.prompt(request.prompt()
						.mutate()
						.chatOptions(ToolCallingChatOptions.builder().toolCallbacks(tool).build())
						.build())
					.build();
			}

			@Override
			public ChatClientResponse after(ChatClientResponse response, AdvisorChain chain) {
				return response;
			}

			@Override
			public int getOrder() {
				return AdvisorNames.TURN_ORDER + 5;
			}

		};
	}

	@Test
	void toolThatOutlivesACancelledStreamWritesNothing() {
		CountDownLatch started = new CountDownLatch(1);
		CountDownLatch gone = new CountDownLatch(1);
		AtomicReference<Throwable> late = new AtomicReference<>();
		ToolCallback slow = tool("slow", () -> {
			this.session.putAttribute("name", "early");
			started.countDown();
			awaitUninterrupted(gone);
			late.set(catchThrowable(() -> this.session.putAttribute("name", "late")));
		});
		ChatClient chat = withAttributes(ClientSetup.streaming(), List.of());
		this.model.calls(call("slow"));
		Disposable running = prompt(chat, "q").tools(slow).stream().content().subscribe();
		Awaitility.await().until(() -> started.getCount() == 0);
		running.dispose();
		gone.countDown();
		Awaitility.await().until(() -> late.get() != null);
		assertThat(late.get()).isInstanceOf(IllegalStateException.class).hasMessageContaining("is over");
		awaitTurns(2);
		assertThat(this.thread.turns(Tail.ALL).get(1).status()).isEqualTo(TurnStatus.CANCELLED);
		assertThat(this.thread.attributes()).isEqualTo(Map.of("name", "Ada"));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void taskThatOutlivesItsCallWritesNothing(ClientSetup.Mode mode) {
		AtomicReference<Runnable> late = new AtomicReference<>();
		ToolCallback write = tool("write",
				() -> late.set(this.session.wrap(() -> this.session.putAttribute("name", "late"))));
		this.model.calls(call("write")).says("a");
		setup(mode).content(prompt(client(setup(mode), List.of(), write), "q"));
		assertThatIllegalStateException().isThrownBy(() -> late.get().run()).withMessageContaining("'t1'");
		assertThat(this.thread.attributes()).isEmpty();
	}

	@Test
	void valuesAreCopiedInBothDirections() {
		List<String> list = new ArrayList<>(List.of("a"));
		Set<String> set = new LinkedHashSet<>(List.of("a"));
		byte[] bytes = { 1 };
		this.model.calls(call("look")).says("a");
		ToolCallback look = tool("look", () -> {
			this.session.putAttribute("list", list);
			this.session.putAttribute("set", set);
			this.session.putAttribute("bytes", bytes);
			list.add("b");
			set.add("b");
			bytes[0] = 2;
			this.session.attribute("bytes", byte[].class).orElseThrow()[0] = 3;
			unchangeable(() -> this.session.attribute("list", List.class).orElseThrow().clear());
			unchangeable(() -> this.session.attribute("set", Set.class).orElseThrow().clear());
			unchangeable(() -> this.session.attributes().clear());
		});
		prompt(client(ClientSetup.plain(), List.of(), look), "q").call().content();
		assertThat(this.thread.attributes()).containsOnlyKeys("list", "set", "bytes")
			.containsEntry("list", List.of("a"))
			.containsEntry("set", Set.of("a"))
			.containsEntry("bytes", new byte[] { 1 });
	}

	@Test
	void valueOfAnotherClassIsAnErrorThatNamesBothClasses() {
		this.model.calls(call("look")).says("a");
		List<Object> read = new CopyOnWriteArrayList<>();
		ToolCallback look = tool("look", () -> {
			this.session.putAttribute("age", 42);
			read.add(this.session.attribute("age", int.class).orElseThrow());
			read.add(this.session.attribute("age", Number.class).orElseThrow());
			read.add(this.session.attribute("absent", String.class).isEmpty());
			read.add(catchThrowable(() -> this.session.attribute("age", String.class)));
			read.add(this.session.removeAttribute("age"));
			read.add(this.session.removeAttribute("age"));
		});
		prompt(client(ClientSetup.plain(), List.of(), look), "q").call().content();
		assertThat(read.subList(0, 3)).containsExactly(42, 42, true);
		assertThat((Throwable) read.get(3)).isInstanceOf(IllegalArgumentException.class)
			.hasMessageContaining("'age'")
			.hasMessageContaining("'t1'")
			.hasMessageContaining("java.lang.Integer")
			.hasMessageContaining("java.lang.String")
			.hasMessageNotContaining("42");
		assertThat(read.subList(4, 6)).containsExactly(true, false);
	}

	@Test
	void valueThatCannotBeStoredIsRefusedAtOnce() {
		List<Throwable> thrown = new CopyOnWriteArrayList<>();
		this.model.calls(call("look")).says("a");
		ToolCallback look = tool("look", () -> {
			thrown.add(catchThrowable(() -> this.session.putAttribute("lock", new Object())));
			thrown.add(catchThrowable(() -> this.session.putAttribute("text", "secret \uD800")));
			thrown.add(catchThrowable(() -> this.session.putAttribute("a\uD800", "b")));
			this.session.putAttribute("fine", 1);
		});
		prompt(client(ClientSetup.plain(), List.of(), look), "q").call().content();
		assertThat(thrown).hasSize(3);
		assertThat(thrown.subList(0, 2))
			.allSatisfy((each) -> assertThat(each).isInstanceOf(UnstorableMessageException.class)
				.hasMessageNotContaining("secret"));
		assertThat(thrown.get(2)).isInstanceOf(IllegalArgumentException.class)
			.hasMessageContaining("lone surrogate U+D800 at 1");
		assertThat(thrown.get(0)).hasMessageContaining("'lock'").hasMessageContaining("java.lang.Object");
		assertThat(thrown.get(1)).hasMessageContaining("'text'");
		assertThat(this.thread.attributes()).isEqualTo(Map.of("fine", 1));
	}

	@Test
	void nothingIsPutIntoTheToolContext() {
		this.model.calls(call("write")).says("a");
		prompt(client(ClientSetup.plain(), List.of(), write()), "q").call().content();
		assertThat(this.model.prompts()).hasSize(2).allSatisfy((prompt) -> {
			ToolCallingChatOptions options = (ToolCallingChatOptions) Objects.requireNonNull(prompt.getOptions());
			Map<String, Object> context = options.getToolContext();
			assertThat((context != null) ? context : Map.of()).isEmpty();
		});
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void attributesCostNoStoreCalls(ClientSetup.Mode mode) {
		this.model.calls(call("write")).says("a");
		setup(mode).content(prompt(client(setup(mode), List.of(), write()), "q"));
		assertThat(this.store.calls()).containsExactly("open", "commit");
	}

	@Test
	void limitOfTheConversationsHolds() {
		Conversations small = Conversations.builder(this.store).maxAttributesSize(DataSize.ofBytes(60)).build();
		AtomicReference<Throwable> thrown = new AtomicReference<>();
		ToolCallback write = tool("write",
				() -> thrown.set(catchThrowable(() -> this.session.putAttribute("name", "x".repeat(60)))));
		this.model.calls(call("write")).says("a");
		ChatClient chat = ClientSetup.plain().builder(this.model, SessionAdvisor.of(small)).defaultTools(write).build();
		prompt(chat, "q").call().content();
		assertThat(thrown.get()).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("'name'");
		assertThatThrownBy(() -> small.get(T1).putAttribute("name", "x".repeat(60)))
			.isInstanceOf(IllegalArgumentException.class);
		assertThatThrownBy(() -> small.get(T1).fork(T2).putAttribute("name", "x".repeat(60)))
			.isInstanceOf(IllegalArgumentException.class);
		assertThat(this.thread.attributes()).isEmpty();
		assertThatThrownBy(() -> Conversations.builder(this.store).maxAttributesSize(DataSize.ofBytes(0)))
			.hasMessageContaining("at least one byte");
	}

	@Test
	void attributesAreWrittenBetweenTurnsToo() {
		this.store.add(T1, List.of(new UserMessage("q")));
		this.thread.putAttribute("name", "Ada");
		this.thread.putAttribute("step", 1);
		assertThat(this.thread.attribute("step", Integer.class)).contains(1);
		assertThat(this.thread.removeAttribute("step")).isTrue();
		assertThat(this.thread.removeAttribute("step")).isFalse();
		assertThat(this.thread.attribute("step", Integer.class)).isEmpty();
		assertThat(this.thread.attributes()).isEqualTo(Map.of("name", "Ada"));
		assertThat(this.thread.attribute("name", CharSequence.class)).contains("Ada");
		assertThatThrownBy(() -> this.thread.attribute("name", Integer.class))
			.isInstanceOf(IllegalArgumentException.class)
			.hasMessageContaining("'name'")
			.hasMessageContaining("java.lang.Integer")
			.hasMessageNotContaining("Ada");
		assertThatThrownBy(() -> this.thread.putAttribute("sessionkit.x", 1))
			.isInstanceOf(IllegalArgumentException.class);
		assertThatThrownBy(() -> this.thread.putAttribute("x", new Object()))
			.isInstanceOf(UnstorableMessageException.class);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void firstTurnReadsWhatWasWrittenBeforeIt(ClientSetup setup) {
		this.thread.putAttribute("name", "Ada");
		this.thread.putAttribute("step", 1);
		assertThat(this.thread.attributes()).isEqualTo(Map.of("name", "Ada", "step", 1));
		List<Object> read = new CopyOnWriteArrayList<>();
		ToolCallback look = tool("look", () -> read.add(this.session.attributes()));
		ToolCallback write = tool("write", () -> this.session.putAttribute("step", 2));
		this.model.calls(call("look")).calls(call("write")).says("a");
		assertThat(setup.content(prompt(client(setup, List.of(), look, write), "q"))).isEqualTo("a");
		assertThat(read).containsExactly(Map.of("name", "Ada", "step", 1));
		assertThat(this.thread.attributes()).isEqualTo(Map.of("name", "Ada", "step", 2));
		assertThat(this.thread.messages()).isNotEmpty();
	}

	@Test
	void sessionIsCreatedWithWhatItIsToHave() {
		HeaderChange header = HeaderChange.NONE.title("Order 7")
			.tags(Set.of("order"))
			.attributes(Map.of("order", 7))
			.timeToLive(Duration.ofHours(1));
		assertThat(this.thread.create(header)).isTrue();
		assertThat(this.thread.create(header.title("another"))).isFalse();
		Session created = this.thread.session().orElseThrow();
		assertThat(created.title()).isEqualTo("Order 7");
		assertThat(created.tags()).containsExactly("order");
		assertThat(created.attributes()).isEqualTo(Map.of("order", 7));
		assertThat(created.timeToLive()).isEqualTo(Duration.ofHours(1));
		assertThat(this.thread.messages()).isEmpty();
		assertThatThrownBy(
				() -> Conversations.of(this.store).get(T2).create(HeaderChange.NONE.attributes(Map.of(" ", 7))))
			.isInstanceOf(IllegalArgumentException.class);
		assertThat(this.store.find(T2)).isEmpty();
	}

	@Test
	void attributeOfAnAbsentSessionIsRefused() {
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> this.thread.removeAttribute("a"));
		assertThat(this.thread.attributes()).isEmpty();
		assertThat(this.thread.attribute("a", String.class)).isEmpty();
		assertThat(this.thread.session()).isEmpty();
	}

	@Test
	void attributesOfTwoWritersAreBothKept() {
		this.memory.add(T1, List.of(new UserMessage("q")));
		Conversation other = Conversations.of(this.memory).get(T1);
		this.store.beforeCommit(() -> {
			if (other.attributes().size() < 3) {
				other.putAttribute("other" + other.attributes().size(), 1);
			}
		});
		this.thread.putAttribute("mine", 1);
		assertThat(this.thread.attributes()).containsOnlyKeys("mine", "other0", "other1", "other2");
	}

	@Test
	void writerWhoNeverGetsThroughGivesUp() {
		this.memory.add(T1, List.of(new UserMessage("q")));
		Conversation other = Conversations.of(this.memory).get(T1);
		this.store.beforeCommit(() -> other.putAttribute("count", other.attributes().hashCode()));
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> this.thread.putAttribute("mine", 1))
			.withMessageContaining("'t1'");
		assertThat(this.thread.attributes()).containsOnlyKeys("count");
	}

	// a hook that has one user for all threads
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void oneHookForAllSessionsHasTheIdentityOfEachCall(ClientSetup.Mode mode) {
		SessionHook memory = TestHooks.beforeTurn("memory", (input) -> {
			this.session.putAttribute("user", this.session.key().owner());
			return HookResult.keep();
		});
		ChatClient chat = client(setup(mode), List.of(memory));
		for (String user : List.of("ada", "bob", "ada")) {
			this.model.says("a");
			SessionKey key = SessionKey.of(user, "t1");
			setup(mode).content(chat.prompt().user("q").advisors(SessionAdvisor.session(key)));
			assertThat(Conversations.of(this.store).get(key).attributes()).isEqualTo(Map.of("user", user));
		}
	}

	// a user id that the tool context may or may not have
	@ParameterizedTest
	@MethodSource("setups")
	void toolWithJsonArgumentsFindsTheUserInTheAttributes(ClientSetup setup) {
		ToolCallback info = FunctionToolCallback
			.builder("userInfo",
					(SessionAdvisorTests.Value field) -> field.value() + " of "
							+ this.session.attribute("user_id", String.class).orElse("nobody"))
			.description("what is known of the user")
			.inputType(SessionAdvisorTests.Value.class)
			.build();
		this.model.calls(SessionAdvisorTests.call("c1", "userInfo", "city")).says("a");
		this.model.calls(SessionAdvisorTests.call("c1", "userInfo", "city")).says("a");
		ChatClient chat = client(setup, List.of(), info);
		setup.content(prompt(chat, "q"));
		this.thread.putAttribute("user_id", "user_123");
		setup.content(prompt(chat, "q"));
		assertThat(Lines.of(this.thread.messages())).contains("tool userInfo=\"city of nobody\"",
				"tool userInfo=\"city of user_123\"");
	}

	private static HookResult<List<Message>> refuse() {
		return HookResult.refuse("no");
	}

	private static void unchangeable(Runnable change) {
		assertThatThrownBy(change::run).isInstanceOf(UnsupportedOperationException.class);
	}

	private static ClientSetup setup(ClientSetup.Mode mode) {
		return new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
	}

	private static ToolCall call(String tool) {
		return SessionAdvisorTests.call("c1", tool, "1");
	}

	/**
	 * A tool that fails the test where it throws, instead of telling the model.
	 */
	private static ToolCallback tool(String name, Runnable work) {
		Supplier<String> body = () -> {
			try {
				work.run();
				return "done";
			}
			catch (RuntimeException ex) {
				throw new AssertionError(ex);
			}
		};
		return FunctionToolCallback.builder(name, (SessionAdvisorTests.Value value) -> body.get())
			.description("works")
			.inputType(SessionAdvisorTests.Value.class)
			.build();
	}

	private ToolCallback write() {
		return tool("write", () -> this.session.putAttribute("name", "changed"));
	}

	/**
	 * A client on a session that has a state already.
	 */
	private ChatClient withAttributes(ClientSetup setup, List<SessionHook> hooks) {
		this.model.calls(call("first")).says("a");
		prompt(client(ClientSetup.plain(), List.of(), tool("first", () -> this.session.putAttribute("name", "Ada"))),
				"q0")
			.call()
			.content();
		assertThat(this.thread.attributes()).isEqualTo(Map.of("name", "Ada"));
		return client(setup, hooks, write());
	}

	private ChatClient client(ClientSetup setup, List<SessionHook> hooks, ToolCallback... tools) {
		return setup.builder(this.model, advisor(hooks)).defaultTools((Object[]) tools).build();
	}

	private SessionAdvisor advisor(List<SessionHook> hooks) {
		return SessionAdvisor.of(Conversations.builder(this.store).hooks(hooks).build());
	}

	private static ChatClient.ChatClientRequestSpec prompt(ChatClient chat, String text) {
		return chat.prompt().user(text).advisors(SessionAdvisor.session(T1));
	}

	private void moveTo(long turn) {
		Commit move = Commit.on(this.thread.session().orElseThrow()).header(HeaderChange.NONE.head("main", turn));
		assertThat(this.store.commit(move).isStored()).isTrue();
	}

	private void awaitTurns(int count) {
		Awaitility.await().until(() -> this.thread.turns(Tail.ALL).size() == count);
	}

	private static <T> T get(Future<T> future) {
		try {
			return future.get();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void awaitUninterrupted(CountDownLatch latch) {
		while (latch.getCount() > 0) {
			try {
				latch.await();
			}
			catch (InterruptedException ex) {
				// a tool that does not care
			}
		}
	}

	/**
	 * Writes when the turn is saved, and lets streams go on.
	 */
	private final class Counting implements SessionHook {

		@Override
		public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
			SessionContext mine = SessionContextTests.this.session;
			mine.putAttribute("saved", mine.attribute("saved", Integer.class).orElse(0) + 1);
			return HookResult.keep();
		}

		@Override
		public boolean checksReplies() {
			return false;
		}

	}

}
