package io.sessionkit.internal.approval;

import java.util.Collection;

import io.sessionkit.internal.CarriedError;
import io.sessionkit.internal.ruling.Rulings;
import io.sessionkit.internal.tool.WrappedTools;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.definition.ToolDefinition;
import org.springframework.ai.tool.metadata.ToolMetadata;

/**
 * A tool as the tool loop of one turn sees it. Its call determines whether and how it
 * runs.
 */
public final class GatedTool implements ToolCallback {

	private final ToolCallback tool;

	private final Owner owner;

	GatedTool(ToolCallback tool, Owner owner) {
		this.tool = tool;
		this.owner = owner;
	}

	/**
	 * The call that offers the tool.
	 */
	interface Owner {

		/**
		 * Returns the rules by which the call asks.
		 */
		Rulings rulings();

		/**
		 * Returns whether the loop has to come back once more, whatever the tools return:
		 * to call the model, or to learn that the turn waits.
		 */
		boolean needsModel();

		/**
		 * Runs a tool if it may run, and otherwise returns an answer that replaces its
		 * result.
		 */
		String run(ToolCallback tool, String arguments, @Nullable ToolContext context);

	}

	@Override
	public ToolDefinition getToolDefinition() {
		return this.tool.getToolDefinition();
	}

	/**
	 * Returns the metadata of the tool, but without the direct return if the loop has to
	 * come back to the turn. For example, an answer that is not the tool's own is for the
	 * model, not for the caller.
	 */
	@Override
	public ToolMetadata getToolMetadata() {
		return this.owner.needsModel() ? ToolMetadata.builder().returnDirect(false).build()
				: this.tool.getToolMetadata();
	}

	@Override
	public String call(String input) {
		return call(input, null);
	}

	@Override
	public String call(String input, @Nullable ToolContext context) {
		try {
			return this.owner.run(this.tool, input, context);
		}
		catch (Error ex) {
			throw CarriedError.rethrow(ex);
		}
	}

	/**
	 * Returns whether the tool, or one that it wraps, is one with which a session advisor
	 * has replaced a tool of the application.
	 */
	public static boolean isGated(ToolCallback tool) {
		return WrappedTools.of(tool).stream().anyMatch((each) -> rulings(each) != null);
	}

	/**
	 * Returns whether a session advisor has replaced the tool, or one that it wraps, and
	 * asks by one of these rules. Another's rules may ask about other tools.
	 */
	public static boolean isAttended(ToolCallback tool, Collection<Rulings> rulings) {
		return WrappedTools.of(tool)
			.stream()
			.map(GatedTool::rulings)
			.anyMatch((asking) -> rulings.stream().anyMatch((each) -> each == asking));
	}

	private static @Nullable Rulings rulings(ToolCallback tool) {
		if (tool instanceof GatedTool gated) {
			return gated.owner.rulings();
		}
		return (tool instanceof SessionlessTool sessionless) ? sessionless.rulings() : null;
	}

}
