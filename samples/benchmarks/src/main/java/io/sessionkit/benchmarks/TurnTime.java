package io.sessionkit.benchmarks;

import org.jspecify.annotations.Nullable;

/**
 * The time of a turn on a session of one size.
 *
 * @param notRun why nothing was measured; null if it was
 * @param median half of the turns take no longer, in microseconds
 * @param p95 19 of 20 turns take no longer
 * @param mean the sum of all turns, divided by their number
 * @param samples the number of turns measured
 * @param sent the number of messages sent to the model in the last one
 */
record TurnTime(@Nullable String notRun, double median, double p95, double mean, int samples, int sent) {

	static TurnTime of(Samples samples, int sent) {
		return new TurnTime(null, samples.median(), samples.quantile(0.95), samples.mean(), samples.count(), sent);
	}

	static TurnTime notRun(String reason) {
		return new TurnTime(reason, Double.NaN, Double.NaN, Double.NaN, 0, 0);
	}

	boolean isRun() {
		return this.notRun == null;
	}

}
