package io.sessionkit.hook;

import java.util.List;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Where the current turn begins in a request.
 */
final class CurrentTurn {

	private CurrentTurn() {
	}

	/**
	 * Behind the history, if that stands there as it was read; where a merge or another
	 * hook has changed it, at the newest user message and those right before it.
	 */
	static int start(List<Message> request, List<Message> history) {
		int system = system(request);
		if (isBehindHistory(request, history)) {
			return system + history.size();
		}
		for (int i = request.size() - 1; i >= system; i--) {
			if (request.get(i) instanceof UserMessage && !(i > 0 && request.get(i - 1) instanceof UserMessage)) {
				return i;
			}
		}
		return system;
	}

	/**
	 * Whether the history stands behind the system text as it was read.
	 */
	static boolean isBehindHistory(List<Message> request, List<Message> history) {
		int system = system(request);
		return request.size() >= system + history.size()
				&& request.subList(system, system + history.size()).equals(history);
	}

	/**
	 * How many messages of system text the request begins with.
	 */
	static int system(List<Message> request) {
		int system = 0;
		while (system < request.size() && request.get(system) instanceof SystemMessage) {
			system++;
		}
		return system;
	}

}
