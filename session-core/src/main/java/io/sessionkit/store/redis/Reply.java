package io.sessionkit.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;

import io.sessionkit.SessionKey;
import io.sessionkit.ViewTotals;
import io.sessionkit.codec.UnreadablePayloadException;
import io.sessionkit.internal.row.HeaderRow;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.OpenedRows;
import io.sessionkit.internal.row.RecordRow;
import io.sessionkit.internal.row.TurnRow;
import io.sessionkit.store.SessionRecord;
import io.sessionkit.store.Window;
import org.jspecify.annotations.Nullable;

/**
 * The result of a script: a list of numbers, texts and further lists, or one
 * {@link PackedText} alone. An empty text of a script stands for a missing one. A value
 * that is not of the expected kind was stored like that: the answer itself was checked
 * before.
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

	/** Returns the header at a place of this list. */
	HeaderRow header(int index) {
		return read("its header", () -> PackedHeader.read(new PackedText(bytes(index))));
	}

	/** Returns the record that starts at a place of this list. */
	RecordRow record(int from) {
		return new RecordRow(number(from), number(from + 1), numberOrNull(from + 2), requiredText(from + 3));
	}

	/**
	 * Returns the header as if the end of a path were the head.
	 * @param header the header as it is
	 * @param index the place of that end in this list
	 */
	HeaderRow headerAt(HeaderRow header, int index) {
		Reply end = list(index);
		HeaderRow.Path path = new HeaderRow.Path(end.number(0), end.number(1), end.number(2), end.number(3),
				end.text(4));
		ViewTotals totals = new ViewTotals(end.number(5), end.number(6), end.number(7));
		return header.at(path, totals, end.text(8));
	}

	/** Returns the records of this list, by id. */
	List<SessionRecord> records(SessionKey key) {
		return lists().stream()
			.map((record) -> record.record(2).record(key, record.requiredText(0), record.requiredText(1)))
			.sorted(Comparator.comparing(SessionRecord::id))
			.toList();
	}

	/** Returns the turn at a place of this list: a number and a list of its text. */
	PackedTurn turn(int from) {
		return turn(number(from), new PackedText(list(from + 1).bytes(0)));
	}

	/**
	 * Returns the turns from a place of this list on, oldest first, which are pairs of a
	 * number and a list of texts: those of this turn and of the ones right before it.
	 */
	List<PackedTurn> turns(int from) {
		List<PackedTurn> turns = new ArrayList<>();
		for (int i = from; i < size(); i += 2) {
			long newest = number(i);
			Reply texts = list(i + 1);
			for (int k = 0; k < texts.size(); k++) {
				turns.add(turn(newest - k, new PackedText(texts.bytes(k))));
			}
		}
		Collections.reverse(turns);
		return turns;
	}

	private PackedTurn turn(long number, PackedText packed) {
		return read("turn " + number, () -> PackedTurn.read(number, packed));
	}

	/** Returns whether it is a text instead of a list. */
	boolean isText() {
		return this.values.size() == 1 && this.values.get(0) instanceof PackedText;
	}

	/**
	 * Returns what was opened, of a reply that is a text.
	 * @param window what was asked for
	 */
	OpenedRows opened(Window window) {
		PackedText text = ((PackedText) this.values.get(0)).copy();
		char kind = text.character();
		HeaderRow header = read("its header", () -> PackedHeader.read(text));
		List<PackedTurn> turns = newestTurns(text, header.turns());
		return switch (kind) {
			case '=' -> OpenedRows.unchanged(header);
			case '~' -> OpenedRows.added(header, items(turns));
			default -> {
				if (turns.size() != Math.min(header.turns(), window.turns())) {
					throw RedisErrors.turnsLost();
				}
				yield OpenedRows.whole(header, null, items(turns));
			}
		};
	}

	private List<PackedTurn> newestTurns(PackedText text, long newest) {
		List<PackedTurn> turns = new ArrayList<>();
		for (long number = newest; !text.isAtEnd(); number--) {
			turns.add(turn(number, text));
		}
		Collections.reverse(turns);
		return turns;
	}

	/** Returns the items of turns, oldest first. */
	List<ItemRow> items(List<PackedTurn> turns) {
		List<ItemRow> items = new ArrayList<>();
		for (PackedTurn turn : turns) {
			read("the items of turn " + turn.number(), () -> turn.addItemsTo(items));
		}
		items.sort(Comparator.comparingLong(ItemRow::sequence));
		return items;
	}

	/** Returns turns without their items. */
	List<TurnRow> rows(List<PackedTurn> turns) {
		return turns.stream().map((turn) -> read("turn " + turn.number(), turn::row)).toList();
	}

	private <T> T read(String what, Supplier<T> reading) {
		try {
			return reading.get();
		}
		catch (IndexOutOfBoundsException | IllegalArgumentException ex) {
			// not with its cause, whose message may have what is stored
			throw new UnreadablePayloadException("What Redis keeps of " + this.about + " cannot be read: " + what
					+ " is not packed as it should be. Something else has written to its keys.", null);
		}
		catch (UnreadablePayloadException ex) {
			throw new UnreadablePayloadException(
					"What Redis keeps of " + this.about + " cannot be read: " + ex.getMessage(), ex);
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

}
