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
import io.sessionkit.store.redis.RedisKeys.Pair;
import org.jspecify.annotations.Nullable;

/**
 * Finds what an owner has. An index is a hint: an id is noted in it before its session is
 * written, and whoever reads it looks at the sessions themselves.
 * <p>
 * Where all keys are on one server an index is written together with the session. In a
 * Cluster it is written first, and again only if that is {@link #LAG} ago, so that most
 * turns cost no round trip more: a session may have been written that much later than its
 * index says.
 */
final class OwnerIndex {

	/** How much older than its session an index may be. */
	static final Duration LAG = Duration.ofMinutes(15);

	/** How much the clocks of the servers of a Cluster may differ. */
	private static final Duration BETWEEN_CLOCKS = Duration.ofMinutes(1);

	private static final int SMALLEST_BATCH = 20;

	private static final int LARGEST_BATCH = 500;

	private final RedisScripts scripts;

	OwnerIndex(RedisScripts scripts) {
		this.scripts = scripts;
	}

	/**
	 * Something of a session that was found.
	 *
	 * @param id the id of the session
	 * @param at when it was written
	 * @param value what was found
	 */
	record Found<T>(String id, Instant at, T value) {
	}

	/**
	 * A session that was noted.
	 *
	 * @param index where
	 * @param id its id
	 * @param at when, by the clock of the server that has the index
	 * @param timeToLive the time to live that was asked for; null: without end
	 * @param exact whether the entry has got it
	 */
	record Noted(Pair index, String id, long at, @Nullable Long timeToLive, boolean exact) {
	}

	/** An id in an index, and when it was noted. */
	private record Hint(String id, long at) {
	}

	static long lag() {
		return Micros.of(LAG);
	}

	/**
	 * How much later than its session an entry ends: servers have clocks of their own.
	 */
	static long slack() {
		return Micros.of(LAG.plus(BETWEEN_CLOCKS));
	}

	/**
	 * Notes that a session is about to be written. An entry that exists is never made to
	 * expire earlier: the write may be refused.
	 * @param timeToLive how long the session is to live; null: without end
	 */
	Noted touch(Pair index, String id, @Nullable Long timeToLive) {
		Reply reply = this.scripts.repeat(Script.TOUCH, index,
				new Arguments().with(id).with(timeToLive).with(slack()).with((String) null));
		return new Noted(index, id, reply.number(0), timeToLive, reply.number(1) == 1);
	}

	/**
	 * Sets the expiry of an entry whose session has been written. Does nothing if the
	 * entry was noted again since: that writer sets the expiry, and a request that
	 * arrives late or twice must not shorten it.
	 * @param timeToLive how long the session lives; null: without end
	 */
	void settle(Noted noted, @Nullable Long timeToLive) {
		if (noted.exact() && Objects.equals(noted.timeToLive(), timeToLive)) {
			return;
		}
		this.scripts.repeat(Script.TOUCH, noted.index(),
				new Arguments().with(noted.id()).with(timeToLive).with(slack()).with(noted.at()));
	}

	/**
	 * Removes a session that is gone, unless it was noted again since.
	 */
	void forget(Pair index, String id, long upTo) {
		this.scripts.repeat(Script.FORGET, index, new Arguments().with(id).with(upTo));
	}

	/**
	 * One page of what the sessions of an index have, last written first.
	 * @param index the index
	 * @param page which part
	 * @param reader reads what sessions have; nothing of those that are gone
	 */
	<T> List<T> newest(Pair index, Page page, Function<List<String>, List<Found<T>>> reader) {
		long wanted = (long) page.offset() + page.limit();
		long batch = Math.max(SMALLEST_BATCH, Math.min(LARGEST_BATCH, wanted));
		List<Found<T>> found = new ArrayList<>();
		List<Hint> gone = new ArrayList<>();
		boolean more = page.limit() > 0;
		for (long from = 0; more; from += batch) {
			List<Hint> hints = hints(index, from, from + batch - 1);
			List<Found<T>> read = reader.apply(hints.stream().map(Hint::id).toList());
			found.addAll(read);
			found.sort(Comparator.<Found<T>, Instant>comparing(Found::at).reversed());
			gone.addAll(without(hints, read));
			more = hints.size() == batch && !isComplete(found, wanted, hints.get(hints.size() - 1));
		}
		forgetOld(index, gone);
		return found.stream().skip(page.offset()).limit(page.limit()).map(Found::value).toList();
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

	/** Whether what was not looked at yet cannot have been written later. */
	private <T> boolean isComplete(List<Found<T>> found, long wanted, Hint oldest) {
		if (found.size() < wanted) {
			return false;
		}
		long last = Micros.of(found.get((int) wanted - 1).at());
		return last >= oldest.at() + (this.scripts.haveOneServer() ? 0 : lag());
	}

	/** One that was noted just now may be about to be written. */
	private void forgetOld(Pair index, List<Hint> gone) {
		if (gone.isEmpty()) {
			return;
		}
		long newest = hints(index, 0, 0).stream().mapToLong(Hint::at).findFirst().orElse(0);
		gone.stream()
			.filter((hint) -> hint.at() < newest - lag())
			.forEach((hint) -> forget(index, hint.id(), hint.at()));
	}

}
