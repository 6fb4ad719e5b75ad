package io.sessionkit.internal.run;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.sessionkit.ToolTimeout;
import io.sessionkit.approval.ToolName;
import io.sessionkit.approval.UnknownToolException;
import io.sessionkit.internal.LongestTime;
import io.sessionkit.internal.tool.NameCheck;
import io.sessionkit.internal.tool.WrappedTools;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * Runs tools within their time limits. The limit of a tool is the one that is configured
 * for its name, else that of {@link ToolTimeout} on its method, else the one for all
 * tools: whoever runs the application knows best, and a rule for one tool says more than
 * one for all. A tool without a limit runs on the thread of its caller. Safe for use by
 * many threads.
 */
public final class ToolLimits implements NameCheck.Names {

	private final @Nullable Duration ofAll;

	private final Map<String, Duration> named;

	private final Map<Method, Optional<Duration>> annotated = new ConcurrentHashMap<>();

	private final NameCheck check;

	private final Runnable whenStopped;

	/**
	 * Creates the limits.
	 * @param ofAll the limit of tools that have no other; null for none
	 * @param named the limits by the name of the tool
	 * @param known supplies the names of existing tools other than those that a call
	 * offers
	 * @param whenStopped is run for each tool that is stopped
	 */
	public ToolLimits(@Nullable Duration ofAll, Map<String, Duration> named,
			Supplier<? extends Collection<String>> known, Runnable whenStopped) {
		this.ofAll = ofAll;
		this.named = Map.copyOf(named);
		this.check = new NameCheck(this, known);
		this.whenStopped = whenStopped;
	}

	/**
	 * Checks a limit that is configured.
	 * @param what the name of the limit, to begin a sentence with
	 * @throws IllegalArgumentException if it is not positive, or too long
	 */
	public static void check(String what, Duration limit) {
		if (limit.isZero() || limit.isNegative() || LongestTime.isBelow(limit)) {
			throw new IllegalArgumentException(what + " is " + limit
					+ ". Use a positive duration of a year at most, or leave it out for no limit.");
		}
	}

	/**
	 * Checks the names against the tools that are known before any call.
	 * @throws UnknownToolException if one of these tools has a name that resembles a
	 * configured one that none of them has
	 */
	public void checkKnown() {
		this.check.checkKnown();
	}

	/**
	 * Reads the annotation of a method, if it has one.
	 * @throws IllegalStateException if its limit is not positive, or too long
	 */
	public void check(String tool, Method method) {
		this.annotated.computeIfAbsent(method, (each) -> read(tool, each));
	}

	/**
	 * Checks the names and the annotations against the tools that a call offers, before
	 * anybody pays for a model call.
	 * @throws UnknownToolException if one of these tools has a name that resembles a
	 * configured one that no tool has so far
	 * @throws IllegalStateException if the limit of an annotation is not positive, or too
	 * long
	 */
	public void check(List<ToolCallback> offered) {
		this.check.check(offered.stream().map((tool) -> tool.getToolDefinition().name()).toList());
		offered.forEach(this::ofAnnotation);
	}

	/**
	 * Returns a tool that has its limit in a call that names no session.
	 * @return the tool itself if it has none
	 */
	public ToolCallback limited(ToolCallback tool) {
		return (of(tool) != null) ? new LimitedTool(tool, this) : tool;
	}

	/** Returns the limit of a tool; null if it has none. */
	private @Nullable Duration of(ToolCallback tool) {
		Duration named = ToolName.find(this.named, tool.getToolDefinition().name());
		if (named != null) {
			return named;
		}
		return ofAnnotation(tool).orElse(this.ofAll);
	}

	/** A tool that wraps several methods has the shortest limit of them. */
	private Optional<Duration> ofAnnotation(ToolCallback tool) {
		return WrappedTools.methods(tool)
			.stream()
			.flatMap((method) -> this.annotated
				.computeIfAbsent(method, (each) -> read(tool.getToolDefinition().name(), each))
				.stream())
			.min(Comparator.naturalOrder());
	}

	private static Optional<Duration> read(String tool, Method method) {
		ToolTimeout annotation = AnnotatedElementUtils.findMergedAnnotation(method, ToolTimeout.class);
		if (annotation == null) {
			return Optional.empty();
		}
		long seconds = annotation.unit().toSeconds(annotation.value());
		if (annotation.value() <= 0 || seconds > LongestTime.LIMIT.toSeconds()) {
			throw new IllegalStateException("@ToolTimeout of tool '" + tool + "' (" + method.toGenericString()
					+ ") says " + annotation.value() + " " + annotation.unit()
					+ ". Write a positive number, and a year at most, or leave the annotation out for no limit.");
		}
		return Optional.of(Duration.of(annotation.value(), annotation.unit().toChronoUnit()));
	}

	/**
	 * Runs a tool.
	 * @return its result
	 * @throws StoppedTool if its time is over; it may have had its effect
	 */
	public String run(ToolCallback tool, String arguments, @Nullable ToolContext context) {
		return run(tool, () -> ToolOutcome.run(tool, arguments, context));
	}

	/**
	 * Runs a tool.
	 * @param run calls it
	 * @return its result
	 * @throws StoppedTool if its time is over; it may have had its effect
	 */
	String run(ToolCallback tool, Supplier<String> run) {
		Duration limit = of(tool);
		if (limit == null) {
			return run.get();
		}
		try {
			return new LimitedRun(tool.getToolDefinition().name(), limit, RunningCall.carrying(run)).await();
		}
		catch (StoppedTool ex) {
			this.whenStopped.run();
			throw ex;
		}
	}

	/**
	 * Runs a tool for a call that is not in the ledger.
	 * @return its result, or the text that says that it was stopped
	 */
	public String told(ToolCallback tool, String arguments, @Nullable ToolContext context) {
		try {
			return run(tool, arguments, RunningCall.withoutClaim(context));
		}
		catch (StoppedTool ex) {
			return ex.text();
		}
	}

	@Override
	public Set<String> all() {
		return this.named.keySet();
	}

	@Override
	public Set<String> besides(String name) {
		return all();
	}

	@Override
	public String property(Set<String> wrong) {
		return "sessionkit.tools.timeouts";
	}

	@Override
	public String consequence(Set<String> wrong) {
		return "does not have that time limit";
	}

	@Override
	public String instead() {
		return "@ToolTimeout";
	}

}
