package io.sessionkit.internal.view;

import java.util.ArrayList;
import java.util.List;

import io.sessionkit.SessionKey;
import io.sessionkit.context.InvalidSequenceException;
import io.sessionkit.context.SequenceGuard;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;

/**
 * Ensures that a history that a call brings is sent as it is, or refused.
 */
public final class GivenHistory {

	private GivenHistory() {
	}

	/**
	 * Checks that the guard would change nothing in a history.
	 * @param given the history
	 * @param input the messages behind it
	 * @param repairing the guard that repairs
	 * @throws InvalidSequenceException if it would; the message says where and why
	 */
	public static void check(SessionKey key, List<Message> given, List<Message> input, SequenceGuard repairing) {
		List<Message> whole = new ArrayList<>(given);
		whole.addAll(input);
		List<Message> sent = repairing.apply(whole);
		int end = given.size() + (endsWithCalls(given) ? 1 : 0);
		for (int i = 0; i < end; i++) {
			if (i >= whole.size() || i >= sent.size() || whole.get(i) != sent.get(i)) {
				throw refused(key, given, i);
			}
		}
	}

	private static boolean endsWithCalls(List<Message> given) {
		return !given.isEmpty() && given.get(given.size() - 1) instanceof AssistantMessage reply
				&& reply.hasToolCalls();
	}

	private static InvalidSequenceException refused(SessionKey key, List<Message> given, int place) {
		int index = Math.min(place, given.size() - 1);
		return new InvalidSequenceException("The history that this call on session " + key
				+ " brings could not be sent as it is from its message " + (index + 1) + " of " + given.size()
				+ " on, a " + given.get(index).getMessageType()
				+ " message: each call must be followed by its results, each result by nothing but its call before it,"
				+ " and a reply must not stand before the first user message unless sessionkit.sequence-guard.leading-replies"
				+ " is true. Nothing was sent.");
	}

}
