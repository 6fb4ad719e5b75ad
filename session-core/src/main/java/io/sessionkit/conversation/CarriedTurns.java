package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.List;

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
	 * Whether a view has all of the turns that the current one continues.
	 */
	static boolean areIn(SessionView view, List<Message> input) {
		if (!beginsWithResults(input) || view.items().size() >= view.session().totals().items()) {
			return true;
		}
		List<List<Message>> turns = turns(view.items());
		return !turns.isEmpty() && count(turns, input) < turns.size();
	}

	private static List<List<Message>> turns(List<SessionItem> items) {
		List<List<Message>> turns = new ArrayList<>();
		long last = -1;
		for (SessionItem item : items) {
			if (item.turn() != last) {
				turns.add(new ArrayList<>());
			}
			turns.get(turns.size() - 1).add(item.message());
			last = item.turn();
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
