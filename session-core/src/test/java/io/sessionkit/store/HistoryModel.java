package io.sessionkit.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.sessionkit.SessionItem;
import io.sessionkit.TurnStatus;
import io.sessionkit.ViewTotals;
import org.jspecify.annotations.Nullable;

/**
 * What a session should be after any number of changes, in the most naive way: everything
 * is computed anew from a list of turns.
 */
final class HistoryModel {

	final List<ModelTurn> turns = new ArrayList<>();

	long version;

	long items;

	long head;

	long openTurn;

	String branch = "main";

	Map<String, Object> state = Map.of();

	long checkpoint;

	@Nullable String checkpointId;

	ModelTurn begin(TurnWrite write) {
		ModelTurn turn = new ModelTurn(this.turns.size() + 1,
				(write.turn().status() == TurnStatus.COMPLETED) ? this.head : write.turn().parent());
		this.turns.add(turn);
		return turn;
	}

	void add(ModelTurn turn, TurnWrite write) {
		turn.status = write.turn().status();
		for (NewItem item : write.items()) {
			turn.items.add(new ModelItem(++this.items, item.message().getText(), item.tokens()));
		}
		if (turn.status.isOpen()) {
			this.openTurn = turn.number;
		}
		else if (this.openTurn == turn.number) {
			this.openTurn = 0;
		}
		if (turn.status == TurnStatus.COMPLETED) {
			this.head = turn.number;
			keepAtHead();
		}
	}

	/**
	 * State and checkpoint belong to the head.
	 */
	void keepAtHead() {
		if (this.head > 0) {
			ModelTurn turn = turn(this.head);
			turn.state = this.state;
			turn.checkpoint = this.checkpoint;
			turn.checkpointId = this.checkpointId;
		}
	}

	void moveTo(String branch, long number) {
		this.branch = branch;
		this.head = number;
		this.state = (number > 0) ? turn(number).state : Map.of();
		this.checkpoint = (number > 0) ? turn(number).checkpoint : 0;
		this.checkpointId = (number > 0) ? turn(number).checkpointId : null;
	}

	boolean delete(Set<Long> sequences) {
		boolean deleted = false;
		for (ModelTurn turn : this.turns) {
			deleted |= turn.items.removeIf((item) -> sequences.contains(item.sequence()));
		}
		while (this.head > 0 && turn(this.head).items.isEmpty()) {
			moveTo(this.branch, turn(this.head).parent);
		}
		return deleted;
	}

	ModelTurn turn(long number) {
		return this.turns.get((int) number - 1);
	}

	/**
	 * The turns from the beginning to the head.
	 */
	List<ModelTurn> path() {
		List<ModelTurn> path = new ArrayList<>();
		for (long number = this.head; number > 0; number = turn(number).parent) {
			path.add(0, turn(number));
		}
		return path;
	}

	List<ModelTurn> view() {
		return path().stream().filter((turn) -> turn.number > this.checkpoint).toList();
	}

	ViewTotals totals() {
		ViewTotals totals = ViewTotals.NONE;
		for (ModelTurn turn : view()) {
			totals = totals.plusTurn(turn.items.size(), turn.items.stream().mapToInt(ModelItem::tokens).sum());
		}
		return totals;
	}

	List<ModelItem> view(Window window) {
		List<ModelTurn> view = view();
		List<ModelItem> best = List.of();
		for (int from = view.size(); from >= Math.max(0, (long) view.size() - window.turns()); from--) {
			List<ModelItem> candidate = items(view.subList(from, view.size()));
			if (candidate.size() > window.items()) {
				break;
			}
			best = candidate;
		}
		return best;
	}

	List<ModelItem> log(Tail tail) {
		List<ModelItem> log = items(path()).stream().filter((item) -> item.sequence() < tail.before()).toList();
		return log.subList(Math.max(0, log.size() - tail.limit()), log.size());
	}

	static List<ModelItem> items(List<ModelTurn> turns) {
		return turns.stream().flatMap((turn) -> turn.items.stream()).toList();
	}

	/**
	 * An item of the model.
	 *
	 * @param sequence its place
	 * @param text its text
	 * @param tokens its size
	 */
	record ModelItem(long sequence, @Nullable String text, int tokens) {

		static ModelItem of(SessionItem item) {
			return new ModelItem(item.sequence(), item.message().getText(), item.tokens());
		}

	}

	/**
	 * A turn of the model.
	 */
	static final class ModelTurn {

		final long number;

		final long parent;

		final List<ModelItem> items = new ArrayList<>();

		TurnStatus status = TurnStatus.INCOMPLETE;

		Map<String, Object> state = Map.of();

		long checkpoint;

		@Nullable String checkpointId;

		ModelTurn(long number, long parent) {
			this.number = number;
			this.parent = parent;
		}

	}

}
