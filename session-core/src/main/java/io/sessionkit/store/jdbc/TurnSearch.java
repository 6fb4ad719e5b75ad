package io.sessionkit.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.sessionkit.internal.sql.Params;
import io.sessionkit.internal.sql.Sql;
import io.sessionkit.internal.sql.Templates;

/**
 * Finds the turn of an item by its sequence. Of two turns of a session the one with the
 * greater number never begins with a smaller sequence, and no number is missing, so some
 * turns show between which of them the search continues.
 */
final class TurnSearch {

	/** The number of turns to look at together: three times for a million turns. */
	private static final int TOGETHER = 100;

	private final Sql looks;

	TurnSearch(Templates templates) {
		String numbers = IntStream.range(0, TOGETHER)
			.mapToObj((i) -> ":turn" + MultiRow.letters(i))
			.collect(Collectors.joining(", "));
		this.looks = templates
			.sql("select turn_no, first_item from {turn} where session_pk = :pk and turn_no in (" + numbers + ")");
	}

	/**
	 * Returns the newest turn that begins before a sequence.
	 * @param turns the newest turn of the session
	 * @return its number; 0 if there is none
	 */
	long newestBefore(Connection connection, long pk, long turns, long sequence) throws SQLException {
		Between between = new Between(turns);
		while (between.isOpen()) {
			between.found = false;
			this.looks.each(connection, between.params(pk),
					(row) -> between.look(row.getLong(1), row.getLong(2) < sequence));
		}
		return between.low;
	}

	/** Two turns. The requested one is the lower of them or lies between them. */
	private static final class Between {

		private long low;

		private long high;

		/** A session that has just been erased has no turns. */
		private boolean found = true;

		Between(long turns) {
			this.high = turns + 1;
		}

		boolean isOpen() {
			return this.found && this.high - this.low > 1;
		}

		Params params(long pk) {
			Params params = Params.of("pk", pk);
			for (int i = 0; i < TOGETHER; i++) {
				long turn = this.low + 1 + (this.high - this.low - 2) * i / (TOGETHER - 1);
				params.with("turn" + MultiRow.letters(i), turn);
			}
			return params;
		}

		void look(long turn, boolean before) {
			this.found = true;
			this.low = before ? Math.max(this.low, turn) : this.low;
			this.high = before ? this.high : Math.min(this.high, turn);
		}

	}

}
