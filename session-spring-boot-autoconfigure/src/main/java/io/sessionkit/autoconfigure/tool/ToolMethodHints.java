package io.sessionkit.autoconfigure.tool;

import io.sessionkit.approval.RequiresApproval;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.ai.tool.method.MethodToolCallback;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Registers the fields that are needed in a native image to find {@link RequiresApproval}
 * on the method of a tool, and the input type of a function.
 */
final class ToolMethodHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.reflection()
			.registerType(MethodToolCallback.class, (type) -> type.withField("toolMethod").withField("toolObject"))
			.registerType(FunctionToolCallback.class, (type) -> type.withField("toolInputType"));
	}

}
