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
 * @param allocated the mean of the bytes that the thread that calls allocates in a turn
 */
record TurnTime(@Nullable String notRun, double median, double p95, double mean, int samples, int sent,
		double allocated) {

	/** The bytes of a KB. */
	static final double KB = 1_024;

	static TurnTime of(Samples samples, int sent, long allocated) {
		return new TurnTime(null, samples.median(), samples.quantile(0.95), samples.mean(), samples.count(), sent,
				(double) allocated / samples.count());
	}

	static TurnTime notRun(String reason) {
		return new TurnTime(reason, Double.NaN, Double.NaN, Double.NaN, 0, 0, Double.NaN);
	}

	boolean isRun() {
		return this.notRun == null;
	}

}
