package io.sessionkit.conversation;

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
final class CarriedTurns {

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
	 * How many of the last lines of a view the current turn continues.
	 * @param view the lines, oldest first
	 * @param input what the current turn begins with
	 */
	static int lines(List<ViewLine> view, List<Message> input) {
		if (!beginsWithResults(input)) {
			return 0;
		}
		List<List<Message>> turns = turns(view, ViewLine::turn, ViewLine::message);
		return turns.subList(turns.size() - count(turns, input), turns.size()).stream().mapToInt(List::size).sum();
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

	static boolean beginsWithResults(List<Message> messages) {
		return !messages.isEmpty() && messages.get(0) instanceof ToolResponseMessage;
	}

	private static boolean endsWithCalls(List<Message> messages) {
		return !messages.isEmpty() && messages.get(messages.size() - 1) instanceof AssistantMessage reply
				&& reply.hasToolCalls();
	}

}
