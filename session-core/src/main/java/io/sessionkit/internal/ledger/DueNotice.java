package io.sessionkit.internal.ledger;

import java.time.Duration;
import java.time.Instant;

/**
 * A notice as it was read: due at a time, by the clocks of the processes.
 */
public interface DueNotice {

	/** Returns how often it was claimed. */
	int attempts();

	/** Returns when it is to be looked at next. */
	Instant due();

	/**
	 * Returns whether it may be claimed. A time that is too far ahead counts as due: it
	 * comes from a clock that has jumped.
	 * @param lease how long a notice may be claimed
	 */
	default boolean isDue(Instant now, Duration lease) {
		return !due().isAfter(now) || due().isAfter(now.plus(Delivery.LONGEST_PAUSE).plus(lease));
	}

}
