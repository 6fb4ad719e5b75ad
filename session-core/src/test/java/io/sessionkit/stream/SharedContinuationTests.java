package io.sessionkit.stream;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.approval.ApprovalStatus;
import io.sessionkit.approval.ToolApproval;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.conversation.Conversations;
import io.sessionkit.conversation.OtherProcess;
import io.sessionkit.conversation.SharedStore;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import io.sessionkit.test.ScriptedChatModel;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.ai.chat.client.ChatClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Several processes continue the turns of one store: each effect is there once, also if
 * the process that decided, or the one that continued a turn, is killed.
 */
class SharedContinuationTests {

	private static final SessionKey DECIDED = SessionKey.of("ada", "decided");

	private static final SessionKey BEGUN = SessionKey.of("ada", "begun");

	static Stream<Named<Supplier<SharedStore>>> stores() {
		return Stream.of(Named.of("PostgreSQL", SharedStore::inPostgres), Named.of("Redis", SharedStore::inRedis));
	}

	@ParameterizedTest
	@MethodSource("stores")
	void twoInstancesHaveEachEffectOnce(Supplier<SharedStore> server, @TempDir Path directory) throws IOException {
		Path effects = Files.createFile(directory.resolve("effects"));
		ScriptedChatModel model = new ScriptedChatModel();
		List<SessionKey> keys = IntStream.range(0, 6).mapToObj((i) -> SessionKey.of("ada", "s" + i)).toList();
		try (SharedStore.Connected connected = server.get().connect();
				Conversations first = ContinuingProcess.conversations(connected.store());
				Conversations second = ContinuingProcess.conversations(connected.store())) {
			Approvals approvals = ContinuingProcess.approvals(first);
			ChatClient client = ContinuingProcess.client(model, first, approvals, effects);
			List<ToolApproval> calls = keys.stream()
				.map((key) -> ContinuingProcess.pause(client, model, approvals, key))
				.toList();
			keys.forEach((key) -> model.says("done"));
			try (TurnContinuations here = start(first, approvals, client);
					TurnContinuations there = start(second, ContinuingProcess.approvals(second), client)) {
				calls.forEach((call) -> approvals.approve(call, "anna"));
				await().atMost(Duration.ofSeconds(60))
					.until(() -> here != there
							&& connected.store().oldestRecords("notice", null, 10).records().isEmpty());
			}
		}
		assertThat(Files.readAllLines(effects))
			.containsExactlyInAnyOrderElementsOf(keys.stream().map(SessionKey::id).toList());
		assertThat(model.prompts()).hasSize(2 * keys.size());
	}

	private static TurnContinuations start(Conversations conversations, Approvals approvals, ChatClient client) {
		return ContinuingProcess.continuations(conversations, approvals, client).threads(2).start();
	}

	@Test
	void anotherProcessContinuesAndEachEffectIsThereOnce(@TempDir Path directory) throws IOException {
		Path effects = Files.createFile(directory.resolve("effects"));
		SharedStore shared = SharedStore.inPostgres();
		List<String> words = new ArrayList<>(List.of(effects.toString()));
		words.addAll(shared.words());
		try (OtherProcess other = OtherProcess.start(ContinuingProcess.class, words)) {
			other.tell(BEGUN.id());
			other.hear("decided");
			other.tell("continue");
			other.hear("asked");
			other.tell(DECIDED.id());
			other.hear("decided");
			assertThat(other.kill()).isEmpty();
		}
		ScriptedChatModel model = new ScriptedChatModel().says("done").says("done");
		try (SharedStore.Connected connected = shared.connect();
				Conversations here = ContinuingProcess.conversations(connected.store())) {
			Approvals approvals = ContinuingProcess.approvals(here);
			ChatClient client = ContinuingProcess.client(model, here, approvals, effects);
			try (TurnContinuations running = start(here, approvals, client)) {
				await().atMost(Duration.ofSeconds(60))
					.until(() -> connected.store().oldestRecords("notice", null, 10).records().isEmpty());
				assertThat(running).isNotNull();
			}
			for (SessionKey key : List.of(BEGUN, DECIDED)) {
				assertThat(connected.store().turns(key, Tail.newest(1))).extracting("status")
					.containsExactly(TurnStatus.COMPLETED);
			}
		}
		assertThat(Files.readAllLines(effects)).containsExactlyInAnyOrder(BEGUN.id(), DECIDED.id());
		assertThat(model.prompts()).hasSize(2);
	}

	/**
	 * Each effect is there once at most, and each turn whose decision was told has ended
	 * or waits for a person, since nobody knows whether its call ran.
	 */
	@ParameterizedTest
	@MethodSource("stores")
	void processesAreKilledAtAnyMoment(Supplier<SharedStore> server, @TempDir Path directory) throws Exception {
		long seed = Long.getLong("sessionkit.seed", System.nanoTime());
		System.out.println("Seed of the killed continuations: " + seed);
		Random random = new Random(seed);
		Path effects = Files.createFile(directory.resolve("effects"));
		SharedStore shared = server.get();
		List<String> words = new ArrayList<>(List.of(effects.toString()));
		words.addAll(shared.words());
		Set<String> decided = new HashSet<>();
		for (int i = 0; i < Integer.getInteger("sessionkit.kills", 1); i++) {
			try (OtherProcess other = OtherProcess.start(ContinuingProcess.class, words)) {
				other.tell("work " + i);
				decided.add(other.hear());
				Thread.sleep(random.nextInt(1500));
				decided.addAll(other.kill());
			}
		}
		ScriptedChatModel model = new ScriptedChatModel();
		ContinuingProcess.answers(model, 1000);
		int uncertain = 0;
		try (SharedStore.Connected connected = shared.connect();
				Conversations here = ContinuingProcess.conversations(connected.store())) {
			Approvals approvals = ContinuingProcess.approvals(here);
			ChatClient client = ContinuingProcess.client(model, here, approvals, effects);
			try (TurnContinuations running = start(here, approvals, client)) {
				await().atMost(Duration.ofSeconds(60))
					.until(() -> running != null && decided.stream()
						.map((id) -> SessionKey.of("ada", id))
						.allMatch((key) -> hasEnded(key, connected.store()) || isUncertain(key, approvals)));
			}
			for (String id : decided) {
				uncertain += approvals.pending(SessionKey.of("ada", id)).size();
			}
		}
		List<String> lines = Files.readAllLines(effects);
		System.out.println(decided.size() + " turns were decided, " + model.prompts().size() + " went on here, "
				+ uncertain + " are uncertain, " + lines.size() + " effects.");
		assertThat(lines).doesNotHaveDuplicates();
		assertThat(lines.size() + uncertain).isGreaterThanOrEqualTo(decided.size());
	}

	private static boolean hasEnded(SessionKey key, SessionStore store) {
		return store.turns(key, Tail.newest(1)).get(0).status() == TurnStatus.COMPLETED;
	}

	private static boolean isUncertain(SessionKey key, Approvals approvals) {
		return approvals.pending(key).stream().anyMatch((call) -> call.status() == ApprovalStatus.UNCERTAIN);
	}

}
