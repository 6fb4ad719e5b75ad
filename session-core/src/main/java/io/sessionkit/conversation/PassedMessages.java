package io.sessionkit.conversation;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

import io.sessionkit.InvalidSequenceException;
import io.sessionkit.SessionKey;
import io.sessionkit.hook.SequenceGuard;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * What a caller passes is sent or refused: the guard may repair what is in the thread,
 * and never leaves out what somebody has just said.
 */
final class PassedMessages {

	private PassedMessages() {
	}

	/**
	 * Checks that the guard would leave nothing out of the input.
	 * @param history what goes before it, whole
	 * @param repairing the guard that repairs
	 * @throws InvalidSequenceException if it would; the message says what and why
	 */
	static void check(SessionKey key, List<Message> history, List<Message> input, SequenceGuard repairing) {
		if (input.stream().allMatch(UserMessage.class::isInstance)) {
			return;
		}
		List<Message> whole = new ArrayList<>(history);
		whole.addAll(input);
		Sent sent = Sent.of(repairing.apply(whole));
		for (Message message : input) {
			if (message instanceof ToolResponseMessage results) {
				results.getResponses().stream().filter((result) -> !sent.results().contains(result)).forEach((lost) -> {
					throw new InvalidSequenceException("The result '" + lost.id() + "' of tool '" + lost.name()
							+ "' that this call on session " + key
							+ " passes answers no call: the message before it has"
							+ " no such call that waits, so no model could be sent it. Pass the results of a reply in"
							+ " the next call on the same session, with the ids of its calls, and nothing in between.");
				});
			}
			else if (!sent.messages().contains(message)) {
				throw new InvalidSequenceException(
						"The reply that this call on session " + key + " passes stands before"
								+ " the first user message, where many providers refuse one. Leave it out, or set"
								+ " sessionkit.sequence.leading-replies=true if yours takes it.");
			}
		}
	}

	/**
	 * What is in a request, by identity.
	 */
	private record Sent(Set<Message> messages, Set<ToolResponse> results) {

		static Sent of(List<Message> request) {
			Set<Message> messages = Collections.newSetFromMap(new IdentityHashMap<>());
			Set<ToolResponse> results = Collections.newSetFromMap(new IdentityHashMap<>());
			for (Message message : request) {
				messages.add(message);
				if (message instanceof ToolResponseMessage tools) {
					results.addAll(tools.getResponses());
				}
			}
			return new Sent(messages, results);
		}

	}

}
