package io.sessionkit.autoconfigure.tool;

import java.lang.reflect.Method;

import io.sessionkit.approval.UnknownToolException;
import io.sessionkit.autoconfigure.ConfigurationRefusedException;
import io.sessionkit.autoconfigure.internal.AtStart;
import io.sessionkit.autoconfigure.internal.ToolBeans;
import io.sessionkit.conversation.Approvals;
import io.sessionkit.internal.door.ApprovalChecks;
import io.sessionkit.internal.door.InnerParts;

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
		this.beans.getBeanProvider(Approvals.class)
			.stream()
			.flatMap((approvals) -> InnerParts.find(approvals, ApprovalChecks.class).stream())
			.forEach((checks) -> {
				checkNames(checks);
				new ToolBeans(this.beans)
					.forEachMethod((bean, method) -> checkMethod(checks, ToolUtils.getToolName(method), method));
			});
	}

	private static void checkMethod(ApprovalChecks checks, String tool, Method method) {
		refusing(() -> checks.checkCondition(tool, method),
				"Correct the condition, or leave it out to have every call of the tool wait.");
		refusing(() -> checks.checkTimeout(tool, method),
				"Correct the time, or leave the annotation out for no limit.");
	}

	private static void refusing(Runnable check, String cure) {
		try {
			check.run();
		}
		catch (IllegalStateException ex) {
			throw new ConfigurationRefusedException(String.valueOf(ex.getMessage()), cure, ex);
		}
	}

	private static void checkNames(ApprovalChecks checks) {
		try {
			checks.checkNames();
		}
		catch (UnknownToolException ex) {
			throw new ConfigurationRefusedException(String.valueOf(ex.getMessage()),
					"Correct the name. Where a tool of that name comes later, from a server for example, name it by an"
							+ " ApprovalPolicy bean instead.",
					ex);
		}
	}

}
