package io.sessionkit.internal.commit;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Snapshot;
import io.sessionkit.Summary;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.attribute.AttributeRules;
import io.sessionkit.internal.opening.TurnPlace;
import io.sessionkit.internal.retention.RetentionRecord;
import io.sessionkit.internal.snapshot.KeptTexts;
import io.sessionkit.internal.snapshot.SnapshotReader;
import io.sessionkit.internal.snapshot.SnapshotTaker;
import io.sessionkit.internal.view.Summaries;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.Point;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * Compares the history that a turn was shown with what is there when the turn is written,
 * and keeps with the turn what its snapshot cannot refer to.
 */
final class ShownHistory {

	private final SessionStore store;

	private final SessionKey key;

	private final TurnPlace place;

	private final SnapshotTaker snapshots;

	/** True if the store has lost turns that this one was shown. */
	private boolean lost;

	ShownHistory(SessionStore store, SessionKey key, TurnPlace place, SnapshotTaker snapshots) {
		this.store = store;
		this.key = key;
		this.place = place;
		this.snapshots = snapshots;
	}

	/**
	 * Returns whether the session has the same history as when the turn was opened. A
	 * change of, for example, the title, or a summary of older turns, must not cost the
	 * running turn. Everything that removes or adds content moves the head or the totals.
	 * @param ours the number of the turn; 0 if nothing of it is stored
	 * @param forgets whether the turn forgets items
	 */
	boolean isSame(SessionView view, long ours, boolean forgets) {
		Session opened = this.place.header();
		Session now = view.session();
		this.lost |= hasLostTurns(now, opened);
		if (this.lost) {
			return false;
		}
		if (opened == null) {
			return isOnlyBegun(now, ours);
		}
		if (forgets && now.summaryTurn() != opened.summaryTurn()) {
			// a summary of what is forgotten has been made meanwhile
			return false;
		}
		if (!this.place.becomesHead()) {
			// the record of the branch says whether others have written on it, unless it
			// has become the active one: then the header does
			return !this.place.isActiveIn(now) && now.incarnation().equals(opened.incarnation())
					&& now.openTurn() == ours && hasWhatWasShown(now, opened);
		}
		return now.incarnation().equals(opened.incarnation()) && now.openTurn() == ours && now.head() == opened.head()
				&& now.branch().equals(opened.branch())
				&& AttributeRules.areEqual(now.attributes(), opened.attributes())
				&& (now.summaryTurn() == opened.summaryTurn()
						? now.totals().equals(opened.totals()) || isOnlyRetained(now, opened)
						: isOnlySummarized(view, opened))
				&& (opened.summaryTurn() == 0 || hasWhatWasShown(now, opened));
	}

	/**
	 * Returns whether others have begun the session meanwhile without any history, such
	 * as one with a title, or with the line of a call.
	 */
	private static boolean isOnlyBegun(Session now, long ours) {
		return now.head() == 0 && now.openTurn() == ours && now.branch().equals(Session.MAIN)
				&& now.attributes().isEmpty();
	}

	/**
	 * Returns whether the store has lost turns that the turn was shown, in a failover or
	 * because a backup was restored, and others have taken their numbers. The last one
	 * says so: a turn never follows another one than the one it was written behind.
	 */
	private boolean hasLostTurns(Session now, @Nullable Session opened) {
		long newest = this.snapshots.newestTurn();
		return opened != null && now.version() != opened.version() && newest > 0
				&& this.snapshots.areOfAnother(this.store.items(this.key, newest));
	}

	/**
	 * Returns whether everything of the session that the turn was shown is there, but for
	 * turns that retention has deleted. The header does not say so of another branch, and
	 * of what a summary has pinned.
	 */
	private boolean hasWhatWasShown(Session now, Session opened) {
		if (now.version() == opened.version()) {
			return true;
		}
		long first = retention().first();
		return (!this.place.becomesHead() && isInViewAt(opened, first)) || isThere(this.snapshots.view(first));
	}

	/**
	 * Returns whether the same part of the view of another branch, which is read at once,
	 * has what the turn was shown.
	 */
	private boolean isInViewAt(Session opened, long first) {
		PathQuery query = PathQuery.to(Point.at(opened.head())).window(Window.turns(this.snapshots.turns()));
		return this.store.path(this.key, query)
			.map(PathView::view)
			.filter((view) -> Objects.equals(view.session().summaryId(), opened.summaryId()))
			.filter((view) -> this.snapshots.isIn(view, first, codec()))
			.isPresent();
	}

	private boolean isThere(List<Snapshot.Part> parts) {
		return new SnapshotReader(this.key, this.store).isThere(parts);
	}

	/** Returns whether nothing has changed but that the oldest turns were deleted. */
	private boolean isOnlyRetained(Session now, Session opened) {
		return retention().isAllBetween(opened, now);
	}

	private boolean isOnlySummarized(SessionView view, Session opened) {
		if (view.summary() == null) {
			return false;
		}
		Summary summary = Summaries.read(view.summary(), codec());
		return summary.since() == opened.summaryTurn()
				&& view.session().totals().equals(opened.totals().minus(summary.covered()));
	}

	/**
	 * Returns whether nothing of the view was deleted. The totals do not count what a
	 * summary has pinned.
	 */
	private static boolean hasSameView(Session now, Session opened) {
		return now.version() == opened.version() || (opened.summaryTurn() == 0 && now.totals().equals(opened.totals()));
	}

	/**
	 * Returns the snapshot of the turn.
	 * @return the snapshot; null if no model was called, or if the store has lost what it
	 * would refer to
	 */
	@Nullable Snapshot snapshot() {
		SnapshotTaker.Taken taken = this.snapshots.taken();
		return (taken != null && !this.lost) ? taken.snapshot() : null;
	}

	/**
	 * Returns the records of a turn and what its snapshot cannot refer to. There is
	 * almost never such content.
	 * @param turn the id of the turn
	 */
	List<RecordWrite> withVerbatim(String turn, List<RecordWrite> records) {
		SnapshotTaker.Taken taken = this.snapshots.taken();
		return (taken == null || taken.record() == null || this.lost) ? records
				: joined(List.of(RecordWrite.create(SnapshotReader.KIND, turn, taken.record())), records);
	}

	/**
	 * Returns the records with the messages that the snapshot of the turn refers to, and
	 * that retention has deleted since the turn was opened. What the snapshot cannot
	 * refer to is left out if it may quote a turn that was deleted by its number too.
	 */
	List<RecordWrite> withDeletedSince(List<RecordWrite> records, Session now) {
		Session opened = this.place.header();
		if (opened == null || (hasSameView(now, opened) && this.place.isAtHead())) {
			return records;
		}
		long first = retention().first();
		if (first <= 1) {
			return records;
		}
		List<SessionRecord> kept = this.store.records(this.key, KeptTexts.KIND);
		return joined(this.snapshots.showsDeletedForGood(kept, codec()) ? withoutVerbatim(records) : records,
				this.snapshots.deletedSince(this.key, first, kept, codec()));
	}

	/**
	 * Returns the records of a turn that is written beside the history, without what its
	 * snapshot cannot refer to if something that it may quote has been deleted.
	 * @param opened the session when the turn was opened
	 */
	List<RecordWrite> withoutDeletedSince(List<RecordWrite> records, Session now, Session opened) {
		boolean quotes = records.stream().anyMatch(ShownHistory::isVerbatim) && now.version() != opened.version()
				&& !isThere(this.snapshots.view());
		return quotes ? withoutVerbatim(records) : records;
	}

	/**
	 * Returns whether retention, and nothing else, has changed the history behind which
	 * the turn was opened.
	 * @param opened the session when the turn was opened
	 */
	boolean isOnlyShorter(Session now, Session opened) {
		return this.place.isAtHead() && !hasSameView(now, opened) && isOnlyRetained(now, opened);
	}

	private static List<RecordWrite> withoutVerbatim(List<RecordWrite> records) {
		return records.stream().filter((record) -> !isVerbatim(record)).toList();
	}

	private static boolean isVerbatim(RecordWrite record) {
		return record.kind().equals(SnapshotReader.KIND);
	}

	private static List<RecordWrite> joined(List<RecordWrite> before, List<RecordWrite> now) {
		return Stream.concat(before.stream(), now.stream()).toList();
	}

	private RetentionRecord retention() {
		return RetentionRecord.read(this.store.records(this.key, RetentionRecord.KIND), codec());
	}

	private MessageCodec codec() {
		return this.store.options().codec();
	}

}
