package io.sessionkit.conversation;

import java.util.List;
import java.util.Map;
import java.util.Set;

import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.ApprovalTexts;
import io.sessionkit.approval.NewMessageRule;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.SiblingRule;
import io.sessionkit.internal.approval.AnnotatedTools;
import io.sessionkit.internal.approval.ApprovalRules;
import io.sessionkit.internal.approval.GatedTool;
import io.sessionkit.internal.approval.NamedTools;
import io.sessionkit.internal.approval.SafeTexts;
import io.sessionkit.internal.approval.SessionlessTool;
import io.sessionkit.internal.tool.WrappedTools;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.ToolCallback;

/**
 * Keeps tools that need an approval from running in calls without a session advisor, in
 * which nobody would be asked. It is for the tool loop; applications use
 * {@link Approvals}.
 */
public final class UnattendedTools {

	private static final ApprovalRules.Caller NOBODY = new ApprovalRules.Caller(null, null, Map.of(), Map.of());

	private final ApprovalRules rules;

	private final String cure;

	UnattendedTools(ApprovalRules rules, String cure) {
		this.rules = rules;
		this.cure = cure;
	}

	/**
	 * Returns the rules of an application without {@link Approvals}.
	 * @param names the names of the tools that need an approval, in addition to those
	 * whose method has {@link io.sessionkit.approval.RequiresApproval}
	 * @param policies the policies of the application
	 * @param cure a sentence for error messages that says what to write so that a person
	 * is asked
	 * @return the rules
	 */
	public static UnattendedTools of(Set<String> names, List<ApprovalPolicy> policies, String cure) {
		ApprovalTexts texts = new ApprovalTexts() {
		};
		return new UnattendedTools(new ApprovalRules(new NamedTools(names, List::of), new AnnotatedTools(), policies,
				SiblingRule.HOLD, NewMessageRule.REJECT, null, null, new SafeTexts(texts), () -> null), cure);
	}

	/**
	 * Refuses a call that offers a tool that needs an approval. A condition of the
	 * annotation cannot be evaluated at this point, so it is ignored.
	 * @param offered the tools that the call offers
	 * @throws IllegalStateException if one of them is named or annotated and no session
	 * advisor controls it, or if its name is like a configured name that no tool has
	 */
	public void checkOffered(List<ToolCallback> offered) {
		List<ToolCallback> unattended = offered.stream().filter((tool) -> !GatedTool.isAttended(tool)).toList();
		this.rules.named().check(unattended.stream().map(UnattendedTools::name).toList());
		for (ToolCallback tool : unattended) {
			if (this.rules.named().appliesTo(name(tool)) || this.rules.annotated().appliesTo(tool)) {
				throw refusal(name(tool));
			}
		}
	}

	/**
	 * Refuses tool calls that need an approval, before any of them has run.
	 * @param offered the tools that the call offers
	 * @param known these tools, and those that the tool loop would find elsewhere by name
	 * @param calls the tool calls
	 * @throws IllegalStateException if {@link #checkOffered} refuses the tools, or if a
	 * call needs an approval and no session advisor controls its tool
	 */
	public void checkCalls(List<ToolCallback> offered, List<ToolCallback> known, List<ToolCall> calls) {
		checkOffered(offered);
		for (ToolCall call : calls) {
			ToolCallback tool = find(known, call.name());
			boolean isAttended = tool != null && GatedTool.isAttended(tool);
			if (!isAttended && this.rules.rule(NOBODY, call, tool).outcome() != Ruling.Outcome.ALLOW) {
				throw refusal(call.name());
			}
		}
	}

	private IllegalStateException refusal(String tool) {
		return new IllegalStateException("Tool '" + tool + "' needs an approval, but the call that offers it has no"
				+ " session advisor, so nobody would be asked. Nothing was run. " + this.cure);
	}

	private static @Nullable ToolCallback find(List<ToolCallback> offered, String name) {
		return offered.stream().filter((tool) -> name(tool).equals(name)).findFirst().orElse(null);
	}

	private static String name(ToolCallback tool) {
		return tool.getToolDefinition().name();
	}

}
