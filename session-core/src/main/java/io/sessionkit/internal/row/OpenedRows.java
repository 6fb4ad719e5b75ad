package io.sessionkit.internal.row;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The rows that the server returned for a session that is opened.
 *
 * @param header its row
 * @param summary the summary; null if there is none, or if it was left out
 * @param items the items of the window, or of the turns that were added; oldest first
 * @param extent how much of the view this is
 */
public record OpenedRows(HeaderRow header, @Nullable RecordRow summary, List<ItemRow> items, Extent extent) {

	/** The part of a view that was returned to a reader who may know it. */
	public enum Extent {

		/** All of it. */
		WHOLE,

		/** The turns that were appended to the view that the reader knows. */
		ADDED,

		/** Nothing, because the reader knows it. */
		NOTHING

	}

	public static OpenedRows whole(HeaderRow header, @Nullable RecordRow summary, List<ItemRow> items) {
		return new OpenedRows(header, summary, items, Extent.WHOLE);
	}

	public static OpenedRows added(HeaderRow header, List<ItemRow> items) {
		return new OpenedRows(header, null, items, Extent.ADDED);
	}

	public static OpenedRows unchanged(HeaderRow header) {
		return new OpenedRows(header, null, List.of(), Extent.NOTHING);
	}

}
