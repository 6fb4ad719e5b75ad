package io.sessionkit.autoconfigure;

import java.time.Duration;

import io.sessionkit.context.Summarize;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Summaries of the older part of a session. No summaries are made unless a trigger or the
 * model is set, or the application has a SummaryTrigger bean, which replaces the
 * triggers.
 */
public final class SummarizeProperties {

	/**
	 * Whether summaries are made, by triggers or on request.
	 */
	private final boolean enabled;

	/**
	 * Time at which a summary is made: background (after a turn, on another thread) or
	 * before (before a turn, which waits for it).
	 */
	private final Summarize.Mode mode;

	/**
	 * Number of tokens in the messages of all turns that no summary covers, with those of
	 * keep-turns, at which a new summary is due. Unset: no limit.
	 */
	private final @Nullable Long triggerTokens;

	/**
	 * Number of messages of all turns that no summary covers, with those of keep-turns,
	 * at which a new summary is due. Unset: no limit.
	 */
	private final @Nullable Long triggerMessages;

	/**
	 * Number of the newest turns that are not summarized.
	 */
	private final int keepTurns;

	/**
	 * Prompt of the summarizer. Must contain {conversation} and may contain {summary} for
	 * the summary so far. Unset: a prompt of SessionKit.
	 */
	private final @Nullable String prompt;

	/**
	 * Name of the ChatModel bean that writes summaries. Named without a trigger, it
	 * writes them on request only. Unset: with a trigger, the only or primary ChatModel
	 * bean; without one, nothing writes summaries.
	 */
	private final @Nullable String model;

	/**
	 * Maximum number of tokens that one summary reads. The next summary reads the rest.
	 */
	private final int maxInputTokens;

	/**
	 * Maximum time that a summary may take before it is abandoned.
	 */
	private final Duration timeout;

	/**
	 * Time during which a process does not try again to summarize a session after a
	 * failure, or after a trigger for which there was nothing to summarize. Doubles each
	 * time, up to an hour; a longer one stays as it is.
	 */
	private final Duration backoff;

	SummarizeProperties(@DefaultValue("true") boolean enabled, @DefaultValue("background") Summarize.Mode mode,
			@Nullable Long triggerTokens, @Nullable Long triggerMessages, @DefaultValue("6") int keepTurns,
			@Nullable String prompt, @Nullable String model, @DefaultValue("32000") int maxInputTokens,
			@DefaultValue("30s") Duration timeout, @DefaultValue("1m") Duration backoff) {
		SessionKitProperties.refuseLessThanOne("summarize.trigger-tokens", triggerTokens,
				SessionKitProperties.NO_LIMIT);
		SessionKitProperties.refuseLessThanOne("summarize.trigger-messages", triggerMessages,
				SessionKitProperties.NO_LIMIT);
		SessionKitProperties.refuseLessThanOne("summarize.max-input-tokens", maxInputTokens, "");
		SessionKitProperties.refuseBelowASecond("summarize.timeout", timeout);
		SessionKitProperties.refuseAbove(Summarize.MAX_TIME, "summarize.timeout", timeout);
		SessionKitProperties.refuseBelowASecond("summarize.backoff", backoff);
		SessionKitProperties.refuseAbove(Summarize.MAX_TIME, "summarize.backoff", backoff);
		if (keepTurns < 0) {
			throw ConfigurationRefusedException.of(SessionKitProperties.PREFIX + ".summarize.keep-turns", keepTurns,
					"Write 0 or more; 0 summarizes all turns.");
		}
		if (prompt != null && !prompt.contains(Summarize.CONVERSATION)) {
			throw ConfigurationRefusedException.of(SessionKitProperties.PREFIX + ".summarize.prompt",
					"a text of " + prompt.length() + " characters without " + Summarize.CONVERSATION,
					"Write " + Summarize.CONVERSATION + " where the messages are to stand, and " + Summarize.SUMMARY
							+ " where the summary so far is.");
		}
		this.enabled = enabled;
		this.mode = mode;
		this.triggerTokens = triggerTokens;
		this.triggerMessages = triggerMessages;
		this.keepTurns = keepTurns;
		this.prompt = prompt;
		this.model = model;
		this.maxInputTokens = maxInputTokens;
		this.timeout = timeout;
		this.backoff = backoff;
	}

	public boolean enabled() {
		return this.enabled;
	}

	public Summarize.Mode mode() {
		return this.mode;
	}

	public @Nullable Long triggerTokens() {
		return this.triggerTokens;
	}

	public @Nullable Long triggerMessages() {
		return this.triggerMessages;
	}

	public int keepTurns() {
		return this.keepTurns;
	}

	public @Nullable String prompt() {
		return this.prompt;
	}

	public @Nullable String model() {
		return this.model;
	}

	public int maxInputTokens() {
		return this.maxInputTokens;
	}

	public Duration timeout() {
		return this.timeout;
	}

	public Duration backoff() {
		return this.backoff;
	}

	public boolean hasTrigger() {
		return this.triggerTokens != null || this.triggerMessages != null;
	}

}
