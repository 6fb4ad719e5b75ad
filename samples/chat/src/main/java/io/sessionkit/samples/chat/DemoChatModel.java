package io.sessionkit.samples.chat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import reactor.core.publisher.Flux;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.metadata.ChatGenerationMetadata;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.metadata.DefaultUsage;
import org.springframework.ai.chat.metadata.Usage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/**
 * Stands in for a model when there is no network and no key. It remembers nothing: like
 * any model it knows only the prompt that it gets, so whatever it recalls was sent to it.
 * It also writes the summaries, see {@link DemoSummary}. Its token counts are estimates.
 * Safe for use by many threads.
 */
@Component
@Profile("!openai")
final class DemoChatModel implements ChatModel {

	static final String NAME = "demo";

	private static final int CHARACTERS_PER_TOKEN = 4;

	private static final Pattern WORD = Pattern.compile("\\s*\\S+\\s*");

	private final DemoPace pace;

	private final ToolCallingManager tools;

	DemoChatModel(DemoPace pace, ToolCallingManager tools) {
		this.pace = pace;
		this.tools = tools;
	}

	@Override
	public ChatOptions getOptions() {
		return ToolCallingChatOptions.builder().model(NAME).build();
	}

	@Override
	public ChatResponse call(Prompt prompt) {
		AssistantMessage reply = reply(prompt);
		return response(reply, reply.hasToolCalls() ? "tool_calls" : "stop", usage(prompt, reply));
	}

	@Override
	public Flux<ChatResponse> stream(Prompt prompt) {
		return this.pace.slow(prompt, Flux.defer(() -> Flux.fromIterable(chunks(prompt))));
	}

	/**
	 * Asks the manager about the tools, as the models of Spring AI do, so that tools that
	 * need an approval are refused if nobody would be asked.
	 */
	private AssistantMessage reply(Prompt prompt) {
		if (prompt.getOptions() instanceof ToolCallingChatOptions options) {
			this.tools.resolveToolDefinitions(options);
		}
		return DemoReply.to(prompt);
	}

	/**
	 * Returns one chunk for each word. Finish reason and usage come with the last one.
	 */
	private List<ChatResponse> chunks(Prompt prompt) {
		AssistantMessage reply = reply(prompt);
		if (reply.hasToolCalls()) {
			return List.of(response(reply, "tool_calls", usage(prompt, reply)));
		}
		List<String> words = WORD.matcher(text(reply)).results().map(MatchResult::group).toList();
		int last = words.size() - 1;
		List<ChatResponse> chunks = new ArrayList<>();
		words.subList(0, last)
			.forEach((word) -> chunks.add(response(new AssistantMessage(word), "", new DefaultUsage(0, 0))));
		chunks.add(response(new AssistantMessage(words.get(last)), "stop", usage(prompt, reply)));
		return chunks;
	}

	private static ChatResponse response(AssistantMessage message, String finishReason, Usage usage) {
		ChatGenerationMetadata metadata = finishReason.isEmpty() ? ChatGenerationMetadata.NULL
				: ChatGenerationMetadata.builder().finishReason(finishReason).build();
		return new ChatResponse(List.of(new Generation(message, metadata)),
				ChatResponseMetadata.builder().model(NAME).usage(usage).build());
	}

	private static Usage usage(Prompt prompt, AssistantMessage reply) {
		return new DefaultUsage(prompt.getInstructions().stream().mapToInt(DemoChatModel::tokens).sum(), tokens(reply));
	}

	private static String text(Message message) {
		return Objects.requireNonNullElse(message.getText(), "");
	}

	private static int tokens(Message message) {
		int characters = text(message).length();
		if (message instanceof AssistantMessage assistant) {
			characters += assistant.getToolCalls()
				.stream()
				.mapToInt((call) -> call.name().length() + call.arguments().length())
				.sum();
		}
		if (message instanceof ToolResponseMessage tools) {
			characters += tools.getResponses().stream().mapToInt((result) -> result.responseData().length()).sum();
		}
		return (characters + CHARACTERS_PER_TOKEN - 1) / CHARACTERS_PER_TOKEN;
	}

}
