package io.sessionkit.internal.row;

import java.util.Objects;

import io.sessionkit.SessionKey;
import io.sessionkit.TurnOpenException;
import io.sessionkit.internal.message.OpenTurn;
import io.sessionkit.store.ChangeRefusedException;
import io.sessionkit.store.ChangeRefusedException.Reason;
import io.sessionkit.store.Commit;
import io.sessionkit.store.Point;
import io.sessionkit.store.TurnWrite;

/**
 * Creates the exceptions that {@link io.sessionkit.store.SessionStore#commit} and
 * {@link io.sessionkit.store.SessionStore#path} name.
 */
public final class RefusedChange {

	private RefusedChange() {
	}

	/**
	 * Returns the exception for a part of a turn that was left out.
	 * @param commit the change
	 * @param parts how many parts of the turn are stored
	 * @return the exception to throw
	 */
	public static IllegalArgumentException part(Commit commit, long parts) {
		TurnWrite turn = Objects.requireNonNull(commit.turn());
		return new IllegalArgumentException("Turn '" + turn.turn().id() + "' of session " + commit.key() + " has "
				+ parts + " parts; the next one is part " + parts + ", not " + turn.part() + ".");
	}

	/**
	 * Returns the exception for a move of the head to a turn that does not exist or is
	 * not completed.
	 * @param commit the change
	 * @param there whether there is such a turn
	 * @return the exception to throw
	 */
	public static IllegalArgumentException head(Commit commit, boolean there) {
		return new IllegalArgumentException("The head of session " + commit.key() + " cannot move to turn "
				+ Objects.requireNonNull(commit.header().head()).turn() + ": "
				+ (there ? "it is not completed" : "there is none with this number")
				+ ". Name a completed turn, or 0 for the beginning.");
	}

	/**
	 * Returns the exception for a change that would leave the open turn without the turn
	 * that it follows, or begin another one.
	 * @param key the session
	 * @param open the number of the open turn
	 * @return the exception to throw
	 */
	public static TurnOpenException openTurn(SessionKey key, long open) {
		return OpenTurn.refusal(key, open, "given another head");
	}

	/**
	 * Returns the exception for a path that would end at a turn, or before one, that does
	 * not exist or is not completed.
	 * @param key the session
	 * @param end the end of the path
	 * @param there whether there is such a turn
	 * @return the exception to throw
	 */
	public static ChangeRefusedException end(SessionKey key, Point end, boolean there) {
		Reason reason = there ? Reason.NOT_COMPLETED : Reason.UNKNOWN_TURN;
		if (end.kind() == Point.Kind.PARENT) {
			return new ChangeRefusedException("No path of session " + key + " ends before turn " + end.turn()
					+ (there ? ": it follows a turn that is not completed" : ": there is none with this number")
					+ ". Name a turn that is there.", reason);
		}
		return new ChangeRefusedException("No path of session " + key + " ends at turn " + end.turn() + ": "
				+ (there ? "it is not completed" : "there is none with this number")
				+ ". Name a completed turn, or 0 for the beginning.", reason);
	}

	/**
	 * Returns the exception for a summary that would cover a turn that is not on the path
	 * of the head.
	 * @param commit the change
	 * @param head the head; after a move, the new one
	 * @return the exception to throw
	 */
	public static IllegalArgumentException summary(Commit commit, long head) {
		return new IllegalArgumentException("A summary of session " + commit.key() + " cannot cover turn "
				+ Objects.requireNonNull(commit.header().summary()).turn() + ": it is not on the way from turn " + head
				+ " to the beginning.");
	}

	/**
	 * Returns the exception for a deletion of the oldest turns that would reach the head
	 * or the open turn.
	 * @param commit the change
	 * @return the exception to throw
	 */
	public static IllegalArgumentException oldest(Commit commit) {
		return new IllegalArgumentException("The turns of session " + commit.key() + " before turn "
				+ Objects.requireNonNull(commit.oldest()).before()
				+ " cannot be deleted as its oldest ones: the head or the open turn is among them.");
	}

}
