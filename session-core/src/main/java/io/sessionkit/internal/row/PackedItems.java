package io.sessionkit.internal.row;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.codec.UnreadablePayloadException;
import org.jspecify.annotations.Nullable;

/**
 * The items in the row of a turn, as one text: of each item its place after the first
 * one, its time, its tokens, the length of its text, a line feed, and the text.
 */
public final class PackedItems {

	private final StringBuilder packed = new StringBuilder();

	/**
	 * Adds an item.
	 * @param place its sequence after the first item of the turn
	 */
	public PackedItems add(long place, long at, int tokens, String body) {
		this.packed.append(place)
			.append(' ')
			.append(at)
			.append(' ')
			.append(tokens)
			.append(' ')
			.append(body.length())
			.append('\n')
			.append(body);
		return this;
	}

	/**
	 * Returns the text.
	 * @return the text; null without items, since an empty text is null in Oracle
	 */
	public @Nullable String text() {
		return this.packed.isEmpty() ? null : this.packed.toString();
	}

	/**
	 * Returns the items of a text.
	 * @param turn their turn
	 * @param first the sequence of the first item of the turn
	 * @param text the text; null for no items
	 */
	public static List<ItemRow> read(long turn, long first, @Nullable String text) {
		List<ItemRow> items = new ArrayList<>();
		if (text != null) {
			Reader reader = new Reader(text);
			while (reader.hasNext()) {
				items.add(reader.next(turn, first));
			}
		}
		return items;
	}

	/** Reads a text from its beginning. */
	private static final class Reader {

		private final String text;

		private int at;

		Reader(String text) {
			this.text = text;
		}

		boolean hasNext() {
			return this.at < this.text.length();
		}

		ItemRow next(long turn, long first) {
			int start = this.at;
			try {
				long place = number(' ');
				long time = number(' ');
				int tokens = Math.toIntExact(number(' '));
				return new ItemRow(first + place, turn, time, tokens, text(Math.toIntExact(number('\n'))));
			}
			catch (IndexOutOfBoundsException | ArithmeticException | NumberFormatException ex) {
				throw new UnreadablePayloadException("the items of turn " + turn
						+ " are not as they were written, from character " + start + " of their text", null);
			}
		}

		private long number(char end) {
			int stop = this.text.indexOf(end, this.at);
			long number = Long.parseLong(this.text, this.at, stop, 10);
			this.at = stop + 1;
			return number;
		}

		private String text(int length) {
			String text = this.text.substring(this.at, this.at + length);
			this.at += length;
			return text;
		}

	}

}
