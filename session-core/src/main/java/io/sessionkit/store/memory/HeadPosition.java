package io.sessionkit.store.memory;

import io.sessionkit.store.HeaderChange;
import org.jspecify.annotations.Nullable;

/**
 * The attributes and the summary that belong to a head: a move to a turn restores those
 * that were in force when that turn was the head.
 *
 * @param state the attributes
 * @param checkpoint the last turn that the summary covers; 0 for no summary
 * @param checkpointId the id of the record that holds the summary; null for none
 */
record HeadPosition(StoredState state, long checkpoint, @Nullable String checkpointId) {

	/** The position before the first turn. */
	static final HeadPosition BEGINNING = new HeadPosition(StoredState.EMPTY, 0, null);

	HeadPosition with(@Nullable StoredState newState, HeaderChange.@Nullable Checkpoint newCheckpoint) {
		StoredState state = (newState != null) ? newState : this.state;
		if (newCheckpoint == null) {
			return new HeadPosition(state, this.checkpoint, this.checkpointId);
		}
		return new HeadPosition(state, newCheckpoint.turn(), (newCheckpoint.turn() > 0) ? newCheckpoint.id() : null);
	}

}
