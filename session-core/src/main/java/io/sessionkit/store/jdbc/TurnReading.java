package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.KeyHash;
import io.sessionkit.internal.row.TurnRow;
import io.sessionkit.internal.sql.Columns;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.Sql;
import io.sessionkit.internal.sql.Templates;
import io.sessionkit.internal.sql.TurnItems;
import io.sessionkit.store.SessionRecord;
import org.jspecify.annotations.Nullable;

/**
 * Reads one turn, its items, and some records of its session with one statement, whose
 * rows have one shape: numbers, then texts. Texts that meet in a column have the same
 * collation, without which SQL Server refuses the statement: so the kind of a record is
 * told by its place among those that are asked for.
 */
final class TurnReading {

	/** The number of kinds of records that one statement can read. */
	static final int KINDS = 4;

	private static final int FIRST_TEXT = 13;

	private static final String READ = """
			select 0 as row_kind, t.turn_no, t.first_item, t.items, t.apart, t.parent, t.run_lo, t.run_parent,
				t.parts, t.tokens, t.started_at, t.ended_at,
				t.turn_id, t.branch, t.status, t.attributes, t.origin, t.outcome, t.body
			from {turn} t where t.session_pk = {pk} and t.turn_no = :turn
			union all
			select 1, i.seq, i.turn_no, i.recorded_at, i.tokens, null, null, null, null, null, null, null,
				null, null, null, {noText}, {noText}, {noText}, i.body
			from {item} i where i.session_pk = {pk} and i.turn_no = :turn
			union all
			select 2, r.revision, r.written_at, r.expires_at,
				case when r.kind = :kindA then 0 when r.kind = :kindB then 1 when r.kind = :kindC then 2 else 3 end,
				null, null, null, null, null, null, null,
				{bare r.id}, null, null, {noText}, {noText}, {noText}, r.payload
			from {record} r where r.session_pk = {pk} and r.kind in (:kindA, :kindB, :kindC, :kindD)
				and (r.expires_at is null or r.expires_at > {now})
			""";

	private final Sql read;

	TurnReading(Templates templates) {
		this.read = templates.sql(READ);
	}

	/**
	 * The rows of a turn.
	 *
	 * @param turn the turn
	 * @param items its items, oldest first
	 * @param records the records, by id
	 */
	record Rows(TurnRow turn, List<ItemRow> items, List<SessionRecord> records) {
	}

	/**
	 * Reads a turn.
	 * @param kinds at most {@link #KINDS} kinds of records
	 * @return what was read; null if there is no such turn
	 */
	@Nullable Rows read(Connection connection, SessionKey key, long turn, Set<String> kinds) throws SQLException {
		Params params = Params.of("key", KeyHash.of(key).session()).with("turn", turn);
		List<String> names = List.copyOf(kinds);
		for (int i = 0; i < KINDS; i++) {
			params.with("kind" + MultiRow.letters(i), (i < names.size()) ? names.get(i) : "");
		}
		Collected collected = new Collected(key, names);
		this.read.each(connection, params, collected);
		return collected.rows();
	}

	/** Collects the rows. */
	private static final class Collected implements Sql.Receiver {

		private final SessionKey key;

		private final List<String> kinds;

		private final List<ItemRow> items = new ArrayList<>();

		private final List<SessionRecord> records = new ArrayList<>();

		private @Nullable TurnRow turn;

		Collected(SessionKey key, List<String> kinds) {
			this.key = key;
			this.kinds = kinds;
		}

		@Override
		public void receive(ResultSet row) throws SQLException {
			switch (row.getInt(1)) {
				case 0 -> {
					this.turn = turn(row);
					this.items.addAll(TurnItems.read(row, 2, FIRST_TEXT + 6).inRow());
				}
				case 1 -> this.items.add(Columns.item(row, 2, FIRST_TEXT + 6));
				default -> this.records.add(Columns.record(row, 2, FIRST_TEXT + 6)
					.record(this.key, this.kinds.get(row.getInt(5)), row.getString(FIRST_TEXT)));
			}
		}

		private static TurnRow turn(ResultSet row) throws SQLException {
			HeaderRow.Path path = new HeaderRow.Path(row.getLong(2), row.getLong(7), row.getLong(8), 0, null);
			return new TurnRow(row.getString(FIRST_TEXT), row.getLong(6), path, row.getString(FIRST_TEXT + 1),
					TurnRow.status(row.getString(FIRST_TEXT + 2)), row.getInt(9), row.getInt(4), row.getInt(10),
					row.getLong(11), Columns.number(row, 12), row.getString(FIRST_TEXT + 3),
					row.getString(FIRST_TEXT + 4), row.getString(FIRST_TEXT + 5));
		}

		@Nullable Rows rows() {
			this.items.sort(Comparator.comparingLong(ItemRow::sequence));
			// not by the database, whose collation may order letters differently
			this.records.sort(Comparator.comparing(SessionRecord::id));
			return (this.turn != null) ? new Rows(this.turn, this.items, this.records) : null;
		}

	}

}
