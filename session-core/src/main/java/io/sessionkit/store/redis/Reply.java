package io.sessionkit.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.sessionkit.TurnStatus;
import io.sessionkit.UnreadablePayloadException;
import io.sessionkit.ViewTotals;
import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.RecordRow;
import io.sessionkit.internal.row.TurnRow;
import org.jspecify.annotations.Nullable;

/**
 * The result of a script: a list of numbers, texts and further lists. An empty text of a
 * script stands for a missing one. A value that is not of the expected kind was stored
 * like that: the answer itself was checked before.
 *
 * @param values the list
 * @param about the subject of the reply, for messages
 */
record Reply(List<?> values, String about) {

	/**
	 * Returns a copy of this reply that names its session in messages.
	 * @param session the session
	 */
	Reply about(Object session) {
		return new Reply(this.values, "session " + session);
	}

	boolean isEmpty() {
		return this.values.isEmpty();
	}

	int size() {
		return this.values.size();
	}

	byte[] bytes(int index) {
		return (value(index) instanceof byte[] bytes) ? bytes : fail(index, "text");
	}

	@Nullable String text(int index) {
		return (value(index) instanceof byte[] bytes && bytes.length > 0) ? new String(bytes, StandardCharsets.UTF_8)
				: null;
	}

	String requiredText(int index) {
		String text = text(index);
		return (text != null) ? text : "";
	}

	@Nullable Long numberOrNull(int index) {
		if (value(index) instanceof Long number) {
			return number;
		}
		String digits = text(index);
		try {
			return (digits != null) ? Long.valueOf(digits) : null;
		}
		catch (NumberFormatException ex) {
			return fail(index, "number");
		}
	}

	long number(int index) {
		Long number = numberOrNull(index);
		return (number != null) ? number : 0;
	}

	Reply list(int index) {
		return (value(index) instanceof List<?> list) ? new Reply(list, this.about) : fail(index, "list");
	}

	List<Reply> lists() {
		return this.values.stream()
			.map((value) -> (value instanceof List<?> list) ? new Reply(list, this.about)
					: Reply.<Reply>fail(this.about, "A value is not a list"))
			.toList();
	}

	List<String> texts() {
		List<String> texts = new ArrayList<>();
		for (int i = 0; i < size(); i++) {
			texts.add(requiredText(i));
		}
		return texts;
	}

	/**
	 * Returns a header from its fields, which are in the order of
	 * <code>session.lua</code>.
	 */
	HeaderRow header() {
		HeaderRow.Path path = new HeaderRow.Path(number(3), number(4), number(5), number(7), text(17));
		ViewTotals totals = new ViewTotals(number(8), number(9), number(10));
		HeaderRow.Life life = new HeaderRow.Life(numberOrNull(14), number(11), number(12), numberOrNull(15));
		return new HeaderRow(0, requiredText(21), number(0), number(1), number(2), path, number(6), totals, life,
				requiredText(16), text(18), text(19), text(20), 0);
	}

	/** Returns the record that starts at a place of this list. */
	RecordRow record(int from) {
		return new RecordRow(number(from), number(from + 1), numberOrNull(from + 2), requiredText(from + 3));
	}

	/** Returns the turn in this list, whose first value is the number of the turn. */
	TurnRow turn() {
		HeaderRow.Path path = new HeaderRow.Path(number(0), number(2), number(3), number(4), text(5));
		return new TurnRow(requiredText(18), number(1), path, requiredText(6), status(7), (int) number(9),
				(int) number(10), (int) number(11), number(13), numberOrNull(14), text(15), text(16), requiredText(17));
	}

	private TurnStatus status(int index) {
		try {
			return TurnStatus.valueOf(requiredText(index));
		}
		catch (IllegalArgumentException ex) {
			return fail(index, "status");
		}
	}

	private @Nullable Object value(int index) {
		return (index < this.values.size()) ? this.values.get(index) : fail(index, "value");
	}

	private <T> T fail(int index, String expected) {
		return fail(this.about, "Value " + index + " is not a " + expected);
	}

	private static <T> T fail(String about, String fault) {
		throw new UnreadablePayloadException("What Redis keeps of " + about + " cannot be read: " + fault
				+ ". Something else has written to its keys.", null);
	}

	/**
	 * Returns the exception for items of a turn that are not packed as they should be.
	 */
	UnreadablePayloadException unreadableItems(long turn) {
		return new UnreadablePayloadException(
				"What Redis keeps of " + this.about + " cannot be read: the items of turn " + turn
						+ " are not packed as they should be. Something else has written to its keys.",
				null);
	}

}
