package io.sessionkit.internal.sql;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.sessionkit.internal.row.ItemRow;

/**
 * Collects items from rows of turns (kind 2), and from rows of their own (3).
 */
public final class ItemCollector implements Sql.Receiver {

	private final List<ItemRow> items = new ArrayList<>();

	@Override
	public void receive(ResultSet row) throws SQLException {
		if (row.getInt(1) == 2) {
			this.items.addAll(TurnItems.read(row, 2, 6).inRow());
		}
		else {
			this.items.add(Columns.item(row, 2, 6));
		}
	}

	/**
	 * Returns the newest items, oldest first.
	 */
	public List<ItemRow> newest(int limit) {
		this.items.sort(Comparator.comparingLong(ItemRow::sequence));
		return this.items.subList(Math.max(0, this.items.size() - limit), this.items.size());
	}

}
