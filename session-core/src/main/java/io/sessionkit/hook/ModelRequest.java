package io.sessionkit.hook;

import java.util.List;

import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;

/**
 * The messages of one model call, and where the current turn begins among them. What
 * stands before it are the system text and the history, or what a {@link HistoryMerge},
 * other hooks or advisors have made of them.
 *
 * @param messages all messages, in order
 * @param turnStart the place of the first message of the current turn, from 0. Where a
 * merge has put history behind the first new message, that belongs to the turn too
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
	 * Returns the system messages that stand in front of everything else.
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
	 * Returns what stands between the system text and the current turn.
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
	 * Returns what it is without its texts, which may be secret.
	 * @return how many messages there are, and where the turn begins
	 */
	@Override
	public String toString() {
		return "ModelRequest[" + this.messages.size() + " messages, the turn begins at " + this.turnStart + "]";
	}

}
