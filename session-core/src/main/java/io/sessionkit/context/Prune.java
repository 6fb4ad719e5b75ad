package io.sessionkit.context;

/**
 * Which tool results of the history a request still has. Older ones are replaced by a
 * placeholder in the request; their calls, ids and names stay, and what is stored stays
 * whole. The results of the current turn are not touched, so that the request stays the
 * same from round to round.
 *
 * @param keepToolResults the newest results of the history that stay; a tool message of
 * which one result stays, stays whole
 */
public record Prune(int keepToolResults) {

	/** All results stay. */
	public static final Prune NONE = new Prune(Integer.MAX_VALUE);

	/** What stands in the place of a result. */
	public static final String PLACEHOLDER = "[Old result left out. Call the tool again if it is needed.]";

	public Prune {
		if (keepToolResults < 0) {
			throw new IllegalArgumentException(
					"The tool results to keep must be 0 or more: " + keepToolResults + ". Leave it out to keep all.");
		}
	}

	/**
	 * Keeps the newest results of the history.
	 * @param results how many; 0 for none
	 * @return the rule
	 */
	public static Prune keepLastToolResults(int results) {
		return new Prune(results);
	}

}
