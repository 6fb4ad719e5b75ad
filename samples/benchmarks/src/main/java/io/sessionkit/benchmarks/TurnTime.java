package io.sessionkit.benchmarks;

import org.jspecify.annotations.Nullable;

/**
 * How long a turn takes on a thread of one size.
 *
 * @param notRun why there is nothing to say; null if there is
 * @param median half of the turns take no longer, in microseconds
 * @param p95 19 of 20 turns take no longer
 * @param mean all turns together, divided by their number
 * @param samples how many turns were measured
 * @param sent how many messages the model was sent in the last one
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
