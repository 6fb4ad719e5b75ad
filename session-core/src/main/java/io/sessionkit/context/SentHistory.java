package io.sessionkit.context;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * A snapshot with its messages: the history as it was sent to the model in the first call
 * of a turn.
 *
 * @param turn the number of the turn
 * @param messages the messages, oldest first, without system text and without the
 * messages of the turn itself
 * @param systemDigest the SHA-256 of the system text in UTF-8, in hexadecimal; null if
 * there was none
 * @param system the system text; null unless {@code sessionkit.snapshot.keep-system-text}
 * was true
 * @param missing the number of messages that are no longer there because they were
 * deleted or could never be stored
 */
public record SentHistory(long turn, List<Message> messages, @Nullable String systemDigest, @Nullable String system,
		int missing) {

	public SentHistory {
		messages = List.copyOf(messages);
	}

	/**
	 * Returns whether the messages are exactly those that were sent.
	 * @return false if messages are missing
	 */
	public boolean isComplete() {
		return this.missing == 0;
	}

}
