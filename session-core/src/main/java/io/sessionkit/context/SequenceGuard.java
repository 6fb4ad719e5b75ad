package io.sessionkit.context;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Makes every request a sequence that providers accept: one system message, first and not
 * blank; then a user message, if there is any (unless {@link #withLeadingReplies()});
 * every tool call answered exactly once, in the order of the calls, by the tool message
 * right after it; no result without its call.
 * <p>
 * The repair is a function of the messages alone, so the same history is always sent in
 * the same form and prompt caches stay valid. A valid sequence is returned as it is, and
 * a repaired sequence is valid. Calls and results are matched by position, since some
 * providers give every call the same id; ids are used only if they distinguish all calls.
 * User messages are never dropped. Safe for use by many threads.
 */
public final class SequenceGuard {

	/**
	 * The result that is sent for a tool call without a result.
	 */
	public static final String NO_RESULT = "No result: the call was interrupted and did not finish.";

	private static final String SYSTEM_SEPARATOR = "\n\n";

	private final boolean strict;

	private final boolean leadingReplies;

	private SequenceGuard(boolean strict, boolean leadingReplies) {
		this.strict = strict;
		this.leadingReplies = leadingReplies;
	}

	/**
	 * Creates a guard that repairs.
	 * @return the guard
	 */
	public static SequenceGuard repairing() {
		return new SequenceGuard(false, false);
	}

	/**
	 * Creates a guard that throws an exception instead of repairing.
	 * @return the guard
	 */
	public static SequenceGuard strict() {
		return new SequenceGuard(true, false);
	}

	/**
	 * Returns this guard with replies in front of the first user message, such as a
	 * greeting, sent too. Some providers refuse such replies; by default they are left
	 * out.
	 * @return a new guard
	 */
	public SequenceGuard withLeadingReplies() {
		return new SequenceGuard(this.strict, true);
	}

	/**
	 * Returns this guard as one that repairs, even if it is strict.
	 * @return a new guard
	 */
	public SequenceGuard repair() {
		return new SequenceGuard(false, this.leadingReplies);
	}

	/**
	 * Returns the messages as a valid sequence.
	 * @param messages the messages to send; they are not changed
	 * @return the same list if it is valid, else a new one
	 * @throws InvalidSequenceException if the guard is strict and the list is not valid
	 */
	public List<Message> apply(List<Message> messages) {
		if (isPlain(messages)) {
			return messages;
		}
		List<Message> repaired = new ArrayList<>(messages.size());
		SystemMessage system = system(messages);
		if (system != null) {
			repaired.add(system);
		}
		repaired.addAll(answered(withoutLeadingReplies(withoutSystem(messages))));
		if (same(repaired, messages)) {
			return messages;
		}
		if (this.strict) {
			throw new InvalidSequenceException("The request is not a valid sequence at message "
					+ firstChange(messages, repaired) + " of " + messages.size() + ": " + types(messages)
					+ ". Repaired it would be " + types(repaired)
					+ ": send it like that, or set sessionkit.sequence-guard.strict=false to have it repaired.");
		}
		return repaired;
	}

	/**
	 * Returns whether there is nothing to repair: no tool calls or tool messages, at most
	 * one system message, which is first and not blank, and no leading reply. Nearly
	 * every request is like this.
	 */
	private boolean isPlain(List<Message> messages) {
		for (int i = 0; i < messages.size(); i++) {
			Message message = messages.get(i);
			boolean plain = switch (message.getMessageType()) {
				case SYSTEM -> i == 0 && !isBlank(message);
				case USER -> true;
				case ASSISTANT -> !callsTools(message)
						&& (this.leadingReplies || (i > 0 && !(messages.get(i - 1) instanceof SystemMessage)));
				case TOOL -> false;
			};
			if (!plain) {
				return false;
			}
		}
		return true;
	}

	private static @Nullable SystemMessage system(List<Message> messages) {
		Map<String, SystemMessage> distinct = new LinkedHashMap<>();
		for (Message message : messages) {
			if (message instanceof SystemMessage system && !isBlank(system)) {
				distinct.putIfAbsent(system.getText(), system);
			}
		}
		if (distinct.size() < 2) {
			return distinct.isEmpty() ? null : distinct.values().iterator().next();
		}
		Map<String, Object> metadata = new HashMap<>();
		distinct.values().forEach((system) -> metadata.putAll(system.getMetadata()));
		metadata.values().removeIf((value) -> value == null);
		return SystemMessage.builder()
			.text(String.join(SYSTEM_SEPARATOR, distinct.keySet()))
			.metadata(metadata)
			.build();
	}

	private static List<Message> withoutSystem(List<Message> messages) {
		return messages.stream().filter((message) -> !(message instanceof SystemMessage)).toList();
	}

	/**
	 * Returns the messages without the replies in front of the first user message. If
	 * there is no user message at all, the messages stay as they are: the caller then
	 * sends something other than a conversation.
	 */
	private List<Message> withoutLeadingReplies(List<Message> messages) {
		if (this.leadingReplies) {
			return messages;
		}
		for (int i = 0; i < messages.size(); i++) {
			if (messages.get(i) instanceof UserMessage) {
				return messages.subList(i, messages.size());
			}
		}
		return messages;
	}

	private static List<Message> answered(List<Message> messages) {
		List<Message> result = new ArrayList<>(messages.size());
		int i = 0;
		while (i < messages.size()) {
			Message message = messages.get(i++);
			if (message instanceof ToolResponseMessage) {
				continue;
			}
			result.add(message);
			if (callsTools(message)) {
				List<ToolResponseMessage> results = new ArrayList<>();
				while (i < messages.size() && messages.get(i) instanceof ToolResponseMessage tools) {
					results.add(tools);
					i++;
				}
				result.add(answer(((AssistantMessage) message).getToolCalls(), results));
			}
		}
		return result;
	}

	private static ToolResponseMessage answer(List<ToolCall> calls, List<ToolResponseMessage> results) {
		List<ToolResponse> responses = results.stream().flatMap((tools) -> tools.getResponses().stream()).toList();
		List<ToolResponse> inOrder = match(calls, responses);
		if (results.size() == 1 && inOrder.equals(responses)) {
			return results.get(0);
		}
		return ToolResponseMessage.builder().responses(inOrder).build();
	}

	private static List<ToolResponse> match(List<ToolCall> calls, List<ToolResponse> responses) {
		if (!areDistinct(calls, ToolCall::id)) {
			return byPosition(calls, responses);
		}
		Map<String, ToolResponse> byId = new HashMap<>();
		responses.forEach((response) -> byId.putIfAbsent(response.id(), response));
		return calls.stream().map((call) -> {
			ToolResponse response = byId.get(call.id());
			return (response != null) ? response : noResult(call);
		}).toList();
	}

	private static List<ToolResponse> byPosition(List<ToolCall> calls, List<ToolResponse> responses) {
		List<ToolResponse> result = new ArrayList<>(calls.size());
		for (int i = 0; i < calls.size(); i++) {
			ToolCall call = calls.get(i);
			boolean there = i < responses.size() && Objects.equals(responses.get(i).id(), call.id());
			result.add(there ? responses.get(i) : noResult(call));
		}
		return result;
	}

	private static ToolResponse noResult(ToolCall call) {
		return new ToolResponse(call.id(), call.name(), NO_RESULT);
	}

	private static <T> boolean areDistinct(List<T> values, Function<T, String> id) {
		Set<String> seen = new HashSet<>();
		return values.stream().map(id).allMatch((value) -> value != null && !value.isEmpty() && seen.add(value));
	}

	private static boolean callsTools(Message message) {
		return message instanceof AssistantMessage assistant && assistant.hasToolCalls();
	}

	private static boolean isBlank(Message message) {
		String text = message.getText();
		return text == null || text.isBlank();
	}

	private static boolean same(List<Message> a, List<Message> b) {
		return a.size() == b.size() && firstChange(a, b) == a.size();
	}

	private static int firstChange(List<Message> a, List<Message> b) {
		int i = 0;
		while (i < a.size() && i < b.size() && a.get(i) == b.get(i)) {
			i++;
		}
		return i;
	}

	private static String types(List<Message> messages) {
		return messages.stream().map((message) -> message.getMessageType().name()).toList().toString();
	}

}
