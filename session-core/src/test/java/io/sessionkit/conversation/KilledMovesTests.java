package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import io.sessionkit.SessionKey;
import io.sessionkit.store.Tail;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

import org.springframework.ai.chat.messages.Message;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process that asks, edits, regenerates, undoes and redoes is killed at any moment: the
 * thread is as before or as after the step that it was in. {@code -Dsessionkit.kills=100}
 * kills so many on each store.
 */
@Order(2)
class KilledMovesTests {

	private static final int KILLS = Integer.getInteger("sessionkit.kills", 2);

	private static final long LONGEST_MILLIS = 250;

	@Test
	void threadInAFileIsAsBeforeOrAsAfter() {
		kill(SharedStore.inH2File());
	}

	@Test
	void threadInPostgresIsAsBeforeOrAsAfter() {
		kill(SharedStore.inPostgres());
	}

	@Test
	void threadInRedisIsAsBeforeOrAsAfter() {
		kill(SharedStore.inRedis());
	}

	private static void kill(SharedStore shared) {
		int unfinished = 0;
		for (int i = 0; i < KILLS; i++) {
			unfinished += killOnce(shared, ThreadLocalRandom.current().nextLong(1_000_000_000), i % 2) ? 1 : 0;
		}
		System.out.println(KILLS + " kills on " + shared.words().get(0) + ", " + unfinished
				+ " of them after a step was stored and before it was said");
	}

	/**
	 * Returns whether the process was killed after it had stored more than it had said.
	 * @param least the number of steps that it is given the time for, however long they
	 * take
	 */
	private static boolean killOnce(SharedStore shared, long seed, int least) {
		String id = UUID.randomUUID().toString();
		OtherProcess process = OtherProcess.start(MovingProcess.class, shared.words());
		process.tell(id + " " + seed);
		for (int i = 0; i < least; i++) {
			process.hear("done " + i);
		}
		LockSupport
			.parkNanos(TimeUnit.MILLISECONDS.toNanos(1) * ThreadLocalRandom.current().nextLong(1, LONGEST_MILLIS));
		List<String> said = process.kill();
		int done = least + said.size();
		assertThat(said).as("steps of seed %d", seed)
			.containsExactlyElementsOf(IntStream.range(least, done).mapToObj((i) -> "done " + i).toList());
		try (SharedStore.Connected connected = shared.connect()) {
			Conversation thread = Conversations.of(connected.store()).get(SessionKey.of("killed", id));
			List<String> log = thread.messages().stream().map(Message::getText).toList();
			List<List<String>> states = states(seed, done + 1);
			assertThat(log).as("log after %d steps of seed %d", done, seed)
				.isIn(states.get(done), states.get(done + 1));
			assertThat(thread.openTurn()).isEmpty();
			assertThat(thread.turns(Tail.ALL)).allMatch((turn) -> turn.items() == 2);
			thread.redo(1);
			thread.undo(1);
			return !log.equals(states.get(done));
		}
	}

	/** The log before the first step, and after each. */
	private static List<List<String>> states(long seed, int steps) {
		Random random = new Random(seed);
		TimeModel model = new TimeModel();
		List<List<String>> states = new ArrayList<>(List.of(List.of()));
		for (int i = 0; i < steps; i++) {
			KilledStep.next(random, model, i);
			states.add(model.log());
		}
		return states;
	}

}
