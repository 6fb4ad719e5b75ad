package io.sessionkit.internal.view;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;

import io.sessionkit.Session;
import io.sessionkit.context.Pins;
import io.sessionkit.context.Prune;
import io.sessionkit.internal.message.MessageContent;
import io.sessionkit.internal.view.ViewLine.Source;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;

/**
 * Replaces old tool results in the lines of a view, but for those of pinned turns.
 */
public final class ToolPruner {

	private final Prune prune;

	private final Pins pins;

	private final ToIntFunction<Message> tokens;

	/**
	 * @param pins name the turns that stay as they are
	 */
	public ToolPruner(Prune prune, Pins pins, ToIntFunction<Message> tokens) {
		this.prune = prune;
		this.pins = pins;
		this.tokens = tokens;
	}

	/**
	 * Prunes the lines before the turns that the current one continues. The results in
	 * those turns belong to the current question.
	 * @param session the header of the session; null if there is none
	 * @param input the messages that the current turn begins with
	 */
	public List<ViewLine> prune(List<ViewLine> view, @Nullable Session session, List<Message> input) {
		if (this.prune.keepToolResults() == Integer.MAX_VALUE) {
			return view;
		}
		int end = CarriedTurns.start(view, (session != null) ? session.head() : 0, input);
		Set<ViewLine> pinned = History.pinned(view, (session != null) ? session.summaryTurn() : 0, this.pins);
		List<ViewLine> pruned = new ArrayList<>(prune(view.subList(0, end), pinned));
		pruned.addAll(view.subList(end, view.size()));
		return pruned;
	}

	private List<ViewLine> prune(List<ViewLine> view, Set<ViewLine> pinned) {
		List<ViewLine> pruned = new ArrayList<>(view);
		int newer = 0;
		for (int i = view.size() - 1; i >= 0; i--) {
			ViewLine line = view.get(i);
			if (line.message() instanceof ToolResponseMessage results) {
				if (newer >= this.prune.keepToolResults() && !pinned.contains(line)) {
					pruned.set(i, pruned(line, results));
				}
				newer += results.getResponses().size();
			}
		}
		return pruned;
	}

	private ViewLine pruned(ViewLine line, ToolResponseMessage results) {
		Source source = source(line.source());
		if (source == null
				|| results.getResponses().stream().noneMatch((result) -> isLonger(result, Prune.PLACEHOLDER))) {
			return line;
		}
		ToolResponseMessage message = placeholders(results, Prune.PLACEHOLDER);
		return new ViewLine(message, source, line.turn(), this.tokens.applyAsInt(message));
	}

	/** Returns the source of a line that is pruned; null if such a line stays. */
	private static @Nullable Source source(Source source) {
		if (source instanceof Source.Item item) {
			return new Source.Pruned(item.sequence(), Prune.PLACEHOLDER);
		}
		return (source instanceof Source.Brought) ? source : null;
	}

	/**
	 * Returns the message with a placeholder instead of each result that is longer than
	 * the placeholder.
	 */
	public static ToolResponseMessage placeholders(ToolResponseMessage results, String placeholder) {
		List<ToolResponse> responses = results.getResponses()
			.stream()
			.map((response) -> isLonger(response, placeholder)
					? new ToolResponse(response.id(), response.name(), placeholder) : response)
			.toList();
		return (ToolResponseMessage) MessageContent.of(results).withResponses(responses).message();
	}

	/** Accepts a result that is null, since an application may have stored one. */
	private static boolean isLonger(ToolResponse response, String placeholder) {
		String data = response.responseData();
		return data != null && data.length() > placeholder.length();
	}

}
