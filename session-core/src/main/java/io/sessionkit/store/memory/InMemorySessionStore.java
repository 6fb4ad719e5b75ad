package io.sessionkit.store.memory;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.internal.row.RecordPlace;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.Page;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.RecordPage;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnView;
import io.sessionkit.store.Window;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Keeps sessions in the memory of this process and forgets them when it ends. It is as
 * strict as a database: messages and attributes pass the codec when they are written, and
 * what would not be read back equal is refused. A message that the codec
 * {@linkplain io.sessionkit.codec.MessageCodec#surelyStores surely stores} is kept as it
 * is. Titles, tags, settings, agents, kept parameters, failures and verdicts have to pass
 * the codec too.
 * <p>
 * It holds a bounded number of sessions. When the limit is exceeded, the least recently
 * written session without an open turn is evicted; one with an open turn only if there is
 * no other. The first eviction is logged. Expiry is judged by the clock of the options.
 * <p>
 * A session that was erased or has expired and is written again is another session: its
 * incarnation differs, and a commit based on the earlier session is a conflict, whatever
 * the versions and the clock are.
 * <p>
 * Safe for use by many threads. Writers of one session wait for each other; writers of
 * different sessions do not.
 */
public final class InMemorySessionStore implements SessionStore {

	/** The default maximum number of sessions. */
	public static final int DEFAULT_MAX_SESSIONS = 10_000;

	private static final Log logger = LogFactory.getLog(InMemorySessionStore.class);

	private final StoreOptions options;

	private final int maxSessions;

	private final RoundTrip roundTrip;

	private final ConcurrentMap<SessionKey, StoredSession> sessions = new ConcurrentHashMap<>();

	/**
	 * The keys of the sessions without an open turn by their stamp; the last written
	 * session comes last.
	 */
	private final ConcurrentSkipListMap<Long, SessionKey> byStamp = new ConcurrentSkipListMap<>();

	/** The keys of the sessions with an open turn, likewise. */
	private final ConcurrentSkipListMap<Long, SessionKey> openByStamp = new ConcurrentSkipListMap<>();

	private final AtomicLong stamps = new AtomicLong();

	private final AtomicBoolean hasEvicted = new AtomicBoolean();

	/**
	 * Creates a store for at most {@value #DEFAULT_MAX_SESSIONS} sessions.
	 * @param options codec, clock, turn ids, token estimate and time to live
	 */
	public InMemorySessionStore(StoreOptions options) {
		this(options, DEFAULT_MAX_SESSIONS);
	}

	/**
	 * Creates a store for at most the given number of sessions.
	 * @param options codec, clock, turn ids, token estimate and time to live
	 * @param maxSessions the maximum number of sessions; 1 or more
	 * @throws IllegalArgumentException if the maximum is less than 1
	 */
	public InMemorySessionStore(StoreOptions options, int maxSessions) {
		if (maxSessions < 1) {
			throw new IllegalArgumentException(
					"The in-memory store must be allowed at least one session, not " + maxSessions + ".");
		}
		this.options = options;
		this.maxSessions = maxSessions;
		this.roundTrip = new RoundTrip(options.codec());
		logger.info("Sessions are kept in memory, at most " + maxSessions
				+ " of them, and are forgotten when this process ends.");
	}

	@Override
	public StoreOptions options() {
		return this.options;
	}

	@Override
	public Optional<SessionView> open(SessionKey key, Window window) {
		Instant now = now();
		return find(key, now).map((session) -> session.open(window, now));
	}

	@Override
	public Optional<PathView> path(SessionKey key, PathQuery query) {
		Instant now = now();
		return find(key, now).map((session) -> session.path(query, now));
	}

	@Override
	public CommitResult commit(Commit commit) {
		PreparedCommit write = PreparedCommit.of(commit, this.roundTrip);
		AtomicReference<@Nullable CommitResult> result = new AtomicReference<>();
		Instant now = now();
		this.sessions.compute(commit.key(), (key, there) -> {
			StoredSession live = replaceExpired(there, now);
			StoredSession session = (live != null) ? live : create(key, now);
			long writes = session.writes();
			result.set(session.commit(write, now));
			if (session.writes() > writes) {
				stamp(session);
			}
			return session.exists() ? session : null;
		});
		evict(commit.key(), now);
		return Objects.requireNonNull(result.get());
	}

	private @Nullable StoredSession replaceExpired(@Nullable StoredSession there, Instant now) {
		if (there != null && there.isExpired(now)) {
			forget(there);
			return null;
		}
		return there;
	}

	private StoredSession create(SessionKey key, Instant now) {
		return new StoredSession(SessionContent.absent(key, now, this.options.timeToLive()), this.roundTrip,
				this.stamps::incrementAndGet);
	}

	private void stamp(StoredSession session) {
		forget(session);
		session.stamp(this.stamps.incrementAndGet());
		(session.hasOpenTurn() ? this.openByStamp : this.byStamp).put(session.stamp(), session.key());
	}

	private void forget(StoredSession session) {
		this.byStamp.remove(session.stamp());
		this.openByStamp.remove(session.stamp());
	}

	/**
	 * Removes the least recently written sessions that have expired, and others as long
	 * as there are too many. The session that was written just now stays, so that none is
	 * gone at once where all others have an open turn.
	 */
	private void evict(SessionKey written, Instant now) {
		evictFirst(this.byStamp, (session) -> session.isExpired(now));
		evictFirst(this.openByStamp, (session) -> session.isExpired(now));
		if (isFull()) {
			logFirstEviction();
			evictFirst(this.byStamp, (session) -> isFull() && !session.key().equals(written));
			evictFirst(this.openByStamp, (session) -> isFull() && !session.key().equals(written));
		}
	}

	private boolean isFull() {
		return this.sessions.size() > this.maxSessions;
	}

	private void logFirstEviction() {
		if (this.hasEvicted.compareAndSet(false, true)) {
			logger.warn("There are more than " + this.maxSessions + " sessions in memory. From now on those that were"
					+ " written longest ago are evicted, those with an open turn last. This is logged once. Raise"
					+ " 'sessionkit.store.memory.max-sessions', or keep sessions in a database or in Redis.");
		}
	}

	private void evictFirst(ConcurrentSkipListMap<Long, SessionKey> places, Predicate<StoredSession> dispensable) {
		while (true) {
			Map.Entry<Long, SessionKey> oldest = places.firstEntry();
			if (oldest == null || !isThere(oldest.getValue(), dispensable)) {
				return;
			}
			evict(oldest.getKey(), oldest.getValue(), dispensable);
		}
	}

	private boolean isThere(SessionKey key, Predicate<StoredSession> dispensable) {
		StoredSession session = this.sessions.get(key);
		return session != null && dispensable.test(session);
	}

	// One at a time: two threads that see the same surplus session would remove two.
	private void evict(long stamp, SessionKey key, Predicate<StoredSession> dispensable) {
		synchronized (this.byStamp) {
			this.sessions.computeIfPresent(key, (same, session) -> {
				if (session.stamp() != stamp || !dispensable.test(session)) {
					return session;
				}
				forget(session);
				return null;
			});
		}
	}

	@Override
	public List<SessionItem> items(SessionKey key, Tail tail) {
		return find(key, now()).map((session) -> session.log(tail)).orElse(List.of());
	}

	@Override
	public List<SessionItem> items(SessionKey key, long turn) {
		return find(key, now()).map((session) -> session.items(turn)).orElse(List.of());
	}

	@Override
	public List<Turn> turns(SessionKey key, Tail tail) {
		return find(key, now()).map((session) -> session.turns(tail)).orElse(List.of());
	}

	@Override
	public Optional<TurnView> turn(SessionKey key, long number, Set<String> kinds) {
		Instant now = now();
		return find(key, now).flatMap((session) -> session.turn(number, kinds, now));
	}

	@Override
	public boolean mayRollBack() {
		return false;
	}

	@Override
	public List<Session> list(String owner, Page page) {
		return of(owner, now()).map(Listed::of)
			.sorted(Comparator.comparing(Listed::updatedAt).thenComparing(Listed::stamp).reversed())
			.skip(page.offset())
			.limit(page.limit())
			.map((listed) -> listed.session().session())
			.toList();
	}

	/** A session, and what orders it, which others may change while it is listed. */
	private record Listed(Instant updatedAt, long stamp, StoredSession session) {

		static Listed of(StoredSession session) {
			return new Listed(session.updatedAt(), session.stamp(), session);
		}

	}

	@Override
	public boolean erase(SessionKey key) {
		AtomicBoolean lived = new AtomicBoolean();
		this.sessions.computeIfPresent(key, (same, session) -> {
			lived.set(!session.isExpired(now()));
			forget(session);
			return null;
		});
		return lived.get();
	}

	@Override
	public int deleteExpired(int limit) {
		int most = Page.first(limit).limit();
		Instant now = now();
		int deleted = 0;
		for (StoredSession session : this.sessions.values()) {
			if (deleted == most) {
				break;
			}
			deleted += session.isExpired(now) ? deleteExpired(session.key(), now)
					: session.deleteExpiredRecords(now, most - deleted);
		}
		return deleted;
	}

	private int deleteExpired(SessionKey key, Instant now) {
		AtomicInteger deleted = new AtomicInteger();
		this.sessions.computeIfPresent(key, (same, session) -> {
			StoredSession live = replaceExpired(session, now);
			deleted.set((live == null) ? 1 : 0);
			return live;
		});
		return deleted.get();
	}

	@Override
	public boolean put(SessionKey key, RecordWrite record) {
		Instant now = now();
		return find(key, now).map((session) -> session.put(record, now)).orElse(false);
	}

	@Override
	public List<SessionRecord> records(SessionKey key, String kind) {
		Instant now = now();
		return find(key, now).stream()
			.flatMap((session) -> session.records(kind, now).stream())
			.map(StoredRecords.Stamped::record)
			.toList();
	}

	@Override
	public Optional<SessionRecord> record(SessionKey key, String kind, String id) {
		Instant now = now();
		return find(key, now).map((session) -> session.record(kind, id, now));
	}

	@Override
	public List<SessionRecord> records(String owner, String kind, Page page) {
		Instant now = now();
		return of(owner, now).flatMap((session) -> session.records(kind, now).stream())
			.sorted(Comparator.comparing(StoredRecords.Stamped::writtenAt)
				.thenComparing(StoredRecords.Stamped::stamp)
				.reversed())
			.skip(page.offset())
			.limit(page.limit())
			.map(StoredRecords.Stamped::record)
			.toList();
	}

	@Override
	public RecordPage oldestRecords(String kind, @Nullable String after, int limit) {
		long from = RecordPlace.of(kind, after, limit).at();
		Instant now = now();
		List<StoredRecords.Stamped> page = this.sessions.values()
			.stream()
			.filter((session) -> !session.isExpired(now))
			.flatMap((session) -> session.records(kind, now).stream())
			.filter((record) -> record.stamp() > from)
			.sorted(Comparator.comparingLong(StoredRecords.Stamped::stamp))
			.limit(limit)
			.toList();
		String next = (page.size() == limit) ? new RecordPlace(page.get(limit - 1).stamp(), "").text() : null;
		return new RecordPage(page.stream().map(StoredRecords.Stamped::record).toList(), next);
	}

	private Stream<StoredSession> of(String owner, Instant now) {
		return this.sessions.values()
			.stream()
			.filter((session) -> session.key().owner().equals(owner) && !session.isExpired(now));
	}

	private Optional<StoredSession> find(SessionKey key, Instant now) {
		return Optional.ofNullable(this.sessions.get(key)).filter((session) -> !session.isExpired(now));
	}

	private Instant now() {
		return this.options.now();
	}

}
