package io.sessionkit.hook;

import java.util.List;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;

/**
 * The messages of one model call, with the index at which the current turn begins. The
 * messages before it are the system text and the history, or the result of a
 * {@link HistoryMerge}, other hooks or advisors.
 *
 * @param messages all messages, in order
 * @param turnStart the index of the first message of the current turn, from 0. Messages
 * of the history that a merge has put behind the first new message belong to the turn too
 */
public record ModelRequest(List<Message> messages, int turnStart) {

	public ModelRequest {
		messages = List.copyOf(messages);
		if (turnStart < 0 || turnStart > messages.size()) {
			throw new IllegalArgumentException("The current turn cannot begin at " + turnStart + " of "
					+ messages.size() + " messages. Name a place from 0 to their number.");
		}
	}

	/**
	 * Returns the system messages at the start of the request.
	 * @return the messages; none if the request has no system text in front
	 */
	public List<Message> system() {
		int end = 0;
		while (end < this.messages.size() && this.messages.get(end) instanceof SystemMessage) {
			end++;
		}
		return this.messages.subList(0, end);
	}

	/**
	 * Returns the messages between the system text and the current turn.
	 * @return the messages; none if the turn is the first
	 */
	public List<Message> history() {
		return this.messages.subList(Math.min(system().size(), this.turnStart), this.turnStart);
	}

	/**
	 * Returns the messages of the current turn: its input, then its tool rounds so far.
	 * @return the messages
	 */
	public List<Message> turn() {
		return this.messages.subList(this.turnStart, this.messages.size());
	}

	/**
	 * Returns a description without the texts, which may be secret.
	 * @return the number of messages, and the index at which the turn begins
	 */
	@Override
	public String toString() {
		return "ModelRequest[" + this.messages.size() + " messages, the turn begins at " + this.turnStart + "]";
	}

}
