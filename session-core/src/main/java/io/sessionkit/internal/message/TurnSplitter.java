package io.sessionkit.internal.message;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Splits messages that were said elsewhere into turns: a question, or system text before
 * one, that comes behind an answer begins the next turn. Calls stay with their results.
 */
public final class TurnSplitter {

	private TurnSplitter() {
	}

	/**
	 * Returns the messages of each turn, in order. What comes before the first question
	 * belongs to the first turn.
	 * @param messages the messages
	 */
	public static List<List<Message>> split(List<? extends Message> messages) {
		List<List<Message>> turns = new ArrayList<>();
		List<Message> turn = new ArrayList<>();
		boolean asked = false;
		for (Message message : messages) {
			boolean answers = answers(message);
			if (asked && !answers && answers(turn.get(turn.size() - 1))) {
				turns.add(turn);
				turn = new ArrayList<>();
				asked = false;
			}
			turn.add(message);
			asked |= message instanceof UserMessage;
		}
		if (!turn.isEmpty()) {
			turns.add(turn);
		}
		return turns;
	}

	/**
	 * Returns what is wrong with messages that are to become whole turns, as words that
	 * follow "the messages"; null if nothing is.
	 * @param messages the messages
	 */
	public static @Nullable String fault(List<? extends Message> messages) {
		Message first = firstSaid(messages);
		if (first == null || answers(first)) {
			return "must begin with a question, with nothing but system text before it: a model cannot be sent an answer"
					+ " first. Put a greeting into the system text, or a user message before it";
		}
		Message last = messages.get(messages.size() - 1);
		if (!(last instanceof AssistantMessage)) {
			return "must end with an answer";
		}
		String fault = ToolGroups.fault(List.copyOf(messages), List.of(messages.get(0)));
		return (fault != null) ? "are " + fault : blank(messages);
	}

	/** Returns the first message that is no system text; null if there is none. */
	private static @Nullable Message firstSaid(List<? extends Message> messages) {
		for (Message message : messages) {
			if (!(message instanceof SystemMessage)) {
				return message;
			}
		}
		return null;
	}

	private static @Nullable String blank(List<? extends Message> messages) {
		for (int i = 0; i < messages.size(); i++) {
			if (messages.get(i) instanceof AssistantMessage reply && Replies.isBlank(reply)) {
				return "have an answer with neither text nor tool calls nor media, number " + (i + 1) + " of "
						+ messages.size() + ". Give it a text, or leave it out with its question";
			}
		}
		return null;
	}

	/**
	 * Returns whether a message begins another turn where messages need not be whole
	 * turns: a question does behind anything but another one, and whatever does not
	 * answer the calls of the message before it.
	 * @param last the message before it
	 * @param next the message
	 */
	public static boolean beginsAnew(Message last, Message next) {
		if (last instanceof AssistantMessage reply && reply.hasToolCalls()) {
			return !(next instanceof ToolResponseMessage);
		}
		return next instanceof UserMessage && !(last instanceof UserMessage);
	}

	private static boolean answers(Message message) {
		return message instanceof AssistantMessage || message instanceof ToolResponseMessage;
	}

}
