package io.sessionkit.internal.commit;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.sessionkit.Session;
import io.sessionkit.SessionKey;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.opening.TurnPlace;
import io.sessionkit.internal.retention.RetentionRecord;
import io.sessionkit.internal.snapshot.KeptTexts;
import io.sessionkit.internal.snapshot.SnapshotReader;
import io.sessionkit.internal.snapshot.VerbatimMessages;
import io.sessionkit.internal.view.ForgottenItems;
import io.sessionkit.internal.view.QuotingSummaries;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;

/**
 * Has the commit with which a turn becomes history delete what the turn forgets, and what
 * may quote that.
 */
final class Forgetting {

	private final SessionStore store;

	private final SessionKey key;

	private final TurnPlace place;

	private final ForgottenItems forgotten;

	/** The turns of the items that the commit deletes, by the sequence of the item. */
	private NavigableMap<Long, Long> items = new TreeMap<>();

	Forgetting(SessionStore store, TurnOrigins origins) {
		this.store = store;
		this.key = origins.key();
		this.place = origins.place();
		this.forgotten = origins.forgotten();
	}

	/** Begins to delete what the turn forgets, since it is to become history. */
	void begin() {
		this.items = this.forgotten.end();
	}

	/** Deletes nothing any more, since the turn does not become history. */
	void end() {
		this.items = new TreeMap<>();
	}

	/** Returns whether commits delete nothing. */
	boolean isEmpty() {
		return this.items.isEmpty();
	}

	/**
	 * Returns a commit that also deletes the items, the texts of snapshots, and the
	 * summaries, that may quote them, and what is kept of their turns. They are read for
	 * each commit, behind the header that it expects: a call that fails meanwhile keeps
	 * its snapshot, and changes no history.
	 */
	Commit with(Commit commit) {
		Session base = commit.base();
		if (isEmpty() || base == null) {
			return commit;
		}
		QuotingSummaries summaries = QuotingSummaries.of(this.store, this.key, this.items);
		List<RecordWrite> records = withoutRetained(commit.records());
		records.addAll(quotingSnapshots());
		records.addAll(summaries.writes());
		// the view of the active branch may begin with a summary of what a turn on
		// another one forgets
		HeaderChange.Summary view = this.place.becomesHead() ? null : summaries.view(this.store, base).summary();
		HeaderChange header = (view != null) ? commit.header().summary(view.turn(), view.id()) : commit.header();
		return commit.header(header).records(records).delete(this.items.keySet());
	}

	/**
	 * Returns records with the deletions of what is kept of turns that retention has
	 * deleted since they were shown, in place of what the commit was to keep of them.
	 */
	private List<RecordWrite> withoutRetained(List<RecordWrite> records) {
		Map<String, RecordWrite> retained = retained();
		List<RecordWrite> all = new ArrayList<>(retained.values());
		records.stream()
			.filter((record) -> !record.kind().equals(KeptTexts.KIND) || !retained.containsKey(record.id()))
			.forEach(all::add);
		return all;
	}

	/**
	 * Returns the deletions by the ids of their records. Each turn goes as one that is
	 * deleted by its number, so that another one that was shown it does not write it
	 * again.
	 */
	private Map<String, RecordWrite> retained() {
		MessageCodec codec = this.store.options().codec();
		long first = RetentionRecord.read(this.store.records(this.key, RetentionRecord.KIND), codec).first();
		return this.items.values()
			.stream()
			.filter((turn) -> turn < first)
			.distinct()
			.map((turn) -> KeptTexts.deleteForGood(this.key, turn, codec))
			.collect(Collectors.toMap(RecordWrite::id, Function.identity()));
	}

	private List<RecordWrite> quotingSnapshots() {
		long first = Collections.min(this.items.values());
		return this.store.records(this.key, SnapshotReader.KIND)
			.stream()
			.filter((record) -> VerbatimMessages.head(record, this.store.options().codec()) >= first)
			.map((record) -> new RecordWrite(record.kind(), record.id(), RecordWrite.ANY, null, null))
			.toList();
	}

}
