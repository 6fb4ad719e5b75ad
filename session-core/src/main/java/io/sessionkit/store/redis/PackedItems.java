package io.sessionkit.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.sessionkit.internal.row.ItemRow;

/**
 * Splits the items of turns: sequence, time, tokens and size in digits, a line feed, then
 * the encoded message in as many bytes as the size says.
 */
final class PackedItems {

	private final byte[] packed;

	private final long turn;

	private int at;

	private PackedItems(long turn, byte[] packed) {
		this.turn = turn;
		this.packed = packed;
	}

	/**
	 * Returns the items of a list of pairs, each a turn and its items, oldest first.
	 */
	static List<ItemRow> of(Reply pairs) {
		List<ItemRow> items = new ArrayList<>();
		for (int i = 0; i < pairs.size(); i += 2) {
			long turn = pairs.number(i);
			try {
				new PackedItems(turn, pairs.bytes(i + 1)).addTo(items);
			}
			catch (IndexOutOfBoundsException ex) {
				throw pairs.unreadableItems(turn);
			}
		}
		items.sort(Comparator.comparingLong(ItemRow::sequence));
		return items;
	}

	private void addTo(List<ItemRow> items) {
		while (this.at < this.packed.length) {
			long sequence = number();
			long recordedAt = number();
			int tokens = (int) number();
			int size = (int) number();
			items.add(new ItemRow(sequence, this.turn, recordedAt, tokens,
					new String(this.packed, this.at, size, StandardCharsets.UTF_8)));
			this.at += size;
		}
	}

	/** Reads a number and the one character behind it. */
	private long number() {
		boolean negative = this.packed[this.at] == '-';
		long number = 0;
		for (this.at += negative ? 1 : 0; this.packed[this.at] >= '0'; this.at++) {
			number = 10 * number + this.packed[this.at] - '0';
		}
		this.at++;
		return negative ? -number : number;
	}

}
