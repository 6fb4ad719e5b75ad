package io.sessionkit.store.memory;

import io.sessionkit.store.HeaderChange;
import org.jspecify.annotations.Nullable;

/**
 * The attributes and the summary in force at a place in the tree of turns.
 *
 * @param attributes the attributes
 * @param summary the last turn that the summary covers; 0 for no summary
 * @param summaryId the id of the record that holds the summary; null for none
 */
record HeadPosition(StoredAttributes attributes, long summary, @Nullable String summaryId) {

	/** The position before the first turn. */
	static final HeadPosition BEGINNING = new HeadPosition(StoredAttributes.EMPTY, 0, null);

	HeadPosition with(@Nullable StoredAttributes newAttributes, HeaderChange.@Nullable Summary newSummary) {
		StoredAttributes attributes = (newAttributes != null) ? newAttributes : this.attributes;
		if (newSummary == null) {
			return new HeadPosition(attributes, this.summary, this.summaryId);
		}
		return new HeadPosition(attributes, newSummary.turn(), (newSummary.turn() > 0) ? newSummary.id() : null);
	}

}
