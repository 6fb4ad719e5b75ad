package io.sessionkit.conversation;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.sessionkit.approval.ApprovalPolicy;
import io.sessionkit.approval.Ruling;
import io.sessionkit.approval.UnattendedToolException;
import io.sessionkit.internal.Names;
import io.sessionkit.internal.approval.GatedTool;
import io.sessionkit.internal.argument.ToolArguments;
import io.sessionkit.internal.ruling.AnnotatedTools;
import io.sessionkit.internal.ruling.NamedTools;
import io.sessionkit.internal.ruling.Rulings;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.tool.ToolCallback;

/**
 * Keeps tools that need an approval from running in calls in which nobody would be asked:
 * those without a session advisor, and those whose session advisor has other
 * {@link Approvals}. It is for the tool loop; applications use {@link Approvals}.
 */
public final class UnattendedTools {

	private static final Rulings.Caller NOBODY = new Rulings.Caller(null, null, Map.of(), Map.of());

	private final List<Rulings> rulings;

	private final String cure;

	private UnattendedTools(List<Rulings> rulings, String cure) {
		this.rulings = rulings;
		this.cure = cure;
	}

	/**
	 * Returns the rules of all approvals of an application. A tool for which one of them
	 * asks is left to it.
	 * @param approvals the approvals
	 * @return the rules
	 */
	public static UnattendedTools of(Collection<Approvals> approvals) {
		// a mock, instead of the bean in a test, has none
		List<Rulings> rulings = approvals.stream().flatMap((each) -> Stream.ofNullable(each.rulings())).toList();
		return new UnattendedTools(rulings, "Build the client from the ChatClient.Builder bean, or give it the"
				+ " advisor: .defaultAdvisors(sessionAdvisor).");
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
	public static UnattendedTools of(Set<String> names, List<? extends ApprovalPolicy> policies, String cure) {
		Rulings rulings = new Rulings(new NamedTools(names, List::of), new AnnotatedTools(), List.copyOf(policies));
		return new UnattendedTools(List.of(rulings), cure);
	}

	/**
	 * Returns the names of the tools that need an approval, without those whose method
	 * has {@link io.sessionkit.approval.RequiresApproval}.
	 * @return the names
	 */
	public Set<String> names() {
		return this.rulings.stream().flatMap((each) -> each.named().all().stream()).collect(Collectors.toSet());
	}

	/**
	 * Refuses a call that offers a tool that needs an approval. A condition of the
	 * annotation cannot be evaluated at this point, so it is ignored.
	 * @param offered the tools that the call offers
	 * @throws UnattendedToolException if one of them is named and no session advisor with
	 * these rules controls it, or if one is annotated and no session advisor controls it
	 * @throws io.sessionkit.approval.UnknownToolException if its name is like a
	 * configured name that no tool has
	 */
	public void checkOffered(List<ToolCallback> offered) {
		List<ToolCallback> unattended = offered.stream().filter(Predicate.not(this::isAttended)).toList();
		List<String> names = unattended.stream().map(UnattendedTools::name).toList();
		this.rulings.forEach((each) -> each.named().check(names));
		for (ToolCallback tool : unattended) {
			if (this.rulings.stream().anyMatch((each) -> names(each, tool))) {
				throw refusal(name(tool), tool, false);
			}
		}
	}

	/** Each session advisor asks about annotated tools, whatever else it asks about. */
	private static boolean names(Rulings rulings, ToolCallback tool) {
		return rulings.named().appliesTo(name(tool))
				|| (!GatedTool.isGated(tool) && rulings.annotated().appliesTo(tool));
	}

	/**
	 * Refuses tool calls that need an approval or are denied, before any of them has run.
	 * @param offered the tools that the call offers
	 * @param known these tools, and those that the tool loop would find elsewhere by name
	 * @param calls the tool calls
	 * @throws UnattendedToolException if {@link #checkOffered} refuses the tools, or if a
	 * call needs an approval or is denied, and no session advisor with these rules
	 * controls its tool
	 * @throws io.sessionkit.approval.UnknownToolException as {@link #checkOffered} does
	 */
	public void checkCalls(List<ToolCallback> offered, List<ToolCallback> known, List<ToolCall> calls) {
		checkOffered(offered);
		for (ToolCall made : calls) {
			// a provider may leave the name out
			ToolCall call = ToolArguments.storable(made);
			ToolCallback tool = find(known, call.name());
			if (tool == null || !isAttended(tool)) {
				checkAllowed(call, tool);
			}
		}
	}

	private void checkAllowed(ToolCall call, @Nullable ToolCallback tool) {
		Ruling.Kind kind = ruling(call, tool).kind();
		if (kind != Ruling.Kind.ALLOW) {
			// the model may have invented a name that no tool has
			throw refusal((tool != null) ? name(tool) : Names.shown(call.name()), tool, kind == Ruling.Kind.DENY);
		}
	}

	private Ruling ruling(ToolCall call, @Nullable ToolCallback tool) {
		boolean annotationIsSeen = tool != null && GatedTool.isGated(tool);
		return this.rulings.stream()
			.map((each) -> annotationIsSeen ? each.ruleOfApplication(NOBODY, call, tool)
					: each.rule(NOBODY, call, tool))
			.reduce(Ruling.allow(), Ruling::or);
	}

	private boolean isAttended(ToolCallback tool) {
		return GatedTool.isAttended(tool, this.rulings);
	}

	private UnattendedToolException refusal(String name, @Nullable ToolCallback tool, boolean denied) {
		String what = "Tool '" + name + "' " + (denied ? "is called, which a policy denies" : "needs an approval");
		if (tool != null && GatedTool.isGated(tool)) {
			return new UnattendedToolException(what + ", but the session advisor of"
					+ " the call that offers it has approvals of its own, which are no bean. Nothing was run. Build"
					+ " the advisor with .approvals(..) of an Approvals bean.", name);
		}
		return new UnattendedToolException(what + ", but the call that offers it has no session advisor, so "
				+ (denied ? "the model would not be told" : "nobody would be asked") + ". Nothing was run. "
				+ this.cure, name);
	}

	private static @Nullable ToolCallback find(List<ToolCallback> offered, String name) {
		return offered.stream().filter((tool) -> name(tool).equals(name)).findFirst().orElse(null);
	}

	private static String name(ToolCallback tool) {
		return tool.getToolDefinition().name();
	}

}
