package io.sessionkit.store;

import java.time.Duration;
import java.util.Map;
import java.util.Set;

import io.sessionkit.internal.Names;
import org.jspecify.annotations.Nullable;

/**
 * New values for fields of the header; null leaves a field as it is.
 *
 * @param title the title; an empty one takes it away
 * @param tags all tags
 * @param timeToLive how long the session lives after each write from now on;
 * {@link Duration#ZERO} for good
 * @param state all attributes, as of the new head
 * @param head the turn to move to; totals, checkpoint and state become those of that turn
 * @param checkpoint the summary to start the view with
 */
public record HeaderChange(@Nullable String title, @Nullable Set<String> tags, @Nullable Duration timeToLive,
		@Nullable Map<String, Object> state, @Nullable Head head, @Nullable Checkpoint checkpoint) {

	/** Leaves all as it is. */
	public static final HeaderChange NONE = new HeaderChange(null, null, null, null, null, null);

	public HeaderChange {
		timeToLive = Lives.kept(timeToLive);
		tags = (tags != null) ? Set.copyOf(tags) : null;
		state = (state != null) ? Map.copyOf(state) : null;
	}

	/**
	 * Where the head is to be.
	 *
	 * @param branch the name of the branch that is active from now on
	 * @param turn the number of a completed turn; 0 for the beginning
	 */
	public record Head(String branch, long turn) {

		public Head {
			String flaw = Names.flaw(branch);
			if (flaw != null) {
				throw new IllegalArgumentException("The name of a branch " + flaw + ".");
			}
		}

	}

	/**
	 * Where the view is to start.
	 *
	 * @param turn the last turn that the summary covers, on the path of the head; 0 takes
	 * the checkpoint away
	 * @param id the record of kind {@link SessionStore#CHECKPOINT} that holds the summary
	 */
	public record Checkpoint(long turn, String id) {
	}

	/**
	 * This change with a title.
	 * @param title the title; an empty one takes it away
	 * @return a copy with it
	 */
	public HeaderChange title(String title) {
		return new HeaderChange(title, this.tags, this.timeToLive, this.state, this.head, this.checkpoint);
	}

	/**
	 * This change with tags.
	 * @param tags all tags
	 * @return a copy with them
	 */
	public HeaderChange tags(Set<String> tags) {
		return new HeaderChange(this.title, tags, this.timeToLive, this.state, this.head, this.checkpoint);
	}

	/**
	 * This change with a time to live.
	 * @param timeToLive how long the session lives after each write;
	 * {@link Duration#ZERO} for good
	 * @return a copy with it
	 */
	public HeaderChange timeToLive(Duration timeToLive) {
		return new HeaderChange(this.title, this.tags, timeToLive, this.state, this.head, this.checkpoint);
	}

	/**
	 * This change with a state.
	 * @param state all attributes
	 * @return a copy with it
	 */
	public HeaderChange state(Map<String, Object> state) {
		return new HeaderChange(this.title, this.tags, this.timeToLive, state, this.head, this.checkpoint);
	}

	/**
	 * This change with a move of the head.
	 * @param branch the name of the branch that is active from now on
	 * @param turn the number of a completed turn; 0 for the beginning
	 * @return a copy with it
	 */
	public HeaderChange head(String branch, long turn) {
		return new HeaderChange(this.title, this.tags, this.timeToLive, this.state, new Head(branch, turn),
				this.checkpoint);
	}

	/**
	 * This change with a checkpoint.
	 * @param turn the last turn that the summary covers
	 * @param id the record that holds the summary
	 * @return a copy with it
	 */
	public HeaderChange checkpoint(long turn, String id) {
		return new HeaderChange(this.title, this.tags, this.timeToLive, this.state, this.head,
				new Checkpoint(turn, id));
	}

}
