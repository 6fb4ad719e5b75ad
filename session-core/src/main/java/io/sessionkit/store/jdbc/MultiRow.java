package io.sessionkit.store.jdbc;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.internal.row.NewItems;
import io.sessionkit.internal.sql.Params;

/**
 * Renders items as rows of one insert, for databases to which a batch takes as many round
 * trips as it has rows.
 */
final class MultiRow {

	private MultiRow() {
	}

	/**
	 * Returns the rows to write after <code>values</code>.
	 * @param count the number of rows
	 * @param session the expression for the session
	 * @param turn the expression for the turn
	 * @param first the expression for the sequence of the first item
	 */
	static String values(int count, String session, String turn, String first) {
		List<String> rows = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			String n = letters(i);
			rows.add("(" + session + ", " + turn + ", " + first + " + :place" + n + ", :at" + n + ", :tokens" + n
					+ ", :body" + n + ")");
		}
		return String.join(",\n\t", rows);
	}

	/** Returns the items as the parameters of these rows. */
	static Params params(List<NewItems.Apart> items) {
		Params params = new Params();
		for (int i = 0; i < items.size(); i++) {
			String n = letters(i);
			NewItems.Apart item = items.get(i);
			params.with("place" + n, item.place())
				.with("at" + n, item.at())
				.with("tokens" + n, item.tokens())
				.text("body" + n, item.body());
		}
		return params;
	}

	/** Returns a number in letters, because names of parameters have letters only. */
	static String letters(int number) {
		StringBuilder letters = new StringBuilder();
		for (int rest = number; rest > 0 || letters.isEmpty(); rest /= 26) {
			letters.append((char) ('A' + rest % 26));
		}
		return letters.toString();
	}

}
