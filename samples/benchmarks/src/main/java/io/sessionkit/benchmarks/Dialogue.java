package io.sessionkit.benchmarks;

import java.util.List;
import java.util.Random;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * The texts of the turns: all of one length, the same in every run.
 */
final class Dialogue {

	/** The length of every message, in characters. */
	static final int LENGTH = 250;

	private static final List<String> WORDS = List.of("the", "order", "was", "sent", "to", "an", "address", "that",
			"no", "longer", "exists", "please", "change", "it", "before", "Friday", "and", "tell", "me", "what",
			"costs");

	private static final String REPLY = text(0, LENGTH);

	private Dialogue() {
	}

	/**
	 * Returns a text that looks like a real one.
	 */
	static String text(long seed, int length) {
		Random random = new Random(seed);
		StringBuilder text = new StringBuilder(length + 10);
		while (text.length() < length) {
			text.append(WORDS.get(random.nextInt(WORDS.size()))).append(' ');
		}
		return text.substring(0, length);
	}

	static Message question(long number) {
		return new UserMessage(text(number, LENGTH));
	}

	/** Returns what the model says each time. */
	static String reply() {
		return REPLY;
	}

	/**
	 * Returns one turn of a session that is written in advance.
	 */
	static List<Message> turn(long number) {
		return List.of(question(number), new AssistantMessage(REPLY));
	}

}
