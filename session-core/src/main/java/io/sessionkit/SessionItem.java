package io.sessionkit;

import java.time.Instant;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;

/**
 * One stored message. A tool response message is one item, however many responses it
 * holds.
 *
 * @param sequence its position in the session, ascending over all branches and never
 * reused; it defines the order of the log, whatever the clocks said
 * @param turn the number of its turn
 * @param at when it was recorded, by the clock of the application
 * @param tokens its size in tokens, estimated once when it was written
 * @param message the message, a copy that belongs to the reader
 */
public record SessionItem(long sequence, long turn, Instant at, int tokens, Message message) {

	/**
	 * Returns the role of the speaker.
	 * @return the type of the message
	 */
	public MessageType role() {
		return this.message.getMessageType();
	}

}
