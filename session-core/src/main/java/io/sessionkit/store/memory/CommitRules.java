package io.sessionkit.store.memory;

import java.time.Instant;
import java.util.Set;
import java.util.stream.Collectors;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnStatus;
import io.sessionkit.internal.row.RefusedChange;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.Oldest;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.TurnWrite;
import org.jspecify.annotations.Nullable;

/**
 * The rules of {@link SessionStore#commit} for one session. Guarded by the lock of its
 * session.
 */
final class CommitRules {

	private final SessionKey key;

	private final TurnTree tree;

	private final StoredRecords records;

	private final StoredHeader header;

	CommitRules(SessionKey key, TurnTree tree, StoredRecords records, StoredHeader header) {
		this.key = key;
		this.tree = tree;
		this.records = records;
		this.header = header;
	}

	/**
	 * Returns whether the session and its records are as a commit expects them, so that
	 * no other writer was first.
	 * @param there the turn of the commit, as far as it is stored; null if it is not
	 */
	boolean isAsExpected(Commit commit, @Nullable StoredTurn there, Instant now) {
		TurnWrite turn = commit.turn();
		boolean exists = this.header.version > 0;
		boolean session = switch (commit.expect()) {
			case ABSENT -> !exists;
			case UNCHANGED -> exists && commit.base() != null && this.header.isSameAs(commit.base());
			// a later part belongs to a turn that was deleted with its session
			case ANY -> exists || (turn != null && turn.part() == 0);
		};
		// a turn that has ended takes no more parts: another writer was faster
		long number = (turn != null) ? turn.turn().number() : 0;
		return session && (there == null || there.isOpen())
				&& (there != null || number == 0 || number == this.tree.size() + 1)
				&& commit.records().stream().allMatch((record) -> this.records.isAsExpected(record, now));
	}

	/**
	 * Checks that a commit that finds what it expects is allowed.
	 * @param there the turn of the commit, as far as it is stored; null if it is not
	 */
	void check(Commit commit, @Nullable StoredTurn there) {
		int parts = (there != null) ? there.parts() : 0;
		if (commit.turn() != null && commit.turn().part() != parts) {
			throw RefusedChange.part(commit, parts);
		}
		HeaderChange.Head head = commit.header().head();
		if (head != null && head.turn() != 0) {
			checkHead(commit, head.turn());
		}
		HeaderChange.Summary summary = commit.header().summary();
		long end = (head != null) ? head.turn() : this.header.head;
		if (summary != null && summary.turn() != 0 && !this.tree.isOnPath(end, summary.turn())) {
			throw RefusedChange.summary(commit, end);
		}
		Oldest oldest = commit.oldest();
		long open = this.header.openTurn;
		if (oldest != null && (oldest.before() > this.header.head || (open > 0 && open < oldest.before()))) {
			throw RefusedChange.oldest(commit);
		}
	}

	/**
	 * Checks that the head stays where it is while a turn is open: that turn follows the
	 * head and must still do so when it ends.
	 */
	void checkOpenTurn(Commit commit, @Nullable StoredTurn there, Instant now) {
		long open = this.header.openTurn;
		TurnWrite turn = commit.turn();
		boolean ends = turn != null && there != null && there.number() == open && !turn.turn().status().isOpen();
		if (open == 0 || ends) {
			return;
		}
		HeaderChange.Head head = commit.header().head();
		boolean isOther = turn != null && (there == null || there.number() != open)
				&& (turn.turn().status().isOpen() || becomesHead(turn));
		if (isOther || (head != null && head.turn() != this.header.head) || isHeadEmptiedBy(commit, now)) {
			throw RefusedChange.openTurn(this.key, open);
		}
	}

	/** Returns whether a turn becomes the head of the active branch. */
	static boolean becomesHead(TurnWrite turn) {
		return turn.turn().status() == TurnStatus.COMPLETED && !turn.beside();
	}

	private boolean isHeadEmptiedBy(Commit commit, Instant now) {
		StoredTurn head = this.tree.find(this.header.head);
		return head != null && !head.items().isEmpty()
				&& head.items().stream().allMatch((item) -> commit.delete().contains(item.sequence()))
				&& head.number() != summaryAfter(commit, now);
	}

	/**
	 * Returns the last turn that the summary covers which is in force when a commit has
	 * written its records and moved the head; 0 for no summary.
	 */
	private long summaryAfter(Commit commit, Instant now) {
		HeaderChange.Head head = commit.header().head();
		if (head == null) {
			return this.header.position.summary();
		}
		Set<String> deleted = commit.records()
			.stream()
			.filter((record) -> record.kind().equals(SessionStore.SUMMARY) && record.payload() == null)
			.map(RecordWrite::id)
			.collect(Collectors.toSet());
		return this.records.summariesUpTo(this.tree, head.turn(), now)
			.filter((summary) -> !deleted.contains(summary.record().id()))
			.findFirst()
			.map(StoredRecords.Stamped::covers)
			.orElse(0L);
	}

	private void checkHead(Commit commit, long number) {
		StoredTurn target = this.tree.find(number);
		if (target == null || !target.isCompleted()) {
			throw RefusedChange.head(commit, target != null);
		}
	}

}
