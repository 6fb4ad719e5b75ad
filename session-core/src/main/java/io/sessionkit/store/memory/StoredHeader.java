package io.sessionkit.store.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.ViewTotals;
import io.sessionkit.store.HeaderChange;
import org.jspecify.annotations.Nullable;

/**
 * The mutable header of a session. Guarded by the lock of its session.
 */
final class StoredHeader {

	private final SessionKey key;

	private final String incarnation;

	private final Instant createdAt;

	private Instant updatedAt;

	private @Nullable Duration timeToLive;

	private @Nullable String title;

	private Set<String> tags;

	private SessionSettings settings;

	long version;

	long items;

	String branch;

	long head;

	long openTurn;

	HeadPosition position;

	ViewTotals totals = ViewTotals.NONE;

	StoredHeader(Session header, HeadPosition position) {
		this.key = header.key();
		this.incarnation = header.incarnation();
		this.createdAt = header.createdAt();
		this.updatedAt = header.updatedAt();
		this.timeToLive = header.timeToLive();
		this.title = header.title();
		this.tags = header.tags();
		this.settings = header.settings();
		this.version = header.version();
		this.items = header.items();
		this.branch = header.branch();
		this.head = header.head();
		this.openTurn = header.openTurn();
		this.position = position;
	}

	boolean isSameAs(Session seen) {
		return seen.version() == this.version && seen.incarnation().equals(this.incarnation);
	}

	/**
	 * Applies the fields that belong to the session as a whole, not to its head.
	 */
	void change(HeaderChange change) {
		if (change.title() != null) {
			this.title = change.title().isEmpty() ? null : change.title();
		}
		if (change.tags() != null) {
			this.tags = Set.copyOf(change.tags());
		}
		if (change.settings() != null) {
			this.settings = change.settings();
		}
		if (change.timeToLive() != null) {
			this.timeToLive = change.timeToLive().isZero() ? null : change.timeToLive();
		}
	}

	/** Records a turn as the open one, or clears it if it is no longer open. */
	void openTurn(long number, boolean open) {
		if (open) {
			this.openTurn = number;
		}
		else if (this.openTurn == number) {
			this.openTurn = 0;
		}
	}

	void touch(Instant now) {
		this.updatedAt = now;
	}

	Instant updatedAt() {
		return this.updatedAt;
	}

	@Nullable Instant expiresAt() {
		return (this.timeToLive != null) ? this.updatedAt.plus(this.timeToLive) : null;
	}

	Session session(long turns, Map<String, Object> attributes) {
		return new Session(this.key, this.incarnation, this.version,
				new Session.Position(turns, this.items, this.branch, this.head, this.openTurn, this.position.summary(),
						this.position.summaryId(), this.totals),
				new Session.Details(this.title, this.tags, attributes, this.timeToLive, this.settings),
				new Session.Times(this.createdAt, this.updatedAt, expiresAt()));
	}

}
