package io.sessionkit.test;

import java.util.Optional;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.ParameterInfo;
import org.jspecify.annotations.Nullable;

/**
 * Skips tests with a parameter of {@link TestStores} on all stores but the one that
 * {@code -Dsessionkit.store=MEMORY} names, if it names one.
 */
public final class OneStore implements ExecutionCondition {

	static final String PROPERTY = "sessionkit.store";

	@Override
	public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
		TestStores named = context.getConfigurationParameter(PROPERTY, TestStores::valueOf).orElse(null);
		if (named == null) {
			return ConditionEvaluationResult.enabled("No store is named.");
		}
		Optional<ExtensionContext> each = Optional.of(context);
		while (each.isPresent()) {
			if (isOnAnother(ParameterInfo.get(each.get()), named)) {
				return ConditionEvaluationResult.disabled("-D" + PROPERTY + "=" + named + " names another store.");
			}
			each = each.get().getParent();
		}
		return ConditionEvaluationResult.enabled("Not on another store than " + named + ".");
	}

	private static boolean isOnAnother(@Nullable ParameterInfo parameters, TestStores named) {
		return parameters != null && parameters.getArguments()
			.toList()
			.stream()
			.anyMatch((argument) -> argument instanceof TestStores && argument != named);
	}

}
