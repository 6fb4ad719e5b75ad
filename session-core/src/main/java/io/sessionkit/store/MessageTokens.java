package io.sessionkit.store;

import java.util.function.ToIntFunction;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.content.MediaContent;
import org.springframework.ai.tokenizer.JTokkitTokenCountEstimator;
import org.springframework.ai.tokenizer.TokenCountEstimator;

/**
 * Estimates the size of a whole message: text, names and arguments of tool calls, tool
 * results, a constant for each medium and one for the frame of the message.
 * <p>
 * Providers count media by rules of their own, from some 85 tokens for a small picture to
 * 1,600 for a large one; {@value #PER_MEDIUM} is a guess in between. A long text is
 * counted in pieces, and one that the estimator refuses by its length. Safe for use by
 * many threads if the estimator is.
 */
public final class MessageTokens implements ToIntFunction<Message> {

	/** What a medium counts unless it is said otherwise. */
	public static final int PER_MEDIUM = 1000;

	/** Estimators that look for the longest words take long for texts that are one. */
	private static final int PIECE = 8_000;

	/** What is taken for the size of a token where the estimator fails. */
	private static final int CHARACTERS_PER_TOKEN = 4;

	/** The role and the marks around a message. */
	private static final int FRAME = 4;

	private final TokenCountEstimator estimator;

	private final int perMedium;

	/**
	 * Counts text by an estimator.
	 * @param estimator counts the tokens of a text
	 */
	public MessageTokens(TokenCountEstimator estimator) {
		this(estimator, PER_MEDIUM);
	}

	/**
	 * Counts text by an estimator, and media by a constant.
	 * @param estimator counts the tokens of a text
	 * @param perMedium what each medium counts
	 */
	public MessageTokens(TokenCountEstimator estimator, int perMedium) {
		if (perMedium < 0) {
			throw new IllegalArgumentException("The tokens of a medium must not be negative: " + perMedium + ".");
		}
		this.estimator = estimator;
		this.perMedium = perMedium;
	}

	/**
	 * Counts as Spring AI does by default: by the vocabulary {@code cl100k_base}, which
	 * is read once, when the first message is counted.
	 * @return the estimate
	 */
	public static ToIntFunction<Message> standard() {
		return (message) -> Standard.INSTANCE.applyAsInt(message);
	}

	@Override
	public int applyAsInt(Message message) {
		long tokens = FRAME + count(message.getText());
		if (message instanceof AssistantMessage reply) {
			for (AssistantMessage.ToolCall call : reply.getToolCalls()) {
				tokens += count(call.name()) + count(call.arguments());
			}
		}
		if (message instanceof ToolResponseMessage results) {
			for (ToolResponseMessage.ToolResponse response : results.getResponses()) {
				tokens += count(response.name()) + count(response.responseData());
			}
		}
		if (message instanceof MediaContent content) {
			tokens += (long) content.getMedia().size() * this.perMedium;
		}
		return (int) Math.min(tokens, Integer.MAX_VALUE);
	}

	private long count(@Nullable String text) {
		long tokens = 0;
		for (int from = 0; text != null && from < text.length(); from += PIECE) {
			tokens += countPiece(text.substring(from, Math.min(text.length(), from + PIECE)));
		}
		return tokens;
	}

	/**
	 * An estimate must not keep a message from being stored: JTokkit, for one, refuses
	 * texts that have the name of a special token in them.
	 */
	private int countPiece(String text) {
		try {
			return this.estimator.estimate(text);
		}
		catch (RuntimeException ex) {
			return (text.length() + CHARACTERS_PER_TOKEN - 1) / CHARACTERS_PER_TOKEN;
		}
	}

	/** Holds the vocabulary, which is large, until it is needed. */
	private static final class Standard {

		private static final MessageTokens INSTANCE = new MessageTokens(new JTokkitTokenCountEstimator());

	}

}
