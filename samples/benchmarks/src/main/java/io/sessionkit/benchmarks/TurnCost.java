package io.sessionkit.benchmarks;

import org.jspecify.annotations.Nullable;

/**
 * The cost of a turn for the place where it is stored. Values that cannot be counted
 * there are null.
 *
 * @param roundTrips how often the driver waited for an answer
 * @param inserted the rows inserted
 * @param updated the rows updated
 * @param deleted the rows deleted
 * @param sent the bytes that the driver sent
 * @param received the bytes that the driver received
 */
record TurnCost(@Nullable Double roundTrips, @Nullable Double inserted, @Nullable Double updated,
		@Nullable Double deleted, @Nullable Double sent, @Nullable Double received) {

	/** A cost of which nothing can be counted. */
	static final TurnCost UNKNOWN = new TurnCost(null, null, null, null, null, null);

	/**
	 * Creates a cost of which only the round trips are known.
	 */
	static TurnCost ofRoundTrips(double roundTrips) {
		return new TurnCost(roundTrips, null, null, null, null, null);
	}

}
