package io.sessionkit.store.redis;

import java.util.List;

import io.sessionkit.TurnStatus;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.TurnRow;
import io.sessionkit.store.redis.PackedHeader.TurnPath;

/**
 * A turn as it is stored, which <code>session.lua</code> describes.
 *
 * @param number its number
 * @param text all there is of it, up to its items
 * @param items its items
 */
record PackedTurn(long number, PackedText text, PackedText items) {

	/** From whether it is open to the first item of the answer. */
	private static final int NUMBERS_BEFORE_SIZES = 10;

	/** Branch, id, id of the write, origin, outcome. */
	private static final int TEXTS_BEFORE_ITEMS = 5;

	/**
	 * Reads where a turn ends. Its items may have been left out at the end of the text.
	 * @param number its number
	 * @param packed begins with the turn; afterwards it is behind it
	 */
	static PackedTurn read(long number, PackedText packed) {
		PackedText start = packed.copy();
		packed.number();
		packed.number();
		packed.skip(packed.size());
		packed.skipWord();
		for (int i = 0; i < NUMBERS_BEFORE_SIZES; i++) {
			packed.skipWord();
		}
		int texts = 0;
		for (int i = 0; i < TEXTS_BEFORE_ITEMS; i++) {
			texts += packed.size();
		}
		int items = (int) packed.number();
		packed.skip(texts);
		return new PackedTurn(number, start, packed.piece(packed.isAtEnd() ? 0 : items));
	}

	TurnRow row() {
		PackedText packed = this.text.copy();
		TurnPath path = TurnPath.read(packed);
		TurnStatus status = TurnRow.status(packed.word());
		packed.number();
		int parts = (int) packed.number();
		int items = (int) packed.number();
		int tokens = (int) packed.number();
		long parent = this.number - packed.number();
		packed.number();
		long started = packed.number();
		Long ended = packed.numberOrNull();
		packed.number();
		packed.number();
		int branchSize = packed.size();
		int idSize = packed.size();
		int writeSize = packed.size();
		int originSize = packed.size();
		int outcomeSize = packed.size();
		packed.number();
		String branch = packed.text(branchSize);
		String id = packed.text(idSize);
		packed.skip(writeSize);
		String origin = packed.textOrNull(originSize);
		return new TurnRow(id, parent, path.to(this.number), branch, status, parts, items, tokens, started, ended,
				path.attributes(), origin, packed.text(outcomeSize));
	}

	/** Adds its items to a list, which it returns. */
	List<ItemRow> addItemsTo(List<ItemRow> rows) {
		PackedText packed = this.items.copy();
		while (!packed.isAtEnd()) {
			long sequence = packed.number();
			long at = packed.number();
			int tokens = (int) packed.number();
			rows.add(new ItemRow(sequence, this.number, at, tokens, packed.text(packed.size())));
		}
		return rows;
	}

}
