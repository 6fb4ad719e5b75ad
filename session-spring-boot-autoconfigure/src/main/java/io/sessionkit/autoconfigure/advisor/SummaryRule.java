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
		refuseGap("trim.max-turns", all.trim().maxTurns(), "neither sent nor summarized until then", built);
		refuseGap("retention.max-turns", all.retention().maxTurns(), "deleted without a summary of them", built);
		return Optional.of(built);
	}

	/**
	 * Refuses a limit of so few turns that some are lost to the model, for a while or for
	 * good. Other limits make a summary due themselves.
	 */
	private static void refuseGap(String limit, @Nullable Integer maxTurns, String consequence, Summarize rule) {
		if (maxTurns == null || rule.keepsUpWith(maxTurns)) {
			return;
		}
		String property = "'" + SessionKitProperties.PREFIX + "." + limit + "'";
		String keepTurns = "'" + SessionKitProperties.PREFIX + ".summarize.keep-turns'";
		throw new ConfigurationRefusedException(
				"The property " + property + " is " + maxTurns + " and " + keepTurns + " is " + rule.keepTurns()
						+ ": a summary is only made of a session of " + rule.fewestTurns()
						+ " turns, and those before the newest " + maxTurns + " would be " + consequence + ".",
				"Set " + keepTurns + " to " + 2 * (maxTurns + 1) / 3 + " or less, or " + property + " to "
						+ (rule.fewestTurns() - 1) + " or more.");
	}

}
