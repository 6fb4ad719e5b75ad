package io.sessionkit.approval;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalScenario.Participant;
import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.stream.CallEvent;
import io.sessionkit.stream.CallEvents;
import io.sessionkit.test.ObservedStore;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import io.sessionkit.test.ValidSequence;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;

import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.model.tool.DefaultToolCallingManager;
import org.springframework.ai.tool.execution.DefaultToolExecutionExceptionProcessor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A tool takes longer than a lease lasts. Whoever runs it says meanwhile that it is
 * alive, or has stopped to.
 */
@Order(1)
@Timeout(120)
class ApprovalLeaseTests {

	private static final Map<TestStores, SessionStore> STORES = new EnumMap<>(TestStores.class);

	private static final String QUESTION = "user: question";

	private static final String CALL = "assistant cancel({\"id\":1})";

	private final ApprovalScenario scenario = ApprovalScenario.ofOneCall();

	private final SessionKey key = SessionKey.of(UUID.randomUUID().toString());

	private final AtomicInteger effects = new AtomicInteger();

	private final CountDownLatch begun = new CountDownLatch(1);

	private final CountDownLatch goOn = new CountDownLatch(1);

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void leaseIsRenewedWhileAToolRunsSoThatAnotherCallIsTold(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		List<String> others = new ArrayList<>();
		ApprovalScenario renewing = this.scenario.leasedFor(Duration.ofSeconds(6));
		try (Participant other = participant(store); Participant holder = renewing.takePart(store, (id) -> {
			List<Long> revisions = new ArrayList<>();
			await().atMost(Duration.ofSeconds(60)).until(() -> {
				revisions.add(lease(store).revision());
				return revisions.get(revisions.size() - 1) > revisions.get(0) + 3;
			});
			others.add(CompletableFuture.supplyAsync(() -> other.resumed(this.key)).join());
			assertThat(other.approvals().ledger(this.key)).extracting(ToolApproval::status)
				.containsExactly(ApprovalStatus.CLAIMED);
		}, this::count)) {
			holder.pauseAndApprove(this.key, this.scenario);
			assertThat(holder.resumed(this.key)).isEqualTo("done");
		}
		assertThat(others).containsExactly("TurnInProgressException");
		assertThat(this.effects).hasValue(1);
		assertThat(log(store)).containsExactly(QUESTION, CALL, "tool cancel=\"cancel 1\"", "assistant: done");
		assertThat(store.records(this.key, TurnRecords.LEASE)).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void resultOfAHolderThatWasSilentIsNotUsedOnceAPersonHasAnswered(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		try (Participant holder = silent(store); Participant other = participant(store)) {
			holder.pauseAndApprove(this.key, this.scenario);
			CompletableFuture<String> late = begin(() -> holder.resumed(this.key));
			ToolApproval uncertain = awaitUncertain(other);
			assertThat(other.resumed(this.key)).as("it pauses again, and runs nothing").isEqualTo("null");
			other.approvals().decide(uncertain, Decision.answer("somebody", "it was cancelled by hand"));
			assertThat(other.resumed(this.key)).isEqualTo("done");
			this.goOn.countDown();
			assertThat(late.join()).isEqualTo("TurnInProgressException");
			assertThat(other.approvals().pending(this.key)).isEmpty();
			assertThat(other.approvals().ledger(this.key)).extracting(ToolApproval::status)
				.containsExactly(ApprovalStatus.DONE);
			assertThat(log(store)).containsExactly(QUESTION, CALL, "tool cancel=it was cancelled by hand",
					"assistant: done");
			assertThatTheThreadGoesOn(other, store);
		}
		assertThat(this.effects).hasValue(1);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void resultOfAHolderThatWasSilentIsUsedWhereNobodyHasDecided(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		try (Participant holder = silent(store); Participant other = participant(store)) {
			holder.pauseAndApprove(this.key, this.scenario);
			CompletableFuture<String> late = begin(() -> holder.resumed(this.key));
			awaitUncertain(other);
			this.goOn.countDown();
			assertThat(late.join()).isEqualTo("done");
			assertThat(log(store)).containsExactly(QUESTION, CALL, "tool cancel=\"cancel 1\"", "assistant: done");
			assertThatTheThreadGoesOn(other, store);
		}
		assertThat(this.effects).hasValue(1);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void eventOfAHolderThatHasLostItsTurnHasTheStatusThatIsStored(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		try (Participant holder = silent(store); Participant other = participant(store)) {
			holder.pauseAndApprove(this.key, this.scenario);
			CompletableFuture<CallEvent> late = begin(() -> lastEvent(holder));
			ToolApproval uncertain = awaitUncertain(other);
			assertThat(other.resumed(this.key)).as("it pauses again, and runs nothing").isEqualTo("null");
			other.approvals().decide(uncertain, Decision.answer("somebody", "it was cancelled by hand"));
			assertThat(other.resumed(this.key)).isEqualTo("done");
			this.goOn.countDown();
			assertThat(late.join()).isEqualTo(new CallEvent.Failed(store.turns(this.key, Tail.ALL).get(0).id(),
					TurnStatus.COMPLETED, "turn-in-progress", true));
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void eventOfAHolderWhoseSessionWasErasedHasNoStatus(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		try (Participant holder = silent(store); Participant other = participant(store)) {
			holder.pauseAndApprove(this.key, this.scenario);
			String turn = store.turns(this.key, Tail.ALL).get(0).id();
			CompletableFuture<CallEvent> late = begin(() -> lastEvent(holder));
			awaitUncertain(other);
			store.erase(this.key);
			this.goOn.countDown();
			assertThat(late.join()).isInstanceOfSatisfying(CallEvent.Failed.class, (failed) -> {
				assertThat(failed.turnId()).isEqualTo(turn);
				assertThat(failed.status()).isNull();
				assertThat(failed.messageKept()).isFalse();
			});
		}
	}

	private CallEvent lastEvent(Participant us) {
		return Objects.requireNonNull(CallEvents.of(us.chat().prompt().advisors(SessionAdvisor.session(this.key)))
			.blockLast(Duration.ofSeconds(60)));
	}

	/**
	 * Failures of tools that are thrown end the turn only for the holder of the lease.
	 */
	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void failureOfAHolderThatWasSilentDoesNotEndTheTurn(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		ObservedStore observed = new ObservedStore(store);
		observed.beforePut(this::refuseRenewal);
		try (Participant other = participant(store); Participant holder = this.scenario.takePart(observed, (id) -> {
			this.begun.countDown();
			await().forever().until(() -> this.goOn.getCount() == 0);
		}, (id) -> {
			throw new IllegalStateException("broken");
		})) {
			holder.pauseAndApprove(this.key, this.scenario);
			CompletableFuture<String> late = begin(() -> throwing(holder).resumed(this.key));
			awaitUncertain(other);
			this.goOn.countDown();
			assertThat(late.join()).isEqualTo("ToolExecutionException");
			assertThat(store.turns(this.key, Tail.ALL)).extracting(Turn::status)
				.containsExactly(TurnStatus.AWAITING_APPROVAL);
			assertThat(other.approvals().ledger(this.key)).extracting(ToolApproval::status)
				.containsExactly(ApprovalStatus.DONE);
			assertThat(other.resumed(this.key)).isEqualTo("done");
			assertThat(log(store)).containsExactly(QUESTION, CALL, "tool cancel=broken", "assistant: done");
		}
	}

	private static Participant throwing(Participant us) {
		ToolCallingAdvisor advisor = ToolCallingAdvisor.builder()
			.toolCallingManager(DefaultToolCallingManager.builder()
				.toolExecutionExceptionProcessor(new DefaultToolExecutionExceptionProcessor(true))
				.build())
			.build();
		return new Participant(us.conversations(), us.approvals(), us.model(), us.setup(),
				us.chat().mutate().defaultAdvisors(advisor).build());
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void claimThatComesBackLateRunsNothingThatAPersonHasRejected(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		try (Participant holder = stoppedAtItsClaim(store); Participant other = participant(store)) {
			holder.pauseAndApprove(this.key, this.scenario);
			CompletableFuture<String> late = begin(() -> holder.resumed(this.key));
			other.approvals().decide(awaitUncertain(other), Decision.reject("somebody", "not any more"));
			this.goOn.countDown();
			assertThat(late.join()).isEqualTo("TurnInProgressException");
			assertThat(this.effects).hasValue(0);
			assertThat(other.approvals().ledger(this.key)).extracting(ToolApproval::status)
				.containsExactly(ApprovalStatus.REJECTED);
			assertThat(other.resumed(this.key)).isEqualTo("done");
			assertThat(log(store)).containsExactly(QUESTION, CALL, "tool cancel=not any more", "assistant: done");
			assertThatTheThreadGoesOn(other, store);
		}
		assertThat(this.effects).hasValue(0);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void claimThatComesBackLateDoesNotRunASecondTimeWhatWasRetried(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		try (Participant holder = stoppedAtItsClaim(store); Participant other = participant(store)) {
			holder.pauseAndApprove(this.key, this.scenario);
			CompletableFuture<String> late = begin(() -> holder.resumed(this.key));
			other.approvals().decide(awaitUncertain(other), Decision.retry("somebody"));
			assertThat(other.resumed(this.key)).isEqualTo("done");
			this.goOn.countDown();
			assertThat(late.join()).isEqualTo("TurnInProgressException");
			assertThat(other.approvals().ledger(this.key)).extracting(ToolApproval::status)
				.containsExactly(ApprovalStatus.DONE);
		}
		assertThat(this.effects).hasValue(1);
		assertThat(log(store)).containsExactly(QUESTION, CALL, "tool cancel=\"cancel 1\"", "assistant: done");
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void claimThatComesBackLateIsTakenBackWhereNobodyHasDecided(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		try (Participant holder = stoppedAtItsClaim(store); Participant other = participant(store)) {
			holder.pauseAndApprove(this.key, this.scenario);
			CompletableFuture<String> late = begin(() -> holder.resumed(this.key));
			awaitUncertain(other);
			this.goOn.countDown();
			assertThat(late.join()).isEqualTo("TurnInProgressException");
			assertThat(this.effects).hasValue(0);
			assertThat(other.approvals().ledger(this.key)).extracting(ToolApproval::status)
				.containsExactly(ApprovalStatus.APPROVED);
			assertThat(other.resumed(this.key)).isEqualTo("done");
		}
		assertThat(this.effects).hasValue(1);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void resultThatIsStoredLateDoesNotHideWhatAPersonHasDecidedMeanwhile(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		ObservedStore observed = new ObservedStore(store);
		AtomicBoolean away = new AtomicBoolean();
		observed.beforePut((record) -> {
			if (away.get()
					|| record.kind().equals(TurnRecords.LEASE) && record.expected() > 0 && record.payload() != null) {
				throw new StoreUnavailableException("The store is down.", null);
			}
		});
		try (Participant other = participant(store); Participant holder = this.scenario.takePart(observed, (id) -> {
			this.begun.countDown();
			other.approvals().decide(awaitUncertain(other), Decision.answer("somebody", "it was cancelled by hand"));
			away.set(true);
		}, this::count)) {
			holder.pauseAndApprove(this.key, this.scenario);
			holder.model().step((prompt) -> {
				away.set(false);
				return Flux.just(new ChatResponse(List.of(new Generation(new AssistantMessage("early")))));
			});
			assertThat(untilBegun(() -> holder.resumed(this.key))).as("it has a result that does not count")
				.endsWith("Exception");
			List<ToolApproval> ledger = other.approvals().ledger(this.key);
			assertThat(ledger).singleElement()
				.satisfies((call) -> assertThat(call.decisions()).extracting(ToolApproval.Decided::verb)
					.containsExactly(Decision.Verb.APPROVE, Decision.Verb.ANSWER));
			assertThat(other.resumed(this.key)).isEqualTo("done");
		}
		assertThat(log(store)).containsExactly(QUESTION, CALL, "tool cancel=it was cancelled by hand",
				"assistant: done");
		assertThat(this.effects).hasValue(1);
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2", "POSTGRESQL", "REDIS" })
	void resultThatWasStoredWithoutAnAnswerIsNotTakenForTheDecisionOfAPerson(TestStores kind) {
		SessionStore store = STORES.computeIfAbsent(kind, TestStores::create);
		ObservedStore observed = new ObservedStore(store);
		AtomicInteger lost = new AtomicInteger();
		observed.afterPut((record) -> {
			if (isResult(record) && lost.getAndIncrement() == 0) {
				throw new StoreUnavailableException("The answer was lost.", null);
			}
		});
		try (Participant holder = participant(observed)) {
			holder.pauseAndApprove(this.key, this.scenario);
			assertThat(holder.resumed(this.key)).isEqualTo("done");
			assertThat(holder.approvals().ledger(this.key)).extracting(ToolApproval::status)
				.containsExactly(ApprovalStatus.DONE);
		}
		assertThat(lost).hasValue(1);
		assertThat(log(store)).containsExactly(QUESTION, CALL, "tool cancel=\"cancel 1\"", "assistant: done");
		assertThat(this.effects).hasValue(1);
	}

	/** The clock that counts does not run while a machine sleeps; the wall clock does. */
	@Test
	void machineThatSleptBetweenClaimAndRunRunsNothing() {
		AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-02-03T04:05:06Z"));
		SessionStore store = new InMemorySessionStore(
				StoreOptions.of(JsonMessageCodec.create()).clock(((InstantSource) now::get).withZone(ZoneOffset.UTC)));
		ObservedStore observed = new ObservedStore(store);
		AtomicBoolean sleeps = new AtomicBoolean(true);
		observed.afterPut((record) -> {
			if (isClaim(record) && sleeps.getAndSet(false)) {
				now.updateAndGet((time) -> time.plus(Duration.ofHours(8)));
			}
		});
		try (Participant holder = participant(observed)) {
			holder.pauseAndApprove(this.key, this.scenario);
			assertThat(holder.resumed(this.key)).isEqualTo("TurnInProgressException");
			assertThat(this.effects).hasValue(0);
			assertThat(holder.resumed(this.key)).isEqualTo("done");
		}
		assertThat(this.effects).hasValue(1);
	}

	/**
	 * One that is stopped when its claim is stored, before it knows of it, until its
	 * lease is over and the test lets it go on.
	 */
	private Participant stoppedAtItsClaim(SessionStore store) {
		ObservedStore observed = new ObservedStore(store);
		observed.beforePut(this::refuseRenewal);
		observed.afterPut((record) -> {
			if (isClaim(record) && this.begun.getCount() > 0) {
				this.begun.countDown();
				await().forever().until(() -> this.goOn.getCount() == 0);
			}
		});
		return this.scenario.takePart(observed, (id) -> {
		}, this::count);
	}

	private static boolean isClaim(RecordWrite record) {
		return record.kind().equals(Ledger.APPROVAL) && String.valueOf(record.payload()).contains("\"CLAIMED\"");
	}

	private static boolean isResult(RecordWrite record) {
		return record.kind().equals(Ledger.APPROVAL) && String.valueOf(record.payload()).contains("\"DONE\"");
	}

	private void refuseRenewal(RecordWrite record) {
		if (record.kind().equals(TurnRecords.LEASE) && record.expected() > 0 && record.payload() != null) {
			throw new StoreUnavailableException("The store is down.", null);
		}
	}

	/** One that nobody takes its lease from. */
	private Participant participant(SessionStore store) {
		return this.scenario.leasedFor(Duration.ofSeconds(30)).takePart(store, (id) -> {
		}, this::count);
	}

	/**
	 * One that cannot renew its lease, and whose tool waits.
	 */
	private Participant silent(SessionStore store) {
		ObservedStore observed = new ObservedStore(store);
		observed.beforePut(this::refuseRenewal);
		return this.scenario.takePart(observed, (id) -> {
			this.begun.countDown();
			await().forever().until(() -> this.goOn.getCount() == 0);
		}, this::count);
	}

	private <T> CompletableFuture<T> begin(Supplier<T> call) {
		return CompletableFuture.supplyAsync(() -> untilBegun(call));
	}

	/**
	 * Makes a call again that has lost its lease before it ran anything, as it may on a
	 * busy machine.
	 */
	private <T> T untilBegun(Supplier<T> call) {
		T last = call.get();
		for (int i = 0; i < 20 && this.begun.getCount() > 0; i++) {
			last = call.get();
		}
		return last;
	}

	private ToolApproval awaitUncertain(Participant other) {
		await().atMost(Duration.ofSeconds(60)).until(() -> this.begun.getCount() == 0);
		await().until(() -> other.approvals()
			.pending(this.key)
			.stream()
			.anyMatch((call) -> call.status() == ApprovalStatus.UNCERTAIN));
		return other.approvals().pending(this.key).get(0);
	}

	private void assertThatTheThreadGoesOn(Participant us, SessionStore store) {
		us.model().says("done").says("done");
		us.setup().content(us.chat().prompt().user("next").advisors(SessionAdvisor.session(this.key)));
		assertThat(ValidSequence.faults(us.model().lastRequest())).isEmpty();
		assertThat(log(store)).hasSize(6).endsWith("user: next", "assistant: done");
	}

	private void count(String id) {
		this.effects.incrementAndGet();
	}

	private SessionRecord lease(SessionStore store) {
		return store.records(this.key, TurnRecords.LEASE).get(0);
	}

	private List<String> log(SessionStore store) {
		return Lines.of(store.messages(this.key));
	}

}
