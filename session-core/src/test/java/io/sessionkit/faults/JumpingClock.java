package io.sessionkit.faults;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Random;

/**
 * A clock that goes on, stands still, and goes hours back or ahead.
 */
final class JumpingClock extends Clock {

	private static final int MOST_HOURS = 6;

	private final Random random;

	private volatile Duration offset = Duration.ZERO;

	/** The time at which it stands; {@link Instant#MAX} while it runs. */
	private volatile Instant still = Instant.MAX;

	JumpingClock(long seed) {
		this.random = new Random(seed);
	}

	/**
	 * Does something that no clock should do.
	 */
	void jump() {
		this.still = Instant.MAX;
		switch (this.random.nextInt(3)) {
			case 0 -> this.still = instant();
			case 1 -> this.offset = this.offset.plusHours(1 + this.random.nextInt(MOST_HOURS));
			default -> this.offset = this.offset.minusHours(1 + this.random.nextInt(MOST_HOURS));
		}
	}

	/**
	 * From now on it goes as clocks do, from the latest time that it has ever shown.
	 */
	void runOn() {
		this.offset = Duration.ofDays(365);
		this.still = Instant.MAX;
	}

	@Override
	public Instant instant() {
		Instant stands = this.still;
		return stands.equals(Instant.MAX) ? Instant.now().plus(this.offset) : stands;
	}

	@Override
	public ZoneId getZone() {
		return ZoneOffset.UTC;
	}

	@Override
	public Clock withZone(ZoneId zone) {
		return this;
	}

}
