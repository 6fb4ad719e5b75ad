package io.sessionkit.store;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.ToIntFunction;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.content.MediaContent;
import org.springframework.ai.tokenizer.JTokkitTokenCountEstimator;
import org.springframework.ai.tokenizer.TokenCountEstimator;

/**
 * Estimates the size of a whole message in tokens: its text, the names and arguments of
 * tool calls, tool results, a constant for each medium and one for the frame of the
 * message.
 * <p>
 * Providers count media by rules of their own, from some 85 tokens for a small picture to
 * 1,600 for a large one; {@value #PER_MEDIUM} is a guess in between. A long text is
 * counted in pieces. A text for which the estimator throws an exception, or returns less
 * than 0, is estimated from its length; the first time is logged. No message counts more
 * than {@value #MOST}. Safe for use by many threads if the estimator is.
 */
public final class MessageTokens implements ToIntFunction<Message> {

	private static final Log logger = LogFactory.getLog(MessageTokens.class);

	/** The default number of tokens for each medium. */
	public static final int PER_MEDIUM = 1000;

	/**
	 * The number of characters counted at once. Estimators that look for the longest
	 * words take long for a text that is one long word.
	 */
	private static final int PIECE = 8_000;

	/** The assumed size of a token if the estimator fails. */
	private static final int CHARACTERS_PER_TOKEN = 4;

	/** The role and the marks around a message. */
	private static final int FRAME = 4;

	/**
	 * The most tokens of a message: more than any model takes, and little enough for the
	 * sum of a turn.
	 */
	private static final int MOST = 10_000_000;

	private static final ToIntFunction<Message> BY_LENGTH = new MessageTokens(new LengthEstimator(),
			LengthEstimator.class, PER_MEDIUM);

	private static final ToIntFunction<Message> BY_VOCABULARY = (message) -> Vocabulary.INSTANCE.applyAsInt(message);

	private final ToIntFunction<String> estimator;

	/** The class of the estimator, which {@link #estimator} does not always reveal. */
	private final Class<?> type;

	private final AtomicBoolean warned = new AtomicBoolean();

	private final int perMedium;

	/**
	 * Creates an estimate that counts text by the given estimator and each medium as
	 * {@value #PER_MEDIUM} tokens.
	 * @param estimator counts the tokens of a text
	 */
	public MessageTokens(TokenCountEstimator estimator) {
		this(estimator, PER_MEDIUM);
	}

	/**
	 * Creates an estimate that counts text by the given estimator and media by a
	 * constant.
	 * @param estimator counts the tokens of a text
	 * @param perMedium the tokens of each medium; 0 or more
	 * @throws IllegalArgumentException if the tokens of a medium are negative
	 */
	public MessageTokens(TokenCountEstimator estimator, int perMedium) {
		this(estimator::estimate, estimator.getClass(), perMedium);
	}

	private MessageTokens(ToIntFunction<String> estimator, Class<?> type, int perMedium) {
		if (perMedium < 0) {
			throw new IllegalArgumentException("The tokens of a medium must not be negative: " + perMedium + ".");
		}
		this.estimator = estimator;
		this.type = type;
		this.perMedium = perMedium;
	}

	/**
	 * Returns an estimate from the length of texts and the alphabet that they are written
	 * in. It takes about a nanosecond for a character, and is within some 40 % of a
	 * vocabulary for texts in most languages. If a limit counts tokens, the counts that
	 * the provider reports correct it.
	 * @return the estimate
	 */
	public static ToIntFunction<Message> byLength() {
		return BY_LENGTH;
	}

	/**
	 * Returns an estimate by the vocabulary {@code cl100k_base}, with which Spring AI
	 * counts. The vocabulary is loaded once, when the first message is counted, which
	 * takes about half a second; a message of 1,000 characters then takes 6 to 10
	 * microseconds.
	 * @return the estimate
	 */
	public static ToIntFunction<Message> byVocabulary() {
		return BY_VOCABULARY;
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
		return (int) Math.min(tokens, MOST);
	}

	private long count(@Nullable String text) {
		long tokens = 0;
		for (int from = 0; text != null && from < text.length(); from += PIECE) {
			tokens += countPiece(text.substring(from, Math.min(text.length(), from + PIECE)));
		}
		return tokens;
	}

	/**
	 * Counts one piece. A failing estimate must not keep a message from being stored:
	 * JTokkit, for one, refuses texts that contain the name of a special token.
	 */
	private int countPiece(String text) {
		try {
			int tokens = this.estimator.applyAsInt(text);
			return (tokens >= 0) ? tokens : countByLength(text, "returned a negative number");
		}
		catch (RuntimeException ex) {
			return countByLength(text, "threw " + ex.getClass().getName());
		}
	}

	private int countByLength(String text, String flaw) {
		if (this.warned.compareAndSet(false, true)) {
			logger.warn("The token estimator " + this.type.getName() + " " + flaw
					+ ", so that text is estimated from its length. This is logged once.");
		}
		return (text.length() + CHARACTERS_PER_TOKEN - 1) / CHARACTERS_PER_TOKEN;
	}

	/** Holds the vocabulary, which is large, until it is needed. */
	private static final class Vocabulary {

		private static final MessageTokens INSTANCE = new MessageTokens(new JTokkitTokenCountEstimator());

	}

}
