package io.sessionkit.internal.door;

import java.lang.reflect.Method;

/**
 * Checks the approvals of an application at start, for the auto-configuration.
 */
public interface ApprovalChecks {

	/**
	 * Checks the configured tool names against the tools that are known before any call,
	 * and logs the names that no such tool has.
	 * @throws io.sessionkit.approval.UnknownToolException if a name that no such tool has
	 * is probably a misspelling of the name of one of them
	 */
	void checkNames();

	/**
	 * Checks the approval condition of a tool method before any call offers the tool.
	 * @throws IllegalStateException if the condition can never be evaluated
	 */
	void checkCondition(String tool, Method method);

	/**
	 * Checks the time limit of a tool method before any call offers the tool.
	 * @throws IllegalStateException if the limit is not positive, or longer than a year
	 */
	void checkTimeout(String tool, Method method);

	/**
	 * Returns whether the builder was given listeners of the events of calls.
	 */
	boolean hasListeners();

}
