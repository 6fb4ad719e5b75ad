package io.sessionkit;

import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A summary that replaces the beginning of the history. The view starts with it; the log
 * keeps the turns that it covers.
 *
 * @param id the name of its record in the session
 * @param turn the last turn that it covers
 * @param since the last turn that the previous summary covered, which this one has taken
 * in; 0 if it is the first
 * @param covered the size of what it took out of the view: the turns after {@code since}
 * up to {@code turn}
 * @param text the text; {@link #RESET} if nothing stands for the turns that it covers
 * @param pinned items of the covered turns that are still sent as they are
 * @param origin how it was written
 */
public record Summary(String id, long turn, long since, ViewTotals covered, String text, List<SessionItem> pinned,
		Origin origin) {

	/**
	 * The text of a reset, which starts the view anew: nothing stands for the turns that
	 * it covers.
	 */
	public static final String RESET = "";

	public Summary {
		pinned = List.copyOf(pinned);
		if (text.isBlank() && !text.equals(RESET)) {
			throw new IllegalArgumentException("A summary must not be blank.");
		}
	}

	/**
	 * Returns whether it is a reset, which starts the view anew.
	 * @return true if no text stands for the turns that it covers
	 */
	public boolean isReset() {
		return this.text.equals(RESET);
	}

	/**
	 * Returns the model that wrote it.
	 * @return the model, as the provider named it; null if it did not say
	 */
	public @Nullable String model() {
		return this.origin.model();
	}

	/**
	 * Returns the tokens of the call that wrote it.
	 * @return the usage
	 */
	public TokenUsage usage() {
		return this.origin.usage();
	}

	/**
	 * Returns when it was written.
	 * @return the time, by the clock of the application
	 */
	public Instant at() {
		return this.origin.at();
	}

	/**
	 * The call that wrote a summary.
	 *
	 * @param model the model that wrote it, as the provider named it; null if it did not
	 * say
	 * @param usage the tokens of the call that wrote it
	 * @param at when it was written, by the clock of the application
	 */
	public record Origin(@Nullable String model, TokenUsage usage, Instant at) {
	}

}
