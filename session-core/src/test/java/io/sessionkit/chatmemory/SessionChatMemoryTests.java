package io.sessionkit.chatmemory;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.sessionkit.Durability;
import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.Turn;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.view.MemoryRecord;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.store.Window;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Sessions as a {@code ChatMemory}, used as Spring AI and applications use one, on a
 * store of each family.
 */
class SessionChatMemoryTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private static final ToolCall CALL = new ToolCall("c1", "function", "look", "{\"id\":1}");

	private final String id = UUID.randomUUID().toString();

	private final SessionKey key = SessionKey.of("ada", this.id);

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final List<String> runs = new ArrayList<>();

	private SessionStore store = TestStores.MEMORY.create();

	private SessionChatMemory memory = SessionChatMemory.of(this.store, () -> "ada");

	private void on(TestStores kind) {
		this.store = STORES.computeIfAbsent(kind, TestStores::create);
		this.memory = SessionChatMemory.of(this.store, () -> "ada");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void questionAndAnswerAreOneTurnAlthoughTheyAreAddedApart(TestStores kind) {
		on(kind);
		this.memory.add(this.id, new UserMessage("q1"));
		assertThat(turns()).isEmpty();
		assertThat(lines()).containsExactly("user: q1");
		this.memory.add(this.id, new AssistantMessage("a1"));
		this.memory.add(this.id, List.of(new UserMessage("q2"), new AssistantMessage("a2")));
		assertThat(turns()).extracting(Turn::items).containsExactly(2, 2);
		assertThat(turns()).extracting(Turn::status).containsOnly(TurnStatus.COMPLETED);
		assertThat(lines()).containsExactly("user: q1", "assistant: a1", "user: q2", "assistant: a2");
		assertThat(this.store.records(this.key, MemoryRecord.KIND)).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void readingASessionWhoseSummaryIsGoneWritesNothing(TestStores kind) {
		on(kind);
		this.memory.add(this.id, List.of(new UserMessage("q1"), new AssistantMessage("a1")));
		this.memory.add(this.id, List.of(new UserMessage("q2"), new AssistantMessage("a2")));
		this.store.commit(Commit.any(this.key).header(HeaderChange.NONE.summary(1, "gone")));
		Session before = this.store.find(this.key).orElseThrow();
		assertThat(before.summaryTurn()).isEqualTo(1);
		assertThat(lines()).containsExactly("user: q1", "assistant: a1", "user: q2", "assistant: a2");
		assertThat(this.store.find(this.key)).contains(before);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void toolRoundsBelongToTheTurn(TestStores kind) {
		on(kind);
		this.memory.add(this.id, new UserMessage("q"));
		this.memory.add(this.id, calls());
		this.memory.add(this.id, results());
		assertThat(lines()).containsExactly("user: q", "assistant look({\"id\":1})", "tool look=found");
		this.memory.add(this.id, new AssistantMessage("a"));
		assertThat(turns()).extracting(Turn::items).containsExactly(4);
		assertThat(lines()).containsExactly("user: q", "assistant look({\"id\":1})", "tool look=found", "assistant: a");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void callsWithoutResultsAreSetAsideWhenTheNextQuestionComes(TestStores kind) {
		on(kind);
		this.memory.add(this.id, List.of(new UserMessage("q1"), new AssistantMessage("a1")));
		this.memory.add(this.id, new UserMessage("q2"));
		this.memory.add(this.id, calls());
		this.memory.add(this.id, new UserMessage("q3"));
		assertThat(lines()).containsExactly("user: q1", "assistant: a1", "user: q3");
		this.memory.add(this.id, new AssistantMessage("a3"));
		assertThat(turns()).extracting(Turn::status)
			.containsExactly(TurnStatus.COMPLETED, TurnStatus.FAILED, TurnStatus.COMPLETED);
		assertThat(Lines.of(this.store.items(this.key, 2).stream().map((item) -> item.message()).toList()))
			.containsExactly("user: q2", "assistant look({\"id\":1})");
		assertThat(lines()).containsExactly("user: q1", "assistant: a1", "user: q3", "assistant: a3");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void addsOfManyThreadsLoseNothing(TestStores kind) throws Exception {
		on(kind);
		ExecutorService threads = Executors.newFixedThreadPool(4);
		try {
			List<Future<?>> all = new ArrayList<>();
			for (int t = 0; t < 4; t++) {
				int thread = t;
				all.add(threads.submit(() -> {
					for (int i = 0; i < 10; i++) {
						String text = thread + "-" + i;
						this.memory.add(this.id,
								List.of(new UserMessage("q" + text), new AssistantMessage("a" + text)));
					}
				}));
			}
			for (Future<?> each : all) {
				each.get();
			}
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(this.memory.get(this.id)).hasSize(80);
		assertThat(turns()).hasSize(40);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void questionsAndAnswersThatCrossAreAllKept(TestStores kind) throws Exception {
		on(kind);
		this.memory.add(this.id, List.of(new UserMessage("first"), new AssistantMessage("reply")));
		ExecutorService threads = Executors.newFixedThreadPool(4);
		try {
			List<Future<?>> all = new ArrayList<>();
			for (int t = 0; t < 4; t++) {
				String text = Integer.toString(t);
				all.add(threads.submit(() -> {
					this.memory.add(this.id, new UserMessage("q" + text));
					this.memory.add(this.id, new AssistantMessage("a" + text));
				}));
			}
			for (Future<?> each : all) {
				each.get();
			}
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(lines()).hasSize(10)
			.contains("user: q0", "user: q1", "user: q2", "user: q3", "assistant: a0", "assistant: a1", "assistant: a2",
					"assistant: a3");
		assertThat(turns()).extracting(Turn::status).containsOnly(TurnStatus.COMPLETED);
	}

	@Test
	void unansweredQuestionStaysAndIsAnsweredWithTheNextOne() {
		this.memory.add(this.id, new UserMessage("q1"));
		this.memory.add(this.id, new UserMessage("q2"));
		this.memory.add(this.id, new AssistantMessage("a"));
		assertThat(lines()).containsExactly("user: q1", "user: q2", "assistant: a");
		assertThat(turns()).hasSize(1);
	}

	@Test
	void newestSystemMessageIsFirstAndReplacesTheOneBefore() {
		this.memory.add(this.id, List.of(new SystemMessage("be brief"), new UserMessage("q")));
		this.memory.add(this.id, new AssistantMessage("a"));
		this.memory.add(this.id, new SystemMessage("be kind"));
		assertThat(lines()).containsExactly("system: be kind", "user: q", "assistant: a");
		assertThat(Lines.of(this.store.messages(this.key))).containsExactly("user: q", "assistant: a");
		this.memory.clear(this.id);
		assertThat(this.memory.get(this.id)).isEmpty();
	}

	@Test
	void answerWithoutAQuestionIsRefusedFirstAndKeptLater() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.memory.add(this.id, new AssistantMessage("hello")))
			.withMessageContaining("the first one is an answer")
			.withMessageNotContaining("hello");
		assertThat(this.store.find(this.key)).isEmpty();
		this.memory.add(this.id, List.of(new UserMessage("q"), new AssistantMessage("a")));
		this.memory.add(this.id, new AssistantMessage("your order was sent"));
		assertThat(lines()).containsExactly("user: q", "assistant: a", "assistant: your order was sent");
		assertThat(Lines.of(this.memory.window(Window.turns(1)).get(this.id))).isEmpty();
	}

	@Test
	void resultsThatAnswerNoCallsAreRefused() {
		this.memory.add(this.id, new UserMessage("q"));
		assertThatIllegalArgumentException().isThrownBy(() -> this.memory.add(this.id, results()))
			.withMessageContaining("do not answer");
		this.memory.add(this.id, calls());
		assertThatIllegalArgumentException().isThrownBy(() -> this.memory.add(this.id,
				ToolResponseMessage.builder().responses(List.of(new ToolResponse("c2", "look", "found"))).build()));
		assertThat(lines()).containsExactly("user: q", "assistant look({\"id\":1})");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void resultsOfOneReplyMayComeInAMessageEach(TestStores kind) {
		on(kind);
		AssistantMessage both = AssistantMessage.builder()
			.content("")
			.toolCalls(List.of(CALL, new ToolCall("c2", "function", "look", "{\"id\":2}")))
			.build();
		Message second = ToolResponseMessage.builder()
			.responses(List.of(new ToolResponse("c2", "look", "lost")))
			.build();
		this.memory.add(this.id, List.of(new UserMessage("q"), both));
		assertThatIllegalArgumentException().as("not all of them")
			.isThrownBy(() -> this.memory.add(this.id, results()));
		assertThatIllegalArgumentException().as("not in order")
			.isThrownBy(() -> this.memory.add(this.id, List.of(second, results())));
		this.memory.add(this.id, List.of(results(), second, new AssistantMessage("a")));
		assertThat(lines()).containsExactly("user: q", "assistant look({\"id\":1}) look({\"id\":2})", "tool look=found",
				"tool look=lost", "assistant: a");
		assertThat(turns()).hasSize(1);
	}

	@Test
	void messagesOfOneListAreStoredTogetherOrNotAtAll() {
		assertThatIllegalArgumentException()
			.isThrownBy(
					() -> this.memory
						.add(this.id,
								List.of(new UserMessage("q1"), new AssistantMessage("a1"), new UserMessage("q2"),
										calls(), new UserMessage("q3"))))
			.withMessageContaining("no answer of the model");
		assertThatExceptionOfType(UnstorableMessageException.class).isThrownBy(() -> this.memory.add(this.id,
				List.of(new UserMessage("q1"), new AssistantMessage("a1"), new UserMessage("\ud800"))));
		assertThat(this.store.find(this.key)).isEmpty();
	}

	@Test
	void windowReturnsWholeTurnsAndWhatWaits() {
		for (int i = 1; i <= 3; i++) {
			this.memory.add(this.id, List.of(new UserMessage("q" + i), new AssistantMessage("a" + i)));
		}
		this.memory.add(this.id, new UserMessage("q4"));
		assertThat(Lines.of(this.memory.window(Window.items(3)).get(this.id))).containsExactly("user: q3",
				"assistant: a3", "user: q4");
		assertThat(lines()).hasSize(7);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void windowLimitsTurnsAlsoIfTheRecordOfASummaryIsGone(TestStores kind) {
		on(kind);
		for (int i = 1; i <= 4; i++) {
			this.memory.add(this.id, List.of(new UserMessage("q" + i), new AssistantMessage("a" + i)));
		}
		this.store.commit(Commit.any(this.key).header(HeaderChange.NONE.summary(3, "gone")));
		assertThat(Lines.of(this.memory.window(Window.turns(2)).get(this.id))).containsExactly("user: q3",
				"assistant: a3", "user: q4", "assistant: a4");
	}

	@Test
	void ownerIsAskedWithEachCall() {
		String[] owner = { "ada" };
		SessionChatMemory shared = SessionChatMemory.of(this.store, () -> owner[0]);
		shared.add(this.id, List.of(new UserMessage("q"), new AssistantMessage("a")));
		owner[0] = "bob";
		assertThat(shared.get(this.id)).isEmpty();
		SessionChatMemory unknown = SessionChatMemory.of(this.store, () -> {
			throw new IllegalStateException("nobody is logged in");
		});
		assertThatIllegalStateException().isThrownBy(() -> unknown.get(this.id));
		assertThatIllegalStateException().isThrownBy(() -> unknown.add(this.id, new UserMessage("q")));
		assertThatIllegalStateException().isThrownBy(() -> unknown.clear(this.id));
	}

	@Test
	void toolThatClearsTheSessionOfItsFirstTurnTakesTheTurnWithIt() {
		assertClearedByTools(Conversations.of(this.store), () -> this.model.says("done"));
	}

	/** The model is not called again. */
	@Test
	void toolThatClearsTheSessionOfItsOpenTurnTakesTheTurnWithIt() {
		assertClearedByTools(Conversations.builder(this.store).durability(Durability.STEP).build(), () -> {
		});
	}

	private void assertClearedByTools(Conversations conversations, Runnable next) {
		SessionChatMemoryRepository repository = SessionChatMemoryRepository.of(this.store, this.key::owner);
		for (Runnable clearing : List.<Runnable>of(() -> this.memory.clear(this.id),
				() -> repository.deleteByConversationId(this.id))) {
			ChatClient chat = ChatClient.builder(this.model)
				.defaultAdvisors(SessionAdvisor.of(conversations))
				.defaultToolCallbacks(FunctionToolCallback.builder("clear", () -> {
					clearing.run();
					return "cleared";
				}).description("clears").build())
				.build();
			this.model.calls(new ToolCall("c1", "function", "clear", "{}"));
			next.run();
			assertThatExceptionOfType(SessionLostException.class)
				.isThrownBy(() -> chat.prompt().user("q").advisors(SessionAdvisor.session(this.key)).call().content());
			assertThat(this.store.find(this.key)).isEmpty();
		}
	}

	@Test
	void sessionWhoseCallsWaitIsNeitherAddedToNorCleared() {
		Conversations conversations = Conversations.of(this.store);
		Approvals approvals = Approvals.builder(conversations).tools(java.util.Set.of("look")).build();
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(conversations).approvals(approvals).build())
			.defaultToolCallbacks(tool())
			.build();
		this.model.calls(CALL);
		chat.prompt().user("q").advisors(SessionAdvisor.session(this.key)).call().content();
		assertThat(approvals.pending(this.key)).extracting(ToolApproval::tool).containsExactly("look");
		assertThatExceptionOfType(TurnOpenException.class)
			.isThrownBy(() -> this.memory.add(this.id, new UserMessage("q2")));
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> this.memory.clear(this.id));
		assertThat(approvals.pending(this.key)).hasSize(1);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void memoryAdvisorOfSpringAiWorksOnSessions(boolean stream) {
		ChatClient chat = memoryClient(200);
		this.model.says("a1").calls(CALL).says("a2").says("a3");
		ask(chat, "q1", stream);
		ask(chat, "q2", stream);
		assertThat(this.runs).containsExactly("1");
		ask(chat, "q3", stream);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "assistant: a1", "user: q2",
				"assistant: a2", "user: q3");
		assertThat(turns()).extracting(Turn::items).containsExactly(2, 2, 2);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void memoryAdvisorInsideTheToolLoopStoresTheRounds(boolean stream) {
		ChatClient chat = memoryClient(400);
		this.model.says("a1").calls(CALL).says("a2").says("a3");
		ask(chat, "q1", stream);
		ask(chat, "q2", stream);
		ask(chat, "q3", stream);
		assertThat(this.model.lastRequestLines()).contains("user: q1", "assistant: a1", "user: q2",
				"assistant look({\"id\":1})", "tool look=\"found\"", "assistant: a2", "user: q3");
		assertThat(turns()).extracting(Turn::items).containsExactly(2, 4, 2);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void failedCallLeavesItsQuestionToTheNextOne(boolean stream) {
		ChatClient chat = memoryClient(200);
		this.model.fails(new IllegalStateException("down")).says("a");
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> ask(chat, "q1", stream));
		ask(chat, "q1", stream);
		assertThat(lines()).containsExactly("user: q1", "user: q1", "assistant: a");
	}

	@Test
	void loopByHandAsTheReferenceOfSpringAiShowsIt() {
		ToolCallingManager manager = ToolCallingManager.builder().build();
		ToolCallingChatOptions options = ToolCallingChatOptions.builder().toolCallbacks(tool()).build();
		this.model.calls(CALL).says("a");
		this.memory.add(this.id, List.of(new SystemMessage("be brief"), new UserMessage("q")));
		Prompt prompt = new Prompt(this.memory.get(this.id), options);
		ChatResponse response = this.model.call(prompt);
		this.memory.add(this.id, response.getResult().getOutput());
		while (response.hasToolCalls()) {
			List<Message> history = manager.executeToolCalls(prompt, response).conversationHistory();
			this.memory.add(this.id, history.get(history.size() - 1));
			prompt = new Prompt(this.memory.get(this.id), options);
			response = this.model.call(prompt);
			this.memory.add(this.id, response.getResult().getOutput());
		}
		assertThat(this.model.lastRequestLines()).containsExactly("system: be brief", "user: q",
				"assistant look({\"id\":1})", "tool look=\"found\"");
		assertThat(turns()).extracting(Turn::items).containsExactly(4);
	}

	@Test
	void callsWithTheSessionAdvisorGoOnWithTheSameSession() {
		this.memory.add(this.id, List.of(new UserMessage("q1"), new AssistantMessage("a1")));
		this.model.says("a2");
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(Conversations.of(this.store)))
			.build()
			.prompt()
			.user("q2")
			.advisors(SessionAdvisor.session(this.key))
			.call()
			.content();
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "assistant: a1", "user: q2");
		assertThat(lines()).containsExactly("user: q1", "assistant: a1", "user: q2", "assistant: a2");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2" })
	void answerWithoutContentIsKeptBesideTheHistory(TestStores kind) {
		on(kind);
		this.model.responds(this.model.chunk("", List.of(), true)).says("a2");
		ask(memoryClient(0), "q1", false);
		ask(memoryClient(0), "q2", false);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q2");
		this.memory.add(this.id, List.of(new UserMessage("q3"), AssistantMessage.builder().build()));
		assertThat(lines()).containsExactly("user: q2", "assistant: a2");
		assertThat(turns()).extracting(Turn::status)
			.containsExactly(TurnStatus.FAILED, TurnStatus.COMPLETED, TurnStatus.FAILED);
		assertThat(turns()).extracting(Turn::failure).containsExactly("no reply", null, "no reply");
		assertThat(Lines.of(this.store.items(this.key, 1).stream().map((item) -> item.message()).toList()))
			.containsExactly("user: q1", "assistant");
		assertThat(this.store.records(this.key, MemoryRecord.KIND)).isEmpty();
	}

	/** As a process leaves it that is killed between the two commits. */
	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2" })
	void answerWithoutContentThatIsNotSetAsideYetIsNotSent(TestStores kind) {
		on(kind);
		this.memory.add(this.id, List.of(new UserMessage("q1"), new AssistantMessage("a1")));
		ObservedStore failing = new ObservedStore(this.store);
		SessionChatMemory killed = SessionChatMemory.of(failing, () -> "ada");
		failing.afterCommit(() -> failing.failAt(ObservedStore.Fault.COMMIT));
		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> killed.add(this.id, List.of(new UserMessage("q2"), AssistantMessage.builder().build())));
		assertThat(this.store.records(this.key, MemoryRecord.KIND)).hasSize(1);
		assertThat(lines()).containsExactly("user: q1", "assistant: a1");
		SessionChatMemoryRepository repository = SessionChatMemoryRepository.of(this.store, () -> "ada");
		assertThat(Lines.of(repository.findByConversationId(this.id))).containsExactly("user: q1", "assistant: a1");
		this.model.says("a3");
		ask(memoryClient(0), "q3", false);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "assistant: a1", "user: q3");
		assertThat(turns()).extracting(Turn::failure).containsExactly(null, "no reply", null);
	}

	@Test
	void answerWithoutContentThatCannotBeSetAsideIsStoredAllTheSame() {
		ObservedStore busy = new ObservedStore(this.store);
		this.memory.add(this.id, List.of(new UserMessage("q1"), new AssistantMessage("a1")));
		AtomicInteger commits = new AtomicInteger();
		busy.beforeCommit(() -> {
			if (commits.incrementAndGet() > 1) {
				touch();
			}
		});
		SessionChatMemory.of(busy, () -> "ada")
			.add(this.id, List.of(new UserMessage("q2"), AssistantMessage.builder().build()));
		assertThat(commits).hasValueGreaterThan(2);
		this.memory.add(this.id, List.of(new UserMessage("q3"), new AssistantMessage("a3")));
		assertThat(turns()).extracting(Turn::failure).containsExactly(null, "no reply", null);
	}

	/** Writes the record of the memory, as others do. */
	private void touch() {
		SessionRecord record = this.store.records(this.key, MemoryRecord.KIND).get(0);
		this.store.put(this.key, RecordWrite.replace(record, record.payload()));
	}

	@Test
	void answerWithoutContentBeforeAnotherQuestionIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.memory.add(this.id,
					List.of(new UserMessage("q1"), new AssistantMessage(" "), new UserMessage("q2"),
							new AssistantMessage("a2"))))
			.withMessageContaining("neither text nor tool calls nor media");
		assertThat(turns()).isEmpty();
	}

	/**
	 * Anthropic gives a thought as a generation in front of the reply, hidden ones
	 * without text.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 200, 400 })
	void hiddenThoughtsInFrontOfAReplyAreLeftOut(int order) {
		AssistantMessage hidden = AssistantMessage.builder().properties(Map.of("data", "s3cret")).build();
		AssistantMessage signed = AssistantMessage.builder().content("").properties(Map.of("signature", "x")).build();
		this.model.responds(response(hidden, signed, calls())).responds(response(hidden, new AssistantMessage("a1")));
		ask(memoryClient(order), "q1", false);
		assertThat(this.runs).hasSize(1);
		assertThat(lines()).first().isEqualTo("user: q1");
		assertThat(lines()).last().isEqualTo("assistant: a1");
		assertThat(turns()).extracting(Turn::items).containsExactly((order > 300) ? 4 : 2);
		this.model.says("a2");
		ask(memoryClient(order), "q2", false);
		assertThat(turns()).extracting(Turn::status).containsOnly(TurnStatus.COMPLETED);
	}

	private static ChatResponse response(AssistantMessage... replies) {
		return new ChatResponse(Stream.of(replies).map(Generation::new).toList());
	}

	private ChatClient memoryClient(int order) {
		return ChatClient.builder(this.model)
			.defaultAdvisors(MessageChatMemoryAdvisor.builder(this.memory).order(Integer.MIN_VALUE + order).build())
			.defaultToolCallbacks(tool())
			.build();
	}

	private void ask(ChatClient chat, String text, boolean stream) {
		ChatClient.ChatClientRequestSpec call = chat.prompt()
			.user(text)
			.advisors((advisors) -> advisors.param(ChatMemory.CONVERSATION_ID, this.id));
		if (stream) {
			call.stream().content().blockLast();
		}
		else {
			call.call().content();
		}
	}

	record Order(String id) {
	}

	private ToolCallback tool() {
		return FunctionToolCallback.builder("look", (Order order) -> {
			this.runs.add(order.id());
			return "found";
		}).description("looks").inputType(Order.class).build();
	}

	private static AssistantMessage calls() {
		return AssistantMessage.builder().content("").toolCalls(List.of(CALL)).build();
	}

	private static Message results() {
		return ToolResponseMessage.builder().responses(List.of(new ToolResponse("c1", "look", "found"))).build();
	}

	private List<String> lines() {
		return Lines.of(this.memory.get(this.id));
	}

	private List<Turn> turns() {
		return this.store.turns(this.key, Tail.ALL);
	}

}
