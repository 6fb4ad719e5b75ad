package io.sessionkit.internal.commit;

import java.util.ArrayDeque;
import java.util.Deque;

import io.sessionkit.Session;
import io.sessionkit.Turn;
import io.sessionkit.internal.opening.TurnPlace;
import io.sessionkit.internal.opening.TurnRequest;
import io.sessionkit.store.Commit;
import io.sessionkit.store.CommitResult;
import io.sessionkit.store.SessionStore;
import io.sessionkit.store.TurnWrite;
import org.jspecify.annotations.Nullable;

/**
 * Writes the history with which a session is to start anew beside the present one, since
 * the turn behind it waits. As long as it does, nothing has changed.
 */
final class GivenSeed {

	private final SessionStore store;

	private final TurnRequest request;

	private final TurnPlace place;

	/** The turns that are still to be stored; null before the first is. */
	private @Nullable Deque<TurnWrite> unwritten;

	/** The last turn that is stored; 0 for none. */
	private long last;

	/** The header as the last write has left it; null if there is no such session. */
	private @Nullable Session left;

	GivenSeed(SessionStore store, TurnRequest request, TurnPlace place) {
		this.store = store;
		this.request = request;
		this.place = place;
		this.left = place.header();
	}

	/**
	 * Returns the last turn that is stored of the history.
	 * @return the number of the turn; 0 for none
	 */
	long last() {
		return this.last;
	}

	/**
	 * Returns the header as the last write has left it, or as the session was opened.
	 * @return the header; null if there is no session
	 */
	@Nullable Session left() {
		return this.left;
	}

	/**
	 * Writes the history, if the turn brings one. What is there already, because the turn
	 * could not be written at first, is not written again.
	 * @return whether the turn may follow; false if another writer was first
	 */
	boolean write() {
		Deque<TurnWrite> rest = unwritten();
		while (isHeadAsOpened() && !rest.isEmpty()) {
			Session before = this.left;
			CommitResult result = this.store
				.commit(this.request.living(commit(rest.element(), before), this.store.options()));
			if (!result.isStored()) {
				return false;
			}
			rest.remove();
			this.last = result.turn();
			this.left = this.store.find(this.request.key())
				.filter((now) -> before == null || now.incarnation().equals(before.incarnation()))
				.orElse(null);
		}
		return isHeadAsOpened();
	}

	private Deque<TurnWrite> unwritten() {
		Deque<TurnWrite> known = this.unwritten;
		if (known == null) {
			known = new ArrayDeque<>(this.place.seed(this.store.options()));
			this.unwritten = known;
		}
		return known;
	}

	/**
	 * Creates the commit of one turn of the history. Attributes that were written before
	 * the first turn are inherited by no other.
	 */
	private Commit commit(TurnWrite write, @Nullable Session before) {
		Turn turn = write.turn();
		long parent = (this.last != 0) ? this.last : turn.parent();
		TurnWrite beside = new TurnWrite(
				turn.stored(new Turn.Place(0, parent, turn.branch(), turn.items(), turn.tokens())), 0, write.items())
			.asBeside();
		if (before == null) {
			return Commit.first(this.request.key()).turn(beside);
		}
		return Commit.on(before).turn((parent == 0) ? beside.attributes(before.attributes()) : beside);
	}

	private boolean isHeadAsOpened() {
		Session opened = this.place.header();
		Session now = this.left;
		long head = (opened != null) ? opened.head() : 0;
		return (now != null) ? now.head() == head : opened == null && this.last == 0;
	}

}
