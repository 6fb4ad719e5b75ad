package io.sessionkit.advisor;

import java.time.Duration;

import io.sessionkit.Concurrency;
import io.sessionkit.OnCancel;
import io.sessionkit.internal.LongestTime;

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

	CallRules onCancel(OnCancel rule) {
		return new CallRules(rule, this.concurrency, this.concurrencyTimeout, this.idempotencyTimeToLive);
	}

	CallRules concurrency(Concurrency rule) {
		return new CallRules(this.onCancel, rule, this.concurrencyTimeout, this.idempotencyTimeToLive);
	}

	CallRules concurrencyTimeout(Duration timeout) {
		if (timeout.isNegative() || LongestTime.isBelow(timeout)) {
			throw new IllegalArgumentException("A call cannot wait for " + timeout
					+ ". Use a positive duration of a year at most, or zero not to wait.");
		}
		return new CallRules(this.onCancel, this.concurrency, timeout, this.idempotencyTimeToLive);
	}

	CallRules idempotencyTimeToLive(Duration timeToLive) {
		if (timeToLive.isNegative() || timeToLive.isZero()) {
			throw new IllegalArgumentException(
					"A request cannot be repeated for " + timeToLive + ". Use a positive duration.");
		}
		return new CallRules(this.onCancel, this.concurrency, this.concurrencyTimeout, timeToLive);
	}

}
