package io.sessionkit.internal.run;

import java.util.Objects;

import io.sessionkit.NestedTurnException;
import io.sessionkit.SessionException;
import io.sessionkit.internal.LoneSurrogates;
import io.sessionkit.internal.argument.ToolArguments;
import io.sessionkit.internal.tool.ToolInput;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.execution.ToolExecutionException;
import org.springframework.util.StringUtils;

/**
 * The outcome of one run of a tool: its result, or what it has thrown, as the model and
 * the ledger get it.
 */
public final class ToolOutcome {

	private ToolOutcome() {
	}

	/**
	 * Runs a tool without the ledger.
	 * @return its result; an empty text if it returns none, as the tool loop has it
	 * @throws NestedTurnException if the tool made a call that it cannot make; this must
	 * not become a result of this call
	 * @throws ToolExecutionException if the tool failed, or could not read its arguments
	 */
	static String run(ToolCallback tool, String arguments, @Nullable ToolContext context) {
		try {
			String result = (context != null) ? tool.call(arguments, context) : tool.call(arguments);
			return Objects.requireNonNullElse(result, "");
		}
		catch (ToolExecutionException ex) {
			for (Throwable cause = ex.getCause(); cause != null; cause = cause.getCause()) {
				if (cause instanceof NestedTurnException nested) {
					throw nested;
				}
			}
			throw ex;
		}
		catch (SessionException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			throw failure(tool, arguments, ex);
		}
	}

	/**
	 * Returns the exception for a tool that failed. A model should correct its own
	 * mistakes in the arguments, whatever kind of tool it is. Spring AI reports them to
	 * the model if a method cannot read its arguments, but ends the call if a function
	 * cannot.
	 */
	private static RuntimeException failure(ToolCallback tool, String arguments, RuntimeException thrown) {
		String fault = new ToolInput(tool, ToolArguments.of(arguments)).unreadable();
		if (fault == null) {
			return thrown;
		}
		RuntimeException cause = (thrown.getCause() instanceof RuntimeException inner) ? inner : thrown;
		return new ToolExecutionException(tool.getToolDefinition(),
				StringUtils.hasText(cause.getMessage()) ? cause : new IllegalArgumentException(fault, thrown));
	}

	/**
	 * Returns what is told of a tool that has thrown an exception.
	 */
	public static String told(Throwable thrown) {
		return StringUtils.hasText(thrown.getMessage()) ? thrown.getMessage()
				: "The tool failed: " + cause(thrown).getClass().getSimpleName();
	}

	/** Returns what the tool itself has thrown. */
	public static Throwable cause(Throwable thrown) {
		Throwable cause = (thrown instanceof ToolExecutionException) ? thrown.getCause() : null;
		return (cause != null) ? cause : thrown;
	}

	/**
	 * Returns a result that can be stored. A lone surrogate cannot be, and must not cost
	 * the whole result.
	 */
	public static String storable(String result) {
		return LoneSurrogates.replaced(result);
	}

}
