package io.sessionkit.samples.chat;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * The newest question of a prompt and all that came after it: what the tools have
 * returned, and what the user has said meanwhile. It looks orders up one by one, so that
 * there is time to say something.
 */
final class DemoTurn {

	private static final Pattern CHECK = pattern("\\b(?:check|look up)\\b.*\\borders?\\b");

	private static final Pattern LEAVE_OUT = pattern("\\b(?:not|don[’']t|skip|without|leave out|forget|except)\\b");

	private static final Pattern ENOUGH = pattern("\\b(?:enough|stop)\\b");

	private static final Pattern NUMBER = Pattern.compile("\\b\\d+\\b");

	private final List<Message> messages;

	private final int begin;

	DemoTurn(List<Message> messages) {
		this.messages = messages;
		this.begin = begin(messages);
	}

	/** A user message behind tool results belongs to the question before. */
	private static int begin(List<Message> messages) {
		for (int i = messages.size() - 1; i > 0; i--) {
			if (messages.get(i) instanceof UserMessage && !(messages.get(i - 1) instanceof ToolResponseMessage)) {
				return i;
			}
		}
		return 0;
	}

	/**
	 * Returns what the tools have returned since the question.
	 */
	List<ToolResponse> results() {
		return messages().stream()
			.filter(ToolResponseMessage.class::isInstance)
			.flatMap((message) -> ((ToolResponseMessage) message).getResponses().stream())
			.toList();
	}

	/**
	 * Returns whether the user has said something since the tools returned.
	 */
	boolean isInterrupted() {
		int last = this.messages.size() - 1;
		return last > this.begin && this.messages.get(last) instanceof UserMessage;
	}

	/**
	 * Returns the call that looks the next order up.
	 * @return the call; empty if no order is left, or none was asked for
	 */
	Optional<ToolCall> nextCheck() {
		Set<String> orders = ordersToCheck();
		orders.removeAll(checked());
		return orders.stream()
			.findFirst()
			.map((order) -> new ToolCall("call-" + this.messages.size() + "-0", "function", OrderTools.CHECK_ORDER,
					"{\"orderNumber\":\"" + order + "\"}"));
	}

	private Set<String> ordersToCheck() {
		List<String> said = said();
		if (said.isEmpty() || !CHECK.matcher(said.get(0)).find()) {
			return new LinkedHashSet<>();
		}
		Set<String> orders = new LinkedHashSet<>(numbers(said.get(0)));
		for (String more : said.subList(1, said.size())) {
			if (ENOUGH.matcher(more).find()) {
				orders.retainAll(checked());
			}
			else if (LEAVE_OUT.matcher(more).find()) {
				orders.removeAll(numbers(more));
			}
			else {
				orders.addAll(numbers(more));
			}
		}
		return orders;
	}

	/**
	 * Returns what is to say about the orders.
	 * @return the text; empty if none was looked up
	 */
	Optional<String> checkedOrders() {
		List<String> sentences = new ArrayList<>(results().stream()
			.filter((result) -> result.name().equals(OrderTools.CHECK_ORDER))
			.map((result) -> DemoReply.plain(result.responseData()))
			.toList());
		if (sentences.isEmpty()) {
			return Optional.empty();
		}
		said().stream().skip(1).map((text) -> "You said meanwhile: “" + text.strip() + "”.").forEach(sentences::add);
		return Optional.of(String.join(" ", sentences));
	}

	private List<String> said() {
		return messages().stream().filter(UserMessage.class::isInstance).map(Message::getText).toList();
	}

	private List<String> checked() {
		return messages().stream()
			.filter(AssistantMessage.class::isInstance)
			.flatMap((message) -> ((AssistantMessage) message).getToolCalls().stream())
			.filter((call) -> call.name().equals(OrderTools.CHECK_ORDER))
			.flatMap((call) -> numbers(call.arguments()).stream())
			.toList();
	}

	private List<Message> messages() {
		return this.messages.subList(this.begin, this.messages.size());
	}

	private static List<String> numbers(String text) {
		return NUMBER.matcher(text).results().map(MatchResult::group).toList();
	}

	private static Pattern pattern(String regex) {
		return Pattern.compile(regex, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE | Pattern.DOTALL);
	}

}
