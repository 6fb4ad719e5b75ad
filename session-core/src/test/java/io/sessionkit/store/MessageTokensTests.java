package io.sessionkit.store;

import java.util.List;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.MediaContent;
import org.springframework.ai.tokenizer.TokenCountEstimator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Estimators that fail. It reads the log.
 */
@Isolated
class MessageTokensTests {

	private static final Message MESSAGE = new UserMessage("secret".repeat(100));

	private final Logger logger = (Logger) LoggerFactory.getLogger(MessageTokens.class);

	private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

	@BeforeEach
	void listen() {
		this.appender.start();
		this.logger.setAdditive(false);
		this.logger.addAppender(this.appender);
	}

	@AfterEach
	void stop() {
		this.logger.detachAppender(this.appender);
		this.logger.setAdditive(true);
	}

	@Test
	void estimatorThatThrowsIsReplacedByTheLengthAndNamedOnce() {
		MessageTokens tokens = new MessageTokens(new Fixed(0) {

			@Override
			public int estimate(String text) {
				throw new IllegalStateException(text);
			}

		});
		assertThat(List.of(tokens.applyAsInt(MESSAGE), tokens.applyAsInt(MESSAGE))).containsOnly(154);
		assertThat(this.appender.list).singleElement()
			.satisfies((event) -> assertThat(event.getFormattedMessage())
				.contains(MessageTokensTests.class.getName(), IllegalStateException.class.getName())
				.doesNotContain("secret"));
	}

	@Test
	void negativeNumberIsReplacedByTheLengthAndLoggedOnce() {
		MessageTokens tokens = new MessageTokens(new Fixed(-1));
		assertThat(List.of(tokens.applyAsInt(MESSAGE), tokens.applyAsInt(MESSAGE))).containsOnly(154);
		assertThat(this.appender.list).singleElement()
			.satisfies((event) -> assertThat(event.getFormattedMessage()).contains(Fixed.class.getName(), "negative"));
	}

	@Test
	void sumsOfATurnStayNumbers() {
		MessageTokens tokens = new MessageTokens(new Fixed(Integer.MAX_VALUE));
		assertThat(100 * tokens.applyAsInt(MESSAGE)).isPositive();
		assertThat(this.appender.list).isEmpty();
	}

	/** Counts each text as the same number. */
	private static class Fixed implements TokenCountEstimator {

		private final int tokens;

		Fixed(int tokens) {
			this.tokens = tokens;
		}

		@Override
		public int estimate(String text) {
			return this.tokens;
		}

		@Override
		public int estimate(MediaContent content) {
			return this.tokens;
		}

		@Override
		public int estimate(Iterable<MediaContent> contents) {
			return this.tokens;
		}

	}

}
