package io.sessionkit.internal.turn;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.sessionkit.Session;
import io.sessionkit.Turn;
import io.sessionkit.codec.MessageCodec;
import io.sessionkit.internal.tree.BranchRecord;
import io.sessionkit.internal.tree.LeftTurns;
import io.sessionkit.store.Commit;
import io.sessionkit.store.HeaderChange;
import io.sessionkit.store.RecordWrite;
import io.sessionkit.store.TurnWrite;
import org.jspecify.annotations.Nullable;

/**
 * The place at which a turn hangs, and what its commit has to change for that.
 *
 * @param header the header of the session as it was opened; null if there was no session
 * @param seen the same as if the turn before were the head; null if there was no session
 * @param left what the turn leaves when it becomes the head: it takes the place of
 * another turn; null if it leaves nothing
 * @param branch the branch that the turn continues although it is not active; null for
 * the active one
 */
record TurnPlace(@Nullable Session header, @Nullable Session seen, @Nullable LeftTurns left,
		@Nullable BranchRecord branch) {

	/** Creates the place behind the head. */
	static TurnPlace atHead(@Nullable Session header) {
		return new TurnPlace(header, header, null, null);
	}

	/** Returns whether the turn becomes the head of the active branch. */
	boolean becomesHead() {
		return this.branch == null;
	}

	/** Returns whether the branch of the turn has become the active one. */
	boolean isActiveIn(Session now) {
		return this.branch != null && now.branch().equals(this.branch.name());
	}

	/** Returns whether the turn follows the head of the session. */
	boolean isAtHead() {
		return this.branch == null
				&& (this.header == null || this.seen == null || this.header.head() == this.seen.head());
	}

	/**
	 * Adds the turn to a commit.
	 * @param on the commit, on the header as it is now; null if there is no session
	 * @param attributes the attributes that the turn leaves; null if they are as they
	 * were
	 */
	Commit commit(Commit on, TurnWrite write, @Nullable Map<String, Object> attributes, List<RecordWrite> records,
			MessageCodec codec) {
		if (this.branch != null && this.header != null) {
			return onBranch(this.branch, this.header, on, write, attributes, records, codec);
		}
		HeaderChange header = (attributes != null) ? HeaderChange.NONE.attributes(attributes) : HeaderChange.NONE;
		List<RecordWrite> all = new ArrayList<>(records);
		if (write.part() == 0 && this.seen != null && !isAtHead()) {
			// a turn that waits moves the head when it ends, and the store knows where to
			header = write.turn().status().isOpen() ? header : header.head(this.seen.branch(), this.seen.head());
			if (this.left != null) {
				all.add(this.left.write(on.key(), codec));
			}
		}
		return on.turn(write).header(header).records(all);
	}

	/**
	 * The record of the branch names the turn, so its number must be the expected one.
	 */
	private static Commit onBranch(BranchRecord branch, Session header, Commit on, TurnWrite write,
			@Nullable Map<String, Object> attributes, List<RecordWrite> records, MessageCodec codec) {
		TurnWrite beside = (attributes != null) ? write.attributes(attributes).asBeside() : write.asBeside();
		if (write.turn().status().isOpen()) {
			return on.turn(beside).records(records);
		}
		Session now = (on.base() != null) ? on.base() : header;
		long number = (write.part() > 0) ? now.openTurn() : now.turns() + 1;
		List<RecordWrite> all = new ArrayList<>(records);
		all.add(branch.head(number).replace(on.key(), codec));
		return on.turn((write.part() > 0) ? beside : numbered(beside, number)).records(all);
	}

	private static TurnWrite numbered(TurnWrite write, long number) {
		Turn.Place place = write.turn().place();
		return new TurnWrite(
				write.turn()
					.stored(new Turn.Place(number, place.parent(), place.branch(), place.items(), place.tokens())),
				write.part(), write.items(), write.attributes(), write.beside());
	}

}
