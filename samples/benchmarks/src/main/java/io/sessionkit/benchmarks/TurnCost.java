package io.sessionkit.benchmarks;

import org.jspecify.annotations.Nullable;

/**
 * What a turn costs the place where it is stored. Null is what cannot be counted there.
 *
 * @param roundTrips how often the driver waited for an answer
 * @param inserted rows inserted
 * @param updated rows updated
 * @param deleted rows deleted
 * @param sent bytes that the driver sent
 * @param received bytes that the driver received
 */
record TurnCost(@Nullable Double roundTrips, @Nullable Double inserted, @Nullable Double updated,
		@Nullable Double deleted, @Nullable Double sent, @Nullable Double received) {

	/** Nothing can be counted. */
	static final TurnCost UNKNOWN = new TurnCost(null, null, null, null, null, null);

	/**
	 * A cost of which only the round trips are known.
	 */
	static TurnCost ofRoundTrips(double roundTrips) {
		return new TurnCost(roundTrips, null, null, null, null, null);
	}

}
