package io.sessionkit.hook;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;

/**
 * A reply that calls tools, with their results.
 *
 * @param calls the reply, with its text if it has one
 * @param results the results, in the order of the calls; null if the turn ended before
 * they were available
 */
public record ToolRound(AssistantMessage calls, @Nullable ToolResponseMessage results) {

	/**
	 * Returns a description without the texts, which may be secret.
	 * @return the number of calls, and whether they were answered
	 */
	@Override
	public String toString() {
		return "ToolRound[" + this.calls.getToolCalls().size() + " calls"
				+ ((this.results != null) ? ", answered]" : "]");
	}

}
