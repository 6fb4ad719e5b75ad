package io.sessionkit;

import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A summary that stands for the beginning of the history. The view starts with it; the
 * log keeps what it covers.
 *
 * @param id the name of its record in the session
 * @param turn the last turn that it covers
 * @param since the last turn that the summary before it covered, which it has taken in; 0
 * if it is the first
 * @param covered what it took out of the view: the turns after {@code since} up to
 * {@code turn}
 * @param summary the text
 * @param pinned items of the covered turns that go on being sent as they are
 * @param model the model that wrote it, as the provider named it; null if it did not say
 * @param usage what the call that wrote it cost
 * @param at when it was written, by the clock of the application
 */
public record Checkpoint(String id, long turn, long since, ViewTotals covered, String summary, List<SessionItem> pinned,
		@Nullable String model, TokenUsage usage, Instant at) {

	public Checkpoint {
		pinned = List.copyOf(pinned);
		if (summary.isBlank()) {
			throw new IllegalArgumentException("A summary must not be blank.");
		}
	}

}
