package io.sessionkit.internal.row;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The rows that the server returned for a session that is opened.
 *
 * @param header its row
 * @param summary the summary; null if there is none
 * @param items the items of the window, oldest first
 * @param unchanged whether the view is the one that the reader knows; summary and items
 * are then left out
 */
public record OpenedRows(HeaderRow header, @Nullable RecordRow summary, List<ItemRow> items, boolean unchanged) {
}
