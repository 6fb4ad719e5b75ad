package io.sessionkit.internal.sql;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.OpenedRows;
import io.sessionkit.internal.row.RecordRow;
import org.jspecify.annotations.Nullable;

/**
 * Collects the rows of one statement that returns a header (kind 0), its summary (1) and
 * turns (2), all with the columns of a header: the other rows use the first ones for
 * their numbers, the column of the stamp for that of the header as they were read, and
 * one more column for their text. A header of kind 3 is returned alone: its view is the
 * one that the reader knows. One of kind 4, 5 or 6 is returned with the one, two or three
 * turns that were appended to that view.
 */
public final class OpenedCollector implements Sql.Receiver {

	private static final int WHOLE = 0;

	private static final int UNCHANGED = 3;

	private static final int FIRST = 2;

	private static final int STAMP = FIRST + Columns.STAMP;

	private static final int TEXT = FIRST + Columns.HEADER_SIZE - 1;

	private @Nullable HeaderRow header;

	private @Nullable RecordRow summary;

	private int kind;

	private boolean outdated;

	/** Those of the header as the other rows were read. */
	private final Set<Long> stamps = new HashSet<>();

	private final List<TurnItems> turns = new ArrayList<>();

	@Override
	public void receive(ResultSet row) throws SQLException {
		switch (row.getInt(1)) {
			case 1 -> {
				this.summary = Columns.record(row, FIRST, TEXT);
				this.stamps.add(row.getLong(STAMP));
			}
			case 2 -> {
				this.turns.add(TurnItems.read(row, FIRST, TEXT));
				this.stamps.add(row.getLong(STAMP));
			}
			default -> {
				this.header = Columns.header(row, FIRST);
				this.kind = row.getInt(1);
			}
		}
	}

	/**
	 * Returns how much of a view comes with a header of a kind.
	 */
	public static OpenedRows.Extent extent(int kind) {
		return switch (kind) {
			case WHOLE -> OpenedRows.Extent.WHOLE;
			case UNCHANGED -> OpenedRows.Extent.NOTHING;
			default -> OpenedRows.Extent.ADDED;
		};
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
	 * Returns whether the header was written before its turns were read. Some databases
	 * may see a new state in each part of a statement.
	 */
	public boolean isOutdated() {
		return this.outdated || (this.header != null && !Set.of(this.header.stamp()).containsAll(this.stamps));
	}

	/**
	 * Returns whether the view is the one that the reader knows, and was left out.
	 */
	public boolean isUnchanged() {
		return this.kind == UNCHANGED;
	}

	/**
	 * Returns whether the reader knows nothing that the view begins with.
	 */
	public boolean isWhole() {
		return this.kind == WHOLE;
	}

	/**
	 * Returns the turn behind which the requested ones begin: the last one that the
	 * summary covers, or the last one that the reader knows.
	 */
	public long floor() {
		HeaderRow.Path path = Objects.requireNonNull(this.header).path();
		return isWhole() ? path.summary() : path.head() - (this.kind - UNCHANGED);
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
		return (this.header != null) ? new OpenedRows(this.header, this.summary, items, extent(this.kind)) : null;
	}

}
