package io.sessionkit.test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;

/**
 * A model that calls a tool as often as the first question of the turn says, twice for
 * {@code u1:2}, and then answers everything that was asked in the turn: "a of u1:2+u2".
 * Safe for use by many threads.
 */
public final class WorkingModel implements ChatModel {

	private final String tool;

	private final AtomicInteger calls = new AtomicInteger();

	private final List<Prompt> prompts = new CopyOnWriteArrayList<>();

	private volatile Consumer<Prompt> before = (prompt) -> {
	};

	public WorkingModel(String tool) {
		this.tool = tool;
	}

	/**
	 * From now on this runs first in each call.
	 */
	public void before(Consumer<Prompt> before) {
		this.before = before;
	}

	/**
	 * The requests so far.
	 */
	public List<Prompt> prompts() {
		return List.copyOf(this.prompts);
	}

	@Override
	public ChatOptions getOptions() {
		return ToolCallingChatOptions.builder().build();
	}

	@Override
	public ChatResponse call(Prompt prompt) {
		this.prompts.add(prompt);
		this.before.accept(prompt);
		List<Message> turn = current(prompt.getInstructions());
		List<String> asked = turn.stream().filter(UserMessage.class::isInstance).map(Message::getText).toList();
		long done = turn.stream().filter(ToolResponseMessage.class::isInstance).count();
		AssistantMessage reply = (done < rounds(asked.get(0))) ? calling()
				: new AssistantMessage("a of " + String.join("+", asked));
		return new ChatResponse(List.of(new Generation(reply)));
	}

	/**
	 * The messages after the last answer.
	 */
	public static List<Message> current(List<Message> request) {
		List<Message> current = new ArrayList<>();
		for (Message message : request) {
			current.add(message);
			if (message instanceof AssistantMessage reply && !reply.hasToolCalls()) {
				current.clear();
			}
		}
		return current;
	}

	/**
	 * Returns the number of tool calls for a question.
	 */
	public static int rounds(String question) {
		int colon = question.indexOf(':');
		return (colon < 0) ? 0 : Integer.parseInt(question.substring(colon + 1));
	}

	private AssistantMessage calling() {
		String id = "c" + this.calls.incrementAndGet();
		return AssistantMessage.builder()
			.content("")
			.toolCalls(List.of(new ToolCall(id, "function", this.tool, "{}")))
			.build();
	}

	@Override
	public Flux<ChatResponse> stream(Prompt prompt) {
		return Mono.fromCallable(() -> call(prompt)).subscribeOn(Schedulers.boundedElastic()).flux();
	}

}
