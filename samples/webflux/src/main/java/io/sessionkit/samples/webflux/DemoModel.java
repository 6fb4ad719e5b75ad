package io.sessionkit.samples.webflux;

import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import reactor.core.publisher.Flux;

import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.stereotype.Component;

/**
 * Stands in for a model: it says what it was told before, and cancels orders. It knows
 * only the prompt.
 */
@Component
final class DemoModel implements ChatModel {

	private static final Pattern ORDER = Pattern.compile("cancel order (\\d+)");

	private static final Duration BETWEEN_WORDS = Duration.ofMillis(2);

	@Override
	public ChatOptions getOptions() {
		return ToolCallingChatOptions.builder().model("demo").build();
	}

	@Override
	public ChatResponse call(Prompt prompt) {
		return new ChatResponse(List.of(new Generation(reply(prompt.getInstructions()))));
	}

	@Override
	public Flux<ChatResponse> stream(Prompt prompt) {
		AssistantMessage reply = reply(prompt.getInstructions());
		if (reply.hasToolCalls()) {
			return Flux.just(new ChatResponse(List.of(new Generation(reply))));
		}
		return Flux.fromArray(String.valueOf(reply.getText()).split("(?= )"))
			.delayElements(BETWEEN_WORDS)
			.map((word) -> new ChatResponse(List.of(new Generation(new AssistantMessage(word)))));
	}

	private static AssistantMessage reply(List<Message> prompt) {
		Message last = prompt.get(prompt.size() - 1);
		if (last instanceof ToolResponseMessage results) {
			return new AssistantMessage("Then: " + results.getResponses().get(0).responseData());
		}
		Matcher order = ORDER.matcher(String.valueOf(last.getText()));
		if (order.find()) {
			return AssistantMessage.builder()
				.content("")
				.toolCalls(List.of(new ToolCall("call-" + prompt.size(), "function", "cancel_order",
						"{\"id\":" + order.group(1) + "}")))
				.build();
		}
		List<String> said = prompt.stream()
			.filter((message) -> message.getMessageType() == MessageType.USER)
			.map((message) -> "“" + message.getText() + "”")
			.toList();
		return new AssistantMessage("You have said " + String.join(", then ", said) + ".");
	}

}
