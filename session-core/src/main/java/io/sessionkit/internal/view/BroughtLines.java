package io.sessionkit.internal.view;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;

import io.sessionkit.internal.message.TurnSplitter;

import org.springframework.ai.chat.messages.Message;

/**
 * Lines of a history that the session itself does not hold. Their turns are numbered from
 * below 0 up to -1, so that they differ from those of the session.
 */
public final class BroughtLines {

	private BroughtLines() {
	}

	/**
	 * Returns the lines of messages that a call brings, in turns as if they were stored.
	 * @param tokens estimates the size of a message
	 */
	public static List<ViewLine> of(List<Message> messages, ToIntFunction<Message> tokens) {
		List<Integer> starts = new ArrayList<>();
		int start = 0;
		for (List<Message> turn : TurnSplitter.split(messages)) {
			starts.add(start);
			start += turn.size();
		}
		return of(messages, starts, tokens);
	}

	/**
	 * Returns the lines of messages of which it is known where their turns begin.
	 * @param starts the indexes of the first message of each turn
	 * @param tokens estimates the size of a message
	 */
	public static List<ViewLine> of(List<Message> messages, List<Integer> starts, ToIntFunction<Message> tokens) {
		List<ViewLine> lines = new ArrayList<>(messages.size());
		int begun = 0;
		for (int i = 0; i < messages.size(); i++) {
			begun += (begun < starts.size() && starts.get(begun) == i) ? 1 : 0;
			Message message = messages.get(i);
			lines.add(line(message, begun - starts.size() - 1, tokens.applyAsInt(message)));
		}
		return lines;
	}

	/**
	 * Returns the lines of the view of another session.
	 * @param view the view
	 */
	public static List<ViewLine> of(List<ViewLine> view) {
		List<ViewLine> lines = new ArrayList<>(view.size());
		long turns = view.stream().map(ViewLine::turn).distinct().count();
		long last = -1;
		for (ViewLine line : view) {
			turns -= (line.turn() != last && !lines.isEmpty()) ? 1 : 0;
			last = line.turn();
			lines.add(line(line.message(), -turns, line.tokens()));
		}
		return lines;
	}

	private static ViewLine line(Message message, long turn, int tokens) {
		return new ViewLine(message, new ViewLine.Source.Brought(), turn, tokens);
	}

}
