package io.sessionkit;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;

import io.sessionkit.internal.RandomNumbers;
import org.jspecify.annotations.Nullable;

/**
 * The header of a session: everything that can be read without reading an item.
 *
 * @param key its key
 * @param incarnation distinguishes it from every other session that was or will be
 * written under its key, whatever the clock says; never assigned twice, and the same as
 * long as the session lives
 * @param version a number that rises with every change of the history, the attributes or
 * the header's own fields, by no certain amount; a commit names the version it was based
 * on
 * @param position where its history stands
 * @param details what the application has set
 * @param times when it was written and when it expires
 */
public record Session(SessionKey key, String incarnation, long version, Position position, Details details,
		Times times) {

	/**
	 * The name of the first branch of every session.
	 */
	public static final String MAIN = "main";

	private static final long MOST_PER_CHANGE = 1 << 24;

	/**
	 * Returns an incarnation for a session that a store creates. It is random, so that no
	 * store has to remember those that were assigned.
	 * @return an incarnation that was never assigned before
	 */
	public static String newIncarnation() {
		return RandomNumbers.uuid().toString();
	}

	/**
	 * Returns by how much a store raises the version of a session when it changes it. The
	 * number is random, so that a store that has lost writes, in a failover or because a
	 * backup was restored, never reaches a version again that was read before.
	 * @return a number from 1 to 2^24, so that a billion changes stay below 2^53
	 */
	public static long newVersionStep() {
		return RandomNumbers.upTo(MOST_PER_CHANGE);
	}

	/**
	 * Returns the newest turn number assigned.
	 * @return the number, over all branches and statuses
	 */
	public long turns() {
		return this.position.turns();
	}

	/**
	 * Returns the newest item sequence assigned.
	 * @return the sequence number
	 */
	public long items() {
		return this.position.items();
	}

	/**
	 * Returns the active branch.
	 * @return its name; {@value #MAIN} at first
	 */
	public String branch() {
		return this.position.branch();
	}

	/**
	 * Returns the turn that the next one follows.
	 * @return its number; 0 while there is none
	 */
	public long head() {
		return this.position.head();
	}

	/**
	 * Returns the turn that waits to be continued.
	 * @return its number; 0 for none
	 */
	public long openTurn() {
		return this.position.openTurn();
	}

	/**
	 * Returns the turn up to which a summary replaces the log in the view.
	 * @return its number; 0 for none
	 */
	public long summaryTurn() {
		return this.position.summaryTurn();
	}

	/**
	 * Returns the id of the record that holds that summary.
	 * @return the id; null for none
	 */
	public @Nullable String summaryId() {
		return this.position.summaryId();
	}

	/**
	 * Returns the size of the view.
	 * @return the totals
	 */
	public ViewTotals totals() {
		return this.position.totals();
	}

	/**
	 * Returns the title that a person gave the session.
	 * @return the title; null for none
	 */
	public @Nullable String title() {
		return this.details.title();
	}

	/**
	 * Returns the tags of the session.
	 * @return the tags
	 */
	public Set<String> tags() {
		return this.details.tags();
	}

	/**
	 * Returns the attributes as of the head.
	 * @return the attributes, by name
	 */
	public Map<String, Object> attributes() {
		return this.details.attributes();
	}

	/**
	 * Returns how long the session lives after the last write.
	 * @return the time to live; null if it never expires
	 */
	public @Nullable Duration timeToLive() {
		return this.details.timeToLive();
	}

	/**
	 * Returns the settings of this session, which outrank the properties.
	 * @return the settings; {@link SessionSettings#NONE} if none was set
	 */
	public SessionSettings settings() {
		return this.details.settings();
	}

	/**
	 * Returns when the session was first written.
	 * @return the time
	 */
	public Instant createdAt() {
		return this.times.createdAt();
	}

	/**
	 * Returns when the session was last written.
	 * @return the time
	 */
	public Instant updatedAt() {
		return this.times.updatedAt();
	}

	/**
	 * Returns the time from which the session reads as absent, by the clock of the store.
	 * @return the time; null for never
	 */
	public @Nullable Instant expiresAt() {
		return this.times.expiresAt();
	}

	/**
	 * Returns this header as if another turn were the head.
	 * @param head the number of that turn; 0 for the beginning
	 * @param totals the size of the view there
	 * @param summaryTurn the turn up to which a summary replaces the log in the view
	 * there; 0 for none
	 * @param summaryId the id of the record that holds that summary; null for none
	 * @param attributes the attributes there
	 * @return a copy with that head; everything else is as it is
	 */
	public Session at(long head, ViewTotals totals, long summaryTurn, @Nullable String summaryId,
			Map<String, Object> attributes) {
		Position there = new Position(turns(), items(), branch(), head, openTurn(), summaryTurn, summaryId, totals);
		return new Session(this.key, this.incarnation, this.version, there, this.details.attributes(attributes),
				this.times);
	}

	/**
	 * Returns this header as if another branch were the active one.
	 * @param branch the name of that branch
	 * @return a copy with that branch; everything else is as it is
	 */
	public Session on(String branch) {
		Position there = new Position(turns(), items(), branch, head(), openTurn(), summaryTurn(), summaryId(),
				totals());
		return new Session(this.key, this.incarnation, this.version, there, this.details, this.times);
	}

	/**
	 * The position of the history of a session. Only a turn and a move of the head change
	 * it.
	 *
	 * @param turns the newest turn number assigned, over all branches and statuses
	 * @param items the newest item sequence assigned
	 * @param branch the active branch; {@value #MAIN} at first
	 * @param head the turn that the next one follows; 0 while there is none
	 * @param openTurn the turn that waits to be continued; 0 for none
	 * @param summaryTurn the turn up to which a summary replaces the log in the view; 0
	 * for none
	 * @param summaryId the id of the record that holds that summary; null for none
	 * @param totals the size of the view
	 */
	public record Position(long turns, long items, String branch, long head, long openTurn, long summaryTurn,
			@Nullable String summaryId, ViewTotals totals) {

		/** The position of a session without turns. */
		public static final Position BEGINNING = new Position(0, 0, MAIN, 0, 0, 0, null, ViewTotals.NONE);

	}

	/**
	 * The values that the application has set on a session.
	 *
	 * @param title the title that a person gave it; null for none
	 * @param tags its tags
	 * @param attributes the attributes as of the head
	 * @param timeToLive how long it lives after the last write; null if it never expires
	 * @param settings its own settings, which outrank the properties
	 */
	public record Details(@Nullable String title, Set<String> tags, Map<String, Object> attributes,
			@Nullable Duration timeToLive, SessionSettings settings) {

		/** The details of a session that never expires and on which nothing is set. */
		public static final Details NONE = new Details(null, Set.of(), Map.of(), null, SessionSettings.NONE);

		public Details {
			tags = Set.copyOf(tags);
			attributes = Map.copyOf(attributes);
		}

		/**
		 * Returns these values with other attributes.
		 * @param attributes all attributes
		 * @return a copy with these attributes
		 */
		public Details attributes(Map<String, Object> attributes) {
			return new Details(this.title, this.tags, attributes, this.timeToLive, this.settings);
		}

	}

	/**
	 * The times at which a session was written and expires.
	 *
	 * @param createdAt when it was first written
	 * @param updatedAt when it was last written
	 * @param expiresAt the time from which it reads as absent, by the clock of the store;
	 * null for never
	 */
	public record Times(Instant createdAt, Instant updatedAt, @Nullable Instant expiresAt) {
	}

}
