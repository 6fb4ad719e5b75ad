package io.sessionkit.test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

import reactor.core.publisher.Flux;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;

/**
 * A chat model that answers from a script and records what it was sent. Each step of the
 * script serves one model call, whole or as a stream. Safe for use by many threads.
 */
public final class ScriptedChatModel implements ChatModel {

	private static final int OUTPUT_TOKENS = 5;

	private final Deque<Function<Prompt, Flux<ChatResponse>>> script = new ArrayDeque<>();

	private final List<Prompt> prompts = new ArrayList<>();

	private final String name;

	private final ChatOptions options;

	private volatile int inputTokens = 10;

	public ScriptedChatModel() {
		this("scripted", ToolCallingChatOptions.builder().build());
	}

	public ScriptedChatModel(String name, ChatOptions options) {
		this.name = name;
		this.options = options;
	}

	/**
	 * From now on it says that requests have so many tokens; 0 says nothing.
	 */
	public ScriptedChatModel reports(int inputTokens) {
		this.inputTokens = inputTokens;
		return this;
	}

	/**
	 * The next call is answered with a text, a stream in two chunks.
	 */
	public ScriptedChatModel says(String text) {
		int middle = text.length() / 2;
		return step((prompt) -> Flux.just(chunk(text.substring(0, middle), List.of(), false),
				chunk(text.substring(middle), List.of(), true)));
	}

	/**
	 * The next call is answered with tool calls, a stream in one chunk for each.
	 */
	public ScriptedChatModel calls(ToolCall... calls) {
		return step((prompt) -> Flux.range(0, calls.length)
			.map((i) -> chunk("", List.of(calls[i]), i == calls.length - 1)));
	}

	/**
	 * The next call is answered with exactly these chunks, or with the only one of them.
	 */
	public ScriptedChatModel responds(ChatResponse... chunks) {
		return step((prompt) -> Flux.just(chunks));
	}

	/**
	 * The next call is answered from what it was sent.
	 */
	public synchronized ScriptedChatModel step(Function<Prompt, Flux<ChatResponse>> answer) {
		this.script.add(answer);
		return this;
	}

	/**
	 * The next call fails.
	 */
	public ScriptedChatModel fails(RuntimeException failure) {
		return step((prompt) -> Flux.error(failure));
	}

	/**
	 * Returns the prompts that the model was sent, one for each call.
	 */
	public synchronized List<Prompt> prompts() {
		return List.copyOf(this.prompts);
	}

	/**
	 * The messages of the newest call.
	 */
	public synchronized List<Message> lastRequest() {
		return this.prompts.get(this.prompts.size() - 1).getInstructions();
	}

	/**
	 * The newest call, a line for each message: its role and what it says.
	 */
	public List<String> lastRequestLines() {
		return Lines.of(lastRequest());
	}

	@Override
	public ChatResponse call(Prompt prompt) {
		List<ChatResponse> chunks = next(prompt).collectList().block();
		if (chunks == null || chunks.isEmpty()) {
			return new ChatResponse(List.of());
		}
		return (chunks.size() == 1) ? chunks.get(0) : joined(chunks);
	}

	@Override
	public Flux<ChatResponse> stream(Prompt prompt) {
		return Flux.defer(() -> next(prompt));
	}

	@Override
	public ChatOptions getOptions() {
		return this.options;
	}

	/**
	 * A piece of a reply as this model would send it.
	 */
	public ChatResponse chunk(String text, List<ToolCall> calls, boolean last) {
		AssistantMessage message = AssistantMessage.builder().content(text).toolCalls(calls).build();
		String reason = calls.isEmpty() ? "STOP" : "TOOL_CALLS";
		ChatGenerationMetadata metadata = last ? ChatGenerationMetadata.builder().finishReason(reason).build()
				: ChatGenerationMetadata.NULL;
		ChatResponseMetadata.Builder response = ChatResponseMetadata.builder().model(this.name);
		if (last) {
			response.usage(new DefaultUsage(this.inputTokens, OUTPUT_TOKENS));
		}
		return new ChatResponse(List.of(new Generation(message, metadata)), response.build());
	}

	private synchronized Flux<ChatResponse> next(Prompt prompt) {
		this.prompts.add(prompt);
		Function<Prompt, Flux<ChatResponse>> step = this.script.poll();
		if (step == null) {
			throw new AssertionError("The script has no step for call " + this.prompts.size() + ".");
		}
		return step.apply(prompt);
	}

	private ChatResponse joined(List<ChatResponse> chunks) {
		StringBuilder text = new StringBuilder();
		List<ToolCall> calls = new ArrayList<>();
		for (ChatResponse chunk : chunks) {
			chunk.getResults().forEach((generation) -> {
				text.append(generation.getOutput().getText());
				calls.addAll(generation.getOutput().getToolCalls());
			});
		}
		return chunk(text.toString(), calls, true);
	}

	/**
	 * Messages as lines that a test can compare.
	 */
	public static final class Lines {

		private Lines() {
		}

		/**
		 * A line for each message.
		 */
		public static List<String> of(List<? extends Message> messages) {
			return messages.stream().map(Lines::of).toList();
		}

		private static String of(Message message) {
			StringBuilder line = new StringBuilder(message.getMessageType().name().toLowerCase(Locale.ROOT));
			if (message.getMessageType() == MessageType.TOOL) {
				((ToolResponseMessage) message).getResponses()
					.forEach((response) -> line.append(' ')
						.append(response.name())
						.append('=')
						.append(response.responseData()));
				return line.toString();
			}
			if (message.getText() != null && !message.getText().isEmpty()) {
				line.append(": ").append(message.getText());
			}
			if (message instanceof AssistantMessage assistant) {
				assistant.getToolCalls()
					.forEach((call) -> line.append(' ')
						.append(call.name())
						.append('(')
						.append(call.arguments())
						.append(')'));
			}
			return line.toString();
		}

	}

}
