package io.sessionkit.internal.view;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

import io.sessionkit.SessionKey;
import io.sessionkit.context.InvalidSequenceException;
import io.sessionkit.context.SequenceGuard;
import io.sessionkit.internal.Names;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Ensures that the messages a caller passes are either sent or refused. The guard may
 * repair what is stored in the session, but it never leaves out new messages of the
 * caller.
 */
public final class PassedMessages {

	private PassedMessages() {
	}

	/**
	 * Checks that the guard would leave nothing out of the input.
	 * @param history the whole history that precedes the input
	 * @param repairing the guard that repairs
	 * @throws InvalidSequenceException if it would; the message says what and why
	 */
	public static void check(SessionKey key, List<Message> history, List<Message> input, SequenceGuard repairing) {
		if (areQuestions(input)) {
			return;
		}
		List<Message> whole = new ArrayList<>(history);
		whole.addAll(input);
		Sent sent = Sent.of(repairing.apply(whole));
		for (Message message : input) {
			if (message instanceof ToolResponseMessage results) {
				results.getResponses().stream().filter((result) -> !sent.results().contains(result)).forEach((lost) -> {
					throw new InvalidSequenceException("The result " + Names.quoted(lost.id()) + " of tool "
							+ Names.quoted(lost.name()) + " that this call on session " + key
							+ " passes answers no call: the message before it has"
							+ " no such call that waits, so no model could be sent it. Pass the results of a reply in"
							+ " the next call on the same session, with the ids of its calls, and nothing in between.");
				});
			}
			else if (!sent.messages().contains(message)) {
				throw new InvalidSequenceException(
						"The reply that this call on session " + key + " passes stands before"
								+ " the first user message, where many providers refuse one. Leave it out, or set"
								+ " sessionkit.sequence-guard.leading-replies=true if yours takes it.");
			}
		}
	}

	/** Returns whether there is nothing to check: a guard leaves no question out. */
	private static boolean areQuestions(List<Message> input) {
		for (Message message : input) {
			if (!(message instanceof UserMessage)) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Checks, after a hook or a merge has changed the input, that all tool results that
	 * were passed are still there, each where it answers its call.
	 * @param who the name of what has changed the input, for the start of the exception's
	 * message
	 * @param passed the input as it was
	 * @param input the input as it is now
	 * @param whole the messages to send, including the input
	 * @param repairing the guard that repairs
	 * @throws IllegalStateException if a result is missing; the message says which
	 */
	public static void checkChanged(String who, SessionKey key, List<Message> passed, List<Message> input,
			List<Message> whole, SequenceGuard repairing) {
		List<ToolResponse> expected = results(passed);
		if (expected.isEmpty()) {
			return;
		}
		Sent sent = Sent.of(repairing.apply(whole));
		List<String> there = new ArrayList<>();
		results(input).stream().filter(sent.results()::contains).forEach((result) -> there.add(result.id()));
		for (ToolResponse result : expected) {
			if (!there.remove(result.id())) {
				throw new IllegalStateException(who + " of a turn on session " + key + " leaves out the result "
						+ Names.quoted(result.id()) + " of tool " + Names.quoted(result.name())
						+ " that the call passes, or puts something between it and the reply that it answers. Return"
						+ " all results that were passed, in front of everything else that is new.");
			}
		}
	}

	private static List<ToolResponse> results(List<Message> messages) {
		return messages.stream()
			.filter(ToolResponseMessage.class::isInstance)
			.flatMap((message) -> ((ToolResponseMessage) message).getResponses().stream())
			.toList();
	}

	/**
	 * The messages and tool results in a request, by identity.
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
