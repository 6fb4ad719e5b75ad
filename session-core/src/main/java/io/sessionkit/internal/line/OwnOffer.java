package io.sessionkit.internal.line;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.store.RecordWrite;
import org.jspecify.annotations.Nullable;

/**
 * The messages that a call offers while it waits. Used by one thread at a time.
 */
final class OwnOffer {

	private final Lines lines;

	private final SessionKey key;

	private final String id;

	private final @Nullable Request request;

	/** Makes the offer once. */
	private Supplier<@Nullable Offer> offer;

	private final Duration lives;

	/** The write that the store has not answered; null for none. */
	private @Nullable RecordWrite write;

	/**
	 * The revision of the record; 0 if there is none, as far as the store has answered.
	 */
	private long revision;

	/** True if the messages were part of the turn at work when the call last looked. */
	private boolean taken;

	/** The call at work when this one looked last; null for none. */
	private @Nullable String first;

	/**
	 * Creates the offer of a call.
	 * @param offer supplies what the call offers, if it has to wait; null for nothing.
	 * Hooks may be asked then
	 */
	OwnOffer(Lines lines, SessionKey key, String id, @Nullable Request request, Supplier<@Nullable Offer> offer,
			Duration lives) {
		this.lines = lines;
		this.key = key;
		this.id = id;
		this.request = request;
		this.offer = offer;
		this.lives = lives;
	}

	/**
	 * Stores the offer, unless that was done.
	 * @return whether it is stored; false if there is no session, or nothing to offer
	 */
	boolean isStored() {
		if (this.revision == 0) {
			Offer made = this.offer.get();
			this.offer = () -> made;
			this.revision = (made != null) ? written(made) : 0;
		}
		return this.revision != 0;
	}

	/**
	 * Stores the offer. If the answer to the same write was lost before, it may be there.
	 */
	private long written(Offer made) {
		RecordWrite before = this.write;
		RecordWrite now = (before != null) ? before
				: this.lines.offers().write(this.key, new Offered(this.id, made, this.request), this.lives);
		this.write = now;
		boolean stored = this.lines.put(this.key, now) || (before != null && this.lines.offers().has(this.key, now));
		this.write = null;
		return stored ? now.next() : 0;
	}

	/** Returns whether others find the messages, or may. */
	boolean isOffered() {
		return this.revision != 0 || this.write != null;
	}

	/** Returns whether the turn at work has the messages. */
	boolean isTaken() {
		return this.taken;
	}

	/**
	 * Looks whether a turn with the messages is stored. Only if another call works now,
	 * or if the ticket is gone, can that be.
	 * @return the turn; null if there is none
	 */
	@Nullable Answer look(Line now) {
		String works = now.tickets().isEmpty() ? null : now.tickets().get(0).id();
		this.taken = now.isTaken(this.id);
		boolean mayBeAnswered = this.revision != 0 && (!Objects.equals(works, this.first) || !now.has(this.id));
		Answer answer = mayBeAnswered ? answer() : null;
		// if the store fails, the next look reads it
		this.first = works;
		return answer;
	}

	/**
	 * Reads whether a turn with the messages is stored.
	 * @return the turn; null if there is none
	 */
	@Nullable Answer answer() {
		return (this.revision != 0) ? this.lines.offers().answer(this.key, this.id) : null;
	}

	/**
	 * Takes the offer back, for a call that now works itself.
	 * @return the turn that has the messages, in which case the call need not work; null
	 * if there is none
	 */
	@Nullable Answer withdrawn() {
		if (this.revision == 0) {
			forget();
			return null;
		}
		boolean unanswered = this.lines.put(this.key, deletion(this.revision));
		Answer answer = unanswered ? null : this.lines.offers().answer(this.key, this.id);
		this.revision = (answer != null) ? this.revision : 0;
		return answer;
	}

	/** Deletes what is stored of the offer, or may be. */
	void forget() {
		if (this.revision != 0 || this.write != null) {
			this.revision = 0;
			this.write = null;
			this.lines.put(this.key, deletion(RecordWrite.ANY));
		}
	}

	private RecordWrite deletion(long expected) {
		return new RecordWrite(Offers.KIND, this.id, expected, null, null);
	}

}
