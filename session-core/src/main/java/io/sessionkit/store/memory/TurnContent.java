package io.sessionkit.store.memory;

import java.util.List;

import io.sessionkit.Turn;

/**
 * The whole content of one turn at one moment.
 *
 * @param turn the turn
 * @param parts how many parts of it were written
 * @param attributes the attributes as it has left them
 * @param items its items
 * @param before the turn before it on each path: its parent, unless the paths were cut
 * behind it
 */
record TurnContent(Turn turn, int parts, StoredAttributes attributes, List<StoredItem> items, long before) {

	TurnContent {
		items = List.copyOf(items);
	}

}
