package io.sessionkit.internal.turn;

import java.util.List;
import java.util.Map;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;

/**
 * A reply that an open turn holds back, because not all of its tool calls are answered.
 * It becomes part of the turn together with the answers.
 *
 * @param reply the reply, with its calls
 * @param notes what whoever holds it back wants to know of it later; what a codec can
 * store
 * @param queued messages that the turn goes on with behind the answers
 */
public record HeldReply(AssistantMessage reply, Map<String, Object> notes, List<Message> queued) {

	public HeldReply {
		notes = Map.copyOf(notes);
		queued = List.copyOf(queued);
	}

	/**
	 * The reply without its texts, which may be secret.
	 * @return how many calls it makes
	 */
	@Override
	public String toString() {
		return "HeldReply[" + this.reply.getToolCalls().size() + " calls, " + this.queued.size() + " queued]";
	}

}
