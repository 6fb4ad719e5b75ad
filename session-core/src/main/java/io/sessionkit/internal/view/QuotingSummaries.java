package io.sessionkit.internal.view;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongPredicate;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.Summary;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;

import org.springframework.util.function.SingletonSupplier;

/**
 * The summaries of a session when items are deleted that they may quote: also those of
 * histories that are left, since they are in force again when these are chosen.
 *
 * @param writes the writes after which no summary quotes the items: one that covers them
 * is deleted, and one that has pinned them no longer does
 * @param stay the summaries that stay, as they are then. A reset does: what was said
 * before it is not sent again because some of it is deleted
 */
public record QuotingSummaries(List<RecordWrite> writes, List<Summary> stay) {

	/**
	 * Returns the summaries of a session of which items are deleted.
	 * @param covers tells of the last turn that a summary covers whether one of the items
	 * is in the history that ends with it
	 * @param isDeleted tells of a sequence whether its item is deleted
	 */
	public static QuotingSummaries of(SessionStore store, SessionKey key, LongPredicate covers,
			LongPredicate isDeleted) {
		MessageCodec codec = store.options().codec();
		QuotingSummaries all = new QuotingSummaries(new ArrayList<>(), new ArrayList<>());
		for (SessionRecord record : store.records(key, SessionStore.SUMMARY)) {
			Summary summary = Summaries.read(record, codec);
			if (!summary.isReset() && covers.test(summary.turn())) {
				all.writes.add(new RecordWrite(record.kind(), record.id(), RecordWrite.ANY, null, null));
				continue;
			}
			Summary stays = Summaries.pinning(summary, (item) -> !isDeleted.test(item.sequence()));
			if (stays != summary) {
				all.writes.add(Summaries.replace(record, stays, codec));
			}
			all.stay.add(stays);
		}
		return all;
	}

	/**
	 * Returns the change after which a header names a summary that stays; no change if it
	 * names one.
	 */
	public HeaderChange view(SessionStore store, Session header) {
		boolean stays = this.stay.stream().anyMatch((summary) -> summary.id().equals(header.summaryId()));
		if (header.summaryTurn() == 0 || stays) {
			return HeaderChange.NONE;
		}
		Set<Long> path = new TurnPaths(store, header.key()).to(header.head());
		return Summaries.viewFromNewest(this.stay.stream().filter((summary) -> path.contains(summary.turn())).toList());
	}

	/**
	 * Returns the same for items of which only their turns are known.
	 * @param items the turns of the items, by sequence
	 */
	public static QuotingSummaries of(SessionStore store, SessionKey key, Map<Long, Long> items) {
		SingletonSupplier<TurnPaths> paths = SingletonSupplier.of(() -> new TurnPaths(store, key));
		return of(store, key, (turn) -> !Collections.disjoint(paths.obtain().to(turn), items.values()),
				items::containsKey);
	}

}
