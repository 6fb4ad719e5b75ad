package io.sessionkit.internal.line;

import java.time.Duration;
import java.time.Instant;
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

	/** True if the call continues the open turn even if no turn answers it. */
	private final boolean continues;

	private final Predicate<Answer> brokenOff;

	private @Nullable SessionRecord first;

	private long since;

	private boolean over;

	/**
	 * Creates an object that has seen no lease.
	 * @param lease reads the record of the lease; null if the turn is free
	 * @param continues whether the call continues the open turn if no turn answers it
	 * @param brokenOff returns whether a turn that answers the call has to be continued
	 */
	public SilentLease(Supplier<@Nullable SessionRecord> lease, boolean continues, Predicate<Answer> brokenOff) {
		this.lease = lease;
		this.continues = continues;
		this.brokenOff = brokenOff;
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
				&& System.nanoTime() - this.since < life(before);
	}

	/** Its process may have another life than this one. */
	private static long life(SessionRecord lease) {
		Instant end = lease.expiresAt();
		return (end != null) ? Duration.between(lease.writtenAt(), end).toNanos() : 0;
	}

	private boolean isHeldFirst(@Nullable Answer answer) {
		SessionRecord held = this.lease.get();
		this.since = System.nanoTime();
		boolean waits = held != null && (answer == null || this.brokenOff.test(answer));
		// not before both are known: if the store fails, this is asked again
		this.first = held;
		return waits;
	}

}
