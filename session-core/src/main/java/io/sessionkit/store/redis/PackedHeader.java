package io.sessionkit.store.redis;

import java.util.HexFormat;

import io.sessionkit.ViewTotals;
import io.sessionkit.internal.row.HeaderRow;
import org.jspecify.annotations.Nullable;

/**
 * Reads headers, which are stored as <code>session.lua</code> describes it.
 */
final class PackedHeader {

	private static final int TIME = 16;

	private static final int EXPIRY = 20;

	private static final int STAMP = 16;

	/** The stamps before, which only scripts compare. */
	private static final int STAMPS_BEFORE = 3 * STAMP;

	private static final int HEXADECIMAL = 16;

	/** The times at which indexes are to be written, and three letters. */
	private static final int FOR_SCRIPTS = 2 * TIME + 3;

	private PackedHeader() {
	}

	/** Returns a stamp as it is stored. */
	static String stamp(long stamp) {
		return HexFormat.of().toHexDigits(stamp);
	}

	/** Reads a header, up to its end. */
	static HeaderRow read(PackedText text) {
		long updated = text.digits(TIME);
		long expires = text.digits(EXPIRY);
		text.skip(STAMPS_BEFORE);
		long stamp = Long.parseUnsignedLong(text.text(STAMP), HEXADECIMAL);
		String incarnation = text.word();
		long version = text.number();
		long turns = text.number();
		long items = text.number();
		long openTurn = text.number();
		long head = text.number();
		ViewTotals totals = new ViewTotals(text.number(), text.number(), text.number());
		text.skip(FOR_SCRIPTS);
		long summary = text.number();
		int summaryIdSize = text.size();
		TurnPath path = TurnPath.read(text);
		String summaryId = text.textOrNull(summaryIdSize);
		long created = text.number();
		Long timeToLive = text.numberOrNull();
		int[] sizes = { text.size(), text.size(), text.size(), text.size(), text.size(), text.size(), text.size() };
		HeaderRow.Life life = new HeaderRow.Life(timeToLive, created, updated,
				(expires != 0) ? Long.valueOf(expires) : null);
		String branch = text.text(sizes[0]);
		String title = text.textOrNull(sizes[1]);
		String tags = text.textOrNull(sizes[2]);
		String settings = text.textOrNull(sizes[3]);
		text.skip(sizes[4] + sizes[5] + sizes[6]);
		return new HeaderRow(0, incarnation, version, turns, items, path.to(head).summary(summary, summaryId), openTurn,
				totals, life, branch, title, tags, settings, path.attributes(), stamp);
	}

	/**
	 * A path and the attributes at its end.
	 */
	record TurnPath(long runLo, long runParent, @Nullable String attributes) {

		static TurnPath read(PackedText text) {
			long lo = text.number();
			long parent = text.number();
			int attributes = text.size();
			return new TurnPath(lo, parent, text.textOrNull(attributes));
		}

		HeaderRow.Path to(long end) {
			return new HeaderRow.Path(end, this.runLo, this.runParent, 0, null);
		}

	}

}
