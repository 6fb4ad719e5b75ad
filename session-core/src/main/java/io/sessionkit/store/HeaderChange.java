package io.sessionkit.store;

import java.time.Duration;
import java.util.Map;
import java.util.Set;

import io.sessionkit.SessionSettings;
import io.sessionkit.internal.Names;
import org.jspecify.annotations.Nullable;

/**
 * New values for fields of the header. A null leaves its field as it is.
 *
 * @param title the title; an empty one removes it
 * @param tags all tags
 * @param timeToLive how long the session lives after each write from now on;
 * {@link Duration#ZERO} if it never expires
 * @param attributes all attributes, as of the new head
 * @param head the turn to move to; totals and attributes become those of that turn, and
 * the view starts with the newest summary on its path
 * @param summary the summary to start the view with
 * @param settings all settings of the session; {@link SessionSettings#NONE} removes them
 */
public record HeaderChange(@Nullable String title, @Nullable Set<String> tags, @Nullable Duration timeToLive,
		@Nullable Map<String, Object> attributes, @Nullable Head head, @Nullable Summary summary,
		@Nullable SessionSettings settings) {

	/** A change that leaves everything as it is. */
	public static final HeaderChange NONE = new HeaderChange(null, null, null, null, null, null, null);

	public HeaderChange {
		timeToLive = Lives.kept(timeToLive);
		tags = (tags != null) ? Set.copyOf(tags) : null;
		attributes = (attributes != null) ? Map.copyOf(attributes) : null;
	}

	/**
	 * The new position of the head.
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
	 * The new start of the view.
	 *
	 * @param turn the last turn that the summary covers, on the path of the head; 0
	 * removes the summary from the view
	 * @param id the id of the record of kind {@link SessionStore#SUMMARY} that holds the
	 * summary
	 */
	public record Summary(long turn, String id) {
	}

	/**
	 * Returns a copy of this change with a title.
	 * @param title the title; an empty one removes it
	 * @return the copy
	 */
	public HeaderChange title(String title) {
		return new HeaderChange(title, this.tags, this.timeToLive, this.attributes, this.head, this.summary,
				this.settings);
	}

	/**
	 * Returns a copy of this change with tags.
	 * @param tags all tags
	 * @return the copy
	 */
	public HeaderChange tags(Set<String> tags) {
		return new HeaderChange(this.title, tags, this.timeToLive, this.attributes, this.head, this.summary,
				this.settings);
	}

	/**
	 * Returns a copy of this change with a time to live.
	 * @param timeToLive how long the session lives after each write;
	 * {@link Duration#ZERO} if it never expires
	 * @return the copy
	 */
	public HeaderChange timeToLive(Duration timeToLive) {
		return new HeaderChange(this.title, this.tags, timeToLive, this.attributes, this.head, this.summary,
				this.settings);
	}

	/**
	 * Returns a copy of this change with attributes.
	 * @param attributes all attributes
	 * @return the copy
	 */
	public HeaderChange attributes(Map<String, Object> attributes) {
		return new HeaderChange(this.title, this.tags, this.timeToLive, attributes, this.head, this.summary,
				this.settings);
	}

	/**
	 * Returns a copy of this change that moves the head.
	 * @param branch the name of the branch that is active from now on
	 * @param turn the number of a completed turn; 0 for the beginning
	 * @return the copy
	 */
	public HeaderChange head(String branch, long turn) {
		return new HeaderChange(this.title, this.tags, this.timeToLive, this.attributes, new Head(branch, turn),
				this.summary, this.settings);
	}

	/**
	 * Returns a copy of this change that starts the view with a summary.
	 * @param turn the last turn that the summary covers; 0 removes the summary from the
	 * view
	 * @param id the id of the record that holds the summary
	 * @return the copy
	 */
	public HeaderChange summary(long turn, String id) {
		return new HeaderChange(this.title, this.tags, this.timeToLive, this.attributes, this.head,
				new Summary(turn, id), this.settings);
	}

	/**
	 * Returns a copy of this change with settings.
	 * @param settings all settings of the session; {@link SessionSettings#NONE} removes
	 * them
	 * @return the copy
	 */
	public HeaderChange settings(SessionSettings settings) {
		return new HeaderChange(this.title, this.tags, this.timeToLive, this.attributes, this.head, this.summary,
				settings);
	}

}
