package io.sessionkit.store.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import org.jspecify.annotations.Nullable;

/**
 * The mutable state of a turn. Guarded by the lock of its session.
 */
final class StoredTurn {

	private final List<StoredItem> items = new ArrayList<>();

	private Turn turn;

	private int parts;

	private int tokens;

	private StoredAttributes attributes = StoredAttributes.EMPTY;

	private long before;

	StoredTurn(Turn turn, long number, long parent, String branch) {
		this.turn = turn.stored(new Turn.Place(number, parent, branch, 0, 0));
		this.before = parent;
	}

	StoredTurn(TurnContent content) {
		this.turn = content.turn();
		this.parts = content.parts();
		this.attributes = content.attributes();
		this.items.addAll(content.items());
		this.tokens = this.items.stream().mapToInt(StoredItem::tokens).sum();
		this.before = content.before();
	}

	TurnContent content() {
		return new TurnContent(turn(), this.parts, this.attributes, this.items, this.before);
	}

	long number() {
		return this.turn.number();
	}

	long parent() {
		return this.turn.parent();
	}

	/**
	 * Returns the turn before it on each path: its parent, unless the paths were cut
	 * behind it.
	 */
	long before() {
		return this.before;
	}

	/**
	 * Cuts the paths through this turn behind it.
	 * @param turn the turn to which they lead instead; 0 for the beginning
	 */
	void cut(long turn) {
		this.before = turn;
	}

	int parts() {
		return this.parts;
	}

	boolean isOpen() {
		return this.turn.status().isOpen();
	}

	boolean isCompleted() {
		return this.turn.status() == TurnStatus.COMPLETED;
	}

	List<StoredItem> items() {
		return this.items;
	}

	int tokens() {
		return this.tokens;
	}

	/**
	 * Returns the attributes as this turn has left them.
	 */
	StoredAttributes attributes() {
		return this.attributes;
	}

	void attributes(StoredAttributes attributes) {
		this.attributes = attributes;
	}

	Turn turn() {
		return this.turn.stored(new Turn.Place(number(), parent(), this.turn.branch(), this.items.size(), this.tokens));
	}

	/**
	 * Adds a part: its items, and the new state of the turn.
	 */
	void add(Turn now, List<StoredItem> added) {
		this.turn = new Turn(this.turn.id(), this.turn.place(), this.turn.origin(), now.progress());
		this.parts++;
		this.items.addAll(added);
		this.tokens += added.stream().mapToInt(StoredItem::tokens).sum();
	}

	/**
	 * Deletes everything but its place and how it ended.
	 */
	void clear() {
		this.turn = new Turn(this.turn.id(), this.turn.place(),
				new Turn.Origin(this.turn.startedAt(), null, Map.of(), null, Map.of()), this.turn.progress());
		this.items.clear();
		this.tokens = 0;
		this.attributes = StoredAttributes.EMPTY;
	}

	/**
	 * Deletes one item.
	 * @return the item; null if there is no such item
	 */
	@Nullable StoredItem delete(long sequence) {
		for (int i = 0; i < this.items.size(); i++) {
			if (this.items.get(i).sequence() == sequence) {
				StoredItem deleted = this.items.remove(i);
				this.tokens -= deleted.tokens();
				return deleted;
			}
		}
		return null;
	}

}
