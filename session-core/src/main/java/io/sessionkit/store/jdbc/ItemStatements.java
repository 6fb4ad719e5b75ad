package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;

import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.NewItems;
import io.sessionkit.internal.row.PackedItems;
import io.sessionkit.internal.sql.ItemCollector;
import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.Sql;
import io.sessionkit.internal.sql.Templates;
import io.sessionkit.internal.sql.TurnItems;

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

	private final Sql inRow;

	private final Sql repack;

	private final TurnSearch search;

	ItemStatements(Templates templates) {
		this.templates = templates;
		this.insert = templates.sql("insert into {item} (" + AppendPhrases.ITEM_COLUMNS + """
				) values (:pk, :turn, :seq, :at, :tokens, :body)
				""");
		this.delete = templates.sql("""
				delete from {item} where session_pk = :pk and turn_no = :turn and seq = :seq
				""");
		this.ofTurn = templates.sql("""
				select 2 as kind, {turnItems} from {turn} t where t.session_pk = {pk} and t.turn_no = :turn
				union all
				select 3, i.seq, i.turn_no, i.recorded_at, i.tokens, i.body
				from {item} i where i.session_pk = {pk} and i.turn_no = :turn
				""");
		this.inRow = templates.sql("select {turnItems} from {turn} t where t.session_pk = :pk and t.turn_no = :turn");
		this.repack = templates.sql("update {turn} set body = :packed where session_pk = :pk and turn_no = :turn");
		this.search = new TurnSearch(templates);
	}

	/**
	 * The place of an item, and its share of the totals.
	 */
	record Place(long turn, long sequence, int tokens) {
	}

	/**
	 * Adds the items of a commit that have rows of their own.
	 * @param first the sequence of the first item of the commit
	 */
	void insert(Connection connection, long pk, long number, long first, List<NewItems.Apart> items)
			throws SQLException {
		this.insert.updateAll(connection,
				items.stream()
					.map((item) -> AppendPhrases.item(item)
						.with("pk", pk)
						.with("turn", number)
						.with("seq", first + item.place()))
					.toList());
	}

	List<ItemRow> ofTurn(Connection connection, String key, long turn) throws SQLException {
		ItemCollector items = new ItemCollector();
		this.ofTurn.each(connection, Params.of("key", key).with("turn", turn), items);
		return items.newest(Integer.MAX_VALUE);
	}

	/**
	 * Deletes items.
	 * @param turns the newest turn of the session
	 * @return those that were found
	 */
	List<Place> delete(Connection connection, long pk, long turns, Set<Long> sequences) throws SQLException {
		NavigableSet<Long> left = new TreeSet<>(sequences);
		List<Place> places = deleteInRows(connection, pk, turns, left);
		places.addAll(deleteApart(connection, pk, left));
		return places;
	}

	/**
	 * Deletes the items that are in the row of their turn, turn by turn, and removes them
	 * from the set.
	 */
	private List<Place> deleteInRows(Connection connection, long pk, long turns, NavigableSet<Long> sequences)
			throws SQLException {
		List<Place> places = new ArrayList<>();
		NavigableSet<Long> left = new TreeSet<>(sequences);
		while (!left.isEmpty()) {
			long turn = this.search.newestBefore(connection, pk, turns, left.last() + 1);
			TurnItems items = this.inRow.first(connection, Params.of("pk", pk).with("turn", turn),
					(row) -> TurnItems.read(row, 1, 5));
			if (items == null) {
				return places;
			}
			places.addAll(deleteInRow(connection, pk, items, sequences));
			left = left.headSet(items.first(), false);
		}
		return places;
	}

	private List<Place> deleteInRow(Connection connection, long pk, TurnItems turn, Set<Long> sequences)
			throws SQLException {
		List<Place> gone = new ArrayList<>();
		PackedItems rest = new PackedItems();
		for (ItemRow item : turn.inRow()) {
			if (sequences.remove(item.sequence())) {
				gone.add(new Place(item.turn(), item.sequence(), item.tokens()));
			}
			else {
				rest.add(item.sequence() - turn.first(), item.at(), item.tokens(), item.body());
			}
		}
		if (!gone.isEmpty()) {
			this.repack.update(connection, Params.of("pk", pk).with("turn", turn.turn()).text("packed", rest.text()));
		}
		return gone;
	}

	private List<Place> deleteApart(Connection connection, long pk, Set<Long> sequences) throws SQLException {
		List<Place> places = new ArrayList<>();
		List<Long> all = List.copyOf(sequences);
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
			String name = "seq" + MultiRow.letters(names.size());
			params.with(name, sequence);
			names.add(":" + name);
		}
		Sql sql = this.templates.sql("select turn_no, seq, tokens from {item} where session_pk = :pk and seq in ("
				+ String.join(", ", names) + ") order by turn_no desc, seq desc {limit}");
		return sql.all(connection, params, (row) -> new Place(row.getLong(1), row.getLong(2), row.getInt(3)));
	}

}
