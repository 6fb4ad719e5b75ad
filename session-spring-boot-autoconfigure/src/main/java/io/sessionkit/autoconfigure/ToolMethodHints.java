package io.sessionkit.autoconfigure;

import io.sessionkit.approval.RequiresApproval;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.ai.tool.method.MethodToolCallback;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Lets {@link RequiresApproval} be found on the method of a tool, and the type of a
 * function's input, in a native image.
 */
final class ToolMethodHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.reflection()
			.registerType(MethodToolCallback.class, (type) -> type.withField("toolMethod"))
			.registerType(FunctionToolCallback.class, (type) -> type.withField("toolInputType"));
	}

}
