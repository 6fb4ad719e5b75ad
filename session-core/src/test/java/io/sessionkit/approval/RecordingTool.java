package io.sessionkit.approval;

import java.util.List;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.tool.metadata.ToolMetadata;

/**
 * A tool that notes each run with the arguments that it was given.
 */
public final class RecordingTool implements ToolCallback {

	private static final String SCHEMA = """
			{"type":"object","properties":{"id":{"type":"integer"},"note":{"type":["string","null"]}},"required":["id"]}""";

	private final ToolDefinition definition;

	private final List<String> runs;

	private final boolean direct;

	private final BiFunction<String, @Nullable ToolContext, String> body;

	private RecordingTool(ToolDefinition definition, List<String> runs, boolean direct,
			BiFunction<String, @Nullable ToolContext, String> body) {
		this.definition = definition;
		this.runs = runs;
		this.direct = direct;
		this.body = body;
	}

	/**
	 * A tool that returns that it is done, and with what.
	 */
	static RecordingTool of(String name, List<String> runs) {
		return new RecordingTool(definition(name, SCHEMA), runs, false, (input, context) -> "done " + input);
	}

	private static ToolDefinition definition(String name, String schema) {
		return ToolDefinition.builder().name(name).description("changes things").inputSchema(schema).build();
	}

	/**
	 * The same with another body.
	 */
	public RecordingTool doing(BiFunction<String, @Nullable ToolContext, String> body) {
		return new RecordingTool(this.definition, this.runs, this.direct, body);
	}

	/**
	 * The same with a result that goes to the caller, not to the model.
	 */
	public RecordingTool direct() {
		return new RecordingTool(this.definition, this.runs, true, this.body);
	}

	/**
	 * The same with another description.
	 */
	RecordingTool described(String description) {
		ToolDefinition described = ToolDefinition.builder()
			.name(this.definition.name())
			.description(description)
			.inputSchema(this.definition.inputSchema())
			.build();
		return new RecordingTool(described, this.runs, this.direct, this.body);
	}

	/**
	 * The same with another schema.
	 */
	RecordingTool taking(String schema) {
		return new RecordingTool(definition(this.definition.name(), schema), this.runs, this.direct, this.body);
	}

	@Override
	public ToolDefinition getToolDefinition() {
		return this.definition;
	}

	@Override
	public ToolMetadata getToolMetadata() {
		return ToolMetadata.builder().returnDirect(this.direct).build();
	}

	@Override
	public String call(String input) {
		return call(input, null);
	}

	@Override
	public String call(String input, @Nullable ToolContext context) {
		this.runs.add(this.definition.name() + input);
		return this.body.apply(input, context);
	}

}
