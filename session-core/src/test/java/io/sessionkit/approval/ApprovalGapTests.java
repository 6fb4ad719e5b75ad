package io.sessionkit.approval;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

import io.sessionkit.Durability;
import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.context.Summarize;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookContext;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionEvent;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.AwayStores;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.ChatClientRequest;
import org.springframework.ai.chat.client.ChatClientResponse;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisor;
import org.springframework.ai.chat.client.advisor.api.CallAdvisorChain;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisor;
import org.springframework.ai.chat.client.advisor.api.StreamAdvisorChain;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.model.tool.ToolExecutionResult;
import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.core.Ordered;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Narrow places where a call could run unasked or twice, a lease could stay, or a message
 * or result could be lost.
 */
class ApprovalGapTests {

	private final List<ApprovalEvent> events = new CopyOnWriteArrayList<>();

	private static final SessionKey KEY = SessionKey.of("t");

	record Order(int id) {
	}

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final List<Integer> cancelled = new ArrayList<>();

	private final AtomicReference<Runnable> inTool = new AtomicReference<>(() -> {
	});

	private final ScriptedChatModel model = new ScriptedChatModel();

	private Approvals approvals = approvals(Conversations.of(this.store));

	@Test
	void ofTwoCallsAtOnceThatBothHaveToWaitOneConflicts() {
		ChatClient chat = chat(Conversations.of(this.store));
		startThread(chat);
		// another call on the session comes to wait while this one asks the model
		this.model.step((prompt) -> Flux.defer(() -> {
			elsewhere(() -> pause(chat(Conversations.of(this.store)), 2));
			return new ScriptedChatModel().calls(call(1)).stream(prompt);
		}));
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> ask(chat, "q"));
		assertThat(this.approvals.pending(KEY)).extracting(ToolApproval::arguments).containsExactly("{\"id\":2}");
	}

	/** The ledger has every decision that was accepted. */
	@Test
	void decisionThatComesWhileTheTurnIsCancelledIsKept() {
		pause(chat(Conversations.of(this.store)), 1);
		Approvals elsewhere = approvals(Conversations.of(this.store));
		AtomicBoolean decided = new AtomicBoolean();
		this.store.beforeCommit(() -> {
			if (decided.compareAndSet(false, true)) {
				elsewhere.approve(elsewhere.pending(KEY).get(0), "anna");
			}
		});
		assertThat(this.approvals.cancel(KEY)).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.CANCELLED);
		assertThat(decided).isTrue();
		assertThat(this.approvals.ledger(KEY)).singleElement()
			.satisfies((call) -> assertThat(call.decisions()).extracting("by").containsExactly("anna"));
		assertThat(this.store.find(KEY).orElseThrow().openTurn()).isZero();
		assertThat(this.cancelled).isEmpty();
	}

	/** Another branch is active, so the turn is kept beside the history. */
	@Test
	void decisionThatComesWhileATurnOffTheHeadIsCancelledCostsOneCommitMore() {
		List<TurnStatus> told = new ArrayList<>();
		Conversations conversations = Conversations.builder(this.store).listeners(new SessionListener() {

			@Override
			public void failed(SessionEvent.Failed failed) {
				told.add(failed.status());
			}

		}).build();
		this.approvals = approvals(conversations);
		startThread(chat(conversations));
		pause(chat(conversations), 1);
		Session waiting = this.store.find(KEY).orElseThrow();
		this.store.commit(Commit.on(waiting).header(HeaderChange.NONE.head("aside", waiting.head())));
		AtomicInteger commits = new AtomicInteger();
		this.store.beforeCommit(() -> {
			if (commits.getAndIncrement() == 0) {
				approveAll();
			}
		});
		assertThat(this.approvals.cancel(KEY)).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.CANCELLED);
		assertThat(commits).hasValue(2);
		assertThat(told).containsExactly(TurnStatus.AWAITING_APPROVAL, TurnStatus.CANCELLED);
		assertThat(this.approvals.ledger(KEY)).singleElement()
			.satisfies((call) -> assertThat(call.decisions()).extracting("by").containsExactly("ada"));
		assertThat(Lines.of(this.store.messages(KEY))).hasSize(2);
	}

	@Test
	void answerOfAPersonThatIsCutWithinACharacterIsStored() {
		ChatClient chat = chat(Conversations.of(this.store));
		pause(chat, 1);
		approveAll();
		this.approvals.decide(uncertain(chat), Decision.answer("ada", "It ran \uD83D"));
		this.model.says("done");
		assertThat(ask(chat, null)).isEqualTo("done");
		assertThat(Lines.of(this.store.messages(KEY))).contains("tool cancel=It ran \uFFFD");
	}

	/** What is looked up is the text as it is stored. */
	@Test
	void rejectionThatIsCutWithinACharacterIsFoundIfItsAnswerWasLost() {
		ChatClient chat = chat(Conversations.of(this.store));
		pause(chat, 1);
		this.store.afterPut((record) -> {
			throw new StoreUnavailableException("The answer was lost.", null);
		});
		ToolApproval rejected = this.approvals.decide(this.approvals.pending(KEY).get(0),
				Decision.reject("ada", "No \uD83D"));
		this.store.afterPut((record) -> {
		});
		assertThat(rejected.decision().reason()).isEqualTo("No \uFFFD");
		this.model.says("done");
		assertThat(ask(chat, null)).isEqualTo("done");
		assertThat(Lines.of(this.store.messages(KEY))).contains("tool cancel=No \uFFFD");
	}

	@Test
	void plainTurnDoesNotOvertakeOneThatHasComeToWait() {
		ChatClient chat = chat(Conversations.of(this.store));
		startThread(chat);
		this.model.step((prompt) -> Flux.defer(() -> {
			elsewhere(() -> pause(chat(Conversations.of(this.store)), 2));
			return new ScriptedChatModel().says("late").stream(prompt);
		}));
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> ask(chat, "q"))
			.satisfies((ex) -> assertThat(ex.reply()).isNotNull());
		approveAll();
		this.model.says("done");
		assertThat(ask(chat, null)).isEqualTo("done");
	}

	@Test
	void subscriberWhoLeavesWhileTheTurnIsOpenedAgainLeavesNoLease() {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch gone = new CountDownLatch(1);
		AtomicBoolean slow = new AtomicBoolean();
		Conversations conversations = Conversations.builder(this.store).hooks(new SessionHook() {

			@Override
			public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
				if (slow.get()) {
					asked.countDown();
					await(gone);
				}
				return HookResult.keep();
			}

		}).build();
		Conversations hookless = Conversations.of(this.store);
		this.approvals = queueing(hookless);
		ChatClient before = chat(hookless);
		pause(before, 1);
		ask(before, "and this");
		approveAll();
		this.approvals = queueing(conversations);
		ChatClient chat = chat(conversations);
		slow.set(true);
		Disposable stream = chat.prompt().advisors(SessionAdvisor.session(KEY)).stream().content().subscribe();
		await(asked);
		stream.dispose();
		gone.countDown();
		Awaitility.await().until(() -> this.store.records(KEY, TurnRecords.LEASE).isEmpty());
		slow.set(false);
		this.model.says("done");
		assertThat(ask(chat, null)).isEqualTo("done");
	}

	/** Whether a call is uncertain depends on the lease. */
	@Test
	void callWhoseMessageIsKeptSaysSoIfTheStoreFailsBeforeItIsKnownWhatWaits() {
		ChatClient chat = chat(Conversations.of(this.store));
		pause(chat, 1);
		approveAll();
		uncertain(chat);
		AtomicBoolean away = new AtomicBoolean();
		this.store.afterPut((record) -> away.set(record.kind().equals(TurnRecords.PAUSE)));
		Conversations conversations = Conversations.of(AwayStores.of(this.store, away::get));
		this.approvals = queueing(conversations);
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> ask(chat(conversations), "and this"))
			.withMessageContaining("Do not send it again")
			.withMessageEndingWith("The store is down.")
			.matches((ex) -> ex.isMessageKept());
	}

	@Test
	void resultThatTheStoreDidNotTakeAtOnceIsStoredWhenTheCallEnds() {
		ChatClient chat = chat(Conversations.of(this.store));
		this.model.calls(call(1), call(2));
		ask(chat, "q");
		this.approvals.approve(this.approvals.pending(KEY).get(0), "ada");
		AtomicBoolean fails = new AtomicBoolean();
		this.inTool.set(() -> fails.set(true));
		this.store.beforePut((record) -> {
			if (record.kind().equals(Ledger.APPROVAL) && fails.getAndSet(false)) {
				throw new StoreUnavailableException("busy", null);
			}
		});
		assertThat(ask(chat, null)).isNull();
		assertThat(this.approvals.ledger(KEY)).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.DONE, ApprovalStatus.PROPOSED);
	}

	@Test
	void resultThatTheStoreDidNotTakeAtOnceIsStoredIfTheReplyBehindItIsEmpty() {
		ChatClient chat = chat(Conversations.of(this.store));
		pause(chat, 1);
		approveAll();
		AtomicBoolean fails = new AtomicBoolean();
		this.inTool.set(() -> fails.set(true));
		this.store.beforePut((record) -> {
			if (record.kind().equals(Ledger.APPROVAL) && fails.getAndSet(false)) {
				throw new StoreUnavailableException("busy", null);
			}
		});
		this.model.says("").says("done");
		ask(chat, null);
		assertThat(this.approvals.ledger(KEY)).extracting(ToolApproval::status).containsExactly(ApprovalStatus.DONE);
		assertThat(ask(chat, null)).isEqualTo("done");
		assertThat(this.cancelled).containsExactly(1);
	}

	/** A finding about one run says nothing about the next. */
	@Test
	void decisionOnACallThatMayHaveRunAgainSinceItWasShownIsRefused() {
		ChatClient chat = chat(Conversations.of(this.store));
		pause(chat, 1);
		String waiting = this.approvals.pending(KEY).get(0).asShown();
		approveAll();
		ToolApproval first = uncertain(chat);
		assertMayHaveRun(() -> this.approvals.decide(KEY, first.id(), waiting, Decision.reject("bob")));
		this.approvals.decide(first, Decision.retry("ada"));
		ToolApproval second = uncertain(chat);
		for (Decision late : List.of(Decision.retry("bob"), Decision.answer("bob", "It did not run."),
				Decision.reject("bob"))) {
			assertMayHaveRun(() -> this.approvals.decide(first, late));
			assertMayHaveRun(() -> this.approvals.decide(KEY, first.id(), first.asShown(), late));
		}
		assertThat(this.cancelled).containsExactly(1, 1);
		this.approvals.decide(KEY, second.id(), second.asShown(), Decision.answer("bob", "It ran."));
		this.model.says("done");
		assertThat(ask(chat, null)).isEqualTo("done");
	}

	@Test
	void callThatHasNotRunWasNeverShownAsOneThatHas() {
		pause(chat(Conversations.of(this.store)), 1);
		ToolApproval call = this.approvals.pending(KEY).get(0);
		for (String mangled : List.of(call.digest() + "@garbage", call.digest() + " ", call.asShown() + " ",
				call.asShown() + Instant.EPOCH)) {
			assertThatExceptionOfType(DecisionRefusedException.class)
				.isThrownBy(() -> this.approvals.decide(KEY, call.id(), mangled, Decision.approve("ada")))
				.returns(DecisionRefusedException.Reason.OTHER_CALL, DecisionRefusedException::reason);
		}
		assertThat(this.approvals.decide(KEY, call.id(), call.asShown(), Decision.approve("ada")).status())
			.isEqualTo(ApprovalStatus.APPROVED);
	}

	private static void assertMayHaveRun(ThrowingCallable decision) {
		assertThatExceptionOfType(DecisionRefusedException.class).isThrownBy(decision)
			.withMessageContaining("may have run since it was shown")
			.returns(DecisionRefusedException.Reason.MAY_HAVE_RUN, DecisionRefusedException::reason);
	}

	/** Runs a call whose result the store does not take. */
	private ToolApproval uncertain(ChatClient chat) {
		AtomicBoolean fails = new AtomicBoolean();
		this.inTool.set(() -> fails.set(true));
		this.store.beforePut((record) -> {
			if (record.kind().equals(Ledger.APPROVAL) && fails.get()) {
				throw new StoreUnavailableException("busy", null);
			}
		});
		this.model.fails(new IllegalStateException("busy"));
		assertThatThrownBy(() -> ask(chat, null)).isInstanceOf(RuntimeException.class);
		this.store.beforePut((record) -> {
		});
		ToolApproval call = this.approvals.pending(KEY).get(0);
		assertThat(call.status()).isEqualTo(ApprovalStatus.UNCERTAIN);
		return call;
	}

	@Test
	void interruptedToolStoresItsResultUninterrupted() {
		ChatClient chat = chat(Conversations.of(this.store));
		pause(chat, 1);
		approveAll();
		List<Boolean> interrupted = new ArrayList<>();
		this.inTool.set(() -> Thread.currentThread().interrupt());
		this.store.beforePut((record) -> interrupted.add(Thread.currentThread().isInterrupted()));
		this.model.says("done");
		ask(chat, null);
		assertThat(Thread.interrupted()).isTrue();
		assertThat(interrupted).isNotEmpty().containsOnly(false);
		assertThat(this.approvals.ledger(KEY)).extracting(ToolApproval::status).containsExactly(ApprovalStatus.DONE);
	}

	/** Returns the ways in which wrappers keep the tool that they call. */
	static Stream<Function<ToolCallback, Object>> ways() {
		return Stream.of((tool) -> tool, AtomicReference::new, Optional::of,
				(tool) -> new AtomicReference<>(Optional.of(tool)));
	}

	@ParameterizedTest
	@MethodSource("ways")
	void annotatedToolAsksThroughWhateverIsWrappedAroundIt(Function<ToolCallback, Object> way) {
		ToolCallback tool = ToolCallbacks.from(new Shop())[0];
		ToolCallback wrapped = new Wrapper(new Keeping(way.apply(tool), tool.getToolDefinition()));
		Conversations conversations = Conversations.of(this.store);
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(conversations))
			.defaultToolCallbacks(wrapped)
			.build();
		this.model.calls(new ToolCall("c1", "function", "sell", "{}"));
		assertThat(ask(chat, "q")).isNull();
		assertThat(this.approvals.pending(KEY)).extracting(ToolApproval::tool).containsExactly("sell");
	}

	@Test
	void toolThatAnAdvisorHasAddedBehindTheSessionAdvisorIsRefused() {
		ToolCallback added = ToolCallbacks.from(new Shop())[0];
		ChatClient chat = chat(Conversations.of(this.store)).mutate()
			.defaultAdvisors(new Around(Ordered.HIGHEST_PRECEDENCE + 280, (request, chain) -> {
				ToolCallingChatOptions options = (ToolCallingChatOptions) request.prompt().getOptions();
				return chain.nextCall(new ChatClientRequest(new Prompt(request.prompt().getInstructions(),
						options.mutate().toolCallbacks(List.of(added)).build()), request.context()));
			}))
			.build();
		assertThatExceptionOfType(UnattendedToolException.class).isThrownBy(() -> ask(chat, "q"))
			.withMessageContaining("'sell'")
			.withMessageContaining("advisor");
		assertThat(this.model.prompts()).isEmpty();
	}

	/** Only a policy asks, so nothing about the tool itself says that it has to wait. */
	@Test
	void toolThatAnAdvisorPutsInThePlaceOfAnOfferedOneIsRefused() {
		Around replacing = new Around(Ordered.HIGHEST_PRECEDENCE + 280, (request, chain) -> {
			ToolCallingChatOptions options = (ToolCallingChatOptions) request.prompt().getOptions();
			return chain.nextCall(new ChatClientRequest(new Prompt(request.prompt().getInstructions(),
					options.mutate().toolCallbacks(List.of(cancelTool())).build()), request.context()));
		});
		this.approvals = ruled((request) -> Ruling.ask());
		ChatClient chat = chat(Conversations.of(this.store)).mutate().defaultAdvisors(replacing).build();
		assertThatExceptionOfType(UnattendedToolException.class).isThrownBy(() -> ask(chat, "q"))
			.withMessageContaining("in the place of 'cancel'");
		assertThat(this.model.prompts()).isEmpty();
		this.approvals = Approvals.builder(Conversations.of(this.store)).build();
		this.model.calls(call(1)).says("done");
		assertThat(ask(chat(Conversations.of(this.store)).mutate().defaultAdvisors(replacing).build(), "q"))
			.as("nobody asks")
			.isEqualTo("done");
		assertThat(this.cancelled).containsExactly(1);
	}

	@Test
	void argumentsThatAPolicyDeniesDoNotRunAlthoughAPersonHasApprovedThem() {
		this.approvals = ruled(
				(request) -> request.arguments().get("id").equals(9) ? Ruling.deny("too many") : Ruling.ask());
		ChatClient chat = chat(Conversations.of(this.store));
		pause(chat, 1);
		this.approvals.decide(this.approvals.pending(KEY).get(0), Decision.approve("ada").withArguments("{\"id\":9}"));
		this.model.calls(call(2));
		assertThat(ask(chat, null)).isNull();
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=too many");
		assertThat(this.approvals.ledger(KEY).get(0)).satisfies((call) -> {
			assertThat(call.status()).isEqualTo(ApprovalStatus.DENIED);
			assertThat(call.decisions()).extracting("by").containsExactly("ada", "policy");
		});
		assertThat(this.events).filteredOn(ApprovalEvent.Denied.class::isInstance)
			.extracting(ApprovalEvent::approval)
			.containsExactly(this.approvals.ledger(KEY).get(0));
		this.approvals.decide(this.approvals.pending(KEY).get(0), Decision.approve("ada").withArguments("{\"id\":8}"));
		this.model.says("done");
		assertThat(ask(chat, null)).isEqualTo("done");
		assertThat(this.cancelled).as("the policy would ask, and somebody has been asked").containsExactly(8);
	}

	/** The decision is there although its writer has not heard of it. */
	@Test
	void denialOfChangedArgumentsWhoseAnswerIsLostCountsOnce() {
		this.approvals = ruled(
				(request) -> request.arguments().get("id").equals(9) ? Ruling.deny("too many") : Ruling.ask());
		ChatClient chat = chat(Conversations.of(this.store));
		pause(chat, 1);
		this.approvals.decide(this.approvals.pending(KEY).get(0), Decision.approve("ada").withArguments("{\"id\":9}"));
		AtomicBoolean lost = new AtomicBoolean();
		this.store.afterPut((record) -> {
			if (record.kind().equals(Ledger.APPROVAL) && lost.compareAndSet(false, true)) {
				throw new StoreUnavailableException("lost", null);
			}
		});
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> ask(chat, null));
		this.model.says("sorry");
		assertThat(ask(chat, null)).isEqualTo("sorry");
		assertThat(this.approvals.ledger(KEY)).singleElement()
			.satisfies((call) -> assertThat(call.decisions()).extracting("by").containsExactly("ada", "policy"));
		assertThat(this.cancelled).isEmpty();
	}

	/** What the model says the second time is not what is stored. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void turnWhoseFirstPartIsStoredWithoutAnAnswerIsNotTakenForTheOneThatARetryBegins(boolean calls) {
		ChatClient chat = retryingIfTheStoreFails(chat(Conversations.of(this.store)));
		startThread(chat);
		AtomicBoolean lost = new AtomicBoolean();
		this.store.afterCommit(() -> {
			if (lost.compareAndSet(false, true)) {
				throw new StoreUnavailableException("The answer was lost.", null);
			}
		});
		this.model.calls(call(1));
		if (calls) {
			this.model.calls(call(2));
		}
		else {
			this.model.says("nothing to cancel");
		}
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> ask(chat, "q"))
			.withMessageContaining("The turn is still open; call again without a message to continue it")
			.satisfies((ex) -> assertThat(ex.reply() != null).isEqualTo(!calls));
		assertThat(this.approvals.pending(KEY)).extracting(ToolApproval::arguments).containsExactly("{\"id\":1}");
		approveAll();
		this.model.says("done");
		assertThat(ask(chat, null)).isEqualTo("done");
		assertThat(this.cancelled).containsExactly(1);
	}

	/** The number of that part is one of theirs then. */
	@Test
	void turnWhoseFirstPartWentWithItsSessionIsNotTakenForTheOneThatOthersHaveBegunThere() {
		Conversations others = Conversations.of(this.store);
		ChatClient chat = retryingIfTheStoreFails(chat(Conversations.of(this.store)));
		AtomicInteger commits = new AtomicInteger();
		this.store.afterCommit(() -> {
			switch (commits.incrementAndGet()) {
				case 1 -> throw new StoreUnavailableException("The answer was lost.", null);
				case 2 -> elsewhere(() -> {
					others.get(KEY).erase();
					pause(chat(others), 3);
				});
				default -> {
				}
			}
		});
		this.model.calls(call(1)).calls(call(2));
		assertThatExceptionOfType(SessionConflictException.class).isThrownBy(() -> ask(chat, "q"))
			.withMessageContaining("The turn is kept beside the history");
		assertThat(this.approvals.pending(KEY)).extracting(ToolApproval::arguments).containsExactly("{\"id\":3}");
	}

	@Test
	void policyIsAskedAboutEachRepetitionOfACallThatItAllows() {
		AtomicInteger asked = new AtomicInteger();
		this.approvals = ruled((request) -> (asked.getAndIncrement() == 0) ? Ruling.allow() : Ruling.ask());
		ChatClient chat = chat(Conversations.of(this.store));
		this.model.calls(call(1), call(1), call(1));
		assertThat(ask(chat, "q")).isNull();
		assertThat(this.approvals.pending(KEY)).extracting(ToolApproval::times).containsExactly(1, 1);
		this.approvals.approve(this.approvals.pending(KEY).get(0), "ada");
		this.approvals.reject(this.approvals.pending(KEY).get(0), "ada", "no");
		this.model.says("done");
		assertThat(ask(chat, null)).isEqualTo("done");
		assertThat(this.cancelled).containsExactly(1, 1);
		assertThat(this.model.lastRequestLines())
			.endsWith("tool cancel=\"cancelled 1\" cancel=\"cancelled 1\" cancel=no");
	}

	/** As a manager of the application may do. */
	@Test
	void sameCallThatRunsTwiceInParallelRunsOnce() {
		CountDownLatch begun = new CountDownLatch(2);
		this.inTool.set(() -> {
			await(begun);
			Awaitility.await().pollDelay(Duration.ofMillis(100)).until(() -> true);
		});
		ChatClient chat = chat(Conversations.of(this.store)).mutate()
			.defaultAdvisors(ToolCallingAdvisor.builder().toolCallingManager(new InParallel(begun)).build())
			.build();
		this.model.calls(call(1), call(1));
		assertThat(ask(chat, "q")).isNull();
		approveAll();
		this.model.says("done");
		assertThat(ask(chat, null)).isEqualTo("done");
		assertThat(this.cancelled).containsExactly(1);
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=\"cancelled 1\" cancel=\"cancelled 1\"");
	}

	@Test
	void callWithoutANameIsOneOfAToolThatTheModelInvents() {
		this.model.calls(call(1), new ToolCall("c2", "function", null, "{}"));
		assertThatExceptionOfType(UnknownToolException.class)
			.isThrownBy(() -> ask(chat(Conversations.of(this.store)), "q"))
			.withMessageContaining("Nothing of this reply was run");
		assertThat(this.cancelled).isEmpty();
	}

	@Test
	void timeToDecideThatNoClockCanReckonWithIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(
				() -> Approvals.builder(Conversations.of(this.store)).expiresAfter(ChronoUnit.FOREVER.getDuration()))
			.withMessageContaining("a year at most");
	}

	@Test
	void annotatedToolThatAnAdvisorBehindTheSessionAdvisorWrapsAsks() {
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(Conversations.of(this.store)))
			.defaultAdvisors(new Around(Ordered.HIGHEST_PRECEDENCE + 280, (request, chain) -> {
				ToolCallingChatOptions options = (ToolCallingChatOptions) request.prompt().getOptions();
				List<ToolCallback> wrapped = options.getToolCallbacks()
					.stream()
					.<ToolCallback>map(Wrapper::new)
					.toList();
				return chain.nextCall(new ChatClientRequest(
						new Prompt(request.prompt().getInstructions(), options.mutate().toolCallbacks(wrapped).build()),
						request.context()));
			}))
			.defaultToolCallbacks(ToolCallbacks.from(new Shop()))
			.build();
		this.model.calls(new ToolCall("c1", "function", "sell", "{}")).says("not sold");
		assertThat(ask(chat, "q")).isNull();
		this.approvals.reject(this.approvals.pending(KEY).get(0), "ada", "no");
		assertThat(ask(chat, null)).isEqualTo("not sold");
		assertThat(this.model.lastRequestLines()).endsWith("tool sell=no");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void toolThatAnAdvisorHasAddedBehindTheSessionAdvisorIsRefusedWithoutASessionToo(ClientSetup.Mode mode) {
		List<String> sold = new ArrayList<>();
		FunctionToolCallback<?, ?> named = FunctionToolCallback.builder("cancel", (Object nothing) -> {
			sold.add("cancel");
			return "cancelled";
		}).description("cancels").inputType(Object.class).build();
		for (ToolCallback added : List.of(ToolCallbacks.from(new Shop())[0], named)) {
			String tool = added.getToolDefinition().name();
			this.model.calls(new ToolCall("c1", "function", tool, "{}")).says("done");
			ChatClient chat = ChatClient.builder(this.model)
				.defaultAdvisors(SessionAdvisor.builder(Conversations.of(this.store)).approvals(this.approvals).build())
				.defaultAdvisors(new Adding(added))
				.defaultToolCallbacks(cancelTool())
				.build();
			ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
			assertThatExceptionOfType(UnattendedToolException.class)
				.isThrownBy(() -> setup.content(chat.prompt().user("q")))
				.withMessageContaining("'" + tool + "'")
				.withMessageContaining("names no session");
		}
		assertThat(sold).isEmpty();
		assertThat(this.model.prompts()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void namedToolThatAnAdvisorAddsIsRefusedWhateverTheCallOffers(boolean offers) {
		List<String> ran = new ArrayList<>();
		FunctionToolCallback<?, ?> named = FunctionToolCallback.builder("cancel", (Object nothing) -> {
			ran.add("cancel");
			return "cancelled";
		}).description("cancels").inputType(Object.class).build();
		FunctionToolCallback<?, ?> other = FunctionToolCallback.builder("look", (Object nothing) -> "seen")
			.description("looks")
			.inputType(Object.class)
			.build();
		this.model.calls(new ToolCall("c1", "function", "cancel", "{}")).says("done");
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(Conversations.of(this.store)).approvals(this.approvals).build())
			.defaultAdvisors(new Adding(named))
			.defaultToolCallbacks(offers ? List.of(other) : List.of())
			.build();
		assertThatExceptionOfType(UnattendedToolException.class).isThrownBy(() -> ask(chat, "q"))
			.withMessageContaining("'cancel'");
		assertThat(ran).isEmpty();
		assertThat(this.model.prompts()).isEmpty();
	}

	@Test
	void policyIsAskedAboutAToolThatAnAdvisorAddsToACallThatOffersNone() {
		List<String> ran = new ArrayList<>();
		FunctionToolCallback<?, ?> added = FunctionToolCallback.builder("wipe", (Object nothing) -> {
			ran.add("wipe");
			return "wiped";
		}).description("wipes").inputType(Object.class).build();
		Conversations conversations = Conversations.of(this.store);
		this.approvals = Approvals.builder(conversations)
			.policies(List.<ApprovalPolicy>of((request) -> Ruling.deny("never")))
			.build();
		this.model.calls(new ToolCall("c1", "function", "wipe", "{}")).says("done");
		ChatClient chat = ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(conversations).approvals(this.approvals).build())
			.defaultAdvisors(new Adding(added))
			.build();
		assertThatExceptionOfType(UnknownToolException.class).isThrownBy(() -> ask(chat, "q"))
			.withMessageContaining("'wipe'");
		assertThat(ran).isEmpty();
	}

	@Test
	void toolThatAnAdvisorAddsBehindTheSessionAdvisorRunsInALaterReplyToo() {
		List<String> ran = new ArrayList<>();
		FunctionToolCallback<?, ?> added = FunctionToolCallback.builder("wipe", (Object nothing) -> {
			ran.add("wipe");
			return "wiped";
		}).description("wipes").inputType(Object.class).build();
		ChatClient chat = chat(Conversations.of(this.store)).mutate()
			.defaultAdvisors(new Around(Ordered.HIGHEST_PRECEDENCE + 280, (request, chain) -> {
				ToolCallingChatOptions options = (ToolCallingChatOptions) request.prompt().getOptions();
				List<ToolCallback> all = new ArrayList<>(options.getToolCallbacks());
				all.add(added);
				return chain.nextCall(new ChatClientRequest(
						new Prompt(request.prompt().getInstructions(), options.mutate().toolCallbacks(all).build()),
						request.context()));
			}))
			.build();
		pause(chat, 1);
		approveAll();
		this.model.calls(new ToolCall("w", "function", "wipe", "{}")).says("done");
		assertThat(ask(chat, null)).isEqualTo("done");
		assertThat(ran).containsExactly("wipe");
	}

	/** Offers a tool, behind the session advisor. */
	private record Adding(ToolCallback tool) implements CallAdvisor, StreamAdvisor {

		@Override
		public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
			return chain.nextCall(with(request));
		}

		@Override
		public Flux<ChatClientResponse> adviseStream(ChatClientRequest request, StreamAdvisorChain chain) {
			return chain.nextStream(with(request));
		}

		private ChatClientRequest with(ChatClientRequest request) {
			ToolCallingChatOptions options = (ToolCallingChatOptions) request.prompt().getOptions();
			return new ChatClientRequest(new Prompt(request.prompt().getInstructions(),
					options.mutate().toolCallbacks(List.of(this.tool)).build()), request.context());
		}

		@Override
		public String getName() {
			return "adding";
		}

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE + 280;
		}

	}

	@Test
	void pauseThatDoesNotTellOfEachOfItsCallsRunsNothing() {
		ChatClient chat = chat(Conversations.of(this.store));
		pause(chat, 1);
		SessionRecord pause = this.store.records(KEY, TurnRecords.PAUSE).get(0);
		Map<String, Object> values = this.store.options().codec().decodeValues(KEY, pause.payload());
		values.put("notes", Map.of());
		this.store.put(KEY, RecordWrite.replace(pause, this.store.options().codec().encodeValues(KEY, values)));
		this.store.records(KEY, Ledger.APPROVAL)
			.forEach((record) -> this.store.put(KEY,
					new RecordWrite(record.kind(), record.id(), record.revision(), null, null)));
		assertThatExceptionOfType(UnreadablePayloadException.class).isThrownBy(() -> ask(chat, null));
		assertThat(this.cancelled).isEmpty();
		this.approvals.cancel(KEY);
		assertThat(Lines.of(this.store.messages(KEY))).hasSize(3);
	}

	@Test
	void retryInsideOfTheLoopIsNoNewBeginning() {
		ChatClient chat = retrying(chat(Conversations.of(this.store)));
		pause(chat, 1);
		approveAll();
		this.model.fails(new IllegalStateException("busy")).says("done");
		assertThat(ask(chat, null)).isEqualTo("done");
		assertThat(this.model.lastRequestLines()).containsExactly("user: q", "assistant cancel({\"id\":1})",
				"tool cancel=\"cancelled 1\"");
		assertThat(Lines.of(this.store.messages(KEY))).containsExactly("user: q", "assistant cancel({\"id\":1})",
				"tool cancel=\"cancelled 1\"", "assistant: done");
		assertThat(this.cancelled).containsExactly(1);
	}

	@Test
	void retryInsideOfTheLoopGoesOnStepByStep() {
		Conversations conversations = Conversations.builder(this.store).durability(Durability.STEP).build();
		ChatClient chat = retrying(ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.of(conversations))
			.defaultToolCallbacks(cancelTool())
			.build());
		this.model.calls(call(1)).fails(new IllegalStateException("busy")).says("done");
		assertThat(ask(chat, "q")).isEqualTo("done");
		assertThat(this.cancelled).containsExactly(1);
		assertThat(Lines.of(this.store.messages(KEY))).hasSize(4);
	}

	@Test
	void hookThatAnswersAQueuedMessageStopsTheCallAndTheTurnCanBeCancelled() {
		AtomicBoolean answers = new AtomicBoolean();
		Conversations conversations = Conversations.builder(this.store).hooks(new SessionHook() {

			@Override
			public HookResult<List<Message>> beforeTurn(HookContext context, List<Message> input) {
				return answers.get() ? HookResult.answer("no") : HookResult.keep();
			}

		}).build();
		this.approvals = queueing(conversations);
		ChatClient chat = chat(conversations);
		pause(chat, 1);
		answers.set(true);
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> ask(chat, "and this"));
		approveAll();
		assertThat(this.store.records(KEY, TurnRecords.LEASE)).isEmpty();
		assertThat(this.approvals.cancel(KEY)).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.CANCELLED);
		assertThat(Lines.of(this.store.messages(KEY))).containsExactly("user: q", "assistant cancel({\"id\":1})",
				"tool cancel=This call was cancelled before it ran.");
		assertThat(this.cancelled).isEmpty();
	}

	@Test
	void threadWhoseTurnWaitsIsNotSummarized() {
		ScriptedChatModel summarizer = new ScriptedChatModel();
		startThread(chat(Conversations.of(this.store)));
		pause(chat(Conversations.of(this.store)), 1);
		Conversations conversations = Conversations.builder(this.store)
			.summarize(Summarize.by(summarizer).mode(Summarize.Mode.BEFORE).triggerMessages(1).keepTurns(0).build())
			.build();
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> ask(chat(conversations), "more"));
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> conversations.get(KEY).summarize(true));
		approveAll();
		this.model.says("done");
		assertThat(ask(chat(conversations), null)).isEqualTo("done");
		assertThat(summarizer.prompts()).isEmpty();
	}

	@Test
	void messagesThatWereQueuedAreKeptWhenTheTurnIsCancelled() {
		Conversations conversations = Conversations.of(this.store);
		this.approvals = queueing(conversations);
		ChatClient chat = chat(conversations);
		pause(chat, 1);
		ask(chat, "and this");
		this.approvals.cancel(KEY);
		assertThat(Lines.of(this.store.messages(KEY))).endsWith("user: and this");
	}

	private Approvals approvals(Conversations conversations) {
		return Approvals.builder(conversations).tools(Set.of("cancel")).build();
	}

	private Approvals ruled(ApprovalPolicy policy) {
		return Approvals.builder(Conversations.of(this.store))
			.policies(List.of(policy))
			.listeners(List.<Consumer<ApprovalEvent>>of(this.events::add))
			.build();
	}

	private Approvals queueing(Conversations conversations) {
		return Approvals.builder(conversations).tools(Set.of("cancel")).onNewMessage(OnNewMessage.QUEUE).build();
	}

	private ChatClient chat(Conversations conversations) {
		Approvals used = this.approvals;
		return ChatClient.builder(this.model)
			.defaultAdvisors(SessionAdvisor.builder(conversations).approvals(used).build())
			.defaultToolCallbacks(cancelTool())
			.build();
	}

	private ToolCallback cancelTool() {
		return FunctionToolCallback.builder("cancel", (Order order) -> {
			this.cancelled.add(order.id());
			this.inTool.get().run();
			return "cancelled " + order.id();
		}).description("cancels").inputType(Order.class).build();
	}

	private static ChatClient retrying(ChatClient chat) {
		return chat.mutate().defaultAdvisors(new Around(Ordered.HIGHEST_PRECEDENCE + 350, (request, chain) -> {
			try {
				return chain.copy(Around.current()).nextCall(request);
			}
			catch (IllegalStateException ex) {
				return chain.copy(Around.current()).nextCall(request);
			}
		})).build();
	}

	private static ChatClient retryingIfTheStoreFails(ChatClient chat) {
		return chat.mutate().defaultAdvisors(new Around(Ordered.HIGHEST_PRECEDENCE + 280, (request, chain) -> {
			try {
				return chain.copy(Around.current()).nextCall(request);
			}
			catch (StoreUnavailableException ex) {
				return chain.copy(Around.current()).nextCall(request);
			}
		})).build();
	}

	private void startThread(ChatClient chat) {
		this.model.says("hello");
		ask(chat, "hi");
	}

	private void pause(ChatClient chat, int id) {
		this.model.calls(call(id));
		assertThat(ask(chat, "q")).isNull();
	}

	/** A call of another user: it is not part of the one that runs here. */
	private static void elsewhere(Runnable call) {
		CompletableFuture.runAsync(call).orTimeout(10, TimeUnit.SECONDS).join();
	}

	private void approveAll() {
		this.approvals.pending(KEY).forEach((call) -> this.approvals.approve(call, "ada"));
	}

	private static String ask(ChatClient chat, String text) {
		ChatClient.ChatClientRequestSpec spec = chat.prompt().advisors(SessionAdvisor.session(KEY));
		return ((text != null) ? spec.user(text) : spec).call().content();
	}

	private static ToolCall call(int id) {
		return new ToolCall("c" + id, "function", "cancel", "{\"id\":" + id + "}");
	}

	private static void await(CountDownLatch latch) {
		Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> latch.getCount() == 0);
	}

	static final class Shop {

		@Tool(description = "sells")
		@RequiresApproval
		String sell() {
			throw new AssertionError("sold unasked");
		}

	}

	/** Runs all calls of a reply at once. */
	private record InParallel(CountDownLatch begun) implements ToolCallingManager {

		@Override
		public List<ToolDefinition> resolveToolDefinitions(ToolCallingChatOptions options) {
			return options.getToolCallbacks().stream().map(ToolCallback::getToolDefinition).toList();
		}

		@Override
		public ToolExecutionResult executeToolCalls(Prompt prompt, ChatResponse response) {
			ToolCallback tool = ((ToolCallingChatOptions) prompt.getOptions()).getToolCallbacks().get(0);
			AssistantMessage reply = response.getResult().getOutput();
			List<CompletableFuture<String>> running = reply.getToolCalls()
				.stream()
				.map((call) -> CompletableFuture.supplyAsync(() -> {
					this.begun.countDown();
					return tool.call(call.arguments());
				}, (work) -> new Thread(work).start()))
				.toList();
			List<Message> history = new ArrayList<>(prompt.getInstructions());
			history.add(reply);
			history.add(ToolResponseMessage.builder()
				.responses(running.stream().map((each) -> new ToolResponse("c1", "cancel", each.join())).toList())
				.build());
			return ToolExecutionResult.builder().conversationHistory(history).build();
		}

	}

	/** Hands all on. */
	private static final class Wrapper implements ToolCallback {

		private final ToolCallback inner;

		Wrapper(ToolCallback inner) {
			this.inner = inner;
		}

		@Override
		public ToolDefinition getToolDefinition() {
			return this.inner.getToolDefinition();
		}

		@Override
		public String call(String input) {
			return this.inner.call(input);
		}

		@Override
		public String call(String input, ToolContext context) {
			return this.inner.call(input, context);
		}

	}

	/** Keeps what it calls in a field that does not say so. */
	private record Keeping(Object inner, ToolDefinition definition) implements ToolCallback {

		@Override
		public ToolDefinition getToolDefinition() {
			return this.definition;
		}

		@Override
		public String call(String input) {
			throw new AssertionError("called unasked");
		}

	}

	/** Does something around the rest of the chain. */
	private static final class Around implements CallAdvisor {

		interface Work {

			ChatClientResponse around(ChatClientRequest request, CallAdvisorChain chain);

		}

		private static final ThreadLocal<Around> current = new ThreadLocal<>();

		private final int order;

		private final Work work;

		Around(int order, Work work) {
			this.order = order;
			this.work = work;
		}

		static Around current() {
			return current.get();
		}

		@Override
		public ChatClientResponse adviseCall(ChatClientRequest request, CallAdvisorChain chain) {
			current.set(this);
			return this.work.around(request, chain);
		}

		@Override
		public String getName() {
			return "Around" + this.order;
		}

		@Override
		public int getOrder() {
			return this.order;
		}

	}

}
