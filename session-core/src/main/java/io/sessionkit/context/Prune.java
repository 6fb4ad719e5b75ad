package io.sessionkit.context;

/**
 * A rule for the tool results of the history in a request. Older results are replaced by
 * a placeholder in the request; their calls, ids and names stay, and the stored messages
 * stay complete. The results of the current turn are not changed, so that the request
 * stays the same from round to round, and neither are those of pinned turns
 * ({@link Pins}).
 *
 * @param keepToolResults the number of the newest results of the history that stay; if
 * one result of a tool message stays, the whole message stays
 */
public record Prune(int keepToolResults) {

	/** Keeps all results. */
	public static final Prune NONE = new Prune(Integer.MAX_VALUE);

	/** The text that replaces a result. */
	public static final String PLACEHOLDER = "[Old result left out. Call the tool again if it is needed.]";

	public Prune {
		if (keepToolResults < 0) {
			throw new IllegalArgumentException(
					"The tool results to keep must be 0 or more: " + keepToolResults + ". Leave it out to keep all.");
		}
	}

	/**
	 * Keeps the newest results of the history.
	 * @param results the number of results; 0 for none
	 * @return the rule
	 */
	public static Prune keepLastToolResults(int results) {
		return new Prune(results);
	}

}
