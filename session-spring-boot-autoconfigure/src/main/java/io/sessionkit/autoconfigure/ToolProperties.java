package io.sessionkit.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import io.sessionkit.approval.ToolName;
import org.jspecify.annotations.Nullable;

/**
 * Running of tools in calls that pass the session advisor.
 *
 * @param timeout Time that a run of a tool may take, such as 30s, without the time that
 * the tool call waits for an approval. A tool that takes longer is interrupted, and the
 * model is told. Unset: no limit.
 * @param timeouts Times that runs of single tools may take, by the exact name of the
 * tool, or that which an MCP tool had before it was renamed. They take precedence
 * over @ToolTimeout and over the time for all tools. Unset: none.
 */
public record ToolProperties(@Nullable Duration timeout, @Nullable Map<String, Duration> timeouts) {

	private static final String PREFIX = SessionKitProperties.PREFIX + ".tools.";

	public ToolProperties {
		refuseOutside("tools.timeout", timeout);
		timeouts = (timeouts != null) ? new LinkedHashMap<>(timeouts) : Map.of();
		timeouts.forEach((tool, limit) -> {
			if (!ToolName.isPossible(tool)) {
				throw ConfigurationRefusedException.of(PREFIX + "timeouts", tool,
						"Write the exact name of one tool and a time, such as cancel_order: 30s, or leave it out.");
			}
			refuseOutside("tools.timeouts." + tool, limit);
		});
	}

	private static void refuseOutside(String property, @Nullable Duration limit) {
		SessionKitProperties.refuseBelowASecond(property, limit);
		SessionKitProperties.refuseAbove(SessionKitProperties.LONGEST, property, limit);
	}

}
