package io.sessionkit.internal.line;

import java.time.Duration;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether the lease of an open turn is that of a process that was killed: then
 * nobody renews it, and it ends within its life. Used by one call.
 */
public final class SilentLease implements Predicate<@Nullable Answer> {

	private final Supplier<@Nullable SessionRecord> lease;

	/** Whether the call continues the open turn even if no turn answers it. */
	private final boolean continues;

	private final Predicate<Answer> brokenOff;

	private final long life;

	private @Nullable SessionRecord first;

	private long since;

	private boolean over;

	/**
	 * Creates an object that has seen no lease.
	 * @param lease reads the record of the lease; null if the turn is free
	 * @param continues whether the call continues the open turn if no turn answers it
	 * @param brokenOff returns whether a turn that answers the call has to be continued
	 * @param life how long a lease lasts that is not renewed
	 */
	public SilentLease(Supplier<@Nullable SessionRecord> lease, boolean continues, Predicate<Answer> brokenOff,
			Duration life) {
		this.lease = lease;
		this.continues = continues;
		this.brokenOff = brokenOff;
		this.life = life.toNanos();
	}

	/**
	 * Looks at the lease. A first look cannot say whether it is renewed.
	 */
	@Override
	public boolean test(@Nullable Answer answer) {
		this.over = this.over || !isHeldAsBefore(answer);
		return !this.over;
	}

	private boolean isHeldAsBefore(@Nullable Answer answer) {
		SessionRecord before = this.first;
		if (before == null) {
			return (answer != null || this.continues) && isHeldFirst(answer);
		}
		SessionRecord now = this.lease.get();
		return now != null && now.revision() == before.revision() && now.payload().equals(before.payload())
				&& System.nanoTime() - this.since < this.life;
	}

	private boolean isHeldFirst(@Nullable Answer answer) {
		this.first = this.lease.get();
		this.since = System.nanoTime();
		return this.first != null && (answer == null || this.brokenOff.test(answer));
	}

}
