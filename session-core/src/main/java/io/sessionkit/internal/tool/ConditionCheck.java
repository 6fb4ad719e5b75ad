package io.sessionkit.internal.tool;

import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.BooleanLiteral;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpDec;
import org.springframework.expression.spel.ast.OpInc;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.ClassUtils;

/**
 * Finds the parts of a condition that can never be evaluated, and the arguments that it
 * names.
 */
final class ConditionCheck {

	private static final Set<String> ELEMENT = Set.of("this", "root");

	private final Map<String, Parameter> parameters = new LinkedHashMap<>();

	private final Set<String> variables = new LinkedHashSet<>();

	private ConditionCheck(Method method) {
		Arrays.stream(method.getParameters())
			.forEach((parameter) -> this.parameters.put(parameter.getName(), parameter));
	}

	/**
	 * Returns the arguments that a condition names.
	 * @throws IllegalArgumentException if it can never be evaluated; the message says why
	 */
	static Set<String> variables(SpelNode condition, Method method) {
		if (condition instanceof Literal && !(condition instanceof BooleanLiteral)) {
			throw new IllegalArgumentException("It is a constant and no boolean. Write one as in \"#amount > 100\".");
		}
		ConditionCheck check = new ConditionCheck(method);
		check.visit(condition, false);
		return check.variables;
	}

	/**
	 * Checks a node and the nodes below it.
	 * @param ofElement whether the node is evaluated for each element of a list, so that
	 * it may name properties of that element
	 */
	private void visit(SpelNode node, boolean ofElement) {
		refuseUnreachable(node);
		if (node instanceof VariableReference) {
			variable(name(node), ofElement);
		}
		else if (node instanceof CompoundExpression) {
			chain(node, ofElement);
		}
		else {
			visitOther(node, ofElement);
		}
	}

	private static void refuseUnreachable(SpelNode node) {
		boolean changes = node instanceof Assign || node instanceof OpInc || node instanceof OpDec;
		if (changes) {
			throw new IllegalArgumentException("A condition cannot change arguments.");
		}
		if (node instanceof TypeReference || node instanceof ConstructorReference || node instanceof BeanReference
				|| node instanceof FunctionReference) {
			throw new IllegalArgumentException(
					"It names a type, a constructor, a bean or a function, which a condition cannot reach. Use an"
							+ " ApprovalPolicy for what the arguments alone do not say.");
		}
	}

	private void visitOther(SpelNode node, boolean ofElement) {
		if (!ofElement) {
			refuseWithoutValue(node);
		}
		visitChildren(node, ofElement || node instanceof Projection || node instanceof Selection);
	}

	/** Refuses a property or a method with no value in front of it. */
	private static void refuseWithoutValue(SpelNode node) {
		if (node instanceof PropertyOrFieldReference property) {
			throw new IllegalArgumentException("Nothing is named '" + property.getName() + "' here. Write '#"
					+ property.getName() + "' for an argument, and quotes around a text.");
		}
		if (node instanceof MethodReference method) {
			throw new IllegalArgumentException(
					"Method '" + method.getName() + "' needs a value in front of it, as in \"#city.contains('x')\".");
		}
	}

	private void visitChildren(SpelNode node, boolean ofElement) {
		boolean hasNames = node instanceof Indexer || node instanceof InlineMap;
		for (int i = 0; i < node.getChildCount(); i++) {
			SpelNode child = node.getChild(i);
			if (!hasNames || !(child instanceof PropertyOrFieldReference)) {
				visit(child, ofElement);
			}
		}
	}

	/** Checks a value and the steps that follow it. */
	private void chain(SpelNode chain, boolean ofElement) {
		SpelNode first = chain.getChild(0);
		visit(first, ofElement);
		visitSteps(chain, ofElement);
		Parameter parameter = (first instanceof VariableReference) ? this.parameters.get(name(first)) : null;
		if (parameter != null) {
			checkStep(parameter, chain.getChild(1));
		}
	}

	private void visitSteps(SpelNode chain, boolean ofElement) {
		for (int i = 1; i < chain.getChildCount(); i++) {
			SpelNode step = chain.getChild(i);
			refuseUnreachable(step);
			visitChildren(step, step instanceof Projection || step instanceof Selection || ofElement);
		}
	}

	private static void checkStep(Parameter parameter, SpelNode step) {
		Class<?> type = valueType(parameter.getType());
		if (type == null) {
			return;
		}
		if (step instanceof MethodReference method) {
			checkMethod(parameter, type, method);
		}
		if (step instanceof PropertyOrFieldReference property) {
			checkProperty(parameter, type, property);
		}
	}

	private static void checkMethod(Parameter parameter, Class<?> type, MethodReference method) {
		if (!hasMethod(type, method)) {
			throw new IllegalArgumentException("'#" + parameter.getName() + "' has no method '" + method.getName()
					+ "' with " + method.getChildCount()
					+ " arguments that a condition can call; it can call those of texts, lists and maps.");
		}
	}

	private static boolean hasMethod(Class<?> type, MethodReference method) {
		return !Number.class.isAssignableFrom(type) && type != Boolean.class
				&& Arrays.stream(type.getMethods())
					.anyMatch((each) -> each.getName().equals(method.getName())
							&& (each.getParameterCount() == method.getChildCount() || each.isVarArgs()));
	}

	private static void checkProperty(Parameter parameter, Class<?> type, PropertyOrFieldReference property) {
		if (type != Map.class && BeanUtils.getPropertyDescriptor(type, property.getName()) == null) {
			throw new IllegalArgumentException("'#" + parameter.getName() + "' is a " + type.getSimpleName()
					+ " here and has no property '" + property.getName() + "'.");
		}
	}

	/**
	 * Returns the type that a condition sees for a parameter of some type.
	 * @return the type; null if it depends on how the parameter is written as JSON
	 */
	private static @Nullable Class<?> valueType(Class<?> type) {
		Class<?> boxed = ClassUtils.resolvePrimitiveIfNecessary(type);
		if (CharSequence.class.isAssignableFrom(boxed) || boxed == Character.class || boxed.isEnum()) {
			return String.class;
		}
		if (Collection.class.isAssignableFrom(boxed)) {
			return List.class;
		}
		if (Map.class.isAssignableFrom(boxed)) {
			return Map.class;
		}
		boolean isPlain = Number.class.isAssignableFrom(boxed) || boxed == Boolean.class;
		return isPlain ? boxed : null;
	}

	private void variable(String name, boolean ofElement) {
		if (this.parameters.containsKey(name)) {
			this.variables.add(name);
		}
		else if (!ofElement || !ELEMENT.contains(name)) {
			throw new IllegalArgumentException("'#" + name + "' is no parameter of the method; it has "
					+ this.parameters.keySet() + ". Correct the name, or compile with '-parameters'.");
		}
	}

	/** Returns the name of a variable, for which the node has no accessor. */
	private static String name(SpelNode variable) {
		return variable.toStringAST().substring(1);
	}

}
