package io.sessionkit.benchmarks;

import java.util.Arrays;

/**
 * Times in nanoseconds and their statistics. Not safe for use by many threads.
 */
final class Samples {

	private long[] values = new long[64];

	private int count;

	private long sum;

	void add(long nanos) {
		if (this.count == this.values.length) {
			this.values = Arrays.copyOf(this.values, 2 * this.count);
		}
		this.values[this.count++] = nanos;
		this.sum += nanos;
	}

	int count() {
		return this.count;
	}

	/** Returns the sum of all samples, in nanoseconds. */
	long sum() {
		return this.sum;
	}

	/** Returns the mean, in microseconds. */
	double mean() {
		return this.sum / 1_000.0 / this.count;
	}

	/** Returns the median, in microseconds. */
	double median() {
		return quantile(0.5);
	}

	/**
	 * Returns the time that this part of the samples does not exceed, in microseconds.
	 */
	double quantile(double part) {
		long[] sorted = Arrays.copyOf(this.values, this.count);
		Arrays.sort(sorted);
		int index = (int) Math.ceil(part * this.count) - 1;
		return sorted[Math.max(0, index)] / 1_000.0;
	}

}
