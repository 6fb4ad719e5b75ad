package io.sessionkit.internal.tool;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.Type;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.sessionkit.internal.argument.ToolArguments;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.ai.util.JsonHelper;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Determines the values that a tool will get for the arguments that a model has written.
 * Spring AI converts them after the approval was judged: the text {@code "true"} becomes
 * a boolean, {@code 3.7} an {@code int}. So the arguments are converted here in the same
 * way, and written as JSON again. It is certain what the tool will get only if the result
 * says the same as the model did, and the arguments fit the input schema. Not safe for
 * use by many threads.
 */
public final class ToolInput {

	private static final Log logger = LogFactory.getLog(ToolInput.class);

	private static final JsonHelper JSON = new JsonHelper();

	/** The input type of a function, for which Spring AI has no accessor. */
	private static final Field INPUT_TYPE = inputType();

	private static final ParameterizedTypeReference<Map<String, @Nullable Object>> VALUES = new ParameterizedTypeReference<>() {
	};

	private final @Nullable ToolCallback tool;

	private final ToolArguments arguments;

	/** The result of {@link #fits()}; null before its first call. */
	private @Nullable Boolean fits;

	/**
	 * Creates the input of a tool.
	 * @param tool the tool as it is offered; null if there is none of that name
	 */
	public ToolInput(@Nullable ToolCallback tool, ToolArguments arguments) {
		this.tool = tool;
		this.arguments = arguments;
	}

	private static Field inputType() {
		Field field = ReflectionUtils.findField(FunctionToolCallback.class, "toolInputType");
		if (field == null) {
			throw new IllegalStateException("This version of Spring AI keeps the input type of a function where it"
					+ " cannot be found, so approvals could be judged on other values than the function gets. Use"
					+ " SessionKit with the version of Spring AI it was built for.");
		}
		ReflectionUtils.makeAccessible(field);
		return field;
	}

	/**
	 * Returns the values that the tool will get, in the form of
	 * {@link ToolArguments#values()}; constants of an enum by name. They are rebuilt each
	 * time, so that no caller can change what others see.
	 * @return the values; null if it is not certain what the tool will get
	 */
	public @Nullable Map<String, @Nullable Object> values() {
		try {
			return fits() ? converted() : null;
		}
		catch (RuntimeException ex) {
			// the arguments or the schema are invalid: a person decides
			logger.debug("The arguments of a call could not be judged: " + ex.getClass().getName());
			return null;
		}
	}

	/**
	 * Returns what prevents the tool from reading the arguments at all, as far as that
	 * can be known without running it.
	 * @return a sentence for the model; null if nothing is known to prevent it
	 */
	public @Nullable String unreadable() {
		try {
			List<String> faults = faults();
			return faults.isEmpty() ? unconvertible()
					: "The arguments cannot be read: " + String.join("; ", faults) + ".";
		}
		catch (RuntimeException ex) {
			// an invalid schema says nothing about the arguments
			return null;
		}
	}

	/**
	 * Returns the input schema of a tool as whoever decides on a call needs it, without
	 * the tool: with the bounds of the whole numbers that its method takes.
	 */
	public static String schema(ToolCallback tool) {
		String schema = tool.getToolDefinition().inputSchema();
		List<Method> methods = WrappedTools.methods(tool);
		if (methods.size() != 1) {
			return schema;
		}
		Map<String, Class<?>> types = new LinkedHashMap<>();
		for (Parameter parameter : methods.get(0).getParameters()) {
			types.put(parameter.getName(), parameter.getType());
		}
		return ToolArguments.bounded(schema, types);
	}

	private List<String> faults() {
		return (this.tool != null) ? this.arguments.faults(this.tool.getToolDefinition().inputSchema()) : List.of();
	}

	private @Nullable String unconvertible() {
		try {
			WrappedTools.innermost(this.tool).forEach(this::converted);
			return null;
		}
		catch (RuntimeException ex) {
			return "The arguments cannot be read: they do not become the values that the tool takes.";
		}
	}

	private boolean fits() {
		if (this.fits == null) {
			this.fits = this.arguments.isReadable() && faults().isEmpty();
		}
		return this.fits;
	}

	private @Nullable Map<String, @Nullable Object> converted() {
		List<ToolCallback> tools = WrappedTools.innermost(this.tool);
		if (tools.isEmpty()) {
			return (this.arguments.isPlain() && isTaken()) ? this.arguments.values() : null;
		}
		Map<String, @Nullable Object> values = converted(tools.get(0));
		// any of them may be the one that runs
		boolean agree = tools.stream().skip(1).allMatch((tool) -> Objects.equals(converted(tool), values));
		return agree ? values : null;
	}

	/** A server may ignore what its schema merely does not exclude. */
	private boolean isTaken() {
		return this.tool == null || this.arguments.isTakenBy(this.tool.getToolDefinition().inputSchema());
	}

	/**
	 * Returns the values that one method or function makes of the arguments.
	 * @return the values; null if they do not say the same as the arguments
	 */
	private @Nullable Map<String, @Nullable Object> converted(ToolCallback tool) {
		Method method = WrappedTools.methods(tool).stream().findFirst().orElse(null);
		Object values = (method != null) ? parameters(method) : JSON.fromJson(this.arguments.toString(),
				(Type) Objects.requireNonNull(ReflectionUtils.getField(INPUT_TYPE, tool)));
		ToolArguments received = ToolArguments.of((values != null) ? JSON.toJson(values) : null);
		boolean certain = received.isReadable() && saysTheSame(this.arguments.values(), received.values());
		return certain ? received.values() : null;
	}

	/**
	 * Converts the arguments to the parameters of a method, as {@code MethodToolCallback}
	 * does.
	 */
	private Map<String, @Nullable Object> parameters(Method method) {
		Map<String, @Nullable Object> given = Objects.requireNonNull(JSON.fromJson(this.arguments.toString(), VALUES));
		Map<String, @Nullable Object> values = new LinkedHashMap<>();
		for (Parameter parameter : method.getParameters()) {
			Object value = given.get(parameter.getName());
			if (value != null && !ClassUtils.isAssignable(ToolContext.class, parameter.getType())) {
				Object typed = typed(value, parameter.getParameterizedType());
				values.put(parameter.getName(), (typed instanceof Enum<?> constant) ? constant.name() : typed);
			}
		}
		return values;
	}

	private static @Nullable Object typed(Object value, Type type) {
		return (type instanceof Class<?> plain) ? JSON.convertToTypedObject(value, plain)
				: JSON.fromJson(JSON.toJson(value, true), type);
	}

	/**
	 * Returns whether a value that was received contains everything that was said. It may
	 * contain more: a value that was left out may have a default.
	 */
	private static boolean saysTheSame(@Nullable Object said, @Nullable Object received) {
		if (said instanceof Map<?, ?> map && received instanceof Map<?, ?> other) {
			return map.entrySet()
				.stream()
				.allMatch((entry) -> saysTheSame(entry.getValue(), other.get(entry.getKey())));
		}
		if (said instanceof List<?> list && received instanceof List<?> other) {
			return saysTheSame(list, other);
		}
		return Objects.equals(said, received);
	}

	private static boolean saysTheSame(List<?> said, List<?> received) {
		if (said.size() != received.size()) {
			return false;
		}
		for (int i = 0; i < said.size(); i++) {
			if (!saysTheSame(said.get(i), received.get(i))) {
				// a set has its own order
				return new HashSet<>(said).equals(new HashSet<>(received));
			}
		}
		return true;
	}

}
