package io.sessionkit.internal.row;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.internal.row.EncodedCommit.EncodedTurn;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * A view of a session that this process knows. It does not change.
 */
public final class KnownView {

	/** No view. Its stamp is that of no session. */
	public static final KnownView NONE = new KnownView(Position.absent(Window.HEADER), null, new long[0], List.of());

	/** An estimate of the memory of a view without items. */
	private static final int BYTES = 500;

	/**
	 * The state of the session in which a view was read or written.
	 *
	 * @param items how many items the view has without a window
	 */
	private record Position(Window window, long stamp, String incarnation, long version, long head, long items) {

		/** Returns the state of a session that is not there. */
		static Position absent(Window window) {
			return new Position(window, 0, "", 0, 0, 0);
		}

		static Position of(Window window, HeaderRow header) {
			return new Position(window, header.stamp(), header.incarnation(), header.version(), header.path().head(),
					header.totals().items());
		}

		boolean isOf(HeaderRow header) {
			return header.version() == this.version && header.path().head() == this.head
					&& header.incarnation().equals(this.incarnation);
		}

		boolean isBaseOf(Commit commit) {
			Session base = commit.base();
			if (base == null) {
				return commit.expect() == Commit.Expect.ABSENT && this.version == 0;
			}
			return base.version() == this.version && base.head() == this.head
					&& base.incarnation().equals(this.incarnation);
		}

	}

	private final Position position;

	private final @Nullable SessionRecord summary;

	/** The numbers of the turns of the view, in order. Each of them has items. */
	private final long[] turns;

	private final List<KnownItem> items;

	private KnownView(Position position, @Nullable SessionRecord summary, long[] turns, List<KnownItem> items) {
		this.position = position;
		this.summary = summary;
		this.turns = turns;
		this.items = items;
	}

	/**
	 * Returns the empty view of a session that is not there.
	 */
	static KnownView absent(Window window) {
		return new KnownView(Position.absent(window), null, new long[0], List.of());
	}

	/**
	 * Returns the view that a store has answered with.
	 * @return the view; null if it cannot be kept, since its summary is missing
	 */
	static @Nullable KnownView read(Window window, OpenedRows rows, @Nullable SessionRecord summary) {
		HeaderRow header = rows.header();
		if (summary == null && header.path().summaryId() != null) {
			return null;
		}
		return new KnownView(Position.of(window, header), summary, turnsOf(rows).toArray(),
				rows.items().stream().map(KnownItem::new).toList());
	}

	/**
	 * Returns the view after a commit.
	 * @return the view; null if it cannot be told without reading
	 */
	@Nullable KnownView followedBy(EncodedCommit commit, CommitResult result) {
		if (!commit.isPlain() || !this.position.isBaseOf(commit.commit())) {
			return null;
		}
		Position next = new Position(window(), commit.stamp(), commit.incarnation(), result.version(), result.turn(),
				this.position.items() + commit.plainTurn().items().size());
		List<KnownItem> all = new ArrayList<>(this.items);
		all.addAll(items(commit.plainTurn(), result));
		LongStream added = commit.plainTurn().items().isEmpty() ? LongStream.empty() : LongStream.of(result.turn());
		return new KnownView(next, this.summary, LongStream.concat(LongStream.of(this.turns), added).toArray(), all)
			.withinWindow();
	}

	/**
	 * Returns the view with the turns that others have appended since. If one of these
	 * does not fit into the window as a whole, nothing before it does.
	 */
	KnownView followedBy(OpenedRows added) {
		Position next = Position.of(window(), added.header());
		boolean all = added.items().size() == next.items() - this.position.items();
		List<KnownItem> items = new ArrayList<>(all ? this.items : List.of());
		added.items().forEach((row) -> items.add(new KnownItem(row)));
		LongStream before = all ? LongStream.of(this.turns) : LongStream.empty();
		return new KnownView(next, this.summary, LongStream.concat(before, turnsOf(added)).toArray(), items)
			.withinWindow();
	}

	/**
	 * Returns whether it is the view of the session that has this header, which has its
	 * stamp.
	 */
	boolean isOf(HeaderRow header) {
		return this.position.isOf(header);
	}

	private static LongStream turnsOf(OpenedRows rows) {
		return rows.items().stream().mapToLong(ItemRow::turn).distinct();
	}

	private static List<KnownItem> items(EncodedTurn turn, CommitResult result) {
		List<KnownItem> items = new ArrayList<>();
		for (int i = 0; i < turn.items().size(); i++) {
			NewItem item = turn.items().get(i);
			items.add(new KnownItem(new ItemRow(result.firstItem() + i, result.turn(), Micros.of(item.at()),
					item.tokens(), turn.bodies().get(i))));
		}
		return items;
	}

	/**
	 * Returns the view without the oldest turns that the window has no room for.
	 */
	private KnownView withinWindow() {
		long[] all = this.turns;
		int first = Math.max(0, all.length - window().turns());
		int item = firstItemFrom((first < all.length) ? all[first] : Long.MAX_VALUE);
		while (this.items.size() - item > window().items()) {
			long left = this.items.get(item).turn();
			while (first < all.length && all[first] <= left) {
				first++;
			}
			item = firstItemFrom(left + 1);
		}
		return new KnownView(this.position, this.summary, Arrays.copyOfRange(all, first, all.length),
				List.copyOf(this.items.subList(item, this.items.size())));
	}

	private int firstItemFrom(long turn) {
		int item = 0;
		while (item < this.items.size() && this.items.get(item).turn() < turn) {
			item++;
		}
		return item;
	}

	Window window() {
		return this.position.window();
	}

	/**
	 * Returns the stamp of the header with which the view was read or written.
	 * @return the stamp; 0 for no view
	 */
	public long stamp() {
		return this.position.stamp();
	}

	/**
	 * Returns the revision of the summary that the view begins with.
	 * @return the revision; 0 without a summary
	 */
	public long summaryRevision() {
		return (this.summary != null) ? this.summary.revision() : 0;
	}

	/**
	 * Returns when that summary was written.
	 * @return microseconds; 0 without a summary
	 */
	public long summaryWrittenAt() {
		return (this.summary != null) ? Micros.of(this.summary.writtenAt()) : 0;
	}

	@Nullable SessionRecord summary() {
		return this.summary;
	}

	/**
	 * Returns the items, each with a message of its own.
	 */
	List<SessionItem> items(SessionKey key, RowReader reader) {
		List<SessionItem> copies = new ArrayList<>(this.items.size());
		for (KnownItem item : this.items) {
			copies.add(item.copy(key, reader));
		}
		return copies;
	}

	/**
	 * Returns about how much memory it takes.
	 */
	int bytes() {
		long bytes = BYTES + ((this.summary != null) ? 2L * this.summary.payload().length() : 0);
		for (KnownItem item : this.items) {
			bytes += item.bytes();
		}
		return (int) Math.min(bytes, Integer.MAX_VALUE);
	}

}
