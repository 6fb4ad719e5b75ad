package io.sessionkit.internal.ruling;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import io.sessionkit.approval.RequiresApproval;
import io.sessionkit.approval.Ruling;
import io.sessionkit.internal.tool.ApprovalCondition;
import io.sessionkit.internal.tool.ToolInput;
import io.sessionkit.internal.tool.WrappedTools;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.tool.ToolCallback;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * Requires approval for calls of tools whose method has {@link RequiresApproval}, whether
 * the tool is wrapped or not.
 */
public final class AnnotatedTools {

	private final Map<Method, Optional<Rule>> rules = new ConcurrentHashMap<>();

	/**
	 * The content of an annotation.
	 */
	private record Rule(@Nullable ApprovalCondition condition, Ruling asks) {
	}

	/**
	 * Reads the annotations of tools.
	 * @throws IllegalStateException if one has a condition that can never be evaluated
	 */
	public void check(Collection<ToolCallback> tools) {
		tools.forEach(this::find);
	}

	/**
	 * Reads the annotation of a method, if it has one.
	 * @throws IllegalStateException if it has a condition that can never be evaluated
	 */
	public void check(String tool, Method method) {
		this.rules.computeIfAbsent(method, (annotated) -> read(tool, annotated));
	}

	public boolean appliesTo(@Nullable ToolCallback tool) {
		return !find(tool).isEmpty();
	}

	/**
	 * Rules on a call of a tool to which the annotations apply. If the tool may call
	 * several methods, the strictest ruling counts.
	 */
	Ruling rule(ToolCallback tool, ToolInput input) {
		return find(tool).stream().map((rule) -> rule(rule, input)).reduce(Ruling.allow(), Ruling::or);
	}

	private static Ruling rule(Rule rule, ToolInput input) {
		ApprovalCondition condition = rule.condition();
		Map<String, @Nullable Object> arguments = (condition != null) ? input.values() : null;
		boolean harmless = condition != null && arguments != null && condition.isSurelyFalse(arguments);
		return harmless ? Ruling.allow() : rule.asks();
	}

	private List<Rule> find(@Nullable ToolCallback tool) {
		return (tool != null) ? WrappedTools.methods(tool)
			.stream()
			.flatMap((method) -> this.rules
				.computeIfAbsent(method, (annotated) -> read(tool.getToolDefinition().name(), annotated))
				.stream())
			.toList() : List.of();
	}

	private static Optional<Rule> read(String tool, Method method) {
		RequiresApproval annotation = AnnotatedElementUtils.findMergedAnnotation(method, RequiresApproval.class);
		if (annotation == null) {
			return Optional.empty();
		}
		String description = annotation.description();
		return Optional.of(new Rule(
				annotation.condition().isBlank() ? null : ApprovalCondition.of(tool, method, annotation.condition()),
				description.isBlank() ? Ruling.ask() : Ruling.ask(description)));
	}

}
