package io.sessionkit.internal.opening;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.internal.lease.HeldReply;
import io.sessionkit.internal.lease.TurnLease;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.StoreOptions;
import org.jspecify.annotations.Nullable;

/**
 * The data with which a call begins on a turn. It either opens the turn or continues one
 * that another call has left open.
 *
 * @param request the request of this call
 * @param opened the session as this call has opened it
 * @param id the id of the turn
 * @param startedAt when the turn began
 * @param parameters the parameters that this call keeps with it
 * @param continued the turn as it was left open; null for a new one
 */
public record TurnStart(TurnRequest request, OpenedView opened, String id, Instant startedAt, KeptParameters parameters,
		@Nullable ContinuedTurn continued) {

	/**
	 * Creates the start of a new turn.
	 * @param options the options of the store, which gives the turn its id
	 */
	public static TurnStart anew(TurnRequest request, OpenedView opened, Instant at, KeptParameters parameters,
			StoreOptions options) {
		return new TurnStart(request, opened, options.newTurnId(turns(opened) + 1), at, parameters, null);
	}

	/**
	 * Creates the start of a call that continues a turn, which keeps the parameters that
	 * it has.
	 */
	public static TurnStart continuing(TurnRequest request, ContinuedTurn continued) {
		return new TurnStart(request, continued.opened(), continued.turn().id(), continued.turn().startedAt(),
				KeptParameters.NONE, continued);
	}

	private static long turns(OpenedView opened) {
		Session base = opened.seen();
		return (base != null) ? base.turns() : 0;
	}

	public SessionKey key() {
		return this.request.key();
	}

	/** Returns the place at which the turn hangs. */
	public TurnPlace place() {
		return this.opened.place();
	}

	/**
	 * Returns the header as the turn sees it: the turn before it is the head.
	 * @return the header; null if there is no session
	 */
	public @Nullable Session base() {
		return this.opened.seen();
	}

	public boolean isContinued() {
		return this.continued != null;
	}

	/** Returns the smallest number that the turn can have. */
	public long firstNumber() {
		return (this.continued != null) ? this.continued.turn().number() : turns() + 1;
	}

	/**
	 * Returns the name of the agent that handles the turn.
	 * @return the agent that was named by the call that opened the turn; null if it named
	 * none
	 */
	public @Nullable String agent() {
		return (this.continued != null) ? this.continued.turn().agent() : this.request.agent();
	}

	/**
	 * Returns the number of the open turn of the session, which keeps this one from
	 * beginning.
	 * @return the number; 0 if there is no open turn
	 */
	public long openTurn() {
		Session base = base();
		return (base != null && this.continued == null && this.request.isStored()) ? base.openTurn() : 0;
	}

	/**
	 * Returns the name of the branch whose history the turn follows.
	 * @return the branch; the first one if there is no session yet
	 */
	public String branch() {
		Session base = base();
		return (base != null) ? base.branch() : Session.MAIN;
	}

	/**
	 * Returns whether a continued turn still stands on the head of the session, so that
	 * it can become history.
	 * @return false if the session has moved on, and for a new turn
	 */
	public boolean isOnHead() {
		Session base = base();
		return base != null && this.continued != null && base.head() == this.continued.turn().parent()
				&& base.branch().equals(this.continued.turn().branch());
	}

	/**
	 * Returns whether the history is there that the call has brought which opened the
	 * turn.
	 * @return true also for a turn whose call has brought none
	 */
	public boolean hasItsHistory() {
		return this.continued == null || this.continued.hasItsHistory();
	}

	/**
	 * Returns the number of the newest turn when this one was opened.
	 * @return the number; 0 if there was no session
	 */
	public long turns() {
		return turns(this.opened);
	}

	/**
	 * Returns the number of the turn at which the newest summary of the session ends.
	 * @return the number; 0 if there is no summary
	 */
	public long summaryTurn() {
		Session base = base();
		return (base != null) ? base.summaryTurn() : 0;
	}

	/** Returns the number of model calls that earlier calls have made in the turn. */
	public int earlierRounds() {
		return (this.continued != null) ? this.continued.turn().rounds().size() : 0;
	}

	/**
	 * Returns the records of one kind that were read with a continued turn.
	 * @param kind one of the kinds that are read to continue a turn
	 * @return the records; none for a new turn
	 */
	public List<SessionRecord> records(String kind) {
		return (this.continued != null) ? this.continued.stored().records(kind) : List.of();
	}

	/** Returns the lease with which the turn continues; null for a new turn. */
	public @Nullable TurnLease lease() {
		return (this.continued != null) ? this.continued.lease() : null;
	}

	/** Returns the reply that a continued turn holds back; null for a new turn. */
	public @Nullable HeldReply held() {
		return (this.continued != null) ? this.continued.pause().held() : null;
	}

	/**
	 * Returns how long the session lives without a write.
	 * @param options the options of the store, for a session that does not exist yet
	 * @return the time; null if it does not expire, or if this call does not write it
	 */
	public @Nullable Duration timeToLive(StoreOptions options) {
		Session header = place().header();
		Duration life = (header != null) ? header.timeToLive() : options.timeToLive();
		return this.request.isStored() ? life : null;
	}

}
