package io.sessionkit.store.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

import io.sessionkit.internal.row.Micros;
import io.sessionkit.store.Page;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.redis.RedisKeys.Pair;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Finds the sessions and records of an owner. An index is a hint: an id is added to it
 * before its session is written, and its readers read the sessions themselves.
 * <p>
 * If all keys are on one server, an index is written together with the session, but by a
 * plain turn only if that was {@link #LAG_ON_ONE_SERVER} ago. In a Cluster it is written
 * first, and again only if that is {@link #LAG} ago, so that most turns cost no further
 * round trip. A session may have been written that much later than its index says.
 */
final class OwnerIndex {

	private static final Log logger = LogFactory.getLog(OwnerIndex.class);

	/** The maximum time by which an index may be older than its session. */
	static final Duration LAG = Duration.ofMinutes(15);

	/**
	 * The same for a session on one server, where renewing an entry is no further round
	 * trip: a list has to read all sessions that were written in that time.
	 */
	static final Duration LAG_ON_ONE_SERVER = Duration.ofMinutes(1);

	/** The maximum difference between the clocks of the servers of a Cluster. */
	private static final Duration BETWEEN_CLOCKS = Duration.ofMinutes(1);

	private static final int SMALLEST_BATCH = 20;

	private static final int SMALLEST_BATCH_AT_ONCE = 100;

	private static final int LARGEST_BATCH = 500;

	private static final int MOST_LOOKS = 3;

	private final RedisScripts scripts;

	OwnerIndex(RedisScripts scripts) {
		this.scripts = scripts;
	}

	/**
	 * A value that was found in a session.
	 *
	 * @param id the id of the session
	 * @param at when it was written
	 * @param value the value
	 */
	record Found<T>(String id, Instant at, T value) {
	}

	/**
	 * An entry that was written to an index.
	 *
	 * @param index the index
	 * @param id the id of the session
	 * @param at when it was written, by the clock of the server that has the index
	 * @param timeToLive the requested time to live; null if it never expires
	 * @param exact whether the entry has this time to live
	 */
	record Noted(Pair index, String id, long at, @Nullable Long timeToLive, boolean exact) {
	}

	/** An id in an index, and the time of its entry. */
	private record Hint(String id, long at) {
	}

	/** Returns how much older than its session an entry of an index may be. */
	static long lag() {
		return Micros.of(LAG);
	}

	/**
	 * Returns how much older than its session an entry in the index of sessions may be.
	 * @param oneServer whether all keys are on one server
	 */
	static long lag(boolean oneServer) {
		return Micros.of(oneServer ? LAG_ON_ONE_SERVER : LAG);
	}

	/**
	 * Returns how much later than its session an entry ends, because servers have clocks
	 * of their own.
	 */
	static long slack() {
		return Micros.of(LAG.plus(BETWEEN_CLOCKS));
	}

	/**
	 * Adds a session that is about to be written. An existing entry is never made to
	 * expire earlier, because the write may be refused.
	 * @param timeToLive how long the session will live; null if it never expires
	 */
	Noted touch(Pair index, String id, @Nullable Long timeToLive) {
		Reply reply = this.scripts.repeat(Script.TOUCH, index,
				new Arguments().with(id).with(timeToLive).with(slack()).with((String) null));
		return new Noted(index, id, reply.number(0), timeToLive, reply.number(1) == 1);
	}

	/**
	 * Sets the expiry of an entry whose session has been written. Does nothing if the
	 * entry was written again since: that writer sets the expiry, and a request that
	 * arrives late or twice must not shorten it.
	 * @param timeToLive how long the session lives; null if it never expires
	 */
	void settle(Noted noted, @Nullable Long timeToLive) {
		if (noted.exact() && Objects.equals(noted.timeToLive(), timeToLive)) {
			return;
		}
		this.scripts.repeat(Script.TOUCH, noted.index(),
				new Arguments().with(noted.id()).with(timeToLive).with(slack()).with(noted.at()));
	}

	/**
	 * Removes a session that is gone, unless its entry was written again since.
	 */
	void forget(Pair index, String id, long upTo) {
		this.scripts.repeat(Script.FORGET, index, new Arguments().with(id).with(upTo));
	}

	/**
	 * Returns one page of the values in the sessions of an index, last written first.
	 * @param index the index
	 * @param lag how much older than its session an entry may be, in microseconds
	 * @param atOnce whether the reader reads all values in one call
	 * @param page the part to return
	 * @param reader reads the values of sessions; returns none for sessions that are gone
	 */
	<T> List<T> newest(Pair index, long lag, boolean atOnce, Page page, Function<List<String>, List<Found<T>>> reader) {
		long wanted = (long) page.offset() + page.limit();
		long batch = Math.max(atOnce ? SMALLEST_BATCH_AT_ONCE : SMALLEST_BATCH, Math.min(LARGEST_BATCH, wanted));
		Gathered<T> gathered = new Gathered<>(reader);
		long from = 0;
		for (boolean more = page.limit() > 0; more; from += batch) {
			List<Hint> hints = hints(index, from, from + batch - 1);
			gathered.add(hints);
			more = hints.size() == batch && !isComplete(gathered.found, wanted, hints.get(hints.size() - 1), lag);
		}
		if (from > batch) {
			addMoved(index, batch, gathered);
		}
		forgetOld(index, gathered.gone);
		return gathered.found.stream().skip(page.offset()).limit(page.limit()).map(Found::value).toList();
	}

	/** The values that were found in the sessions of an index, last written first. */
	private static final class Gathered<T> {

		private final Function<List<String>, List<Found<T>>> reader;

		private final List<Found<T>> found = new ArrayList<>();

		private final List<Hint> gone = new ArrayList<>();

		private final Set<String> ids = new HashSet<>();

		Gathered(Function<List<String>, List<Found<T>>> reader) {
			this.reader = reader;
		}

		/**
		 * Reads the sessions that were not read yet: one that is written between two
		 * batches moves to the front and lets others move back into the next batch.
		 * @return whether there are any
		 */
		boolean add(List<Hint> hints) {
			List<Hint> unread = hints.stream().filter((hint) -> this.ids.add(hint.id())).toList();
			List<Found<T>> read = this.reader.apply(unread.stream().map(Hint::id).toList());
			this.found.addAll(read);
			this.found.sort(Comparator.<Found<T>, Instant>comparing(Found::at).reversed());
			this.gone.addAll(without(unread, read));
			return !unread.isEmpty();
		}

	}

	/**
	 * Adds the sessions that moved to the front before their batch was read. If others
	 * are written all the time, the last ones may be missing, as if they had been written
	 * later.
	 */
	private <T> void addMoved(Pair index, long batch, Gathered<T> gathered) {
		int looks = 0;
		while (looks < MOST_LOOKS && gathered.add(hints(index, 0, batch - 1))) {
			looks++;
		}
	}

	private List<Hint> hints(Pair index, long from, long to) {
		Reply reply = this.scripts.read(Script.NEWEST, List.of(index), new Arguments().with(from).with(to));
		List<Hint> hints = new ArrayList<>();
		for (int i = 0; i < reply.size(); i += 2) {
			hints.add(new Hint(reply.requiredText(i), reply.number(i + 1)));
		}
		return hints;
	}

	private static <T> List<Hint> without(List<Hint> hints, List<Found<T>> read) {
		Set<String> there = new HashSet<>();
		read.forEach((found) -> there.add(found.id()));
		return hints.stream().filter((hint) -> !there.contains(hint.id())).toList();
	}

	/** Returns whether nothing that was not read yet can have been written later. */
	private static <T> boolean isComplete(List<Found<T>> found, long wanted, Hint oldest, long lag) {
		if (found.size() < wanted) {
			return false;
		}
		long last = Micros.of(found.get((int) wanted - 1).at());
		return last >= oldest.at() + lag;
	}

	/**
	 * Removes the entries of sessions that are gone. An entry that was written just now
	 * stays, because its session may be about to be written. If the server may not write,
	 * all of them stay: what was read is right without them.
	 */
	private void forgetOld(Pair index, List<Hint> gone) {
		try {
			if (!gone.isEmpty()) {
				long newest = hints(index, 0, 0).stream().mapToLong(Hint::at).findFirst().orElse(0);
				gone.stream()
					.filter((hint) -> hint.at() < newest - lag())
					.forEach((hint) -> forget(index, hint.id(), hint.at()));
			}
		}
		catch (StoreUnavailableException ex) {
			logger.debug("Ids of sessions that are gone stay until they are read again: " + ex.getClass().getName());
		}
	}

}
