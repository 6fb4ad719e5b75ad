package io.sessionkit.conversation;

import java.util.List;
import java.util.Map;
import java.util.Set;

import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.UnattendedToolException;
import io.sessionkit.internal.approval.AnnotatedTools;
import io.sessionkit.internal.approval.GatedTool;
import io.sessionkit.internal.approval.NamedTools;
import io.sessionkit.internal.approval.Rulings;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.ToolCallback;

/**
 * Keeps tools that need an approval from running in calls without a session advisor, in
 * which nobody would be asked. It is for the tool loop; applications use
 * {@link Approvals}.
 */
public final class UnattendedTools {

	private static final Rulings.Caller NOBODY = new Rulings.Caller(null, null, Map.of(), Map.of());

	private final Rulings rulings;

	private final String cure;

	UnattendedTools(Rulings rulings, String cure) {
		this.rulings = rulings;
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
		return new UnattendedTools(new Rulings(new NamedTools(names, List::of), new AnnotatedTools(), policies), cure);
	}

	/**
	 * Refuses a call that offers a tool that needs an approval. A condition of the
	 * annotation cannot be evaluated at this point, so it is ignored.
	 * @param offered the tools that the call offers
	 * @throws UnattendedToolException if one of them is named or annotated and no session
	 * advisor controls it, or if its name is like a configured name that no tool has
	 */
	public void checkOffered(List<ToolCallback> offered) {
		List<ToolCallback> unattended = offered.stream().filter((tool) -> !GatedTool.isAttended(tool)).toList();
		this.rulings.named().check(unattended.stream().map(UnattendedTools::name).toList());
		for (ToolCallback tool : unattended) {
			if (this.rulings.named().appliesTo(name(tool)) || this.rulings.annotated().appliesTo(tool)) {
				throw refusal(name(tool));
			}
		}
	}

	/**
	 * Refuses tool calls that need an approval, before any of them has run.
	 * @param offered the tools that the call offers
	 * @param known these tools, and those that the tool loop would find elsewhere by name
	 * @param calls the tool calls
	 * @throws UnattendedToolException if {@link #checkOffered} refuses the tools, or if a
	 * call needs an approval and no session advisor controls its tool
	 */
	public void checkCalls(List<ToolCallback> offered, List<ToolCallback> known, List<ToolCall> calls) {
		checkOffered(offered);
		for (ToolCall call : calls) {
			ToolCallback tool = find(known, call.name());
			boolean isAttended = tool != null && GatedTool.isAttended(tool);
			if (!isAttended && this.rulings.rule(NOBODY, call, tool).kind() != Ruling.Kind.ALLOW) {
				throw refusal(call.name());
			}
		}
	}

	private UnattendedToolException refusal(String tool) {
		return new UnattendedToolException(tool,
				"Tool '" + tool + "' needs an approval, but the call that offers it has no"
						+ " session advisor, so nobody would be asked. Nothing was run. " + this.cure);
	}

	private static @Nullable ToolCallback find(List<ToolCallback> offered, String name) {
		return offered.stream().filter((tool) -> name(tool).equals(name)).findFirst().orElse(null);
	}

	private static String name(ToolCallback tool) {
		return tool.getToolDefinition().name();
	}

}
