package io.sessionkit.internal.ledger;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * The rules by which the work of a notice is done at least once, by one process at a
 * time:
 * <ol>
 * <li>A process claims a notice that is due: it moves its time, by compare-and-set, and
 * counts the attempt.
 * <li>It does the work and removes the notice.
 * <li>If the work fails, the notice is due again after a second, then each time after
 * twice as long, up to an hour.
 * <li>After {@value #MAX_ATTEMPTS} attempts it is given up: it is removed, which the log
 * says.
 * <li>If the process dies, another one claims the notice when its time has come.
 * </ol>
 * Safe for use by many threads.
 *
 * @param <T> the notice
 */
public final class Delivery<T extends DueNotice> {

	/** The maximum number of attempts. */
	public static final int MAX_ATTEMPTS = 20;

	/** The longest time for which a notice is claimed. */
	public static final Duration LEASE = Duration.ofMinutes(1);

	/** The longest time until a notice is looked at again. */
	static final Duration LONGEST_PAUSE = Duration.ofHours(1);

	/** So many times a pause is doubled at most. */
	static final int MOST_DOUBLINGS = 12;

	private final Stored<T> notices;

	private final Duration lease;

	private final Report<T> report;

	/**
	 * Creates the rules for some notices.
	 * @param lease how long a notice is claimed
	 */
	public Delivery(Stored<T> notices, Duration lease, Report<T> report) {
		this.notices = notices;
		this.lease = lease;
		this.report = report;
	}

	/**
	 * Writes notices.
	 *
	 * @param <T> the notice
	 */
	public interface Stored<T extends DueNotice> {

		/** Returns the time of the store. */
		Instant now();

		/**
		 * Writes a notice anew.
		 * @return the notice as it is stored now; null if it was written since it was
		 * read
		 */
		@Nullable T replace(T seen, int attempts, Instant due);

		/** Removes a notice, unless it was written since it was read. */
		void remove(T seen);

	}

	/**
	 * Says in the log what becomes of notices whose work has failed.
	 *
	 * @param <T> the notice
	 */
	public interface Report<T extends DueNotice> {

		void triedAgain(T claimed, String why);

		void givenUp(T claimed, String why);

	}

	/** Returns how long a notice is claimed. */
	public Duration lease() {
		return this.lease;
	}

	/** Returns whether a notice may be claimed. */
	public boolean isDue(T seen) {
		return seen.isDue(this.notices.now(), this.lease);
	}

	/**
	 * Claims a notice, so that no other process works on it for a while.
	 * @return the claimed notice; null if another process was first
	 */
	public @Nullable T claim(T seen) {
		return replace(seen, seen.attempts() + 1, this.lease);
	}

	/**
	 * Claims a notice for longer, while its work is done.
	 * @return the claimed notice; null if it was written since
	 */
	public @Nullable T renew(T claimed) {
		return replace(claimed, claimed.attempts(), this.lease);
	}

	/**
	 * Returns whether the work of a claimed notice may be tried. If not, it is given up.
	 * @param why why the attempts before have not ended
	 */
	public boolean mayTry(T claimed, String why) {
		if (claimed.attempts() <= MAX_ATTEMPTS) {
			return true;
		}
		giveUp(claimed, why);
		return false;
	}

	/** Gives back a claimed notice whose work has failed, or gives it up. */
	public void failed(T claimed, String why) {
		if (claimed.attempts() >= MAX_ATTEMPTS) {
			giveUp(claimed, why);
			return;
		}
		this.report.triedAgain(claimed, why);
		replace(claimed, claimed.attempts(), doubled(Duration.ofSeconds(1), claimed.attempts() - 1));
	}

	private void giveUp(T claimed, String why) {
		this.report.givenUp(claimed, why);
		this.notices.remove(claimed);
	}

	/**
	 * Gives a claimed notice back for any process, as if it had not been claimed.
	 * @param pause the time after which it is due
	 */
	public void giveBack(T claimed, Duration pause) {
		replace(claimed, claimed.attempts() - 1, pause);
	}

	private @Nullable T replace(T seen, int attempts, Duration pause) {
		return this.notices.replace(seen, attempts, this.notices.now().plus(pause));
	}

	/** Returns a pause that was doubled a number of times, an hour at most. */
	static Duration doubled(Duration first, int times) {
		return shorter(first.multipliedBy(1L << Math.min(MOST_DOUBLINGS, times)), LONGEST_PAUSE);
	}

	/** Returns the shorter one of two durations. */
	static Duration shorter(Duration one, Duration other) {
		return (one.compareTo(other) < 0) ? one : other;
	}

}
