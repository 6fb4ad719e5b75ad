package io.sessionkit;

import java.time.Duration;
import java.util.function.UnaryOperator;

import io.sessionkit.internal.Bound;
import io.sessionkit.internal.ShortestTime;
import org.jspecify.annotations.Nullable;

/**
 * The settings of one session, which outrank the properties for all calls on it. Each of
 * them may be absent, and then that of the property applies. Begin with {@link #NONE}, or
 * with those of the session, and change single settings: settings may be added in later
 * versions.
 *
 * @param limit the largest number of messages of history that a call sends, as
 * {@code SessionAdvisor.limit} has it for one call; null for none
 * @param trim the limits of a request
 * @param summarize false if no summary is made unless {@code Conversation.summarize} is
 * called; true, or null, if summaries are made as configured
 * @param retention the limits of what is kept
 */
public record SessionSettings(@Nullable Integer limit, TrimSettings trim, @Nullable Boolean summarize,
		RetentionSettings retention) {

	/** No settings: the properties apply. */
	public static final SessionSettings NONE = new SessionSettings(null, TrimSettings.NONE, null,
			RetentionSettings.NONE);

	public SessionSettings {
		if (limit != null) {
			Bound.LIMIT.check(limit);
		}
	}

	/**
	 * Returns whether no setting is present.
	 * @return true if the properties apply in everything
	 */
	public boolean isEmpty() {
		return equals(NONE);
	}

	/**
	 * Returns these settings with another limit on the messages of history.
	 * @param messages the number of messages, 0 to send none, {@link Integer#MAX_VALUE}
	 * for no limit; null to remove the setting
	 * @return a copy with that limit
	 */
	public SessionSettings limit(@Nullable Integer messages) {
		return new SessionSettings(messages, this.trim, this.summarize, this.retention);
	}

	/**
	 * Returns these settings with other limits of a request.
	 * @param change returns the limits that are to apply
	 * @return a copy with these limits
	 */
	public SessionSettings trim(UnaryOperator<TrimSettings> change) {
		return new SessionSettings(this.limit, change.apply(this.trim), this.summarize, this.retention);
	}

	/**
	 * Returns these settings with summaries on or off.
	 * @param on false to make no summary unless {@code Conversation.summarize} is called,
	 * true to make them as configured; null to remove the setting
	 * @return a copy with that setting
	 */
	public SessionSettings summarize(@Nullable Boolean on) {
		return new SessionSettings(this.limit, this.trim, on, this.retention);
	}

	/**
	 * Returns these settings with other limits of what is kept.
	 * @param change returns the limits that are to apply
	 * @return a copy with these limits
	 */
	public SessionSettings retention(UnaryOperator<RetentionSettings> change) {
		return new SessionSettings(this.limit, this.trim, this.summarize, change.apply(this.retention));
	}

	/**
	 * The limits of the requests of one session. Each may be absent;
	 * {@link Integer#MAX_VALUE} lifts the one of the property.
	 *
	 * @param maxTurns the largest number of turns of history, at least 0; null for none
	 * @param maxMessages the largest number of messages of a request, at least 1; null
	 * for none
	 * @param maxTokens the largest number of tokens of a request, at least 1; null for
	 * none
	 */
	public record TrimSettings(@Nullable Integer maxTurns, @Nullable Integer maxMessages, @Nullable Integer maxTokens) {

		/** No limits: the properties apply. */
		public static final TrimSettings NONE = new TrimSettings(null, null, null);

		public TrimSettings {
			check(Bound.MAX_TURNS, maxTurns);
			check(Bound.MAX_MESSAGES, maxMessages);
			check(Bound.MAX_TOKENS, maxTokens);
		}

		/**
		 * Returns these limits with another one on turns.
		 * @param turns the number of turns; null to remove the setting
		 * @return a copy with that limit
		 */
		public TrimSettings maxTurns(@Nullable Integer turns) {
			return new TrimSettings(turns, this.maxMessages, this.maxTokens);
		}

		/**
		 * Returns these limits with another one on messages.
		 * @param messages the number of messages; null to remove the setting
		 * @return a copy with that limit
		 */
		public TrimSettings maxMessages(@Nullable Integer messages) {
			return new TrimSettings(this.maxTurns, messages, this.maxTokens);
		}

		/**
		 * Returns these limits with another one on tokens.
		 * @param tokens the number of tokens; null to remove the setting
		 * @return a copy with that limit
		 */
		public TrimSettings maxTokens(@Nullable Integer tokens) {
			return new TrimSettings(this.maxTurns, this.maxMessages, tokens);
		}

	}

	/**
	 * The limits of what one session keeps. Each may be absent.
	 *
	 * @param maxTurns the largest number of turns, at least 1; {@link Integer#MAX_VALUE}
	 * for no limit; null for none
	 * @param maxAge how long a turn is kept, at least a second; {@link Duration#ZERO} for
	 * no limit; null for none
	 */
	public record RetentionSettings(@Nullable Integer maxTurns, @Nullable Duration maxAge) {

		/** No limits: the properties apply. */
		public static final RetentionSettings NONE = new RetentionSettings(null, null);

		public RetentionSettings {
			check(Bound.RETAINED_TURNS, maxTurns);
			if (maxAge != null && maxAge.isNegative()) {
				throw new IllegalArgumentException("The setting retention.max-age of a session must not be negative: "
						+ maxAge + ". Leave it out for what is configured.");
			}
			if (maxAge != null && !maxAge.isZero() && ShortestTime.isAbove(maxAge)) {
				throw new IllegalArgumentException(
						"The setting retention.max-age of a session must be a second or more: " + maxAge
								+ ". Leave it out for what is configured, or use Duration.ZERO for no limit.");
			}
		}

		/**
		 * Returns these limits with another one on turns.
		 * @param turns the number of turns; null to remove the setting
		 * @return a copy with that limit
		 */
		public RetentionSettings maxTurns(@Nullable Integer turns) {
			return new RetentionSettings(turns, this.maxAge);
		}

		/**
		 * Returns these limits with another one on the age of turns.
		 * @param age how long a turn is kept, at least a second; {@link Duration#ZERO}
		 * for no limit; null to remove the setting
		 * @return a copy with that limit
		 * @throws IllegalArgumentException if it is shorter than a second and not zero
		 */
		public RetentionSettings maxAge(@Nullable Duration age) {
			return new RetentionSettings(this.maxTurns, age);
		}

	}

	private static void check(Bound bound, @Nullable Integer value) {
		if (value != null) {
			bound.check(value);
		}
	}

}
