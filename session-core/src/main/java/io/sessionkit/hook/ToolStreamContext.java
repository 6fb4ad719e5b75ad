package io.sessionkit.hook;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

import org.springframework.util.ReflectionUtils;

/**
 * Finds the Reactor context of the stream whose tool runs on this thread, if Spring AI
 * exposes it. The class that holds it is internal to Spring AI, so it is looked up by
 * name. Without that class, only the tools that an advisor has added have no context.
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
			// constant names, so that a native image finds the class and the method
			Class<?> holder = Class.forName("org.springframework.ai.model.tool.internal.ToolCallReactiveContextHolder");
			return holder.getMethod("getContext");
		}
		catch (ReflectiveOperationException | LinkageError ex) {
			return null;
		}
	}

}
