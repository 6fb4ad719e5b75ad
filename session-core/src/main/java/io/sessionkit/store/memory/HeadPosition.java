package io.sessionkit.store.memory;

import io.sessionkit.store.HeaderChange;
import org.jspecify.annotations.Nullable;

/**
 * What a head brings with it: a move to a turn restores what was in force when that turn
 * was the head.
 *
 * @param state the attributes
 * @param checkpoint the last turn that the summary covers; 0 for no summary
 * @param checkpointId the record that holds the summary; null for none
 */
record HeadPosition(StoredState state, long checkpoint, @Nullable String checkpointId) {

	/** Before the first turn. */
	static final HeadPosition BEGINNING = new HeadPosition(StoredState.EMPTY, 0, null);

	HeadPosition with(@Nullable StoredState newState, HeaderChange.@Nullable Checkpoint newCheckpoint) {
		StoredState state = (newState != null) ? newState : this.state;
		if (newCheckpoint == null) {
			return new HeadPosition(state, this.checkpoint, this.checkpointId);
		}
		return new HeadPosition(state, newCheckpoint.turn(), (newCheckpoint.turn() > 0) ? newCheckpoint.id() : null);
	}

}
