package io.sessionkit.guard;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.sessionkit.Durability;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.Verdict;
import io.sessionkit.approval.ApprovalFixture;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.guard.Redactor.Action;
import io.sessionkit.hook.HookFailedException;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionHook;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Guards on replies in turns that are stored in parts or do not end well: what a tool
 * returned is not the reply.
 */
class GuardedPartsTests extends ApprovalFixture {

	private static final String RESULT = "a secret text";

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	@Override
	protected SessionStore store() {
		return this.store;
	}

	static List<ClientSetup> setups() {
		return ClientSetup.all().stream().filter((setup) -> !setup.system()).toList();
	}

	static Stream<Arguments> setupsAndDurabilities() {
		return setups().stream()
			.flatMap((setup) -> Stream.of(Durability.values()).map((durability) -> Arguments.of(setup, durability)));
	}

	static Stream<Arguments> guards() {
		return setupsAndDurabilities().flatMap((each) -> Stream.of(WordGuard.values())
			.map((guard) -> Arguments.of(each.get()[0], each.get()[1], guard)));
	}

	@ParameterizedTest
	@MethodSource("guards")
	void resultWithTheWordIsNoReplyInAnyRound(ClientSetup setup, Durability durability, WordGuard guard) {
		guarded(durability, guard.refusing("secret"));
		this.model.calls(look("c1", 1)).calls(look("c2", 2)).calls(look("c3", 3)).says("fine");
		assertThat(status(ask(setup, "q"))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(log()).hasSize(8).endsWith("assistant: fine");
		assertThat(turn().verdicts()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("guards")
	void failedTurnKeepsItsResultsAndNobodyRefused(ClientSetup setup, Durability durability, WordGuard guard) {
		guarded(durability, guard.refusing("secret"));
		this.model.calls(look("c1", 1)).fails(new IllegalStateException("down"));
		assertThatIllegalStateException().isThrownBy(() -> ask(setup, "q")).withMessage("down");
		assertThat(turn().verdicts()).isEmpty();
		if (durability == Durability.STEP) {
			this.model.says("fine");
			assertThat(status(goOn(setup))).isEqualTo(TurnStatus.COMPLETED);
			assertThat(this.runs).hasSize(1);
			assertThat(log()).hasSize(4);
			return;
		}
		assertThat(turn().status()).isEqualTo(TurnStatus.FAILED);
		assertThat(items()).containsExactly("user: q", "assistant look({\"id\":1})", "tool look=" + RESULT);
	}

	@ParameterizedTest
	@MethodSource("guards")
	void callBehindAResultWithTheWordComesToWaitAndGoesOn(ClientSetup setup, Durability durability, WordGuard guard) {
		guarded(durability, guard.refusing("secret"));
		this.model.calls(look("c1", 1)).calls(cancel("c2", 2)).says("fine");
		assertThat(isPaused(ask(setup, "q"))).isTrue();
		approve(waiting());
		assertThat(status(goOn(setup))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).containsExactly("look{\"id\":1}", "cancel{\"id\":2}");
		assertThat(log()).hasSize(6);
	}

	@ParameterizedTest
	@MethodSource("guards")
	void replyWithTheWordIsRefusedBehindPartsToo(ClientSetup setup, Durability durability, WordGuard guard) {
		guarded(durability, guard.refusing("secret"));
		this.model.calls(cancel("c1", 1)).says("the secret");
		ask(setup, "q");
		approve(waiting());
		assertThatExceptionOfType(SessionRefusedException.class).isThrownBy(() -> goOn(setup));
		assertThat(turn().status()).isEqualTo(TurnStatus.REFUSED);
		assertThat(log()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("guards")
	void resultThatIsTheReplyIsRefusedBehindPartsToo(ClientSetup setup, Durability durability, WordGuard guard) {
		guarded(durability, guard.refusing("secret"));
		tools(tool("cancel").direct().doing((input, context) -> RESULT), tool("look"));
		this.model.calls(look("c1", 1)).calls(cancel("c2", 2));
		ask(setup, "q");
		approve(waiting());
		assertThatExceptionOfType(SessionRefusedException.class).isThrownBy(() -> goOn(setup));
		assertThat(turn().status()).isEqualTo(TurnStatus.REFUSED);
		assertThat(this.store.items(this.key, 1).toString()).doesNotContain("secret");
	}

	@ParameterizedTest
	@MethodSource("guards")
	void replacedReplyMakesNoCallWaitAndEndsATurnThatGoesOn(ClientSetup setup, Durability durability, WordGuard guard) {
		guarded(durability, guard.replacing("secret", "Sorry."));
		this.model.calls(call("c1", "cancel", "{\"id\":1,\"note\":\"" + guard.escaped("secret") + "\"}"));
		assertThat(status(ask(setup, "q1"))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(pending()).isEmpty();
		assertThat(this.runs).isEmpty();
		this.model.calls(cancel("c1", 1)).says("a secret");
		ask(setup, "q2");
		approve(waiting());
		assertThat(status(goOn(setup))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(log()).containsExactly("user: q1", "assistant: Sorry.", "user: q2", "assistant cancel({\"id\":1})",
				"tool cancel=done {\"id\":1}", "assistant: Sorry.");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void redactorThatBlocksRefusesNothingThatNobodyIsShown(ClientSetup.Mode mode) {
		Pattern word = Pattern.compile("secret");
		List<TurnStatus> ended = new ArrayList<>();
		for (Durability durability : Durability.values()) {
			guarded(durability, Redactor.builder().pattern("word", word, Action.BLOCK).build());
			tools(tool("cancel"), tool("look").doing((input, context) -> {
				return RESULT;
			}));
			this.model.calls(look("c1", 1));
			assertThatExceptionOfType(SessionRefusedException.class).isThrownBy(() -> ask(mode, "q"))
				.satisfies((refused) -> assertThat(refused.phase()).isEqualTo(Verdict.Phase.BEFORE_MODEL));
			ended.add(turn().status());
			assertThat(items()).contains("user: q");
			assertThat(items().toString()).doesNotContain("secret");
		}
		assertThat(ended).containsOnly(TurnStatus.REFUSED);
	}

	@ParameterizedTest
	@MethodSource("setupsAndDurabilities")
	void guardWithABugFailsTheTurnAndRefusesNothing(ClientSetup setup, Durability durability) {
		for (SessionHook broken : List.of(TestHooks.afterModel("broken", (reply) -> broken(reply.hasToolCalls())),
				TestHooks.beforeSave("broken", (messages) -> broken(messages.size() < 3)))) {
			this.store.clear(this.key);
			this.runs.clear();
			guarded(durability, broken);
			this.model.calls(look("c1", 1)).says("fine");
			assertThatExceptionOfType(HookFailedException.class).isThrownBy(() -> ask(setup, "q"))
				.satisfies((failed) -> {
					assertThat(failed.failure()).isEqualTo(UnsupportedOperationException.class.getName());
					assertThat(failed.getCause().getStackTrace()[0].getMethodName()).isEqualTo("broken");
				});
			assertThat(turn().verdicts()).extracting(Verdict::kind).doesNotContain(Verdict.Kind.REFUSED);
			if (durability == Durability.TURN) {
				assertThat(turn().status()).isEqualTo(TurnStatus.FAILED);
				assertThat(turn().failure()).isEqualTo(UnsupportedOperationException.class.getName());
				continue;
			}
			assertThat(turn().status()).as("a part is stored").isEqualTo(TurnStatus.INCOMPLETE);
			guarded(durability, StopWords.of("nothing"));
			this.model.says("fine");
			assertThat(status(goOn(setup))).as("with the bug mended").isEqualTo(TurnStatus.COMPLETED);
			assertThat(this.runs).hasSize(1);
			assertThat(log()).hasSize(4).endsWith("assistant: fine");
		}
	}

	private static <T> HookResult<T> broken(boolean passes) {
		if (passes) {
			return HookResult.keep();
		}
		throw new UnsupportedOperationException("a bug");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void guardWithABugLetsNoCallComeToWait(ClientSetup.Mode mode) {
		guarded(Durability.TURN, TestHooks.beforeSave("broken", (messages) -> broken(false)));
		this.model.calls(cancel("c1", 1));
		assertThatExceptionOfType(HookFailedException.class).isThrownBy(() -> ask(mode, "q"));
		assertThat(turn().status()).isEqualTo(TurnStatus.FAILED);
		assertThat(pending()).isEmpty();
		assertThat(this.runs).isEmpty();
	}

	private void guarded(Durability durability, SessionHook guard) {
		threads((threads) -> threads.durability(durability).hooks(guard));
		tools(tool("cancel"), tool("look").doing((input, context) -> RESULT));
	}

	private Turn turn() {
		List<Turn> turns = this.store.turns(this.key, Tail.ALL);
		return turns.get(turns.size() - 1);
	}

	private List<String> items() {
		return Lines.of(this.store.items(this.key, turn().number()).stream().map((item) -> item.message()).toList());
	}

}
