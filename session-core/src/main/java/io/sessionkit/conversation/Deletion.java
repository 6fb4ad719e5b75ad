package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;

import io.sessionkit.Session;
import io.sessionkit.SessionConflictException;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Summary;
import io.sessionkit.Turn;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.Attempts;
import io.sessionkit.internal.message.OpenTurn;
import io.sessionkit.internal.retention.RetentionRecord;
import io.sessionkit.internal.snapshot.KeptTexts;
import io.sessionkit.internal.snapshot.SnapshotReader;
import io.sessionkit.internal.snapshot.VerbatimMessages;
import io.sessionkit.internal.stream.StreamLogs;
import io.sessionkit.internal.tree.ForkedFrom;
import io.sessionkit.internal.view.QuotingSummaries;
import io.sessionkit.internal.view.Summaries;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import org.jspecify.annotations.Nullable;

/**
 * Deletes items permanently, and with them everything that quotes them: the summaries
 * that cover them, the texts of snapshots that are kept instead of references to items,
 * the streams that are kept for a while, and a title that is the first words of one of
 * them.
 */
final class Deletion {

	private final SessionKey key;

	private final SessionStore store;

	Deletion(SessionKey key, SessionStore store) {
		this.key = key;
		this.store = store;
	}

	/**
	 * Changes that are made beside the deletion of items.
	 *
	 * @param records the deletions of what else is kept
	 * @param header the change of the header if there are no items
	 */
	private record Also(List<RecordWrite> records, HeaderChange header) {

		static final Also NOTHING = new Also(List.of(), HeaderChange.NONE);

	}

	int ofTurn(long turn) {
		return delete((thread) -> thread.wholeGroups((thread.turn(turn) != null) ? thread.items(turn) : List.of()),
				(header, thread) -> retained(header, thread, thread.turn(turn)));
	}

	/**
	 * Returns the deletions of what is kept of a turn that retention has deleted, and of
	 * the texts that may quote it. Nobody knows whether the title quotes its question. It
	 * deletes the oldest turns, so a later one was deleted as this one is now, with all
	 * that quoted it; summaries that were made since have not seen it. Of a turn that was
	 * deleted so before retention came to it, or before it was copied, that is not known.
	 */
	private Also retained(Session header, WholeThread thread, @Nullable Turn turn) {
		if (turn == null || turn.items() > 0 || thread.hasItemsBefore(turn.number()) || !mayBeRetained(turn)) {
			return Also.NOTHING;
		}
		Gone gone = new Gone(thread, turn);
		QuotingSummaries summaries = QuotingSummaries.of(this.store, this.key, gone::isBefore, (item) -> false);
		List<RecordWrite> records = new ArrayList<>(summaries.writes());
		records.addAll(quoting(gone));
		records.add(KeptTexts.deleteForGood(this.key, turn.number(), codec()));
		return new Also(records, view(header, gone, onPath(thread, header.head(), summaries.stay())));
	}

	private static List<Summary> onPath(WholeThread thread, long head, List<Summary> summaries) {
		return summaries.stream().filter((summary) -> thread.isOnPath(head, summary.turn())).toList();
	}

	/** A copied turn may be one without a record of the deletion. */
	private boolean mayBeRetained(Turn turn) {
		List<SessionRecord> retention = this.store.records(this.key, RetentionRecord.KIND);
		return turn.number() < RetentionRecord.read(retention, codec()).first()
				|| ForkedFrom.read(this.store.records(this.key, ForkedFrom.KIND), codec())
					.filter((fork) -> turn.number() <= fork.copies())
					.isPresent();
	}

	int ofItems(Set<Long> sequences) {
		return sequences.isEmpty() ? 0 : delete((thread) -> thread.wholeGroups(thread.find(sequences)));
	}

	/**
	 * The ends of the ways through a session that stay when a branch is deleted.
	 *
	 * @param stay the last turns of these ways
	 * @param gone the last turns of those of the branch
	 * @param shown the turns of which snapshots show something although retention has
	 * deleted them
	 * @param records the deletions of what is kept of the branch
	 */
	record Ends(Set<Long> stay, Set<Long> gone, Set<Long> shown, List<RecordWrite> records) {
	}

	/**
	 * Checks that nothing of what {@link #ofBranch} would delete has to stay.
	 * @throws io.sessionkit.store.ChangeRefusedException if the rewind of one of its
	 * turns has not ended
	 */
	void checkBranch(String name, Ends ends) {
		WholeThread thread = new WholeThread(this.key, this.store);
		checkRewindsEnded(thread.items(thread.turnsOfBranch(name, ends.gone(), ends.stay())).values());
	}

	/**
	 * Deletes what was written on a branch, or belongs to it, and leads to no other end.
	 * @param ends reads what stays; it is asked again if others write in between
	 */
	int ofBranch(String name, Supplier<Ends> ends) {
		AtomicReference<List<RecordWrite>> records = new AtomicReference<>(List.of());
		return delete((thread) -> {
			Ends read = ends.get();
			List<Turn> gone = thread.turnsOfBranch(name, read.gone(), read.stay());
			List<RecordWrite> deletions = new ArrayList<>(read.records());
			gone.stream()
				.filter((turn) -> read.shown().contains(turn.number()))
				.forEach((turn) -> deletions.add(KeptTexts.deleteForGood(this.key, turn.number(), codec())));
			records.set(deletions);
			return thread.items(gone);
		}, (header, thread) -> new Also(records.get(), HeaderChange.NONE));
	}

	private int delete(Function<WholeThread, Map<Long, SessionItem>> choice) {
		return delete(choice, (header, thread) -> Also.NOTHING);
	}

	private int delete(Function<WholeThread, Map<Long, SessionItem>> choice,
			BiFunction<Session, WholeThread, Also> more) {
		return Attempts.SOME.make(() -> deleted(choice, more))
			.orElseThrow(() -> new SessionConflictException(
					"Nothing was deleted from session " + this.key + ": others wrote to it all the time. Try again.",
					null));
	}

	/**
	 * Deletes the items of a choice.
	 * @return how many were deleted; empty if another writer was first
	 */
	private Optional<Integer> deleted(Function<WholeThread, Map<Long, SessionItem>> choice,
			BiFunction<Session, WholeThread, Also> more) {
		Session header = this.store.find(this.key).orElse(null);
		if (header == null) {
			return Optional.of(0);
		}
		WholeThread thread = new WholeThread(this.key, this.store);
		Map<Long, SessionItem> items = choice.apply(thread);
		Also also = more.apply(header, thread);
		if (items.isEmpty() && also.records().isEmpty()) {
			return Optional.of(0);
		}
		checkNotWaiting(header, items.values());
		checkRewindsEnded(items.values());
		Commit commit = items.isEmpty() ? Commit.on(header).header(also.header()) : commit(header, thread, items);
		List<RecordWrite> all = new ArrayList<>(commit.records());
		all.addAll(also.records());
		return this.store.commit(commit.records(all)).isStored() ? Optional.of(items.size()) : Optional.empty();
	}

	/** Refuses to delete items with which the open turn continues. */
	private static void checkNotWaiting(Session header, Collection<SessionItem> items) {
		if (items.stream().anyMatch((item) -> item.turn() == header.openTurn())) {
			OpenTurn.check(header, "deprived of messages of its open turn");
		}
	}

	/** Refuses to delete items of which a rewind that has begun takes effects back. */
	private void checkRewindsEnded(Collection<SessionItem> items) {
		new TurnsBeingRewound(this.key, this.store).check(items, "shortened");
	}

	/**
	 * Refuses to delete the turn that the open turn follows, whether it is the head or
	 * not.
	 */
	private static void checkNotFollowed(Session header, WholeThread thread, Gone gone) {
		Turn open = thread.turn(header.openTurn());
		if (open != null && gone.isEmptied(open.parent())) {
			OpenTurn.check(header, "deprived of the turn that its open turn follows");
		}
	}

	private Commit commit(Session header, WholeThread thread, Map<Long, SessionItem> items) {
		Gone gone = new Gone(thread, items, header.summaryTurn());
		checkNotFollowed(header, thread, gone);
		QuotingSummaries summaries = QuotingSummaries.of(this.store, this.key, gone::isBefore, items::containsKey);
		List<Summary> kept = onPath(thread, gone.headAfter(header.head()), summaries.stay());
		List<RecordWrite> records = new ArrayList<>(summaries.writes());
		records.addAll(quoting(gone));
		HeaderChange change = change(header, gone, kept);
		return Commit.on(header)
			.delete(items.keySet())
			.header(isTitled(header, thread, items) ? change.title("") : change)
			.records(records);
	}

	/** Returns the deletions of the texts of snapshots and streams that may quote it. */
	private List<RecordWrite> quoting(Gone gone) {
		List<RecordWrite> records = new ArrayList<>();
		this.store.records(this.key, SnapshotReader.KIND)
			.stream()
			.filter(gone::isQuotedBy)
			.forEach((record) -> records.add(delete(record)));
		this.store.records(this.key, StreamLogs.KIND).forEach((record) -> records.add(delete(record)));
		return records;
	}

	/**
	 * Returns whether the title is the first words of a question that is deleted. If it
	 * is also that of a question that stays, it quotes nothing that goes.
	 */
	private static boolean isTitled(Session header, WholeThread thread, Map<Long, SessionItem> items) {
		String title = header.title();
		if (title == null || items.values().stream().noneMatch((item) -> SessionTitles.quotes(title, item.message()))) {
			return false;
		}
		return thread.beginnings()
			.stream()
			.flatMap((turn) -> thread.items(turn.number()).stream())
			.noneMatch((item) -> !items.containsKey(item.sequence()) && SessionTitles.quotes(title, item.message()));
	}

	/**
	 * Returns the new start of the view, or no change. The start is also set if the head
	 * may move: the turn that it moves to may refer to a summary that is deleted here.
	 */
	private static HeaderChange change(Session header, Gone gone, List<Summary> kept) {
		HeaderChange view = view(header, gone, kept);
		// deleting the newest message does not delete the attributes
		return gone.isEmptied(header.head()) ? view.attributes(header.attributes()) : view;
	}

	private static HeaderChange view(Session header, Gone gone, List<Summary> kept) {
		long covered = header.summaryTurn();
		boolean moves = gone.headAfter(header.head()) != header.head();
		if (gone.isBefore(covered)) {
			return Summaries.viewFromNewest(kept);
		}
		if (!moves) {
			return HeaderChange.NONE;
		}
		boolean stays = covered == 0 || kept.stream().anyMatch((summary) -> summary.turn() == covered);
		return stays ? Summaries.viewFrom(covered, header.summaryId()) : Summaries.viewFromNewest(kept);
	}

	private static RecordWrite delete(SessionRecord record) {
		return new RecordWrite(record.kind(), record.id(), RecordWrite.ANY, null, null);
	}

	private MessageCodec codec() {
		return this.store.options().codec();
	}

	/**
	 * The items that are about to be deleted.
	 */
	private final class Gone {

		private final WholeThread thread;

		/** The last turn that the summary in force covers. */
		private final long summary;

		private final Set<Long> turns = new HashSet<>();

		private final Set<Long> emptied = new HashSet<>();

		private final Set<String> emptiedIds = new HashSet<>();

		/** The turn has lost its items already. */
		Gone(WholeThread thread, Turn turn) {
			this(thread, Map.of(), 0);
			this.turns.add(turn.number());
			this.emptiedIds.add(turn.id());
		}

		Gone(WholeThread thread, Map<Long, SessionItem> items, long summary) {
			this.thread = thread;
			this.summary = summary;
			items.values().forEach((item) -> this.turns.add(item.turn()));
			for (long number : this.turns) {
				Turn turn = thread.turn(number);
				boolean whole = thread.items(number).stream().allMatch((item) -> items.containsKey(item.sequence()));
				if (whole && turn != null) {
					this.emptied.add(number);
					this.emptiedIds.add(turn.id());
				}
			}
		}

		/**
		 * Returns whether one of the items is in the history that ends with a turn.
		 */
		boolean isBefore(long head) {
			return this.turns.stream().anyMatch((turn) -> this.thread.isOnPath(head, turn));
		}

		boolean isEmptied(long turn) {
			return this.emptied.contains(turn);
		}

		/**
		 * Returns where the head will be: a head that loses its last item moves to the
		 * nearest turn before it that has one, but not before the turn with which the
		 * summary in force ends.
		 */
		long headAfter(long head) {
			Turn turn = isEmptied(head) ? this.thread.turn(head) : null;
			if (turn == null) {
				return head;
			}
			while (turn != null && turn.number() != this.summary && (turn.items() == 0 || isEmptied(turn.number()))) {
				turn = this.thread.turn(turn.parent());
			}
			return (turn != null) ? turn.number() : 0;
		}

		boolean isQuotedBy(SessionRecord snapshot) {
			Turn turn = this.thread.turn(snapshot.id());
			return this.emptiedIds.contains(snapshot.id()) || isBefore(VerbatimMessages.head(snapshot, codec()))
					|| (turn != null && isBefore(turn.parent()));
		}

	}

}
