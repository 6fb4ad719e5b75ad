package io.sessionkit.internal.row;

import java.time.Duration;
import java.time.Instant;

import io.sessionkit.ViewTotals;
import org.jspecify.annotations.Nullable;

/**
 * A header as it is stored, with positions in the tree and with encoded texts.
 *
 * @param pk the primary key that the other rows of the session refer to
 * @param incarnation its incarnation
 * @param version its version
 * @param turns the newest turn number given
 * @param items the newest item sequence given
 * @param path the head and the path from there to the beginning
 * @param openTurn the number of the open turn; 0 for none
 * @param totals the totals of the view
 * @param life the times of its writes and its time to live
 * @param branch the active branch
 * @param title the encoded title; null for none
 * @param tags the encoded tags; null for none
 * @param settings the encoded settings; null for none
 * @param attributes the encoded attributes; null for none
 * @param stamp a number that each write of the header makes anew at random; never 0
 */
public record HeaderRow(long pk, String incarnation, long version, long turns, long items, Path path, long openTurn,
		ViewTotals totals, Life life, String branch, @Nullable String title, @Nullable String tags,
		@Nullable String settings, @Nullable String attributes, long stamp) {

	/**
	 * Returns this header as if the end of another path were the head.
	 */
	public HeaderRow at(Path end, ViewTotals there, @Nullable String attributesThere) {
		return new HeaderRow(this.pk, this.incarnation, this.version, this.turns, this.items, end, this.openTurn, there,
				this.life, this.branch, this.title, this.tags, this.settings, attributesThere, this.stamp);
	}

	/**
	 * A turn as the end of a path.
	 *
	 * @param head the turn; 0 for the beginning
	 * @param runLo the first turn of the unbroken run of numbers that ends with it
	 * @param runParent the turn that this first turn follows
	 * @param summary the turn up to which a summary replaces the log; 0 for none
	 * @param summaryId the id of the record that holds the summary
	 */
	public record Path(long head, long runLo, long runParent, long summary, @Nullable String summaryId) {

		/** The path before the first turn. */
		public static final Path BEGINNING = new Path(0, 1, 0, 0, null);

		/** Returns the path after a turn with this number was appended. */
		public Path followedBy(long number) {
			boolean unbroken = this.head == number - 1;
			return new Path(number, unbroken ? this.runLo : number, unbroken ? this.runParent : this.head, this.summary,
					this.summaryId);
		}

		/**
		 * Returns the path to a turn, which is cut where this one is if the turn is in
		 * the last run of this one.
		 */
		public Path to(Path turn) {
			boolean within = turn.head >= this.runLo && turn.head <= this.head;
			return within ? new Path(turn.head, this.runLo, this.runParent, turn.summary, turn.summaryId) : turn;
		}

		public Path summary(long turn, @Nullable String id) {
			return new Path(this.head, this.runLo, this.runParent, turn, id);
		}

	}

	/**
	 * The times of a session, by the clock of the store.
	 *
	 * @param timeToLive microseconds; null if the session never expires
	 * @param created when it was first written
	 * @param updated when it was last written
	 * @param expires when it starts to read as absent; null for never
	 */
	public record Life(@Nullable Long timeToLive, long created, long updated, @Nullable Long expires) {

		public @Nullable Duration duration() {
			return Micros.durationOrNull(this.timeToLive);
		}

		/**
		 * Returns the time from which its rows may be deleted; null for never.
		 */
		public @Nullable Long purge() {
			Long slack = Micros.withSlack(this.timeToLive);
			return (this.expires != null && this.timeToLive != null && slack != null)
					? Long.valueOf(this.expires - this.timeToLive + slack) : null;
		}

		public Instant createdAt() {
			return Micros.instant(this.created);
		}

		public Instant updatedAt() {
			return Micros.instant(this.updated);
		}

		public @Nullable Instant expiresAt() {
			return Micros.instantOrNull(this.expires);
		}

	}

}
