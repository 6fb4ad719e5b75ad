package io.sessionkit.internal.view;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.sessionkit.SessionItem;
import io.sessionkit.Summary;
import io.sessionkit.store.SessionView;
import io.sessionkit.store.StoreOptions;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * One message of the history as it is shown to the model.
 *
 * @param message the message
 * @param source the origin of the message
 * @param turn the turn that it belongs to; 0 for a summary, negative if the session does
 * not hold it
 * @param tokens its estimated size
 */
public record ViewLine(Message message, Source source, long turn, int tokens) {

	/**
	 * The origin of a message of the history.
	 */
	public sealed interface Source {

		/**
		 * An item as it is stored.
		 *
		 * @param sequence the sequence number of the item
		 * @param at when it was recorded
		 */
		record Item(long sequence, Instant at) implements Source {
		}

		/**
		 * An item of tool results whose texts were replaced.
		 *
		 * @param sequence the sequence number of the item
		 * @param placeholder the text that replaces each longer result
		 */
		record Pruned(long sequence, String placeholder) implements Source {
		}

		/**
		 * A message that the session does not hold: a call has brought it, or it is of
		 * the history of another session or of an enclosing turn.
		 */
		record Brought() implements Source {
		}

		/**
		 * One of the two messages of a summary.
		 *
		 * @param summary the id of the summary's record
		 */
		record Summary(String summary) implements Source {
		}

	}

	/**
	 * Returns the lines of the view as it was opened: the summary, the items that were
	 * pinned before it, and the turns after it. A view that is null has no lines.
	 */
	public static List<ViewLine> of(@Nullable SessionView view, StoreOptions options) {
		if (view == null) {
			return List.of();
		}
		List<ViewLine> lines = new ArrayList<>(view.items().size());
		if (view.summary() != null) {
			Summary summary = Summaries.read(view.summary(), options.codec());
			for (Message message : Summaries.pair(summary.text())) {
				lines.add(new ViewLine(message, new Source.Summary(summary.id()), 0,
						options.tokens().applyAsInt(message)));
			}
			summary.pinned().forEach((item) -> lines.add(of(item)));
		}
		for (SessionItem item : view.items()) {
			lines.add(of(item));
		}
		return lines;
	}

	public static List<ViewLine> of(List<SessionItem> items) {
		List<ViewLine> lines = new ArrayList<>(items.size());
		for (SessionItem item : items) {
			lines.add(of(item));
		}
		return lines;
	}

	private static ViewLine of(SessionItem item) {
		return new ViewLine(item.message(), new Source.Item(item.sequence(), item.at()), item.turn(), item.tokens());
	}

}
