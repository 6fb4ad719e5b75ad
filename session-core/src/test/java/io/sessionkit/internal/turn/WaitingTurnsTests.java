package io.sessionkit.internal.turn;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.internal.door.InnerParts;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.UserMessage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class WaitingTurnsTests {

	private static final SessionKey KEY = SessionKey.of("t1");

	private final InMemorySessionStore memory = new InMemorySessionStore(StoreOptions.of(JsonMessageCodec.create()));

	private final AtomicBoolean moved = new AtomicBoolean();

	private Runnable beforeTurns = () -> {
	};

	private final Turns turns = InnerParts.of(Conversations.of(movable()), Turns.class);

	/**
	 * Returns a store whose sessions can be on another branch than they were, as after a
	 * failover.
	 */
	private SessionStore movable() {
		return (SessionStore) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { SessionStore.class },
				(proxy, method, arguments) -> {
					if (method.getName().equals("turns")) {
						this.beforeTurns.run();
					}
					try {
						Object result = method.invoke(this.memory, arguments);
						return (this.moved.get() && method.getName().equals("open")) ? elsewhere((Optional<?>) result)
								: result;
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	private static Optional<SessionView> elsewhere(Optional<?> opened) {
		return opened.map(SessionView.class::cast).map((view) -> {
			Session now = view.session();
			Session.Position at = now.position();
			Session.Position other = new Session.Position(at.turns(), at.items(), "other", at.head(), at.openTurn(),
					at.summaryTurn(), at.summaryId(), at.totals());
			return new SessionView(
					new Session(now.key(), now.incarnation(), now.version(), other, now.details(), now.times()),
					view.summary(), view.items());
		});
	}

	private void leaveWaiting() {
		RunningTurn turn = this.turns.begin(this.turns.open(TurnRequest.of(KEY, List.of(new UserMessage("q"))), null));
		AssistantMessage reply = AssistantMessage.builder()
			.content("")
			.toolCalls(List.of(new ToolCall("1", "function", "wipe", "{}")))
			.build();
		turn.holding().store(reply, Map.of(), TurnStatus.AWAITING_APPROVAL, List.of(), false);
		turn.pause();
	}

	@Test
	void turnThatEndsWhileItIsReadIsNoOpenTurn() {
		leaveWaiting();
		WaitingTurns waiting = this.turns.waitingTurns();
		this.beforeTurns = () -> {
			this.beforeTurns = () -> {
			};
			waiting.takeOver(TurnRequest.of(KEY, List.of())).giveUp();
		};
		assertThat(waiting.find(KEY)).isEmpty();
	}

	@Test
	void turnOfASessionThatHasBegunAnewIsNoOpenTurn() {
		this.memory.add(KEY, List.of(new UserMessage("before")));
		leaveWaiting();
		WaitingTurns waiting = this.turns.waitingTurns();
		assertThat(waiting.find(KEY)).map(Turn::number).hasValue(2L);
		this.beforeTurns = () -> {
			this.beforeTurns = () -> {
			};
			this.memory.erase(KEY);
			leaveWaiting();
		};
		assertThat(waiting.find(KEY)).isEmpty();
	}

	/** Its hooks would run twice, and what they have left would be asked again. */
	@Test
	void turnThatWasOpenedBeginsOnce() {
		OpenedTurn opened = this.turns.open(TurnRequest.of(KEY, List.of(new UserMessage("q"))), null);
		RunningTurn turn = this.turns.begin(opened);
		assertThatIllegalStateException().isThrownBy(() -> this.turns.begin(opened))
			.withMessageContaining("has begun already");
		assertThat(this.memory.find(KEY)).isEmpty();
		turn.cancel();
		assertThat(this.memory.turns(KEY, Tail.ALL)).extracting(Turn::status).containsExactly(TurnStatus.CANCELLED);
	}

	@Test
	void recordsThatAreRegisteredOneAfterTheOtherAreAllWritten() {
		RunningTurn turn = this.turns.begin(this.turns.open(TurnRequest.of(KEY, List.of(new UserMessage("q"))), null));
		turn.alongside(() -> List.of(record("a")));
		turn.alongside(() -> List.of(record("b")));
		turn.cancel();
		assertThat(this.memory.records(KEY, "test")).extracting(SessionRecord::id).containsExactlyInAnyOrder("a", "b");
	}

	private static RecordWrite record(String id) {
		return RecordWrite.create("test", id, "{}");
	}

	@Test
	void whatACallWithoutAMessageFindsIsNoException() {
		TurnRequest request = TurnRequest.of(KEY, List.of());
		WaitingTurns waiting = this.turns.waitingTurns();
		assertThat(waiting.resume(request, null, (turn) -> {
		})).isInstanceOf(Resumed.Nothing.class);
		leaveWaiting();
		RunningTurn working = waiting.takeOver(request);
		assertThat(waiting.resume(request, null, (turn) -> {
		})).isInstanceOf(Resumed.Busy.class);
		working.giveUp();
	}

	@Test
	void turnThatCannotContinueIsNotKeptFromOthers() {
		leaveWaiting();
		this.moved.set(true);
		assertThatExceptionOfType(SessionConflictException.class)
			.isThrownBy(() -> this.turns.waitingTurns().resume(TurnRequest.of(KEY, List.of()), null, (turn) -> {
			}))
			.withMessageContaining("Approvals.cancel");
		assertThat(this.turns.waitingTurns().leaseHolder(KEY)).isNull();
		this.turns.waitingTurns().takeOver(TurnRequest.of(KEY, List.of())).giveUp();
		assertThat(this.turns.waitingTurns().leaseHolder(KEY)).isNull();
		assertThat(this.turns.waitingTurns().find(KEY)).isEmpty();
	}

}
