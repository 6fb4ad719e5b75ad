package io.sessionkit.approval;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.method.MethodToolCallback;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.SimpleEvaluationContext;
import org.springframework.util.ReflectionUtils;

/**
 * Asks about calls of tools whose method has {@link RequiresApproval}, wrapped or not.
 */
final class AnnotatedTools {

	/**
	 * Spring AI has no accessor for the method of a tool. Where the field has gone, every
	 * tool method would pass unasked, so nothing is built then.
	 */
	private static final Field METHOD = field();

	private static final Pattern VARIABLE = Pattern.compile("#([A-Za-z_$][A-Za-z0-9_$]*)");

	private static final SpelExpressionParser PARSER = new SpelExpressionParser();

	private static final int DEEPEST = 10;

	private final Map<Method, Optional<Rule>> rules = new ConcurrentHashMap<>();

	private final Map<Class<?>, Optional<Field>> wrapped = new ConcurrentHashMap<>();

	/**
	 * An annotation that was read.
	 */
	private record Rule(@Nullable Expression condition, Ruling asks) {
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

	boolean appliesTo(@Nullable ToolCallback tool) {
		return find(tool).isPresent();
	}

	/**
	 * Rules on a call of a tool that it applies to.
	 */
	Ruling rule(ToolCallback tool, ToolRequest request) {
		return find(tool).map((rule) -> isHarmless(rule, request) ? Ruling.allow() : rule.asks())
			.orElseGet(Ruling::allow);
	}

	private Optional<Rule> find(@Nullable ToolCallback tool) {
		ToolCallback inner = innermost(tool);
		return (inner instanceof MethodToolCallback)
				? Optional.ofNullable((Method) ReflectionUtils.getField(METHOD, inner))
					.flatMap((method) -> this.rules.computeIfAbsent(method, AnnotatedTools::read))
				: Optional.empty();
	}

	/**
	 * The tool that others are wrapped around. A wrapper keeps it in a field, so that is
	 * where it is looked for.
	 */
	private @Nullable ToolCallback innermost(@Nullable ToolCallback tool) {
		ToolCallback inner = tool;
		for (int depth = 0; depth < DEEPEST && inner != null && !(inner instanceof MethodToolCallback); depth++) {
			Field field = this.wrapped.computeIfAbsent(inner.getClass(), AnnotatedTools::wrappedTool).orElse(null);
			inner = (field != null) ? (ToolCallback) ReflectionUtils.getField(field, inner) : null;
		}
		return inner;
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

	private static Optional<Rule> read(Method method) {
		RequiresApproval annotation = AnnotatedElementUtils.findMergedAnnotation(method, RequiresApproval.class);
		if (annotation == null) {
			return Optional.empty();
		}
		String description = annotation.description();
		return Optional
			.of(new Rule(annotation.condition().isBlank() ? null : PARSER.parseExpression(annotation.condition()),
					description.isBlank() ? Ruling.ask() : Ruling.ask(description)));
	}

	/**
	 * Whether the condition is surely false.
	 */
	private static boolean isHarmless(Rule rule, ToolRequest request) {
		if (rule.condition() == null) {
			return false;
		}
		SimpleEvaluationContext context = SimpleEvaluationContext.forReadOnlyDataBinding().build();
		Matcher variables = VARIABLE.matcher(rule.condition().getExpressionString());
		while (variables.find()) {
			Object value = request.arguments().get(variables.group(1));
			if (value == null) {
				return false;
			}
			context.setVariable(variables.group(1), value);
		}
		try {
			return Boolean.FALSE.equals(rule.condition().getValue(context));
		}
		catch (EvaluationException ex) {
			return false;
		}
	}

}
