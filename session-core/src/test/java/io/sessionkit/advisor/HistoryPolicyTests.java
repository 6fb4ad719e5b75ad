package io.sessionkit.advisor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.sessionkit.Concurrency;
import io.sessionkit.Durability;
import io.sessionkit.IdempotencyKeyException;
import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.OnNewMessage;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.codec.UnstorableMessageException;
import io.sessionkit.context.HistoryPolicy;
import io.sessionkit.context.InvalidSequenceException;
import io.sessionkit.context.SnapshotProperties;
import io.sessionkit.context.Trim;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.guard.StopWords;
import io.sessionkit.hook.HistoryBlock;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.hook.SessionEvent;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Calls that bring their history, or only read that of their session, on every store.
 */
@ParameterizedClass
@EnumSource
class HistoryPolicyTests {

	private static final Map<TestStores, SessionStore> stores = new EnumMap<>(TestStores.class);

	private static final List<Message> X = List.of(new UserMessage("x?"), new AssistantMessage("x!"));

	@Parameter
	TestStores kind;

	private final SessionKey key = SessionKey.of("policy", UUID.randomUUID().toString());

	private final ScriptedChatModel model = new ScriptedChatModel();

	private final List<String> heard = new ArrayList<>();

	private ObservedStore store;

	private Conversations conversations;

	private Conversation conversation;

	private ChatClient client;

	@BeforeEach
	void open() {
		this.store = new ObservedStore(stores.computeIfAbsent(this.kind, TestStores::create));
		use(Conversations.builder(this.store).listeners(noting(this.heard)).build());
	}

	private void use(Conversations opened) {
		this.conversations = opened;
		this.conversation = opened.get(this.key);
		this.client = ChatClient.builder(this.model).defaultAdvisors(SessionAdvisor.of(opened)).build();
	}

	// override

	@Test
	void overrideSendsTheGivenHistoryAndLeavesTheSessionAsItIs() {
		ask("a");
		Session before = header();
		this.heard.clear();
		List<String> own = new ArrayList<>();
		ChatResponse response = answer("b", SessionAdvisor.history(X).andThen(SessionAdvisor.listener(noting(own))));
		assertThat(this.model.lastRequestLines()).containsExactly("user: x?", "assistant: x!", "user: b");
		assertThat(SessionAdvisor.turn(response)).isEmpty();
		assertThat(header()).isEqualTo(before);
		assertThat(this.store.turns(this.key, Tail.ALL)).hasSize(1);
		assertThat(this.heard).isEmpty();
		assertThat(own).containsExactly("modelCalled", "textComplete");
		ask("c");
		assertThat(this.model.lastRequestLines()).containsExactly("user: a", "assistant: re a", "user: c");
	}

	@Test
	void overrideOfAnAbsentSessionCreatesNone() {
		answer("b", SessionAdvisor.history(X));
		answer("c", SessionAdvisor.history(List.of()));
		assertThat(this.model.lastRequestLines()).containsExactly("user: c");
		this.model.fails(new IllegalStateException("down"));
		assertThatIllegalStateException().isThrownBy(() -> call("d", SessionAdvisor.history(X)).content());
		assertThat(this.store.find(this.key)).isEmpty();
		assertThat(this.store.calls()).containsOnly("open");
	}

	@Test
	void streamWithAGivenHistoryIsNotStored() {
		this.model.says("re b");
		List<ChatResponse> chunks = prompt("b", SessionAdvisor.history(X)).stream()
			.chatResponse()
			.collectList()
			.block();
		assertThat(text(chunks)).isEqualTo("re b");
		assertThat(chunks).allMatch((chunk) -> SessionAdvisor.turn(chunk).isEmpty());
		assertThat(this.model.lastRequestLines()).containsExactly("user: x?", "assistant: x!", "user: b");
		assertThat(this.store.find(this.key)).isEmpty();
	}

	@Test
	void guardsCheckACallThatIsNotStored() {
		use(Conversations.builder(this.store).hooks(StopWords.of("secret")).build());
		assertThatExceptionOfType(SessionRefusedException.class)
			.isThrownBy(() -> call("the secret", SessionAdvisor.history(X)).content());
		this.model.says("the secret");
		assertThatExceptionOfType(SessionRefusedException.class)
			.isThrownBy(() -> call("b", SessionAdvisor.history(X)).content());
		assertThat(this.store.find(this.key)).isEmpty();
	}

	@Test
	void toolThatNeedsAnApprovalRefusesToRunIfTheTurnIsNotStored() {
		AtomicInteger runs = new AtomicInteger();
		gated();
		ask("a");
		for (Consumer<ChatClient.AdvisorSpec> unstored : List.of(SessionAdvisor.history(X), SessionAdvisor.reading())) {
			this.model.calls(SessionAdvisorTests.call("c1", "cancel", "1"));
			assertThatExceptionOfType(RuntimeException.class)
				.isThrownBy(() -> prompt("b", unstored).toolCallbacks(cancelling(runs)).call().content())
				.withStackTraceContaining("needs an approval");
		}
		assertThat(runs).hasValue(0);
		assertThat(header().openTurn()).isZero();
	}

	@Test
	void callThatIsNotStoredNeitherWaitsNorEndsATurnThatWaits() {
		AtomicInteger runs = new AtomicInteger();
		Approvals approvals = gated();
		pause("a", runs, none());
		assertThat(answer("b", SessionAdvisor.history(X))).isNotNull();
		assertThat(answer("c", SessionAdvisor.reading())).isNotNull();
		assertThat(approvals.pending(this.key)).hasSize(1);
	}

	@Test
	void attributesOfACallThatIsNotStoredAreDropped() {
		this.conversation.putAttribute("plan", "free");
		use(Conversations.builder(this.store).hooks(TestHooks.beforeTurn("putting", (input) -> {
			new SessionContext().putAttribute("plan", "gold");
			return HookResult.keep();
		})).build());
		answer("b", SessionAdvisor.history(X));
		assertThat(this.conversation.attributes()).containsEntry("plan", "free");
	}

	// use if provided

	@Test
	void snapshotsOfCallsOfWhichOneBringsItsHistory() {
		ask("a");
		answer("b", SessionAdvisor.history(X, HistoryPolicy.USE_IF_PROVIDED));
		ask("c");
		assertThat(snapshot(1)).isEmpty();
		assertThat(snapshot(2)).containsExactly("user: x?", "assistant: x!");
		assertThat(snapshot(3)).containsExactly("user: a", "assistant: re a", "user: b", "assistant: re b");
		assertThat(this.heard).filteredOn("committed"::equals).hasSize(3);
	}

	@Test
	void turnBehindAGivenHistoryIsStoredInTwoCalls() {
		ask("a");
		int before = this.store.calls().size();
		ChatResponse response = answer("b", SessionAdvisor.history(X, HistoryPolicy.USE_IF_PROVIDED));
		assertThat(this.store.calls().subList(before, this.store.calls().size())).containsExactly("open", "commit");
		assertThat(SessionAdvisor.turn(response).orElseThrow().turn().number()).isEqualTo(2);
	}

	@Test
	void givenHistoryIsNotLimited() {
		use(Conversations.builder(this.store).trim(Trim.keepLastTurns(1).maxMessages(2)).build());
		List<Message> long_ = turns(20);
		answer("b", SessionAdvisor.history(long_).andThen(SessionAdvisor.limit(0)));
		assertThat(this.model.lastRequest()).hasSize(41);
		ChatResponse response = answer("b", SessionAdvisor.history(long_, HistoryPolicy.USE_IF_PROVIDED));
		assertThat(this.model.lastRequest()).hasSize(41);
		assertThat(SessionAdvisor.turn(response).orElseThrow().overLimit()).isFalse();
		assertThat(snapshot(1)).hasSize(40);
	}

	@Test
	void configuredMergeIsNotAskedForAGivenHistory() {
		use(Conversations.builder(this.store).merge((context, history, input) -> input).build());
		answer("b", SessionAdvisor.history(X, HistoryPolicy.USE_IF_PROVIDED));
		assertThat(this.model.lastRequestLines()).containsExactly("user: x?", "assistant: x!", "user: b");
		assertThatIllegalStateException()
			.isThrownBy(() -> call("c",
					SessionAdvisor.history(X).andThen(SessionAdvisor.merge((context, history, input) -> input)))
				.content())
			.withMessageContaining("HistoryMerge");
	}

	/** Nor does a limit of the session or of the continuing call apply to it. */
	@Test
	void turnThatWaitsContinuesBehindTheGivenHistoryAsItIs() {
		for (HistoryPolicy policy : List.of(HistoryPolicy.USE_IF_PROVIDED, HistoryPolicy.REPLACE_SESSION)) {
			use(Conversations.builder(this.store)
				.trim(Trim.keepLastTurns(1).maxMessages(2))
				.merge((context, history, input) -> input)
				.build());
			AtomicInteger runs = new AtomicInteger();
			Approvals approvals = gated();
			ask("a");
			pause("b", runs, SessionAdvisor.history(turns(2), policy));
			approve(approvals);
			this.model.says("done");
			ChatResponse response = prompt(null, SessionAdvisor.limit(0)).toolCallbacks(cancelling(runs))
				.call()
				.chatResponse();
			assertThat(runs).hasValue(1);
			assertThat(this.model.lastRequestLines())
				.startsWith("user: q0", "assistant: a0", "user: q1", "assistant: a1", "user: b")
				.hasSize(7);
			Turn turn = SessionAdvisor.turn(response).orElseThrow().turn();
			assertThat(snapshot(turn.number())).containsExactly("user: q0", "assistant: a0", "user: q1",
					"assistant: a1");
		}
	}

	@Test
	void turnBehindAGivenHistoryThatHasWaitedFollowsTheHead() {
		AtomicInteger runs = new AtomicInteger();
		Approvals approvals = gated();
		ask("a");
		pause("b", runs, SessionAdvisor.history(X, HistoryPolicy.USE_IF_PROVIDED));
		approve(approvals);
		this.model.says("done");
		prompt(null, none()).toolCallbacks(cancelling(runs)).call().content();
		assertThat(view()).startsWith("user: a", "assistant: re a", "user: b").endsWith("assistant: done").hasSize(6);
		ask("c");
		assertThat(this.model.lastRequestLines()).startsWith("user: a").endsWith("user: c").hasSize(7);
	}

	@Test
	void turnThatWaitsContinuesWithoutAHistoryIfTheGivenOneIsEmpty() {
		AtomicInteger runs = new AtomicInteger();
		Approvals approvals = gated();
		ask("a");
		pause("b", runs, SessionAdvisor.history(List.of(), HistoryPolicy.USE_IF_PROVIDED));
		approve(approvals);
		this.model.says("done");
		prompt(null, none()).toolCallbacks(cancelling(runs)).call().content();
		assertThat(this.model.lastRequestLines()).startsWith("user: b").hasSize(3);
	}

	@Test
	void turnInStepsThatBrokeOffContinuesBehindTheGivenHistory() {
		use(Conversations.builder(this.store).durability(Durability.STEP).build());
		ask("a");
		this.model.calls(SessionAdvisorTests.call("c1", "look", "1")).fails(new IllegalStateException("down"));
		ToolCallback look = tool("look", () -> "1");
		assertThatIllegalStateException()
			.isThrownBy(() -> prompt("b", SessionAdvisor.history(X, HistoryPolicy.USE_IF_PROVIDED)).toolCallbacks(look)
				.call()
				.content());
		this.model.says("done");
		prompt(null, none()).toolCallbacks(look).call().content();
		assertThat(this.model.lastRequestLines()).startsWith("user: x?", "assistant: x!", "user: b").hasSize(5);
		assertThat(view()).startsWith("user: a", "assistant: re a", "user: b").endsWith("assistant: done");
	}

	/** Its snapshot may quote what is deleted. */
	@Test
	void turnWhoseGivenHistoryIsGoneIsNotContinuedAndCanBeCancelled() {
		AtomicInteger runs = new AtomicInteger();
		Approvals approvals = gated();
		ask("a");
		ask("b");
		pause("c", runs, SessionAdvisor.history(X, HistoryPolicy.USE_IF_PROVIDED));
		this.conversation.delete(1);
		approve(approvals);
		int asked = this.model.prompts().size();
		assertThatExceptionOfType(SessionConflictException.class)
			.isThrownBy(() -> prompt(null, none()).toolCallbacks(cancelling(runs)).call().content())
			.withMessageContainingAll("has brought its history", "Nothing was sent", "Approvals.cancel(..)");
		assertThat(runs).hasValue(0);
		assertThat(this.model.prompts()).hasSize(asked);
		approvals.cancel(this.key);
		assertThat(header().openTurn()).isZero();
		ask("d");
		assertThat(this.model.lastRequestLines()).startsWith("user: b", "assistant: re b");
	}

	/** Its snapshot has no message of it. */
	@Test
	void turnWhoseGivenHistoryWasSentAsTextIsNotContinuedWithoutIt() {
		for (HistoryBlock block : List.of(HistoryBlock.inUserText(), HistoryBlock.inSystemText())) {
			use(Conversations.builder(this.store).hooks(block).build());
			AtomicInteger runs = new AtomicInteger();
			Approvals approvals = gated();
			pause("b", runs, SessionAdvisor.history(X, HistoryPolicy.USE_IF_PROVIDED));
			assertThat(this.model.lastRequestLines()).anyMatch((line) -> line.contains("x!"));
			approve(approvals);
			int asked = this.model.prompts().size();
			assertThatExceptionOfType(SessionConflictException.class)
				.isThrownBy(() -> prompt(null, none()).toolCallbacks(cancelling(runs)).call().content())
				.withMessageContainingAll("HistoryBlock", "Nothing was sent", "Approvals.cancel(..)");
			assertThat(runs).hasValue(0);
			assertThat(this.model.prompts()).hasSize(asked);
			approvals.cancel(this.key);
			assertThat(header().openTurn()).isZero();
		}
	}

	private void addTurnElsewhere() {
		List<Message> turn = List.of(new UserMessage("other"), new AssistantMessage("re other"));
		CompletableFuture.runAsync(() -> this.conversation.addTurn(turn, null)).join();
	}

	@Test
	void loserOfTwoCallsKeepsItsGivenHistoryBesideTheSession() {
		ask("a");
		this.model.step((prompt) -> {
			addTurnElsewhere();
			return Flux.just(this.model.chunk("re b", List.of(), true));
		});
		assertThatExceptionOfType(SessionConflictException.class)
			.isThrownBy(() -> call("b", SessionAdvisor.history(X, HistoryPolicy.USE_IF_PROVIDED)).content());
		assertThat(log()).containsExactly("user: a", "assistant: re a", "user: other", "assistant: re other");
		assertThat(snapshot(3)).containsExactly("user: x?", "assistant: x!");
	}

	// replace session

	@Test
	void sessionThatIsReplacedStartsAnewWithTheGivenHistory() {
		ask("a");
		ChatResponse response = answer("b", SessionAdvisor.history(X, HistoryPolicy.REPLACE_SESSION));
		assertThat(this.model.lastRequestLines()).containsExactly("user: x?", "assistant: x!", "user: b");
		assertThat(view()).containsExactly("user: x?", "assistant: x!", "user: b", "assistant: re b");
		assertThat(SessionAdvisor.turn(response).orElseThrow().turn().number()).isEqualTo(3);
		assertThat(SessionAdvisor.turn(response).orElseThrow().turn().parent()).isEqualTo(2);
		assertThat(snapshot(3)).containsExactly("user: x?", "assistant: x!");
		assertThat(log()).startsWith("user: a", "assistant: re a").hasSize(6);
		ask("c");
		assertThat(this.model.lastRequestLines()).containsExactly("user: x?", "assistant: x!", "user: b",
				"assistant: re b", "user: c");
	}

	@Test
	void resetKeepsTheHistoryThatHasReplacedTheSessionAndNoSeedBeforeIt() {
		this.conversation.seed(List.of(new UserMessage("old?"), new AssistantMessage("old!")));
		ask("a");
		answer("b", SessionAdvisor.history(X, HistoryPolicy.REPLACE_SESSION));
		this.conversation.reset();
		assertThat(view()).containsExactly("user: x?", "assistant: x!");
		answer("c", SessionAdvisor.history(List.of(), HistoryPolicy.REPLACE_SESSION));
		assertThat(view()).containsExactly("user: c", "assistant: re c");
		this.conversation.reset();
		assertThat(view()).isEmpty();
	}

	@Test
	void replacementBehindAResetIsTakenBackWithIt() {
		this.conversation.seed(List.of(new UserMessage("old?"), new AssistantMessage("old!")));
		ask("a");
		this.conversation.reset();
		answer("b", SessionAdvisor.history(X, HistoryPolicy.REPLACE_SESSION));
		assertThat(this.conversation.undo(5)).hasSize(2);
		assertThat(view()).isEmpty();
		this.conversation.undo(1);
		assertThat(view()).containsExactly("user: old?", "assistant: old!", "user: a", "assistant: re a");
		assertThat(this.conversation.undo(5)).hasSize(2);
	}

	@Test
	void newSessionBeginsWithTheGivenHistory() {
		answer("b", SessionAdvisor.history(X, HistoryPolicy.REPLACE_SESSION));
		assertThat(log()).containsExactly("user: x?", "assistant: x!", "user: b", "assistant: re b");
		assertThat(this.conversation.undo(1)).hasSize(1);
		assertThat(view()).containsExactly("user: x?", "assistant: x!");
		assertThat(this.conversation.redo(1)).hasSize(1);
		assertThat(view()).hasSize(4);
	}

	@Test
	void undoAndRedoOfATurnThatHasReplacedTheSession() {
		ask("a");
		answer("b", SessionAdvisor.history(X, HistoryPolicy.REPLACE_SESSION));
		this.conversation.undo(1);
		assertThat(view()).containsExactly("user: x?", "assistant: x!");
		this.conversation.redo(1);
		assertThat(view()).containsExactly("user: x?", "assistant: x!", "user: b", "assistant: re b");
		SessionKey copy = SessionKey.of("policy", UUID.randomUUID().toString());
		this.conversation.fork(copy);
		assertThat(Lines.of(this.conversations.get(copy).view())).isEqualTo(view());
		this.conversations.get(copy).reset();
		assertThat(Lines.of(this.conversations.get(copy).view())).containsExactly("user: x?", "assistant: x!");
	}

	@Test
	void callThatFailsIsRefusedOrLosesReplacesNothing() {
		use(Conversations.builder(this.store).hooks(StopWords.of("secret")).build());
		ask("a");
		Consumer<ChatClient.AdvisorSpec> replacing = SessionAdvisor.history(X, HistoryPolicy.REPLACE_SESSION);
		this.model.fails(new IllegalStateException("down"));
		assertThatIllegalStateException().isThrownBy(() -> call("b", replacing).content());
		assertThatExceptionOfType(SessionRefusedException.class)
			.isThrownBy(() -> call("a secret", replacing).content());
		cancelledWhileTheModelAnswers(prompt("b", replacing));
		assertThat(view()).containsExactly("user: a", "assistant: re a");
		this.model.step((prompt) -> {
			addTurnElsewhere();
			return Flux.just(this.model.chunk("re b", List.of(), true));
		});
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> call("b", replacing).content());
		assertThat(view()).containsExactly("user: a", "assistant: re a", "user: other", "assistant: re other");
		assertThat(this.store.turns(this.key, Tail.ALL)).noneMatch((turn) -> turn.isSeeded());
		ask("c");
		assertThat(this.model.lastRequestLines()).hasSize(5);
	}

	@Test
	void turnThatWaitsReplacesTheSessionWhenItBecomesHistory() {
		AtomicInteger runs = new AtomicInteger();
		Approvals approvals = gated();
		ask("a");
		List<Message> two = turns(2);
		pause("b", runs, SessionAdvisor.history(two, HistoryPolicy.REPLACE_SESSION));
		assertThat(view()).containsExactly("user: a", "assistant: re a");
		approve(approvals);
		this.model.says("done");
		ChatResponse response = prompt(null, none()).toolCallbacks(cancelling(runs)).call().chatResponse();
		assertThat(runs).hasValue(1);
		assertThat(this.model.lastRequestLines().subList(0, 5)).containsExactly("user: q0", "assistant: a0", "user: q1",
				"assistant: a1", "user: b");
		assertThat(view()).startsWith("user: q0", "assistant: a0", "user: q1", "assistant: a1", "user: b")
			.endsWith("assistant: done")
			.hasSize(8);
		assertThat(snapshot(SessionAdvisor.turn(response).orElseThrow().turn().number())).containsExactly("user: q0",
				"assistant: a0", "user: q1", "assistant: a1");
		this.conversation.reset();
		assertThat(view()).hasSize(4);
	}

	/** The two turns of the history are stored one by one, and the turn behind them. */
	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3 })
	void turnThatIsToWaitAndLosesReplacesNothing(int othersComeBefore) {
		AtomicInteger runs = new AtomicInteger();
		AtomicInteger commits = new AtomicInteger();
		gated();
		ask("a");
		this.store.beforeCommit(() -> {
			if (commits.incrementAndGet() == othersComeBefore) {
				addTurnElsewhere();
			}
		});
		this.model.calls(SessionAdvisorTests.call("c1", "cancel", "1"));
		assertThatExceptionOfType(SessionConflictException.class)
			.isThrownBy(() -> prompt("b", SessionAdvisor.history(turns(2), HistoryPolicy.REPLACE_SESSION))
				.toolCallbacks(cancelling(runs))
				.call()
				.content());
		assertThat(commits).hasValueGreaterThanOrEqualTo(othersComeBefore);
		assertThat(runs).hasValue(0);
		assertThat(view()).containsExactly("user: a", "assistant: re a", "user: other", "assistant: re other");
		ask("c");
		assertThat(this.model.lastRequestLines()).hasSize(5);
		assertThat(view()).hasSize(6);
	}

	@Test
	void newSessionWhoseFirstTurnWaitsBeginsWithTheGivenHistory() {
		AtomicInteger runs = new AtomicInteger();
		Approvals approvals = gated();
		this.conversation.putAttribute("plan", "gold");
		pause("b", runs, SessionAdvisor.history(X, HistoryPolicy.REPLACE_SESSION));
		assertThat(view()).isEmpty();
		approve(approvals);
		this.model.says("done");
		prompt(null, none()).toolCallbacks(cancelling(runs)).call().content();
		assertThat(view()).startsWith("user: x?", "assistant: x!", "user: b").endsWith("assistant: done");
		assertThat(this.conversation.attributes()).containsEntry("plan", "gold");
	}

	@Test
	void turnInStepsReplacesTheSessionAtItsEnd() {
		use(Conversations.builder(this.store).durability(Durability.STEP).build());
		ask("a");
		this.model.calls(SessionAdvisorTests.call("c1", "look", "1")).step((prompt) -> {
			assertThat(view()).containsExactly("user: a", "assistant: re a");
			return Flux.just(this.model.chunk("done", List.of(), true));
		});
		prompt("b", SessionAdvisor.history(X, HistoryPolicy.REPLACE_SESSION)).toolCallbacks(tool("look", () -> "1"))
			.call()
			.content();
		assertThat(view()).startsWith("user: x?", "assistant: x!", "user: b").endsWith("assistant: done").hasSize(6);
		assertThat(this.conversation.session().orElseThrow().totals().turns()).isEqualTo(2);
	}

	@Test
	void replacementStandsInLineAndIsRepeatedOnce() {
		ask("a");
		Consumer<ChatClient.AdvisorSpec> replacing = SessionAdvisor.history(X, HistoryPolicy.REPLACE_SESSION)
			.andThen(SessionAdvisor.concurrency(Concurrency.SERIALIZE))
			.andThen(SessionAdvisor.idempotencyKey("r1"));
		answer("b", replacing);
		ChatResponse again = call("b", replacing).chatResponse();
		assertThat(SessionAdvisor.isRepeated(again)).isTrue();
		assertThat(view()).hasSize(4);
		assertThatExceptionOfType(IdempotencyKeyException.class)
			.isThrownBy(() -> call("b", SessionAdvisor.history(turns(1), HistoryPolicy.REPLACE_SESSION)
				.andThen(SessionAdvisor.idempotencyKey("r1"))).content());
	}

	@Test
	void givenHistoryOfATurnThatWaitsIsStoredOnceIfTheLineChangesMeanwhile() {
		AtomicInteger runs = new AtomicInteger();
		Approvals approvals = gated();
		ask("a");
		AtomicInteger commits = new AtomicInteger();
		this.store.beforeCommit(() -> {
			if (commits.incrementAndGet() == 2) {
				changeLine();
			}
		});
		pause("b", runs, SessionAdvisor.history(turns(3), HistoryPolicy.REPLACE_SESSION)
			.andThen(SessionAdvisor.concurrency(Concurrency.SERIALIZE)));
		assertThat(this.store.turns(this.key, Tail.ALL)).filteredOn(Turn::isSeeded).hasSize(3);
		approve(approvals);
		this.model.says("done");
		prompt(null, none()).toolCallbacks(cancelling(runs)).call().content();
		assertThat(runs).hasValue(1);
		assertThat(view()).startsWith("user: q0", "assistant: a0").endsWith("assistant: done").hasSize(10);
	}

	/** As a call does that joins the line. */
	private void changeLine() {
		SessionRecord line = this.store.record(this.key, "line", "turn").orElseThrow();
		assertThat(this.store.put(this.key,
				new RecordWrite(line.kind(), line.id(), line.revision(), line.payload(), Duration.ofMinutes(1))))
			.isTrue();
	}

	@Test
	void deletionOfAGivenMessageTakesItOutOfTheSnapshotToo() {
		ask("a");
		answer("b", SessionAdvisor.history(X, HistoryPolicy.REPLACE_SESSION));
		this.conversation.delete(2);
		assertThat(snapshot(3)).isEmpty();
		assertThat(this.conversation.snapshot(3).orElseThrow().isComplete()).isFalse();
		assertThat(view()).containsExactly("user: b", "assistant: re b");
	}

	// reading

	@Test
	void callThatReadsIsOneReadAndNoWrite() {
		ask("a");
		Session before = header();
		this.heard.clear();
		int calls = this.store.calls().size();
		ChatResponse response = answer("b", SessionAdvisor.reading());
		assertThat(this.store.calls().subList(calls, this.store.calls().size())).containsExactly("open");
		assertThat(this.model.lastRequestLines()).containsExactly("user: a", "assistant: re a", "user: b");
		assertThat(SessionAdvisor.turn(response)).isEmpty();
		assertThat(header()).isEqualTo(before);
		assertThat(this.heard).isEmpty();
		answer("b", SessionAdvisor.reading().andThen(SessionAdvisor.limit(0)));
		assertThat(this.model.lastRequestLines()).containsExactly("user: b");
	}

	/** A call that reads does not mend the header, and no turn counts as pinned. */
	@Test
	void callThatReadsSendsTheNewestTurnsAlsoIfTheRecordOfASummaryIsGone() {
		use(Conversations.builder(this.store).trim(Trim.keepLastTurns(2)).build());
		for (String question : List.of("a", "b", "c", "d")) {
			ask(question);
		}
		SnapshotProperties.TestSummaries.move(this.store, this.key, 3, "s1", "what was said");
		this.store.put(this.key, new RecordWrite(SessionStore.SUMMARY, "s1", RecordWrite.ANY, null, null));
		answer("e", SessionAdvisor.reading());
		assertThat(this.model.lastRequestLines()).containsExactly("user: c", "assistant: re c", "user: d",
				"assistant: re d", "user: e");
		ask("e");
		assertThat(this.model.lastRequestLines()).containsExactly("user: c", "assistant: re c", "user: d",
				"assistant: re d", "user: e");
	}

	@Test
	void callThatNamesTheActiveBranchSendsTheNewestTurnsAlsoIfTheRecordOfASummaryIsGone() {
		use(Conversations.builder(this.store).trim(Trim.keepLastTurns(2)).build());
		for (String question : List.of("a", "b", "c", "d")) {
			ask(question);
		}
		SnapshotProperties.TestSummaries.move(this.store, this.key, 3, "s1", "what was said");
		this.store.put(this.key, new RecordWrite(SessionStore.SUMMARY, "s1", RecordWrite.ANY, null, null));
		answer("e", SessionAdvisor.branch(Session.MAIN));
		assertThat(this.model.lastRequestLines()).containsExactly("user: c", "assistant: re c", "user: d",
				"assistant: re d", "user: e");
		assertThat(header().summaryTurn()).isZero();
	}

	// refusals

	@Test
	void historyThatNoModelCouldBeSentIsRefusedBeforeTheModel() {
		AssistantMessage calling = AssistantMessage.builder()
			.content("")
			.toolCalls(List.of(SessionAdvisorTests.call("c1", "look", "1")))
			.build();
		ToolResponseMessage result = ToolResponseMessage.builder()
			.responses(List.of(new ToolResponseMessage.ToolResponse("c1", "look", "1")))
			.build();
		for (HistoryPolicy policy : HistoryPolicy.values()) {
			for (List<Message> bad : List.<List<Message>>of(List.of(new UserMessage("q"), calling),
					List.of(new UserMessage("q"), calling, new AssistantMessage("a")),
					List.of(new UserMessage("q"), result, new AssistantMessage("a")),
					List.of(new AssistantMessage("hello"), new UserMessage("q"), new AssistantMessage("a")))) {
				assertThatExceptionOfType(InvalidSequenceException.class)
					.isThrownBy(() -> call("b", SessionAdvisor.history(bad, policy)).content());
			}
		}
		assertThat(this.model.prompts()).isEmpty();
		assertThat(this.store.find(this.key)).isEmpty();
		answer("b", SessionAdvisor.history(List.of(new UserMessage("q"), calling, result, new AssistantMessage("a")),
				HistoryPolicy.OVERRIDE));
		assertThat(this.model.lastRequest()).hasSize(5);
	}

	@Test
	void whatCannotBeStoredIsRefusedWhereItWouldBe() {
		List<Message> lone = List.of(new UserMessage("\ud800"), new AssistantMessage("a"));
		for (HistoryPolicy policy : List.of(HistoryPolicy.USE_IF_PROVIDED, HistoryPolicy.REPLACE_SESSION)) {
			assertThatExceptionOfType(UnstorableMessageException.class)
				.isThrownBy(() -> call("b", SessionAdvisor.history(lone, policy)).content());
		}
		assertThat(this.model.prompts()).isEmpty();
		answer("b", SessionAdvisor.history(lone));
		assertThat(this.model.prompts()).hasSize(1);
	}

	@Test
	void wrongTypesAndCombinationsAreRefusedBeforeAnythingHappens() {
		List<Consumer<ChatClient.AdvisorSpec>> refused = List.of((spec) -> spec.param(SessionAdvisor.HISTORY, "x"),
				(spec) -> spec.param(SessionAdvisor.HISTORY, List.of("x")),
				(spec) -> spec.param(SessionAdvisor.HISTORY, X).param(SessionAdvisor.HISTORY_POLICY, "OVERRIDE"),
				SessionAdvisor.history(List.of(new SystemMessage("s"))),
				SessionAdvisor.history(X).andThen(SessionAdvisor.reading()),
				SessionAdvisor.history(X, HistoryPolicy.REPLACE_SESSION).andThen(SessionAdvisor.branch("b")),
				SessionAdvisor.history(X, HistoryPolicy.USE_IF_PROVIDED).andThen(SessionAdvisor.editing(1)),
				SessionAdvisor.history(X).andThen(SessionAdvisor.regenerating()),
				SessionAdvisor.history(X).andThen(SessionAdvisor.idempotencyKey("r")),
				SessionAdvisor.reading().andThen(SessionAdvisor.idempotencyKey("r")));
		refused.forEach((each) -> assertThatIllegalStateException().isThrownBy(() -> call("b", each).content()));
		assertThatExceptionOfType(SessionRequiredException.class)
			.isThrownBy(() -> call("b", SessionAdvisor.history(X).andThen(SessionAdvisor.none())).content());
		for (HistoryPolicy policy : HistoryPolicy.values()) {
			assertThatIllegalStateException()
				.isThrownBy(() -> prompt(null, SessionAdvisor.history(X, policy)).call().content())
				.withMessageContaining("no message");
		}
		assertThat(this.model.prompts()).isEmpty();
		assertThat(this.store.find(this.key)).isEmpty();
	}

	@Test
	void absentHistoryIsTheOneOfTheSession() {
		ask("a");
		answer("b", SessionAdvisor.history(null, HistoryPolicy.REPLACE_SESSION));
		answer("c", (spec) -> spec.param(SessionAdvisor.HISTORY_POLICY, HistoryPolicy.REPLACE_SESSION));
		assertThat(this.model.lastRequestLines()).hasSize(5);
	}

	@Test
	void messagesOfTheCallAreNewInputBehindAGivenHistory() {
		this.model.says("re b");
		this.client.prompt()
			.messages(new UserMessage("m?"), new AssistantMessage("m!"))
			.user("b")
			.advisors(named(SessionAdvisor.history(X, HistoryPolicy.USE_IF_PROVIDED)))
			.call()
			.content();
		assertThat(this.model.lastRequestLines()).containsExactly("user: x?", "assistant: x!", "user: m?",
				"assistant: m!", "user: b");
		assertThat(log()).containsExactly("user: m?", "assistant: m!", "user: b", "assistant: re b");
	}

	@Test
	void changesOfTheGivenListAfterwardsHaveNoEffect() {
		Map<String, Object> metadata = new HashMap<>(Map.of("source", "page 1"));
		List<Message> given = new ArrayList<>(
				List.of(UserMessage.builder().text("x?").metadata(metadata).build(), new AssistantMessage("x!")));
		Consumer<ChatClient.AdvisorSpec> history = SessionAdvisor.history(given, HistoryPolicy.USE_IF_PROVIDED);
		Message first = given.get(0);
		given.clear();
		first.getMetadata().put("source", "page 2");
		answer("b", history);
		assertThat(this.conversation.snapshot(1).orElseThrow().messages().get(0).getMetadata()).containsEntry("source",
				"page 1");
		List<Message> raw = new ArrayList<>(X);
		this.model.step((prompt) -> {
			raw.clear();
			return Flux.just(this.model.chunk("re c", List.of(), true));
		});
		call("c", (spec) -> spec.param(SessionAdvisor.HISTORY, raw)
			.param(SessionAdvisor.HISTORY_POLICY, HistoryPolicy.REPLACE_SESSION)).content();
		assertThat(view()).hasSize(4);
	}

	@Test
	void longHistoryIsSentWhole() {
		List<Message> long_ = turns(this.kind == TestStores.MEMORY ? 5_000 : 200);
		answer("b", SessionAdvisor.history(long_));
		assertThat(this.model.lastRequest()).hasSize(long_.size() + 1);
		answer("c", SessionAdvisor.history(long_, HistoryPolicy.USE_IF_PROVIDED));
		assertThat(this.conversation.snapshot(1).orElseThrow().messages()).hasSize(long_.size());
		answer("d", SessionAdvisor.history(long_, HistoryPolicy.REPLACE_SESSION));
		assertThat(view()).hasSize(long_.size() + 2);
	}

	// the parts of these tests

	private void cancelledWhileTheModelAnswers(ChatClient.ChatClientRequestSpec spec) {
		CountDownLatch called = new CountDownLatch(1);
		this.model.step((prompt) -> Flux.<ChatResponse>never().doOnSubscribe((subscription) -> called.countDown()));
		Disposable running = spec.stream().content().subscribe();
		Awaitility.await().until(() -> called.getCount() == 0);
		running.dispose();
		Awaitility.await()
			.until(() -> this.store.turns(this.key, Tail.newest(1)).get(0).status() == TurnStatus.CANCELLED);
	}

	/** Whoever sends it again would have it twice in the history. */
	@Test
	void messageForATurnWhoseGivenHistoryIsGoneIsKeptWithItAndTheExceptionSaysSo() {
		AtomicInteger runs = new AtomicInteger();
		Approvals approvals = gated(OnNewMessage.QUEUE);
		ask("a");
		ask("b");
		pause("c", runs, SessionAdvisor.history(X, HistoryPolicy.USE_IF_PROVIDED));
		this.conversation.delete(1);
		approve(approvals);
		assertThatExceptionOfType(SessionConflictException.class)
			.isThrownBy(() -> prompt("more", none()).toolCallbacks(cancelling(runs)).call().content())
			.withMessageContainingAll("is kept", "Do not send it again", "Approvals.cancel(..)")
			.matches((ex) -> ex.isMessageKept());
		assertThat(runs).hasValue(0);
		approvals.cancel(this.key);
		assertThat(view()).filteredOn((line) -> line.contains("more")).containsExactly("user: more");
	}

	private Approvals gated() {
		return gated(OnNewMessage.REJECT);
	}

	private Approvals gated(OnNewMessage onNewMessage) {
		Approvals approvals = Approvals.builder(this.conversations)
			.tools(Set.of("cancel"))
			.onNewMessage(onNewMessage)
			.build();
		this.client = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(this.conversations).approvals(approvals).build())
			.build();
		return approvals;
	}

	private void pause(String text, AtomicInteger runs, Consumer<ChatClient.AdvisorSpec> more) {
		this.model.calls(SessionAdvisorTests.call("c1", "cancel", "1"));
		ChatResponse paused = prompt(text, more).toolCallbacks(cancelling(runs)).call().chatResponse();
		assertThat(SessionAdvisor.pending(paused)).hasSize(1);
		assertThat(this.store.turns(this.key, Tail.newest(1)).get(0).status()).isEqualTo(TurnStatus.AWAITING_APPROVAL);
	}

	private void approve(Approvals approvals) {
		ToolApproval waiting = approvals.pending(this.key).get(0);
		approvals.decide(waiting, Decision.approve("ada"));
	}

	private static ToolCallback cancelling(AtomicInteger runs) {
		return tool("cancel", () -> String.valueOf(runs.incrementAndGet()));
	}

	private static ToolCallback tool(String name, Supplier<String> work) {
		return FunctionToolCallback.builder(name, (SessionAdvisorTests.Value value) -> work.get())
			.description("does something")
			.inputType(SessionAdvisorTests.Value.class)
			.build();
	}

	static SessionListener noting(List<String> heard) {
		return new SessionListener() {

			@Override
			public void modelCalled(SessionEvent.ModelCalled event) {
				heard.add("modelCalled");
			}

			@Override
			public void textComplete(SessionEvent.TextComplete event) {
				heard.add("textComplete");
			}

			@Override
			public void committed(SessionEvent.Committed event) {
				heard.add("committed");
			}

		};
	}

	private static List<Message> turns(int count) {
		return IntStream.range(0, count)
			.boxed()
			.<Message>flatMap((i) -> Stream.of(new UserMessage("q" + i), new AssistantMessage("a" + i)))
			.toList();
	}

	private static Consumer<ChatClient.AdvisorSpec> none() {
		return (spec) -> {
		};
	}

	private void ask(String text) {
		answer(text, none());
	}

	private ChatResponse answer(String text, Consumer<ChatClient.AdvisorSpec> more) {
		this.model.says("re " + text);
		return call(text, more).chatResponse();
	}

	private ChatClient.CallResponseSpec call(String text, Consumer<ChatClient.AdvisorSpec> more) {
		return prompt(text, more).call();
	}

	private ChatClient.ChatClientRequestSpec prompt(String text, Consumer<ChatClient.AdvisorSpec> more) {
		ChatClient.ChatClientRequestSpec prompt = this.client.prompt();
		return ((text != null) ? prompt.user(text) : prompt).advisors(named(more));
	}

	private Consumer<ChatClient.AdvisorSpec> named(Consumer<ChatClient.AdvisorSpec> more) {
		return SessionAdvisor.session(this.key).andThen(more);
	}

	private Session header() {
		return this.store.find(this.key).orElseThrow();
	}

	private List<String> log() {
		return Lines.of(this.store.messages(this.key));
	}

	private List<String> view() {
		return Lines.of(this.conversation.view());
	}

	private List<String> snapshot(long turn) {
		return Lines.of(this.conversation.snapshot(turn).orElseThrow().messages());
	}

	private static String text(List<ChatResponse> chunks) {
		StringBuilder text = new StringBuilder();
		chunks.forEach(
				(chunk) -> chunk.getResults().forEach((generation) -> text.append(generation.getOutput().getText())));
		return text.toString();
	}

}
