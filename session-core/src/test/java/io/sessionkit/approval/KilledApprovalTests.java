package io.sessionkit.approval;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.sessionkit.conversation.JournalingStore.Step;
import io.sessionkit.conversation.OtherProcess;
import io.sessionkit.conversation.SharedStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.util.function.SingletonSupplier;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Processes are killed while they run approved calls; this one goes on with what they
 * have left. {@code -Dsessionkit.kills=200} kills so many on each store,
 * {@code -Dsessionkit.seed} begins where another run has begun.
 */
@Order(1)
class KilledApprovalTests {

	private static final int LONGEST_DELAY_MICROS = 20_000;

	private static final Tally ALL = new Tally();

	/**
	 * The store of the sessions.
	 */
	enum Place {

		/** Each process has a file of its own, which this one opens when it is dead. */
		H2(3, SharedStore::inH2File),

		/** One database for all. */
		POSTGRESQL(3, SingletonSupplier.of(SharedStore::inPostgres)),

		/** One server for all. */
		REDIS(3, SingletonSupplier.of(SharedStore::inRedis));

		private final int kills;

		private final Supplier<SharedStore> shared;

		Place(int kills, Supplier<SharedStore> shared) {
			this.kills = kills;
			this.shared = shared;
		}

	}

	/**
	 * A process that waits for its order.
	 */
	private record Started(SharedStore shared, OtherProcess process) {
	}

	@ParameterizedTest
	@EnumSource
	void approvedCallsOfAProcessThatIsKilledRunAtMostOnce(Place place) throws IOException {
		int kills = Integer.getInteger("sessionkit.kills", place.kills);
		long seed = Long.getLong("sessionkit.seed", ThreadLocalRandom.current().nextLong(1_000_000));
		System.out.println("Kills on " + place + ": " + kills + " from seed " + seed);
		Path directory = Files.createTempDirectory(Files.createDirectories(Path.of("target", "kills").toAbsolutePath()),
				place.name());
		Tally tally = new Tally();
		KilledApproval before = null;
		CompletableFuture<Started> next = start(place, directory);
		try {
			for (int i = 0; i < kills; i++) {
				Started started = next.join();
				next = (i + 1 < kills) ? start(place, directory) : next;
				KilledApproval killed = kill(started, directory, seed + i);
				check(before, tally);
				before = killed;
			}
			check(before, tally);
		}
		finally {
			next.join().process().close();
		}
		System.out.println("Killed on " + place + ": " + tally);
		assertThat(tally.runs).isEqualTo(kills);
		ALL.add(tally);
	}

	/** Three processes alone may all have been over, or were told to run nothing. */
	@AfterAll
	static void someAreKilledAtAStepAndSomeCallsRun() {
		assertThat(ALL.kills).as("%s", ALL).isNotEmpty();
		assertThat(ALL.effects).as("%s", ALL).isPositive();
	}

	/**
	 * It starts while the one before is looked after, whose lease runs out meanwhile.
	 */
	private static CompletableFuture<Started> start(Place place, Path directory) {
		SharedStore shared = place.shared.get();
		return CompletableFuture.supplyAsync(() -> new Started(shared,
				OtherProcess.start(ApprovalProcess.class, ApprovalProcess.words(directory, shared))));
	}

	/**
	 * Half of them stop at a step and are killed there, the others run on until they are
	 * killed behind it.
	 */
	private static KilledApproval kill(Started started, Path directory, long seed) {
		Random random = new Random(~seed);
		Step step = Step.values()[random.nextInt(Step.values().length)];
		int times = 1 + (random.nextInt(2) * random.nextInt(3));
		ApprovalProcess.Order order = new ApprovalProcess.Order("killed-" + seed, seed, step, times,
				random.nextBoolean());
		try (OtherProcess process = started.process()) {
			process.tell(order.line());
			String heard = process.hear();
			assertThat(heard).as(order.line()).matches("at .*|over.*");
			int delay = order.stops() ? 0 : random.nextInt(LONGEST_DELAY_MICROS);
			CompletableFuture.runAsync(process::kill, CompletableFuture.delayedExecutor(delay, TimeUnit.MICROSECONDS))
				.join();
			return new KilledApproval(order, heard, started.shared(), directory);
		}
	}

	private static void check(@Nullable KilledApproval killed, Tally tally) {
		if (killed != null) {
			tally.add(killed, killed.check());
		}
	}

	/**
	 * The sum of the observations.
	 */
	private static final class Tally {

		private final Map<Step, Integer> kills = new EnumMap<>(Step.class);

		private int runs;

		private int over;

		private int uncertain;

		private int effects;

		void add(KilledApproval killed, KilledApproval.Seen seen) {
			this.runs++;
			this.uncertain += seen.uncertain();
			this.effects += seen.effects();
			if (killed.heard().startsWith("over")) {
				this.over++;
			}
			else {
				this.kills.merge(killed.order().step(), 1, Integer::sum);
			}
		}

		void add(Tally other) {
			other.kills.forEach((step, times) -> this.kills.merge(step, times, Integer::sum));
			this.runs += other.runs;
			this.over += other.over;
			this.uncertain += other.uncertain;
			this.effects += other.effects;
		}

		@Override
		public String toString() {
			return this.runs + " processes at " + this.kills + ", " + this.over + " when their turn was over; "
					+ this.effects + " calls have run, each once; " + this.uncertain + " were uncertain";
		}

	}

}
