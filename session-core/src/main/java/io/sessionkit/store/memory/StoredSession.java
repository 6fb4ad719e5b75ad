package io.sessionkit.store.memory;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

import io.sessionkit.Session;
import io.sessionkit.SessionItem;
import io.sessionkit.SessionKey;
import io.sessionkit.Turn;
import io.sessionkit.ViewTotals;
import io.sessionkit.internal.row.RefusedChange;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.NewItem;
import io.sessionkit.store.Oldest;
import io.sessionkit.store.PathQuery;
import io.sessionkit.store.PathView;
import io.sessionkit.store.Point;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.Tail;
import io.sessionkit.store.TurnView;
import io.sessionkit.store.TurnWrite;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * One session in memory, which {@link CommitRules} guard. Its own monitor is its lock, so
 * that writers of different sessions do not wait for each other.
 */
final class StoredSession {

	private final SessionKey key;

	private final RoundTrip roundTrip;

	private final TurnTree tree = new TurnTree();

	private final StoredRecords records;

	private final StoredHeader header;

	private final CommitRules rules;

	/** The position of the last write among all writes of the store. */
	private long stamp;

	/** The number of writes that set the header's time of writing. */
	private long writes;

	StoredSession(SessionContent content, RoundTrip roundTrip, LongSupplier stamps) {
		this.key = content.header().key();
		this.roundTrip = roundTrip;
		this.header = new StoredHeader(content.header(), content.position());
		this.records = new StoredRecords(this.key, stamps);
		this.rules = new CommitRules(this.key, this.tree, this.records, this.header);
		content.records().forEach((record) -> restore(record, content.summaries()));
		content.turns().forEach(this::restore);
		countTotals();
	}

	private void restore(SessionRecord record, Map<String, Long> summaries) {
		boolean summary = record.kind().equals(SessionStore.SUMMARY);
		this.records.restore(record, summary ? summaries.getOrDefault(record.id(), 0L) : 0);
	}

	private void restore(TurnContent content) {
		StoredTurn turn = new StoredTurn(content);
		this.tree.add(content.turn().id(), turn);
		// the bounds of the parts are not kept: each item stands for itself
		content.items().forEach((item) -> this.tree.addPart(turn, List.of(item)));
	}

	/**
	 * Returns all content that is alive at this time.
	 */
	synchronized SessionContent content(Instant now) {
		return new SessionContent(this.header.session(this.tree.size(), Map.of()), this.header.position, summaries(now),
				this.tree.newest(Tail.ALL).stream().map(StoredTurn::content).toList(), this.records.all(now));
	}

	private Map<String, Long> summaries(Instant now) {
		Map<String, Long> summaries = new HashMap<>();
		this.records.summaries(now).forEach((summary) -> summaries.put(summary.record().id(), summary.covers()));
		return summaries;
	}

	SessionKey key() {
		return this.key;
	}

	synchronized long stamp() {
		return this.stamp;
	}

	synchronized void stamp(long stamp) {
		this.stamp = stamp;
	}

	synchronized Instant updatedAt() {
		return this.header.updatedAt();
	}

	synchronized long writes() {
		return this.writes;
	}

	/**
	 * Returns whether the session was ever committed.
	 */
	synchronized boolean exists() {
		return this.header.version > 0;
	}

	synchronized boolean hasOpenTurn() {
		return this.header.openTurn > 0;
	}

	synchronized boolean isExpired(Instant now) {
		Instant expiresAt = this.header.expiresAt();
		return expiresAt != null && !expiresAt.isAfter(now);
	}

	synchronized Session session() {
		return this.header.session(this.tree.size(), this.roundTrip.read(this.key, this.header.position.attributes()));
	}

	synchronized SessionView open(Window window, Instant now) {
		return view(session(), this.header.head, this.header.position, window, now);
	}

	private SessionView view(Session as, long head, HeadPosition position, Window window, Instant now) {
		String id = position.summaryId();
		SessionRecord summary = (id != null) ? this.records.find(SessionStore.SUMMARY, id, now) : null;
		return new SessionView(as, summary, read(this.tree.view(head, position.summary(), window)));
	}

	synchronized PathView path(PathQuery query, Instant now) {
		Session session = session();
		long end = end(query.end());
		boolean isHead = query.end().equals(Point.HEAD);
		HeadPosition position = isHead ? this.header.position : positionAt(end, now);
		Session as = isHead ? session : session.at(end, this.tree.totals(end, position.summary()), position.summary(),
				position.summaryId(), this.roundTrip.read(this.key, position.attributes()));
		return new PathView(session, view(as, end, position, query.window(), now),
				this.tree.next(this.header.head, end),
				this.tree.path(end, query.turns()).stream().map(StoredTurn::turn).toList(),
				query.kinds()
					.stream()
					.flatMap((kind) -> records(kind, now).stream())
					.map(StoredRecords.Stamped::record)
					.toList());
	}

	private long end(Point end) {
		if (end.kind() == Point.Kind.HEAD) {
			return this.header.head;
		}
		StoredTurn turn = this.tree.find(end.turn());
		if (end.kind() == Point.Kind.TURN && end.turn() == 0) {
			return 0;
		}
		if (turn == null || (end.kind() == Point.Kind.TURN && !turn.isCompleted())) {
			throw RefusedChange.end(this.key, end, turn != null);
		}
		return (end.kind() == Point.Kind.TURN) ? turn.number() : turn.parent();
	}

	synchronized List<SessionItem> log(Tail tail) {
		return read(this.tree.log(this.header.head, tail));
	}

	synchronized List<SessionItem> items(long number) {
		StoredTurn turn = this.tree.find(number);
		return (turn != null) ? read(turn.items()) : List.of();
	}

	synchronized List<Turn> turns(Tail tail) {
		return this.tree.newest(tail).stream().map(StoredTurn::turn).toList();
	}

	synchronized Optional<TurnView> turn(long number, Set<String> kinds, Instant now) {
		StoredTurn turn = this.tree.find(number);
		if (turn == null) {
			return Optional.empty();
		}
		List<SessionRecord> records = kinds.stream()
			.flatMap((kind) -> records(kind, now).stream())
			.map(StoredRecords.Stamped::record)
			.toList();
		return Optional.of(new TurnView(turn.turn(), read(turn.items()), records,
				this.roundTrip.read(this.key, turn.attributes())));
	}

	synchronized @Nullable SessionRecord record(String kind, String id, Instant now) {
		return this.records.find(kind, id, now);
	}

	synchronized List<StoredRecords.Stamped> records(String kind, Instant now) {
		return this.records.all(kind, now);
	}

	synchronized boolean put(RecordWrite write, Instant now) {
		if (!this.records.isAsExpected(write, now)) {
			return false;
		}
		this.records.write(write, now);
		return true;
	}

	synchronized int deleteExpiredRecords(Instant now, int limit) {
		return this.records.deleteExpired(now, limit);
	}

	/**
	 * Applies the whole change or nothing of it.
	 */
	synchronized CommitResult commit(PreparedCommit write, Instant now) {
		Commit commit = write.commit();
		StoredTurn there = (commit.turn() != null) ? this.tree.find(commit.turn().turn().id()) : null;
		if (there != null && commit.turn() != null && commit.turn().part() < there.parts()) {
			return new CommitResult(Outcome.REPEATED, this.header.version, there.number(), 0);
		}
		if (!this.rules.isAsExpected(commit, there, now)) {
			return new CommitResult(Outcome.CONFLICT, this.header.version, 0, 0);
		}
		this.rules.check(commit, there);
		this.rules.checkOpenTurn(commit, there, now);
		return apply(write, now);
	}

	private CommitResult apply(PreparedCommit write, Instant now) {
		Commit commit = write.commit();
		// first, since a move finds the newest summary among the records
		commit.records().forEach((record) -> this.records.write(record, now));
		moveTo(commit.header().head(), now);
		long first = 0;
		StoredTurn turn = null;
		for (PreparedCommit.PreparedTurn each : write.turns()) {
			first = each.messages().isEmpty() ? 0 : this.header.items + 1;
			turn = add(each, now);
		}
		boolean deleted = delete(commit.delete(), now);
		deleteOldest(commit.oldest(), now);
		changeHeader(write);
		countWrite(deleted || moves(commit), turn != null, now);
		return new CommitResult(Outcome.COMMITTED, this.header.version, (turn != null) ? turn.number() : 0, first);
	}

	private void moveTo(HeaderChange.@Nullable Head head, Instant now) {
		if (head != null) {
			this.header.branch = head.branch();
			moveTo(head.turn(), now);
		}
	}

	private StoredTurn add(PreparedCommit.PreparedTurn prepared, Instant now) {
		TurnWrite write = prepared.write();
		StoredTurn turn = findOrBegin(write);
		List<StoredItem> items = number(write.items(), prepared.messages(), turn.number());
		turn.add(write.turn(), items);
		this.tree.addPart(turn, items);
		this.header.openTurn(turn.number(), turn.isOpen());
		if (turn.isCompleted()) {
			complete(turn, prepared, now);
		}
		return turn;
	}

	private void complete(StoredTurn turn, PreparedCommit.PreparedTurn prepared, Instant now) {
		boolean follows = turn.parent() == this.header.head;
		StoredAttributes before = (follows && !prepared.write().beside()) ? this.header.position.attributes()
				: attributesAt(turn.parent());
		turn.attributes((prepared.attributes() != null) ? prepared.attributes() : before);
		if (prepared.write().beside()) {
			return;
		}
		if (follows) {
			this.header.head = turn.number();
			this.header.position = this.header.position.with(turn.attributes(), null);
			this.header.totals = this.header.totals.plusTurn(turn.items().size(), turn.tokens());
		}
		else {
			// it was opened before other turns were added: the head returns to where it
			// was
			moveTo(turn.number(), now);
		}
	}

	private StoredTurn findOrBegin(TurnWrite write) {
		StoredTurn there = this.tree.find(write.turn().id());
		if (there != null) {
			return there;
		}
		StoredTurn begun = begin(write);
		this.tree.add(write.turn().id(), begun);
		return begun;
	}

	private StoredTurn begin(TurnWrite write) {
		Turn turn = write.turn();
		long number = this.tree.size() + 1;
		if (CommitRules.becomesHead(write)) {
			return new StoredTurn(turn, number, this.header.head, this.header.branch);
		}
		// a parent that was deleted with an earlier session of this key is no parent here
		long parent = (this.tree.find(turn.parent()) != null) ? turn.parent() : 0;
		return new StoredTurn(turn, number, parent, turn.branch());
	}

	private List<StoredItem> number(List<NewItem> items, List<StoredMessage> messages, long turn) {
		List<StoredItem> numbered = new ArrayList<>(items.size());
		for (int i = 0; i < items.size(); i++) {
			NewItem item = items.get(i);
			numbered.add(new StoredItem(++this.header.items, turn, item.at(), item.tokens(), messages.get(i)));
		}
		return numbered;
	}

	private StoredAttributes attributesAt(long number) {
		StoredTurn turn = this.tree.find(number);
		return (turn != null) ? turn.attributes() : StoredAttributes.EMPTY;
	}

	/**
	 * Returns what is in force at a turn: its attributes, and the newest summary on its
	 * path.
	 */
	private HeadPosition positionAt(long number, Instant now) {
		StoredAttributes attributes = attributesAt(number);
		return this.records.summariesUpTo(this.tree, number, now)
			.findFirst()
			.map((summary) -> new HeadPosition(attributes, summary.covers(), summary.record().id()))
			.orElseGet(() -> new HeadPosition(attributes, 0, null));
	}

	private void moveTo(long number, Instant now) {
		this.header.head = number;
		this.header.position = positionAt(number, now);
		countTotals();
	}

	private void changeHeader(PreparedCommit write) {
		HeaderChange change = write.commit().header();
		if (write.attributes() != null || change.summary() != null) {
			changeAtHead(write.attributes(), change.summary());
		}
		this.header.change(change);
	}

	private void changeAtHead(@Nullable StoredAttributes attributes, HeaderChange.@Nullable Summary summary) {
		this.header.position = this.header.position.with(attributes, summary);
		StoredTurn head = this.tree.find(this.header.head);
		if (head != null) {
			head.attributes(this.header.position.attributes());
		}
		if (summary != null) {
			countTotals();
			if (summary.turn() > 0) {
				this.records.cover(summary.turn(), summary.id());
			}
		}
	}

	private void countTotals() {
		this.header.totals = this.tree.totals(this.header.head, this.header.position.summary());
	}

	private boolean delete(Set<Long> sequences, Instant now) {
		StoredTurn head = this.tree.find(this.header.head);
		boolean hadItems = head != null && !head.items().isEmpty();
		boolean deleted = false;
		for (long sequence : sequences) {
			deleted |= delete(sequence);
		}
		if (head != null && hadItems && head.items().isEmpty() && head.number() != this.header.position.summary()) {
			moveTo(nearest(head), now);
		}
		return deleted;
	}

	private void deleteOldest(@Nullable Oldest oldest, Instant now) {
		if (oldest != null) {
			for (long number = oldest.from(); number < oldest.before(); number++) {
				Objects.requireNonNull(this.tree.find(number)).clear();
			}
			cutPath(oldest.before(), now);
			countTotals();
		}
	}

	/**
	 * Lets the last turn of the path that was deleted follow the newest summary before
	 * it, or the beginning.
	 */
	private void cutPath(long before, Instant now) {
		StoredTurn last = this.tree.find(this.header.head);
		while (last != null && last.number() >= before) {
			last = this.tree.find(last.before());
		}
		if (last != null) {
			last.cut(this.records.summariesUpTo(this.tree, last.before(), now)
				.findFirst()
				.map(StoredRecords.Stamped::covers)
				.orElse(0L));
		}
	}

	private boolean delete(long sequence) {
		StoredTurn turn = this.tree.holding(sequence);
		StoredItem deleted = (turn != null) ? turn.delete(sequence) : null;
		if (turn == null || deleted == null) {
			return false;
		}
		if (isInView(turn)) {
			ViewTotals totals = this.header.totals;
			this.header.totals = totals.minus(new ViewTotals(turn.items().isEmpty() ? 1 : 0, 1, deleted.tokens()));
		}
		return true;
	}

	private boolean isInView(StoredTurn turn) {
		return turn.number() > this.header.position.summary() && this.tree.isOnPath(this.header.head, turn.number());
	}

	/**
	 * Returns the nearest turn up to one that has items, or with which the summary in
	 * force ends.
	 */
	private long nearest(StoredTurn head) {
		StoredTurn turn = head;
		while (turn != null && turn.items().isEmpty() && turn.number() != this.header.position.summary()) {
			turn = this.tree.find(turn.parent());
		}
		return (turn != null) ? turn.number() : 0;
	}

	private static boolean moves(Commit commit) {
		return !commit.header().equals(HeaderChange.NONE) || !commit.records().isEmpty() || commit.oldest() != null
				|| (commit.turn() != null && CommitRules.becomesHead(commit.turn()));
	}

	/**
	 * Raises the version if the session has moved, and sets the time of writing if it has
	 * moved or a part of a turn was written.
	 */
	private void countWrite(boolean moved, boolean turn, Instant now) {
		if (moved || this.header.version == 0) {
			this.header.version += (this.header.version == 0) ? 1 : Session.newVersionStep();
		}
		if (moved || turn) {
			this.header.touch(now);
			this.writes++;
		}
	}

	private List<SessionItem> read(List<StoredItem> items) {
		return items.stream().map((item) -> this.roundTrip.read(this.key, item)).toList();
	}

}
