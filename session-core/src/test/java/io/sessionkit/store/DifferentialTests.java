package io.sessionkit.store;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

import io.sessionkit.test.TestStores;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every store does what a simple model does. {@code -Dsessionkit.operations=10000000}
 * makes so many operations over all stores instead of fifty thousand, and
 * {@code -Dsessionkit.seed} begins with the program that another run has named.
 */
@Order(2)
class DifferentialTests {

	private static final int OPERATIONS = 50_000;

	private static final int OPERATIONS_OF_A_PROGRAM = 250;

	private static final int PROGRESS = 500_000;

	@ParameterizedTest
	@EnumSource
	void doesWhatTheModelDoes(TestStores kind) {
		long operations = Long.getLong("sessionkit.operations", OPERATIONS) * percent(kind) / 100;
		long seed = Long.getLong("sessionkit.seed", ThreadLocalRandom.current().nextLong(1_000_000_000));
		System.out.println(operations + " operations on " + kind + " from seed " + seed);
		SessionStore store = kind.create();
		long start = System.nanoTime();
		for (long done = 0; done < operations; done += OPERATIONS_OF_A_PROGRAM) {
			new RandomProgram(List.of(store), seed++, OPERATIONS_OF_A_PROGRAM).run();
			if (done / PROGRESS != (done + OPERATIONS_OF_A_PROGRAM) / PROGRESS) {
				System.out.println(kind + ": " + (done + OPERATIONS_OF_A_PROGRAM) + " operations, next seed " + seed);
			}
		}
		System.out
			.println(kind + ": " + operations + " operations in " + (System.nanoTime() - start) / 1_000_000 + " ms");
	}

	/**
	 * As many as each can do in about the same time.
	 */
	private static int percent(TestStores kind) {
		return switch (kind) {
			case MEMORY -> 72;
			case H2 -> 10;
			case FILE, HSQLDB, SQLITE, POSTGRESQL, MARIADB, REDIS, REDIS_CLUSTER -> 3;
		};
	}

}
