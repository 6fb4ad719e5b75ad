package io.sessionkit.internal.row;

import java.time.Duration;
import java.time.Instant;

import io.sessionkit.ViewTotals;
import org.jspecify.annotations.Nullable;

/**
 * A header as it is stored: positions in the tree included, texts not decoded.
 *
 * @param pk what its other rows refer to
 * @param incarnation its incarnation
 * @param version its version
 * @param turns the newest turn number given
 * @param items the newest item sequence given
 * @param path the head and how the path to the beginning goes from there
 * @param openTurn the turn that waits; 0 for none
 * @param totals what the view holds
 * @param life when it was written and how long it lives
 * @param branch the active branch
 * @param title the encoded title; null for none
 * @param tags the encoded tags; null for none
 * @param state the encoded state; null for none
 */
public record HeaderRow(long pk, String incarnation, long version, long turns, long items, Path path, long openTurn,
		ViewTotals totals, Life life, String branch, @Nullable String title, @Nullable String tags,
		@Nullable String state) {

	/**
	 * A turn as the end of a path.
	 *
	 * @param head the turn; 0 for the beginning
	 * @param runLo the first turn of the unbroken run of numbers that ends with it
	 * @param runParent what that first turn follows
	 * @param checkpoint the turn up to which a summary stands for the log; 0 for none
	 * @param checkpointId the record that holds the summary
	 */
	public record Path(long head, long runLo, long runParent, long checkpoint, @Nullable String checkpointId) {

		/** Before the first turn. */
		public static final Path BEGINNING = new Path(0, 1, 0, 0, null);

		/** The path when a turn with this number follows. */
		public Path followedBy(long number) {
			boolean unbroken = this.head == number - 1;
			return new Path(number, unbroken ? this.runLo : number, unbroken ? this.runParent : this.head,
					this.checkpoint, this.checkpointId);
		}

		public Path checkpoint(long turn, @Nullable String id) {
			return new Path(this.head, this.runLo, this.runParent, turn, id);
		}

	}

	/**
	 * Moments of a session, by the clock of the store.
	 *
	 * @param timeToLive microseconds; null for good
	 * @param created when it was first written
	 * @param updated when it was last written
	 * @param expires when it reads as absent; null for never
	 */
	public record Life(@Nullable Long timeToLive, long created, long updated, @Nullable Long expires) {

		public @Nullable Duration duration() {
			return Micros.durationOrNull(this.timeToLive);
		}

		/**
		 * When its rows may be deleted; null for never.
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
