package io.sessionkit.store.jdbc;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.Micros;
import io.sessionkit.store.NewItem;

/**
 * Renders the items of a turn as rows of one insert, for databases to which a batch takes
 * as many round trips as it has rows.
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
			rows.add("(" + session + ", " + turn + ", " + first + " + " + i + ", :role" + n + ", :at" + n + ", :tokens"
					+ n + ", :body" + n + ")");
		}
		return String.join(",\n\t", rows);
	}

	/** Returns the items as the parameters of these rows. */
	static Params params(EncodedCommit.EncodedTurn turn) {
		Params params = new Params();
		for (int i = 0; i < turn.items().size(); i++) {
			NewItem item = turn.items().get(i);
			String n = letters(i);
			params.with("role" + n, AppendPhrases.role(item))
				.with("at" + n, Micros.of(item.at()))
				.with("tokens" + n, item.tokens())
				.text("body" + n, turn.bodies().get(i));
		}
		return params;
	}

	/** Returns a number in letters, because names of parameters have letters only. */
	private static String letters(int number) {
		StringBuilder letters = new StringBuilder();
		for (int rest = number; rest > 0 || letters.isEmpty(); rest /= 26) {
			letters.append((char) ('A' + rest % 26));
		}
		return letters.toString();
	}

}
