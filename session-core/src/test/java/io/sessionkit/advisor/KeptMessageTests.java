package io.sessionkit.advisor;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import io.sessionkit.Durability;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionException;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.hook.HookFailedException;
import io.sessionkit.hook.HookResult;
import io.sessionkit.hook.SessionRefusedException;
import io.sessionkit.hook.TestHooks;
import io.sessionkit.store.CommitFailedException;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.ClientSetup.Mode;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ObservedStore.Fault;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Tests of which exceptions a program learns that the message of its call is kept, if
 * nobody has queued it: the turn that it has begun may stay open.
 */
class KeptMessageTests {

	private static final SessionKey T1 = SessionKey.of("t1");

	private final ObservedStore store = new ObservedStore(
			new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create())));

	private final ScriptedChatModel model = new ScriptedChatModel();

	@ParameterizedTest
	@EnumSource
	void messageOfATurnIsKeptIfItStaysOpenSinceTheStoreHasRefusedItsEnd(Durability durability) {
		callsAndSays(() -> this.store.beforeCommit(() -> {
			throw StoreUnavailableException.unwritten("full", null);
		}));
		assertThatExceptionOfType(CommitFailedException.class)
			.isThrownBy(() -> ask(Mode.CALL, Conversations.builder(this.store).durability(durability)))
			.matches((ex) -> ex.isMessageKept() == (durability == Durability.STEP));
	}

	/** The store may have the whole turn, or nothing of it. */
	@ParameterizedTest
	@EnumSource
	void messageIsNotSaidToBeKeptIfNobodyKnows(Durability durability) {
		callsAndSays(() -> this.store.failAt(Fault.ANSWER));
		assertThatExceptionOfType(CommitFailedException.class)
			.isThrownBy(() -> ask(Mode.CALL, Conversations.builder(this.store).durability(durability)))
			.matches((ex) -> !ex.isMessageKept());
	}

	@ParameterizedTest
	@EnumSource
	void messageOfATurnThatAnotherWriterHasOvertakenIsNotKept(Mode mode) {
		callsAndSays(() -> this.store.add(T1, List.of(new UserMessage("faster"))));
		assertThatExceptionOfType(SessionConflictException.class)
			.isThrownBy(() -> ask(mode, Conversations.builder(this.store)))
			.matches((ex) -> !ex.isMessageKept());
	}

	@ParameterizedTest
	@EnumSource
	void messageOfATurnThatStaysOpenSinceAHookHasFailedIsKept(Mode mode) {
		callsAndSays(() -> {
		});
		assertThatExceptionOfType(HookFailedException.class).isThrownBy(() -> ask(mode, atSecondReply((reply) -> {
			throw new IllegalStateException("broken");
		}))).matches((ex) -> ex.isMessageKept());
		assertThat(this.store.turns(T1, Tail.ALL).get(0).status()).isEqualTo(TurnStatus.INCOMPLETE);
	}

	@ParameterizedTest
	@EnumSource
	void messageOfATurnThatAHookHasRefusedIsNotKept(Mode mode) {
		callsAndSays(() -> {
		});
		assertThatExceptionOfType(SessionRefusedException.class)
			.isThrownBy(() -> ask(mode, atSecondReply((reply) -> HookResult.refuse("no"))))
			.matches((ex) -> !ex.isMessageKept());
		assertThat(this.store.turns(T1, Tail.ALL).get(0).status()).isEqualTo(TurnStatus.REFUSED);
	}

	/** What a model throws is not of SessionKit. */
	@ParameterizedTest
	@EnumSource
	void messageOfATurnThatStaysOpenSinceTheModelHasFailedIsKept(Durability durability) {
		for (Mode mode : Mode.values()) {
			callsAndSays(() -> {
				throw new IllegalStateException("down");
			});
			SessionKey session = SessionKey.of(mode.name());
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(
						() -> ask(mode, session, this.model, Conversations.builder(this.store).durability(durability)))
				.withMessage("down")
				.matches((ex) -> SessionException.isMessageKept(ex) == (durability == Durability.STEP))
				.matches((ex) -> SessionException
					.isMessageKept(new ExecutionException(ex)) == (durability == Durability.STEP));
		}
	}

	/** An exception of another call may end this one. */
	@ParameterizedTest
	@EnumSource
	void messageOfACallIsNotKeptBecauseThatOfACallInsideOfItIs(Durability durability) {
		for (Mode mode : Mode.values()) {
			callsAndSays(() -> {
				throw keptOnAnotherSession();
			});
			SessionKey session = SessionKey.of(mode.name());
			assertThatExceptionOfType(HookFailedException.class)
				.isThrownBy(
						() -> ask(mode, session, this.model, Conversations.builder(this.store).durability(durability)))
				.matches((ex) -> ex.isMessageKept() == (durability == Durability.STEP));
		}
	}

	@ParameterizedTest
	@EnumSource
	void messageOfACallIsNotKeptBecauseAHookWrapsWhatSaysSoOfAnother(Mode mode) {
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(
				() -> ask(mode, Conversations.builder(this.store).hooks(TestHooks.beforeTurn("asks", (input) -> {
					throw new IllegalStateException(keptOnAnotherSession());
				}))))
			.matches((ex) -> !SessionException.isMessageKept(ex) && !SessionException.isMessageKept(ex.getCause()));
	}

	private HookFailedException keptOnAnotherSession() {
		ScriptedChatModel other = new ScriptedChatModel();
		callsAndSays(other, () -> {
		});
		HookFailedException kept = catchThrowableOfType(HookFailedException.class,
				() -> ask(Mode.CALL, SessionKey.of("other-" + UUID.randomUUID()), other, atSecondReply((reply) -> {
					throw new IllegalStateException("broken");
				})));
		assertThat(kept.isMessageKept()).isTrue();
		return kept;
	}

	/** With steps, a part of the turn is stored when the model answers. */
	private void callsAndSays(Runnable before) {
		callsAndSays(this.model, before);
	}

	private static void callsAndSays(ScriptedChatModel model, Runnable before) {
		model.calls(SessionAdvisorTests.call("c1", "add", "1")).step((prompt) -> {
			before.run();
			return Flux.just(model.chunk("done", List.of(), true));
		});
	}

	private Conversations.Builder atSecondReply(Function<AssistantMessage, HookResult<AssistantMessage>> hook) {
		AtomicInteger replies = new AtomicInteger();
		return Conversations.builder(this.store)
			.durability(Durability.STEP)
			.hooks(TestHooks.afterModel("late",
					(reply) -> (replies.incrementAndGet() == 1) ? HookResult.keep() : hook.apply(reply)));
	}

	private void ask(Mode mode, Conversations.Builder conversations) {
		ask(mode, T1, this.model, conversations);
	}

	private static void ask(Mode mode, SessionKey session, ScriptedChatModel model,
			Conversations.Builder conversations) {
		ToolCallback tool = FunctionToolCallback.builder("add", SessionAdvisorTests.Value::value)
			.description("adds")
			.inputType(SessionAdvisorTests.Value.class)
			.build();
		ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
		setup.content(setup.builder(model, SessionAdvisor.of(conversations.build()))
			.defaultToolCallbacks(tool)
			.build()
			.prompt()
			.user("q")
			.advisors(SessionAdvisor.session(session)));
	}

}
