package io.sessionkit.approval;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalScenario.Participant;
import io.sessionkit.conversation.Journal;
import io.sessionkit.conversation.JournalingStore.Step;
import io.sessionkit.conversation.SharedStore;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.internal.ledger.Ledger;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ValidSequence;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.model.ChatResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The state that a killed {@link ApprovalProcess} has left, with checks that it is
 * correct.
 *
 * @param order what the process was told
 * @param heard what it said before it was killed
 * @param shared where the session is
 * @param directory where its journals are
 */
record KilledApproval(ApprovalProcess.Order order, String heard, SharedStore shared, Path directory) {

	private static final int MOST_CALLS = 10;

	/**
	 * The observations.
	 *
	 * @param uncertain how many calls were uncertain
	 * @param effects how many calls have run in all
	 */
	record Seen(int uncertain, int effects) {
	}

	/**
	 * Goes on with the session until nothing waits in it.
	 */
	Seen check() {
		try (SharedStore.Connected connected = this.shared.connect()) {
			Journal effects = ApprovalProcess.effects(this.directory, this.order.session());
			try (Participant us = scenario().takePart(connected.store(), (id) -> {
			}, effects::note)) {
				return new Check(connected.store(), us, effects).all();
			}
		}
		catch (AssertionError | RuntimeException ex) {
			throw new AssertionError("After a kill (" + this.order + ", " + this.heard + ", " + scenario() + "): "
					+ ex.getMessage() + "\n" + String.join("\n", journal().lines()), ex);
		}
	}

	private ApprovalScenario scenario() {
		return ApprovalScenario.of(this.order.seed());
	}

	private Journal journal() {
		return ApprovalProcess.journal(this.directory, this.order.session());
	}

	private final class Check {

		private final SessionKey key = SessionKey.of(KilledApproval.this.order.session());

		private final Random random = new Random(KilledApproval.this.order.seed());

		private final SessionStore store;

		private final Participant us;

		private final Journal effects;

		/** Calls of which a person has said what they have returned. */
		private final Set<String> answered = new HashSet<>();

		private Check(SessionStore store, Participant us, Journal effects) {
			this.store = store;
			this.us = us;
			this.effects = effects;
		}

		private Seen all() {
			awaitQuiet();
			assertReadable();
			int uncertain = assertUncertain();
			assertThat(this.effects.lines()).doesNotHaveDuplicates();
			goOnToTheEnd();
			assertEachRanAsDecided();
			assertReadable();
			assertThatTheNextTurnIsValid();
			return new Seen(uncertain, this.effects.lines().size());
		}

		/**
		 * The lease has run out, and a server has done what a process that is dead has
		 * sent.
		 */
		private void awaitQuiet() {
			await().pollInterval(Duration.ofMillis(50)).until(() -> leases() == 0);
			List<List<Object>> seen = new ArrayList<>();
			await().pollInterval(Duration.ofMillis(50)).until(() -> {
				seen.add(List.of(this.store.find(this.key), this.store.turns(this.key, Tail.ALL),
						this.store.records(this.key, Ledger.APPROVAL), this.store.records(this.key, Ledger.OVER)));
				return seen.size() > 2 && seen.get(seen.size() - 1).equals(seen.get(seen.size() - 3));
			});
		}

		private int leases() {
			return this.store.records(this.key, TurnRecords.LEASE).size();
		}

		private void assertReadable() {
			List<Message> log = this.store.messages(this.key);
			assertThat(ValidSequence.faults(log)).isEmpty();
			for (Turn turn : this.us.conversations().get(this.key).turns(Tail.ALL)) {
				assertThat(this.store.items(this.key, turn.number())).hasSize(turn.items())
					.extracting(SessionItem::turn)
					.containsOnly(turn.number());
			}
			assertThat(this.us.approvals().ledger(this.key)).extracting(ToolApproval::id).doesNotHaveDuplicates();
			assertThat(this.us.approvals().pending(this.key)).isSubsetOf(this.us.approvals().ledger(this.key));
		}

		/**
		 * A call is uncertain where the journal has a claim and no result. A process that
		 * stopped was not writing to the store when it was killed, so there the two are
		 * the same. Of one that ran on nobody knows whether the last write that it was
		 * about to make was made: then a claim that was about to be stored may be there
		 * or not, and so may a result.
		 */
		private int assertUncertain() {
			Set<String> uncertain = ids(ApprovalStatus.UNCERTAIN);
			if (KilledApproval.this.order.stops()) {
				assertThat(uncertain).isEqualTo(noted(Step.CLAIMED, Step.STORED));
			}
			else {
				assertThat(noted(Step.CLAIMING, Step.STORED)).containsAll(uncertain);
				Set<String> claimed = noted(Step.CLAIMED, Step.STORING);
				claimed.removeAll(decidedSinceTheirClaim());
				assertThat(uncertain).containsAll(claimed);
			}
			assertThat(ids(ApprovalStatus.DONE)).containsAll(noted(Step.STORED));
			assertThat(ids(ApprovalStatus.CLAIMED)).isEmpty();
			assertThat(noted(Step.CLAIMED)).containsAll(this.effects.lines());
			return uncertain.size();
		}

		/**
		 * A process that was held up for longer than its lease, before it was killed, has
		 * itself seen that the call is uncertain, and decided on it.
		 */
		private Set<String> decidedSinceTheirClaim() {
			List<String> lines = journal().lines();
			Set<String> decided = noted(Step.CLAIMED);
			decided.removeIf(
					(id) -> lines.lastIndexOf(Step.DECIDING + " " + id) < lines.lastIndexOf(Step.CLAIMED + " " + id));
			return decided;
		}

		private Set<String> ids(ApprovalStatus status) {
			Set<String> ids = new HashSet<>();
			this.us.approvals()
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

		private void goOnToTheEnd() {
			for (int calls = 0; isOpen(); calls++) {
				assertThat(calls).as("calls to end the turn").isLessThan(MOST_CALLS);
				this.us.approvals().pending(this.key).forEach(this::decide);
				this.us.model().says("done");
				try {
					goOn();
				}
				catch (TurnInProgressException ex) {
					await().until(() -> leases() == 0);
				}
			}
			assertThat(this.us.approvals().pending(this.key)).isEmpty();
		}

		private boolean isOpen() {
			return this.store.find(this.key).map(Session::openTurn).filter((turn) -> turn != 0).isPresent();
		}

		private void goOn() {
			ChatResponse response = this.us.setup()
				.response(this.us.chat().prompt().advisors(SessionAdvisor.session(this.key)));
			Optional<TurnStatus> status = SessionAdvisor.turn(response).map((turn) -> turn.turn().status());
			if (status.equals(Optional.of(TurnStatus.COMPLETED))) {
				assertThat(ValidSequence.faults(this.us.model().lastRequest())).isEmpty();
			}
		}

		/**
		 * Whoever sees that an uncertain call had no effect may have it run again.
		 */
		private void decide(ToolApproval call) {
			boolean uncertain = call.status() == ApprovalStatus.UNCERTAIN;
			boolean hadEffect = this.effects.lines().contains(call.id());
			if (uncertain && (hadEffect || this.random.nextBoolean())) {
				this.us.approvals().decide(call, Decision.answer("parent", "answered"));
				this.answered.add(call.id());
			}
			else if (uncertain) {
				this.us.approvals().decide(call, Decision.retry("parent"));
			}
			else if (this.random.nextInt(4) == 0) {
				this.us.approvals().decide(call, Decision.reject("parent"));
			}
			else {
				this.us.approvals().approve(call, "parent");
			}
		}

		private void assertEachRanAsDecided() {
			List<String> ran = this.effects.lines();
			assertThat(ran).as("calls that ran, each once").doesNotHaveDuplicates();
			List<ToolApproval> ledger = this.us.approvals().ledger(this.key);
			assertThat(ids(ledger)).containsAll(ran);
			for (ToolApproval call : ledger) {
				assertThat(call.status()).isIn(ApprovalStatus.DONE, ApprovalStatus.REJECTED);
				if (!this.answered.contains(call.id())) {
					assertThat(ran.contains(call.id())).as("%s, %s", call.id(), call.status())
						.isEqualTo(call.status() == ApprovalStatus.DONE);
				}
			}
		}

		private static Collection<String> ids(List<ToolApproval> calls) {
			return calls.stream().map(ToolApproval::id).toList();
		}

		private void assertThatTheNextTurnIsValid() {
			int before = this.store.messages(this.key).size();
			this.us.model().says("done").says("done").says("done");
			this.us.setup().response(this.us.chat().prompt().user("next").advisors(SessionAdvisor.session(this.key)));
			assertThat(ValidSequence.faults(this.us.model().lastRequest())).isEmpty();
			assertThat(this.us.model().lastRequest()).hasSize(before + 1);
			assertThat(this.store.messages(this.key)).hasSize(before + 2);
		}

	}

}
