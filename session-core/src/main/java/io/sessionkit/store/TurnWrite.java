package io.sessionkit.store;

import java.util.List;

import io.sessionkit.Turn;

/**
 * A turn to write, or the next part of one.
 *
 * @param turn the turn as it is now. Its number, item count and token count are given by
 * the store; its parent counts only for a turn that is not completed
 * @param part which write of this turn it is: 0 for the first, and one more each time
 * that an open turn is continued. Repeating a part changes nothing
 * @param items the messages that this part adds
 */
public record TurnWrite(Turn turn, int part, List<NewItem> items) {

	public TurnWrite {
		items = List.copyOf(items);
	}

}
