package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

import io.sessionkit.Session;
import io.sessionkit.TurnStatus;
import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.EncodedCommit.EncodedTurn;
import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.NewItems;
import io.sessionkit.internal.row.RefusedChange;
import io.sessionkit.internal.row.TurnRow;
import io.sessionkit.internal.sql.JdbcWork.Change;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.CommitResult.Outcome;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.Oldest;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.jdbc.SessionStatements.Found;
import io.sessionkit.store.jdbc.SessionStatements.Progress;
import io.sessionkit.store.jdbc.SessionStatements.Seen;
import org.jspecify.annotations.Nullable;

/**
 * Makes every commit that does more than append one turn, or that finds the session in
 * another state than expected. The header is locked, and plain statements run in one
 * transaction.
 * <ol>
 * <li>lock the header, or create it</li>
 * <li>compare it with what the commit expects</li>
 * <li>change a draft of it and the rows around it</li>
 * <li>write the draft, if the header is still the one that was read</li>
 * </ol>
 */
final class GeneralCommit {

	private final SessionStatements sessions;

	private final TurnStatements turns;

	private final ItemStatements items;

	private final RecordStatements records;

	private final ItemDeletion deletion;

	private final OldestTurns oldest;

	GeneralCommit(Backend.Tables tables, OldestTurns oldest) {
		this.sessions = tables.sessions();
		this.turns = tables.turns();
		this.items = tables.items();
		this.records = tables.records();
		this.deletion = new ItemDeletion(this.turns, this.items);
		this.oldest = oldest;
	}

	/**
	 * Returns the result of a plain commit that the short way did not take, as far as
	 * reading can tell; null if the commit has to be made.
	 */
	@Nullable CommitResult look(Connection connection, EncodedCommit commit) throws SQLException {
		Seen seen = this.sessions.seen(connection, commit.key().session(), commit.plainTurn().turn().id());
		if (seen == null || !seen.session().live()) {
			return (commit.commit().expect() == Commit.Expect.UNCHANGED) ? absent() : null;
		}
		return refused(commit, seen.session().header(), seen.turn());
	}

	/**
	 * Makes the change. Returns empty if other writers were faster at creating or writing
	 * the header.
	 */
	Optional<Change<CommitResult>> make(Connection connection, EncodedCommit commit) throws SQLException {
		Found found = lock(connection, commit);
		if (found == null) {
			return creates(commit.commit()) ? Optional.empty() : notKept(absent());
		}
		TurnRow there = stored(connection, found.header().pk(), commit.turn());
		CommitResult refused = refused(commit, found.header(), there);
		if (refused != null) {
			return notKept(refused);
		}
		return checked(connection, commit, new HeaderDraft(found.header(), found.now()), there);
	}

	/**
	 * Makes the change unless its turn, head or summary is refused. A commit whose
	 * records are not as expected is a conflict instead.
	 */
	private Optional<Change<CommitResult>> checked(Connection connection, EncodedCommit commit, HeaderDraft draft,
			@Nullable TurnRow there) throws SQLException {
		try {
			moveChecked(connection, commit, draft, there);
		}
		catch (IllegalArgumentException ex) {
			if (areAsExpected(connection, commit, draft)) {
				throw ex;
			}
			return notKept(conflict(draft));
		}
		return change(connection, commit, draft, there);
	}

	private void moveChecked(Connection connection, EncodedCommit commit, HeaderDraft draft, @Nullable TurnRow there)
			throws SQLException {
		checkPart(commit, there);
		move(connection, commit, draft);
		checkSummary(connection, commit, draft);
		Oldest oldest = commit.commit().oldest();
		if (oldest != null && OldestTurns.holdsTooMuch(oldest, draft.seen())) {
			throw RefusedChange.oldest(commit.commit());
		}
	}

	private boolean areAsExpected(Connection connection, EncodedCommit commit, HeaderDraft draft) throws SQLException {
		for (RecordWrite record : commit.commit().records()) {
			if (!this.records.isAsExpected(connection, draft.pk(), draft.now(), record)) {
				return false;
			}
		}
		return true;
	}

	private static CommitResult conflict(HeaderDraft draft) {
		return new CommitResult(Outcome.CONFLICT, draft.seen().version(), 0, 0);
	}

	private static Optional<Change<CommitResult>> notKept(CommitResult result) {
		return Optional.of(new Change<>(result, false));
	}

	private static CommitResult absent() {
		return new CommitResult(Outcome.CONFLICT, 0, 0, 0);
	}

	private static boolean creates(Commit commit) {
		return switch (commit.expect()) {
			case ABSENT -> true;
			case UNCHANGED -> false;
			// a later part belongs to a turn that was deleted with its session
			case ANY -> commit.turn() != null && commit.turn().part() == 0;
		};
	}

	private @Nullable Found lock(Connection connection, EncodedCommit commit) throws SQLException {
		String key = commit.key().session();
		Found found = this.sessions.locked(connection, key);
		if (found != null && found.live()) {
			return found;
		}
		if (!creates(commit.commit())) {
			return null;
		}
		if (found != null) {
			this.sessions.erase(connection, found.header().pk());
		}
		return this.sessions.create(connection, commit) ? this.sessions.locked(connection, key) : null;
	}

	private @Nullable TurnRow stored(Connection connection, long pk, @Nullable EncodedTurn turn) throws SQLException {
		return (turn != null) ? this.turns.find(connection, pk, turn.turn().id()) : null;
	}

	/**
	 * Returns the result of a commit that is not made; null if it is made, as always if
	 * the session was just created for it.
	 */
	private static @Nullable CommitResult refused(EncodedCommit commit, HeaderRow header, @Nullable TurnRow there) {
		boolean created = header.version() == 0;
		if (created) {
			return isNext(commit.turn(), header) ? null : new CommitResult(Outcome.CONFLICT, 0, 0, 0);
		}
		return refused(commit, header, (there != null) ? Progress.of(there) : null);
	}

	private static @Nullable CommitResult refused(EncodedCommit commit, HeaderRow header, @Nullable Progress there) {
		EncodedTurn turn = commit.turn();
		if (there != null && turn != null && turn.part() < there.parts()) {
			return new CommitResult(Outcome.REPEATED, header.version(), there.number(), 0);
		}
		// a turn that has ended takes no more parts: another writer was faster
		boolean takesPart = (there != null) ? there.open() : isNext(turn, header);
		return (isExpected(commit.commit(), header) && takesPart) ? null
				: new CommitResult(Outcome.CONFLICT, header.version(), 0, 0);
	}

	/** Returns whether a new turn gets the number that it has, if it has one. */
	private static boolean isNext(@Nullable EncodedTurn turn, HeaderRow header) {
		return turn == null || turn.turn().number() == 0 || turn.turn().number() == header.turns() + 1;
	}

	private static boolean isExpected(Commit commit, HeaderRow header) {
		return switch (commit.expect()) {
			case ABSENT -> false;
			case UNCHANGED -> isSame(commit.base(), header);
			case ANY -> true;
		};
	}

	private static boolean isSame(@Nullable Session base, HeaderRow header) {
		return base != null && base.version() == header.version() && base.incarnation().equals(header.incarnation());
	}

	private static void checkPart(EncodedCommit commit, @Nullable TurnRow there) {
		EncodedTurn turn = commit.turn();
		int parts = (there != null) ? there.parts() : 0;
		if (turn != null && turn.part() != parts) {
			throw RefusedChange.part(commit.commit(), parts);
		}
	}

	private Optional<Change<CommitResult>> change(Connection connection, EncodedCommit commit, HeaderDraft draft,
			@Nullable TurnRow there) throws SQLException {
		// first, since a move finds the newest summary among the records
		if (!writeRecords(connection, commit.commit().records(), draft)) {
			return notKept(conflict(draft));
		}
		if (commit.commit().header().head() != null) {
			settle(connection, draft);
		}
		Written written = writeTurns(connection, commit, draft, there);
		checkOpenTurn(commit.commit(), draft, written.turn());
		if (!write(connection, commit, draft, written.moved())) {
			return Optional.empty();
		}
		return Optional.of(new Change<>(written.result(draft.version()), true));
	}

	/**
	 * The rows that a commit has written, apart from records and the header.
	 *
	 * @param turn the number of the turn; 0 for none
	 * @param item the sequence of the first item; 0 for none
	 * @param moved whether the session has moved, so that its version is raised
	 */
	private record Written(long turn, long item, boolean moved) {

		CommitResult result(long version) {
			return new CommitResult(Outcome.COMMITTED, version, this.turn, this.item);
		}

	}

	/**
	 * Starts the view at the head that the draft has moved to with its newest summary.
	 */
	private void settle(Connection connection, HeaderDraft draft) throws SQLException {
		draft.head(this.turns.withSummary(connection, draft.pk(), draft.path()), draft.attributes());
		draft.totals(this.turns.totals(connection, draft.pk(), draft.path()));
	}

	/**
	 * Writes the turns, deletes items, and changes the draft accordingly.
	 */
	private Written writeTurns(Connection connection, EncodedCommit commit, HeaderDraft draft, @Nullable TurnRow there)
			throws SQLException {
		for (EncodedTurn each : commit.earlier()) {
			write(connection, draft, each, null, draft.nextItems(each.items().size()));
		}
		EncodedTurn turn = commit.turn();
		long first = (turn != null) ? draft.nextItems(turn.items().size()) : 0;
		long number = (turn != null) ? write(connection, draft, turn, there, first) : 0;
		boolean deleted = this.deletion.delete(connection, commit.commit().delete(), draft);
		this.oldest.delete(connection, commit.commit().oldest(), draft);
		changeAtHead(connection, commit, draft);
		draft.change(commit);
		boolean wrote = turn != null && !turn.items().isEmpty();
		return new Written(number, wrote ? first : 0, deleted || moves(commit));
	}

	private static boolean moves(EncodedCommit commit) {
		EncodedTurn turn = commit.turn();
		return !commit.commit().header().equals(HeaderChange.NONE) || !commit.commit().records().isEmpty()
				|| commit.commit().oldest() != null || (turn != null && turn.becomesHead());
	}

	/**
	 * Writes the records.
	 * @return false if one of them is not as expected
	 */
	private boolean writeRecords(Connection connection, List<RecordWrite> records, HeaderDraft draft)
			throws SQLException {
		for (RecordWrite record : records) {
			if (!this.records.write(connection, draft.pk(), draft.now(), record)) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Checks that the head stays where it is while a turn is open: that turn follows the
	 * head and must still do so when it ends.
	 * @param number the turn that is written; 0 for none
	 */
	private static void checkOpenTurn(Commit commit, HeaderDraft draft, long number) {
		HeaderRow seen = draft.seen();
		HeaderRow now = draft.row();
		if (seen.openTurn() == 0 || now.openTurn() == 0) {
			return;
		}
		HeaderChange.Head to = commit.header().head();
		boolean isOther = commit.turn() != null && number != seen.openTurn() && (commit.turn().turn().status().isOpen()
				|| (commit.turn().turn().status() == TurnStatus.COMPLETED && !commit.turn().beside()));
		if (isOther || (to != null && to.turn() != seen.path().head()) || now.path().head() != seen.path().head()) {
			throw RefusedChange.openTurn(commit.key(), seen.openTurn());
		}
	}

	private boolean write(Connection connection, EncodedCommit commit, HeaderDraft draft, boolean moved)
			throws SQLException {
		if (moved || draft.version() == 0) {
			draft.raiseVersion(commit.step());
		}
		if (moved || commit.turn() != null) {
			draft.touch();
		}
		HeaderRow row = draft.row();
		return row.equals(draft.seen()) || this.sessions.write(connection, draft.seen(), row, commit.stamp());
	}

	private void move(Connection connection, EncodedCommit commit, HeaderDraft draft) throws SQLException {
		HeaderChange.Head head = commit.commit().header().head();
		if (head == null) {
			return;
		}
		TurnRow target = this.turns.find(connection, draft.pk(), head.turn());
		if (head.turn() != 0 && (target == null || target.status() != TurnStatus.COMPLETED)) {
			throw RefusedChange.head(commit.commit(), target != null);
		}
		draft.branch(head.branch());
		draft.head((target != null) ? draft.path().to(target.path()) : HeaderRow.Path.BEGINNING,
				(target != null) ? target.attributes() : null);
	}

	private void checkSummary(Connection connection, EncodedCommit commit, HeaderDraft draft) throws SQLException {
		HeaderChange.Summary summary = commit.commit().header().summary();
		if (summary != null && summary.turn() != 0
				&& !this.turns.isOnPath(connection, draft.pk(), draft.path(), summary.turn())) {
			throw RefusedChange.summary(commit.commit(), draft.path().head());
		}
	}

	private long write(Connection connection, HeaderDraft draft, EncodedTurn turn, @Nullable TurnRow there, long first)
			throws SQLException {
		NewItems items = NewItems.of(turn);
		TurnRow row = (there != null) ? continued(connection, draft, turn, items, there)
				: begun(connection, draft, turn, items, first);
		this.items.insert(connection, draft.pk(), row.number(), first, items.apart());
		draft.openTurn(row.number(), turn.turn().status().isOpen());
		if (turn.isCompleted()) {
			complete(connection, draft, turn, row);
		}
		return row.number();
	}

	private TurnRow continued(Connection connection, HeaderDraft draft, EncodedTurn turn, NewItems items, TurnRow there)
			throws SQLException {
		this.turns.addPart(connection, draft.pk(), there.number(), turn, items);
		return there.plus(turn.items().size(), turn.tokens());
	}

	private TurnRow begun(Connection connection, HeaderDraft draft, EncodedTurn turn, NewItems items, long first)
			throws SQLException {
		long number = draft.nextTurn();
		HeaderRow.Path parent = turn.becomesHead() ? draft.path() : path(connection, draft, turn.turn().parent());
		String branch = turn.becomesHead() ? draft.branch() : turn.turn().branch();
		HeaderRow.Path path = parent.followedBy(number);
		this.turns.insert(connection, draft.pk(), path, parent.head(), branch, first, turn, items);
		return turn.begun(path, parent.head(), branch);
	}

	// a parent that was deleted with an earlier session of this key is no parent here
	private HeaderRow.Path path(Connection connection, HeaderDraft draft, long turn) throws SQLException {
		if (turn == draft.path().head()) {
			return draft.path();
		}
		TurnRow row = this.turns.find(connection, draft.pk(), turn);
		return (row != null) ? row.path() : HeaderRow.Path.BEGINNING;
	}

	private void complete(Connection connection, HeaderDraft draft, EncodedTurn turn, TurnRow row) throws SQLException {
		boolean follows = row.parent() == draft.path().head();
		String before = (follows && !turn.beside()) ? draft.attributes()
				: attributesAt(connection, draft, row.parent());
		String attributes = (turn.attributes() != null) ? turn.attributes() : before;
		this.turns.attributes(connection, draft.pk(), row.number(), attributes);
		if (turn.beside()) {
			return;
		}
		if (follows) {
			draft.head(row.path().summary(draft.path().summary(), draft.path().summaryId()), attributes);
			draft.totals(draft.totals().plusTurn(row.items(), row.tokens()));
		}
		else {
			// it was opened before other turns were added: the head returns to where it
			// was
			draft.head(row.path(), attributes);
			settle(connection, draft);
		}
	}

	private @Nullable String attributesAt(Connection connection, HeaderDraft draft, long number) throws SQLException {
		TurnRow turn = this.turns.find(connection, draft.pk(), number);
		return (turn != null) ? turn.attributes() : null;
	}

	private void changeAtHead(Connection connection, EncodedCommit commit, HeaderDraft draft) throws SQLException {
		HeaderChange.Summary summary = commit.commit().header().summary();
		if (summary == null && commit.header().attributes() == null) {
			return;
		}
		HeaderRow.Path path = (summary != null) ? covered(draft.path(), summary) : draft.path();
		draft.head(path, (commit.header().attributes() != null) ? commit.header().attributes() : draft.attributes());
		this.turns.attributes(connection, draft.pk(), draft.path().head(), draft.attributes());
		if (summary != null && summary.turn() > 0) {
			this.records.cover(connection, draft.pk(), summary.turn(), summary.id());
		}
		if (summary != null) {
			draft.totals(this.turns.totals(connection, draft.pk(), draft.path()));
		}
	}

	private static HeaderRow.Path covered(HeaderRow.Path path, HeaderChange.Summary summary) {
		return path.summary(summary.turn(), (summary.turn() > 0) ? summary.id() : null);
	}

}
