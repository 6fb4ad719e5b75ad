package io.sessionkit.store.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.KeyHash;
import io.sessionkit.internal.row.KnownView;
import io.sessionkit.internal.row.OpenedRows;
import io.sessionkit.internal.row.RecordPlace;
import io.sessionkit.internal.row.RefusedChange;
import io.sessionkit.internal.row.RowReader;
import io.sessionkit.internal.row.TurnRow;
import io.sessionkit.internal.row.ViewCache;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.Page;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.Point;
import io.sessionkit.store.RecordPage;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreOptions;
import io.sessionkit.store.StoreUnavailableException;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnView;
import io.sessionkit.store.Window;
import io.sessionkit.store.redis.OwnerIndex.Found;
import io.sessionkit.store.redis.RedisKeys.Pair;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Keeps sessions in Redis 6.2 or newer, alone or as a Cluster, without modules. Opening a
 * session is one call of a script, and so is committing a turn that only follows the one
 * before; if something else has happened since, or another change is made with it, that
 * is a second call at most. Moving the head of a session copies nothing.
 * <p>
 * Lists of an owner come from indexes. On one server the same script writes them, for
 * plain turns once in a minute. In a Cluster they may be on another server: there the
 * first turn of a session costs one call more, and in 15 minutes one turn costs three
 * more and one record two.
 * <p>
 * The store joins neither Redis transactions nor those of a caller: a commit is stored
 * when it returns. An answer is one text with its length and the token of its request, so
 * an incomplete answer is recognized. A request whose answer was lost is sent once more,
 * by the driver or by the store. Each write has an id by which its script recognizes the
 * repetition: the write is done once, and both requests get the same answer.
 * <p>
 * If both answers to a write were lost, or the first one was and the second request is
 * refused, it is unknown whether the write took place. The
 * {@link io.sessionkit.store.StoreUnavailableException} says so; committing the same turn
 * id again is safe. A turn is recognized as long as it exists and no later part of it was
 * stored (after that it is {@code REPEATED}), another write for at least five minutes. A
 * server that drops these ids, because it evicts keys that expire ({@code volatile-*}) or
 * lost its newest writes in a failover, may do such a write a second time.
 * <p>
 * Expiry and the times of sessions and records are by the clock of the server. How much
 * of the stored data survives a crash or a failover of the server depends on its
 * persistence and replication.
 * <p>
 * Safe for use by many threads and processes. If the server cannot be reached or refuses
 * a script, methods throw {@link io.sessionkit.store.StoreUnavailableException}.
 */
public final class RedisSessionStore implements SessionStore {

	private static final Log logger = LogFactory.getLog(RedisSessionStore.class);

	/** The default prefix of the names of the keys. */
	public static final String DEFAULT_KEY_PREFIX = RedisKeys.DEFAULT_PREFIX;

	/**
	 * The regular expression of a prefix of keys: at least one character, without braces
	 * and white space.
	 */
	public static final String KEY_PREFIX_PATTERN = RedisKeys.PREFIX_PATTERN;

	/** The answer of <code>path.lua</code> for a path that ends where it should. */
	private static final int END_FOUND = 2;

	private static final int UNCHANGED = 1;

	private static final int ADDED = 2;

	private final RedisConnectionFactory connections;

	private final StoreOptions options;

	private final RedisKeys keys;

	private final RedisScripts scripts;

	private final OwnerIndex index;

	private final SharedIndex shared;

	private final GoneIds gone;

	private final ExpiredRecords expired;

	/** True if the last deletion ended while there were still records to look at. */
	private volatile boolean amongRecords;

	private final SessionWrites writes;

	private final RowReader reader;

	private final ViewCache views;

	/**
	 * Creates a store in the keys <code>sessionkit:*</code>. Does not connect yet.
	 * @param connections connections to the server or Cluster
	 * @param options codec, clock, turn ids, token estimate and time to live
	 */
	public RedisSessionStore(RedisConnectionFactory connections, StoreOptions options) {
		this(connections, options, DEFAULT_KEY_PREFIX);
	}

	/**
	 * Creates a store in keys with another prefix. Does not connect yet.
	 * @param connections connections to the server or Cluster
	 * @param options codec, clock, turn ids, token estimate and time to live
	 * @param keyPrefix the start of the key names: at least one character, neither braces
	 * nor white space
	 * @throws IllegalArgumentException if the prefix is empty or has such characters
	 */
	public RedisSessionStore(RedisConnectionFactory connections, StoreOptions options, String keyPrefix) {
		this.connections = connections;
		this.options = options;
		this.keys = new RedisKeys(keyPrefix);
		this.scripts = new RedisScripts(connections, this.keys.severalSlots());
		this.index = new OwnerIndex(this.scripts);
		this.gone = new GoneIds(this.scripts, this.keys);
		this.expired = new ExpiredRecords(this.scripts, this.keys);
		this.shared = new SharedIndex(this.keys, this.scripts);
		this.writes = new SessionWrites(this.keys, this.scripts, this.index, this.shared);
		this.reader = new RowReader(options.codec());
		this.views = new ViewCache(options.viewCache(), options.codec());
	}

	@Override
	public StoreOptions options() {
		return this.options;
	}

	/**
	 * Checks that the server can be reached, runs scripts, and knows and allows all of
	 * their commands. In a Cluster one server is asked. A server that takes no writes for
	 * the time being, since it is full or cannot save, is logged, and so is one that
	 * deletes keys when it is full.
	 * @throws io.sessionkit.store.StoreUnavailableException if it cannot be reached or
	 * refuses the script or a command
	 */
	public void verifyServer() {
		open(SessionKey.of("none"), Window.HEADER);
		Reply refused = this.scripts.read(Script.CHECK, List.of(this.keys.check()), new Arguments());
		if (!refused.isEmpty()) {
			reportOrThrow(refused.requiredText(0), refused.requiredText(1));
		}
		EvictionPolicy.of(this.connections).ifPresent(RedisSessionStore::warnOfEviction);
	}

	private static void warnOfEviction(String policy) {
		logger.warn("Redis deletes keys when it is full (maxmemory-policy " + policy
				+ "), also single keys of a session:"
				+ " a whole session, its decisions, idempotency keys and snapshots, or the calls that wait in the inbox"
				+ " of all owners may be gone without an error. Set maxmemory-policy to noeviction.");
	}

	private static void reportOrThrow(String command, String reason) {
		StoreUnavailableException refusal = RedisErrors.cannotWrite(command, reason);
		if (!RedisErrors.mayPass(reason)) {
			throw refusal;
		}
		logger.warn(refusal.getMessage() + " Until that is over, no turn is stored.");
	}

	@Override
	public Optional<SessionView> open(SessionKey key, Window window) {
		return this.views.open(key, window, (known) -> open(key, window, known));
	}

	private @Nullable OpenedRows open(SessionKey key, Window window, KnownView known) {
		Reply reply = read(Script.OPEN, key,
				new Arguments().withLimit(window.turns())
					.withLimit(window.items())
					.with((known.stamp() != 0) ? PackedHeader.stamp(known.stamp()) : null)
					.with(known.summaryRevision())
					.with(known.summaryWrittenAt()));
		return reply.isEmpty() ? null : rows(window, reply);
	}

	private static OpenedRows rows(Window window, Reply reply) {
		if (reply.isText()) {
			return reply.opened(window);
		}
		HeaderRow header = reply.header(0);
		if (reply.number(1) == UNCHANGED) {
			return OpenedRows.unchanged(header);
		}
		List<ItemRow> items = reply.items(reply.turns(3));
		Reply summary = reply.list(2);
		return (reply.number(1) == ADDED) ? OpenedRows.added(header, items)
				: OpenedRows.whole(header, summary.isEmpty() ? null : summary.record(0), items);
	}

	@Override
	public Optional<PathView> path(SessionKey key, PathQuery query) {
		Point end = query.end();
		Arguments arguments = new Arguments().with(end.kind().name())
			.with(end.turn())
			.withLimit(query.window().turns())
			.withLimit(query.window().items())
			.with(before(query.turns()))
			.withLimit(query.turns().limit());
		query.kinds().forEach(arguments::with);
		Reply reply = read(Script.PATH, key, arguments);
		if (reply.isEmpty()) {
			return Optional.empty();
		}
		if (reply.number(1) != END_FOUND) {
			throw RefusedChange.end(key, end, reply.number(1) != 0);
		}
		return Optional.of(path(key, reply));
	}

	private PathView path(SessionKey key, Reply reply) {
		HeaderRow header = reply.header(0);
		Session there = this.reader.session(key, reply.headerAt(header, 2));
		Reply summary = reply.list(3);
		String id = there.summaryId();
		return new PathView(this.views.session(key, header),
				new SessionView(there,
						(summary.isEmpty() || id == null) ? null : summary.record(0).record(key, SUMMARY, id),
						this.reader.items(key, reply.items(reply.list(4).turns(0)))),
				reply.number(7), turns(key, reply.list(5)), reply.list(6).records(key));
	}

	private List<Turn> turns(SessionKey key, Reply turns) {
		return turns.rows(turns.turns(0)).stream().map((turn) -> this.reader.turn(key, turn)).toList();
	}

	private static @Nullable Long before(Tail tail) {
		return (tail.before() != Long.MAX_VALUE) ? Long.valueOf(tail.before()) : null;
	}

	@Override
	public CommitResult commit(Commit commit) {
		EncodedCommit encoded = EncodedCommit.of(commit, this.options);
		CommitResult result = this.writes.commit(encoded);
		this.views.committed(encoded, result);
		return result;
	}

	@Override
	public List<SessionItem> items(SessionKey key, Tail tail) {
		Reply reply = read(Script.ITEMS, key, new Arguments().with(before(tail)).withLimit(tail.limit()));
		List<SessionItem> items = this.reader.items(key,
				reply.items(reply.turns(0)).stream().filter((item) -> item.sequence() < tail.before()).toList());
		return items.subList(Math.max(0, items.size() - tail.limit()), items.size());
	}

	@Override
	public List<SessionItem> items(SessionKey key, long turn) {
		Reply reply = read(Script.TURN, key, new Arguments().with(turn));
		return reply.isEmpty() ? List.of() : this.reader.items(key, reply.items(List.of(reply.turn(0))));
	}

	@Override
	public Optional<TurnView> turn(SessionKey key, long number, Set<String> kinds) {
		Arguments arguments = new Arguments().with(number);
		kinds.forEach(arguments::with);
		Reply reply = read(Script.TURN, key, arguments);
		return reply.isEmpty() ? Optional.empty() : Optional.of(turn(key, reply));
	}

	private TurnView turn(SessionKey key, Reply reply) {
		List<PackedTurn> turn = List.of(reply.turn(0));
		TurnRow row = reply.rows(turn).get(0);
		return new TurnView(this.reader.turn(key, row), this.reader.items(key, reply.items(turn)),
				reply.list(2).records(key), this.reader.attributes(key, row));
	}

	@Override
	public boolean mayRollBack() {
		return false;
	}

	@Override
	public List<Turn> turns(SessionKey key, Tail tail) {
		Reply reply = read(Script.TURNS, key, new Arguments().with(before(tail)).withLimit(tail.limit()));
		return turns(key, reply);
	}

	@Override
	public List<Session> list(String owner, Page page) {
		boolean oneServer = this.scripts.haveOneServer();
		return this.index.newest(this.keys.sessions(owner), OwnerIndex.lag(oneServer), oneServer, page,
				(ids) -> sessions(owner, ids));
	}

	private List<Found<Session>> sessions(String owner, List<String> ids) {
		List<Found<Session>> found = new ArrayList<>();
		int together = this.scripts.haveOneServer() ? Math.max(1, ids.size()) : 1;
		for (int from = 0; from < ids.size(); from += together) {
			found.addAll(sessionsAtOnce(owner, ids.subList(from, Math.min(ids.size(), from + together))));
		}
		return found;
	}

	private List<Found<Session>> sessionsAtOnce(String owner, List<String> ids) {
		List<SessionKey> sessions = ids.stream().map((id) -> SessionKey.of(owner, id)).toList();
		List<Pair> keysOfAll = sessions.stream().map((key) -> this.keys.session(KeyHash.of(key))).toList();
		Reply headers = this.scripts.read(Script.HEADERS, keysOfAll, new Arguments());
		List<Found<Session>> found = new ArrayList<>();
		for (int i = 0; i < ids.size(); i++) {
			if (headers.bytes(i).length > 0) {
				found.add(session(sessions.get(i), headers.about(sessions.get(i)).header(i)));
			}
		}
		return found;
	}

	private Found<Session> session(SessionKey key, HeaderRow header) {
		Session session = this.views.session(key, header);
		return new Found<>(key.id(), session.updatedAt(), session);
	}

	@Override
	public boolean erase(SessionKey key) {
		List<RecordWrite> deletions = this.shared.deletions(key, (kind) -> records(key, kind));
		long announced = this.shared.announce(key, deletions);
		boolean erased = this.writes.erase(key);
		this.shared.withdraw(key, deletions, announced);
		this.views.forget(key);
		return erased;
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * Redis deletes sessions by itself. This method removes the ids of expired sessions
	 * from the lists of their owners, from 16 minutes after the sessions have expired,
	 * the records that have expired before their sessions (tool calls and notices stay
	 * until their session is erased), and what still leads to tool calls and notices that
	 * are gone, among the next 200 calls and 200 notices of all owners in each call. It
	 * looks through the names of all keys on each server, a thousand in a call, once for
	 * the ids and once for the records. After a million keys of a server it returns, in a
	 * Cluster after a hundred thousand for the records, and the next call continues
	 * there, so it may return 0 while something is left. A server of a Cluster that fails
	 * is left out until the others have nothing left, and a warning says so; if all fail,
	 * the method throws a {@link StoreUnavailableException}. Behind a proxy that hides a
	 * Cluster it sees only the keys that the proxy answers SCAN with, which may be those
	 * of one server.
	 */
	@Override
	public int deleteExpired(int limit) {
		int most = Page.first(limit).limit();
		int removed = (most > 0 && !this.amongRecords) ? this.gone.remove(most) : 0;
		if (removed < most) {
			removed += this.expired.remove(most - removed);
			// a call that ends in the middle continues there, and not with the ids again
			this.amongRecords = removed == most;
		}
		return removed + ((removed < most) ? this.shared.sweep(most - removed) : 0);
	}

	@Override
	public boolean put(SessionKey key, RecordWrite record) {
		return this.writes.put(key, record);
	}

	@Override
	public List<SessionRecord> records(SessionKey key, String kind) {
		return read(Script.RECORDS, key, new Arguments().with(kind)).records(key);
	}

	@Override
	public Optional<SessionRecord> record(SessionKey key, String kind, String id) {
		return read(Script.RECORD, key, new Arguments().with(kind).with(id)).records(key).stream().findFirst();
	}

	@Override
	public List<SessionRecord> records(String owner, String kind, Page page) {
		long lag = this.scripts.haveOneServer() ? 0 : OwnerIndex.lag();
		return this.index.newest(this.keys.records(owner, kind), lag, false, page, (ids) -> records(owner, kind, ids));
	}

	private List<Found<SessionRecord>> records(String owner, String kind, List<String> ids) {
		return ids.stream()
			.flatMap((id) -> records(SessionKey.of(owner, id), kind).stream())
			.map((record) -> new Found<>(record.key().id(), record.writtenAt(), record))
			.toList();
	}

	@Override
	public RecordPage oldestRecords(String kind, @Nullable String after, int limit) {
		return this.shared.oldest(kind, RecordPlace.of(kind, after, limit), limit);
	}

	private Reply read(Script script, SessionKey key, Arguments arguments) {
		return this.scripts.read(script, this.keys.scripts(KeyHash.of(key)), arguments).about(key);
	}

}
