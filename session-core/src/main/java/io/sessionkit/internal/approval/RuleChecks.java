package io.sessionkit.internal.approval;

import java.lang.reflect.Method;

import io.sessionkit.internal.door.ApprovalChecks;

/**
 * Checks of the rules before any call.
 *
 * @param rules the rules
 * @param hasListeners whether the application listens to the events of calls
 */
public record RuleChecks(ApprovalRules rules, boolean hasListeners) implements ApprovalChecks {

	@Override
	public void checkNames() {
		this.rules.rulings().named().checkKnown();
		this.rules.limits().checkKnown();
	}

	@Override
	public void checkCondition(String tool, Method method) {
		this.rules.rulings().annotated().check(tool, method);
	}

	@Override
	public void checkTimeout(String tool, Method method) {
		this.rules.limits().check(tool, method);
	}

}
