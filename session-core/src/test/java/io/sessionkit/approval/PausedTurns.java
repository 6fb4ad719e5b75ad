package io.sessionkit.approval;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

import io.sessionkit.SessionKey;
import io.sessionkit.TokenUsage;
import io.sessionkit.Turn;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionContext;
import io.sessionkit.hook.SessionEvent;
import io.sessionkit.hook.SessionListener;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.internal.approval.Pause;
import io.sessionkit.store.Page;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.tool.execution.ToolExecutionException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The view of callers, readers and other writers on a turn that waits.
 */
abstract class PausedTurns extends DeclaredApprovals {

	static List<ClientSetup> setups() {
		return ClientSetup.all().stream().filter(ClientSetup::system).toList();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void pauseHasNoTextAndSaysWhatWaits(ClientSetup.Mode mode) {
		rules((rules) -> rules.version("prompt-3").traceIds(() -> "trace-1"));
		this.model.calls(cancel("c1", 1), look("c2", 2), cancel("c3", 3));
		ChatResponse response = response(setup(mode),
				client(setup(mode)).build().prompt().user("q").advisors(SessionAdvisor.agent("clerk")));
		assertThat(response.getResult().getOutput().getText()).isNull();
		assertThat(response.getResult().getMetadata().getFinishReason()).isEqualTo(Pause.FINISH_REASON);
		assertThat(response.hasToolCalls()).isFalse();
		assertThat(status(response)).isEqualTo(TurnStatus.AWAITING_APPROVAL);
		assertResultIsWhole(response);
		List<ToolApproval> pending = SessionAdvisor.pending(response);
		assertThat(pending).extracting(ToolApproval::arguments).containsExactly("{\"id\":1}", "{\"id\":3}");
		assertThat(pending).isEqualTo(pending());
		ToolApproval call = pending.get(1);
		assertThat(call.key()).isEqualTo(this.key);
		assertThat(call.agent()).isEqualTo("clerk");
		assertThat(call.tool()).isEqualTo("cancel");
		assertThat(call.callId()).isEqualTo("c3");
		assertThat(call.index()).isEqualTo(2);
		assertThat(call.round()).isEqualTo(1);
		assertThat(call.status()).isEqualTo(ApprovalStatus.PROPOSED);
		assertThat(call.digest()).hasSize(64).isNotEqualTo(pending.get(0).digest());
		assertThat(call.expiresAt()).isNull();
		assertThat(call.requirements().version()).isEqualTo("prompt-3");
		assertThat(call.requirements().traceId()).isEqualTo("trace-1");
		assertThat(call.requirements().schema()).contains("integer");
		assertThat(call.requirements().toolDigest()).isEqualTo(turn(1).tools().get("cancel"));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void contentOfAPauseIsNullOrNothing(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1));
		assertThat(setup(mode)
			.content(client(setup(mode)).build().prompt().user("q").advisors(SessionAdvisor.session(this.key))))
			.isEqualTo((mode == ClientSetup.Mode.CALL) ? null : "");
	}

	@Test
	void entityOfAPauseIsNull() {
		this.model.calls(cancel("c1", 1));
		assertThat(chat().prompt().user("q").advisors(SessionAdvisor.session(this.key)).call().entity(Order.class))
			.isNull();
		assertThat(waiting().tool()).isEqualTo("cancel");
	}

	@Test
	void streamDeliversTheTextBeforeThePauseAndThenOneLastChunk() {
		this.model.responds(this.model.chunk("let me ", List.of(), false), this.model.chunk("see", List.of(), false),
				this.model.chunk("", List.of(cancel("c1", 1)), true));
		List<ChatResponse> chunks = Objects.requireNonNull(client(ClientSetup.streaming()).build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(this.key))
			.stream()
			.chatResponse()
			.collectList()
			.block());
		ChatResponse last = chunks.remove(chunks.size() - 1);
		assertThat(chunks).extracting((chunk) -> chunk.getResult().getOutput().getText())
			.containsExactly("let me ", "see");
		assertThat(chunks).noneMatch(ApprovalFixture::isPaused)
			.noneMatch((chunk) -> SessionAdvisor.turn(chunk).isPresent());
		assertThat(last.getResult().getOutput().getText()).isNull();
		assertThat(last.getResult().getMetadata().getFinishReason()).isEqualTo(Pause.FINISH_REASON);
		assertThat(SessionAdvisor.pending(last)).hasSize(1);
		assertThat(status(last)).isEqualTo(TurnStatus.AWAITING_APPROVAL);
		assertThat(last.getMetadata().getUsage().getTotalTokens()).isEqualTo(15);
		approve(waiting());
		this.model.says("done");
		goOn(ClientSetup.Mode.STREAM);
		assertThat(log()).element(1).isEqualTo("assistant: let me see cancel({\"id\":1})");
	}

	@ParameterizedTest
	@MethodSource("setups")
	void siblingsAreHeldUntilAllIsDecided(ClientSetup setup) {
		this.model.calls(look("c1", 1), cancel("c2", 2), look("c3", 3)).says("done");
		ask(setup, "q");
		assertThat(this.runs).isEmpty();
		approve(waiting());
		goOn(setup);
		assertThat(this.runs).containsExactly("look{\"id\":1}", "cancel{\"id\":2}", "look{\"id\":3}");
		assertThat(this.model.lastRequestLines())
			.isEqualTo(setup.lines("user: q", "assistant look({\"id\":1}) cancel({\"id\":2}) look({\"id\":3})",
					"tool look=done {\"id\":1} cancel=done {\"id\":2} look=done {\"id\":3}"));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void siblingsRunFirstWhereTheyAreToldToAndTheirResultsAreKept(ClientSetup setup) {
		rules((rules) -> rules.siblings(SiblingRule.RUN));
		this.model.calls(look("c1", 1), cancel("c2", 2), look("c3", 3)).says("done");
		assertThat(isPaused(ask(setup, "q"))).isTrue();
		assertThat(this.runs).containsExactly("look{\"id\":1}", "look{\"id\":3}");
		approve(waiting());
		assertThat(isPaused(goOn(setup))).isFalse();
		assertThat(this.runs).containsExactly("look{\"id\":1}", "look{\"id\":3}", "cancel{\"id\":2}");
		assertThat(this.model.prompts()).hasSize(2);
		assertThat(this.model.lastRequestLines())
			.isEqualTo(setup.lines("user: q", "assistant look({\"id\":1}) cancel({\"id\":2}) look({\"id\":3})",
					"tool look=done {\"id\":1} cancel=done {\"id\":2} look=done {\"id\":3}"));
	}

	/** The call that continues the turn says it again. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void listenersHearOfASiblingThatRunsBeforeThePauseWhenItRuns(ClientSetup.Mode mode) {
		rules((rules) -> rules.siblings(SiblingRule.RUN));
		ToolListener listener = new ToolListener();
		threads((threads) -> threads.listeners(listener));
		tools(tool("cancel"), tool("look").doing((input, context) -> {
			throw new ToolExecutionException(tool("look").getToolDefinition(), new IllegalStateException("broken"));
		}));
		this.model.calls(look("c1", 1), cancel("c2", 2)).says("done");
		ask(mode, "q");
		assertThat(listener.heard).containsExactly("called c1", "returned c1 broken", "paused");
		listener.heard.clear();
		approve(waiting());
		goOn(mode);
		assertThat(listener.heard).containsExactly("called c1", "called c2", "returned c1 broken",
				"returned c2 done {\"id\":2}");
	}

	private static final class ToolListener implements SessionListener {

		private final List<String> heard = new CopyOnWriteArrayList<>();

		@Override
		public void toolCalled(SessionEvent.ToolCalled event) {
			this.heard.add("called " + event.call().id());
		}

		@Override
		public void toolReturned(SessionEvent.ToolReturned event) {
			this.heard.add("returned " + event.response().id() + " " + event.response().responseData());
		}

		@Override
		public void paused(SessionEvent.Paused event) {
			this.heard.add("paused");
		}

	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void siblingThatReturnsDirectlyDoesNotEndTheTurnThatWaits(ClientSetup.Mode mode) {
		rules((rules) -> rules.siblings(SiblingRule.RUN));
		tools(tool("cancel"), tool("look").direct());
		this.model.calls(look("c1", 1), cancel("c2", 2)).says("done");
		List<ChatResponse> responses = all(mode, "q");
		assertThat(responses).allSatisfy((response) -> assertThat(response.getResults())
			.allSatisfy((generation) -> assertThat(generation.getOutput().getText()).isNull()));
		assertThat(responses).filteredOn(ApprovalFixture::isPaused)
			.containsExactly(responses.get(responses.size() - 1));
		assertThat(this.runs).containsExactly("look{\"id\":1}");
		approve(waiting());
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(this.model.lastRequestLines()).endsWith("tool look=done {\"id\":1} cancel=done {\"id\":2}");
		assertThat(this.runs).containsExactly("look{\"id\":1}", "cancel{\"id\":2}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void gatedToolThatReturnsDirectlyDoesSoWhenItWasApproved(ClientSetup.Mode mode) {
		tools(tool("cancel").direct(), tool("look"));
		this.model.calls(cancel("c1", 1));
		ask(mode, "q");
		approve(waiting());
		assertThat(answer(mode)).isEqualTo("done {\"id\":1}");
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(turns()).containsExactly(TurnStatus.COMPLETED);
		assertThat(log()).endsWith("tool cancel=done {\"id\":1}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void rejectionOfAToolThatReturnsDirectlyIsForTheModel(ClientSetup.Mode mode) {
		tools(tool("cancel").direct(), tool("look"));
		this.model.calls(cancel("c1", 1)).says("I may not");
		ask(mode, "q");
		reject(waiting());
		assertThat(answer(mode)).isEqualTo("I may not");
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=not today");
	}

	/**
	 * The model is told of arguments that a person has changed; the caller gets no
	 * answer.
	 */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void changedCallOfAToolThatReturnsDirectlyIsForTheModel(ClientSetup.Mode mode) {
		tools(tool("cancel").direct(), tool("look"));
		this.model.calls(cancel("c1", 1)).says("I have cancelled 7");
		ask(mode, "q");
		approvals().decide(waiting(), Decision.approve("anna").withArguments("{\"id\":7}"));
		assertThat(answer(mode)).isEqualTo("I have cancelled 7");
		assertThat(this.model.lastRequestLines().get(this.model.lastRequestLines().size() - 1))
			.contains("done {\"id\":7}");
	}

	private List<ChatResponse> all(ClientSetup.Mode mode, String text) {
		if (mode == ClientSetup.Mode.CALL) {
			return List.of(ask(mode, text));
		}
		return Objects.requireNonNull(client(setup(mode)).build()
			.prompt()
			.user(text)
			.advisors(SessionAdvisor.session(this.key))
			.stream()
			.chatResponse()
			.collectList()
			.block());
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void logAndViewShowNothingOfThePause(ClientSetup.Mode mode) {
		this.model.says("a0").calls(look("c1", 1)).calls(cancel("c2", 2));
		ask(mode, "q0");
		ask(mode, "q1");
		assertThat(log()).containsExactly("user: q0", "assistant: a0");
		assertThat(Lines.of(thread().view())).containsExactly("user: q0", "assistant: a0");
		assertThat(Lines.of(thread().messages(1))).containsExactly("assistant: a0");
		assertThat(turns()).containsExactly(TurnStatus.COMPLETED, TurnStatus.AWAITING_APPROVAL);
		assertThat(store().items(this.key, 2)).extracting((item) -> item.message().getMessageType().name())
			.containsExactly("USER", "ASSISTANT", "TOOL");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void whatWouldLoseThePauseIsRefused(ClientSetup.Mode mode) {
		this.model.says("a0").calls(cancel("c1", 1)).says("done");
		ask(mode, "q0");
		ask(mode, "q1");
		List<ThrowingCallable> losing = List.of(() -> store().pop(this.key), () -> store().clear(this.key),
				() -> thread().pop(), () -> thread().clear(), () -> thread().summarize(), () -> thread().delete(2),
				() -> thread().delete(Set.of(3L)));
		for (ThrowingCallable call : losing) {
			assertThatExceptionOfType(TurnOpenException.class).isThrownBy(call)
				.withMessageContaining("Approvals.cancel")
				.satisfies((ex) -> assertThat(ex.turn()).isEqualTo(2));
		}
		assertThat(log()).containsExactly("user: q0", "assistant: a0");
		approve(waiting());
		goOn(mode);
		assertThat(log()).hasSize(6);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void messageOfASecondClientIsRefusedBeforeTheModelAndNotStored(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1));
		ask(mode, "q1");
		assertThatExceptionOfType(TurnOpenException.class).isThrownBy(() -> ask(mode, "q2"))
			.withMessageContaining("on-new-message")
			.withMessageNotContaining("q2");
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(turns()).containsExactly(TurnStatus.AWAITING_APPROVAL);
		assertThat(store().items(this.key, 1)).hasSize(1);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void nothingDecidedGivesTheSamePauseAndStoresNothingTwice(ClientSetup.Mode mode) {
		this.model.calls(look("c1", 1), cancel("c2", 2));
		ChatResponse first = ask(mode, "q");
		List<ToolApproval> ledger = approvals().ledger(this.key);
		long commits = commits();
		for (int i = 0; i < 2; i++) {
			ChatResponse again = goOn(mode);
			assertThat(SessionAdvisor.pending(again)).isEqualTo(SessionAdvisor.pending(first));
			assertThat(again.getResult().getMetadata().getFinishReason()).isEqualTo(Pause.FINISH_REASON);
			assertThat(SessionAdvisor.turn(again).orElseThrow().turn())
				.isEqualTo(SessionAdvisor.turn(first).orElseThrow().turn());
		}
		assertThat(commits()).isEqualTo(commits);
		assertThat(approvals().ledger(this.key)).isEqualTo(ledger);
		assertThat(store().items(this.key, 1)).hasSize(1);
		assertThat(this.model.prompts()).hasSize(1);
		assertThat(this.runs).isEmpty();
		assertThat(this.events).hasSize(1);
	}

	final long commits() {
		return observed().calls().stream().filter("commit"::equals).count();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void usageOfAllRoundsIsInTheTurn(ClientSetup.Mode mode) {
		this.model.calls(look("c1", 1)).calls(cancel("c2", 2)).says("done");
		ChatResponse paused = ask(mode, "q");
		assertThat(SessionAdvisor.turn(paused).orElseThrow().turn().rounds()).hasSize(2);
		assertThat(turn(1).usage()).isEqualTo(new TokenUsage(20, 10, 0, 0));
		approve(waiting());
		ChatResponse last = goOn(mode);
		assertThat(SessionAdvisor.turn(last).orElseThrow().turn().rounds()).hasSize(3);
		assertThat(turn(1).rounds()).hasSize(3);
		assertThat(turn(1).usage()).isEqualTo(new TokenUsage(30, 15, 0, 0));
		assertThat(turn(1).model()).isEqualTo("scripted");
	}

	final Turn turn(int number) {
		return store().turns(this.key, Tail.ALL).get(number - 1);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void snapshotIsWhatTheFirstModelCallOfTheTurnWasShown(ClientSetup.Mode mode) {
		this.model.says("a0").calls(cancel("c1", 1)).says("done").says("a2");
		ask(mode, "q0");
		ask(mode, "q1");
		approve(waiting());
		goOn(mode);
		ask(mode, "q2");
		assertThat(Lines.of(thread().snapshot(2).orElseThrow().messages())).containsExactly("user: q0",
				"assistant: a0");
		assertThat(Lines.of(thread().snapshot(3).orElseThrow().messages())).hasSize(6);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void attributesWrittenBeforeThePauseSurviveItAndAreNotSeenUntilTheTurnIsHistory(ClientSetup.Mode mode) {
		tools(tool("cancel").doing((input, context) -> "saw " + new SessionContext().attributes()),
				tool("look").doing((input, context) -> {
					new SessionContext().putAttribute("seen", 1);
					return "looked";
				}));
		this.model.calls(look("c1", 1)).calls(cancel("c2", 2)).says("done");
		ask(mode, "q");
		assertThat(thread().attributes()).isEmpty();
		approve(waiting());
		goOn(mode);
		assertThat(this.model.lastRequestLines()).endsWith("tool cancel=saw {seen=1}");
		assertThat(thread().attributes()).isEqualTo(Map.of("seen", 1));
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void attributesWrittenByOthersWhileTheTurnWaitsAreNotLost(ClientSetup.Mode mode) {
		tools(tool("cancel"), tool("look").doing((input, context) -> {
			new SessionContext().putAttribute("seen", 1);
			new SessionContext().removeAttribute("old");
			return "looked";
		}));
		this.model.says("a0").calls(look("c1", 1)).calls(cancel("c2", 2)).calls(cancel("c3", 3)).says("done");
		ask(mode, "q0");
		thread().putAttribute("old", "value");
		thread().putAttribute("kept", "value");
		ask(mode, "q1");
		thread().putAttribute("limit", 5);
		thread().removeAttribute("kept");
		approve(waiting());
		goOn(mode);
		thread().putAttribute("late", true);
		approve(waiting());
		goOn(mode);
		assertThat(thread().attributes()).isEqualTo(Map.of("seen", 1, "limit", 5, "late", true));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void turnThatGoesOnMayPauseAgain(ClientSetup setup) {
		this.model.calls(cancel("c1", 1)).calls(cancel("c1", 2)).says("done");
		ask(setup, "q");
		ToolApproval first = approve(waiting());
		ChatResponse again = goOn(setup);
		assertThat(SessionAdvisor.pending(again)).singleElement().satisfies((second) -> {
			assertThat(second.id()).isNotEqualTo(first.id());
			assertThat(second.round()).isEqualTo(2);
			assertThat(second.turnId()).isEqualTo(first.turnId());
		});
		assertThat(ledger()).containsExactly(ApprovalStatus.DONE, ApprovalStatus.PROPOSED);
		approve(waiting());
		assertThat(status(goOn(setup))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).containsExactly("cancel{\"id\":1}", "cancel{\"id\":2}");
		assertThat(log()).containsExactly("user: q", "assistant cancel({\"id\":1})", "tool cancel=done {\"id\":1}",
				"assistant cancel({\"id\":2})", "tool cancel=done {\"id\":2}", "assistant: done");
		assertThat(ledger()).containsExactly(ApprovalStatus.DONE, ApprovalStatus.DONE);
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void hookThatReplacesAReplyDecidesWhatAPersonIsShown(ClientSetup.Mode mode) {
		threads((threads) -> threads.hooks(TestHooks.afterModel("capped",
				(reply) -> reply.hasToolCalls()
						? HookResult
							.replace(AssistantMessage.builder().content("").toolCalls(List.of(cancel("c1", 9))).build())
						: HookResult.keep())));
		this.model.calls(cancel("c1", 1)).says("done");
		assertThat(SessionAdvisor.pending(ask(mode, "q"))).extracting(ToolApproval::arguments)
			.containsExactly("{\"id\":9}");
		approve(waiting());
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(this.runs).containsExactly("cancel{\"id\":9}");
		assertThat(log()).element(1).isEqualTo("assistant cancel({\"id\":9})");
	}

	@Test
	void streamThatHooksHoldBackDeliversTheTextBeforeThePauseToo() {
		threads((threads) -> threads.hooks(TestHooks.afterModel("looking", (reply) -> HookResult.keep())));
		this.model.responds(this.model.chunk("let me ", List.of(), false), this.model.chunk("see", List.of(), false),
				this.model.chunk("", List.of(cancel("c1", 1)), true));
		List<ChatResponse> chunks = all(ClientSetup.Mode.STREAM, "q");
		assertThat(chunks).extracting((chunk) -> chunk.getResult().getOutput().getText())
			.containsExactly("let me see", null);
		assertThat(isPaused(chunks.get(1))).isTrue();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void hookThatRefusesAReplyLeavesNothingThatWaits(ClientSetup.Mode mode) {
		threads((threads) -> threads.hooks(TestHooks.afterModel("strict", (reply) -> HookResult.refuse("no calls"))));
		this.model.calls(cancel("c1", 1));
		assertThatExceptionOfType(SessionRefusedException.class).isThrownBy(() -> ask(mode, "q"));
		assertThat(pending()).isEmpty();
		assertThat(turns()).containsExactly(TurnStatus.REFUSED);
		assertThat(store().find(this.key).orElseThrow().openTurn()).isZero();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void hookBeforeSavingChangesWhatIsKeptOfEachPart(ClientSetup.Mode mode) {
		threads((threads) -> threads.hooks(TestHooks.beforeSave("mask",
				(turn) -> HookResult.replace(turn.stream().map(PausedTurns::masked).toList()))));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(mode, "my secret");
		assertThat(store().items(this.key, 1)).extracting((item) -> item.message().getText()).containsExactly("my ***");
		approve(waiting());
		goOn(mode);
		assertThat(log()).containsExactly("user: my ***", "assistant cancel({\"id\":1})", "tool cancel=done {\"id\":1}",
				"assistant: done");
	}

	private static Message masked(Message message) {
		return (message instanceof UserMessage user) ? new UserMessage(user.getText().replace("secret", "***"))
				: message;
	}

	@Test
	void pendingOfAnOwnerGoesOverAllItsSessions() {
		for (int i = 0; i < 3; i++) {
			SessionKey thread = SessionKey.of(this.key.owner(), "t" + i);
			this.model.calls(cancel("c1", i), look("c2", 9), cancel("c3", i + 10));
			chat().prompt().user("q").advisors(SessionAdvisor.session(thread)).call().content();
		}
		List<ToolApproval> all = approvals().pendingOf(this.key.owner(), Page.first(100));
		assertThat(all).hasSize(6).allMatch((call) -> call.status() == ApprovalStatus.PROPOSED);
		assertThat(all).extracting((call) -> call.key().id()).contains("t0", "t1", "t2");
		assertThat(approvals().pendingOf(this.key.owner(), new Page(0, 4))).isEqualTo(all.subList(0, 4));
		assertThat(approvals().pendingOf(this.key.owner(), new Page(4, 4))).isEqualTo(all.subList(4, 6));
		assertThat(approvals().pendingOf(this.key.owner(), new Page(6, 4))).isEmpty();
		assertThat(approvals().pendingOf("somebody else " + this.key.owner(), Page.first(10))).isEmpty();
		approve(all.get(0));
		assertThat(approvals().pendingOf(this.key.owner(), Page.first(100))).hasSize(5).doesNotContain(all.get(0));
	}

}
