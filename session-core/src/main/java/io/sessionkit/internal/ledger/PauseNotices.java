package io.sessionkit.internal.ledger;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

import io.sessionkit.SessionKey;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * The notices that are stored together with a pause, as far as the application asks for
 * them: that calls wait, and that their turn is to be continued when they have expired.
 */
public final class PauseNotices {

	private final SessionStore store;

	private final boolean announced;

	private final boolean continued;

	private final @Nullable Duration expiresAfter;

	/**
	 * Creates the notices of the pauses of a store.
	 * @param announced whether it is announced that calls wait
	 * @param continued whether turns continue by themselves
	 * @param expiresAfter the time within which a call can be decided; null for as long
	 * as the session lives
	 */
	public PauseNotices(SessionStore store, boolean announced, boolean continued, @Nullable Duration expiresAfter) {
		this.store = store;
		this.announced = announced;
		this.continued = continued;
		this.expiresAfter = expiresAfter;
	}

	/**
	 * Returns the writes of the notices of a pause.
	 * @param key the session
	 * @param turnId the turn that waits
	 * @param entries the calls of its reply, some of which wait
	 * @param whenExpired returns whether the turn may continue although nobody decides;
	 * asked only if turns continue by themselves
	 */
	public List<RecordWrite> of(SessionKey key, String turnId, List<LedgerEntry> entries, BooleanSupplier whenExpired) {
		List<RecordWrite> writes = new ArrayList<>();
		if (this.announced) {
			writes.add(Notices.announcing(entries, this.expiresAfter, this.store.options().codec()));
		}
		if (this.continued && this.expiresAfter != null && whenExpired.getAsBoolean()) {
			writes.add(Continuations.afterExpiry(key, turnId, this.expiresAfter, this.store.options()));
		}
		return writes;
	}

}
