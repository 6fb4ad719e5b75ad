package io.sessionkit.store.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

import io.sessionkit.store.Page;
import io.sessionkit.store.redis.RedisKeys.Pair;
import io.sessionkit.store.row.Micros;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.zset.Tuple;

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

	static long lag() {
		return Micros.of(LAG);
	}

	/**
	 * Notes that a session is about to be written.
	 */
	void touch(Pair index, String id, @Nullable Long timeToLive) {
		this.scripts.read(Script.TOUCH, List.of(index), new Arguments().with(id).with(timeToLive).with(lag()));
	}

	/**
	 * Removes a session that is gone, unless it was noted again since.
	 */
	void forget(Pair index, String id, long upTo) {
		this.scripts.read(Script.FORGET, List.of(index), new Arguments().with(id).with(upTo));
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
		List<Tuple> gone = new ArrayList<>();
		boolean more = page.limit() > 0;
		for (long from = 0; more; from += batch) {
			List<Tuple> hints = this.scripts.newest(index.first(), from, from + batch - 1);
			List<Found<T>> read = reader.apply(hints.stream().map(OwnerIndex::id).toList());
			found.addAll(read);
			found.sort(Comparator.<Found<T>, Instant>comparing(Found::at).reversed());
			gone.addAll(without(hints, read));
			more = hints.size() == batch && !isComplete(found, wanted, hints.get(hints.size() - 1));
		}
		forgetOld(index, gone);
		return found.stream().skip(page.offset()).limit(page.limit()).map(Found::value).toList();
	}

	private static <T> List<Tuple> without(List<Tuple> hints, List<Found<T>> read) {
		Set<String> there = new HashSet<>();
		read.forEach((found) -> there.add(found.id()));
		return hints.stream().filter((hint) -> !there.contains(id(hint))).toList();
	}

	/** Whether what was not looked at yet cannot have been written later. */
	private <T> boolean isComplete(List<Found<T>> found, long wanted, Tuple oldest) {
		if (found.size() < wanted) {
			return false;
		}
		long last = Micros.of(found.get((int) wanted - 1).at());
		return last >= at(oldest) + (this.scripts.haveOneServer() ? 0 : lag());
	}

	/** One that was noted just now may be about to be written. */
	private void forgetOld(Pair index, List<Tuple> gone) {
		if (gone.isEmpty()) {
			return;
		}
		long newest = this.scripts.newest(index.first(), 0, 0).stream().mapToLong(OwnerIndex::at).findFirst().orElse(0);
		gone.stream().filter((hint) -> at(hint) < newest - lag()).forEach((hint) -> forget(index, id(hint), at(hint)));
	}

	private static String id(Tuple hint) {
		return new String(hint.getValue(), StandardCharsets.UTF_8);
	}

	private static long at(Tuple hint) {
		return hint.getScore().longValue();
	}

}
