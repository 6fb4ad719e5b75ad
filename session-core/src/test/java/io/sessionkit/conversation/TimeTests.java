package io.sessionkit.conversation;

import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.sessionkit.NestedTurnException;
import io.sessionkit.NothingWaitsException;
import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionLostException;
import io.sessionkit.SessionNotFoundException;
import io.sessionkit.Summary;
import io.sessionkit.TokenUsage;
import io.sessionkit.Turn;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.ViewTotals;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.chatmemory.SessionChatMemory;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.context.HistoryPolicy;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.ModelRequest;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.TurnPart;
import io.sessionkit.internal.view.Summaries;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.ChangeRefusedException.Reason;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.Point;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionStoreFixture;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.SetClock;
import io.sessionkit.test.TestStores;
import io.sessionkit.test.ValidSequence;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Going back and forth in a session, its branches, and what is brought in, on every
 * store.
 */
@ParameterizedClass
@EnumSource
class TimeTests {

	private static final Message CALL = AssistantMessage.builder()
		.toolCalls(List.of(new ToolCall("e1", "function", "gated", "{}")))
		.build();

	private static final Message RESULT = ToolResponseMessage.builder()
		.responses(List.of(new ToolResponse("e1", "gated", "done")))
		.build();

	private static final Map<TestStores, SessionStore> stores = new EnumMap<>(TestStores.class);

	@Parameter
	TestStores kind;

	private final SessionKey key = SessionKey.of("time", UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	private SessionStore store;

	private Conversations conversations;

	private Conversation conversation;

	private ChatClient client;

	@BeforeEach
	void open() {
		this.store = stores.computeIfAbsent(this.kind, TestStores::create);
		this.conversations = Conversations.of(this.store);
		this.conversation = this.conversations.get(this.key);
		this.client = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(this.conversations)).build();
	}

	// back and forth

	@Test
	void undoneTurnsComeBackNewestFirst() {
		talk(3);
		assertThat(numbers(this.conversation.undo(2))).containsExactly(3L, 2L);
		assertThat(log()).containsExactly("q1", "a1");
		assertThat(numbers(this.conversation.redo(1))).containsExactly(2L);
		assertThat(log()).containsExactly("q1", "a1", "q2", "a2");
		assertThat(numbers(this.conversation.redo(5))).containsExactly(3L);
		assertThat(log()).hasSize(6);
		assertThat(this.conversation.redo(1)).isEmpty();
	}

	@Test
	void headIsTheLastTurnOfTheHistoryWhateverFailsBehindIt() {
		assertThat(this.conversation.head()).isEmpty();
		talk(2);
		this.model.fails(new IllegalStateException("down"));
		assertThatIllegalStateException()
			.isThrownBy(() -> this.client.prompt().user("q3").advisors(on()).call().content());
		assertThat(numbers(this.conversation.turns(Tail.newest(1)))).containsExactly(3L);
		ObservedStore observed = new ObservedStore(this.store);
		assertThat(numbers(Conversations.of(observed).get(this.key).head().stream().toList())).containsExactly(2L);
		assertThat(observed.calls()).hasSize(1);
		this.conversation.undo(1);
		this.conversation.reset();
		assertThat(this.conversation.head().orElseThrow().number()).isEqualTo(1);
		this.conversation.undo(1);
		this.conversation.undo(1);
		assertThat(this.conversation.head()).isEmpty();
	}

	@Test
	void undoOfNothingChangesNothing() {
		assertThat(this.conversation.undo(1)).isEmpty();
		assertThat(this.conversation.redo(1)).isEmpty();
		assertThat(this.store.find(this.key)).isEmpty();
		talk(1);
		Session before = header();
		for (int none : new int[] { 0, -1 }) {
			assertThatIllegalArgumentException().isThrownBy(() -> this.conversation.undo(none))
				.withMessageContaining("cannot be undone")
				.withMessageContaining("at least 1");
			assertThatIllegalArgumentException().isThrownBy(() -> this.conversation.redo(none))
				.withMessageContaining("cannot be redone");
		}
		assertThat(this.conversation.redo(1)).isEmpty();
		assertThat(header()).isEqualTo(before);
	}

	@Test
	void viewStartsWithNoSummaryOfTurnsThatTheHeadHasFallenBehind() {
		talk(3);
		summarize(3);
		this.conversation.undo(1);
		assertThat(texts(this.conversation.view())).containsExactly("q1", "a1", "q2", "a2");
		ask("q4", "a4");
		assertThat(lastRequest()).containsExactly("q1", "a1", "q2", "a2", "q4");
	}

	@Test
	void poppedMessagesLeaveASummaryAndAResetInForce() {
		talk(3);
		summarize(3);
		this.conversation.pop();
		this.conversation.pop();
		assertThat(this.conversation.view()).as("the summary alone").hasSize(2);
		ask("q4", "a4");
		this.conversation.reset();
		this.conversation.pop();
		this.conversation.pop();
		ask("q5", "a5");
		assertThat(lastRequest()).containsExactly("q5");
	}

	@Test
	void resetThatADeletionLeavesIsNoneForOtherBranches() {
		talk(2);
		this.conversation.branch("c");
		ask("q3", "a3");
		this.conversation.switchTo("main");
		ask("q4", "a4");
		this.conversation.reset();
		this.conversation.delete(4);
		assertThat(this.conversation.view()).isEmpty();
		this.conversation.switchTo("c");
		assertThat(texts(this.conversation.view())).containsExactly("q1", "a1", "q2", "a2", "q3", "a3");
	}

	@Test
	void redoBringsBackWhatWasUndoneLast() {
		talk(2);
		this.conversation.undo(1);
		ask("q3", "a3");
		ask("q4", "a4");
		this.conversation.undo(1);
		this.conversation.delete(3);
		assertThat(numbers(this.conversation.redo(1))).containsExactly(4L);
	}

	@Test
	void undoOfMoreThanThereIsEmptiesTheThread() {
		talk(3);
		assertThat(numbers(this.conversation.undo(Integer.MAX_VALUE))).containsExactly(3L, 2L, 1L);
		assertThat(log()).isEmpty();
		assertThat(header().head()).isZero();
		assertThat(numbers(this.conversation.redo(2))).containsExactly(1L, 2L);
	}

	@Test
	void severalUndosAreRedoneOneByOne() {
		talk(4);
		this.conversation.undo(1);
		this.conversation.undo(1);
		this.conversation.undo(1);
		assertThat(numbers(this.conversation.redo(1))).containsExactly(2L);
		assertThat(numbers(this.conversation.redo(1))).containsExactly(3L);
		assertThat(numbers(this.conversation.redo(1))).containsExactly(4L);
		assertThat(this.conversation.redo(1)).isEmpty();
	}

	@Test
	void anotherTurnEndsWhatCanBeRedone() {
		talk(3);
		this.conversation.undo(2);
		ask("another", "answer");
		assertThat(this.conversation.redo(1)).isEmpty();
		assertThat(log()).containsExactly("q1", "a1", "another", "answer");
		assertThat(numbers(this.conversation.siblings(4))).containsExactly(2L, 4L);
		assertThat(this.conversation.choose(2).number()).isEqualTo(2);
		assertThat(log()).containsExactly("q1", "a1", "q2", "a2", "q3", "a3");
		this.conversation.choose(4);
		assertThat(log()).containsExactly("q1", "a1", "another", "answer");
	}

	@Test
	void attributesGoBackWithTheTurns() {
		talk(1);
		this.conversation.putAttribute("step", 1);
		talk(1);
		this.conversation.putAttribute("step", 2);
		this.conversation.undo(1);
		assertThat(this.conversation.attributes()).containsEntry("step", 1);
		this.conversation.redo(1);
		assertThat(this.conversation.attributes()).containsEntry("step", 2);
	}

	@Test
	void attributesThatManyPutAtOnceAreAllKept() throws Exception {
		talk(1);
		ExecutorService threads = Executors.newFixedThreadPool(10);
		try {
			List<Callable<Void>> puts = new ArrayList<>();
			for (int i = 0; i < 30; i++) {
				String name = "a" + i;
				puts.add(() -> {
					this.conversation.putAttribute(name, 1);
					return null;
				});
			}
			for (Future<Void> put : threads.invokeAll(puts)) {
				put.get();
			}
		}
		finally {
			threads.shutdownNow();
		}
		assertThat(this.conversation.attributes()).hasSize(30);
	}

	/** No turn keeps them, as the documentation says. */
	@Test
	void attributesFromBeforeTheFirstTurnEndWithTheBeginning() {
		this.conversation.putAttribute("name", "ada");
		talk(1);
		this.conversation.putAttribute("step", 1);
		assertThat(this.conversation.attributes()).containsOnlyKeys("name", "step");
		talk(1);
		edit(2, "edited", "answer");
		assertThat(this.conversation.attributes()).containsOnlyKeys("name", "step");
		edit(1, "edited", "answer");
		assertThat(this.conversation.attributes()).isEmpty();
		this.conversation.choose(1);
		assertThat(this.conversation.attributes()).containsOnlyKeys("name", "step");
		this.conversation.undo(Integer.MAX_VALUE);
		assertThat(this.conversation.attributes()).isEmpty();
		this.conversation.putAttribute("name", "ada");
		ask("anew", "answer");
		assertThat(this.conversation.attributes()).containsOnlyKeys("name");
	}

	@Test
	void movesAreRefusedWhileATurnIsOpen() {
		talk(2);
		this.store.commit(Commit.any(this.key).turn(SessionStoreFixture.turn(TurnStatus.AWAITING_APPROVAL, 2, "q3")));
		Session before = header();
		Moves.of(this.conversation, "q1")
			.forEach((move, call) -> assertThatExceptionOfType(TurnOpenException.class).as(move).isThrownBy(call));
		assertThatExceptionOfType(TurnOpenException.class)
			.isThrownBy(() -> this.conversation.addTurn(said("q", "a"), null));
		assertThat(header()).isEqualTo(before);
	}

	@Test
	void movesCancelWhatWaitsIfTheyAreToldTo() {
		Approvals approvals = Approvals.builder(this.conversations).tools(Set.of("gated")).build();
		Conversation cancelling = this.conversation.cancelling(approvals);
		talk(1);
		waits(approvals, "q2");
		assertThat(numbers(cancelling.undo(1))).containsExactly(2L);
		assertThat(approvals.pending(this.key)).isEmpty();
		assertThat(header().openTurn()).isZero();
		assertThat(log()).containsExactly("q1", "a1");
		cancelling.redo(1);
		assertThat(log()).hasSize(5).startsWith("q1", "a1", "q2");
		ask("q3", "a3");
		assertThat(ValidSequence.faults(this.model.prompts().get(this.model.prompts().size() - 1).getInstructions()))
			.isEmpty();
		waits(approvals, "q4");
		cancelling.branch("b");
		assertThat(header().branch()).isEqualTo("b");
		cancelling.switchTo(Session.MAIN);
		waits(approvals, "q5");
		cancelling.deleteBranch("b", false);
		assertThat(this.conversation.branches()).hasSize(1);
		assertThat(header().openTurn()).isZero();
	}

	@Test
	void moveThatCancelsATurnOnAnotherBranchIsOneOfTheActiveBranch() {
		Approvals approvals = Approvals.builder(this.conversations).tools(Set.of("gated")).build();
		talk(2);
		this.conversation.branch("side");
		this.conversation.switchTo(Session.MAIN);
		waits(approvals, "aside", SessionAdvisor.branch("side"));
		assertThat(numbers(this.conversation.cancelling(approvals).undo(1))).containsExactly(2L);
		assertThat(log()).containsExactly("q1", "a1");
		this.conversation.switchTo("side");
		assertThat(log()).hasSize(7).contains("a2", "aside");
	}

	private void waits(Approvals approvals, String question) {
		waits(approvals, question, (advisors) -> {
		});
	}

	private void waits(Approvals approvals, String question, Consumer<ChatClient.AdvisorSpec> more) {
		this.model.calls(new ToolCall("c1", "function", "gated", "{}"));
		ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(this.conversations).approvals(approvals).build())
			.defaultToolCallbacks(FunctionToolCallback.builder("gated", () -> "done").description("gated").build())
			.build()
			.prompt()
			.user(question)
			.advisors(on().andThen(more))
			.call()
			.content();
		assertThat(approvals.pending(this.key)).hasSize(1);
	}

	@Test
	void undoAfterASummaryKeepsItInForce() {
		talk(20);
		summarize(17);
		assertThat(this.conversation.view()).hasSize(8);
		this.conversation.undo(1);
		assertThat(this.conversation.view()).hasSize(6);
		this.conversation.undo(4);
		assertThat(texts(this.conversation.view())).hasSize(30).startsWith("q1", "a1");
		this.conversation.redo(5);
		assertThat(this.conversation.view()).hasSize(8);
	}

	@Test
	void resetStartsTheViewAnewAndKeepsTheLog() {
		this.conversation.seed(said("seed", "kept"));
		talk(2);
		this.conversation.putAttribute("step", 2);
		this.conversation.title("title");
		this.conversation.reset();
		assertThat(texts(this.conversation.view())).containsExactly("seed", "kept");
		assertThat(log()).containsExactly("seed", "kept", "q1", "a1", "q2", "a2");
		assertThat(this.conversation.attributes()).containsEntry("step", 2);
		assertThat(header().title()).isEqualTo("title");
		assertThat(this.conversation.summary()).isEmpty();
		assertThat(this.conversation.summaries()).isEmpty();
		ask("anew", "answer");
		assertThat(lastRequest()).containsExactly("seed", "kept", "anew");
		Session before = header();
		this.conversation.undo(1);
		this.conversation.reset();
		assertThat(header().totals().turns()).isZero();
		this.conversation.redo(1);
		assertThat(header().head()).isEqualTo(before.head());
	}

	@Test
	void undoStopsAtAResetAndThenTakesItBack() {
		talk(3);
		this.conversation.reset();
		ask("anew", "answer");
		assertThat(numbers(this.conversation.undo(3))).containsExactly(4L);
		assertThat(this.conversation.view()).isEmpty();
		assertThat(this.conversation.undo(1)).isEmpty();
		assertThat(texts(this.conversation.view())).containsExactly("q1", "a1", "q2", "a2", "q3", "a3");
		assertThat(numbers(this.conversation.undo(1))).containsExactly(3L);
	}

	@Test
	void redoBringsBackAResetWithTheTurnsBehindIt() {
		talk(1);
		this.conversation.reset();
		ask("anew", "answer");
		this.conversation.undo(1);
		this.conversation.undo(1);
		assertThat(texts(this.conversation.view())).containsExactly("q1", "a1");
		assertThat(numbers(this.conversation.redo(2))).containsExactly(2L);
		ask("next", "answer");
		assertThat(lastRequest()).containsExactly("anew", "answer", "next");
		assertThat(numbers(this.conversation.undo(9))).containsExactly(3L, 2L);
		assertThat(this.conversation.undo(1)).isEmpty();
		assertThat(numbers(this.conversation.undo(1))).containsExactly(1L);
		assertThat(numbers(this.conversation.redo(1))).containsExactly(1L);
		assertThat(texts(this.conversation.view())).containsExactly("q1", "a1");
		assertThat(numbers(this.conversation.redo(1))).containsExactly(2L);
		assertThat(texts(this.conversation.view())).containsExactly("anew", "answer");
	}

	@Test
	void redoBringsBackAResetAlone() {
		this.conversation.seed(said("seed", "kept"));
		talk(1);
		this.conversation.reset();
		assertThat(this.conversation.undo(1)).isEmpty();
		assertThat(texts(this.conversation.view())).containsExactly("seed", "kept", "q1", "a1");
		assertThat(this.conversation.siblings()).isEmpty();
		assertThat(this.conversation.redo(1)).isEmpty();
		assertThat(texts(this.conversation.view())).containsExactly("seed", "kept");
		assertThat(this.conversation.redo(1)).isEmpty();
		this.conversation.undo(1);
		ask("on", "answer");
		assertThat(this.conversation.redo(1)).as("another turn was written").isEmpty();
		assertThat(texts(this.conversation.view())).contains("q1", "on");
	}

	/** A commit can put one of them into force. */
	@Test
	void redoBringsBackSeveralResets() {
		for (int i = 1; i <= 3; i++) {
			ask("q" + i, "a" + i);
			this.conversation.reset();
		}
		for (int i = 0; i < 6; i++) {
			this.conversation.undo(1);
		}
		assertThat(header().head()).isZero();
		assertThat(numbers(this.conversation.redo(9))).containsExactly(1L, 2L, 3L);
		assertThat(this.conversation.view()).isEmpty();
		for (long turn : List.of(3L, 2L, 1L)) {
			assertThat(this.conversation.view()).isEmpty();
			this.conversation.undo(1);
			assertThat(texts(this.conversation.view())).containsExactly("q" + turn, "a" + turn);
			this.conversation.undo(1);
		}
	}

	@Test
	void chosenTurnHasTheResetBeforeIt() {
		talk(1);
		this.conversation.reset();
		ask("anew", "answer");
		this.conversation.undo(9);
		this.conversation.undo(9);
		this.conversation.choose(2);
		assertThat(texts(this.conversation.view())).containsExactly("anew", "answer");
		this.conversation.undo(1);
		this.conversation.undo(1);
		ask("other", "answer");
		assertThat(lastRequest()).containsExactly("q1", "a1", "other");
		this.conversation.choose(2);
		assertThat(texts(this.conversation.view())).containsExactly("anew", "answer");
		this.conversation.choose(3);
		assertThat(texts(this.conversation.view())).as("they follow the same turn").containsExactly("other", "answer");
	}

	@Test
	void redoKeepsAReplacedConversationAway() {
		talk(2);
		this.model.says("answer");
		this.client.prompt()
			.user("question")
			.advisors(on().andThen(SessionAdvisor.history(said("given", "history"), HistoryPolicy.REPLACE_SESSION)))
			.call()
			.content();
		for (int i = 0; i < 3; i++) {
			this.conversation.undo(1);
		}
		assertThat(texts(this.conversation.view())).containsExactly("q1", "a1", "q2", "a2");
		assertThat(numbers(this.conversation.redo(1))).containsExactly(3L);
		assertThat(numbers(this.conversation.redo(1))).containsExactly(4L);
		assertThat(texts(this.conversation.view())).containsExactly("given", "history", "question", "answer");
	}

	@Test
	void undoTakesBackAResetBehindADeletedTurn() {
		talk(3);
		this.conversation.delete(2);
		this.conversation.undo(1);
		this.conversation.reset();
		assertThat(this.conversation.view()).isEmpty();
		assertThat(this.conversation.undo(1)).isEmpty();
		assertThat(texts(this.conversation.view())).containsExactly("q1", "a1");
		assertThat(numbers(this.conversation.undo(2))).containsExactly(1L);
	}

	@Test
	void deletionKeepsAReset() {
		talk(3);
		this.conversation.reset();
		this.conversation.delete(1);
		assertThat(this.conversation.view()).isEmpty();
		this.conversation.delete(3);
		assertThat(this.conversation.view()).as("the head stays behind the reset").isEmpty();
		ask("anew", "answer");
		assertThat(lastRequest()).containsExactly("anew");
		assertThat(numbers(this.conversation.undo(3))).containsExactly(4L);
		assertThat(this.conversation.undo(1)).isEmpty();
		assertThat(texts(this.conversation.view())).containsExactly("q2", "a2");
	}

	@Test
	void deletionOfAMessageOfTheSeedTakesItOutOfAReset() {
		this.conversation.seed(said("one", "1", "two", "2"));
		talk(1);
		this.conversation.reset();
		this.conversation.delete(1);
		assertThat(texts(this.conversation.view())).containsExactly("two", "2");
	}

	@Test
	void deletionOfWhatIsBeforeTheHeadLeavesTheHead() {
		talk(3);
		this.conversation.putAttribute("step", 3);
		this.conversation.undo(1);
		this.conversation.delete(2);
		assertThat(header().head()).isEqualTo(1);
		assertThat(numbers(this.conversation.redo(1))).as("behind the deleted turn").containsExactly(3L);
		this.conversation.undo(1);
		assertThat(header().head()).as("of which nothing is left").isEqualTo(2);
		Map<String, Object> attributes = this.conversation.attributes();
		this.conversation.delete(1);
		assertThat(header().head()).isEqualTo(2);
		assertThat(this.conversation.attributes()).isEqualTo(attributes);
		assertThat(numbers(this.conversation.redo(1))).containsExactly(3L);
		assertThat(log()).containsExactly("q3", "a3");
	}

	@Test
	void regenerationBehindADeletedTurnAsksTheQuestionBeforeIt() {
		talk(3);
		this.conversation.delete(2);
		this.conversation.undo(1);
		this.model.says("other");
		this.client.prompt().advisors(on().andThen(SessionAdvisor.regenerating())).call().content();
		assertThat(lastRequest()).containsExactly("q1");
		assertThat(log()).containsExactly("q1", "other");
	}

	@Test
	void branchesLeaveTheSameTurnsEachOnItsOwn() {
		talk(2);
		this.conversation.branch("b");
		this.conversation.undo(1);
		this.conversation.switchTo("main");
		this.conversation.undo(1);
		this.conversation.switchTo("b");
		assertThat(numbers(this.conversation.redo(1))).containsExactly(2L);
		this.conversation.switchTo("main");
		this.conversation.deleteBranch("b", false);
		assertThat(numbers(this.conversation.redo(1))).containsExactly(2L);
		assertThat(log()).containsExactly("q1", "a1", "q2", "a2");
	}

	@Test
	void turnOfABranchThatIsGoneIsDeletedWithTheLastOneThatHasIt() {
		talk(1);
		this.conversation.branch("b");
		ask("q2", "a2");
		this.conversation.branch("c");
		this.conversation.switchTo("main");
		assertThat(this.conversation.deleteBranch("b", false)).isZero();
		assertThat(this.conversation.deleteBranch("c", false)).isEqualTo(2);
		assertThat(this.store.items(this.key, 2)).isEmpty();
	}

	@Test
	void branchAtTheBeginningHasTheAttributesOfTheBeginning() {
		this.conversation.putAttribute("plan", "gold");
		this.conversation.branch("b");
		ask("q1", "a1");
		assertThat(this.conversation.attributes()).containsEntry("plan", "gold");
	}

	@Test
	void chosenTurnBehindAnotherThatWasLeftIsReachedFromWhereTheWaysPart() {
		talk(2);
		edit(2, "q3", "a3");
		edit(1, "q4", "a4");
		assertThat(this.conversation.siblings()).isEqualTo(Map.of(0L, List.of(1L), 1L, List.of(2L)));
		this.conversation.choose(2);
		assertThat(log()).containsExactly("q1", "a1", "q2", "a2");
		assertThat(numbers(this.conversation.siblings(1))).containsExactly(1L, 4L);
		assertThat(numbers(this.conversation.siblings(2))).containsExactly(2L, 3L);
	}

	@Test
	void chosenTurnBehindUndoneOnesLeavesNothingOutOfReach() {
		talk(2);
		edit(2, "q3", "a3");
		this.conversation.undo(2);
		this.conversation.choose(2);
		assertThat(log()).containsExactly("q1", "a1", "q2", "a2");
		assertThat(this.conversation.siblings()).isEqualTo(Map.of(1L, List.of(3L)));
		this.conversation.choose(3);
		assertThat(log()).containsExactly("q1", "a1", "q3", "a3");
	}

	@Test
	void questionIsFoundByTheBeginningOfAWordInGreek() {
		ask("\u03bc\u03bf\u03c5\u03c3\u03b9\u03ba\u03ae", "a1");
		this.conversation.branchFromContent("b", "\u039c\u039f\u03a5\u03a3");
		assertThat(header().branch()).isEqualTo("b");
	}

	@Test
	void resetOfAnEmptySessionChangesNothing() {
		this.conversation.reset();
		assertThat(this.store.find(this.key)).isEmpty();
		talk(1);
		this.conversation.reset();
		Session before = header();
		this.conversation.reset();
		assertThat(header()).isEqualTo(before);
	}

	// branches

	@Test
	void branchBeginsAtTheHeadOrBeforeATurn() {
		talk(3);
		Branch idea = this.conversation.branch("idea");
		assertThat(idea).isEqualTo(branch("idea"));
		assertThat(idea).extracting(Branch::name, Branch::head, Branch::active).containsExactly("idea", 3L, true);
		ask("idea", "good");
		Branch early = this.conversation.branch("early", 2);
		assertThat(early).isEqualTo(branch("early"));
		assertThat(early).extracting(Branch::name, Branch::head, Branch::active).containsExactly("early", 1L, true);
		assertThat(log()).containsExactly("q1", "a1");
		ask("early", "bird");
		assertThat(this.conversation.switchTo(Session.MAIN)).isEqualTo(branch(Session.MAIN));
		assertThat(log()).hasSize(6);
		assertThat(this.conversation.switchTo("idea")).isEqualTo(branch("idea"));
		assertThat(this.conversation.switchTo("idea")).as("active already").isEqualTo(branch("idea"));
		assertThat(log()).endsWith("idea", "good");
		assertThat(this.conversation.branches()).extracting(Branch::name)
			.containsExactlyInAnyOrder(Session.MAIN, "idea", "early");
		assertThat(branch(Session.MAIN)).extracting(Branch::head, Branch::active).containsExactly(3L, false);
		assertThat(branch("idea")).extracting(Branch::head, Branch::active).containsExactly(4L, true);
		assertThat(branch("early")).extracting(Branch::head, Branch::active).containsExactly(5L, false);
		assertThat(turnsOf(branch(Session.MAIN))).containsExactly(1L, 2L, 3L);
		assertThat(turnsOf(branch("idea"))).containsExactly(1L, 2L, 3L, 4L);
		assertThat(turnsOf(branch("early"))).containsExactly(1L, 5L);
		assertThat(this.conversation.branchSizes()).containsExactlyInAnyOrderEntriesOf(Map.of(Session.MAIN,
				new Branch.Size(3, 6), "idea", new Branch.Size(4, 8), "early", new Branch.Size(2, 4)));
	}

	@Test
	void absentSessionHasNoBranchesAndNoSizes() {
		assertThat(this.conversation.branches()).isEmpty();
		assertThat(this.conversation.branchSizes()).isEmpty();
	}

	@Test
	void whatAChangeReturnsCostsNoFurtherCallOfTheStore() {
		talk(2);
		AtomicInteger calls = new AtomicInteger();
		Conversation counted = Conversations.of(CallsOfStore.before(this.store, calls::incrementAndGet)).get(this.key);
		counted.branch("b");
		assertThat(calls.getAndSet(0)).as("a read and a commit").isEqualTo(2);
		counted.switchTo(Session.MAIN);
		assertThat(calls.getAndSet(0)).isEqualTo(2);
		counted.branches();
		assertThat(calls.getAndSet(0)).isEqualTo(1);
		counted.putAttribute("a", 1);
		assertThat(calls.getAndSet(0)).isEqualTo(2);
		counted.removeAttribute("a");
		assertThat(calls.getAndSet(0)).isEqualTo(2);
		counted.attribute("a", Integer.class);
		assertThat(calls.getAndSet(0)).isEqualTo(1);
		counted.erase();
		assertThat(calls.getAndSet(0)).isEqualTo(1);
	}

	@Test
	void emptyBranchIsListedSwitchedToAndDeleted() {
		talk(1);
		Branch first = this.conversation.branch(1);
		assertThat(first.name()).isEqualTo("branch_from_turn_1");
		assertThat(first).isEqualTo(branch("branch_from_turn_1"));
		assertThat(log()).isEmpty();
		this.conversation.switchTo(Session.MAIN);
		assertThat(this.conversation.branch(1).name()).isEqualTo("branch_from_turn_1_2");
		assertThat(this.conversation.branches()).hasSize(3);
		this.conversation.switchTo("branch_from_turn_1");
		assertThat(header().head()).isZero();
		assertThat(this.conversation.deleteBranch("branch_from_turn_1_2", false)).isZero();
		assertThat(this.conversation.deleteBranch("branch_from_turn_1", true)).isZero();
		assertThat(this.conversation.branches()).extracting(Branch::name).containsExactly(Session.MAIN);
		assertThat(log()).containsExactly("q1", "a1");
	}

	@Test
	void branchesThatCannotBeAreRefused() {
		assertThatExceptionOfType(SessionNotFoundException.class).isThrownBy(() -> this.conversation.branch("b"));
		talk(2);
		this.conversation.branch("b", 2);
		Session before = header();
		for (String name : List.of("b", Session.MAIN)) {
			assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.conversation.branch(name));
		}
		for (String name : List.of("", "  ", "x".repeat(65), "a\nb")) {
			assertThatIllegalArgumentException().isThrownBy(() -> this.conversation.branch(name));
		}
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.conversation.branch("c", 2))
			.withMessageContaining("2");
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.conversation.switchTo("nowhere"))
			.withMessageContaining("nowhere")
			.withMessageContaining(Session.MAIN);
		for (String name : List.of("", Session.MAIN)) {
			assertThatIllegalArgumentException().isThrownBy(() -> this.conversation.deleteBranch(name, false));
		}
		for (String name : List.of("nowhere", "b")) {
			assertThatExceptionOfType(ChangeRefusedException.class)
				.isThrownBy(() -> this.conversation.deleteBranch(name, false));
		}
		assertThat(header()).isEqualTo(before);
	}

	@Test
	void branchFromContentTakesTheFirstQuestion() {
		ask("about Straße 100%", "role");
		ask("ÜBER Äpfel", "a2");
		ask("über Äpfel", "a3");
		assertThat(this.conversation.branchFromContent("apples", "über äpfel")).isEqualTo(branch("apples"))
			.returns(1L, Branch::head);
		assertThat(log()).containsExactly("about Straße 100%", "role");
		this.conversation.switchTo(Session.MAIN);
		assertThatExceptionOfType(ChangeRefusedException.class)
			.isThrownBy(() -> this.conversation.branchFromContent("r", "role"));
		assertThatExceptionOfType(ChangeRefusedException.class)
			.isThrownBy(() -> this.conversation.branchFromContent("r", "1_0"));
		this.conversation.branchFromContent("percent", "0%");
		assertThat(log()).isEmpty();
	}

	@Test
	void deletedBranchTakesOnlyWhatNoOtherHas() {
		talk(2);
		this.conversation.branch("idea", 2);
		ask("shared", "s");
		ask("own", "o");
		this.conversation.branch("next", 4);
		this.conversation.switchTo(Session.MAIN);
		assertThat(this.conversation.deleteBranch("idea", false)).isEqualTo(2);
		assertThat(this.store.items(this.key, 4)).isEmpty();
		this.conversation.switchTo("next");
		assertThat(log()).containsExactly("q1", "a1", "shared", "s");
		this.conversation.branch("idea");
		assertThat(log()).containsExactly("q1", "a1", "shared", "s");
	}

	@Test
	void callOnABranchLeavesTheActiveOneAsItIs() {
		talk(2);
		this.conversation.branch("side", 2);
		this.conversation.putAttribute("side", true);
		this.conversation.switchTo(Session.MAIN);
		this.model.says("on the side");
		this.client.prompt().user("aside").advisors(on().andThen(SessionAdvisor.branch("side"))).call().content();
		assertThat(lastRequest()).containsExactly("q1", "a1", "aside");
		assertThat(header().branch()).isEqualTo(Session.MAIN);
		assertThat(log()).containsExactly("q1", "a1", "q2", "a2");
		this.model.says("again");
		String content = String.join("",
				this.client.prompt()
					.user("more")
					.advisors(on().andThen(SessionAdvisor.branch("side")))
					.stream()
					.content()
					.collectList()
					.block());
		assertThat(content).isEqualTo("again");
		assertThat(lastRequest()).containsExactly("q1", "a1", "aside", "on the side", "more");
		ask("q3", "a3");
		this.conversation.switchTo("side");
		assertThat(log()).containsExactly("q1", "a1", "aside", "on the side", "more", "again");
		assertThat(this.conversation.attributes()).containsEntry("side", true);
		assertThatExceptionOfType(ChangeRefusedException.class)
			.isThrownBy(() -> this.client.prompt()
				.user("x")
				.advisors(on().andThen(SessionAdvisor.branch("nowhere")))
				.call()
				.content())
			.withMessageContaining("nowhere");
	}

	@Test
	void callsOnOneBranchExcludeEachOther() {
		talk(1);
		this.conversation.branch("side");
		this.conversation.switchTo(Session.MAIN);
		this.model.step((prompt) -> Flux.defer(() -> {
			this.model.says("first");
			CompletableFuture
				.supplyAsync(() -> this.client.prompt()
					.user("other")
					.advisors(on().andThen(SessionAdvisor.branch("side")))
					.call()
					.content())
				.join();
			return Flux.just(this.model.chunk("late", List.of(), true));
		}));
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> this.client.prompt()
			.user("mine")
			.advisors(on().andThen(SessionAdvisor.branch("side")))
			.call()
			.content());
		assertThat(log()).containsExactly("q1", "a1");
		this.conversation.switchTo("side");
		assertThat(log()).containsExactly("q1", "a1", "other", "first");
	}

	@Test
	void turnOnTheActiveBranchDoesNotDisturbACallOnAnother() {
		talk(1);
		this.conversation.branch("side");
		this.conversation.switchTo(Session.MAIN);
		this.model.step((prompt) -> {
			this.store.add(this.key, said("q2", "a2"));
			this.store.commit(Commit.any(this.key).turn(SessionStoreFixture.turn(TurnStatus.FAILED, 1, "q3")));
			return Flux.just(this.model.chunk("there", List.of(), true));
		});
		this.client.prompt().user("mine").advisors(on().andThen(SessionAdvisor.branch("side"))).call().content();
		assertThat(log()).containsExactly("q1", "a1", "q2", "a2");
		this.conversation.switchTo("side");
		assertThat(log()).containsExactly("q1", "a1", "mine", "there");
	}

	@Test
	void callOnABranchThatBecomesActiveMeanwhileDoesNotLoseItsTurn() {
		talk(1);
		this.conversation.branch("side");
		this.conversation.switchTo(Session.MAIN);
		this.model.step((prompt) -> {
			CompletableFuture.runAsync(() -> this.conversation.switchTo("side")).join();
			return Flux.just(this.model.chunk("late", List.of(), true));
		});
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> this.client.prompt()
			.user("mine")
			.advisors(on().andThen(SessionAdvisor.branch("side")))
			.call()
			.content());
		assertThat(log()).containsExactly("q1", "a1");
		this.conversation.adopt(2);
		assertThat(log()).containsExactly("q1", "a1", "mine", "late");
	}

	@Test
	void callOnABranchDoesNotDisturbATurnOnTheActiveOne() {
		talk(1);
		this.conversation.branch("side");
		this.conversation.switchTo(Session.MAIN);
		this.model.step((prompt) -> Flux.defer(() -> {
			this.model.says("there");
			CompletableFuture
				.supplyAsync(() -> this.client.prompt()
					.user("aside")
					.advisors(on().andThen(SessionAdvisor.branch("side")))
					.call()
					.content())
				.join();
			return Flux.just(this.model.chunk("here", List.of(), true));
		}));
		this.client.prompt().user("mine").advisors(on()).call().content();
		assertThat(log()).containsExactly("q1", "a1", "mine", "here");
		this.conversation.switchTo("side");
		assertThat(log()).containsExactly("q1", "a1", "aside", "there");
	}

	@Test
	void callOnABranchThatIsDeletedMeanwhileIsKeptBeside() {
		talk(1);
		this.conversation.branch("side");
		this.conversation.switchTo(Session.MAIN);
		this.model.step((prompt) -> {
			CompletableFuture.runAsync(() -> this.conversation.deleteBranch("side", false)).join();
			return Flux.just(this.model.chunk("late", List.of(), true));
		});
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> this.client.prompt()
			.user("mine")
			.advisors(on().andThen(SessionAdvisor.branch("side")))
			.call()
			.content());
		assertThat(this.conversation.branches()).extracting(Branch::name).containsExactly(Session.MAIN);
		assertThat(log()).containsExactly("q1", "a1");
	}

	@Test
	void callOnABranchThatBecomesActiveWhileItBeginsIsOnThatBranch() {
		talk(1);
		this.conversation.branch("side");
		this.conversation.switchTo(Session.MAIN);
		ObservedStore observed = new ObservedStore(this.store);
		observed.beforePath(onceAfter(0, () -> this.conversation.switchTo("side")));
		askOnSide(observed);
		assertThat(log()).containsExactly("q1", "a1", "aside", "there");
		this.conversation.switchTo(Session.MAIN);
		assertThat(log()).containsExactly("q1", "a1");
		this.conversation.switchTo("side");
		assertThat(log()).containsExactly("q1", "a1", "aside", "there");
	}

	@Test
	void callOnABranchThatIsLeftWhileItBeginsIsOnThatBranch() {
		talk(1);
		this.conversation.branch("side");
		ask("q2", "a2");
		ObservedStore observed = new ObservedStore(this.store);
		observed.beforeOpen(onceAfter(1, () -> this.conversation.switchTo(Session.MAIN)));
		askOnSide(observed);
		assertThat(lastRequest()).containsExactly("q1", "a1", "q2", "a2", "aside");
		assertThat(log()).containsExactly("q1", "a1");
		this.conversation.switchTo("side");
		assertThat(log()).containsExactly("q1", "a1", "q2", "a2", "aside", "there");
	}

	@Test
	void callOnABranchDoesNotBeginWhileOthersSwitchAllTheTime() {
		talk(1);
		this.conversation.branch("side");
		ObservedStore observed = new ObservedStore(this.store);
		observed.beforeOpen(() -> this.conversation.switchTo(Session.MAIN));
		observed.beforePath(() -> this.conversation.switchTo("side"));
		int requests = this.model.prompts().size();
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> askOnSide(observed))
			.withMessageContaining("side");
		assertThat(this.model.prompts()).hasSize(requests);
	}

	private void askOnSide(SessionStore seen) {
		this.model.says("there");
		clientOn(seen).prompt().user("aside").advisors(on().andThen(SessionAdvisor.branch("side"))).call().content();
	}

	// edit and regenerate

	@Test
	void editTakesThePlaceOfATurn() {
		talk(3);
		this.model.says("edited answer");
		this.client.prompt().user("edited").advisors(on().andThen(SessionAdvisor.editing(2))).call().content();
		assertThat(lastRequest()).containsExactly("q1", "a1", "edited");
		assertThat(log()).containsExactly("q1", "a1", "edited", "edited answer");
		assertThat(numbers(this.conversation.siblings(4))).containsExactly(2L, 4L);
		assertThat(this.conversation.redo(1)).isEmpty();
		this.conversation.choose(2);
		assertThat(log()).hasSize(6);
		assertThat(this.store.turns(this.key, Tail.newest(1))).singleElement()
			.satisfies((turn) -> assertThat(turn.parent()).isEqualTo(1));
	}

	@Test
	void regenerateAsksTheQuestionAgain() {
		talk(2);
		this.model.says("other");
		String content = String.join("",
				this.client.prompt()
					.advisors(on().andThen(SessionAdvisor.regenerating()))
					.stream()
					.content()
					.collectList()
					.block());
		assertThat(content).isEqualTo("other");
		assertThat(lastRequest()).containsExactly("q1", "a1", "q2");
		assertThat(log()).containsExactly("q1", "a1", "q2", "other");
		this.model.says("third");
		this.client.prompt().advisors(on().andThen(SessionAdvisor.regenerating(3))).call().content();
		assertThat(numbers(this.conversation.siblings(4))).containsExactly(2L, 3L, 4L);
		this.model.says("first anew");
		this.client.prompt().advisors(on().andThen(SessionAdvisor.regenerating(1))).call().content();
		assertThat(log()).containsExactly("q1", "first anew");
		this.conversation.choose(1);
		assertThat(log()).containsExactly("q1", "a1", "q2", "third");
	}

	/** Examples that the caller has brought belong to the question. */
	@Test
	void regenerateAsksAllOfTheInputAgain() {
		List<Message> input = List.of(new UserMessage("example"), new AssistantMessage("reply"),
				new UserMessage("question"));
		this.model.says("answer");
		this.client.prompt().messages(input).advisors(on()).call().content();
		this.model.says("other");
		this.client.prompt().advisors(on().andThen(SessionAdvisor.regenerating())).call().content();
		assertThat(lastRequest()).containsExactly("example", "reply", "question");
		assertThat(log()).containsExactly("example", "reply", "question", "other");
		this.conversation.pop();
		assertThatExceptionOfType(NothingWaitsException.class)
			.isThrownBy(() -> this.client.prompt().advisors(on()).call().content())
			.withMessageContaining("more than a question");
		this.model.says("third");
		this.client.prompt().advisors(on().andThen(SessionAdvisor.regenerating())).call().content();
		assertThat(lastRequest()).containsExactly("example", "reply", "question");
		assertThat(log()).containsExactly("example", "reply", "question", "third");
	}

	@Test
	void regenerateAsksToolCallsOfTheInputAgainButNotThoseOfTheModel() {
		List<Message> input = List.of(new UserMessage("example"), CALL, RESULT, new UserMessage("question"));
		this.model.calls(new ToolCall("c1", "function", "gated", "{}")).says("answer").says("other");
		this.client.prompt()
			.messages(input)
			.toolCallbacks(FunctionToolCallback.builder("gated", () -> "done").description("gated").build())
			.advisors(on())
			.call()
			.content();
		assertThat(this.conversation.messages()).hasSize(7);
		this.client.prompt().advisors(on().andThen(SessionAdvisor.regenerating(1))).call().content();
		assertThat(this.conversation.messages()).hasSize(5).startsWith(input.toArray(Message[]::new));
		assertThat(this.model.lastRequest()).hasSize(4);
	}

	/** All messages of such a turn have one time. */
	@Test
	void turnOfWhichTheQuestionIsNotCertainIsNotRegenerated() {
		SetClock clock = new SetClock();
		StoreOptions options = StoreOptions.of(JsonMessageCodec.create()).clock(clock);
		InMemorySessionStore fixed = new InMemorySessionStore(options);
		this.model.says("a1").says("a2").says("other");
		ChatClient chat = clientOn(fixed);
		chat.prompt()
			.messages(new UserMessage("q1"), CALL, RESULT, new UserMessage("q2"))
			.advisors(on())
			.call()
			.content();
		int requests = this.model.prompts().size();
		assertThatExceptionOfType(ChangeRefusedException.class)
			.isThrownBy(() -> chat.prompt().advisors(on().andThen(SessionAdvisor.regenerating())).call().content())
			.withMessageContaining("SessionAdvisor.editing(1)");
		assertThat(this.model.prompts()).hasSize(requests);
		chat.prompt().user("q3").advisors(on()).call().content();
		chat.prompt().advisors(on().andThen(SessionAdvisor.regenerating())).call().content();
		assertThat(texts(fixed.messages(this.key))).endsWith("q3", "other");
	}

	/** The turn could not become history after that. */
	@Test
	void codeOfATurnWritesToItsSessionWithTheTurnAlone() {
		talk(2);
		Session before = header();
		List<Runnable> writes = List.of(() -> this.conversation.putAttribute("a", 1),
				() -> this.conversation.removeAttribute("a"), this.conversation::pop, () -> this.conversation.delete(1),
				() -> this.conversation.delete(Set.of(1L)), () -> this.conversation.addTurn(said("x", "y"), null),
				() -> this.conversation.adopt(1), () -> this.conversation.seed(said("x", "y")));
		Set<String> refused = new TreeSet<>();
		Consumer<String> code = (place) -> writes.forEach((write) -> {
			assertThatExceptionOfType(NestedTurnException.class).isThrownBy(write::run)
				.withMessageContaining(this.key.toString())
				.withMessageContaining("Nothing was changed");
			refused.add(place);
		});
		this.model.calls(new ToolCall("c1", "function", "write", "{}")).says("done");
		String answer = this.client.prompt().user("write").toolCallbacks(FunctionToolCallback.builder("write", () -> {
			code.accept("tool");
			return "refused";
		}).description("writes").build())
			.advisors(on())
			.advisors(SessionAdvisor.hook(everywhere(code)))
			.call()
			.content();
		assertThat(answer).isEqualTo("done");
		assertThat(refused).containsExactly("afterModel", "beforeModel", "beforeSave", "beforeTurn", "tool");
		assertThat(header().head()).isEqualTo(3);
		assertThat(header().version()).isGreaterThan(before.version());
	}

	/** The model cannot mend it, so it is not told. */
	@Test
	void toolThatMovesTheHeadOfItsSessionEndsTheCall() {
		talk(1);
		this.model.calls(new ToolCall("c1", "function", "move", "{}")).says("never");
		int requests = this.model.prompts().size();
		assertThatExceptionOfType(NestedTurnException.class)
			.isThrownBy(() -> this.client.prompt()
				.user("move")
				.toolCallbacks(FunctionToolCallback.builder("move", () -> this.conversation.undo(1).toString())
					.description("moves")
					.build())
				.advisors(on())
				.call()
				.content())
			.withMessageContaining("cannot move the head");
		assertThat(this.model.prompts()).hasSize(requests + 1);
		assertThat(log()).containsExactly("q1", "a1");
		assertThat(this.conversation.turns(Tail.newest(1))).singleElement()
			.returns(NestedTurnException.class.getName(), Turn::failure);
	}

	/** A hook that runs some code in all of its places. */
	private static SessionHook everywhere(Consumer<String> code) {
		return new SessionHook() {
			@Override
			public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
				code.accept("beforeTurn");
				return HookResult.keep();
			}

			@Override
			public HookResult<List<Message>> beforeModel(HookContext context, ModelRequest request) {
				code.accept("beforeModel");
				return HookResult.keep();
			}

			@Override
			public HookResult<AssistantMessage> afterModel(HookContext context, AssistantMessage reply) {
				code.accept("afterModel");
				return HookResult.keep();
			}

			@Override
			public HookResult<List<Message>> beforeSave(HookContext context, TurnPart part) {
				code.accept("beforeSave");
				return HookResult.keep();
			}
		};
	}

	/** A request to be forgotten is not refused. */
	@Test
	void toolThatErasesItsSessionTakesItsTurnWithIt() {
		talk(1);
		List<Boolean> found = new ArrayList<>();
		this.model.calls(new ToolCall("c1", "function", "erase", "{}")).says("done");
		assertThatExceptionOfType(SessionLostException.class)
			.isThrownBy(() -> this.client.prompt()
				.user("erase")
				.toolCallbacks(erasing(() -> found.add(this.conversation.erase())))
				.advisors(on())
				.call()
				.content())
			.satisfies((ex) -> assertThat(ex.reply()).isNotNull());
		assertThat(found).containsExactly(true);
		assertThat(this.store.find(this.key)).isEmpty();
	}

	@Test
	void erasureSaysWhetherThereWasASession() {
		assertThat(this.conversation.clear()).isFalse();
		talk(1);
		assertThat(this.conversation.clear()).isTrue();
		assertThat(this.conversation.erase()).isFalse();
		this.conversation.create(HeaderChange.NONE);
		assertThat(this.conversation.erase()).isTrue();
		assertThat(this.conversation.clear()).isFalse();
	}

	/** The store does not have the session yet, so it cannot tell that it was erased. */
	@Test
	void firstTurnIsErasedByItsOwnCodeToo() {
		List<Boolean> found = new CopyOnWriteArrayList<>();
		List<Runnable> ways = List.of(() -> found.add(this.conversation.erase()),
				() -> found.add(this.conversation.clear()));
		for (ClientSetup setup : List.of(ClientSetup.plain(), ClientSetup.streaming())) {
			for (Runnable way : ways) {
				ChatClient erasing = setup.builder(this.model, SessionAdvisor.of(this.conversations))
					.defaultToolCallbacks(erasing(way))
					.build();
				this.model.calls(new ToolCall("c1", "function", "erase", "{}")).says("done");
				assertThatExceptionOfType(SessionLostException.class)
					.isThrownBy(() -> setup.content(erasing.prompt().user("erase").advisors(on())))
					.satisfies((ex) -> assertThat(ex.reply()).isNotNull());
				this.model.calls(new ToolCall("c1", "function", "erase", "{}"))
					.fails(new IllegalStateException("down"));
				assertThatIllegalStateException()
					.isThrownBy(() -> setup.content(erasing.prompt().user("erase").advisors(on())))
					.withMessage("down");
				assertThat(this.store.find(this.key)).isEmpty();
			}
		}
		assertThat(found).as("nothing was stored").hasSize(8).containsOnly(false);
	}

	@Test
	void firstTurnIsErasedByItsHooksAndByTurnsInsideOfIt() {
		for (String phase : List.of("beforeTurn", "beforeModel", "afterModel", "beforeSave")) {
			SessionHook hook = everywhere((each) -> {
				if (each.equals(phase)) {
					this.conversation.clear();
				}
			});
			this.model.says("a");
			assertThatExceptionOfType(SessionLostException.class).as(phase)
				.isThrownBy(() -> this.client.prompt()
					.user("q")
					.advisors(on().andThen(SessionAdvisor.hook(hook)))
					.call()
					.content());
			assertThat(this.store.find(this.key)).as(phase).isEmpty();
		}
		SessionKey other = SessionKey.of("time", UUID.randomUUID().toString());
		this.model.calls(new ToolCall("c1", "function", "delegate", "{}"))
			.calls(new ToolCall("c2", "function", "erase", "{}"))
			.says("inner")
			.says("outer");
		assertThatExceptionOfType(SessionLostException.class).isThrownBy(() -> this.client.prompt()
			.user("delegate")
			.toolCallbacks(FunctionToolCallback
				.builder("delegate",
						() -> this.client.prompt()
							.user("erase")
							.toolCallbacks(erasing(this.conversation::erase))
							.advisors(SessionAdvisor.session(other))
							.call()
							.content())
				.description("delegates")
				.build())
			.advisors(on())
			.call()
			.content());
		assertThat(this.store.find(this.key)).isEmpty();
		assertThat(this.store.messages(other)).as("its own session is not erased").hasSize(4);
	}

	/** Such as a page that shows the session in a list at once. */
	@Test
	void firstTurnBecomesHistoryInASessionThatOthersHaveBegunMeanwhile() {
		ScriptedChatModel failing = new ScriptedChatModel();
		ChatClient other = ChatClient.builder(failing).defaultAdvisors(SessionAdvisor.of(this.conversations)).build();
		Map<String, Runnable> begun = Map.of("created",
				() -> assertThat(this.conversation.create(HeaderChange.NONE.title("New"))).isTrue(),
				"line of another call",
				() -> this.store.commit(Commit.first(this.key).records(List.of(RecordWrite.put("note", "n", "{}")))),
				"turn that has failed", () -> CompletableFuture.runAsync(() -> {
					failing.fails(new IllegalStateException("down"));
					assertThatIllegalStateException()
						.isThrownBy(() -> other.prompt().user("q").advisors(on()).call().content());
				}).join());
		begun.forEach((what, way) -> {
			this.model.calls(new ToolCall("c1", "function", "erase", "{}")).says("done");
			assertThat(this.client.prompt().user("q").toolCallbacks(erasing(way)).advisors(on()).call().content())
				.as(what)
				.isEqualTo("done");
			assertThat(log()).as(what).startsWith("q").endsWith("done");
			assertThat(this.conversation.head().orElseThrow().status()).as(what).isEqualTo(TurnStatus.COMPLETED);
			assertThat(header().title()).as(what).isEqualTo(what.equals("created") ? "New" : null);
			this.conversation.erase();
		});
	}

	/** It has not read them. */
	@Test
	void firstTurnLosesAConflictToAttributesThatOthersHaveGivenMeanwhile() {
		HeaderChange attributes = HeaderChange.NONE.attributes(Map.of("a", "x"));
		this.model.calls(new ToolCall("c1", "function", "erase", "{}")).says("done");
		assertThat(this.client.prompt()
			.user("q")
			.toolCallbacks(erasing(() -> assertThatExceptionOfType(NestedTurnException.class)
				.isThrownBy(() -> this.conversation.create(attributes))
				.withMessageContaining("Nothing was changed")))
			.advisors(on())
			.call()
			.content()).isEqualTo("done");
		this.conversation.erase();
		this.model.calls(new ToolCall("c1", "function", "erase", "{}")).says("done");
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> this.client.prompt()
			.user("q")
			.toolCallbacks(erasing(() -> CompletableFuture.runAsync(() -> this.conversation.create(attributes)).join()))
			.advisors(on())
			.call()
			.content());
		assertThat(this.conversation.attributes()).containsEntry("a", "x");
	}

	private static ToolCallback erasing(Runnable way) {
		return FunctionToolCallback.builder("erase", () -> {
			way.run();
			return "erased";
		}).description("erases").build();
	}

	/** The turn could not become history after that. */
	@Test
	void codeOfATurnMovesNoHeadOfItsSession() {
		talk(2);
		Session before = header();
		Map<String, ThrowingCallable> moves = Moves.of(this.conversation, "q1");
		List<String> refused = new ArrayList<>();
		this.model.calls(new ToolCall("c1", "function", "move", "{}")).says("done");
		String answer = this.client.prompt().user("move").toolCallbacks(FunctionToolCallback.builder("move", () -> {
			moves.forEach((move, call) -> assertThatExceptionOfType(NestedTurnException.class).as(move)
				.isThrownBy(call)
				.satisfies((ex) -> refused.add(ex.getMessage())));
			return "refused";
		}).description("moves").build()).advisors(on()).call().content();
		assertThat(answer).isEqualTo("done");
		assertThat(refused).hasSize(moves.size())
			.allMatch((message) -> message.contains(this.key.toString()) && message.contains("Nothing was changed"));
		assertThat(header().head()).isEqualTo(3);
		assertThat(header().version()).isGreaterThan(before.version());
		this.conversation.undo(1);
	}

	@Test
	void allSiblingsOfTheActiveBranchAreReadAtOnce() {
		assertThat(this.conversation.siblings()).isEmpty();
		talk(3);
		assertThat(this.conversation.siblings()).isEmpty();
		regenerate(3);
		regenerate(4);
		this.model.says("edited answer");
		this.client.prompt().user("edited").advisors(on().andThen(SessionAdvisor.editing(1))).call().content();
		assertThat(this.conversation.siblings()).isEqualTo(Map.of(0L, List.of(1L), 2L, List.of(3L, 4L)));
		this.conversation.undo(1);
		assertThat(this.conversation.siblings()).isEqualTo(Map.of(0L, List.of(1L, 6L), 2L, List.of(3L, 4L)));
		this.conversation.choose(1);
		assertThat(this.conversation.siblings()).isEqualTo(Map.of(0L, List.of(6L), 2L, List.of(3L, 4L)));
		this.conversation.undo(1);
		this.conversation.redo(1);
		assertThat(this.conversation.siblings()).isEqualTo(Map.of(0L, List.of(6L), 2L, List.of(3L, 4L)));
		this.conversation.branch("side");
		assertThat(this.conversation.siblings()).isEmpty();
		this.conversation.switchTo(Session.MAIN);
		assertThat(this.conversation.siblings()).hasSize(2);
	}

	private void edit(long turn, String question, String answer) {
		this.model.says(answer);
		this.client.prompt().user(question).advisors(on().andThen(SessionAdvisor.editing(turn))).call().content();
	}

	private void regenerate(long turn) {
		this.model.says("again");
		this.client.prompt().advisors(on().andThen(SessionAdvisor.regenerating(turn))).call().content();
	}

	@Test
	void failedEditChangesNothing() {
		talk(2);
		Session before = header();
		this.model.fails(new IllegalStateException("down"));
		assertThatIllegalStateException().isThrownBy(() -> this.client.prompt()
			.user("edited")
			.advisors(on().andThen(SessionAdvisor.editing(1)))
			.call()
			.content());
		assertThat(header().head()).isEqualTo(before.head());
		assertThat(header().version()).isEqualTo(before.version());
		assertThat(log()).hasSize(4);
		this.model.says("at last");
		this.client.prompt().advisors(on().andThen(SessionAdvisor.regenerating(3))).call().content();
		assertThat(log()).containsExactly("edited", "at last");
	}

	/** The turn is read after the newest one was looked for. */
	@Test
	void regenerationLeavesNoTurnThatOthersHaveWrittenMeanwhile() {
		talk(2);
		ObservedStore observed = new ObservedStore(this.store);
		observed.beforePath(onceAfter(1, () -> this.store.add(this.key, said("between", "them"))));
		int requests = this.model.prompts().size();
		assertThatExceptionOfType(SessionConflictException.class)
			.isThrownBy(() -> clientOn(observed).prompt()
				.advisors(on().andThen(SessionAdvisor.regenerating()))
				.call()
				.content())
			.withMessageContaining("to turn 3");
		assertThat(this.model.prompts()).hasSize(requests);
		assertThat(log()).containsExactly("q1", "a1", "q2", "a2", "between", "them");
	}

	private ChatClient clientOn(SessionStore other) {
		return ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(Conversations.of(other))).build();
	}

	/** Works once, when it has been called so many times. */
	private static Runnable onceAfter(int times, Runnable work) {
		AtomicInteger calls = new AtomicInteger();
		return () -> {
			if (calls.getAndIncrement() == times) {
				work.run();
			}
		};
	}

	@Test
	void callWithoutAMessageAnswersAQuestionWhoseAnswerWasPopped() {
		talk(2);
		this.conversation.pop();
		this.model.says("anew");
		this.client.prompt().advisors(on()).call().content();
		assertThat(lastRequest()).containsExactly("q1", "a1", "q2");
		assertThat(log()).containsExactly("q1", "a1", "q2", "anew");
		assertThatExceptionOfType(NothingWaitsException.class)
			.isThrownBy(() -> this.client.prompt().advisors(on()).call().content())
			.withMessageContaining("regenerating");
	}

	/** Its tools would run for a question that has its answer by then. */
	@Test
	void callWithoutAMessageIsToldIfOthersAnswerTheQuestionFirst() {
		talk(2);
		this.conversation.pop();
		ObservedStore observed = new ObservedStore(this.store);
		ChatClient late = clientOn(observed);
		AtomicBoolean met = new AtomicBoolean();
		observed.beforePath(() -> {
			if (met.compareAndSet(false, true)) {
				this.model.says("first");
				this.client.prompt().advisors(on()).call().content();
			}
		});
		assertThatExceptionOfType(SessionConflictException.class)
			.isThrownBy(() -> late.prompt().advisors(on()).call().content())
			.withMessageContaining("moved on from turn 2");
		assertThat(met).isTrue();
		assertThat(log()).containsExactly("q1", "a1", "q2", "first");
	}

	@Test
	void callsThatCannotBeginThereAreRefused() {
		talk(1);
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(
				() -> this.client.prompt().user("x").advisors(on().andThen(SessionAdvisor.editing(7))).call().content())
			.withMessageContaining("before turn 7")
			.withMessageNotContaining("beginning");
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(
				() -> this.client.prompt().advisors(on().andThen(SessionAdvisor.regenerating(7))).call().content());
		assertThatIllegalStateException().isThrownBy(() -> this.client.prompt()
			.user("x")
			.advisors(on().andThen(SessionAdvisor.regenerating(1)))
			.call()
			.content());
		assertThatIllegalStateException()
			.isThrownBy(() -> this.client.prompt().advisors(on().andThen(SessionAdvisor.editing(1))).call().content())
			.withMessageContaining("no message to take the place");
		assertThatIllegalStateException().isThrownBy(() -> this.client.prompt()
			.user("x")
			.advisors(on().andThen(SessionAdvisor.editing(1)).andThen(SessionAdvisor.branch("b")))
			.call()
			.content());
		this.conversation.branch("b", 1);
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.client.prompt()
			.user("x")
			.advisors(on().andThen(SessionAdvisor.editing(2)))
			.call()
			.content());
		assertThat(header().branch()).isEqualTo("b");
	}

	@Test
	void editThatOthersOvertakeIsKeptBeside() {
		talk(2);
		this.model.step((prompt) -> {
			this.store.add(this.key, said("between", "them"));
			return Flux.just(this.model.chunk("late", List.of(), true));
		});
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> this.client.prompt()
			.user("edited")
			.advisors(on().andThen(SessionAdvisor.editing(1)))
			.call()
			.content());
		assertThat(log()).endsWith("between", "them");
		Turn aside = this.store.turns(this.key, Tail.newest(1)).get(0);
		assertThat(aside.parent()).isZero();
		assertThat(this.conversation.adopt(aside.number()).status()).isEqualTo(TurnStatus.COMPLETED);
		assertThatExceptionOfType(ChangeRefusedException.class)
			.isThrownBy(() -> this.conversation.adopt(aside.number()))
			.withMessageContaining("as turn");
		assertThat(log()).endsWith("between", "them", "edited", "late");
	}

	// bringing in

	@Test
	void messagesThatAreAddedAreTurns() {
		List<Message> messages = new ArrayList<>();
		for (int i = 1; i <= 20; i++) {
			messages.addAll(said("q" + i, "a" + i));
		}
		this.store.add(this.key, messages);
		assertThat(this.store.turns(this.key, Tail.ALL)).hasSize(20);
		assertThat(header().totals().turns()).isEqualTo(20);
		assertThat(log()).hasSize(40);
	}

	@Test
	void seedBeginsASession() {
		List<Turn> turns = this.conversation.seed(said("one", "1", "two", "2"));
		assertThat(numbers(turns)).containsExactly(1L, 2L);
		assertThat(this.conversation.turns(Tail.ALL)).allMatch(Turn::isSeeded);
		ask("three", "3");
		assertThat(lastRequest()).containsExactly("one", "1", "two", "2", "three");
		assertThat(this.conversation.turns(Tail.newest(1))).noneMatch(Turn::isSeeded);
		assertThatExceptionOfType(ChangeRefusedException.class)
			.isThrownBy(() -> this.conversation.seed(said("late", "l")));
	}

	@Test
	void seedThatCouldNotBeSentIsRefused() {
		ToolCall call = new ToolCall("c1", "function", "tool", "{}");
		Message calling = AssistantMessage.builder().content("").toolCalls(List.of(call)).build();
		for (List<Message> messages : List.of(List.<Message>of(new AssistantMessage("Hello!"), new UserMessage("q")),
				List.<Message>of(new SystemMessage("be brief"), new AssistantMessage("Hello!"), new UserMessage("q"),
						new AssistantMessage("a")),
				List.<Message>of(new SystemMessage("be brief"), new AssistantMessage("Hello!")),
				List.<Message>of(new SystemMessage("be brief")), List.<Message>of(new UserMessage("q")),
				List.<Message>of(),
				List.of(new UserMessage("q"), calling, new UserMessage("q2"), new AssistantMessage("a")),
				List.of(new UserMessage("q"), calling))) {
			assertThatIllegalArgumentException().isThrownBy(() -> this.conversation.seed(messages));
			assertThatIllegalArgumentException().isThrownBy(() -> this.conversation.addTurn(messages, null));
		}
		assertThat(this.store.find(this.key)).isEmpty();
		List<Message> withSystemText = new ArrayList<>(List.of(new SystemMessage("be brief")));
		withSystemText.addAll(said("q", "a"));
		assertThat(this.conversation.seed(withSystemText)).hasSize(1);
	}

	@Test
	void turnIsAdded() {
		talk(1);
		Turn turn = this.conversation.addTurn(said("q", "a"), "clerk");
		assertThat(turn.number()).isEqualTo(2);
		assertThat(this.conversation.turns(Tail.newest(1))).containsExactly(turn);
		assertThat(turn.agent()).isEqualTo("clerk");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.conversation.addTurn(said("q", "a", "q", "a"), null));
		assertThatIllegalArgumentException().isThrownBy(() -> this.conversation.addTurn(said("q"), null));
	}

	/** A user or a race can cause it, so an application tells it from its own faults. */
	@Test
	void whatCannotBeHadSaysWhy() {
		talk(3);
		this.store.commit(Commit.any(this.key).turn(SessionStoreFixture.turn(TurnStatus.CANCELLED, 1, "q4")));
		this.store.commit(Commit.any(this.key).turn(SessionStoreFixture.turn(TurnStatus.CANCELLED, 1)));
		SessionKey copy = SessionKey.of("time", UUID.randomUUID().toString());
		this.conversation.fork(copy);
		this.conversation.branch("other", 2);
		Session before = header();
		int requests = this.model.prompts().size();
		Map<Reason, List<ThrowingCallable>> refused = new EnumMap<>(Reason.class);
		refused.put(Reason.UNKNOWN_TURN,
				List.of(() -> this.conversation.fork(SessionKey.of("time", "x"), 9), () -> this.conversation.adopt(9),
						() -> this.conversation.branchFromContent("c", "nothing like it"),
						() -> call("q", SessionAdvisor.editing(9)), () -> call(null, SessionAdvisor.regenerating(9))));
		refused.put(Reason.NOT_ON_BRANCH,
				List.of(() -> this.conversation.siblings(2), () -> this.conversation.choose(2),
						() -> this.conversation.branch(2), () -> call("q", SessionAdvisor.editing(3))));
		refused.put(Reason.NOT_COMPLETED, List.of(() -> this.conversation.fork(SessionKey.of("time", "x"), 4)));
		refused.put(Reason.NO_QUESTION, List.of(() -> call(null, SessionAdvisor.regenerating(5))));
		refused.put(Reason.NO_ANSWER, List.of(() -> this.conversation.adopt(4)));
		refused.put(Reason.IN_HISTORY, List.of(() -> this.conversation.adopt(1)));
		refused.put(Reason.UNKNOWN_BRANCH, List.of(() -> this.conversation.switchTo("c"),
				() -> this.conversation.deleteBranch("c", false), () -> call("q", SessionAdvisor.branch("c"))));
		refused.put(Reason.BRANCH_EXISTS, List.of(() -> this.conversation.branch("other")));
		refused.put(Reason.BRANCH_ACTIVE, List.of(() -> this.conversation.deleteBranch("other", false)));
		refused.put(Reason.SESSION_EXISTS, List.of(() -> this.conversation.fork(copy),
				() -> this.conversation.fork(this.key), () -> this.conversation.fork(this.key, 1)));
		refused.put(Reason.NOT_EMPTY, List.of(() -> this.conversation.seed(said("q", "a"))));
		refused.forEach((reason, calls) -> calls
			.forEach((call) -> assertThatExceptionOfType(ChangeRefusedException.class).as(reason.name())
				.isThrownBy(call)
				.returns(reason, ChangeRefusedException::reason)));
		assertThat(refused.keySet()).filteredOn(Reason::isUnknown)
			.containsExactly(Reason.UNKNOWN_TURN, Reason.UNKNOWN_BRANCH);
		assertThat(header()).isEqualTo(before);
		assertThat(this.model.prompts()).hasSize(requests);
	}

	private void call(@Nullable String question, Consumer<ChatClient.AdvisorSpec> place) {
		ChatClient.ChatClientRequestSpec prompt = this.client.prompt().advisors(on().andThen(place));
		((question != null) ? prompt.user(question) : prompt).call().content();
	}

	@Test
	void turnThatIsHistoryIsNotAdopted() {
		talk(1);
		this.store.commit(Commit.any(this.key).turn(SessionStoreFixture.turn(TurnStatus.CANCELLED, 1, "q2")));
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.conversation.adopt(1))
			.withMessageContaining("1");
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.conversation.adopt(2))
			.withMessageContaining("answer");
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.conversation.adopt(3));
		assertThat(log()).hasSize(2);
	}

	/** Bytes in a list are compared by what they are. */
	@Test
	void titleThatIsGivenMeanwhileCostsNoTurnWhateverTheAttributesAre() {
		this.conversation.putAttribute("list", List.of(new byte[] { 1, 2 }, Map.of("bytes", new byte[] { 3 })));
		this.model.step((prompt) -> {
			this.conversation.title("title");
			return Flux.just(this.model.chunk("a", List.of(), true));
		});
		this.client.prompt().user("q").advisors(on()).call().content();
		assertThat(log()).containsExactly("q", "a");
	}

	// fork

	@Test
	void forkHasAllThatTheTurnsHave() {
		ask("q1", "a1");
		this.conversation.undo(1);
		talk(2);
		this.conversation.putAttribute("step", 2);
		this.conversation.title("title");
		summarize(2);
		ask("q3", "a3");
		SessionKey to = SessionKey.of("time", UUID.randomUUID().toString());
		Conversation fork = this.conversation.fork(to);
		assertThat(fork.key()).isEqualTo(to);
		assertThat(fork.forkedFrom()).contains(this.key);
		assertThat(texts(fork.messages())).isEqualTo(log());
		assertThat(texts(fork.view())).isEqualTo(texts(this.conversation.view()));
		assertThat(fork.session().orElseThrow().title()).isEqualTo("title");
		assertThat(fork.attributes()).containsEntry("step", 2);
		assertThat(fork.attributes(1)).doesNotContainKey("step");
		assertThat(numbers(fork.turns(Tail.ALL))).containsExactly(1L, 2L, 3L);
		assertThat(fork.turns(Tail.ALL)).extracting(Turn::usage)
			.isEqualTo(this.conversation.turns(new Tail(Long.MAX_VALUE, 3)).stream().map(Turn::usage).toList());
		assertThat(texts(fork.snapshot(3).orElseThrow().messages()))
			.isEqualTo(texts(this.conversation.snapshot(4).orElseThrow().messages()));
		fork.undo(1);
		assertThat(this.conversation.messages()).hasSize(6);
		assertThat(fork.summaries()).hasSize(1);
		fork.delete(1);
		assertThat(this.conversation.messages()).hasSize(6);
	}

	@Test
	void forkHasTheSystemMessageOfAChatMemoryAndNoQuestionThatWaits() {
		SessionChatMemory memory = SessionChatMemory.of(this.store, this.key::owner);
		memory.add(this.key.id(), List.of(new SystemMessage("be brief"), new UserMessage("q1"),
				new AssistantMessage("a1"), new UserMessage("q2")));
		SessionKey to = SessionKey.of("time", UUID.randomUUID().toString());
		this.conversation.fork(to);
		assertThat(texts(memory.get(to.id()))).containsExactly("be brief", "q1", "a1");
		memory.add(this.key.id(), new SystemMessage("be kind"));
		assertThat(texts(memory.get(to.id()))).startsWith("be brief");
		assertThat(texts(memory.get(this.key.id()))).containsExactly("be kind", "q1", "a1", "q2");
	}

	@Test
	void forkEndsAtATurn() {
		talk(3);
		SessionKey to = SessionKey.of("time", UUID.randomUUID().toString());
		assertThat(texts(this.conversation.fork(to, 2).messages())).containsExactly("q1", "a1", "q2", "a2");
		assertThat(texts(this.store.messages(to))).containsExactly("q1", "a1", "q2", "a2");
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.conversation.fork(to))
			.withMessageContaining(to.id());
		SessionKey other = SessionKey.of("time", UUID.randomUUID().toString());
		assertThatExceptionOfType(ChangeRefusedException.class).isThrownBy(() -> this.conversation.fork(other, 9));
		assertThatExceptionOfType(SessionNotFoundException.class)
			.isThrownBy(() -> this.conversations.get(other).fork(SessionKey.of("time", "x")));
		assertThat(this.store.find(other)).isEmpty();
	}

	private void talk(int turns) {
		long from = this.store.find(this.key).map(Session::turns).orElse(0L);
		long offset = this.store.items(this.key, Tail.ALL).size() / 2;
		for (long i = offset + 1; i <= offset + turns; i++) {
			String number = String
				.valueOf(this.store.turns(this.key, Tail.ALL).stream().anyMatch(Turn::isSeeded) ? i - 1 : i);
			ask("q" + number, "a" + number);
		}
		assertThat(header().turns()).isEqualTo(from + turns);
	}

	private void ask(String question, String answer) {
		this.model.says(answer);
		this.client.prompt().user(question).advisors(on()).call().content();
	}

	private void summarize(long turn) {
		Session session = header();
		Summary summary = new Summary("s" + turn, turn, 0, ViewTotals.NONE, "so far", List.of(),
				new Summary.Origin(null, TokenUsage.NONE, Instant.parse("2026-01-02T03:04:05Z")));
		RecordWrite record = Summaries.write(this.key, summary, this.store.options().codec());
		assertThat(this.store
			.commit(Commit.on(session).header(HeaderChange.NONE.summary(turn, summary.id())).records(List.of(record)))
			.isStored()).isTrue();
	}

	@Test
	void answerWithoutContentBecomesNoHistory() {
		for (AssistantMessage nothing : List.of(new AssistantMessage(" "), AssistantMessage.builder().build())) {
			List<Message> messages = List.of(new UserMessage("q"), nothing);
			assertThatIllegalArgumentException().isThrownBy(() -> this.conversation.seed(messages))
				.withMessageContainingAll("number 2 of 2", "neither text nor tool calls nor media", "leave it out");
			assertThatIllegalArgumentException().isThrownBy(() -> this.conversation.addTurn(messages, null))
				.withMessageContaining("number 2 of 2");
		}
		assertThat(log()).isEmpty();
	}

	@Test
	void editingWithoutAMessageAsksForOne() {
		talk(1);
		int requests = this.model.prompts().size();
		assertThatIllegalStateException()
			.isThrownBy(() -> this.client.prompt().advisors(on().andThen(SessionAdvisor.editing(1))).call().content())
			.withMessageContainingAll("SessionAdvisor.editing(..)", ".user(..)", "SessionAdvisor.regenerating(..)");
		assertThat(this.model.prompts()).hasSize(requests);
	}

	private Consumer<ChatClient.AdvisorSpec> on() {
		return SessionAdvisor.session(this.key);
	}

	private Branch branch(String name) {
		return this.conversation.branches()
			.stream()
			.filter((each) -> each.name().equals(name))
			.findFirst()
			.orElseThrow();
	}

	private List<Long> turnsOf(Branch branch) {
		return numbers(
				this.store.path(this.key, PathQuery.to(Point.at(branch.head())).turns(Tail.ALL)).orElseThrow().turns());
	}

	private Session header() {
		return this.store.find(this.key).orElseThrow();
	}

	private List<String> log() {
		return texts(this.conversation.messages());
	}

	private List<String> lastRequest() {
		List<Prompt> prompts = this.model.prompts();
		return texts(prompts.get(prompts.size() - 1).getInstructions());
	}

	private static List<Message> said(String... texts) {
		return SessionStoreFixture.batch(texts);
	}

	private static List<String> texts(List<Message> messages) {
		return messages.stream().map(Message::getText).toList();
	}

	private static List<Long> numbers(List<Turn> turns) {
		return turns.stream().map(Turn::number).toList();
	}

}
