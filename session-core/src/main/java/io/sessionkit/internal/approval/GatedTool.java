package io.sessionkit.internal.approval;

import io.sessionkit.internal.tool.WrappedTools;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.tool.metadata.ToolMetadata;

/**
 * A tool as the tool loop of one turn sees it: whether and how it runs is the turn's
 * business.
 */
public final class GatedTool implements ToolCallback {

	private final ToolCallback tool;

	private final GatedTurn turn;

	GatedTool(ToolCallback tool, GatedTurn turn) {
		this.tool = tool;
		this.turn = turn;
	}

	@Override
	public ToolDefinition getToolDefinition() {
		return this.tool.getToolDefinition();
	}

	/**
	 * An answer that is none of the tool's own is for the model, not for the caller.
	 */
	@Override
	public ToolMetadata getToolMetadata() {
		return this.turn.needsModel() ? ToolMetadata.builder().returnDirect(false).build()
				: this.tool.getToolMetadata();
	}

	@Override
	public String call(String input) {
		return call(input, null);
	}

	@Override
	public String call(String input, @Nullable ToolContext context) {
		return this.turn.run(this.tool, input, context);
	}

	/**
	 * Returns whether the tool, or one that it is wrapped around, is one that a session
	 * advisor has put in the place of the application's.
	 */
	public static boolean isAttended(ToolCallback tool) {
		return WrappedTools.of(tool)
			.stream()
			.anyMatch((each) -> each instanceof GatedTool || each instanceof SessionlessTool);
	}

}
