package io.sessionkit.internal.line;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

import io.sessionkit.Concurrency;
import io.sessionkit.SessionKey;
import io.sessionkit.TurnInProgressException;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.DurationText;
import io.sessionkit.internal.Renewals;
import io.sessionkit.observation.CallObserver;
import io.sessionkit.observation.LeaseKind;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The lines of calls on the sessions of a store: that of all calls on a session, and
 * those of the calls that make one request. A line is one record of its session. Where
 * there is none the first call works, and it takes one write to be the first. Whoever
 * finds a record joins the line, and the call at work hands over by leaving. Safe for use
 * by many threads.
 */
public final class Lines {

	private static final Log logger = LogFactory.getLog(Lines.class);

	/** The kind of the records of what waiting calls offer. */
	public static final String OFFER = "offer";

	/** No offer of a call that waits lives longer. */
	private static final Duration LONGEST_WAIT = Duration.ofDays(1);

	private final SessionStore store;

	/**
	 * The time after which a call of this process is gone that no longer shows that it is
	 * there.
	 */
	private final Duration life;

	private final Renewals renewals;

	private final Offers offers;

	private final CallObserver observer;

	public Lines(SessionStore store, Duration life, Renewals renewals, CallObserver observer) {
		this.observer = observer;
		this.store = store;
		this.life = life;
		this.renewals = renewals;
		this.offers = new Offers(store);
	}

	/**
	 * Returns the arrival of a call, which does not stand in line yet.
	 * @param key the session
	 * @param request the request that the call makes; null if its client cannot tell it
	 * from others
	 * @param offer supplies what the call offers to the turn at work, once it has to
	 * wait; null for nothing
	 * @param concurrency how to treat the call while another one works
	 * @param timeout how long to wait at most in each line
	 * @param beginning the header of a session that begins with the line; null if it may
	 * not: the call then stands in no line of a session that is absent
	 * @param drain the work of this process, with which waiting ends
	 * @return the arrival; null if the call neither waits nor is waited for
	 */
	public @Nullable Arrival arrive(SessionKey key, @Nullable Request request,
			@Nullable Supplier<@Nullable Offer> offer, Concurrency concurrency, Duration timeout,
			@Nullable HeaderChange beginning, Drain drain) {
		if (request == null && concurrency == Concurrency.OPTIMISTIC) {
			return null;
		}
		String id = this.store.options().turnIds().get();
		List<Wait> waits = new ArrayList<>();
		if (request != null) {
			waits.add(new Wait(this, key, LineName.of(request), id, Concurrency.SERIALIZE, timeout, beginning, null));
		}
		boolean steers = concurrency == Concurrency.STEER;
		if (concurrency != Concurrency.OPTIMISTIC) {
			OwnOffer own = (steers && offer != null) ? new OwnOffer(this, key, id, request, offer, offerLives(timeout))
					: null;
			waits.add(new Wait(this, key, LineName.SESSION, id, concurrency, timeout, beginning, own));
		}
		for (int i = 1; i < waits.size(); i++) {
			waits.get(i - 1).before(waits.get(i));
		}
		return new Arrival(this, key, waits, request, steers, drain);
	}

	/** Longer than a call waits, so that its offer is there when it works itself. */
	private Duration offerLives(Duration timeout) {
		Duration twice = this.life.multipliedBy(2);
		return (timeout.compareTo(LONGEST_WAIT) < 0) ? timeout.plus(twice) : LONGEST_WAIT.plus(twice);
	}

	/** Returns whether a commit of this thread may be rolled back by its caller. */
	boolean mayRollBack() {
		return this.store.mayRollBack();
	}

	Offers offers() {
		return this.offers;
	}

	Duration life() {
		return this.life;
	}

	/** Tries again to leave a line, as long as the ticket of the call is alive. */
	void leaveLater(Runnable leaving) {
		this.renewals.tryAgain(this.life, leaving);
	}

	/** Reports that a call has lost its place although it is at work. */
	void lost() {
		this.observer.leaseLost(LeaseKind.LINE);
	}

	/**
	 * Takes the first place if the session exists and nobody stands in line.
	 * @param last whether the call stands in no further line
	 * @return the place; null if there is a line, or no session
	 * @throws TurnInProgressException if a transaction of the caller does not see the
	 * place, so that no turn can be stored with it
	 */
	@Nullable FirstPlace take(SessionKey key, LineName name, String id, boolean last) {
		Line line = first(name, id);
		RecordWrite write = write(key, name, line, 0);
		if (!this.store.put(key, write)) {
			return null;
		}
		// looking earlier would be what the transaction begins to read with
		if (last && mayRollBack() && record(key, name) == null) {
			throw unseen(key, name, write.next());
		}
		return admit(key, name, id, line, write.next());
	}

	/** The commit of the turn would not find the place that it leaves. */
	private TurnInProgressException unseen(SessionKey key, LineName name, long revision) {
		put(key, write(key, name, Line.NOBODY, revision));
		return new TurnInProgressException("The transaction around this call on session " + key
				+ " had begun to read before the call had its place in line, and does not see it (isolation REPEATABLE"
				+ " READ, the default of MariaDB and MySQL, and above). Nothing was run. Make the call outside of the"
				+ " transaction or after its commit, or let the transaction be one of READ COMMITTED.");
	}

	boolean isAbsent(SessionKey key) {
		return this.store.find(key).isEmpty();
	}

	/**
	 * Takes the first places of a session that begins with its lines.
	 * @param names the lines
	 * @param header its header
	 * @return the places, in the order of the lines; empty if there is a session
	 */
	List<FirstPlace> begin(SessionKey key, List<LineName> names, String id, HeaderChange header) {
		List<RecordWrite> writes = names.stream().map((name) -> write(key, name, first(name, id), 0)).toList();
		if (!this.store.commit(Commit.first(key).header(header).records(writes)).isStored()) {
			return List.of();
		}
		List<FirstPlace> places = new ArrayList<>();
		for (int i = 0; i < names.size(); i++) {
			LineName name = names.get(i);
			places.add(admit(key, name, id, first(name, id), writes.get(i).next()));
		}
		return places;
	}

	private Line first(LineName name, String id) {
		return Line.of(id, name.content(), this.life);
	}

	/** Lets the first call of the line work, and begins to renew its ticket. */
	FirstPlace admit(SessionKey key, LineName name, String id, Line line, long revision) {
		this.store.whenRolledBack(() -> removeRolledBack(key, name, id));
		return new FirstPlace(this, key, name, id, line, revision, this.renewals);
	}

	/**
	 * Takes a call out of the line that has left it in a transaction which was rolled
	 * back.
	 */
	private void removeRolledBack(SessionKey key, LineName name, String id) {
		try {
			remove(key, name, id);
		}
		catch (RuntimeException ex) {
			logger.warn("The place of a call on session " + key + ", whose transaction was rolled back, could not be"
					+ " given back and ends in " + DurationText.of(this.life) + ": " + ex.getClass().getName());
		}
	}

	/**
	 * Returns the record of a line; null if nobody stands in it.
	 */
	@Nullable SessionRecord record(SessionKey key, LineName name) {
		return this.store.record(key, name.kind(), name.id()).orElse(null);
	}

	Line line(SessionRecord record) {
		return Line.read(record, this.store.options().codec());
	}

	boolean put(SessionKey key, RecordWrite write) {
		return this.store.put(key, write);
	}

	/**
	 * Creates the write of a line, which deletes the record of an empty one. If an open
	 * turn answers the request of the line, its record lives as long as the session:
	 * nobody knows how long a person takes.
	 * @param revision the revision of the line that it replaces; 0 for none
	 */
	RecordWrite write(SessionKey key, LineName name, Line line, long revision) {
		return line.isEmpty() ? new RecordWrite(name.kind(), name.id(), revision, null, null)
				: write(key, name, line, revision, (line.answer() != null) ? null : line.life(this.life));
	}

	/**
	 * Creates the write of a line at the end of a turn. The record of a request that the
	 * turn has answered lives as long as the answer is remembered.
	 * @param revision the revision of the line that it replaces; 0 for none
	 */
	RecordWrite writeLeft(SessionKey key, LineName name, Line line, long revision) {
		Request request = name.request();
		return (request != null && line.answer() != null) ? write(key, name, line, revision, request.timeToLive())
				: write(key, name, line, revision);
	}

	private RecordWrite write(SessionKey key, LineName name, Line line, long revision, @Nullable Duration lives) {
		String payload = line.payload(key, this.store.options().codec());
		return new RecordWrite(name.kind(), name.id(), revision, payload, lives);
	}

	/**
	 * Takes a call out of the line, wherever it stands.
	 * @return whether the turn at work has its messages
	 */
	boolean remove(SessionKey key, LineName name, String id) {
		return remove(key, name, id, true);
	}

	/**
	 * Takes a call out of the line whose turn has ended without a commit that leaves it.
	 * All who wait in the line of a request that the turn answers leave too.
	 */
	void end(SessionKey key, LineName name, String id) {
		Attempts.MANY.until(() -> {
			SessionRecord record = record(key, name);
			Line line = (record != null) ? line(record) : Line.NOBODY;
			return record == null || !line.has(id)
					|| this.store.put(key, writeLeft(key, name, line.ended(id), record.revision()));
		});
	}

	/**
	 * Takes a call out of the line, unless the turn at work has its messages.
	 * @return whether it has them
	 */
	boolean removeUntaken(SessionKey key, LineName name, String id) {
		return remove(key, name, id, false);
	}

	private boolean remove(SessionKey key, LineName name, String id, boolean evenTaken) {
		return Attempts.MANY.make(() -> {
			SessionRecord record = record(key, name);
			Line line = (record != null) ? line(record) : null;
			boolean taken = line != null && line.isTaken(id);
			boolean done = record == null || line == null || !line.has(id) || (taken && !evenTaken)
					|| this.store.put(key, write(key, name, line.without(Set.of(id)), record.revision()));
			return done ? Optional.of(taken) : Optional.empty();
		}).orElse(false);
	}

}
