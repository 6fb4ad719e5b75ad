package io.sessionkit.internal.binding;

import java.lang.reflect.Method;
import java.util.concurrent.Callable;

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

	private static final @Nullable Method GET;

	private static final @Nullable Method SET;

	private static final @Nullable Method CLEAR;

	static {
		Method get = null;
		Method set = null;
		Method clear = null;
		try {
			// constant names, so that a native image finds the class and the methods
			Class<?> holder = Class.forName("org.springframework.ai.model.tool.internal.ToolCallReactiveContextHolder");
			get = holder.getMethod("getContext");
			set = holder.getMethod("setContext", ContextView.class);
			clear = holder.getMethod("clearContext");
		}
		catch (ReflectiveOperationException | LinkageError ex) {
			// the tools that an advisor has added have no context
		}
		GET = get;
		SET = set;
		CLEAR = clear;
	}

	private ToolStreamContext() {
	}

	static ContextView current() {
		Object context = (GET != null) ? ReflectionUtils.invokeMethod(GET, null) : null;
		return (context instanceof ContextView view) ? view : Context.empty();
	}

	/**
	 * Wraps a run of a tool for another thread, on which nothing else runs a tool
	 * meanwhile.
	 */
	static <T> Callable<T> carrying(Callable<T> work) {
		ContextView context = current();
		if (SET == null || CLEAR == null || context.isEmpty()) {
			return work;
		}
		return () -> {
			ReflectionUtils.invokeMethod(SET, null, context);
			try {
				return work.call();
			}
			finally {
				ReflectionUtils.invokeMethod(CLEAR, null);
			}
		};
	}

}
