package io.sessionkit.internal.compensation;

import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.sessionkit.compensation.CompensatedBy;
import io.sessionkit.compensation.Effect;
import io.sessionkit.internal.argument.ToolArguments;
import io.sessionkit.internal.tool.ToolInput;
import io.sessionkit.internal.tool.WrappedTools;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.tool.ToolCallback;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * The tools that a rewind knows, and which of them takes back what. A model has no say in
 * it: the annotation and the configuration decide.
 */
public final class CompensatingTools {

	private final Map<String, ToolCallback> tools = new LinkedHashMap<>();

	private final Map<String, String> configured;

	/**
	 * Creates the tools.
	 * @param configured the names of compensating tools by the name of the tool whose
	 * effect they take back; they count more than annotations
	 * @throws IllegalArgumentException if two tools have the same name
	 */
	public CompensatingTools(List<? extends ToolCallback> tools, Map<String, String> configured) {
		this.configured = Map.copyOf(configured);
		for (ToolCallback tool : tools) {
			add(tool);
		}
	}

	private void add(ToolCallback tool) {
		String name = tool.getToolDefinition().name();
		ToolCallback other = this.tools.putIfAbsent(name, tool);
		if (other != null && !areSame(other, tool)) {
			throw new IllegalArgumentException("Two tools are called '" + name
					+ "', so a rewind would not know which of them to run. Give Compensations.builder(..) one of them.");
		}
	}

	/** A method of a bean may be listed twice, once by a provider. */
	private static boolean areSame(ToolCallback one, ToolCallback other) {
		return one == other || WrappedTools.callTheSame(one, other);
	}

	/**
	 * Returns a tool.
	 * @return the tool; null if there is none of this name
	 */
	public @Nullable ToolCallback find(String name) {
		return this.tools.get(name);
	}

	/**
	 * Returns the name of the tool that takes the effect of another one back.
	 * @return the name; empty if there is no effect, null if nothing is known
	 */
	@Nullable String compensating(String tool) {
		String configured = this.configured.get(tool);
		return (configured != null) ? configured : annotated(this.tools.get(tool));
	}

	/** A wrapper may keep several methods; if they disagree, nothing is known. */
	private static @Nullable String annotated(@Nullable ToolCallback tool) {
		List<@Nullable String> names = WrappedTools.methods(tool)
			.stream()
			.<@Nullable String>map(CompensatingTools::annotated)
			.distinct()
			.toList();
		return (names.size() == 1) ? names.get(0) : null;
	}

	private static @Nullable String annotated(Method method) {
		CompensatedBy annotation = AnnotatedElementUtils.findMergedAnnotation(method, CompensatedBy.class);
		return (annotation != null) ? annotation.value() : null;
	}

	/**
	 * Returns the arguments with which a tool takes an effect back.
	 * @return the arguments as JSON; null if it is not certain with which arguments the
	 * original tool ran, or if they are not what the compensating tool needs
	 */
	@Nullable String arguments(Effect effect, ToolCallback compensating) {
		ToolArguments original = ToolArguments.of(effect.arguments());
		if (new ToolInput(this.tools.get(effect.tool()), original).values() == null) {
			return null;
		}
		String arguments = original.passedOn(compensating.getToolDefinition().inputSchema(), CompensatedBy.RESULT,
				effect.result());
		boolean fits = new ToolInput(compensating, ToolArguments.of(arguments)).values() != null;
		return fits ? arguments : null;
	}

}
