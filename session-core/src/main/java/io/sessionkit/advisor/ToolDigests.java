package io.sessionkit.advisor;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.sessionkit.internal.Sha256;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;

/**
 * The digests of the tools of a call, by which changes of a tool can be detected later. A
 * digest is the SHA-256 of name, description and input schema.
 */
final class ToolDigests {

	/** The maximum number of digests in the cache. Servers may offer ever new tools. */
	private static final int REMEMBERED = 1000;

	private static final Map<Description, String> digests = new ConcurrentHashMap<>();

	private ToolDigests() {
	}

	/** A definition of an application may say something else tomorrow. */
	private record Description(String name, String text, String schema) {
	}

	static Map<String, String> of(@Nullable ChatOptions options) {
		List<ToolCallback> tools = (options instanceof ToolCallingChatOptions toolOptions)
				? toolOptions.getToolCallbacks() : null;
		if (tools == null || tools.isEmpty()) {
			return Map.of();
		}
		Map<String, String> result = new LinkedHashMap<>();
		for (ToolCallback tool : tools) {
			ToolDefinition definition = tool.getToolDefinition();
			Description now = new Description(definition.name(), definition.description(), definition.inputSchema());
			result.put(now.name(), digest(now));
		}
		return result;
	}

	private static String digest(Description tool) {
		if (digests.size() > REMEMBERED) {
			digests.clear();
		}
		return digests.computeIfAbsent(tool, ToolDigests::compute);
	}

	private static String compute(Description tool) {
		return new Sha256().add(tool.name()).add(0).add(tool.text()).add(0).add(tool.schema()).add(0).hex();
	}

}
