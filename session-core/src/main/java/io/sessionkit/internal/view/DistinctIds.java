package io.sessionkit.internal.view;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.sessionkit.internal.message.MessageContent;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;

/**
 * Gives the tool calls of a reply in a request ids of their own, and their results the
 * same, if the model has given several calls one id: providers refuse that. If it has
 * given no call an id, there are none, since its provider goes by position. The ids are a
 * function of the reply alone, so each request has the same ones, and begin with one of
 * its own, so that they are not those of another reply.
 */
public final class DistinctIds {

	private DistinctIds() {
	}

	/**
	 * Returns a request in which no two calls of a reply have the same id. A reply whose
	 * results do not follow it in one message stays as it is.
	 * @param request the request, which is not changed
	 * @return the same list if there is nothing to change
	 */
	public static List<Message> of(List<Message> request) {
		List<Message> changed = request;
		for (int i = 0; i + 1 < request.size(); i++) {
			if (request.get(i) instanceof AssistantMessage reply && areMixedUp(reply.getToolCalls())
					&& answers(reply, request.get(i + 1))) {
				changed = (changed == request) ? new ArrayList<>(request) : changed;
				List<String> ids = ids(reply.getToolCalls());
				changed.set(i, withIds(reply, ids));
				changed.set(i + 1, withIds(request.get(i + 1), ids));
			}
		}
		return changed;
	}

	private static boolean answers(AssistantMessage reply, Message next) {
		return next instanceof ToolResponseMessage results
				&& results.getResponses().size() == reply.getToolCalls().size();
	}

	private static boolean areMixedUp(List<ToolCall> calls) {
		return calls.size() > 1 && calls.stream().anyMatch((call) -> !isEmpty(call.id()))
				&& calls.stream().map(ToolCall::id).filter((id) -> !isEmpty(id)).distinct().count() < calls.size();
	}

	private static boolean isEmpty(@Nullable String id) {
		return id == null || id.isEmpty();
	}

	/** Each call keeps its id, unless it has none or an earlier one has it. */
	private static List<String> ids(List<ToolCall> calls) {
		Set<String> taken = new HashSet<>();
		calls.forEach((call) -> taken.add(call.id()));
		String first = calls.stream().map(ToolCall::id).filter((id) -> !isEmpty(id)).findFirst().orElseThrow();
		Set<String> kept = new HashSet<>();
		List<String> ids = new ArrayList<>();
		for (ToolCall call : calls) {
			ids.add((!isEmpty(call.id()) && kept.add(call.id())) ? call.id()
					: newId(first + "_" + (ids.size() + 1), taken));
		}
		return ids;
	}

	private static String newId(String wanted, Set<String> taken) {
		String id = wanted;
		while (!taken.add(id)) {
			id += "_";
		}
		return id;
	}

	private static Message withIds(Message message, List<String> ids) {
		MessageContent content = MessageContent.of(message);
		for (int i = 0; i < content.calls().size(); i++) {
			ToolCall call = content.calls().get(i);
			content.calls().set(i, new ToolCall(ids.get(i), call.type(), call.name(), call.arguments()));
		}
		for (int i = 0; i < content.responses().size(); i++) {
			ToolResponse result = content.responses().get(i);
			content.responses().set(i, new ToolResponse(ids.get(i), result.name(), result.responseData()));
		}
		return content.message();
	}

}
