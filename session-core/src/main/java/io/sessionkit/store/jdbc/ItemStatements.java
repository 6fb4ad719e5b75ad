package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.ItemRow;

/**
 * The rare operations on single items.
 */
final class ItemStatements {

	/** The number of sequences in one statement. */
	private static final int CHUNK = 200;

	private final Templates templates;

	private final Sql insert;

	private final Sql delete;

	private final Sql ofTurn;

	ItemStatements(Templates templates) {
		this.templates = templates;
		this.insert = templates.sql("insert into {item} (" + AppendPhrases.ITEM_COLUMNS + """
				) values (:pk, :turn, :seq, :role, :at, :tokens, :body)
				""");
		this.delete = templates.sql("""
				delete from {item} where session_pk = :pk and turn_no = :turn and seq = :seq
				""");
		this.ofTurn = templates.sql("select " + Columns.ITEM + """
				 from {session} s join {item} i on i.session_pk = s.pk and i.turn_no = :turn
				where s.key_hash = :key and {live} order by i.seq
				""");
	}

	/**
	 * The place of an item, and its share of the totals.
	 */
	record Place(long turn, long sequence, int tokens) {
	}

	void insert(Connection connection, long pk, long number, long first, EncodedCommit.EncodedTurn turn)
			throws SQLException {
		List<Params> items = new ArrayList<>();
		for (int i = 0; i < turn.items().size(); i++) {
			items.add(AppendPhrases.item(turn.items().get(i), turn.bodies().get(i))
				.with("pk", pk)
				.with("turn", number)
				.with("seq", first + i));
		}
		this.insert.updateAll(connection, items);
	}

	List<ItemRow> ofTurn(Connection connection, String key, long turn) throws SQLException {
		return this.ofTurn.all(connection, Params.of("key", key).with("turn", turn), (row) -> Columns.item(row, 1, 5));
	}

	/**
	 * Deletes items.
	 * @return those that were found
	 */
	List<Place> delete(Connection connection, long pk, Set<Long> sequences) throws SQLException {
		List<Place> places = new ArrayList<>();
		List<Long> all = sequences.stream().sorted().toList();
		for (int from = 0; from < all.size(); from += CHUNK) {
			places.addAll(find(connection, pk, all.subList(from, Math.min(all.size(), from + CHUNK))));
		}
		this.delete.updateAll(connection,
				places.stream()
					.map((place) -> Params.of("pk", pk).with("turn", place.turn()).with("seq", place.sequence()))
					.toList());
		return places;
	}

	// The newest first, and no further than there are items to find: removing the last
	// message of a long session reads one entry of the index.
	private List<Place> find(Connection connection, long pk, List<Long> sequences) throws SQLException {
		Params params = Params.of("pk", pk).with("limit", (long) sequences.size());
		List<String> names = new ArrayList<>();
		for (long sequence : sequences) {
			String name = "seq" + letters(names.size());
			params.with(name, sequence);
			names.add(":" + name);
		}
		Sql sql = this.templates.sql("select turn_no, seq, tokens from {item} where session_pk = :pk and seq in ("
				+ String.join(", ", names) + ") order by turn_no desc, seq desc {limit}");
		return sql.all(connection, params, (row) -> new Place(row.getLong(1), row.getLong(2), row.getInt(3)));
	}

	private static String letters(int number) {
		return "" + (char) ('A' + number / 26) + (char) ('a' + number % 26);
	}

}
