package io.sessionkit.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Reads the items of a path, run by run.
 */
public final class PathItems {

	/** The start of a run, its parent, and its newest turns. */
	private static final String RUN = """
			select 0 as kind, t.run_lo, t.run_parent, null, null, {noText}
			from {turn} t where t.session_pk = :pk and t.turn_no = :hi
			union all
			select 2, {turnItems} from (
				select {turnItems}
				from {turn} h join {turn} t on t.session_pk = h.session_pk and t.items > 0
					and t.turn_no >= case when h.run_lo > :lo then h.run_lo else :lo end and t.turn_no <= :hi
				where h.session_pk = :pk and h.turn_no = :hi and t.turn_no <= :upTo and t.first_item < :before
				order by t.turn_no desc {limit}) t
			order by 1, 2 desc
			""";

	/** The items of some turns that have rows of their own. */
	private static final String APART = """
			select i.seq, i.turn_no, i.recorded_at, i.tokens, i.body from {item} i
			where i.session_pk = :pk and i.turn_no >= :lo and i.turn_no <= :hi
			""";

	private final Sql run;

	private final Sql apart;

	public PathItems(Templates templates) {
		this.run = templates.sql(RUN);
		this.apart = templates.sql(APART);
	}

	/**
	 * Walks the rest of a path, and reads the items in rows of their own.
	 */
	public void walk(Connection connection, RunWalk walk) throws SQLException {
		while (walk.hasNext()) {
			RunCollector run = new RunCollector();
			this.run.each(connection, walk.params(), run);
			run.finish(walk);
		}
		Optional<Params> apart = walk.apart();
		if (apart.isPresent()) {
			this.apart.each(connection, apart.get(), (row) -> walk.readApart(Columns.item(row, 1, 5)));
		}
	}

}
