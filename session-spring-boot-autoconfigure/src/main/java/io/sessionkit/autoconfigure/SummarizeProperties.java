package io.sessionkit.autoconfigure;

import java.time.Duration;

import io.sessionkit.context.Summarize;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * When the older part of a thread is summarized. Nothing is, unless a trigger or the
 * model is set, or the application has a SummaryTrigger bean, which is asked in the place
 * of the triggers.
 *
 * @param enabled Whether threads are summarized where a trigger says so.
 * @param mode When a summary is made: background (after a turn, on another thread) or
 * before (in front of a turn, which waits for it).
 * @param triggerTokens How many tokens the messages since the last summary may have.
 * Unset: no limit.
 * @param triggerMessages How many messages there may be since the last summary. Unset: no
 * limit.
 * @param keepTurns How many of the newest turns stay as they are.
 * @param prompt What the summarizer is told; has to have {conversation} in it, and may
 * have {summary} for the summary so far. Unset: a text of SessionKit.
 * @param model The name of the ChatModel bean that writes summaries. Without a trigger
 * they are made on request only. Unset: the only or primary one.
 * @param maxInputTokens How much one summary may read; what is left is read by the next
 * one.
 * @param timeout How long a summary may take before it is given up.
 * @param backoff How long a process leaves a session alone after a summary failed there;
 * twice as long after each further failure, up to an hour.
 */
public record SummarizeProperties(@DefaultValue("true") boolean enabled,
		@DefaultValue("background") Summarize.Mode mode, @Nullable Long triggerTokens, @Nullable Long triggerMessages,
		@DefaultValue("6") int keepTurns, @Nullable String prompt, @Nullable String model,
		@DefaultValue("32000") int maxInputTokens, @DefaultValue("30s") Duration timeout,
		@DefaultValue("1m") Duration backoff) {

	public SummarizeProperties {
		SessionKitProperties.refuseLessThanOne("summarize.trigger-tokens", triggerTokens,
				SessionKitProperties.NO_LIMIT);
		SessionKitProperties.refuseLessThanOne("summarize.trigger-messages", triggerMessages,
				SessionKitProperties.NO_LIMIT);
		SessionKitProperties.refuseLessThanOne("summarize.max-input-tokens", maxInputTokens, "");
		SessionKitProperties.refuseBelowASecond("summarize.timeout", timeout);
		SessionKitProperties.refuseBelowASecond("summarize.backoff", backoff);
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
	}

	boolean hasTrigger() {
		return this.triggerTokens != null || this.triggerMessages != null;
	}
}
