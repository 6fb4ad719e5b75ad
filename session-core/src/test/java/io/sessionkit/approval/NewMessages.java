package io.sessionkit.approval;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.sessionkit.Concurrency;
import io.sessionkit.NothingWaitsException;
import io.sessionkit.Session;
import io.sessionkit.SessionLostException;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.guard.Redactor;
import io.sessionkit.hook.HookFailedException;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.hook.SessionEvent;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitFailedException;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.Page;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.client.AdvisorParams;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The treatment of a message that comes while calls wait, and of a turn that is
 * cancelled.
 */
abstract class NewMessages extends ResumedTurns {

	private static final String CANCELLED = "This call was cancelled before it ran.";

	@ParameterizedTest
	@MethodSource("setups")
	void newMessageCancelsWhatWaitsAndBeginsATurnOfItsOwn(ClientSetup setup) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.CANCEL));
		this.model.calls(cancel("c1", 1), look("c2", 2)).says("a2");
		ask(setup, "q1");
		ToolApproval shown = waiting();
		ChatResponse response = ask(setup, "q2");
		assertThat(status(response)).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).isEmpty();
		assertThat(this.model.prompts()).hasSize(2);
		assertThat(this.model.lastRequestLines())
			.isEqualTo(setup.lines("user: q1", "assistant cancel({\"id\":1}) look({\"id\":2})",
					"tool cancel=" + CANCELLED + " look=" + CANCELLED, "user: q2"));
		assertThat(turns()).containsExactly(TurnStatus.COMPLETED, TurnStatus.COMPLETED);
		assertThat(ledger()).containsOnly(ApprovalStatus.CANCELLED);
		assertCancelledAreTold("c1", "c2");
		assertThatExceptionOfType(DecisionRefusedException.class).isThrownBy(() -> approve(shown));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void regenerationAsksTheQuestionOfTheTurnThatItCancels(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.CANCEL));
		this.model.says("a1").calls(cancel("c1", 1)).says("a2");
		ask(mode, "q1");
		ask(mode, "q2");
		ChatResponse response = regenerate(mode);
		assertThat(status(response)).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "assistant: a1", "user: q2");
		assertThat(log()).containsExactly("user: q1", "assistant: a1", "user: q2", "assistant: a2");
		assertThat(this.runs).isEmpty();
		assertThat(ledger()).containsOnly(ApprovalStatus.CANCELLED);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void regenerationAsksTheQuestionOfTheFirstTurnThatItCancels(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1)).says("a1");
		ask(mode, "q1");
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> regenerate(mode))
			.withMessageEndingWith("No question was asked again.");
		rules((rules) -> rules.onNewMessage(OnNewMessage.CANCEL));
		regenerate(mode);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1");
		assertThat(log()).containsExactly("user: q1", "assistant: a1");
	}

	private ChatResponse regenerate(ClientSetup.Mode mode) {
		return response(setup(mode), client(setup(mode)).build().prompt().advisors(SessionAdvisor.regenerating()));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void queuedMessageGoesBehindTheResultsOnce(ClientSetup setup) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c1", 1)).says("done").says("more");
		ask(setup, "q1");
		ChatResponse queued = ask(setup, "q2");
		assertThat(SessionAdvisor.pending(queued)).isEqualTo(pending());
		assertThat(status(queued)).isEqualTo(TurnStatus.AWAITING_APPROVAL);
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(log()).isEmpty();
		approve(waiting());
		goOn(setup);
		String[] turn = { "user: q1", "assistant cancel({\"id\":1})", "tool cancel=done {\"id\":1}", "user: q2" };
		assertThat(this.model.lastRequestLines()).isEqualTo(setup.lines(turn));
		assertThat(log()).startsWith(turn).hasSize(5).endsWith("assistant: done");
		ask(setup, "q3");
		assertThat(this.model.lastRequestLines()).hasSize(setup.lines().size() + 6).containsOnlyOnce("user: q2");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void messageForATurnInWhichNothingWaitsAnyMoreContinuesIt(ClientSetup setup) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c1", 1), look("c2", 2)).says("done").says("more");
		ask(setup, "q1");
		approve(waiting());
		ChatResponse response = ask(setup, "q2");
		assertThat(status(response)).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).containsExactly("cancel{\"id\":1}", "look{\"id\":2}");
		assertThat(log()).containsExactly("user: q1", "assistant cancel({\"id\":1}) look({\"id\":2})",
				"tool cancel=done {\"id\":1} look=done {\"id\":2}", "user: q2", "assistant: done");
		assertThat(status(ask(setup, "q3"))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(log()).hasSize(7);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void messageForATurnWhoseCallsHaveExpiredContinuesIt(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE).expiresAfter(shortTime()));
		this.model.calls(cancel("c1", 1)).says("done");
		letExpire(SessionAdvisor.pending(ask(mode, "q1")).get(0));
		assertThat(status(ask(mode, "q2"))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).isEmpty();
		assertThat(log()).hasSize(5).endsWith("user: q2", "assistant: done");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void messageIsKeptIfItsCallDoesNotOfferWhatWasApproved(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q1");
		approve(waiting());
		tools(tool("cancel").described("changes them for good"), tool("look"));
		assertThatExceptionOfType(ResumeRefusedException.class).isThrownBy(() -> ask(mode, "q2"))
			.withMessageContaining("Do not send it again")
			.withMessageContaining("Tool 'cancel' has another description")
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasAtLeastOneElementOfType(ResumeRefusedException.class))
			.matches((ex) -> ex.isMessageKept());
		assertThat(this.runs).isEmpty();
		tools(tool("cancel"), tool("look"));
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(log()).hasSize(5).endsWith("user: q2", "assistant: done");
	}

	/** What the store has refused came behind the message. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callWhoseMessageIsKeptSaysSoIfTheStoreFailsThen(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q1");
		approve(waiting());
		AtomicBoolean kept = new AtomicBoolean();
		AtomicBoolean fails = new AtomicBoolean(true);
		observed().afterPut((write) -> kept.compareAndSet(false, write.kind().equals(TurnRecords.PAUSE)));
		observed().beforePut((write) -> {
			if (kept.get() && write.kind().equals(TurnRecords.LEASE) && fails.getAndSet(false)) {
				throw StoreUnavailableException.unwritten("The store is full.", null);
			}
		});
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> ask(mode, "q2"))
			.withMessageContaining("Do not send it again")
			.withMessageEndingWith("The store is full.")
			.matches((ex) -> !ex.isUnwritten() && ex.isMessageKept());
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(log()).hasSize(5).endsWith("user: q2", "assistant: done");
	}

	/** Nothing of it is kept, so it may be sent again. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callWhoseMessageHasGoneWithItsSessionIsNotToldThatItIsKept(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c1", 1));
		ask(mode, "q1");
		approve(waiting());
		observed().afterPut((write) -> {
			if (write.kind().equals(TurnRecords.PAUSE)) {
				thread().erase();
			}
		});
		assertThatExceptionOfType(SessionLostException.class)
			.isThrownBy(() -> response(setup(mode),
					client(setup(mode)).build().prompt().user("q2").advisors(SessionAdvisor.expectTurn(1))))
			.satisfies((ex) -> assertThat(ex.getSuppressed())
				.noneMatch((each) -> each.getMessage().contains("Do not send it again")))
			.matches((ex) -> !ex.isMessageKept());
	}

	/** No call reads it before the turn continues. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callIsToldThatItsMessageMayBeKeptIfTheAnswerOfTheStoreIsLost(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q1");
		observed().afterPut((write) -> {
			if (write.kind().equals(TurnRecords.PAUSE)) {
				throw new StoreUnavailableException("The answer was lost.", null);
			}
		});
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> ask(mode, "q2"))
			.withMessageContainingAll("unknown whether the message is kept", "idempotency key")
			.withMessageEndingWith("The answer was lost.");
		observed().afterPut((write) -> {
		});
		observed().beforePut((write) -> {
			if (write.kind().equals(TurnRecords.PAUSE)) {
				throw StoreUnavailableException.unwritten("The store is full.", null);
			}
		});
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> ask(mode, "q3"))
			.withMessage("The store is full.")
			.matches(StoreUnavailableException::isUnwritten);
		observed().beforePut((write) -> {
		});
		approve(waiting());
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(log()).hasSize(5).endsWith("user: q2", "assistant: done");
	}

	/** Somebody else gets the answer; the message is in it. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void messageIsQueuedOnceIfAnotherCallContinuesTheTurnAtThatMoment(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q1");
		approve(waiting());
		AtomicBoolean first = new AtomicBoolean(true);
		observed().afterPut((write) -> {
			if (write.kind().equals(TurnRecords.PAUSE) && first.getAndSet(false)) {
				goOn(ClientSetup.Mode.CALL);
			}
		});
		ChatResponse queued = ask(mode, "q2");
		assertThat(SessionAdvisor.pending(queued)).isEmpty();
		assertThat(queued.getResult().getMetadata().getFinishReason()).isEqualTo("approvalRequired");
		assertThat(log()).hasSize(5).endsWith("user: q2", "assistant: done");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void messageForATurnInWhichNothingWaitsIsQueuedWhereNoToolLoopRuns(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q1");
		approve(waiting());
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE).tools(Set.of()));
		ChatResponse queued = setup(mode).response(client(setup(mode)).build()
			.prompt()
			.user("q2")
			.advisors(AdvisorParams.toolCallingAdvisorAutoRegister(false))
			.advisors(SessionAdvisor.session(this.key)));
		assertThat(status(queued)).isEqualTo(TurnStatus.AWAITING_APPROVAL);
		goOn(mode);
		assertThat(log()).hasSize(5).endsWith("user: q2", "assistant: done");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void severalQueuedMessagesKeepTheirOrderAndOutliveAFailingModel(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c1", 1)).fails(new IllegalStateException("down")).says("done");
		ask(mode, "q1");
		ask(mode, "q2");
		ask(mode, "q3");
		approve(waiting());
		assertThatIllegalStateException().isThrownBy(() -> goOn(mode)).withMessage("down");
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "assistant cancel({\"id\":1})",
				"tool cancel=done {\"id\":1}", "user: q2", "user: q3");
		assertThat(log()).hasSize(6).containsOnlyOnce("user: q2", "user: q3");
		assertThat(this.runs).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void queuedMessageGoesBehindAllResultsOfAPartlyDecidedReply(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE).siblings(SiblingRule.RUN));
		this.model.calls(cancel("c1", 1), look("c2", 2), cancel("c3", 3)).says("done");
		ask(mode, "q1");
		approve(pending().get(0));
		goOn(mode);
		ask(mode, "q2");
		reject(waiting());
		goOn(mode);
		assertThat(this.model.lastRequestLines())
			.endsWith("tool cancel=done {\"id\":1} look=done {\"id\":2} cancel=not today", "user: q2");
		assertThat(this.runs).containsExactly("look{\"id\":2}", "cancel{\"id\":1}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void queuedMessageBringsAResultThatReturnsDirectlyToTheModel(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		tools(tool("cancel").direct(), tool("look"));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q1");
		ask(mode, "q2");
		approve(waiting());
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=done {\"id\":1}", "user: q2");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void queuedMessageGoesOnWithTheFirstResultsIfTheTurnPausesAgain(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c1", 1)).calls(cancel("c2", 2)).says("done");
		ask(mode, "q1");
		ask(mode, "q2");
		approve(waiting());
		assertThat(isPaused(goOn(mode))).isTrue();
		approve(waiting());
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(this.model.lastRequestLines()).containsExactly("user: q1", "assistant cancel({\"id\":1})",
				"tool cancel=done {\"id\":1}", "user: q2", "assistant cancel({\"id\":2})",
				"tool cancel=done {\"id\":2}");
		assertThat(log()).hasSize(7).containsOnlyOnce("user: q2");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void queuedMessageThatAHookRefusesLetsTheTurnWaitOn(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		threads((threads) -> threads.hooks(TestHooks.beforeTurn("polite",
				(input) -> input.contains(new UserMessage("damn")) ? HookResult.refuse("rude") : HookResult.keep())));
		this.model.calls(cancel("c1", 1));
		ask(mode, "q1");
		assertThatExceptionOfType(SessionRefusedException.class).isThrownBy(() -> ask(mode, "damn"));
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(texts()).doesNotContain("damn");
		approve(waiting());
		this.model.says("done");
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(log()).hasSize(4).endsWith("assistant: done");
	}

	/** Its turn could not become history before the one that waits. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void messageThatAHookAnswersIsNotQueuedButRefused(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		threads((threads) -> threads.hooks(TestHooks.beforeTurn("cached",
				(input) -> input.contains(new UserMessage("hello")) ? HookResult.answer("hi") : HookResult.keep())));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q1");
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> ask(mode, "hello"))
			.withMessageContaining("A hook has answered the new message");
		assertThat(texts()).doesNotContain("hello");
		approve(waiting());
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(log()).hasSize(4);
		ask(mode, "hello");
		assertThat(log()).endsWith("user: hello", "assistant: hi");
	}

	/** It would be answered with the history of the other branch. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void messageForAnotherBranchThanThatOfTheTurnIsNotQueued(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		branched(mode);
		askOn(mode, "aside", "q1");
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> ask(mode, "q2"))
			.withMessageContainingAll("on branch 'aside'", "for branch 'main'", "It was not stored");
		approvals().cancel(this.key);
		this.model.calls(cancel("c2", 2));
		ask(mode, "q3");
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> askOn(mode, "aside", "q4"))
			.withMessageContainingAll("on branch 'main'", "for branch 'aside'");
		assertThat(texts()).doesNotContain("q2", "q4");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void messageForTheBranchOfTheTurnIsQueuedAlthoughAnotherOneIsActive(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		branched(mode);
		askOn(mode, "aside", "q1");
		assertThat(SessionAdvisor.pending(askOn(mode, "aside", "q2"))).isEqualTo(pending());
		approve(waiting());
		this.model.says("done");
		assertThat(status(askOn(mode, "aside", "q3"))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q0", "assistant: a0", "user: q1",
				"assistant cancel({\"id\":1})", "tool cancel=done {\"id\":1}", "user: q2", "user: q3");
		assertThat(log()).containsExactly("user: q0", "assistant: a0");
		thread().switchTo("aside");
		assertThat(log()).hasSize(8).endsWith("user: q2", "user: q3", "assistant: done");
	}

	/** Its tools would run for a page that shows another branch. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callWithoutAMessageThatNamesAnotherBranchDoesNotContinueTheTurn(ClientSetup.Mode mode) {
		branched(mode);
		askOn(mode, "aside", "q1");
		approve(waiting());
		assertThatExceptionOfType(NothingWaitsException.class).isThrownBy(() -> goOnAt(mode, Session.MAIN))
			.withMessageContainingAll("on branch 'main'", "number 2, is 'aside'");
		assertThat(this.runs).isEmpty();
		this.model.says("done");
		assertThat(status(goOnAt(mode, "aside"))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callWithoutAMessageThatNamesAnotherBranchDoesNotAskTheQuestionOfTheActiveOne(ClientSetup.Mode mode) {
		branched(mode, (model) -> model.says("again"));
		thread().pop();
		assertThatExceptionOfType(NothingWaitsException.class).isThrownBy(() -> goOnAt(mode, "aside"))
			.withMessageContainingAll("on branch 'aside'", "the active branch is 'main'");
		assertThat(this.model.prompts()).hasSize(1);
		goOnAt(mode, Session.MAIN);
		assertThat(log()).containsExactly("user: q0", "assistant: again");
	}

	private void branched(ClientSetup.Mode mode) {
		branched(mode, (model) -> model.calls(cancel("c1", 1)));
	}

	private void branched(ClientSetup.Mode mode, Consumer<ScriptedChatModel> next) {
		this.model.says("a0");
		ask(mode, "q0");
		thread().branch("aside");
		thread().switchTo(Session.MAIN);
		next.accept(this.model);
	}

	private ChatResponse askOn(ClientSetup.Mode mode, String branch, String text) {
		return response(setup(mode),
				client(setup(mode)).build().prompt().user(text).advisors(SessionAdvisor.branch(branch)));
	}

	private ChatResponse goOnAt(ClientSetup.Mode mode, String branch) {
		return response(setup(mode), client(setup(mode)).build().prompt().advisors(SessionAdvisor.branch(branch)));
	}

	/** A process without hooks has queued it. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void queuedMessageThatNoHookWasAskedAboutIsRefusedWhenTheTurnGoesOn(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c1", 1));
		ask(mode, "q1");
		ask(mode, "damn");
		threads((threads) -> threads.hooks(TestHooks.beforeTurn("polite",
				(input) -> input.contains(new UserMessage("damn")) ? HookResult.refuse("rude") : HookResult.keep())));
		approve(waiting());
		assertThatExceptionOfType(SessionRefusedException.class).isThrownBy(() -> goOn(mode));
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(this.runs).isEmpty();
	}

	/** What is refused is the message before it. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callWhoseMessageIsKeptSaysSoIfAHookRefusesThen(ClientSetup.Mode mode) {
		queuedUnasked(mode);
		threads((threads) -> threads.hooks(TestHooks.beforeTurn("polite",
				(input) -> input.contains(new UserMessage("damn")) ? HookResult.refuse("rude") : HookResult.keep())));
		assertThatExceptionOfType(SessionRefusedException.class).isThrownBy(() -> ask(mode, "q2"))
			.withMessageContaining("Do not send it again")
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasAtLeastOneElementOfType(SessionRefusedException.class))
			.matches((ex) -> ex.hook().equals("polite") && ex.reason().equals("rude") && ex.isMessageKept());
		threads((threads) -> {
		});
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(log()).hasSize(6).endsWith("user: damn", "user: q2", "assistant: done");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callWhoseMessageIsKeptSaysSoIfAHookHasAnErrorThen(ClientSetup.Mode mode) {
		queuedUnasked(mode);
		AssertionError broken = new AssertionError("broken");
		threads((threads) -> threads.hooks(TestHooks.beforeTurn("broken", (input) -> {
			if (input.contains(new UserMessage("damn"))) {
				throw broken;
			}
			return HookResult.keep();
		})));
		assertThatThrownBy(() -> ask(mode, "q2")).hasStackTraceContaining("AssertionError: broken");
		saysThatItIsKept(broken);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callWhoseMessageIsKeptSaysSoIfAHookOrTheMergeThrowsThen(ClientSetup.Mode mode) {
		queuedUnasked(mode);
		IllegalArgumentException broken = new IllegalArgumentException("broken");
		threads((threads) -> threads.hooks(TestHooks.beforeTurn("broken", (input) -> {
			if (input.contains(new UserMessage("damn"))) {
				throw broken;
			}
			return HookResult.keep();
		})));
		assertThatThrownBy(() -> ask(mode, "q2")).isSameAs(broken).satisfies(NewMessages::saysThatItIsKept);
		IllegalArgumentException apart = new IllegalArgumentException("apart");
		AtomicInteger merges = new AtomicInteger();
		threads((threads) -> threads.merge((context, history, input) -> {
			merges.incrementAndGet();
			throw apart;
		}));
		assertThatThrownBy(() -> ask(mode, "q3")).isSameAs(apart).satisfies(NewMessages::saysThatItIsKept);
		assertThat(merges).hasValue(1);
		threads((threads) -> {
		});
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(log()).hasSize(7).endsWith("user: damn", "user: q2", "user: q3", "assistant: done");
	}

	/** Nobody else continues this turn, so the call must not end as if it were queued. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callWhoseMessageIsKeptSaysSoIfAHookFindsAnotherSessionBusyThen(ClientSetup.Mode mode) {
		queuedUnasked(mode);
		TurnInProgressException busy = new TurnInProgressException("Another session is busy.");
		threads((threads) -> threads.hooks(TestHooks.beforeTurn("calling", (input) -> {
			if (input.contains(new UserMessage("damn"))) {
				throw busy;
			}
			return HookResult.keep();
		})));
		assertThatThrownBy(() -> ask(mode, "q2")).isSameAs(busy).satisfies(NewMessages::saysThatItIsKept);
		threads((threads) -> {
		});
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(log()).hasSize(6).endsWith("user: damn", "user: q2", "assistant: done");
	}

	/** The call would hold the place in line that the other one needs. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callOfAListenerDoesNotWaitForTheCallThatCouldNotContinueTheTurn(ClientSetup.Mode mode) {
		queuedUnasked(mode);
		threads((threads) -> threads.hooks(TestHooks.beforeTurn("polite",
				(input) -> input.contains(new UserMessage("damn")) ? HookResult.refuse("rude") : HookResult.keep())));
		List<Throwable> thrown = new CopyOnWriteArrayList<>();
		SessionListener listener = new SessionListener() {

			@Override
			public void failed(SessionEvent.Failed event) {
				thrown.add(catchThrowable(() -> response(setup(mode),
						client(setup(mode)).build()
							.prompt()
							.user("q2")
							.advisors(SessionAdvisor.concurrency(Concurrency.REJECT)))));
			}

		};
		assertThatExceptionOfType(SessionRefusedException.class).isThrownBy(() -> response(setup(mode),
				client(setup(mode)).build()
					.prompt()
					.advisors(SessionAdvisor.concurrency(Concurrency.REJECT))
					.advisors(SessionAdvisor.listener(listener))));
		assertThat(thrown).singleElement()
			.isInstanceOf(SessionRefusedException.class)
			.satisfies((ex) -> assertThat(ex).hasMessageContaining("Do not send it again"));
	}

	/** It could not become history before the one that waits. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void callWhoseMessageIsKeptSaysSoIfAHookAnswersThen(ClientSetup.Mode mode) {
		queuedUnasked(mode);
		threads((threads) -> threads.hooks(TestHooks.beforeTurn("cached",
				(input) -> input.contains(new UserMessage("damn")) ? HookResult.answer("hi") : HookResult.keep())));
		assertThatIllegalStateException().isThrownBy(() -> ask(mode, "q2")).satisfies(NewMessages::saysThatItIsKept);
	}

	/** A process without hooks has queued a message, and nothing waits any more. */
	private void queuedUnasked(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q1");
		ask(mode, "damn");
		approve(waiting());
	}

	private static void saysThatItIsKept(Throwable ex) {
		assertThat(ex.getSuppressed()).extracting(Throwable::getMessage)
			.anyMatch((message) -> message.contains("Do not send it again"));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void whatARedactorTakesOutIsNotInTheStoreWhileAMessageIsQueued(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		AtomicInteger asked = new AtomicInteger();
		threads((threads) -> threads.hooks(Redactor.builder().cards(Redactor.Action.REDACT).build(),
				TestHooks.beforeTurn("marking", (input) -> {
					asked.incrementAndGet();
					return HookResult.replace(List.of(new UserMessage(input.get(0).getText() + "!")));
				})));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q1");
		ask(mode, "my card is 4111 1111 1111 1111");
		ask(mode, "and this");
		// spaces, since a revision may have the digits
		assertThat(texts()).doesNotContain("4111 1111").contains("my card is [card]!");
		approve(waiting());
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(log()).containsExactly("user: q1!", "assistant cancel({\"id\":1})", "tool cancel=done {\"id\":1}",
				"user: my card is [card]!", "user: and this!", "assistant: done");
		assertThat(asked).hasValue(3);
		assertThat(store().turns(this.key, Tail.ALL).get(0).verdicts()).extracting(Verdict::hook)
			.contains("marking", "Redactor");
	}

	/**
	 * The attribute that it writes belongs to the moment when the message joins the turn.
	 */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void hookThatWritesAnAttributeIsAskedAgainAboutWhatItHasLeftOfAQueuedMessage(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		List<String> asked = new ArrayList<>();
		SessionContext context = new SessionContext();
		threads((threads) -> threads.hooks(TestHooks.beforeTurn("counting", (input) -> {
			String text = String.valueOf(input.get(0).getText());
			asked.add(text);
			context.putAttribute("count", context.attribute("count", Integer.class).orElse(0) + 1);
			return HookResult.replace(List.of(new UserMessage(text.replace("secret", "?"))));
		})));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q1");
		ask(mode, "a secret");
		ask(mode, "and this");
		assertThat(texts()).doesNotContain("secret");
		approve(waiting());
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(asked).containsExactly("q1", "a secret", "and this", "a ?", "and this");
		assertThat(thread().attributes()).containsEntry("count", 3);
		assertThat(log()).endsWith("user: a ?", "user: and this", "assistant: done");
	}

	/** A queued message becomes part of the turn that continues. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void hookForgetsMessagesForAQueuedMessageWhenTheTurnContinues(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.says("a1").calls(cancel("c1", 1)).says("done");
		ask(mode, "q1");
		ask(mode, "q2");
		ask(mode, "start over");
		SessionContext context = new SessionContext();
		threads((threads) -> threads.hooks(TestHooks.beforeTurn("forgetting", (input) -> {
			context.forget(0, context.history().size());
			return HookResult.keep();
		})));
		approve(waiting());
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(log()).containsExactly("user: q2", "assistant cancel({\"id\":1})", "tool cancel=done {\"id\":1}",
				"user: start over", "assistant: done");
	}

	/** It may be queued and never become part of the turn. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void hookForgetsNothingForAMessageThatIsBeingQueued(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.says("a1").calls(cancel("c1", 1));
		ask(mode, "q1");
		ask(mode, "q2");
		SessionContext context = new SessionContext();
		threads((threads) -> threads.hooks(TestHooks.beforeTurn("forgetting", (input) -> {
			context.forget(0, context.history().size());
			return HookResult.keep();
		})));
		assertThatIllegalStateException().isThrownBy(() -> ask(mode, "start over"))
			.withMessageContaining("cannot forget");
	}

	/** A new version of the application has it. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void hookThatIsNewIsAskedAboutAQueuedMessageAndNoOtherIs(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		List<String> asked = new ArrayList<>();
		SessionHook old = noting("old", asked);
		threads((threads) -> threads.hooks(old));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "q1");
		ask(mode, "q2");
		asked.clear();
		threads((threads) -> threads.hooks(old, noting("new", asked)));
		approve(waiting());
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(asked).containsExactly("new q2");
	}

	@Test
	void hookThatIsNewIsAskedAboutEachOfTheMessagesThatWereQueuedWithoutHooks() {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		List<String> asked = new ArrayList<>();
		this.model.calls(cancel("c1", 1)).says("done");
		ask(ClientSetup.Mode.CALL, "q1");
		ask(ClientSetup.Mode.CALL, "q2");
		ask(ClientSetup.Mode.CALL, "q3");
		threads((threads) -> threads.hooks(noting("new", asked)));
		approve(waiting());
		goOn(ClientSetup.Mode.CALL);
		assertThat(asked).containsExactly("new q2", "new q3");
	}

	/** Nobody knows which of them was asked. */
	@Test
	void allHooksOfANameAreAskedIfThereAreMoreThanWereAsked() {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		List<String> asked = new ArrayList<>();
		SessionHook guard = noting("guard", asked);
		threads((threads) -> threads.hooks(guard, guard));
		this.model.calls(cancel("c1", 1)).calls(cancel("c2", 2)).says("done");
		ask(ClientSetup.Mode.CALL, "q1");
		ask(ClientSetup.Mode.CALL, "q2");
		approve(waiting());
		asked.clear();
		goOn(ClientSetup.Mode.CALL);
		assertThat(asked).isEmpty();
		ask(ClientSetup.Mode.CALL, "q3");
		approve(waiting());
		asked.clear();
		threads((threads) -> threads.hooks(guard, guard, guard));
		goOn(ClientSetup.Mode.CALL);
		assertThat(asked).containsExactly("guard q3", "guard q3", "guard q3");
	}

	private static SessionHook noting(String name, List<String> asked) {
		return TestHooks.beforeTurn(name, (input) -> {
			asked.add(name + " " + input.get(0).getText());
			return HookResult.keep();
		});
	}

	/** Returns the stored form of what a waiting turn needs to continue. */
	private String texts() {
		return store().records(this.key, TurnRecords.PAUSE).toString();
	}

	private void assertCancelledAreTold(String... calls) {
		assertThat(this.events).filteredOn(ApprovalEvent.Cancelled.class::isInstance)
			.extracting((event) -> event.approval().callId() + " " + event.approval().status())
			.containsExactly(Stream.of(calls).map((call) -> call + " CANCELLED").toArray(String[]::new));
	}

	@Test
	void cancelledTurnIsHistoryWithoutTheModel() {
		this.model.calls(cancel("c1", 1), look("c2", 2), cancel("c3", 3)).says("a2");
		ask(ClientSetup.Mode.CALL, "q1");
		reject(pending().get(0));
		List<ToolApproval> ended = approvals().cancel(this.key);
		assertThat(ended).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.REJECTED, ApprovalStatus.CANCELLED, ApprovalStatus.CANCELLED);
		assertThat(approvals().cancel(this.key)).isEmpty();
		assertCancelledAreTold("c2", "c3");
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(this.runs).isEmpty();
		assertThat(log()).last().isEqualTo("tool cancel=not today look=" + CANCELLED + " cancel=" + CANCELLED);
		assertThat(turns()).containsExactly(TurnStatus.COMPLETED);
		ask(ClientSetup.Mode.CALL, "q2");
		assertThat(this.model.lastRequestLines()).hasSize(4).endsWith("user: q2");
	}

	/**
	 * They were queued before there was a hook. What it writes for them goes with them.
	 */
	@Test
	void messagesThatAHookRefusesOrAnswersAreLeftOutOfACancelledTurnAndNoOthers() {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c1", 1));
		List.of("q1", "first", "damn", "hello", "last").forEach((text) -> ask(ClientSetup.Mode.CALL, text));
		SessionContext context = new SessionContext();
		threads((threads) -> threads.hooks(TestHooks.beforeTurn("polite", (input) -> {
			context.putAttribute("count", context.attribute("count", Integer.class).orElse(0) + 1);
			return switch (String.valueOf(input.get(0).getText())) {
				case "damn" -> HookResult.refuse("rude");
				case "hello" -> HookResult.answer("hi");
				default -> HookResult.keep();
			};
		})));
		approvals().cancel(this.key);
		assertThat(log()).endsWith("tool cancel=" + CANCELLED, "user: first", "user: last");
		assertThat(thread().attributes()).containsEntry("count", 2);
		assertThat(turns()).containsExactly(TurnStatus.COMPLETED);
	}

	/** Its messages are nowhere else. */
	@Test
	void turnThatIsCancelledWaitsOnIfAHookFailsOnItsQueuedMessages() {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c1", 1));
		List.of("q1", "q2", "q3").forEach((text) -> ask(ClientSetup.Mode.CALL, text));
		Verdict ofAnother = new Verdict("inner", Verdict.Phase.BEFORE_TURN, Verdict.Kind.REFUSED, "no");
		for (RuntimeException failure : List.of(new IllegalStateException("timeout"),
				new SessionRefusedException("of a call that the hook has made", ofAnother))) {
			threads((threads) -> threads.hooks(TestHooks.beforeTurn("moderation", (input) -> {
				throw failure;
			})));
			assertThatThrownBy(() -> approvals().cancel(this.key)).isSameAs(failure);
			assertThat(turns()).containsExactly(TurnStatus.AWAITING_APPROVAL);
			assertThat(ledger()).containsExactly(ApprovalStatus.PROPOSED);
			assertThat(store().records(this.key, TurnRecords.LEASE)).isEmpty();
		}
		threads((threads) -> threads.hooks(List.of()));
		approvals().cancel(this.key);
		assertThat(log()).endsWith("tool cancel=" + CANCELLED, "user: q2", "user: q3");
	}

	/** Nobody could decide on the calls any more, and the turn would wait on. */
	@Test
	void turnThatIsCancelledWaitsOnWithItsCallsAsTheyAreIfItsEndIsNotStored() {
		this.model.calls(cancel("c1", 1), cancel("c2", 2));
		ask(ClientSetup.Mode.CALL, "q1");
		approve(pending().get(0));
		threads((threads) -> threads.hooks(TestHooks.beforeSave("moderation", (turn) -> {
			throw new IllegalStateException("down");
		})));
		assertThatExceptionOfType(HookFailedException.class).isThrownBy(() -> approvals().cancel(this.key));
		assertThat(ledger()).containsExactly(ApprovalStatus.APPROVED, ApprovalStatus.PROPOSED);
		threads((threads) -> {
		});
		observed().beforeCommit(() -> {
			throw StoreUnavailableException.unwritten("The store is full.", null);
		});
		assertThatExceptionOfType(CommitFailedException.class).isThrownBy(() -> approvals().cancel(this.key))
			.matches(CommitFailedException::isUnwritten);
		assertThat(ledger()).containsExactly(ApprovalStatus.APPROVED, ApprovalStatus.PROPOSED);
		assertThat(turns()).containsExactly(TurnStatus.AWAITING_APPROVAL);
		observed().beforeCommit(() -> {
		});
		assertThat(approvals().cancel(this.key)).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.CANCELLED, ApprovalStatus.CANCELLED);
		assertThat(turns()).containsExactly(TurnStatus.COMPLETED);
		assertThat(this.runs).isEmpty();
	}

	/** The queued message is the last one of the turn, and not its question. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void questionOfACancelledTurnWithAQueuedMessageIsNotAskedAgain(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE).siblings(SiblingRule.RUN));
		this.model.calls(cancel("c1", 1), look("c2", 2)).says("no");
		ask(mode, "q1");
		ask(mode, "q2");
		approvals().cancel(this.key);
		assertThat(log()).endsWith("tool cancel=" + CANCELLED + " look=done {\"id\":2}", "user: q2");
		assertThatToolsWereCalledAlready(mode);
		assertThat(this.runs).containsExactly("look{\"id\":2}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void questionOfATurnWithToolsIsNotAskedAgainAfterItsAnswerWasPopped(ClientSetup.Mode mode) {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c1", 1)).says("done").says("no");
		ask(mode, "q1");
		ask(mode, "q2");
		approve(waiting());
		assertThat(answer(mode)).isEqualTo("done");
		thread().pop();
		assertThat(log()).endsWith("user: q2");
		assertThatToolsWereCalledAlready(mode);
		thread().pop();
		assertThat(log()).endsWith("tool cancel=done {\"id\":1}");
		assertThatToolsWereCalledAlready(mode);
		assertThat(this.runs).hasSize(1);
	}

	private void assertThatToolsWereCalledAlready(ClientSetup.Mode mode) {
		int prompts = this.model.prompts().size();
		assertThatExceptionOfType(NothingWaitsException.class).isThrownBy(() -> goOn(mode))
			.withMessageContainingAll("no open turn", "its tools were called already", "regenerating()");
		assertThat(this.model.prompts()).hasSize(prompts);
	}

	@Test
	void cancelKeepsWhatHasRun() {
		rules((rules) -> rules.siblings(SiblingRule.RUN));
		this.model.calls(cancel("c1", 1), look("c2", 2));
		ask(ClientSetup.Mode.CALL, "q1");
		assertThat(approvals().cancel(this.key)).extracting(ToolApproval::status)
			.containsExactly(ApprovalStatus.CANCELLED, ApprovalStatus.DONE);
		assertThat(log()).last().isEqualTo("tool cancel=" + CANCELLED + " look=done {\"id\":2}");
		assertThat(this.runs).containsExactly("look{\"id\":2}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void nobodyMovesTheThreadOnWhileItsTurnWaits(ClientSetup.Mode mode) {
		this.model.says("a0").calls(cancel("c1", 1)).says("done");
		ask(mode, "q0");
		ask(mode, "q1");
		approvals().decide(waiting(), Decision.approve("anna"));
		Conversation thread = thread();
		List<ThrowingCallable> refused = List.of(() -> store().add(this.key, List.of(new UserMessage("imported"))),
				() -> thread.delete(1), () -> thread.delete(Set.of(1L, 2L)), () -> store().pop(this.key),
				() -> store().commit(Commit.any(this.key).header(HeaderChange.NONE.head(Session.MAIN, 0))));
		for (ThrowingCallable change : refused) {
			assertThatExceptionOfType(TurnOpenException.class).isThrownBy(change)
				.withMessageContaining("Approvals.cancel");
		}
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(this.runs).containsExactly("cancel{\"id\":1}");
		assertThat(log()).startsWith("user: q0", "assistant: a0", "user: q1").endsWith("assistant: done");
		assertThat(thread.delete(1)).isEqualTo(2);
	}

	@Test
	void storeErasesASessionWhoseTurnWaits() {
		this.model.calls(cancel("c1", 1));
		ask(ClientSetup.Mode.CALL, "q1");
		thread().erase();
		assertThat(store().find(this.key)).isEmpty();
		assertThat(pending()).isEmpty();
		assertThat(approvals().pendingOf(this.key.owner(), Page.first(10))).isEmpty();
	}

	@Test
	void threadMovesOnOnceItsTurnWasCancelled() {
		this.model.calls(cancel("c1", 1));
		ask(ClientSetup.Mode.CALL, "q1");
		approvals().cancel(this.key);
		store().add(this.key, List.of(new UserMessage("imported")));
		assertThat(log()).hasSize(4).endsWith("user: imported");
		assertThat(turns()).containsExactly(TurnStatus.COMPLETED, TurnStatus.COMPLETED);
	}

}
