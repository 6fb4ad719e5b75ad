package io.sessionkit.codec;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;

/**
 * Makes and reads Anthropic's hidden classes as its chat model does.
 */
final class AnthropicMessages {

	static final String KEY = "anthropicThinkingContents";

	private AnthropicMessages() {
	}

	static Object thinking(String thinking, String signature) {
		return invoke(method("AnthropicThinkingContent", "thinking"), thinking, signature);
	}

	static Object redacted(String data) {
		return invoke(method("AnthropicThinkingContent", "redacted"), data);
	}

	static AssistantMessage plain(String text, List<ToolCall> calls, Object... thinking) {
		return AssistantMessage.builder()
			.content(text)
			.toolCalls(calls)
			.properties(Map.of(KEY, Arrays.asList(thinking)))
			.build();
	}

	/**
	 * Returns a reply as the chat model does: its own subclass.
	 */
	static AssistantMessage reply(String text, List<ToolCall> calls, Object... thinking) {
		Method build = Arrays.stream(AnthropicChatModel.class.getDeclaredMethods())
			.filter((method) -> method.getName().equals("buildAssistantMessage"))
			.findFirst()
			.orElseThrow();
		return (AssistantMessage) invoke(build, text, calls, Arrays.asList(thinking));
	}

	/**
	 * Returns what the chat model would send back to Anthropic for this message.
	 */
	static List<?> replayed(AssistantMessage message) {
		Method read = Arrays.stream(AnthropicChatModel.class.getDeclaredMethods())
			.filter((method) -> method.getName().equals("getAnthropicThinkingContents"))
			.findFirst()
			.orElseThrow();
		return (List<?>) invoke(read, message);
	}

	private static Method method(String nested, String name) {
		return Arrays.stream(AnthropicChatModel.class.getDeclaredClasses())
			.filter((type) -> type.getSimpleName().equals(nested))
			.flatMap((type) -> Arrays.stream(type.getDeclaredMethods()))
			.filter((method) -> method.getName().equals(name) && method.getParameterCount() > 0)
			.findFirst()
			.orElseThrow();
	}

	private static Object invoke(Method method, Object... arguments) {
		try {
			method.setAccessible(true);
			return method.invoke(null, arguments);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
