package io.sessionkit.store.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.OpenedRows;
import io.sessionkit.internal.row.RecordRow;
import org.jspecify.annotations.Nullable;

/**
 * Collects the rows of one statement that returns a header (kind 0), its summary (1) and
 * items (2), all of one shape. A header of kind 3 is returned alone: its view is the one
 * that the reader knows. Either this is the shape of the header, and the other rows use
 * its first columns for their numbers and the last one for their text. Or it is the shape
 * of an item, and the header is packed into two columns behind it.
 */
final class OpenedCollector implements Sql.Receiver {

	private static final int FIRST = 2;

	private static final int TEXT_BEHIND_HEADER = 24;

	private static final int TEXT_OF_ITEM = 6;

	private final boolean packed;

	private final int text;

	private @Nullable HeaderRow header;

	private @Nullable RecordRow summary;

	private boolean unchanged;

	private boolean outdated;

	private final List<ItemRow> items = new ArrayList<>();

	private OpenedCollector(boolean packed) {
		this.packed = packed;
		this.text = packed ? TEXT_OF_ITEM : TEXT_BEHIND_HEADER;
	}

	/** Creates a collector of rows with the columns of a header. */
	static OpenedCollector ofHeaderColumns() {
		return new OpenedCollector(false);
	}

	/** Creates a collector of rows with the columns of an item. */
	static OpenedCollector ofPackedHeader() {
		return new OpenedCollector(true);
	}

	@Override
	public void receive(ResultSet row) throws SQLException {
		switch (row.getInt(1)) {
			case 0 -> this.header = header(row);
			case 3 -> {
				this.header = header(row);
				this.unchanged = true;
			}
			case 1 -> this.summary = Columns.record(row, FIRST, this.text);
			default -> this.items.add(Columns.item(row, FIRST, this.text));
		}
	}

	private HeaderRow header(ResultSet row) throws SQLException {
		return this.packed ? Columns.packedHeader(row, this.text + 1, this.text + 2) : Columns.header(row, FIRST);
	}

	void summary(@Nullable RecordRow summary) {
		this.summary = summary;
	}

	/**
	 * Records that items are read by a statement of their own.
	 */
	void expectItems() {
		this.outdated = true;
	}

	/**
	 * Adds an item that was read together with the version of the header.
	 */
	void itemOf(long version, @Nullable ItemRow item) {
		this.outdated = this.header == null || this.header.version() != version;
		if (item != null) {
			this.items.add(item);
		}
	}

	/**
	 * Returns whether the header was written before its items were read.
	 */
	boolean isOutdated() {
		return this.outdated;
	}

	/**
	 * Returns whether the view is the one that the reader knows, and was left out.
	 */
	boolean isUnchanged() {
		return this.unchanged;
	}

	@Nullable HeaderRow header() {
		return this.header;
	}

	List<ItemRow> items() {
		return this.items;
	}

	@Nullable OpenedRows opened() {
		this.items.sort(Comparator.comparingLong(ItemRow::sequence));
		return opened(this.items);
	}

	@Nullable OpenedRows opened(List<ItemRow> all) {
		return (this.header != null) ? new OpenedRows(this.header, this.summary, all, this.unchanged) : null;
	}

}
