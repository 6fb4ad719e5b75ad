package io.sessionkit;

/**
 * The tokens of one or more model calls as the provider counted them; 0 if it did not
 * report a number.
 *
 * @param input tokens of the request; whether cached ones are among them depends on the
 * provider
 * @param output tokens of the reply
 * @param cacheRead request tokens that the provider read from its cache
 * @param cacheWrite request tokens that the provider wrote to its cache
 */
public record TokenUsage(long input, long output, long cacheRead, long cacheWrite) {

	/** No tokens. */
	public static final TokenUsage NONE = new TokenUsage(0, 0, 0, 0);

	/**
	 * Returns the sum of input and output.
	 * @return the sum
	 */
	public long total() {
		return this.input + this.output;
	}

	/**
	 * Adds another usage to this one, part by part.
	 * @param other the usage to add
	 * @return the sum
	 */
	public TokenUsage plus(TokenUsage other) {
		return new TokenUsage(this.input + other.input, this.output + other.output, this.cacheRead + other.cacheRead,
				this.cacheWrite + other.cacheWrite);
	}

}
