package io.sessionkit.store;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A part of the records of one kind in the sessions of all owners.
 *
 * @param records the records
 * @param next the place from which the records continue, a text that only its store
 * understands; null if there were no more
 */
public record RecordPage(List<SessionRecord> records, @Nullable String next) {

	public RecordPage {
		records = List.copyOf(records);
	}

}
