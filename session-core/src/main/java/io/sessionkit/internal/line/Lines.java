package io.sessionkit.internal.line;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import io.sessionkit.Concurrency;
import io.sessionkit.SessionKey;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.Renewals;
import io.sessionkit.store.Commit;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * The lines of calls on the sessions of a store. A line is one record of its session. A
 * session without one is free, and a call takes it with one write. Whoever finds a record
 * joins the line, and the call at work hands the session over by leaving. Safe for use by
 * many threads.
 */
public final class Lines {

	private final SessionStore store;

	/** The time after which a call is gone that no longer shows that it is there. */
	private final Duration life;

	private final Renewals renewals;

	public Lines(SessionStore store, Duration life, Renewals renewals) {
		this.store = store;
		this.life = life;
		this.renewals = renewals;
	}

	/**
	 * Returns the arrival of a call, which does not stand in line yet.
	 * @param key the session
	 * @param concurrency {@link Concurrency#REJECT} or {@link Concurrency#SERIALIZE}
	 * @param timeout how long to wait at most
	 */
	public Arrival arrive(SessionKey key, Concurrency concurrency, Duration timeout) {
		return new Arrival(this, key, this.store.options().turnIds().get(), concurrency, timeout);
	}

	Duration life() {
		return this.life;
	}

	/**
	 * Takes the session if nobody stands in line.
	 * @return the admission of the call; null if there is a line
	 */
	@Nullable Admission take(SessionKey key, String id) {
		Line line = Line.of(id);
		RecordWrite write = write(key, line, 0);
		return (this.store.put(key, write) || begin(key, write)) ? admit(key, id, line, write.next()) : null;
	}

	/** Creates the session with its line, unless there is a session. */
	private boolean begin(SessionKey key, RecordWrite write) {
		return this.store.commit(Commit.first(key).records(List.of(write))).isStored();
	}

	/** Admits the first call of the line, and begins to renew its ticket. */
	Admission admit(SessionKey key, String id, Line line, long revision) {
		return new Admission(this, key, id, line, revision, this.renewals);
	}

	/**
	 * Returns the record of the line of a session; null if nobody stands in line.
	 */
	@Nullable SessionRecord record(SessionKey key) {
		return this.store.records(key, Line.KIND)
			.stream()
			.filter((record) -> record.id().equals(Line.ID))
			.findFirst()
			.orElse(null);
	}

	Line line(SessionRecord record) {
		return Line.read(record, this.store.options().codec());
	}

	boolean put(SessionKey key, RecordWrite write) {
		return this.store.put(key, write);
	}

	/**
	 * Creates the write of a line, which deletes the record of an empty one.
	 * @param revision the revision of the line that it replaces; 0 for none
	 */
	RecordWrite write(SessionKey key, Line line, long revision) {
		return line.isEmpty() ? new RecordWrite(Line.KIND, Line.ID, revision, null, null) : new RecordWrite(Line.KIND,
				Line.ID, revision, line.payload(key, this.store.options().codec()), this.life);
	}

	/** Takes a call out of the line, wherever it stands. */
	void remove(SessionKey key, String id) {
		Attempts.MANY.make(() -> {
			SessionRecord record = record(key);
			boolean gone = record == null || !line(record).has(id)
					|| this.store.put(key, write(key, line(record).without(Set.of(id)), record.revision()));
			return gone ? Optional.of(true) : Optional.empty();
		});
	}

}
