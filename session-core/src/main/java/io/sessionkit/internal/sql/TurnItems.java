package io.sessionkit.internal.sql;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.PackedItems;
import org.jspecify.annotations.Nullable;

/**
 * The items of a turn, as far as they are in its row.
 *
 * @param turn the number of the turn
 * @param first the sequence of its first item
 * @param count how many items it has, in its row and in rows of their own
 * @param apart how many of its items have got rows of their own
 * @param packed the items in its row; null if there are none
 */
public record TurnItems(long turn, long first, int count, int apart, @Nullable String packed) {

	/** Reads the columns; the text may be at any index. */
	public static TurnItems read(ResultSet row, int start, int text) throws SQLException {
		return new TurnItems(row.getLong(start), row.getLong(start + 1), row.getInt(start + 2), row.getInt(start + 3),
				row.getString(text));
	}

	public List<ItemRow> inRow() {
		return PackedItems.read(this.turn, this.first, this.packed);
	}

}
