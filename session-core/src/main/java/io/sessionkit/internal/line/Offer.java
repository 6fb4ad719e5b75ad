package io.sessionkit.internal.line;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * The messages that a call that waits offers to the turn at work, and that may join it.
 *
 * @param messages the messages, all of which its user has said
 * @param agent the agent that the call names; null for none
 * @param expectedTurn the number of the newest turn that the caller has seen; 0 to expect
 * nothing
 */
public record Offer(List<Message> messages, @Nullable String agent, long expectedTurn) {

	public Offer {
		messages = List.copyOf(messages);
	}

	/**
	 * Describes the offer without its texts, which may be secret.
	 * @return a text with the number of messages
	 */
	@Override
	public String toString() {
		return "Offer[" + this.messages.size() + " messages]";
	}

}
