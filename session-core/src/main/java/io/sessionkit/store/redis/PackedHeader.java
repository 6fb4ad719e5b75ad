package io.sessionkit.store.redis;

import io.sessionkit.ViewTotals;
import io.sessionkit.internal.row.HeaderRow;
import org.jspecify.annotations.Nullable;

/**
 * Reads headers, which are stored as <code>session.lua</code> describes it.
 */
final class PackedHeader {

	private static final int TIME = 16;

	private static final int EXPIRY = 20;

	/** The times at which indexes are to be written, and two letters. */
	private static final int FOR_SCRIPTS = 2 * TIME + 2;

	private PackedHeader() {
	}

	/** Returns a stamp as it is stored. */
	static String stamp(long stamp) {
		return "%016x".formatted(stamp);
	}

	static HeaderRow read(byte[] packed) {
		PackedText text = new PackedText(packed);
		long stamp = Long.parseUnsignedLong(text.text(TIME), TIME);
		long updated = text.digits(TIME);
		long expires = text.digits(EXPIRY);
		text.skip(FOR_SCRIPTS);
		String incarnation = text.word();
		long version = text.number();
		long turns = text.number();
		long items = text.number();
		long openTurn = text.number();
		long head = text.number();
		ViewTotals totals = new ViewTotals(text.number(), text.number(), text.number());
		HeadPath path = HeadPath.read(text);
		long created = text.number();
		Long timeToLive = text.numberOrNull();
		int[] sizes = { text.size(), text.size(), text.size(), text.size(), text.size(), text.size() };
		HeaderRow.Life life = new HeaderRow.Life(timeToLive, created, updated,
				(expires != 0) ? Long.valueOf(expires) : null);
		return new HeaderRow(0, incarnation, version, turns, items, path.to(head), openTurn, totals, life,
				text.text(sizes[0]), text.textOrNull(sizes[1]), text.textOrNull(sizes[2]), path.attributes(), stamp);
	}

	/**
	 * A path and the attributes at its end.
	 */
	record HeadPath(long runLo, long runParent, long summary, @Nullable String summaryId, @Nullable String attributes) {

		static HeadPath read(PackedText text) {
			long lo = text.number();
			long parent = text.number();
			long summary = text.number();
			int id = text.size();
			int attributes = text.size();
			return new HeadPath(lo, parent, summary, text.textOrNull(id), text.textOrNull(attributes));
		}

		HeaderRow.Path to(long head) {
			return new HeaderRow.Path(head, this.runLo, this.runParent, this.summary, this.summaryId);
		}

	}

}
