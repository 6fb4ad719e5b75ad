package io.sessionkit.internal.row;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Scheduler;
import com.github.benmanes.caffeine.cache.Ticker;
import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

import org.springframework.util.unit.DataSize;

/**
 * The views that this process has read or written last. A store sends the stamp of a view
 * that is known here, and leaves the view out of its answer if the stamp is still that of
 * the session. If other processes have only appended a few turns since, it answers with
 * these alone. So the answer of the store decides, as it does without a cache: a stamp is
 * made anew by every write of a header, and is never used twice. Should that fail, a view
 * is not taken for that of a header with another version or head.
 * <p>
 * Messages are decoded when they are first asked for, and handed out as copies. Views are
 * dropped, the least useful ones first, when there is no room for all of them, and ten
 * minutes after their last use. Safe for use by many threads.
 */
public final class ViewCache {

	private static final Duration IDLE = Duration.ofMinutes(10);

	private final RowReader reader;

	/** Null if no view is to be kept. */
	private final @Nullable Cache<SessionKey, KnownView> views;

	/**
	 * Creates a cache.
	 * @param limit about how much memory the views may take; 0 keeps none
	 * @param codec decodes the messages
	 */
	public ViewCache(DataSize limit, MessageCodec codec) {
		this(limit, codec, Ticker.systemTicker(), Scheduler.systemScheduler());
	}

	/**
	 * Creates a cache with a clock of its own.
	 * @param scheduler drops views in time where no other one is read or written; that of
	 * the JDK has one daemon thread for all
	 */
	ViewCache(DataSize limit, MessageCodec codec, Ticker ticker, Scheduler scheduler) {
		this.reader = new RowReader(codec);
		this.views = (limit.toBytes() > 0) ? Caffeine.newBuilder()
			.maximumWeight(limit.toBytes())
			.weigher((SessionKey key, KnownView view) -> view.bytes())
			.expireAfterAccess(IDLE)
			.ticker(ticker)
			.scheduler(scheduler)
			.executor(Runnable::run)
			.build() : null;
	}

	/** Returns how many views are in memory, also if they are not used any more. */
	long size() {
		return (this.views != null) ? this.views.estimatedSize() : 0;
	}

	/**
	 * Opens a session and remembers its view.
	 * @param read reads the session for somebody who knows a view, and returns null if
	 * there is none; called once more if the view is not that of the session
	 */
	public Optional<SessionView> open(SessionKey key, Window window, Function<KnownView, @Nullable OpenedRows> read) {
		KnownView known = known(key, window);
		OpenedRows rows = read.apply(known);
		if (rows != null && rows.extent() == OpenedRows.Extent.NOTHING && !known.isOf(rows.header())) {
			known = KnownView.NONE;
			rows = read.apply(known);
		}
		if (rows == null) {
			absent(key, window);
			return Optional.empty();
		}
		return Optional.of(opened(key, window, known, rows));
	}

	/**
	 * Returns the view that is known of a session.
	 * @return the view; {@link KnownView#NONE} if none is known for this window
	 */
	private KnownView known(SessionKey key, Window window) {
		KnownView view = (this.views != null && !window.isEmpty()) ? this.views.getIfPresent(key) : null;
		return (view != null && view.window().equals(window)) ? view : KnownView.NONE;
	}

	/**
	 * Returns a session as its header was read, and drops its view if that is of another
	 * write, which the store may no longer have: one that was rolled back with the
	 * transaction of the caller, or lost in a failover.
	 */
	public Session session(SessionKey key, HeaderRow header) {
		KnownView view = (this.views != null) ? this.views.getIfPresent(key) : null;
		if (view != null && view.stamp() != header.stamp()) {
			forget(key);
		}
		return this.reader.session(key, header);
	}

	/**
	 * Returns a session as it was opened, and remembers its view.
	 * @param known the view whose stamp the store was sent
	 * @param rows the answer of the store
	 */
	private SessionView opened(SessionKey key, Window window, KnownView known, OpenedRows rows) {
		Session session = session(key, rows.header());
		return switch (rows.extent()) {
			case NOTHING -> view(session, known);
			case ADDED -> {
				KnownView now = known.followedBy(rows);
				remember(key, now);
				yield view(session, now);
			}
			case WHOLE -> whole(session, window, rows);
		};
	}

	private SessionView view(Session session, KnownView known) {
		return new SessionView(session, known.summary(), known.items(session.key(), this.reader));
	}

	private SessionView whole(Session session, Window window, OpenedRows rows) {
		SessionKey key = session.key();
		String id = session.summaryId();
		SessionRecord summary = (rows.summary() != null && id != null)
				? rows.summary().record(key, SessionStore.SUMMARY, id) : null;
		if (this.views != null && !window.isEmpty() && rows.header().stamp() != 0) {
			remember(key, KnownView.read(window, rows, summary));
		}
		return new SessionView(session, summary, this.reader.items(key, rows.items()));
	}

	/**
	 * Remembers a view that another write has followed.
	 */
	public void committed(EncodedCommit commit, CommitResult result) {
		SessionKey key = commit.commit().key();
		KnownView before = (this.views != null) ? this.views.getIfPresent(key) : null;
		if (before != null && result.outcome() == Outcome.COMMITTED) {
			remember(key, before.followedBy(commit, result));
		}
	}

	/**
	 * Remembers that there is no session, so that its first turn is known as it is
	 * written.
	 */
	void absent(SessionKey key, Window window) {
		if (!window.isEmpty()) {
			remember(key, KnownView.absent(window));
		}
	}

	/**
	 * Drops the view of a session.
	 */
	public void forget(SessionKey key) {
		remember(key, null);
	}

	private void remember(SessionKey key, @Nullable KnownView view) {
		if (this.views == null) {
			return;
		}
		if (view != null) {
			this.views.put(key, view);
		}
		else {
			this.views.invalidate(key);
		}
	}

}
