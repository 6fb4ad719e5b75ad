package io.sessionkit.autoconfigure.advisor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

import io.sessionkit.Durability;
import io.sessionkit.TurnStatus;
import io.sessionkit.advisor.SessionAdvisor;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversation;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.conversation.OtherProcess;
import io.sessionkit.conversation.SharedStore;
import io.sessionkit.test.ClientSetup;
import io.sessionkit.test.WorkingModel;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application gets SIGTERM while its tools run, and this process goes on with the
 * turn.
 */
@Order(1)
class SigtermTests {

	enum Server {

		POSTGRESQL(SharedStore::inPostgres), REDIS(SharedStore::inRedis), H2_FILE(SharedStore::inH2File);

		private final Supplier<SharedStore> shared;

		Server(Supplier<SharedStore> shared) {
			this.shared = shared;
		}

	}

	@ParameterizedTest
	@CsvSource({ "POSTGRESQL,CALL,TURN,2", "POSTGRESQL,STREAM,STEP,1", "REDIS,STREAM,TURN,3", "REDIS,CALL,STEP,2",
			"H2_FILE,CALL,TURN,1", "H2_FILE,STREAM,STEP,3" })
	void anotherProcessGoesOnAtOnce(Server server, ClientSetup.Mode mode, Durability durability, int moment,
			@TempDir Path directory) throws IOException {
		Path effects = Files.createFile(directory.resolve("effects"));
		SharedStore shared = server.shared.get();
		try (OtherProcess process = OtherProcess.start(DrainingApplication.class,
				words(durability, mode, effects, moment, "20s", shared))) {
			for (int run = 1; run <= moment; run++) {
				process.hear("tool " + run);
			}
			process.terminate();
		}
		long begun = System.nanoTime();
		try (SharedStore.Connected connected = shared.connect();
				Conversations conversations = Conversations.builder(connected.store()).durability(durability).build()) {
			Approvals approvals = Approvals.of(conversations);
			Conversation conversation = conversations.get(DrainingApplication.KEY);
			assertThat(conversation.openTurn()).hasValueSatisfying((turn) -> {
				assertThat(turn.status()).isEqualTo(TurnStatus.INCOMPLETE);
				assertThat(conversation.isOpenTurnRunning()).isFalse();
			});
			assertThat(approvals.pending(DrainingApplication.KEY)).isEmpty();
			ClientSetup setup = new ClientSetup(mode, ClientSetup.ToolLoop.AUTOMATIC, false);
			assertThat(setup.content(setup.builder(new WorkingModel("work"), SessionAdvisor.of(conversations))
				.defaultTools(DrainingApplication.work(effects, (run) -> {
				}))
				.build()
				.prompt()
				.advisors(SessionAdvisor.session(DrainingApplication.KEY)))).isEqualTo("a of q:3");
			assertThat(approvals.ledger(DrainingApplication.KEY)).extracting(ToolApproval::status)
				.allMatch(ApprovalStatus.DONE::equals);
		}
		assertThat(Duration.ofNanos(System.nanoTime() - begun)).as("less than a lease")
			.isLessThan(Duration.ofSeconds(15));
		assertThat(Files.readAllLines(effects)).containsExactly("effect 1", "effect 2", "effect 3");
	}

	private static List<String> words(Durability durability, ClientSetup.Mode mode, Path effects, int moment,
			String patience, SharedStore shared) {
		List<String> words = new ArrayList<>(List.of(durability.name().toLowerCase(Locale.ROOT), mode.name(),
				effects.toString(), String.valueOf(moment), patience));
		words.addAll(shared.words());
		return words;
	}

	@Test
	void toolThatDoesNotEndIsLeftAsByAKilledProcess(@TempDir Path directory) throws IOException {
		Path effects = Files.createFile(directory.resolve("effects"));
		SharedStore shared = SharedStore.inPostgres();
		try (OtherProcess process = OtherProcess.start(DrainingApplication.class,
				words(Durability.STEP, ClientSetup.Mode.CALL, effects, 0, "5s", shared))) {
			process.hear("tool 1");
			long begun = System.nanoTime();
			process.terminate();
			assertThat(Duration.ofNanos(System.nanoTime() - begun)).isBetween(Duration.ofSeconds(5),
					Duration.ofSeconds(30));
		}
		try (SharedStore.Connected connected = shared.connect();
				Conversations conversations = Conversations.of(connected.store())) {
			Approvals approvals = Approvals.of(conversations);
			Awaitility.await()
				.atMost(Duration.ofSeconds(30))
				.until(() -> !approvals.pending(DrainingApplication.KEY).isEmpty());
			assertThat(approvals.pending(DrainingApplication.KEY)).extracting(ToolApproval::status)
				.containsExactly(ApprovalStatus.UNCERTAIN);
		}
	}

}
