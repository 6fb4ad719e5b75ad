package io.sessionkit.internal.tool;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.AccessException;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.MethodExecutor;
import org.springframework.expression.MethodResolver;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.DataBindingMethodResolver;
import org.springframework.expression.spel.support.DataBindingPropertyAccessor;
import org.springframework.expression.spel.support.MapAccessor;
import org.springframework.expression.spel.support.SimpleEvaluationContext;

/**
 * The condition of a {@link io.sessionkit.approval.RequiresApproval}. It can read the
 * arguments and call methods of texts, lists and maps. It cannot reach types, beans or
 * anything else of the application. Safe for use by many threads.
 */
public final class ApprovalCondition {

	private static final Log logger = LogFactory.getLog(ApprovalCondition.class);

	private static final SpelExpressionParser PARSER = new SpelExpressionParser();

	private static final MethodResolver METHODS = new ValueMethods();

	private final String tool;

	private final Expression expression;

	private final Set<String> variables;

	private final AtomicBoolean logged = new AtomicBoolean();

	private ApprovalCondition(String tool, Expression expression, Set<String> variables) {
		this.tool = tool;
		this.expression = expression;
		this.variables = variables;
	}

	/**
	 * Resolves methods of the types that arguments consist of. Other objects have no
	 * methods here.
	 */
	private static final class ValueMethods implements MethodResolver {

		private final MethodResolver methods = DataBindingMethodResolver.forInstanceMethodInvocation();

		@Override
		public @Nullable MethodExecutor resolve(EvaluationContext context, Object target, String name,
				List<TypeDescriptor> argumentTypes) throws AccessException {
			boolean hasMethods = target instanceof CharSequence || target instanceof Collection
					|| target instanceof Map;
			return hasMethods ? this.methods.resolve(context, target, name, argumentTypes) : null;
		}

	}

	/**
	 * Reads a condition.
	 * @param tool the name of the tool
	 * @param method the method of the tool, whose parameters the condition may name
	 * @throws IllegalStateException if the condition does not parse, or can never be
	 * evaluated: its author expects it to let calls pass, but every call would wait
	 */
	public static ApprovalCondition of(String tool, Method method, String text) {
		try {
			SpelExpression expression = PARSER.parseRaw(text);
			return new ApprovalCondition(tool, expression, ConditionCheck.variables(expression.getAST(), method));
		}
		catch (ParseException | IllegalArgumentException ex) {
			String why = (ex instanceof ParseException parse) ? parse.getSimpleMessage() : ex.getMessage();
			throw new IllegalStateException("The condition of @RequiresApproval on "
					+ method.getDeclaringClass().getName() + "." + method.getName() + " (tool '" + tool
					+ "') can never be evaluated: \"" + text + "\". " + why, null);
		}
	}

	/**
	 * Returns whether the condition is certainly false.
	 * @param arguments the arguments that the tool will get
	 * @return false also if the condition cannot be evaluated, is no boolean, or reads an
	 * argument or a property of one that is missing or null
	 */
	public boolean isSurelyFalse(Map<String, @Nullable Object> arguments) {
		if (this.variables.stream().anyMatch((variable) -> arguments.get(variable) == null)) {
			return false;
		}
		try {
			return isFalse(this.expression.getValue(context(arguments)));
		}
		catch (RuntimeException ex) {
			failed(ex.getClass().getName());
			return false;
		}
	}

	private EvaluationContext context(Map<String, @Nullable Object> arguments) {
		SimpleEvaluationContext context = SimpleEvaluationContext
			.forPropertyAccessors(new MapAccessor(false), DataBindingPropertyAccessor.forReadOnlyAccess())
			.withMethodResolvers(METHODS)
			.withAssignmentDisabled()
			.build();
		Map<Object, Object> given = GivenValues.of(arguments);
		this.variables.forEach((variable) -> context.setVariable(variable, given.get(variable)));
		return context;
	}

	private boolean isFalse(@Nullable Object value) {
		if (!(value instanceof Boolean)) {
			failed((value != null) ? "it is a " + value.getClass().getName() : "it is null");
		}
		return Boolean.FALSE.equals(value);
	}

	private void failed(String why) {
		if (this.logged.compareAndSet(false, true)) {
			logger.warn("The condition of @RequiresApproval on tool '" + this.tool
					+ "' could not be evaluated to a boolean for a call (" + why
					+ "), so that call needs an approval. Further failures of this condition are not logged.");
		}
	}

}
