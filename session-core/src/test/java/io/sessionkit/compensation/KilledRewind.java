package io.sessionkit.compensation;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.Decision;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.compensation.RewindScenario.Participant;
import io.sessionkit.conversation.Journal;
import io.sessionkit.conversation.JournalingStore.Step;
import io.sessionkit.conversation.SharedStore;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.store.SessionStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The state that a killed {@link RewindProcess} has left, with checks that it is correct.
 *
 * @param order what the process was told
 * @param heard what it said before it was killed
 * @param shared where the session is
 * @param directory where its journals are
 */
record KilledRewind(RewindProcess.Order order, String heard, SharedStore shared, Path directory) {

	private static final int MOST_REWINDS = 20;

	/** There is nothing left if the process was killed after the head had moved. */
	private static final Set<RewindReport.Status> OVER = Set.of(RewindReport.Status.COMPLETED,
			RewindReport.Status.NOTHING);

	/**
	 * The observations.
	 *
	 * @param uncertain how many calls were uncertain
	 * @param effects how many effects were taken back in all
	 */
	record Seen(int uncertain, int effects) {
	}

	/**
	 * Goes on with the rewind until it is complete.
	 */
	Seen check() {
		try (SharedStore.Connected connected = this.shared.connect()) {
			Journal effects = RewindProcess.effects(this.directory, this.order.session());
			RewindScenario.Tools tools = new RewindScenario.Tools((id) -> {
			}, effects::note);
			try (Participant us = RewindScenario.takePart(connected.store(), tools)) {
				return new Check(connected.store(), us, effects).all();
			}
		}
		catch (AssertionError | RuntimeException ex) {
			throw new AssertionError("After a kill (" + this.order + ", " + this.heard + "): " + ex.getMessage() + "\n"
					+ String.join("\n", journal().lines()), ex);
		}
	}

	private Journal journal() {
		return RewindProcess.journal(this.directory, this.order.session());
	}

	private final class Check {

		private final SessionKey key = SessionKey.of(KilledRewind.this.order.session());

		private final Random random = new Random(KilledRewind.this.order.seed());

		private final SessionStore store;

		private final Participant us;

		private final Journal effects;

		/** Calls of which a person has said that they are done. */
		private final Set<String> answered = new HashSet<>();

		private Check(SessionStore store, Participant us, Journal effects) {
			this.store = store;
			this.us = us;
			this.effects = effects;
		}

		private Seen all() {
			awaitQuiet();
			int uncertain = assertUncertain();
			assertThat(this.effects.lines()).as("effects when it was killed").doesNotHaveDuplicates();
			assertHeadStaysUntilAllIsDone();
			goOnToTheEnd();
			assertEachIsTakenBackOnce();
			return new Seen(uncertain, this.effects.lines().size());
		}

		/**
		 * The lease has run out, and a server has done what a process that is dead has
		 * sent.
		 */
		private void awaitQuiet() {
			await().pollInterval(Duration.ofMillis(50))
				.until(() -> this.store.records(this.key, TurnRecords.REWIND).isEmpty());
			List<List<Object>> seen = new ArrayList<>();
			await().pollInterval(Duration.ofMillis(50)).until(() -> {
				seen.add(List.of(this.store.find(this.key), this.store.records(this.key, Ledger.COMPENSATION)));
				return seen.size() > 2 && seen.get(seen.size() - 1).equals(seen.get(seen.size() - 3));
			});
		}

		/**
		 * A call is uncertain where the journal has a claim and no result. A process that
		 * stopped was not writing to the store when it was killed, so there the two are
		 * the same. Of one that ran on nobody knows whether the last write that it was
		 * about to make was made.
		 */
		private int assertUncertain() {
			Set<String> uncertain = ids(ApprovalStatus.UNCERTAIN);
			if (KilledRewind.this.order.stops()) {
				assertThat(uncertain).isEqualTo(noted(Step.CLAIMED, Step.STORED));
			}
			else {
				assertThat(noted(Step.CLAIMING, Step.STORED)).containsAll(uncertain);
				assertThat(uncertain).containsAll(noted(Step.CLAIMED, Step.STORING));
			}
			assertThat(ids(ApprovalStatus.DONE)).containsAll(noted(Step.STORED));
			assertThat(ids(ApprovalStatus.CLAIMED)).isEmpty();
			assertThat(noted(Step.CLAIMED)).containsAll(this.effects.lines());
			assertThat(this.us.compensations().pending(this.key)).extracting(ToolApproval::id).containsAll(uncertain);
			return uncertain.size();
		}

		private Set<String> ids(ApprovalStatus status) {
			Set<String> ids = new HashSet<>();
			this.us.compensations()
				.ledger(this.key)
				.stream()
				.filter((call) -> call.status() == status)
				.forEach((call) -> ids.add(call.id()));
			return ids;
		}

		private Set<String> noted(Step step) {
			return new HashSet<>(journal().after(step.name()));
		}

		private Set<String> noted(Step step, Step butNot) {
			Set<String> ids = noted(step);
			ids.removeAll(noted(butNot));
			return ids;
		}

		private RewindScenario scenario() {
			return new RewindScenario(KilledRewind.this.order.seed());
		}

		private void assertHeadStaysUntilAllIsDone() {
			long head = this.store.find(this.key).orElseThrow().head();
			if (head == 0) {
				assertThat(ids(ApprovalStatus.DONE)).hasSize(scenario().effects());
			}
			else {
				assertThat(head).isEqualTo(scenario().numberOfTurns());
			}
		}

		private void goOnToTheEnd() {
			RewindPlan plan = this.us.compensations().plan(this.key, scenario().numberOfTurns());
			RewindReport report = this.us.compensations().rewind(plan);
			for (int i = 0; !OVER.contains(report.status()); i++) {
				assertThat(i).as("rewinds until all is done").isLessThan(MOST_REWINDS);
				assertThat(report.status()).isIn(RewindReport.Status.WAITING, RewindReport.Status.STOPPED);
				this.us.compensations().pending(this.key).forEach(this::decide);
				report = this.us.compensations().rewind(plan);
			}
			assertThat(this.us.compensations().pending(this.key)).isEmpty();
			assertThat(this.store.messages(this.key)).isEmpty();
		}

		/**
		 * Whoever sees that an uncertain call had no effect may have it run again.
		 */
		private void decide(ToolApproval call) {
			boolean uncertain = call.status() == ApprovalStatus.UNCERTAIN;
			boolean hadEffect = this.effects.lines().contains(call.id());
			if (uncertain && (hadEffect || this.random.nextBoolean())) {
				this.us.compensations().decide(call, Decision.answer("parent", "I looked it up."));
				this.answered.add(call.id());
			}
			else {
				this.us.compensations().decide(call, uncertain ? Decision.retry("parent") : Decision.approve("parent"));
			}
		}

		private void assertEachIsTakenBackOnce() {
			List<String> takenBack = this.effects.lines();
			assertThat(takenBack).as("effects that were taken back, each once").doesNotHaveDuplicates();
			List<ToolApproval> ledger = this.us.compensations().ledger(this.key);
			assertThat(ledger).hasSize(scenario().effects());
			for (ToolApproval call : ledger) {
				assertThat(call.status()).isEqualTo(ApprovalStatus.DONE);
				if (!this.answered.contains(call.id())) {
					assertThat(takenBack).contains(call.id());
				}
			}
		}

	}

}
