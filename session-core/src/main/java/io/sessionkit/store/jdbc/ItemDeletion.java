package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

import io.sessionkit.ViewTotals;
import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.TurnRow;

/**
 * Deletes items permanently and subtracts them from the totals of their turns and of the
 * view. The view is not summed up again: removing the last message of a long session
 * reads nothing but the end of it.
 */
final class ItemDeletion {

	private final TurnStatements turns;

	private final ItemStatements items;

	ItemDeletion(TurnStatements turns, ItemStatements items) {
		this.turns = turns;
		this.items = items;
	}

	/**
	 * Deletes items. A head that has lost its last item moves to the nearest turn before
	 * it that has one, unless the summary in force ends with it; at most to the turn with
	 * which that ends.
	 * @return whether one of them was found
	 */
	boolean delete(Connection connection, Set<Long> sequences, HeaderDraft draft) throws SQLException {
		if (sequences.isEmpty()) {
			return false;
		}
		List<ItemStatements.Place> gone = this.items.delete(connection, draft.pk(), draft.turns(), sequences)
			.stream()
			.sorted(Comparator.comparingLong(ItemStatements.Place::turn))
			.toList();
		if (gone.isEmpty()) {
			return false;
		}
		this.turns.freed(connection, draft.pk(), gone);
		subtract(connection, gone, draft);
		long number = draft.path().head();
		TurnRow head = gone.stream().anyMatch((item) -> item.turn() == number)
				? this.turns.find(connection, draft.pk(), number) : null;
		if (head != null && head.items() == 0 && number != draft.path().summary()) {
			leave(connection, head, draft);
		}
		return true;
	}

	private void subtract(Connection connection, List<ItemStatements.Place> gone, HeaderDraft draft)
			throws SQLException {
		long lastTurn = 0;
		boolean inView = false;
		ViewTotals totals = draft.totals();
		for (ItemStatements.Place item : gone) {
			boolean another = item.turn() != lastTurn;
			inView = another ? isInView(connection, item.turn(), draft) : inView;
			lastTurn = item.turn();
			if (inView) {
				int emptied = (another && isEmpty(connection, item.turn(), draft)) ? 1 : 0;
				totals = totals.minus(new ViewTotals(emptied, 1, item.tokens()));
			}
		}
		draft.totals(totals);
	}

	private boolean isEmpty(Connection connection, long number, HeaderDraft draft) throws SQLException {
		TurnRow turn = this.turns.find(connection, draft.pk(), number);
		return turn != null && turn.items() == 0;
	}

	private boolean isInView(Connection connection, long turn, HeaderDraft draft) throws SQLException {
		return turn > draft.path().summary() && this.turns.isOnPath(connection, draft.pk(), draft.path(), turn);
	}

	private void leave(Connection connection, TurnRow head, HeaderDraft draft) throws SQLException {
		long summary = draft.path().summary();
		TurnRow turn = head;
		while (turn != null && turn.items() == 0 && turn.number() != summary) {
			turn = this.turns.find(connection, draft.pk(), turn.parent());
		}
		HeaderRow.Path path = (turn != null) ? this.turns.withSummary(connection, draft.pk(), turn.path())
				: HeaderRow.Path.BEGINNING;
		if (turn != null && path.summary() == summary && turn.number() > summary) {
			draft.head(path, turn.attributes());
		}
		else {
			this.turns.moveTo(connection, draft, turn);
		}
	}

}
