package io.sessionkit.autoconfigure.advisor;

import java.util.Optional;

import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.SessionKitProperties;
import io.sessionkit.autoconfigure.SummarizeProperties;
import io.sessionkit.context.Summarize;
import io.sessionkit.context.SummaryTrigger;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;

/**
 * Creates the rule for summaries from the properties, with the model that they name.
 */
final class SummaryRule {

	private static final String MODEL = SessionKitProperties.PREFIX + ".summarize.model";

	private SummaryRule() {
	}

	/**
	 * Returns the rule.
	 * @return the rule; empty if no trigger, no model and no SummaryTrigger bean is
	 * there, or if summaries are disabled
	 * @throws ConfigurationRefusedException if there is no such model, or if none is
	 * named and there are several
	 */
	static Optional<Summarize> of(SessionKitProperties all, @Nullable SummaryTrigger trigger,
			ListableBeanFactory beans) {
		SummarizeProperties properties = all.summarize();
		boolean asked = properties.hasTrigger() || properties.model() != null || trigger != null;
		if (!properties.enabled() || !asked) {
			return Optional.empty();
		}
		Summarize.Builder rule = Summarize
			.by(SoleModel.of(properties.model(), MODEL, "Threads are to be summarized",
					"'" + SessionKitProperties.PREFIX + ".summarize.enabled' to false", beans))
			.mode(properties.mode())
			.keepTurns(properties.keepTurns())
			.maxInputTokens(properties.maxInputTokens())
			.timeout(properties.timeout())
			.backoff(properties.backoff());
		if (properties.triggerTokens() != null) {
			rule.triggerTokens(properties.triggerTokens());
		}
		if (properties.triggerMessages() != null) {
			rule.triggerMessages(properties.triggerMessages());
		}
		if (properties.prompt() != null) {
			rule.prompt(properties.prompt());
		}
		if (trigger != null) {
			rule.trigger(trigger);
		}
		Summarize built = rule.build();
		refuseGaps(all.trim(), properties, built);
		return Optional.of(built);
	}

	/**
	 * Refuses limits that would leave turns neither sent nor summarized: a turn that is
	 * no longer sent must be in a summary by then.
	 */
	private static void refuseGaps(SessionKitProperties.Trim trim, SummarizeProperties summarize, Summarize rule) {
		if (trim.maxTurns() != null && trim.maxTurns() < rule.fewestTurns() - 1) {
			throw gap("trim.max-turns", trim.maxTurns(), "summarize.keep-turns", rule.keepTurns(),
					2 * (trim.maxTurns() + 1) / 3);
		}
		if (rule.trigger() == null) {
			refuseBelow("trim.max-messages", trim.maxMessages(), "summarize.trigger-messages",
					summarize.triggerMessages());
			refuseBelow("trim.max-tokens", trim.maxTokens(), "summarize.trigger-tokens", summarize.triggerTokens());
		}
	}

	private static void refuseBelow(String limit, @Nullable Integer most, String property, @Nullable Long value) {
		if (most != null && value != null && most < value) {
			throw gap(limit, most, property, value, most);
		}
	}

	private static ConfigurationRefusedException gap(String limit, int most, String property, long value, int better) {
		return new ConfigurationRefusedException(
				"The property '" + SessionKitProperties.PREFIX + "." + limit + "' is " + most + " and '"
						+ SessionKitProperties.PREFIX + "." + property + "' is " + value
						+ ": the turns in between would be neither sent nor summarized.",
				"Set '" + SessionKitProperties.PREFIX + "." + property + "' to " + better + " or less.");
	}

}
