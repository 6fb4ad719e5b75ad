package io.sessionkit.internal.view;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;

/**
 * Measures requests in messages and tokens. The tokens of a message are counted only
 * once. Not safe for use by many threads.
 */
public final class RequestSize {

	private final ToIntFunction<Message> estimate;

	private final double factor;

	private final List<ViewLine> history;

	/** Null until it is first needed: most requests are never counted. */
	private @Nullable Map<Message, Integer> known;

	/**
	 * Creates a size for the requests of one turn.
	 * @param history the lines of the history, whose sizes are known
	 * @param estimate the function that counts the tokens of a message
	 * @param factor the factor that a sum of estimates is multiplied by
	 */
	public RequestSize(List<ViewLine> history, ToIntFunction<Message> estimate, double factor) {
		this.estimate = estimate;
		this.factor = factor;
		this.history = history;
	}

	static int messages(List<Message> request) {
		int messages = 0;
		for (Message message : request) {
			messages += (message instanceof SystemMessage) ? 0 : 1;
		}
		return messages;
	}

	double tokens(List<Message> request) {
		long tokens = 0;
		for (Message message : request) {
			tokens += (message instanceof SystemMessage) ? 0 : raw(message);
		}
		return tokens * this.factor;
	}

	/**
	 * Returns the estimate for all messages, system text included, without the factor.
	 */
	long estimateOfAll(List<Message> request) {
		long tokens = 0;
		for (Message message : request) {
			tokens += raw(message);
		}
		return tokens;
	}

	private int raw(Message message) {
		if (this.known == null) {
			this.known = new IdentityHashMap<>();
			for (ViewLine line : this.history) {
				this.known.put(line.message(), line.tokens());
			}
		}
		return this.known.computeIfAbsent(message, this.estimate::applyAsInt);
	}

}
