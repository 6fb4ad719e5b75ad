package io.sessionkit.benchmarks;

import java.time.Duration;
import java.util.List;

/**
 * Runs all contenders for the same time, until what they run is compiled.
 */
final class WarmUp {

	/** The slices, in each of which all contenders have their turn. */
	private static final int SLICES = 10;

	private WarmUp() {
	}

	/**
	 * Runs each contender, on a new session for each slice: one without a window would
	 * get slower and slower.
	 */
	static void run(List<Contender> contenders, Options options) {
		Duration slice = options.pace().warmUp().dividedBy(SLICES);
		for (int number = 0; number < SLICES; number++) {
			Progress.say("warm-up, slice " + (number + 1) + " of " + SLICES);
			for (Contender contender : contenders) {
				turns(contender, "w" + number, slice);
			}
		}
	}

	private static void turns(Contender contender, String thread, Duration time) {
		contender.preload(thread, Contenders.WINDOW_MESSAGES);
		long end = System.nanoTime() + time.toNanos();
		for (int i = 0; System.nanoTime() < end; i++) {
			contender.threads().turn(thread, Dialogue.question(i));
		}
	}

}
