package io.sessionkit.autoconfigure.tool;

import java.lang.reflect.Method;

import io.sessionkit.approval.UnknownToolException;
import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.internal.AtStart;
import io.sessionkit.autoconfigure.internal.ToolBeans;
import io.sessionkit.conversation.Approvals;

import org.springframework.ai.tool.support.ToolUtils;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * Checks the names of tools in the properties against the tools that are beans, and the
 * annotations {@code @RequiresApproval} and {@code @ToolTimeout} on these tools.
 */
public final class ToolCheck extends AtStart {

	private final ListableBeanFactory beans;

	public ToolCheck(ListableBeanFactory beans) {
		this.beans = beans;
	}

	@Override
	protected void run() {
		this.beans.getBeanProvider(Approvals.class).stream().forEach((rules) -> {
			checkNames(rules);
			new ToolBeans(this.beans)
				.forEachMethod((bean, method) -> checkMethod(rules, ToolUtils.getToolName(method), method));
		});
	}

	private static void checkMethod(Approvals rules, String tool, Method method) {
		refusing(() -> rules.checkCondition(tool, method),
				"Correct the condition, or leave it out to have every call of the tool wait.");
		refusing(() -> rules.checkTimeout(tool, method), "Correct the time, or leave the annotation out for no limit.");
	}

	private static void refusing(Runnable check, String cure) {
		try {
			check.run();
		}
		catch (IllegalStateException ex) {
			throw new ConfigurationRefusedException(String.valueOf(ex.getMessage()), cure, ex);
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
