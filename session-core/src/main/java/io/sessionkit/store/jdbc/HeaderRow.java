package io.sessionkit.store.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;

import io.sessionkit.ViewTotals;
import org.jspecify.annotations.Nullable;

/**
 * The row of a session as it is in the table: positions in the tree included, texts not
 * decoded.
 *
 * @param pk what its other rows refer to
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
record HeaderRow(long pk, long version, long turns, long items, Path path, long openTurn, ViewTotals totals, Life life,
		String branch, @Nullable String title, @Nullable String tags, @Nullable String state) {

	static final String COLUMNS = """
			s.pk, s.version, s.turns, s.items, s.head, s.run_lo, s.run_parent, s.open_turn, s.cp, \
			s.view_turns, s.view_items, s.view_tokens, s.ttl, s.created_at, s.updated_at, s.expires_at, \
			s.branch, s.cp_id, s.title, s.tags, s.state""";

	/**
	 * A turn as the end of a path.
	 *
	 * @param head the turn; 0 for the beginning
	 * @param runLo the first turn of the unbroken run of numbers that ends with it
	 * @param runParent what that first turn follows
	 * @param checkpoint the turn up to which a summary stands for the log; 0 for none
	 * @param checkpointId the record that holds the summary
	 */
	record Path(long head, long runLo, long runParent, long checkpoint, @Nullable String checkpointId) {

		/** Before the first turn. */
		static final Path BEGINNING = new Path(0, 1, 0, 0, null);

		/** The path when a turn with this number follows. */
		Path followedBy(long number) {
			boolean unbroken = this.head == number - 1;
			return new Path(number, unbroken ? this.runLo : number, unbroken ? this.runParent : this.head,
					this.checkpoint, this.checkpointId);
		}

		Path checkpoint(long turn, @Nullable String id) {
			return new Path(this.head, this.runLo, this.runParent, turn, id);
		}

	}

	/**
	 * Moments of a session, by the clock of the database.
	 *
	 * @param timeToLive microseconds; null for good
	 * @param created when it was first written
	 * @param updated when it was last written
	 * @param expires when it reads as absent; null for never
	 */
	record Life(@Nullable Long timeToLive, long created, long updated, @Nullable Long expires) {

		@Nullable Duration duration() {
			return Micros.durationOrNull(this.timeToLive);
		}

		Instant createdAt() {
			return Micros.instant(this.created);
		}

		Instant updatedAt() {
			return Micros.instant(this.updated);
		}

		@Nullable Instant expiresAt() {
			return Micros.instantOrNull(this.expires);
		}

	}

	/**
	 * Reads the {@link #COLUMNS}.
	 * @param row the row
	 * @param c the index of the first of them
	 */
	static HeaderRow read(ResultSet row, int c) throws SQLException {
		Path path = new Path(row.getLong(c + 4), row.getLong(c + 5), row.getLong(c + 6), row.getLong(c + 8),
				row.getString(c + 17));
		ViewTotals totals = new ViewTotals(row.getLong(c + 9), row.getLong(c + 10), row.getLong(c + 11));
		Life life = new Life(number(row, c + 12), row.getLong(c + 13), row.getLong(c + 14), number(row, c + 15));
		return new HeaderRow(row.getLong(c), row.getLong(c + 1), row.getLong(c + 2), row.getLong(c + 3), path,
				row.getLong(c + 7), totals, life, row.getString(c + 16), row.getString(c + 18), row.getString(c + 19),
				row.getString(c + 20));
	}

	static @Nullable Long number(ResultSet row, int column) throws SQLException {
		long value = row.getLong(column);
		return row.wasNull() ? null : value;
	}

}
