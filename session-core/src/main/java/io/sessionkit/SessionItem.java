package io.sessionkit;

import java.time.Instant;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;

/**
 * One stored message. A tool response message is one item, however many responses it
 * holds.
 *
 * @param sequence its place in the session, rising over all branches and never reused:
 * the order of the log, whatever the clocks said
 * @param turn the number of its turn
 * @param at when it was recorded, by the clock of the application
 * @param tokens its size in tokens, estimated once when it was written
 * @param message the message, a copy of the reader's own
 */
public record SessionItem(long sequence, long turn, Instant at, int tokens, Message message) {

	/**
	 * Who speaks.
	 * @return the type of the message
	 */
	public MessageType role() {
		return this.message.getMessageType();
	}

}
