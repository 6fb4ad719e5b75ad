package io.sessionkit.store.redis;

import java.util.List;

import io.sessionkit.TurnStatus;
import io.sessionkit.internal.row.ItemRow;
import io.sessionkit.internal.row.TurnRow;
import io.sessionkit.store.redis.PackedHeader.HeadPath;

/**
 * A turn as it is stored, which <code>session.lua</code> describes.
 *
 * @param number its number
 * @param text all there is of it
 */
record PackedTurn(long number, byte[] text) {

	/** From whether it is open to the first item of the answer. */
	private static final int NUMBERS_BEFORE_SIZES = 10;

	/** Branch, id, id of the write, origin, outcome. */
	private static final int TEXTS_BEFORE_ITEMS = 5;

	TurnRow row() {
		PackedText packed = new PackedText(this.text);
		HeadPath path = HeadPath.read(packed);
		TurnStatus status = TurnStatus.valueOf(packed.word());
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
	List<ItemRow> addItemsTo(List<ItemRow> items) {
		PackedText packed = new PackedText(this.text);
		skipToItems(packed);
		while (!packed.isAtEnd()) {
			long sequence = packed.number();
			long at = packed.number();
			int tokens = (int) packed.number();
			items.add(new ItemRow(sequence, this.number, at, tokens, packed.text(packed.size())));
		}
		return items;
	}

	private static void skipToItems(PackedText packed) {
		packed.number();
		packed.number();
		packed.number();
		int summaryAndAttributes = packed.size() + packed.size();
		packed.skip(summaryAndAttributes);
		packed.word();
		for (int i = 0; i < NUMBERS_BEFORE_SIZES; i++) {
			packed.numberOrNull();
		}
		int texts = 0;
		for (int i = 0; i < TEXTS_BEFORE_ITEMS; i++) {
			texts += packed.size();
		}
		packed.size();
		packed.skip(texts);
	}

}
