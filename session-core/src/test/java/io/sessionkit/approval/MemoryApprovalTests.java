package io.sessionkit.approval;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.Page;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.ClientSetup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

class MemoryApprovalTests extends ApprovalBehaviour {

	private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-02-03T04:05:06Z"));

	/** It goes on with each look, since the order of decisions goes by it. */
	private final Clock clock = ((InstantSource) () -> this.now.updateAndGet((now) -> now.plusNanos(1000)))
		.withZone(ZoneOffset.UTC);

	private final SessionStore store = new InMemorySessionStore(
			StoreOptions.of(JsonMessageCodec.create()).clock(this.clock));

	@Override
	protected SessionStore store() {
		return this.store;
	}

	@Override
	protected Duration shortTime() {
		return Duration.ofHours(1);
	}

	@Override
	protected void letExpire(ToolApproval call) {
		this.now.set(call.expiresAt());
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void whatExpiresNextToADecidedCallIsAnsweredInItsPlace(ClientSetup.Mode mode) {
		rules((rules) -> rules.expiresAfter(shortTime()));
		this.model.calls(cancel("c1", 1), cancel("c2", 2)).says("done");
		List<ToolApproval> pending = SessionAdvisor.pending(ask(mode, "q"));
		approve(pending.get(1));
		letExpire(pending.get(0));
		assertThat(ledger()).containsExactly(ApprovalStatus.EXPIRED, ApprovalStatus.APPROVED);
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(this.runs).containsExactly("cancel{\"id\":2}");
		assertThat(this.model.lastRequestLines()).last()
			.asString()
			.startsWith("tool cancel=Nobody decided")
			.endsWith("cancel=done {\"id\":2}");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void decisionInTimeHoldsHoweverLateTheTurnGoesOn(ClientSetup.Mode mode) {
		rules((rules) -> rules.expiresAfter(shortTime()));
		this.model.calls(cancel("c1", 1)).says("done");
		ToolApproval shown = SessionAdvisor.pending(ask(mode, "q")).get(0);
		this.now.set(shown.expiresAt().minusMillis(1));
		approve(shown);
		this.now.set(shown.expiresAt().plus(Duration.ofDays(9)));
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(this.runs).containsExactly("cancel{\"id\":1}");
	}

	@Test
	void errorOfAListenerIsNoErrorOfTheCallItHearsOf() {
		rules((rules) -> rules.listeners(List.<Consumer<ApprovalEvent>>of((event) -> {
			throw new AssertionError("a listener");
		})));
		this.model.calls(cancel("c1", 1)).says("done");
		approve(SessionAdvisor.pending(ask(ClientSetup.Mode.CALL, "q")).get(0));
		assertThat(answer(ClientSetup.Mode.CALL)).isEqualTo("done");
		assertThat(this.runs).containsExactly("cancel{\"id\":1}");
	}

	/**
	 * The call that has told it waits for it, and in line it would wait for that call.
	 */
	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void listenerThatContinuesTheTurnOfTheCallThatHasToldItIsRefused(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1), cancel("c2", 2)).says("done");
		ask(mode, "q");
		approvals().decide(pending().get(0), Decision.approve("ada").always(StandingDecision.Scope.TOOL));
		List<String> told = continuing();
		assertThat(answer(mode)).isEqualTo("done");
		assertThat(told).containsExactlyInAnyOrder("Decided c2 NestedTurnException", "Executed c1 NestedTurnException",
				"Executed c2 NestedTurnException");
		told.clear();
		approvals().standingDecisions(this.key).forEach(approvals()::revoke);
		this.model.calls(cancel("c3", 3));
		ask(mode, "q2");
		assertThat(told).containsExactly("Requested c3 NestedTurnException");
	}

	@ParameterizedTest
	@EnumSource(ClientSetup.Mode.class)
	void listenerIsRefusedToContinueAlsoIfANewMessageCancelsTheTurn(ClientSetup.Mode mode) {
		this.model.calls(cancel("c1", 1)).says("done").calls(cancel("c2", 2));
		ask(mode, "q");
		List<String> told = continuing();
		ask(mode, "q2");
		assertThat(told).containsExactly("Cancelled c1 NestedTurnException");
		ask(mode, "q3");
		told.clear();
		approvals().cancel(this.key);
		assertThat(told).as("no call works on the turn").containsExactly("Cancelled c2 NothingWaitsException");
	}

	/** From now on listeners continue the turn, which they may not. */
	private List<String> continuing() {
		List<String> told = new CopyOnWriteArrayList<>();
		rules((rules) -> rules.onNewMessage(OnNewMessage.CANCEL)
			.listeners(List.<Consumer<ApprovalEvent>>of(
					(event) -> told.add(event.getClass().getSimpleName() + " " + event.approval().callId() + " "
							+ catchThrowable(() -> answer(ClientSetup.Mode.CALL)).getClass().getSimpleName()))));
		return told;
	}

	@Test
	void inboxCountsHowLongAnUncertainCallHasWaitedFromItsClaim() throws Exception {
		rules((rules) -> rules.listeners(List.<Consumer<ApprovalEvent>>of((event) -> {
			if (event instanceof ApprovalEvent.Decided) {
				this.now.updateAndGet((now) -> now.plus(Duration.ofHours(1)));
			}
		})));
		InboxQuery query = InboxQuery.of(List.of(this.key.owner())).waitingFor(Duration.ofMinutes(5));
		uncertain(Decision.approve("anna"), () -> {
			assertThat(approvals().inbox(query, Page.first(9))).isEmpty();
			this.now.updateAndGet((now) -> now.plus(Duration.ofMinutes(5)));
			assertThat(approvals().inbox(query, Page.first(9))).containsExactly(waiting());
			approvals().decide(waiting(), Decision.reject("anna"));
		});
	}

}
