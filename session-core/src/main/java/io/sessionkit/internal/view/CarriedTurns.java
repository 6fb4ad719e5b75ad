package io.sessionkit.internal.view;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;

import io.sessionkit.SessionItem;
import io.sessionkit.store.SessionView;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;

/**
 * Turns that the current turn continues. Where the application runs the tools itself, a
 * turn ends with calls and the next one begins with their results: to the model both are
 * one, and so are all before them that hang together like this.
 */
public final class CarriedTurns {

	private CarriedTurns() {
	}

	/**
	 * How many of the last turns the current one continues.
	 * @param turns the messages of each turn, oldest first
	 * @param input what the current turn begins with
	 */
	static int count(List<List<Message>> turns, List<Message> input) {
		int count = 0;
		List<Message> next = input;
		while (count < turns.size() && beginsWithResults(next)) {
			List<Message> turn = turns.get(turns.size() - 1 - count);
			if (!endsWithCalls(turn)) {
				break;
			}
			count++;
			next = turn;
		}
		return count;
	}

	/**
	 * The place in the lines of a view at which the turns begin that the current one
	 * continues.
	 * @param head the turn that the thread ends with: where a summary covers it, an older
	 * one that was pinned may stand last
	 * @return the number of lines if it continues none
	 */
	static int start(List<ViewLine> view, long head, List<Message> input) {
		if (!beginsWithResults(input) || view.isEmpty() || view.get(view.size() - 1).turn() != head) {
			return view.size();
		}
		List<List<Message>> turns = turns(view, ViewLine::turn, ViewLine::message);
		int count = count(turns, input);
		return view.size() - turns.subList(turns.size() - count, turns.size()).stream().mapToInt(List::size).sum();
	}

	/**
	 * Whether a view has all of the turns that the current one continues.
	 */
	static boolean areIn(SessionView view, List<Message> input) {
		if (!beginsWithResults(input) || view.items().size() >= view.session().totals().items()) {
			return true;
		}
		List<List<Message>> turns = turns(view.items(), SessionItem::turn, SessionItem::message);
		return !turns.isEmpty() && count(turns, input) < turns.size();
	}

	private static <T> List<List<Message>> turns(List<T> items, ToLongFunction<T> turn, Function<T, Message> message) {
		List<List<Message>> turns = new ArrayList<>();
		long last = -1;
		for (T item : items) {
			if (turn.applyAsLong(item) != last) {
				turns.add(new ArrayList<>());
			}
			turns.get(turns.size() - 1).add(message.apply(item));
			last = turn.applyAsLong(item);
		}
		return turns;
	}

	public static boolean beginsWithResults(List<Message> messages) {
		return !messages.isEmpty() && messages.get(0) instanceof ToolResponseMessage;
	}

	private static boolean endsWithCalls(List<Message> messages) {
		return !messages.isEmpty() && messages.get(messages.size() - 1) instanceof AssistantMessage reply
				&& reply.hasToolCalls();
	}

}
