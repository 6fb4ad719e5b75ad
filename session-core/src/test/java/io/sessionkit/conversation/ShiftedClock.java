package io.sessionkit.conversation;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A clock that runs, and is days ahead.
 */
final class ShiftedClock extends Clock {

	private final AtomicLong days = new AtomicLong();

	void pass(int days) {
		this.days.addAndGet(days);
	}

	long days() {
		return this.days.get();
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
		return Clock.systemUTC().instant().plus(Duration.ofDays(days()));
	}

}
