package io.sessionkit.internal.retention;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.SessionSettings;
import io.sessionkit.Turn;
import io.sessionkit.ViewTotals;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.context.Retention;
import io.sessionkit.internal.snapshot.KeptTexts;
import io.sessionkit.internal.snapshot.VerbatimMessages;
import io.sessionkit.internal.tree.BegunRewinds;
import io.sessionkit.internal.view.Summaries;
import io.sessionkit.store.Commit;
import io.sessionkit.store.Oldest;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.Point;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Deletes the oldest turns of sessions that exceed the limits on what they keep. This is
 * looked at after a turn has become history, once for each batch of turns, and for turns
 * that are too old once in each tenth of the age. A failure never reaches the call: its
 * turn is stored, and the next turn tries again. Safe for use by many threads.
 */
public final class Retentions {

	private static final Log logger = LogFactory.getLog(Retentions.class);

	/** The ages of turns are looked at this often within the age. */
	private static final int LOOKS = 10;

	private static final int PAGE = 1000;

	/** The most sessions that are known to have failed. */
	private static final int MOST_BEHIND = 1000;

	/** The most sessions of which the newest look is known. */
	private static final int MOST_LOOKED_AT = 100_000;

	/**
	 * A look at a session.
	 *
	 * @param batch the batch of turns after which it was
	 * @param step the tenth of the age in which it was
	 */
	private record Look(long batch, long step) {
	}

	private final SessionStore store;

	private final Retention configured;

	/** The sessions whose deletion has failed, or was left out, in this process. */
	private final Map<SessionKey, Boolean> behind = Collections.synchronizedMap(new LinkedHashMap<>() {
		@Override
		protected boolean removeEldestEntry(Map.Entry<SessionKey, Boolean> eldest) {
			return size() > MOST_BEHIND;
		}
	});

	/**
	 * The newest look of this process at a session. The header does not say when the last
	 * one was: others write to the session without a look.
	 */
	private final Cache<SessionKey, Look> looked = Caffeine.newBuilder()
		.maximumSize(MOST_LOOKED_AT)
		.executor(Runnable::run)
		.build();

	private final AtomicBoolean hasWaited = new AtomicBoolean();

	public Retentions(SessionStore store, Retention configured) {
		this.store = store;
		this.configured = configured;
	}

	/**
	 * Deletes what exceeds the limits, if it is time to look at that.
	 * @param base the session as it was before the turn; null if the turn has created it
	 * @param turn the number of the turn that has become history
	 * @param oldest returns the time of the oldest message of the session that the turn
	 * was shown; null for none
	 */
	public void after(@Nullable Session base, long turn, Supplier<@Nullable Instant> oldest) {
		Retention limits = (base != null) ? limits(base.settings().retention()) : this.configured;
		if (base == null || !limits.isLimited()) {
			return;
		}
		boolean late = this.behind.remove(base.key()) != null;
		if (!late && !isDue(limits, base, turn, oldest)) {
			return;
		}
		if (this.store.mayRollBack()) {
			leave(base.key());
		}
		else {
			look(limits, base.key(), turn);
		}
	}

	/**
	 * Leaves it to the next turn outside of a transaction of the caller. A statement that
	 * fails, or loses a deadlock, would take the turn and the caller's work with it.
	 */
	private void leave(SessionKey key) {
		this.behind.put(key, true);
		if (this.hasWaited.compareAndSet(false, true)) {
			logger.info("The oldest turns of session " + key
					+ " are not deleted yet, since by mayRollBack() of the store"
					+ " this turn may be rolled back. A turn outside of a transaction deletes them. A store that always"
					+ " answers true keeps them all: let it return false where a commit is final when it returns.");
		}
	}

	/** The settings of the session outrank those of all. */
	private Retention limits(SessionSettings.RetentionSettings own) {
		if (own.equals(SessionSettings.RetentionSettings.NONE)) {
			return this.configured;
		}
		Integer turns = own.maxTurns();
		Duration age = own.maxAge();
		return new Retention((turns != null) ? turns : this.configured.maxTurns(),
				(age == null) ? this.configured.maxAge() : age.isZero() ? null : age, this.configured.batch());
	}

	private boolean isDue(Retention limits, Session base, long turn, Supplier<@Nullable Instant> oldest) {
		boolean another = turn / limits.batch() > base.head() / limits.batch();
		return (turn > limits.maxTurns() && (another || mayExceedByABatch(limits, base, turn)))
				|| (mayBeTooOld(limits, base, oldest) && (another || isNextStep(limits, base.key())));
	}

	/**
	 * Returns whether so many turns were stored since the last look, also by others. The
	 * header does not count those that a summary covers.
	 */
	private boolean mayExceedByABatch(Retention limits, Session base, long turn) {
		if (base.summaryTurn() == 0) {
			return base.totals().turns() + 1 >= (long) limits.maxTurns() + limits.batch();
		}
		Look last = this.looked.getIfPresent(base.key());
		return last == null || last.batch() != turn / limits.batch();
	}

	/** A session that was imported or forked may have turns that are older than it. */
	private boolean mayBeTooOld(Retention limits, Session base, Supplier<@Nullable Instant> oldest) {
		Duration age = limits.maxAge();
		if (age == null) {
			return false;
		}
		Instant end = this.store.options().now().minus(age);
		Instant shown = base.createdAt().isBefore(end) ? null : oldest.get();
		return base.createdAt().isBefore(end) || (shown != null && shown.isBefore(end));
	}

	private boolean isNextStep(Retention limits, SessionKey key) {
		Look last = this.looked.getIfPresent(key);
		return last == null || last.step() != step(limits);
	}

	/** Returns the tenth of the age that it is now; 0 without an age. */
	private long step(Retention limits) {
		Duration age = limits.maxAge();
		return (age != null) ? this.store.options().now().toEpochMilli() / Math.max(1, age.toMillis() / LOOKS) : 0;
	}

	public void look(Retention limits, SessionKey key, long turn) {
		try {
			Look look = new Look(turn / limits.batch(), step(limits));
			if (delete(limits, key, turn)) {
				this.looked.put(key, look);
			}
			else {
				this.behind.put(key, true);
			}
		}
		catch (RuntimeException ex) {
			this.behind.put(key, true);
			logger.warn("The oldest turns of session " + key + " were not deleted: " + ex.getClass().getName()
					+ ". The turn is stored, and a later one tries again.");
		}
	}

	/**
	 * Deletes the oldest turns.
	 * @return false if others wrote to the session in between
	 */
	private boolean delete(Retention limits, SessionKey key, long turn) {
		PathQuery query = PathQuery.to(Point.HEAD)
			.records(RetentionRecord.KIND, KeptTexts.KIND, SessionStore.SUMMARY, BegunRewinds.KIND);
		PathView path = this.store.path(key, query.turns(page(limits))).orElse(null);
		if (path == null || path.session().head() != turn) {
			return path == null;
		}
		RetentionRecord last = RetentionRecord.read(path.records(RetentionRecord.KIND), codec());
		List<Turn> history = history(path, query, limits, last.first());
		int exceeding = Math.min(exceeding(limits, history, now(path.session())), beforeRewinds(path, history));
		long first = (exceeding > 0) ? history.get(exceeding - 1).number() + 1 : 0;
		if (first <= last.first()) {
			return true;
		}
		NavigableMap<Long, Turn> turns = turns(key, history, last.first(), path.session().turns());
		List<RecordWrite> records = new ArrayList<>(
				new RetainedTurns(key, this.store, turns, first).records(kept(path.records(KeptTexts.KIND))));
		records.addAll(VerbatimMessages.delete(turns.headMap(first).values()));
		records.addAll(Summaries.withoutPinned(path.records(SessionStore.SUMMARY), first, codec()));
		ViewTotals gone = totals(history, path.session().summaryTurn(), first);
		records.add(new RetentionRecord(first, turn, path.session().totals(), path.session().totals().minus(gone))
			.write(key, codec()));
		return this.store.commit(Commit.on(path.session()).oldest(new Oldest(last.first(), first)).records(records))
			.isStored();
	}

	/**
	 * Returns the time by the clock of the store, where the header has just been written
	 * with it, or by that of the process if this is earlier. A header keeps the time of a
	 * clock that has jumped forward.
	 */
	private Instant now(Session session) {
		Instant here = this.store.options().now();
		return session.updatedAt().isBefore(here) ? session.updatedAt() : here;
	}

	private static Tail page(Retention limits) {
		return Tail.newest((int) Math.min(10L * PAGE, Math.max(PAGE, limits.maxTurns() + 2L * limits.batch())));
	}

	/** Returns the turns of the active branch that have items, oldest first. */
	private List<Turn> history(PathView path, PathQuery query, Retention limits, long first) {
		List<Turn> all = new ArrayList<>();
		List<Turn> read = path.turns();
		while (!read.isEmpty()) {
			all.addAll(0, read.stream().filter((turn) -> turn.items() > 0).toList());
			long oldest = read.get(0).number();
			read = (oldest <= first) ? List.of()
					: this.store.path(path.session().key(), query.turns(page(limits).before(oldest)))
						.map(PathView::turns)
						.orElse(List.of());
		}
		return all;
	}

	/** Returns how many of the oldest turns exceed a limit. */
	private static int exceeding(Retention limits, List<Turn> history, Instant now) {
		int exceeding = Math.max(0, history.size() - limits.maxTurns());
		Duration age = limits.maxAge();
		while (age != null && exceeding < history.size() - 1 && isOlder(history.get(exceeding), now.minus(age))) {
			exceeding++;
		}
		return exceeding;
	}

	/**
	 * Returns how many of the oldest turns come before one whose rewind has not ended.
	 */
	private int beforeRewinds(PathView path, List<Turn> history) {
		BegunRewinds rewinds = BegunRewinds.read(path.session().key(), path.records(BegunRewinds.KIND), codec());
		return (int) history.stream().takeWhile((turn) -> !rewinds.has(turn)).count();
	}

	private static boolean isOlder(Turn turn, Instant time) {
		Instant ended = turn.endedAt();
		return ((ended != null) ? ended : turn.startedAt()).isBefore(time);
	}

	/** Returns all turns from the first one that may have items, by number. */
	private NavigableMap<Long, Turn> turns(SessionKey key, List<Turn> history, long first, long last) {
		NavigableMap<Long, Turn> turns = new TreeMap<>();
		history.forEach((turn) -> turns.put(turn.number(), turn));
		long missing = last - first + 1 - turns.size();
		if (missing > 0) {
			int all = (int) Math.min(Integer.MAX_VALUE, last - first + 1);
			this.store.turns(key, new Tail(last + 1, all)).forEach((turn) -> turns.put(turn.number(), turn));
		}
		return turns;
	}

	private static Set<Long> kept(List<SessionRecord> records) {
		Set<Long> kept = new HashSet<>();
		records.forEach((record) -> kept.add(KeptTexts.turn(record)));
		return kept;
	}

	private static ViewTotals totals(List<Turn> history, long summary, long before) {
		ViewTotals totals = ViewTotals.NONE;
		for (Turn turn : history) {
			if (turn.number() > summary && turn.number() < before) {
				totals = totals.plusTurn(turn.items(), turn.tokens());
			}
		}
		return totals;
	}

	private MessageCodec codec() {
		return this.store.options().codec();
	}

}
