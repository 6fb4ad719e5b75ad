package io.sessionkit.conversation;

import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;

import io.sessionkit.codec.JsonMessageCodec;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.memory.InMemorySessionStore;
import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Random sequences of turns, moves, branches, deletions and retention do on every store
 * what a simple model does. {@code -Dsessionkit.sequences=20000} makes so many in memory
 * instead of {@value #IN_MEMORY}, a tenth of them on each server, and a hundredth on the
 * other stores; {@code -Dsessionkit.store=MEMORY} makes them on one store alone, side by
 * side. {@code -Dsessionkit.seed} begins with the one that another run has named.
 */
@Order(2)
@Execution(ExecutionMode.CONCURRENT)
class TimeProgramTests {

	private static final int IN_MEMORY = 100;

	private static final int OPERATIONS = 200;

	private static final StoreOptions OPTIONS = StoreOptions.of(JsonMessageCodec.create());

	@ParameterizedTest
	@EnumSource
	void doesWhatTheModelDoes(TestStores kind) {
		long sequences = Long.getLong("sessionkit.sequences", IN_MEMORY) / share(kind);
		long seed = Long.getLong("sessionkit.seed", ThreadLocalRandom.current().nextLong(1_000_000_000));
		System.out.println(sequences + " sequences of moves on " + kind + " from seed " + seed);
		SessionStore store = kind.create();
		LongConsumer program = (kind == TestStores.MEMORY) ? TimeProgramTests::inMemory
				: (each) -> new TimeProgram(store, null, each).run(OPERATIONS);
		long start = System.nanoTime();
		LongStream seeds = LongStream.range(seed, seed + sequences);
		// beside other stores and tests there is no processor to spare
		boolean alone = System.getProperty("sessionkit.store") != null;
		(alone ? seeds.parallel() : seeds).forEach(program);
		System.out
			.println(kind + ": " + sequences + " sequences in " + (System.nanoTime() - start) / 1_000_000 + " ms");
	}

	/** With a clock of its own for each, by which turns get old. */
	private static void inMemory(long seed) {
		ShiftedClock clock = new ShiftedClock();
		new TimeProgram(new InMemorySessionStore(OPTIONS.clock(clock)), clock, seed).run(OPERATIONS);
	}

	private static int share(TestStores kind) {
		return switch (kind) {
			case MEMORY -> 1;
			case POSTGRESQL, MARIADB, REDIS -> 10;
			case H2, HSQLDB, SQLITE, FILE, REDIS_CLUSTER -> 100;
		};
	}

}
