package io.sessionkit.autoconfigure;

import java.lang.reflect.Method;

import io.sessionkit.approval.UnknownToolException;
import io.sessionkit.conversation.Approvals;

import org.springframework.ai.tool.support.ToolUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Checks the names of {@code sessionkit.approval.tools} against the tools that are beans,
 * and the conditions of {@code @RequiresApproval} on these tools.
 */
final class ToolCheck extends AtStart {

	private final ObjectProvider<Approvals> approvals;

	private final ListableBeanFactory beans;

	ToolCheck(ObjectProvider<Approvals> approvals, ListableBeanFactory beans) {
		this.approvals = approvals;
		this.beans = beans;
	}

	@Override
	void run() {
		this.approvals.stream().forEach((rules) -> {
			checkNames(rules);
			new ToolBeans(this.beans)
				.forEachAnnotated((bean, method) -> checkCondition(rules, ToolUtils.getToolName(method), method));
		});
	}

	private static void checkCondition(Approvals rules, String tool, Method method) {
		try {
			rules.checkCondition(tool, method);
		}
		catch (IllegalStateException ex) {
			throw new ConfigurationRefusedException(String.valueOf(ex.getMessage()),
					"Correct the condition, or leave it out to have every call of the tool wait.", ex);
		}
	}

	private static void checkNames(Approvals rules) {
		try {
			rules.checkNames();
		}
		catch (UnknownToolException ex) {
			throw new ConfigurationRefusedException(String.valueOf(ex.getMessage()),
					"Correct the name. Where a tool of that name comes later, from a server for example, name it by an"
							+ " ApprovalPolicy bean instead.",
					ex);
		}
	}

}
