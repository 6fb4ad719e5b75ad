package io.sessionkit.approval;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import io.sessionkit.approval.ApprovalScenario.Participant;
import io.sessionkit.conversation.Journal;
import io.sessionkit.conversation.OtherProcess;
import io.sessionkit.conversation.SharedStore;
import io.sessionkit.store.SessionStore;
import io.sessionkit.test.ScriptedChatModel.Lines;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several go on with the same approved calls at once: one runs them, the others are told.
 */
class ResumeRaceTests {

	private static final int THREADS = 8;

	private static final int ROUNDS = 15;

	/**
	 * The exceptions for a call that comes while another one works on the turn, for one
	 * that has seen it open and comes when it is over, and for one that comes later
	 * still.
	 */
	private static final List<String> TOLD = List.of("TurnInProgressException", "SessionConflictException",
			"NothingWaitsException");

	private final ApprovalScenario scenario = ApprovalScenario.ofOneCall().leasedFor(ApprovalProcess.LONG_LEASE);

	static Stream<Named<SharedStore>> servers() {
		return Stream.of(Named.of("PostgreSQL", SharedStore.inPostgres()), Named.of("Redis", SharedStore.inRedis()));
	}

	@ParameterizedTest
	@MethodSource("servers")
	void ofTwoProcessesOneRunsTheCallAndTheOtherIsTold(SharedStore shared) throws IOException {
		Path directory = directory();
		try (OtherProcess other = OtherProcess.start(ApprovalProcess.class, ApprovalProcess.words(directory, shared));
				SharedStore.Connected connected = shared.connect()) {
			for (int round = 0; round < ROUNDS; round++) {
				SessionKey key = newKey();
				Journal effects = ApprovalProcess.effects(directory, key.id());
				try (Participant us = this.scenario.takePart(connected.store(), (id) -> {
				}, effects::note)) {
					us.pauseAndApprove(key, this.scenario);
					other.tell("resume " + key.id());
					List<String> results = List.of(us.resumed(key), other.hear());
					assertRanOnce(results, effects.lines(), us, key);
				}
			}
		}
	}

	@ParameterizedTest
	@MethodSource("servers")
	void processThatComesWhileTheCallRunsInAnotherOneIsToldSo(SharedStore shared) throws IOException {
		Path directory = directory();
		SessionKey key = newKey();
		Journal effects = ApprovalProcess.effects(directory, key.id());
		try (OtherProcess other = OtherProcess.start(ApprovalProcess.class, ApprovalProcess.words(directory, shared));
				SharedStore.Connected connected = shared.connect();
				Participant us = this.scenario.takePart(connected.store(), (id) -> {
					other.tell("resume " + key.id());
					other.hear("TurnInProgressException");
				}, effects::note)) {
			us.pauseAndApprove(key, this.scenario);
			assertThat(us.resumed(key)).isEqualTo("done");
			other.tell("resume " + key.id());
			other.hear("NothingWaitsException");
			assertRanOnce(List.of("done"), effects.lines(), us, key);
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "MEMORY", "H2" })
	void ofEightThreadsOneRunsTheCallAndTheOthersAreTold(TestStores kind) {
		SessionStore store = kind.create();
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try {
			for (int round = 0; round < ROUNDS; round++) {
				SessionKey key = newKey();
				Queue<String> effects = new ConcurrentLinkedQueue<>();
				try (Participant us = this.scenario.takePart(store, (id) -> {
				}, effects::add)) {
					us.pauseAndApprove(key, this.scenario);
					assertRanOnce(atOnce(threads, us, key), List.copyOf(effects), us, key);
				}
			}
		}
		finally {
			threads.shutdownNow();
		}
	}

	private static List<String> atOnce(ExecutorService threads, Participant us, SessionKey key) {
		CyclicBarrier start = new CyclicBarrier(THREADS);
		List<CompletableFuture<String>> results = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			results.add(CompletableFuture.supplyAsync(() -> {
				try {
					start.await();
				}
				catch (Exception ex) {
					throw new IllegalStateException(ex);
				}
				return us.resumed(key);
			}, threads));
		}
		return results.stream().map(CompletableFuture::join).toList();
	}

	private static void assertRanOnce(List<String> results, List<String> effects, Participant us, SessionKey key) {
		assertThat(effects).hasSize(1);
		assertThat(results).containsOnlyOnce("done");
		assertThat(results).filteredOn((result) -> !result.equals("done")).isSubsetOf(TOLD);
		assertThat(us.approvals().pending(key)).isEmpty();
		assertThat(us.approvals().ledger(key)).extracting(ToolApproval::status).containsExactly(ApprovalStatus.DONE);
		assertThat(Lines.of(us.conversations().store().messages(key))).containsExactly("user: question",
				"assistant cancel({\"id\":1})", "tool cancel=\"cancel 1\"", "assistant: done");
	}

	private static Path directory() throws IOException {
		return Files.createTempDirectory(Files.createDirectories(Path.of("target", "races").toAbsolutePath()), "race");
	}

	private static SessionKey newKey() {
		return SessionKey.of(UUID.randomUUID().toString());
	}

}
