package io.sessionkit.advisor;

import java.time.Duration;

import io.sessionkit.Concurrency;
import io.sessionkit.OnCancel;

/**
 * The rules for calls that do not say otherwise.
 *
 * @param onCancel what becomes of an answer that is no longer read
 * @param concurrency how a call is treated while another one works
 * @param concurrencyTimeout how long a call waits at most for those before it
 * @param idempotencyTimeToLive how long the turn of a request that can be repeated is
 * remembered
 */
record CallRules(OnCancel onCancel, Concurrency concurrency, Duration concurrencyTimeout,
		Duration idempotencyTimeToLive) {

	static final CallRules DEFAULT = new CallRules(OnCancel.DISCARD, Concurrency.OPTIMISTIC, Duration.ofMinutes(1),
			Duration.ofDays(1));

}
