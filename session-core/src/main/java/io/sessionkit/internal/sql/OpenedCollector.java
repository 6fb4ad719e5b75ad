package io.sessionkit.internal.sql;

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
 * turns (2), all with the columns of a header: the other rows use the first ones for
 * their numbers, and one more column for their text. A header of kind 3 is returned
 * alone: its view is the one that the reader knows.
 */
public final class OpenedCollector implements Sql.Receiver {

	private static final int FIRST = 2;

	private static final int TEXT = FIRST + Columns.HEADER_SIZE - 1;

	private @Nullable HeaderRow header;

	private @Nullable RecordRow summary;

	private boolean unchanged;

	private boolean outdated;

	private final List<TurnItems> turns = new ArrayList<>();

	@Override
	public void receive(ResultSet row) throws SQLException {
		switch (row.getInt(1)) {
			case 0 -> this.header = Columns.header(row, FIRST);
			case 3 -> {
				this.header = Columns.header(row, FIRST);
				this.unchanged = true;
			}
			case 1 -> this.summary = Columns.record(row, FIRST, TEXT);
			default -> this.turns.add(TurnItems.read(row, FIRST, TEXT));
		}
	}

	public void summary(@Nullable RecordRow summary) {
		this.summary = summary;
	}

	/**
	 * Records that turns are read by a statement of their own.
	 */
	public void expectTurns() {
		this.outdated = true;
	}

	/**
	 * Adds a turn that was read together with the version of the header.
	 */
	public void turnOf(long version, @Nullable TurnItems turn) {
		this.outdated = this.header == null || this.header.version() != version;
		if (turn != null) {
			this.turns.add(turn);
		}
	}

	/**
	 * Returns whether the header was written before its turns were read.
	 */
	public boolean isOutdated() {
		return this.outdated;
	}

	/**
	 * Returns whether the view is the one that the reader knows, and was left out.
	 */
	public boolean isUnchanged() {
		return this.unchanged;
	}

	public @Nullable HeaderRow header() {
		return this.header;
	}

	/**
	 * Returns the newest turns, the newest first.
	 */
	public List<TurnItems> turns() {
		this.turns.sort(Comparator.comparingLong(TurnItems::turn).reversed());
		return this.turns;
	}

	public @Nullable OpenedRows opened(List<ItemRow> items) {
		return (this.header != null) ? new OpenedRows(this.header, this.summary, items, this.unchanged) : null;
	}

}
