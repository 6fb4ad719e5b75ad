package io.sessionkit.approval;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Optional;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.ai.tool.method.MethodToolCallback;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the method or function that a tool calls in the end, whatever is wrapped around
 * it.
 */
final class WrappedTools {

	/**
	 * Spring AI has no accessor for the method of a tool. Where the field has gone, every
	 * tool method would pass unasked, so nothing is built then.
	 */
	private static final Field METHOD = field();

	private static final int DEEPEST = 10;

	/** A wrapper keeps the tool in a field, so that is where it is looked for. */
	private static final ClassValue<Optional<Field>> WRAPPED = new ClassValue<>() {

		@Override
		protected Optional<Field> computeValue(Class<?> type) {
			return wrappedTool(type);
		}

	};

	private WrappedTools() {
	}

	private static Field field() {
		Field field = ReflectionUtils.findField(MethodToolCallback.class, "toolMethod");
		if (field == null) {
			throw new IllegalStateException(
					"This version of Spring AI keeps the method of a tool where @RequiresApproval"
							+ " cannot be found. Use SessionKit with the version of Spring AI it was built for.");
		}
		ReflectionUtils.makeAccessible(field);
		return field;
	}

	/**
	 * Returns the first of a tool and those that it is wrapped around that is as wanted.
	 * @return the tool; null if there is none
	 */
	static @Nullable ToolCallback find(@Nullable ToolCallback tool, Predicate<ToolCallback> wanted) {
		ToolCallback inner = tool;
		for (int depth = 0; depth < DEEPEST && inner != null; depth++) {
			if (wanted.test(inner)) {
				return inner;
			}
			Field field = WRAPPED.get(inner.getClass()).orElse(null);
			inner = (field != null) ? (ToolCallback) ReflectionUtils.getField(field, inner) : null;
		}
		return null;
	}

	/**
	 * Returns the tool that others are wrapped around.
	 * @return a {@link MethodToolCallback} or {@link FunctionToolCallback}; null if there
	 * is none, as with tools of a server
	 */
	static @Nullable ToolCallback innermost(@Nullable ToolCallback tool) {
		return find(tool, (each) -> each instanceof MethodToolCallback || each instanceof FunctionToolCallback);
	}

	/**
	 * Returns the method that a tool calls.
	 * @return the method; empty if it calls none
	 */
	static Optional<Method> method(@Nullable ToolCallback tool) {
		ToolCallback inner = innermost(tool);
		return (inner instanceof MethodToolCallback)
				? Optional.ofNullable((Method) ReflectionUtils.getField(METHOD, inner)) : Optional.empty();
	}

	private static Optional<Field> wrappedTool(Class<?> type) {
		for (Class<?> each = type; each != null; each = each.getSuperclass()) {
			for (Field field : each.getDeclaredFields()) {
				boolean holdsTool = ToolCallback.class.isAssignableFrom(field.getType())
						&& !Modifier.isStatic(field.getModifiers());
				if (holdsTool && field.trySetAccessible()) {
					return Optional.of(field);
				}
			}
		}
		return Optional.empty();
	}

}
