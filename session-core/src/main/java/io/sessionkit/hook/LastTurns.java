package io.sessionkit.hook;

import java.util.ArrayList;
import java.util.List;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * A merge that sends the newest turns of the history and the input.
 *
 * @param turns the number of turns
 */
record LastTurns(int turns) implements HistoryMerge {

	LastTurns {
		if (turns < 0) {
			throw new IllegalArgumentException(
					"The number of turns must not be negative: " + turns + ". Use 0 for the input alone.");
		}
	}

	@Override
	public List<Message> merge(HookContext context, List<Message> history, List<Message> input) {
		return (context.history().size() == history.size()) ? newest(context.turnStarts(), history, input)
				: newest(questions(history), history, input);
	}

	/**
	 * Returns where turns begin in a list of which that is not known: at each question
	 * that follows an answer.
	 */
	private static List<Integer> questions(List<Message> history) {
		List<Integer> starts = new ArrayList<>();
		for (int i = 0; i < history.size(); i++) {
			boolean question = history.get(i) instanceof UserMessage;
			if (i == 0 || (question && history.get(i - 1) instanceof AssistantMessage reply && !reply.hasToolCalls())) {
				starts.add(i);
			}
		}
		return starts;
	}

	private List<Message> newest(List<Integer> starts, List<Message> history, List<Message> input) {
		int first = Math.max(0, starts.size() - this.turns);
		int from = (first < starts.size()) ? starts.get(first) : history.size();
		List<Message> messages = new ArrayList<>(history.subList(from, history.size()));
		messages.addAll(input);
		return messages;
	}

}
