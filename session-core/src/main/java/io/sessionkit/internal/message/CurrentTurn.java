package io.sessionkit.internal.message;

import java.util.List;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;

/**
 * Finds where the current turn begins in a request, which hooks and advisors may have
 * copied, changed and extended.
 */
public final class CurrentTurn {

	private CurrentTurn() {
	}

	/**
	 * Returns the index of the first message of the turn. If the request contains a
	 * message of the turn by identity, the index follows from the place of that message.
	 * Otherwise the expected index is as far from the end as the turn is long. It is
	 * returned if the text of the message there contains the text of the turn's first
	 * message. Otherwise the last message that equals the turn's first one is taken,
	 * unless a reply follows it before the expected index, which makes it an earlier
	 * question. In all other cases the expected index is returned.
	 * @param request the messages, with or without system text
	 * @param turn the messages of the turn so far
	 */
	public static int start(List<Message> request, List<Message> turn) {
		for (int i = 0; i < turn.size(); i++) {
			int place = placeOf(turn.get(i), request);
			if (place >= 0) {
				return Math.max(0, place - i);
			}
		}
		int expected = Math.max(0, request.size() - turn.size());
		if (turn.isEmpty() || expected == request.size() || holds(request.get(expected), turn.get(0))) {
			return expected;
		}
		int equal = request.lastIndexOf(turn.get(0));
		boolean current = equal >= 0 && request.subList(equal, Math.max(equal, expected))
			.stream()
			.noneMatch(AssistantMessage.class::isInstance);
		return current ? equal : expected;
	}

	private static int placeOf(Message message, List<Message> request) {
		for (int i = 0; i < request.size(); i++) {
			if (request.get(i) == message) {
				return i;
			}
		}
		return -1;
	}

	private static boolean holds(Message sent, Message message) {
		String text = message.getText();
		return sent.getMessageType() == message.getMessageType() && sent.getText() != null && text != null
				&& sent.getText().contains(text);
	}

}
