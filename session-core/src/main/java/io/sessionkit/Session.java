package io.sessionkit;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * The header of a session: everything that can be read without reading an item.
 *
 * @param key its key
 * @param incarnation distinguishes it from every other session that was or will be
 * written under its key, whatever the clock says; never assigned twice, and the same as
 * long as the session lives
 * @param version a number that changes with every change of the history, the state or the
 * header's own fields; a commit names the version it was based on
 * @param turns the newest turn number assigned, over all branches and statuses
 * @param items the newest item sequence assigned
 * @param branch the active branch; {@value #MAIN} at first
 * @param head the turn that the next one follows; 0 while there is none
 * @param openTurn the turn that waits to be continued; 0 for none
 * @param summaryTurn the turn up to which a summary replaces the log in the view; 0 for
 * none
 * @param summaryId the id of the record that holds that summary; null for none
 * @param totals the size of the view
 * @param title the title that a person gave it; null for none
 * @param tags its tags
 * @param state the attributes as of the head
 * @param timeToLive how long it lives after the last write; null if it never expires
 * @param createdAt when it was first written
 * @param updatedAt when it was last written
 * @param expiresAt the time from which it reads as absent, by the clock of the store;
 * null for never
 */
public record Session(SessionKey key, String incarnation, long version, long turns, long items, String branch,
		long head, long openTurn, long summaryTurn, @Nullable String summaryId, ViewTotals totals,
		@Nullable String title, Set<String> tags, Map<String, Object> state, @Nullable Duration timeToLive,
		Instant createdAt, Instant updatedAt, @Nullable Instant expiresAt) {

	/**
	 * The name of the first branch of every session.
	 */
	public static final String MAIN = "main";

	public Session {
		tags = Set.copyOf(tags);
		state = Map.copyOf(state);
	}

	/**
	 * Returns an incarnation for a session that a store creates. It is random, so that no
	 * store has to remember those that were assigned.
	 * @return an incarnation that was never assigned before
	 */
	public static String newIncarnation() {
		return UUID.randomUUID().toString();
	}

}
