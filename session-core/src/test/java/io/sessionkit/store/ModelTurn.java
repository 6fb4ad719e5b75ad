package io.sessionkit.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.sessionkit.SessionItem;
import io.sessionkit.Turn;
import io.sessionkit.TurnStatus;
import org.jspecify.annotations.Nullable;

/**
 * A turn of a {@link ModelSession}.
 */
final class ModelTurn {

	final List<ModelItem> items = new ArrayList<>();

	/** As the newest part left it, with the counts that the store gives. */
	private Turn turn;

	/** The newest part; a later one follows it. */
	TurnWrite newest;

	int parts;

	/** As it has left them. */
	Map<String, Object> attributes = Map.of();

	ModelTurn(TurnWrite first, long number, long parent, String branch) {
		this.newest = first;
		this.turn = first.turn().stored(new Turn.Place(number, parent, branch, 0, 0));
	}

	/**
	 * Adds a part, numbering its items from the given sequence.
	 */
	void add(TurnWrite part, long sequence) {
		Turn now = part.turn();
		Turn first = this.turn;
		this.turn = Turn.builder(first.id(), first.startedAt())
			.place(new Turn.Place(first.number(), first.parent(), first.branch(), 0, 0))
			.status(now.status(), now.endedAt())
			.agent(first.agent())
			.model(now.model())
			.rounds(now.rounds())
			.tools(first.tools())
			.failure(now.failure())
			.verdicts(now.verdicts())
			.snapshot(first.snapshot())
			.parameters(first.parameters())
			.build();
		this.newest = part;
		this.parts++;
		for (int i = 0; i < part.items().size(); i++) {
			this.items.add(new ModelItem(sequence + i, number(), part.items().get(i)));
		}
	}

	void clear() {
		this.items.clear();
		this.attributes = Map.of();
		this.turn = new Turn(this.turn.id(), this.turn.place(),
				new Turn.Origin(this.turn.startedAt(), null, Map.of(), null, Map.of()), this.turn.progress());
	}

	long number() {
		return this.turn.number();
	}

	long parent() {
		return this.turn.parent();
	}

	TurnStatus status() {
		return this.turn.status();
	}

	boolean isCompleted() {
		return status() == TurnStatus.COMPLETED;
	}

	int tokens() {
		return this.items.stream().mapToInt((item) -> item.item().tokens()).sum();
	}

	/**
	 * As a store should hand it out.
	 */
	Turn turn() {
		return this.turn.stored(new Turn.Place(number(), parent(), this.turn.branch(), this.items.size(), tokens()));
	}

	/**
	 * An item and its place.
	 */
	record ModelItem(long sequence, long turn, NewItem item) {

		SessionItem stored() {
			return new SessionItem(this.sequence, this.turn, this.item.at(), this.item.tokens(), this.item.message());
		}

	}

	/**
	 * The attributes and the summary in force at a head.
	 */
	record Position(Map<String, Object> attributes, long summary, @Nullable String summaryId) {

		static final Position BEGINNING = new Position(Map.of(), 0, null);

	}

}
