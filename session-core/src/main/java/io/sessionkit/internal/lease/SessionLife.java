package io.sessionkit.internal.lease;

import java.time.Duration;
import java.time.Instant;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.internal.Renewals;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a session from expiring while a call works on a turn of it. Each write of a
 * session moves its end, but a turn writes nothing while it waits for the model. A
 * session that a transaction of the caller may have locked is left alone. Safe for use by
 * many threads.
 */
public final class SessionLife {

	private static final Duration TOLERANCE = Duration.ofSeconds(1);

	/** A turn begins with this part of the life of its session at least. */
	private static final int PART_AT_BEGINNING = 2;

	private final SessionStore store;

	private final SessionKey key;

	private final @Nullable Duration timeToLive;

	private final Renewals renewals;

	private Renewals.@Nullable Renewal renewal;

	private boolean over;

	/**
	 * Creates the life of a session that nobody extends yet.
	 * @param timeToLive how long the session lives after each write; null if it never
	 * expires
	 */
	SessionLife(SessionStore store, SessionKey key, @Nullable Duration timeToLive, Renewals renewals) {
		this.store = store;
		this.key = key;
		this.timeToLive = timeToLive;
		this.renewals = renewals;
	}

	/**
	 * Moves the end of a session on which a turn begins, if it is near.
	 * @param header the header as it was opened; null if there is no session
	 * @return the header as it is now; the same if the end was not moved
	 */
	public static @Nullable Session extended(SessionStore store, @Nullable Session header) {
		return (header != null && isNearEnd(store, header) && !store.mayRollBack()) ? moved(store, header) : header;
	}

	/**
	 * A clock by which the session was not even written yet is behind that of the store,
	 * so it cannot tell. All clocks differ a little.
	 */
	private static boolean isNearEnd(SessionStore store, Session header) {
		Duration life = header.timeToLive();
		Instant end = header.expiresAt();
		Instant now = store.options().now();
		return life != null && end != null && (now.isAfter(end.minus(life.dividedBy(PART_AT_BEGINNING)))
				|| now.plus(TOLERANCE).isBefore(header.updatedAt()));
	}

	/** Others that have written meanwhile have moved the end too. */
	private static Session moved(SessionStore store, Session header) {
		CommitResult result = extend(store, header);
		Duration life = header.timeToLive();
		if (!result.isStored() || life == null) {
			return header;
		}
		Instant now = store.options().now();
		return new Session(header.key(), header.incarnation(), result.version(), header.position(), header.details(),
				new Session.Times(header.createdAt(), now, now.plus(life)));
	}

	private static CommitResult extend(SessionStore store, Session header) {
		return store.commit(
				Commit.on(header).header(new HeaderChange(null, null, header.timeToLive(), null, null, null, null)));
	}

	/** Moves the end of the session again and again, until {@link #end}. */
	public synchronized void begin() {
		if (this.timeToLive != null && this.renewal == null && !this.over && !this.store.mayRollBack()) {
			this.renewal = this.renewals.start(this.timeToLive, () -> "The end of session " + this.key, this::extend);
		}
	}

	private void extend() {
		this.store.find(this.key)
			.filter((header) -> header.timeToLive() != null)
			.ifPresent((header) -> extend(this.store, header));
	}

	/** Ends the work on the session, which then lives as long as its last write says. */
	public synchronized void end() {
		this.over = true;
		if (this.renewal != null) {
			this.renewal.cancel();
		}
	}

}
