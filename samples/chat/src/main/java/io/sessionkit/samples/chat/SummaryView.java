package io.sessionkit.samples.chat;

import java.time.Instant;

import io.sessionkit.Summary;
import io.sessionkit.TokenUsage;
import org.jspecify.annotations.Nullable;

/**
 * A summary as the page shows it.
 *
 * @param turn the last turn that it covers
 * @param since the last turn that the previous summary covered; 0 if it is the first
 * @param tokens the tokens of the call that wrote it
 * @param current whether the model is shown it; an older one is part of a newer one
 */
record SummaryView(String id, long turn, long since, String text, @Nullable String model, TokenUsage tokens, Instant at,
		boolean current) {

	static SummaryView of(Summary summary, boolean current) {
		return new SummaryView(summary.id(), summary.turn(), summary.since(), summary.text(), summary.model(),
				summary.usage(), summary.at(), current);
	}

}
