package io.sessionkit.test;

import java.util.ArrayList;
import java.util.List;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;

/**
 * The rules of providers for a request, written a second time and by other means than the
 * guard, so that the two check each other.
 */
public final class ValidSequence {

	private ValidSequence() {
	}

	/**
	 * Returns the faults of a request.
	 * @param request the messages as the model gets them
	 * @return a sentence for each fault; none if it is valid
	 */
	public static List<String> faults(List<Message> request) {
		List<String> faults = new ArrayList<>();
		int firstOther = 0;
		for (int i = 0; i < request.size(); i++) {
			Message message = request.get(i);
			if (message.getMessageType() == MessageType.SYSTEM) {
				if (i > 0) {
					faults.add("system message at " + i);
				}
				if (message.getText() == null || message.getText().isBlank()) {
					faults.add("blank system message");
				}
				firstOther = i + 1;
			}
		}
		if (firstOther < request.size() && request.get(firstOther).getMessageType() != MessageType.USER) {
			faults.add("starts with " + request.get(firstOther).getMessageType());
		}
		for (int i = 0; i < request.size(); i++) {
			check(request, i, faults);
		}
		return faults;
	}

	private static void check(List<Message> request, int i, List<String> faults) {
		Message message = request.get(i);
		if (message instanceof AssistantMessage assistant && assistant.hasToolCalls()) {
			if (i + 1 >= request.size() || !(request.get(i + 1) instanceof ToolResponseMessage results)) {
				faults.add("calls at " + i + " without results");
				return;
			}
			List<ToolCall> calls = assistant.getToolCalls();
			if (calls.size() != results.getResponses().size()) {
				faults.add(calls.size() + " calls at " + i + " with " + results.getResponses().size() + " results");
				return;
			}
			for (int k = 0; k < calls.size(); k++) {
				ToolResponse response = results.getResponses().get(k);
				if (!response.id().equals(calls.get(k).id())) {
					faults.add("result " + k + " after " + i + " answers another call");
				}
			}
		}
		if (message instanceof ToolResponseMessage) {
			boolean answers = i > 0 && request.get(i - 1) instanceof AssistantMessage before && before.hasToolCalls();
			if (!answers) {
				faults.add("results at " + i + " without calls");
			}
		}
	}

}
