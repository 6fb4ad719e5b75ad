package io.sessionkit.internal.view;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionKey;
import io.sessionkit.Summary;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.Tail;

/**
 * The summaries of a session that may quote items which are about to be deleted: also
 * those of histories that are left, since they are in force again when these are chosen.
 */
public final class QuotingSummaries {

	private QuotingSummaries() {
	}

	/**
	 * Returns the writes after which no summary quotes some items: one that covers them
	 * is deleted, and one that has pinned them no longer does. A reset stays, and says
	 * nothing of them.
	 * @param items the turns of the items, by sequence
	 */
	public static List<RecordWrite> without(SessionStore store, SessionKey key, Map<Long, Long> items) {
		List<SessionRecord> records = store.records(key, SessionStore.SUMMARY);
		Map<Long, Long> parents = new HashMap<>();
		if (!records.isEmpty()) {
			store.turns(key, Tail.ALL).forEach((turn) -> parents.put(turn.number(), turn.parent()));
		}
		List<RecordWrite> writes = new ArrayList<>();
		for (SessionRecord record : records) {
			Summary summary = Summaries.read(record, codec(store));
			if (!summary.isReset() && covers(summary, items.values(), parents)) {
				writes.add(new RecordWrite(record.kind(), record.id(), RecordWrite.ANY, null, null));
				continue;
			}
			Summary stays = Summaries.pinning(summary, (item) -> !items.containsKey(item.sequence()));
			if (stays != summary) {
				writes.add(Summaries.replace(record, stays, codec(store)));
			}
		}
		return writes;
	}

	private static boolean covers(Summary summary, Collection<Long> turns, Map<Long, Long> parents) {
		for (Long turn = summary.turn(); turn != null && turn > 0; turn = parents.get(turn)) {
			if (turns.contains(turn)) {
				return true;
			}
		}
		return false;
	}

	private static MessageCodec codec(SessionStore store) {
		return store.options().codec();
	}

}
