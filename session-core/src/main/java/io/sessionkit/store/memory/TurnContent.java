package io.sessionkit.store.memory;

import java.util.List;

import io.sessionkit.Turn;

/**
 * The whole content of one turn at one moment.
 *
 * @param turn the turn
 * @param parts how many parts of it were written
 * @param position the attributes and the summary in force when it was the head
 * @param items its items
 */
record TurnContent(Turn turn, int parts, HeadPosition position, List<StoredItem> items) {

	TurnContent {
		items = List.copyOf(items);
	}

}
