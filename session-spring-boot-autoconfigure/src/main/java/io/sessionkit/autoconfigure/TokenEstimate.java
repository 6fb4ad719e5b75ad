package io.sessionkit.autoconfigure;

import java.util.function.ToIntFunction;

import io.sessionkit.store.MessageTokens;

import org.springframework.ai.chat.messages.Message;

/**
 * The ways to estimate the tokens of a message if the application has no
 * {@code TokenCountEstimator} bean.
 */
public enum TokenEstimate {

	/** From the length of texts and their alphabet. */
	LENGTH {

		@Override
		public ToIntFunction<Message> tokens() {
			return MessageTokens.byLength();
		}

	},

	/** By the vocabulary with which Spring AI counts. */
	VOCABULARY {

		@Override
		public ToIntFunction<Message> tokens() {
			return MessageTokens.byVocabulary();
		}

	};

	public abstract ToIntFunction<Message> tokens();

}
