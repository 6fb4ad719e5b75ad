package io.sessionkit.store;

import java.util.List;

import io.sessionkit.Turn;

/**
 * A turn to write, or the next part of one.
 *
 * @param turn the turn as it is now. The store assigns its number, item count and token
 * count; its parent counts only if the turn is not completed
 * @param part the number of this write of the turn: 0 for the first, and one more each
 * time that an open turn is continued. Repeating a part changes nothing
 * @param items the messages that this part adds
 */
public record TurnWrite(Turn turn, int part, List<NewItem> items) {

	public TurnWrite {
		items = List.copyOf(items);
	}

}
