package io.sessionkit.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

import io.sessionkit.TurnStatus;
import io.sessionkit.ViewTotals;
import io.sessionkit.store.row.HeaderRow;
import io.sessionkit.store.row.RecordRow;
import io.sessionkit.store.row.TurnRow;
import org.jspecify.annotations.Nullable;

/**
 * What a script returned: a list of numbers, texts and further lists. Where the scripts
 * have an empty text there is none.
 *
 * @param values the list
 */
record Reply(List<?> values) {

	boolean isEmpty() {
		return this.values.isEmpty();
	}

	int size() {
		return this.values.size();
	}

	byte[] bytes(int index) {
		return (byte[]) Objects.requireNonNull(this.values.get(index));
	}

	@Nullable String text(int index) {
		Object value = this.values.get(index);
		return (value instanceof byte[] bytes && bytes.length > 0) ? new String(bytes, StandardCharsets.UTF_8) : null;
	}

	String requiredText(int index) {
		return Objects.requireNonNullElse(text(index), "");
	}

	@Nullable Long numberOrNull(int index) {
		if (this.values.get(index) instanceof Long number) {
			return number;
		}
		String digits = text(index);
		return (digits != null) ? Long.valueOf(digits) : null;
	}

	long number(int index) {
		return Objects.requireNonNullElse(numberOrNull(index), 0L);
	}

	Reply list(int index) {
		return new Reply((List<?>) Objects.requireNonNull(this.values.get(index)));
	}

	List<Reply> lists() {
		return this.values.stream().map((value) -> new Reply((List<?>) Objects.requireNonNull(value))).toList();
	}

	/** The fields of a header, in the order of <code>session.lua</code>. */
	HeaderRow header() {
		HeaderRow.Path path = new HeaderRow.Path(number(3), number(4), number(5), number(7), text(17));
		ViewTotals totals = new ViewTotals(number(8), number(9), number(10));
		HeaderRow.Life life = new HeaderRow.Life(numberOrNull(14), number(11), number(12), numberOrNull(15));
		return new HeaderRow(0, requiredText(21), number(0), number(1), number(2), path, number(6), totals, life,
				requiredText(16), text(18), text(19), text(20));
	}

	/** A record, from a place of this list on. */
	RecordRow record(int from) {
		return new RecordRow(number(from), number(from + 1), numberOrNull(from + 2), requiredText(from + 3));
	}

	/** A turn with its number in front. */
	TurnRow turn() {
		HeaderRow.Path path = new HeaderRow.Path(number(0), number(2), number(3), number(4), text(5));
		return new TurnRow(requiredText(18), number(1), path, requiredText(6), TurnStatus.valueOf(requiredText(7)),
				(int) number(9), (int) number(10), (int) number(11), number(13), numberOrNull(14), text(15), text(16),
				requiredText(17));
	}

}
