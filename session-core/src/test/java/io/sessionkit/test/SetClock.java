package io.sessionkit.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/**
 * A clock that stands still until it is set. Safe for use by many threads.
 */
public final class SetClock extends Clock {

	private volatile Instant now = Instant.parse("2026-01-01T12:00:00Z");

	/** Lets time pass. */
	public void pass(Duration time) {
		this.now = this.now.plus(time);
	}

	@Override
	public ZoneId getZone() {
		return ZoneOffset.UTC;
	}

	@Override
	public Clock withZone(ZoneId zone) {
		return this;
	}

	@Override
	public Instant instant() {
		return this.now;
	}

}
