package io.sessionkit.store.jdbc;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.internal.row.EncodedCommit;
import io.sessionkit.internal.row.Micros;
import io.sessionkit.store.NewItem;

/**
 * The items of a turn as rows of one insert, for databases to which a batch is as many
 * round trips as it has rows.
 */
final class MultiRow {

	private MultiRow() {
	}

	/**
	 * The rows, to stand after <code>values</code>.
	 * @param count how many
	 * @param session the expression for the session
	 * @param turn the expression for the turn
	 * @param first the expression for the sequence of the first one
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

	/** The items as the parameters of these rows. */
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

	/** Names of parameters have letters only. */
	private static String letters(int number) {
		StringBuilder letters = new StringBuilder();
		for (int rest = number; rest > 0 || letters.isEmpty(); rest /= 26) {
			letters.append((char) ('A' + rest % 26));
		}
		return letters.toString();
	}

}
