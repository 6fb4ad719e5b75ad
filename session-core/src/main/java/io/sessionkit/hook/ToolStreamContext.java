package io.sessionkit.hook;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

import org.springframework.util.ReflectionUtils;

/**
 * The Reactor context of the stream whose tool runs on this thread, where Spring AI shows
 * it. The class that has it is internal to Spring AI, so it is looked up by name: without
 * it only tools are not found that an advisor has added.
 */
final class ToolStreamContext {

	private static final @Nullable Method GET = find();

	private ToolStreamContext() {
	}

	static ContextView current() {
		Object context = (GET != null) ? ReflectionUtils.invokeMethod(GET, null) : null;
		return (context instanceof ContextView view) ? view : Context.empty();
	}

	private static @Nullable Method find() {
		try {
			// constants, so that a native image finds them
			Class<?> holder = Class.forName("org.springframework.ai.model.tool.internal.ToolCallReactiveContextHolder");
			return holder.getMethod("getContext");
		}
		catch (ReflectiveOperationException | LinkageError ex) {
			return null;
		}
	}

}
