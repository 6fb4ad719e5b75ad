package io.sessionkit.internal.tool;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.ai.tool.method.MethodToolCallback;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the methods and functions that a tool finally calls, whatever is wrapped around
 * them.
 */
public final class WrappedTools {

	/**
	 * The method of a tool, for which Spring AI has no accessor. If the field did not
	 * exist, every tool method would pass without approval, so the initialization of this
	 * class fails in that case.
	 */
	private static final Field METHOD = field("toolMethod");

	/** The bean of a tool. Two beans of one class are two tools. */
	private static final Field BEAN = field("toolObject");

	/** The limit on the tools that are searched. No wrapper is around that many. */
	private static final int MOST = 20;

	/**
	 * The fields of a type that can hold a tool. A wrapper keeps its tools in such
	 * fields.
	 */
	private static final ClassValue<List<Field>> WRAPPED = new ClassValue<>() {

		@Override
		protected List<Field> computeValue(Class<?> type) {
			return toolFields(type);
		}

	};

	private WrappedTools() {
	}

	private static Field field(String name) {
		Field field = ReflectionUtils.findField(MethodToolCallback.class, name);
		if (field == null) {
			throw new IllegalStateException(
					"This version of Spring AI keeps the method of a tool, or its bean, where @RequiresApproval"
							+ " cannot be found. Use SessionKit with the version of Spring AI it was built for.");
		}
		ReflectionUtils.makeAccessible(field);
		return field;
	}

	/**
	 * Returns a tool and the tools that it wraps, as far as fields and Spring proxies
	 * lead to them.
	 */
	public static List<ToolCallback> of(@Nullable ToolCallback tool) {
		List<ToolCallback> found = new ArrayList<>();
		if (tool != null) {
			found.add(tool);
		}
		for (int i = 0; i < found.size() && found.size() < MOST; i++) {
			inside(found.get(i)).stream()
				.filter((inner) -> found.stream().noneMatch((each) -> each == inner))
				.forEach(found::add);
		}
		return found;
	}

	private static List<ToolCallback> inside(ToolCallback tool) {
		if (AopProxyUtils.getSingletonTarget(tool) instanceof ToolCallback target) {
			return List.of(target);
		}
		List<ToolCallback> inside = new ArrayList<>();
		for (Field field : WRAPPED.get(tool.getClass())) {
			if (kept(ReflectionUtils.getField(field, tool)) instanceof ToolCallback inner) {
				inside.add(inner);
			}
		}
		return inside;
	}

	/** Returns what a field keeps: its value, or what a reference to one tool holds. */
	private static @Nullable Object kept(@Nullable Object value) {
		Object held = (value instanceof AtomicReference<?> reference) ? reference.get() : value;
		return (held instanceof Optional<?> optional) ? optional.orElse(null) : held;
	}

	/**
	 * Returns the methods and functions that a tool may finally call, which convert the
	 * arguments.
	 * @return each a {@link MethodToolCallback} or {@link FunctionToolCallback}, but no
	 * proxy of one, whose fields are empty; none for other tools, such as those of a
	 * server
	 */
	static List<ToolCallback> innermost(@Nullable ToolCallback tool) {
		return of(tool).stream()
			.filter((each) -> each instanceof MethodToolCallback || each instanceof FunctionToolCallback)
			.filter((each) -> AopProxyUtils.getSingletonTarget(each) == null)
			.toList();
	}

	/**
	 * Returns the methods that a tool may call.
	 * @return the methods; none if it calls none
	 */
	public static List<Method> methods(@Nullable ToolCallback tool) {
		return of(tool).stream()
			.filter(MethodToolCallback.class::isInstance)
			.map((each) -> (Method) Objects.requireNonNull(ReflectionUtils.getField(METHOD, each)))
			.toList();
	}

	/**
	 * Returns whether two tools call the same methods of the same objects, whatever is
	 * wrapped around them.
	 * @return false if one of them calls no method
	 */
	public static boolean callTheSame(ToolCallback one, ToolCallback other) {
		List<Method> methods = methods(one);
		if (methods.isEmpty() || !methods.equals(methods(other))) {
			return false;
		}
		List<@Nullable Object> beans = beans(one);
		List<@Nullable Object> others = beans(other);
		return IntStream.range(0, beans.size()).allMatch((i) -> beans.get(i) == others.get(i));
	}

	private static List<@Nullable Object> beans(ToolCallback tool) {
		List<@Nullable Object> beans = new ArrayList<>();
		of(tool).stream()
			.filter(MethodToolCallback.class::isInstance)
			.forEach((each) -> beans.add(target(ReflectionUtils.getField(BEAN, each))));
		return beans;
	}

	/** A proxy calls the same methods of the same object as that object itself. */
	private static @Nullable Object target(@Nullable Object bean) {
		Object target = (bean != null) ? AopProxyUtils.getSingletonTarget(bean) : null;
		return (target != null) ? target(target) : bean;
	}

	private static List<Field> toolFields(Class<?> type) {
		List<Field> fields = new ArrayList<>();
		for (Class<?> each = type; each != null; each = each.getSuperclass()) {
			for (Field field : each.getDeclaredFields()) {
				if (mayHoldTool(field) && field.trySetAccessible()) {
					fields.add(field);
				}
			}
		}
		return List.copyOf(fields);
	}

	/** A field of any type may, such as an {@code Object}. */
	private static boolean mayHoldTool(Field field) {
		return !field.getType().isPrimitive() && !Modifier.isStatic(field.getModifiers());
	}

}
