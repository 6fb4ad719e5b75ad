package io.sessionkit.store;

import java.util.List;
import java.util.Map;

import io.sessionkit.Turn;
import org.jspecify.annotations.Nullable;

/**
 * A turn to write, or the next part of one.
 *
 * @param turn the turn as it is now. The store assigns its number, item count and token
 * count: if it has a number already and would get another one, the commit is a conflict.
 * Its parent counts only if the turn is not completed, or is written beside the history
 * @param part the number of this write of the turn: 0 for the first, and one more each
 * time that an open turn is continued. Repeating a part changes nothing
 * @param items the messages that this part adds
 * @param attributes the attributes that a completed turn leaves; null if they are those
 * of the turn that it follows. Attributes that were written before the first turn belong
 * to the head, so a turn beside the history does not inherit them
 * @param beside whether a completed turn is kept beside the history, as one of a branch
 * that is not active: it can be read, and the head can be moved to it
 */
public record TurnWrite(Turn turn, int part, List<NewItem> items, @Nullable Map<String, Object> attributes,
		boolean beside) {

	public TurnWrite {
		items = List.copyOf(items);
		attributes = (attributes != null) ? Map.copyOf(attributes) : null;
	}

	/**
	 * Creates a write of a turn that becomes the head when it is completed, with the
	 * attributes that are there.
	 * @param turn the turn as it is now
	 * @param part the number of this write of the turn
	 * @param items the messages that this part adds
	 */
	public TurnWrite(Turn turn, int part, List<NewItem> items) {
		this(turn, part, items, null, false);
	}

	/**
	 * Returns a copy of this write with the attributes that the turn leaves.
	 * @param attributes all attributes
	 * @return the copy
	 */
	public TurnWrite attributes(Map<String, Object> attributes) {
		return new TurnWrite(this.turn, this.part, this.items, attributes, this.beside);
	}

	/**
	 * Returns a copy of this write that keeps the turn beside the history.
	 * @return the copy
	 */
	public TurnWrite asBeside() {
		return new TurnWrite(this.turn, this.part, this.items, this.attributes, true);
	}

}
