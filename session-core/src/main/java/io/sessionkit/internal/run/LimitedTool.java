package io.sessionkit.internal.run;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.tool.metadata.ToolMetadata;

/**
 * A tool with a time limit in a call that names no session. In a turn, the call that
 * works on it sees to the limit.
 */
final class LimitedTool implements ToolCallback {

	private final ToolCallback tool;

	private final ToolLimits limits;

	LimitedTool(ToolCallback tool, ToolLimits limits) {
		this.tool = tool;
		this.limits = limits;
	}

	@Override
	public ToolDefinition getToolDefinition() {
		return this.tool.getToolDefinition();
	}

	@Override
	public ToolMetadata getToolMetadata() {
		return this.tool.getToolMetadata();
	}

	@Override
	public String call(String input) {
		return limited(() -> this.tool.call(input));
	}

	@Override
	public String call(String input, @Nullable ToolContext context) {
		return limited(() -> this.tool.call(input, context));
	}

	private String limited(Supplier<String> run) {
		try {
			return this.limits.run(this.tool, run);
		}
		catch (StoppedTool ex) {
			return ex.text();
		}
	}

}
