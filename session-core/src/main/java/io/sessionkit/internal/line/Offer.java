package io.sessionkit.internal.line;

import java.util.List;

import io.sessionkit.internal.attribute.JoiningInput;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.Message;

/**
 * The messages that a call that waits offers to the turn at work, and that may join it.
 *
 * @param input the messages, all of which its user has said, as hooks have left them
 * @param agent the agent that the call names; null for none
 * @param expectedTurn the number of the newest turn that the caller has seen; 0 to expect
 * nothing
 */
public record Offer(JoiningInput input, @Nullable String agent, long expectedTurn) {

	/**
	 * Returns the messages.
	 * @return the messages as hooks have left them
	 */
	public List<Message> messages() {
		return this.input.messages();
	}

	/**
	 * Describes the offer without its texts, which may be secret.
	 * @return a text with the number of messages
	 */
	@Override
	public String toString() {
		return "Offer[" + messages().size() + " messages]";
	}

}
