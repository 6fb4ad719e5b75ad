package io.sessionkit.internal.view;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;

/**
 * How large a request is. A message is counted once. Not safe for use by many threads.
 */
public final class RequestSize {

	private final ToIntFunction<Message> estimate;

	private final double factor;

	private final List<ViewLine> history;

	/** Null until somebody asks: most requests are never counted. */
	private @Nullable Map<Message, Integer> known;

	/**
	 * @param estimate counts the tokens of a message
	 * @param factor what a sum of estimates is multiplied by
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
	 * The estimate of all messages, system text included, as it is.
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
