package io.sessionkit.approval;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import io.sessionkit.Durability;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.hook.HistoryMerge;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ScriptedChatModel.Lines;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests that history which a merge leaves out stays out when a turn continues after a
 * pause.
 */
class MergedPauseTests extends ApprovalFixture {

	private final SessionStore store = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	@Override
	protected SessionStore store() {
		return this.store;
	}

	static List<ClientSetup> setups() {
		return ClientSetup.all();
	}

	@BeforeEach
	void twoTurnsOfWhichTheNewestIsSent() {
		this.model.says("a1").says("a2");
		ask(ClientSetup.Mode.CALL, "secret");
		ask(ClientSetup.Mode.CALL, "q2");
		threads((threads) -> threads.merge(HistoryMerge.keepLastTurns(1)));
	}

	@ParameterizedTest
	@MethodSource("setups")
	void whatTheMergeLeftOutIsNotSentAfterThePause(ClientSetup setup) {
		this.model.calls(cancel("c1", 1)).calls(cancel("c2", 2)).says("done");
		ask(setup, "q3");
		approve(waiting());
		goOn(setup);
		List<String> first = setup.lines("user: q2", "assistant: a2", "user: q3", "assistant cancel({\"id\":1})",
				"tool cancel=done {\"id\":1}");
		assertThat(this.model.lastRequestLines()).isEqualTo(first);
		approve(waiting());
		assertThat(status(goOn(setup))).isEqualTo(TurnStatus.COMPLETED);
		List<String> second = new ArrayList<>(first);
		second.addAll(List.of("assistant cancel({\"id\":2})", "tool cancel=done {\"id\":2}"));
		assertThat(this.model.lastRequestLines()).isEqualTo(second);
		assertThat(log()).startsWith("user: secret", "assistant: a1", "user: q2", "assistant: a2")
			.endsWith("assistant: done")
			.hasSize(10);
	}

	@ParameterizedTest
	@MethodSource("setups")
	void mergeIsAskedAboutTheHistoryAndTheQuestionAgain(ClientSetup setup) {
		List<String> asked = new CopyOnWriteArrayList<>();
		threads((threads) -> threads.durability(Durability.STEP).merge((context, history, input) -> {
			asked.add(Lines.of(history) + " " + Lines.of(input));
			return List.of(history.get(0), input.get(0));
		}));
		this.model.calls(look("c0", 0)).calls(cancel("c1", 1)).says("done");
		ask(setup, "q3");
		approve(waiting());
		goOn(setup);
		assertThat(asked).hasSize(2);
		assertThat(asked.get(1)).isEqualTo(asked.get(0)).endsWith("[user: q3]");
		assertThat(this.model.lastRequestLines())
			.isEqualTo(setup.lines("user: secret", "user: q3", "assistant look({\"id\":0})",
					"tool look=done {\"id\":0}", "assistant cancel({\"id\":1})", "tool cancel=done {\"id\":1}"));
	}

	@ParameterizedTest
	@EnumSource
	void mergeIsAskedAboutAllExamplesInFrontOfTheQuestionAgain(ClientSetup.Mode mode) {
		List<String> asked = new CopyOnWriteArrayList<>();
		threads((threads) -> threads.durability(Durability.STEP).merge((context, history, input) -> {
			asked.add(Lines.of(input).toString());
			return Stream.concat(history.stream(), input.stream()).toList();
		}));
		this.model.calls(look("c1", 1)).calls(cancel("c2", 2)).says("done");
		AssistantMessage calling = AssistantMessage.builder()
			.content("")
			.toolCalls(List.of(new ToolCall("e1", "function", "look", "{\"id\":0}")))
			.build();
		Message results = ToolResponseMessage.builder()
			.responses(List.of(new ToolResponse("e1", "look", "found")))
			.build();
		response(setup(mode),
				client(setup(mode)).build()
					.prompt()
					.messages(new UserMessage("ex?"), calling, results, new AssistantMessage("ex!"))
					.user("q3"));
		approve(waiting());
		goOn(mode);
		assertThat(asked).hasSize(2);
		assertThat(asked.get(1)).isEqualTo(asked.get(0)).startsWith("[user: ex?").endsWith("assistant: ex!, user: q3]");
	}

	@Test
	void whatTheMergeAddsIsSentOnceAndStoredOnce() {
		threads((threads) -> threads.merge((context, history, input) -> {
			List<Message> merged = new ArrayList<>(List.of(new UserMessage("house rules")));
			merged.addAll(input);
			return merged;
		}));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(ClientSetup.Mode.CALL, "q3");
		approve(waiting());
		goOn(ClientSetup.Mode.CALL);
		assertThat(this.model.lastRequestLines()).containsExactly("user: house rules", "user: q3",
				"assistant cancel({\"id\":1})", "tool cancel=done {\"id\":1}");
		assertThat(log()).filteredOn((line) -> line.equals("user: house rules")).hasSize(1);
	}

	@Test
	void mergeThatReturnsNothingNewDoesNotHoldTheTurnUp() {
		this.model.calls(cancel("c1", 1)).says("done");
		ask(ClientSetup.Mode.CALL, "q3");
		approve(waiting());
		threads((threads) -> threads.merge((context, history, input) -> List.of()));
		assertThat(status(goOn(ClientSetup.Mode.CALL))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q3", "assistant cancel({\"id\":1})",
				"tool cancel=done {\"id\":1}");
	}

	@Test
	void queuedMessageGoesBehindTheResultsOfTheMergedTurn() {
		rules((rules) -> rules.onNewMessage(OnNewMessage.QUEUE));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(ClientSetup.Mode.CALL, "q3");
		ask(ClientSetup.Mode.CALL, "and hurry");
		approve(waiting());
		goOn(ClientSetup.Mode.CALL);
		assertThat(this.model.lastRequestLines()).containsExactly("user: q2", "assistant: a2", "user: q3",
				"assistant cancel({\"id\":1})", "tool cancel=done {\"id\":1}", "user: and hurry");
	}

	@Test
	void turnWaitsOnWhereTheMergeThrows() {
		AtomicBoolean broken = new AtomicBoolean();
		threads((threads) -> threads.merge((context, history, input) -> {
			if (broken.get()) {
				throw new IllegalStateException("not now");
			}
			return input;
		}));
		this.model.calls(cancel("c1", 1)).says("done");
		ask(ClientSetup.Mode.CALL, "q3");
		approve(waiting());
		broken.set(true);
		assertThatIllegalStateException().isThrownBy(() -> goOn(ClientSetup.Mode.CALL)).withMessage("not now");
		assertThat(this.runs).isEmpty();
		assertThat(turns()).last().isEqualTo(TurnStatus.AWAITING_APPROVAL);
		broken.set(false);
		assertThat(status(goOn(ClientSetup.Mode.CALL))).isEqualTo(TurnStatus.COMPLETED);
		assertThat(this.runs).hasSize(1);
	}

}
