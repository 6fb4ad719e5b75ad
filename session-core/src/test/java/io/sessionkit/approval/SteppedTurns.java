package io.sessionkit.approval;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;

import io.sessionkit.Durability;
import io.sessionkit.SessionLostException;
import io.sessionkit.TurnOpenException;
import io.sessionkit.TurnStatus;
import io.sessionkit.context.Summarize;
import io.sessionkit.context.SummaryResult;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.ToolContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Turns whose rounds are written as they happen.
 */
abstract class SteppedTurns extends NewMessages {

	private void stepwise() {
		threads((threads) -> threads.durability(Durability.STEP));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void eachRoundIsStoredBeforeItsToolsRun(ClientSetup setup) {
		stepwise();
		List<String> stored = new ArrayList<>();
		tools(tool("cancel"), tool("look").doing((input, context) -> {
			stored.add(turns() + " " + store().items(this.key, 1).size() + " " + ledger());
			return "done";
		}));
		this.model.calls(look("c1", 1)).calls(look("c2", 2), look("c3", 3)).says("done");
		ChatResponse response = ask(setup, "q");
		assertThat(status(response)).isEqualTo(TurnStatus.COMPLETED);
		assertResultIsWhole(response);
		assertThat(stored).containsExactly("[INCOMPLETE] 1 [CLAIMED]", "[INCOMPLETE] 3 [DONE, CLAIMED, APPROVED]",
				"[INCOMPLETE] 3 [DONE, DONE, CLAIMED]");
		assertThat(log()).hasSize(6);
		assertThat(turns()).containsExactly(TurnStatus.COMPLETED);
		assertThat(turn(1).rounds()).hasSize(3);
		assertThat(store().find(this.key).orElseThrow().openTurn()).isZero();
	}

	@ParameterizedTest
	@MethodSource("setups")
	void callThatThrowsOutOfTheLoopLeavesATurnThatGoesOnAndNothingRunsTwice(ClientSetup setup) {
		stepwise();
		tools(tool("cancel"), tool("look").doing((input, context) -> {
			if (input.contains("2")) {
				throw new IllegalStateException("out of the loop");
			}
			return "looked " + input;
		}));
		this.model.calls(look("c1", 1)).calls(look("c2", 2), look("c3", 3)).says("done");
		assertThatIllegalStateException().isThrownBy(() -> ask(setup, "q")).withMessage("out of the loop");
		assertThat(turns()).containsExactly(TurnStatus.INCOMPLETE);
		assertThat(log()).isEmpty();
		assertThat(pending()).isEmpty();
		assertThat(ledger()).containsExactly(ApprovalStatus.DONE, ApprovalStatus.DONE, ApprovalStatus.APPROVED);
		assertThat(status(goOn(setup))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).containsExactly("look{\"id\":1}", "look{\"id\":2}", "look{\"id\":3}");
		assertThat(log()).containsExactly("user: q", "assistant look({\"id\":1})", "tool look=looked {\"id\":1}",
				"assistant look({\"id\":2}) look({\"id\":3})", "tool look=out of the loop look=looked {\"id\":3}",
				"assistant: done");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void modelThatFailsLeavesATurnThatGoesOnWithTheResultsThatAreThere(ClientSetup.Mode mode) {
		stepwise();
		this.model.calls(look("c1", 1)).fails(new IllegalStateException("down")).says("done");
		assertThatIllegalStateException().isThrownBy(() -> ask(mode, "q")).withMessage("down");
		assertThat(turns()).containsExactly(TurnStatus.INCOMPLETE);
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(this.runs).hasSize(1);
		assertThat(this.model.prompts()).hasSize(3);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q", "assistant look({\"id\":1})",
				"tool look=done {\"id\":1}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void turnThatWasWrittenInStepsPausesAndGoesOnLikeAnother(ClientSetup.Mode mode) {
		stepwise();
		this.model.calls(look("c1", 1)).calls(look("c2", 2), cancel("c3", 3)).calls(look("c4", 4)).says("done");
		ChatResponse paused = ask(mode, "q");
		assertThat(isPaused(paused)).isTrue();
		assertResultIsWhole(paused);
		assertThat(turns()).containsExactly(TurnStatus.AWAITING_APPROVAL);
		assertThat(this.runs).containsExactly("look{\"id\":1}");
		approve(waiting());
		ChatResponse response = goOn(mode);
		assertResultIsWhole(response);
		assertThat(this.runs).containsExactly("look{\"id\":1}", "look{\"id\":2}", "cancel{\"id\":3}", "look{\"id\":4}");
		assertThat(log()).hasSize(8).endsWith("assistant: done");
		assertThat(turn(1).rounds()).hasSize(4);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void hookThatKeepsNoToolRoundsLeavesPartsWithoutItems(ClientSetup setup) {
		threads((threads) -> threads.durability(Durability.STEP)
			.hooks(TestHooks.beforeSave("short",
					(messages) -> HookResult.replace(messages.stream().filter(SteppedTurns::isSaid).toList()))));
		this.model.calls(look("c1", 1)).calls(look("c2", 2)).calls(cancel("c3", 3)).says("done");
		assertThat(isPaused(ask(setup, "q"))).isTrue();
		approve(waiting());
		assertThat(status(goOn(setup))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).containsExactly("look{\"id\":1}", "look{\"id\":2}", "cancel{\"id\":3}");
		assertThat(log()).containsExactly("user: q", "assistant: done");
		assertThat(turn(1).items()).isEqualTo(2);
	}

	private static boolean isSaid(Message message) {
		return !(message instanceof ToolResponseMessage)
				&& !(message instanceof AssistantMessage reply && reply.hasToolCalls());
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void stepCostsACommitForEachRoundAndTwoWritesForEachCall(ClientSetup.Mode mode) {
		stepwise();
		List<String> written = new CopyOnWriteArrayList<>();
		observed().afterPut((record) -> written.add(record.kind()));
		this.model.calls(look("c1", 1)).calls(look("c2", 2), look("c3", 3)).says("done");
		ask(mode, "q");
		assertThat(commits()).isEqualTo(3);
		assertThat(written).filteredOn(Ledger.APPROVAL::equals).hasSize(6);
		// a commit that may be rolled back does not give the lease back
		assertThat(written).filteredOn(TurnRecords.LEASE::equals).hasSize(store().mayRollBack() ? 1 : 0);
		assertThat(written).containsOnly(store().mayRollBack() ? new String[] { Ledger.APPROVAL, TurnRecords.LEASE }
				: new String[] { Ledger.APPROVAL });
	}

	@ParameterizedTest
	@MethodSource("setups")
	void turnWhoseRoundIsStoredBecomesHistoryBehindASummaryThatIsPutInThen(ClientSetup setup) throws Exception {
		history(4);
		ScriptedChatModel summarizer = new ScriptedChatModel();
		threads((threads) -> threads.durability(Durability.STEP)
			.summarize(Summarize.by(summarizer).keepTurns(2).timeout(Duration.ofMinutes(1)).build()));
		CountDownLatch read = new CountDownLatch(1);
		CountDownLatch stored = new CountDownLatch(1);
		summarizer.step((prompt) -> Flux.defer(() -> {
			read.countDown();
			await(stored);
			return Flux.just(summarizer.chunk("u1 and u2", List.of(), true));
		}));
		CompletableFuture<SummaryResult> made = new CompletableFuture<>();
		tools(tool("look").doing((input, context) -> {
			stored.countDown();
			// all of it, since it goes on with what is history by then
			Awaitility.await().atMost(Duration.ofMinutes(1)).until(made::isDone);
			return "seen";
		}));
		this.model.calls(look("c1", 1)).says("done");
		Conversation thread = thread();
		made.completeAsync(() -> thread.summarize(true));
		await(read);
		assertThat(status(ask(setup, "q"))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(made.get(1, TimeUnit.MINUTES).status()).isEqualTo(SummaryResult.Status.SUMMARIZED);
		assertThat(Lines.of(thread().view())).startsWith(QUESTION, "assistant: u1 and u2", "user: u3")
			.endsWith("user: q", "assistant look({\"id\":1})", "tool look=seen", "assistant: done");
	}

	/** A request to be forgotten is not refused, and nothing comes after it. */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void toolThatClearsTheSessionOfItsOpenTurnTakesTheTurnWithIt(ClientSetup.Mode mode) {
		BiFunction<String, @Nullable ToolContext, String> clearing = (input, context) -> {
			thread().clear();
			return "cleared";
		};
		tools(tool("cancel").doing(clearing), tool("look").doing(clearing));
		this.model.calls(cancel("c1", 1));
		assertThat(isPaused(ask(mode, "forget me"))).isTrue();
		approve(waiting());
		assertThatExceptionOfType(SessionLostException.class).isThrownBy(() -> goOn(mode));
		assertThat(store().find(this.key)).isEmpty();
		assertThat(ledger()).isEmpty();
		stepwise();
		this.model.calls(look("c1", 1));
		assertThatExceptionOfType(SessionLostException.class).isThrownBy(() -> ask(mode, "forget me"))
			.satisfies((ex) -> assertThat(ex.reply()).as("the model is not called again").isNull());
		assertThat(store().find(this.key)).isEmpty();
		assertThat(ledger()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void sessionWhoseTurnIsStoredStepByStepIsNotClearedByAnybodyElse(ClientSetup.Mode mode) {
		stepwise();
		List<@Nullable Throwable> refused = new ArrayList<>();
		tools(tool("look").doing((input, context) -> {
			refused.add(CompletableFuture.supplyAsync(() -> catchThrowable(() -> thread().clear())).join());
			return "looked";
		}));
		this.model.calls(look("c1", 1)).says("done");
		assertThat(status(ask(mode, "q"))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(refused).singleElement()
			.asInstanceOf(InstanceOfAssertFactories.THROWABLE)
			.isInstanceOf(TurnOpenException.class)
			.hasMessageContaining("cannot be cleared, only erased, while its turn 1 is open");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void turnWithoutToolCallsIsWrittenOnce(ClientSetup.Mode mode) {
		stepwise();
		this.model.says("done");
		ask(mode, "q");
		assertThat(commits()).isEqualTo(1);
		assertThat(log()).hasSize(2);
	}

}
