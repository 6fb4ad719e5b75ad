package io.sessionkit.autoconfigure;

import java.time.Duration;

import io.sessionkit.context.Summarize;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Summaries of the older part of a session. No summaries are made unless a trigger or the
 * model is set, or the application has a SummaryTrigger bean, which replaces the
 * triggers.
 *
 * @param enabled Whether to summarize sessions when a trigger is reached.
 * @param mode Time at which a summary is made: background (after a turn, on another
 * thread) or before (before a turn, which waits for it).
 * @param triggerTokens Number of tokens in the messages since the last summary at which a
 * new summary is due. Unset: no limit.
 * @param triggerMessages Number of messages since the last summary at which a new summary
 * is due. Unset: no limit.
 * @param keepTurns Number of the newest turns that are not summarized.
 * @param prompt Prompt of the summarizer. Must contain {conversation} and may contain
 * {summary} for the summary so far. Unset: a prompt of SessionKit.
 * @param model Name of the ChatModel bean that writes summaries. Without a trigger,
 * summaries are made on request only. Unset: the only or primary ChatModel bean.
 * @param maxInputTokens Maximum number of tokens that one summary reads. The next summary
 * reads the rest.
 * @param timeout Maximum time that a summary may take before it is abandoned.
 * @param backoff Time during which a process does not try again to summarize a session
 * after a failure. Doubles with each further failure, up to an hour.
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
