package io.sessionkit.context;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * A snapshot with its messages: what the model was shown of the history when a turn
 * called it first.
 *
 * @param turn the number of the turn
 * @param messages the messages, oldest first, without system text and without the turn's
 * own
 * @param systemDigest the SHA-256 of the system text in UTF-8, in hexadecimal; null if
 * there was none
 * @param system the system text; null unless {@code sessionkit.snapshot.system} was true
 * @param missing how many messages are not there any more, since they were deleted, or
 * could never be stored
 */
public record SentHistory(long turn, List<Message> messages, @Nullable String systemDigest, @Nullable String system,
		int missing) {

	public SentHistory {
		messages = List.copyOf(messages);
	}

	/**
	 * Whether it is what was sent, to the last message.
	 * @return false if messages are missing
	 */
	public boolean isComplete() {
		return this.missing == 0;
	}

}
