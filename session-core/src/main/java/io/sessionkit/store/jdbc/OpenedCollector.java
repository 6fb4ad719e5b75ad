package io.sessionkit.store.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import io.sessionkit.store.row.HeaderRow;
import io.sessionkit.store.row.ItemRow;
import io.sessionkit.store.row.OpenedRows;
import io.sessionkit.store.row.RecordRow;
import org.jspecify.annotations.Nullable;

/**
 * Collects the rows of one statement that returns a header (kind 0), its checkpoint (1)
 * and items (2). All have the shape of the header; the others use its first columns for
 * their numbers and the last one for their text, so that no row is wider than it must be.
 */
final class OpenedCollector implements Sql.Receiver {

	private static final int FIRST = 2;

	private static final int TEXT = 22;

	private @Nullable HeaderRow header;

	private @Nullable RecordRow checkpoint;

	private final List<ItemRow> items = new ArrayList<>();

	@Override
	public void receive(ResultSet row) throws SQLException {
		switch (row.getInt(1)) {
			case 0 -> this.header = Columns.header(row, FIRST);
			case 1 -> this.checkpoint = Columns.record(row, FIRST, TEXT);
			default -> this.items.add(Columns.item(row, FIRST, TEXT));
		}
	}

	@Nullable HeaderRow header() {
		return this.header;
	}

	List<ItemRow> items() {
		return this.items;
	}

	@Nullable OpenedRows opened() {
		return opened(this.items);
	}

	@Nullable OpenedRows opened(List<ItemRow> all) {
		return (this.header != null) ? new OpenedRows(this.header, this.checkpoint, all) : null;
	}

}
