package io.sessionkit.approval;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.approval.ApprovalScenario.Participant;
import io.sessionkit.conversation.Journal;
import io.sessionkit.conversation.JournalingStore.Step;
import io.sessionkit.conversation.OtherProcess;
import io.sessionkit.conversation.SharedStore;
import io.sessionkit.internal.lease.TurnRecords;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.ValidSequence;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A process is stopped while it goes on with turns, longer than its leases last, and
 * somebody decides here meanwhile. Then it is woken, knows nothing of that, and must
 * neither run a call again nor one that was rejected. One stop serves all cases: each has
 * a session of its own, at its own step.
 */
@Order(2)
@Timeout(300)
class StoppedApprovalTests {

	private static final String QUESTION = "user: question";

	private static final String CALL = "assistant cancel({\"id\":1})";

	/**
	 * The decision of a person while the other process is stopped.
	 */
	private enum Word {

		REJECT, RETRY, ANSWER, CANCEL,

		/** Nothing is to be decided; the turn just goes on. */
		NONE

	}

	/**
	 * A turn in a session of its own.
	 *
	 * @param step where the other process is stopped
	 * @param word what is decided meanwhile
	 * @param ends whether the turn is also ended meanwhile, or only when the other
	 * process is awake again
	 * @param session the id of the session
	 */
	private record Case(Step step, Word word, boolean ends, String session) {

		static Stream<Case> of(Step step, Word... words) {
			return Stream.of(words)
				.flatMap((word) -> Stream.of(true, false)
					.map((ends) -> new Case(step, word, ends, UUID.randomUUID().toString())));
		}

		SessionKey key() {
			return SessionKey.of(this.session);
		}

		String title() {
			return "stopped at " + this.step + ", " + this.word + ", ended " + (this.ends ? "before" : "after");
		}

		/**
		 * Returns the number of times that the tool may have run. Nobody can stop one
		 * that has begun.
		 */
		int runs() {
			boolean before = this.step == Step.CLAIMING || this.step == Step.CLAIMED;
			boolean runsHere = this.word == Word.RETRY || this.word == Word.NONE;
			return (before && !runsHere) ? 0 : 1;
		}

	}

	/**
	 * A retry of a call whose tool has begun is not among them: the person says by it
	 * that it is to run again, beside one that may still run.
	 */
	private static List<Case> cases() {
		return Stream
			.of(Case.of(Step.CLAIMING, Word.NONE, Word.CANCEL),
					Case.of(Step.CLAIMED, Word.REJECT, Word.RETRY, Word.ANSWER, Word.CANCEL),
					Case.of(Step.BEGUN, Word.REJECT, Word.ANSWER, Word.CANCEL),
					Case.of(Step.RAN, Word.REJECT, Word.ANSWER, Word.CANCEL),
					Case.of(Step.STORING, Word.REJECT, Word.ANSWER, Word.CANCEL), Case.of(Step.STORED, Word.NONE))
			.flatMap((cases) -> cases)
			.toList();
	}

	@TestFactory
	Stream<DynamicTest> callsRunOnceAndNeverAgainstARejectionOnPostgres() throws IOException {
		return tests(SharedStore::inPostgres);
	}

	@TestFactory
	Stream<DynamicTest> callsRunOnceAndNeverAgainstARejectionOnRedis() throws IOException {
		return tests(SharedStore::inRedis);
	}

	private static Stream<DynamicTest> tests(Supplier<SharedStore> place) throws IOException {
		SharedStore shared = place.get();
		SessionStore store = shared.open();
		Path directory = Files.createTempDirectory(Files.createDirectories(Path.of("target", "stops").toAbsolutePath()),
				"stop");
		List<Stop> stops = cases().stream().map((one) -> new Stop(one, store, directory)).toList();
		Map<String, String> over = new HashMap<>();
		try (OtherProcess other = OtherProcess.start(ApprovalProcess.class, ApprovalProcess.words(directory, shared))) {
			stops.forEach(Stop::pause);
			stops.forEach((stop) -> other.tell("stop " + stop.now.session() + " " + stop.now.step()));
			List<String> heard = new ArrayList<>();
			stops.forEach((stop) -> heard.add(other.hear()));
			assertThat(heard).containsExactlyInAnyOrderElementsOf(
					stops.stream().map((stop) -> "at " + stop.now.step() + " " + stop.now.session()).toList());
			other.freeze();
			stops.forEach(Stop::decide);
			other.tell("go");
			other.wake();
			stops.forEach((stop) -> {
				String[] words = other.hear().split(" ", 3);
				over.put(words[1], words[2]);
			});
		}
		return stops.stream().map((stop) -> DynamicTest.dynamicTest(stop.now.title(), () -> {
			try (stop) {
				stop.check(over.get(stop.now.session()));
			}
		}));
	}

	/**
	 * One case, seen from here.
	 */
	private static final class Stop implements AutoCloseable {

		private final Case now;

		private final SessionStore store;

		private final Journal effects;

		private final Participant us;

		private Stop(Case now, SessionStore store, Path directory) {
			this.now = now;
			this.store = store;
			this.effects = ApprovalProcess.effects(directory, now.session());
			this.us = ApprovalScenario.ofOneCall().leasedFor(ApprovalProcess.LEASE_OF_MANY).takePart(store, (id) -> {
			}, this.effects::note);
		}

		private void pause() {
			this.us.pauseAndApprove(this.now.key(), ApprovalScenario.ofOneCall());
		}

		private void decide() {
			await().pollDelay(Duration.ZERO)
				.atMost(Duration.ofSeconds(20))
				.until(() -> this.store.records(this.now.key(), TurnRecords.LEASE).isEmpty());
			switch (this.now.word()) {
				case REJECT -> decide(Decision.reject("anna"));
				case RETRY -> decide(Decision.retry("anna"));
				case ANSWER -> decide(Decision.answer("anna", "what anna said"));
				case CANCEL -> this.us.approvals().cancel(this.now.key());
				case NONE -> {
				}
			}
			if (this.now.ends()) {
				end();
			}
		}

		private void decide(Decision decision) {
			List<ToolApproval> pending = this.us.approvals().pending(this.now.key());
			assertThat(pending).as(this.now.title())
				.extracting(ToolApproval::status)
				.containsExactly(ApprovalStatus.UNCERTAIN);
			this.us.approvals().decide(pending.get(0), decision);
		}

		private void end() {
			if (isOpen()) {
				this.us.resumed(this.now.key());
			}
		}

		private boolean isOpen() {
			return this.store.find(this.now.key()).map(Session::openTurn).filter((turn) -> turn != 0).isPresent();
		}

		private void check(String heard) {
			await().pollDelay(Duration.ZERO)
				.atMost(Duration.ofSeconds(20))
				.until(() -> this.store.records(this.now.key(), TurnRecords.LEASE).isEmpty());
			end();
			assertThat(this.effects.lines()).as("runs; the other process said %s", heard).hasSize(this.now.runs());
			assertThat(isOpen()).isFalse();
			assertThat(this.store.turns(this.now.key(), Tail.ALL)).extracting((turn) -> turn.status())
				.containsExactly(TurnStatus.COMPLETED);
			assertThat(ValidSequence.faults(this.store.messages(this.now.key()))).isEmpty();
			assertLog(Lines.of(this.store.messages(this.now.key())));
			assertThat(this.us.approvals().ledger(this.now.key())).extracting(ToolApproval::status)
				.containsExactly(switch (this.now.word()) {
					case REJECT -> ApprovalStatus.REJECTED;
					// once claimed, nobody knows
					case CANCEL ->
						(this.now.step() == Step.CLAIMING) ? ApprovalStatus.CANCELLED : ApprovalStatus.UNCERTAIN;
					case RETRY, ANSWER, NONE -> ApprovalStatus.DONE;
				});
		}

		/**
		 * The thread says what the person said, not what came late.
		 */
		private void assertLog(List<String> log) {
			assertThat(log).startsWith(QUESTION, CALL);
			switch (this.now.word()) {
				case RETRY, NONE -> assertThat(log.get(2)).isEqualTo("tool cancel=\"cancel 1\"");
				case ANSWER -> assertThat(log.get(2)).contains("what anna said");
				case REJECT, CANCEL -> assertThat(log.get(2)).startsWith("tool cancel=").doesNotContain("cancel 1");
			}
		}

		@Override
		public void close() {
			this.us.close();
		}

	}

}
