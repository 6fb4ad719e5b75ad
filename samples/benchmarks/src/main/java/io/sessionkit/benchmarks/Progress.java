package io.sessionkit.benchmarks;

/**
 * Prints what is being measured.
 */
final class Progress {

	private static final long START = System.nanoTime();

	private Progress() {
	}

	static void say(String what) {
		System.out.printf("[%4d s] %s%n", (System.nanoTime() - START) / 1_000_000_000L, what);
	}

}
