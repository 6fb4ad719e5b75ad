package io.sessionkit.approval;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
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
 * Asks about calls of tools whose method has {@link RequiresApproval}.
 */
final class AnnotatedTools {

	/**
	 * Spring AI has no accessor for the method of a tool. Where the field has gone, every
	 * tool method would pass unasked, so nothing is built then.
	 */
	private static final Field METHOD = field();

	private static final Pattern VARIABLE = Pattern.compile("#([A-Za-z_$][A-Za-z0-9_$]*)");

	private static final SpelExpressionParser PARSER = new SpelExpressionParser();

	private final Map<Method, Optional<Rule>> rules = new ConcurrentHashMap<>();

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
		return (tool instanceof MethodToolCallback)
				? Optional.ofNullable((Method) ReflectionUtils.getField(METHOD, tool))
					.flatMap((method) -> this.rules.computeIfAbsent(method, AnnotatedTools::read))
				: Optional.empty();
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
