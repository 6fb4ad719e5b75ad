package io.sessionkit;

/**
 * Tokens as the provider counted them; 0 where it did not say.
 *
 * @param input tokens of the request; whether cached ones are among them depends on the
 * provider
 * @param output tokens of the reply
 * @param cacheRead request tokens that the provider read from its cache
 * @param cacheWrite request tokens that the provider wrote to its cache
 */
public record TokenUsage(long input, long output, long cacheRead, long cacheWrite) {

	/** Nothing counted. */
	public static final TokenUsage NONE = new TokenUsage(0, 0, 0, 0);

	/**
	 * Input and output together.
	 * @return the sum
	 */
	public long total() {
		return this.input + this.output;
	}

	/**
	 * This and the other, added part by part.
	 * @param other what to add
	 * @return the sum
	 */
	public TokenUsage plus(TokenUsage other) {
		return new TokenUsage(this.input + other.input, this.output + other.output, this.cacheRead + other.cacheRead,
				this.cacheWrite + other.cacheWrite);
	}

}
