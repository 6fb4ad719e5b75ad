package io.sessionkit.internal.lease;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.internal.attribute.JoiningInput;

import org.springframework.ai.chat.messages.AssistantMessage;

/**
 * A reply that an open turn holds back because not all of its tool calls are answered. It
 * becomes part of the turn together with the answers.
 *
 * @param reply the reply, with its calls
 * @param notes the values that the code that holds the reply back needs later; a codec
 * must be able to store them
 * @param queued the messages that follow the answers when the turn continues, in the
 * order in which they came
 */
public record HeldReply(AssistantMessage reply, Map<String, Object> notes, List<JoiningInput> queued) {

	public HeldReply {
		notes = Map.copyOf(notes);
		queued = List.copyOf(queued);
	}

	/**
	 * Returns this reply with further notes, which replace those of the same name.
	 * @param more the notes
	 * @return a copy
	 */
	public HeldReply noting(Map<String, Object> more) {
		Map<String, Object> all = new HashMap<>(this.notes);
		all.putAll(more);
		return new HeldReply(this.reply, all, this.queued);
	}

	/**
	 * Describes the reply without its texts, which may be secret.
	 * @return a text with the number of its calls and of the calls that have queued
	 * messages
	 */
	@Override
	public String toString() {
		return "HeldReply[" + this.reply.getToolCalls().size() + " calls, " + this.queued.size() + " queued]";
	}

}
