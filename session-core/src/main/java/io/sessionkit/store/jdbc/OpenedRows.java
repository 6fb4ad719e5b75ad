package io.sessionkit.store.jdbc;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What the database returned for a session that is opened.
 *
 * @param header its row
 * @param checkpoint the summary; null where there is none
 * @param items the items of the window, oldest first
 */
record OpenedRows(HeaderRow header, @Nullable RecordRow checkpoint, List<ItemRow> items) {
}
